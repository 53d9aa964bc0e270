"""A real simulator and its web API."""

import json
import os
import re
import signal
import subprocess
import tempfile
import time
import urllib.request

READY = re.compile(r"chicane is ready: (http://[^/]+)/sim")
PATIENCE = 60.0


def wait_for(what, condition):
    """Asks again and again until it holds, but not for ever."""
    deadline = time.monotonic() + PATIENCE
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not within {PATIENCE:.0f} s")
        time.sleep(0.01)
    return value


class Simulator:
    """The program, on any free port, with an empty data folder."""

    def __init__(self, *words: str):
        self.words = words
        self.folder = tempfile.TemporaryDirectory()
        self.port = 0
        self.token = None
        self.start()

    def start(self):
        """Starts it; again on the port that it had."""
        place = ["--listen", f"127.0.0.1:{self.port}", "--data-dir", f"{self.folder.name}/data"]
        self.process = subprocess.Popen(
            [os.environ["CHICANE_PROGRAM"], "serve", *place, "--log-level", "error", *self.words],
            stdout=subprocess.PIPE,
            text=True,
        )
        ready = READY.match(self.process.stdout.readline())
        assert ready, "the simulator starts"
        self.url = ready[1]
        self.port = int(self.url.rsplit(":", 1)[1])

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(timeout=PATIENCE)
        self.process.stdout.close()

    def close(self):
        if self.process.poll() is None:
            self.stop()
        self.folder.cleanup()

    def request(self, path: str, body=None) -> bytes:
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.read()

    def get(self, path: str):
        return json.loads(self.request(path))

    def post(self, path: str, body):
        return json.loads(self.request(path, body))

    def asked(self, axis: str) -> float:
        """What the actuators are asked for."""
        return self.get("/states?include=")["cmd"][axis]
