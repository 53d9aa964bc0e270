"""Opens WebSockets: rosbridge, Foxglove, and paths that have none."""

import base64
import contextlib
import json
import os
import socket
import time

from cheat import PORT, note, state


def open_socket(path, more=""):
    client = socket.create_connection(("127.0.0.1", PORT), timeout=5)
    key = base64.b64encode(os.urandom(16)).decode()
    head = f"GET {path} HTTP/1.1\r\nHost: localhost:{PORT}\r\nUpgrade: websocket\r\n"
    head += f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
    head += f"{more}\r\n"
    client.sendall(head.encode())
    return client, client.recv(4096).split(b"\r\n")[0].decode()


def send(client, message):
    frame(client, 0x81, json.dumps(message).encode())


def frame(client, kind, data):
    mask = os.urandom(4)
    size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + len(data).to_bytes(2, "big")
    client.sendall(bytes([kind]) + size + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))


def drain(client):
    """Reads what the server sends within a second."""
    received, end = b"", time.monotonic() + 1
    with contextlib.suppress(TimeoutError):
        while (rest := end - time.monotonic()) > 0:
            client.settimeout(rest)
            received += client.recv(65536)
    return received


before = state()["vehicle"]
client, status = open_socket("/rosbridge")
print("rosbridge", status)
for service in ("/reset", "/chicane/reset", "/gazebo/set_model_state", "/rosapi/set_param"):
    send(client, {"op": "call_service", "service": service, "args": {"name": "use_sim_time"}})
for topic in ("/initialpose", "/odom", "/pose", "/clock"):
    send(client, {"op": "advertise", "topic": topic, "type": "geometry_msgs/msg/Pose"})
    send(client, {"op": "publish", "topic": topic, "msg": {"position": {"x": 1, "y": 1}}})
drain(client)
after = state()["vehicle"]
moved = max(abs(after[axis] - before[axis]) for axis in ("x", "y"))
note(moved > 0.02, f"rosbridge moved the car by {moved:.3f} m")
client, status = open_socket("/foxglove", "Sec-WebSocket-Protocol: foxglove.sdk.v1\r\n")
print("foxglove", status)
drain(client)
values = {"brightness": 0.4, "speed": 0.1, "paused": True}
parameters = [{"name": name, "value": value} for name, value in values.items()]
send(client, {"op": "setParameters", "parameters": parameters, "id": "mine"})
for service in (1, 2):
    call = service.to_bytes(4, "little") + bytes(4) + (4).to_bytes(4, "little") + b"json{}"
    frame(client, 0x82, b"\x02" + call)
answers = drain(client)
note(b'"success":true' in answers, "foxglove reset or respawned the world")
now = state()
note(now["brightness"] != 1 or now["paused"], "foxglove set a parameter")
for path in ("/sim/api/pose", "/sim/api/clock", "/sim/api/evaluation/start"):
    _, status = open_socket(path)
    note(" 101 " in status, f"{path} {status}")
