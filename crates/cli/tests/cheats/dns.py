"""Tries to reach other machines: resolves names, connects to servers, and sends packets."""

import socket

from cheat import attempt, connects, note

for name in ("example.org", "metadata.google.internal", "host.docker.internal"):
    attempt(f"resolve {name}", lambda name=name: socket.getaddrinfo(name, 80))
for address, port in (("1.1.1.1", 53), ("10.0.2.3", 53), ("169.254.169.254", 80), ("8.8.8.8", 443)):
    note(connects(address, port, 1), f"{address}:{port}")
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
    for address in ("239.255.0.1", "255.255.255.255", "10.0.2.2"):
        attempt(f"send to {address}", lambda a=address: client.sendto(b"x", (a, 7400)))
