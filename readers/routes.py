"""Checks that NumPy can read the waypoint files, and that the simulator serves the same values.

usage: routes.py <chicane program> <folder with worlds as `chicane build` writes them>
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.request

import numpy

READY = re.compile(r"chicane is ready: (http://[^/]+)/sim")


def ask(url: str, body: dict | None = None) -> bytes:
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data), timeout=60) as answer:
        return answer.read()


def compare(api: str, name: str, folder: pathlib.Path) -> None:
    """Checks that the built file, the download and the route in the API have the same values."""
    file = folder / name / "routes" / f"{name}.npy"
    array = numpy.load(file, allow_pickle=False)
    assert array.dtype == numpy.dtype("<f8") and array.shape[1] == 6, (
        name,
        array.dtype,
        array.shape,
    )
    assert array.flags.c_contiguous and numpy.isfinite(array).all(), name
    assert ask(f"{api}/worlds/{name}/waypoints.npy") == file.read_bytes(), name
    ask(f"{api}/switch", {"world": f"{name}.world"})
    route = json.loads(ask(f"{api}/route"))
    for line, column in (("waypoints", 0), ("inner", 2), ("outer", 4)):
        served = numpy.array(route[line])
        # The API rounds to micrometres.
        assert numpy.abs(served - array[:, column : column + 2]).max() <= 0.6e-6, (name, line)
    assert (array[0] == array[-1]).all(), name
    print(f"{name:<12} {len(array):>4} waypoints: NumPy, download and API agree")


def main() -> int:
    chicane, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as data:
        arguments = ["--listen", "127.0.0.1:0", "--data-dir", data, "--log-level", "error"]
        server = subprocess.Popen([chicane, "serve", *arguments], stdout=subprocess.PIPE, text=True)
        try:
            ready = READY.match(server.stdout.readline())
            assert ready is not None, "the simulator did not start"
            api = f"{ready[1]}/sim/api"
            listed = json.loads(ask(f"{api}/worlds"))["worlds"]
            names = [world["name"] for world in listed]
            assert len(names) >= 6, names
            for name in names:
                compare(api, name, folder)
        finally:
            server.terminate()
            server.wait(30)
    return 0


if __name__ == "__main__":
    sys.exit(main())
