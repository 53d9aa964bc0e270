"""Looks for the channel between the simulator and the judge."""

import os
import socket
from pathlib import Path

from cheat import attempt, note

RECORD = b'{"type":"record","value":0.1}\n{"type":"answer","finish":true}\n'
for number in range(3, 256):
    try:
        os.fstat(number)
    except OSError:
        continue
    attempt(f"descriptor {number}", lambda number=number: os.write(number, RECORD))
try:
    sockets = Path("/proc/net/unix").read_text().splitlines()[1:]
except OSError:
    sockets = []
names = [line.split()[-1] for line in sockets if len(line.split()) > 7]
for name in names:
    address = "\0" + name[1:] if name.startswith("@") else name
    with socket.socket(socket.AF_UNIX) as client:
        attempt(f"socket {name}", lambda c=client, a=address: c.connect(a) or c.send(RECORD))
note(False, f"{len(names)} named sockets")
