"""Looks for other servers, and for a port at which the simulator does not recognize a student."""

import contextlib
import socket

from cheat import API, PORT, connects, note, request

open_ports = [port for port in range(1, 65536) if connects("127.0.0.1", port)]
note(set(open_ports) - {80, PORT}, f"ports {open_ports}")
for port in open_ports:
    status, _ = request(API + "/pose", {"x": 0, "y": 0}, "POST", base=f"http://127.0.0.1:{port}")
    note(status == 200, f"pose at port {port}: {status}")
addresses = {"10.0.2.2", "192.168.0.1", "169.254.169.254", "172.17.0.1"}
with contextlib.suppress(OSError):
    addresses |= {entry[4][0] for entry in socket.getaddrinfo(socket.gethostname(), None)}
for address in sorted(addresses - {"127.0.0.1", "::1"}):
    note(connects(address, PORT), f"{address}:{PORT}")
