"""WebSockets: one for the speed, one for the steering angle, written with plain sockets."""

import base64
import json
import os
import socket
import time

from car import HOST, PORT, SPEED, angle, checksum, get, microseconds, ready, say


class WebSocket:
    """A client of RFC 6455 that sends text frames."""

    def __init__(self, path: str):
        self.socket = socket.create_connection((HOST, int(PORT)), timeout=20)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {HOST}:{PORT}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.socket.recv(1)
        assert b" 101 " in head, head

    def frame(self, kind: int, payload: bytes) -> None:
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))
        self.socket.sendall(bytes([0x80 | kind, 0x80 | len(payload)]) + mask + masked)

    def send(self, value: float) -> None:
        self.frame(1, json.dumps({"value": value}).encode())

    def pong(self) -> bytes:
        """Sends a ping, and waits for the answer."""
        self.frame(9, b"?")
        return self.socket.recv(3)

    def close(self) -> None:
        self.frame(8, b"")
        while self.socket.recv(100):
            pass
        self.socket.close()


ready()
speed, steering = WebSocket("/speed/stream"), WebSocket("/steering/stream")
for number in range(60):
    odom = get("/odom")
    speed.send(SPEED)
    steering.send(angle(odom, microseconds()))
    if number % 15 == 0:
        say(checksum(odom), steering.pong())
    time.sleep(0.0497)
speed.close()
steering.close()
