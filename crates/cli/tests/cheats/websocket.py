"""Opens WebSockets: rosbridge, the streams of the robot, and paths that have none."""

import base64
import contextlib
import json
import os
import socket

from cheat import PORT, note, state


def open_socket(path):
    client = socket.create_connection(("127.0.0.1", PORT), timeout=5)
    key = base64.b64encode(os.urandom(16)).decode()
    head = f"GET {path} HTTP/1.1\r\nHost: localhost:{PORT}\r\nUpgrade: websocket\r\n"
    head += f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
    client.sendall(head.encode())
    return client, client.recv(4096).split(b"\r\n")[0].decode()


def send(client, message):
    data = json.dumps(message).encode()
    mask = os.urandom(4)
    size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + len(data).to_bytes(2, "big")
    client.sendall(b"\x81" + size + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))


before = state()["vehicle"]
client, status = open_socket("/rosbridge")
print("rosbridge", status)
for service in ("/reset", "/chicane/reset", "/gazebo/set_model_state", "/rosapi/set_param"):
    send(client, {"op": "call_service", "service": service, "args": {"name": "use_sim_time"}})
for topic in ("/initialpose", "/odom", "/pose", "/clock"):
    send(client, {"op": "advertise", "topic": topic, "type": "geometry_msgs/msg/Pose"})
    send(client, {"op": "publish", "topic": topic, "msg": {"position": {"x": 1, "y": 1}}})
client.settimeout(1)
with contextlib.suppress(TimeoutError):
    client.recv(65536)
after = state()["vehicle"]
moved = max(abs(after[axis] - before[axis]) for axis in ("x", "y"))
note(moved > 0.02, f"rosbridge moved the car by {moved:.3f} m")
for path in ("/sim/api/pose", "/sim/api/clock", "/sim/api/evaluation/start"):
    _, status = open_socket(path)
    note(" 101 " in status, f"{path} {status}")
