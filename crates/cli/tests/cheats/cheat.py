"""What programs of the cheat suite share: requests to the simulator, and lines about results.

A program prints one line for each thing that it tried. The line begins with `gained` if the program
got what it should not get, else with `refused`. The tests fail if any line begins with `gained`.
"""

import json
import os
import socket
import sys
import urllib.error
import urllib.request
from pathlib import Path

URL = os.environ["CHICANE_URL"]
PORT = int(URL.rsplit(":", 1)[1])
API = "/sim/api"
# The interpreter may raise any of these exceptions when the kernel refuses something.
REFUSALS = (OSError, ValueError, MemoryError)


def request(path, body=None, method=None, headers=None, base=URL):
    """Sends a request. Returns the status and the body; the status is 0 without a response."""
    data = None if body is None else json.dumps(body).encode()
    fields = {"Content-Type": "application/json"} if data else {}
    fields.update(headers or {})
    message = urllib.request.Request(base + path, data, fields, method=method)
    try:
        with urllib.request.urlopen(message, timeout=20) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()
    except OSError as error:
        return 0, str(error).encode()


def post(path, body, **options):
    """Sends a command that changes the world, and says whether it was accepted."""
    status, answer = request(API + path, body, "POST", **options)
    note(status == 200, f"POST {path} {status} {answer[:80]!r}")
    return status


def note(gained, what):
    """Prints the result of one attempt."""
    print("gained" if gained else "refused", what, flush=True)


def attempt(what, do):
    """Calls `do`, and notes an attempt that gained something if `do` returns a true value."""
    try:
        result = do()
    except REFUSALS as error:
        note(False, f"{what}: {type(error).__name__} {error}")
        return None
    note(bool(result), f"{what}: {result!r}"[:300])
    return result


def state():
    """The state of the world, which a judged program may read."""
    status, answer = request(API + "/state")
    if status != 200:
        sys.exit(f"GET /state {status}")
    return json.loads(answer)


def step(**body):
    """Steps the simulation, which a judged program may do."""
    return request(API + "/step", {"steps": 4, **body}, "POST")


def route():
    """The waypoints of the centre line."""
    return json.loads(request(API + "/route")[1])["waypoints"]


def connects(address, port, timeout=0.3):
    """Whether a TCP connection is accepted."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as client:
        client.settimeout(timeout)
        # The kernel may choose the target port as the local port of the socket. The socket is then
        # connected to itself, which shows no open port.
        return (
            client.connect_ex((address, port)) == 0 and client.getsockname() != client.getpeername()
        )


def files_named(*names, below=("/",)):
    """Paths of all files with one of these names in the folders `below`, except /proc and /sys."""
    found = []
    for top in below:
        for folder, folders, files in os.walk(top):
            folders[:] = [name for name in folders if f"{folder}/{name}" not in ("//proc", "//sys")]
            found += [str(Path(folder, name)) for name in files if name in names]
    return found
