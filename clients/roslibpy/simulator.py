"""Starts a real simulator and calls its web API."""

import json
import os
import re
import signal
import subprocess
import tempfile
import time
import urllib.request

READY = re.compile(r"chicane is ready: (http://[^/]+)/sim")
TIMEOUT_S = 60.0


def wait_for(what, condition):
    """Polls until the condition is true and returns its value. Raises after a timeout."""
    deadline = time.monotonic() + TIMEOUT_S
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"timeout: waited {TIMEOUT_S:.0f} s for {what}")
        time.sleep(0.01)
    return value


class Simulator:
    """A running simulator on a free port, with an empty data folder."""

    def __init__(self, *arguments: str):
        self.arguments = arguments
        self.folder = tempfile.TemporaryDirectory()
        self.port = 0
        self.token = None
        self.start()

    def start(self):
        """Starts the simulator. A second start uses the same port again."""
        options = ["--listen", f"127.0.0.1:{self.port}", "--data-dir", f"{self.folder.name}/data"]
        self.process = subprocess.Popen(
            [
                os.environ["CHICANE_PROGRAM"],
                "serve",
                *options,
                "--log-level",
                "error",
                *self.arguments,
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        ready = READY.match(self.process.stdout.readline())
        assert ready, "the simulator did not start"
        self.url = ready[1]
        self.port = int(self.url.rsplit(":", 1)[1])

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(timeout=TIMEOUT_S)
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
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
            return answer.read()

    def get(self, path: str):
        return json.loads(self.request(path))

    def post(self, path: str, body):
        return json.loads(self.request(path, body))

    def commanded(self, axis: str) -> float:
        """The current command for an axis: speed, steering, pan or tilt."""
        return self.get("/states?include=")["cmd"][axis]
