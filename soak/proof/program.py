"""The program `chicane` as the proofs use it: commands, and a simulator with a data folder."""

import json
import pathlib
import re
import subprocess
import time
import urllib.error
import urllib.request
from typing import Any

READY = re.compile(r"chicane is ready: (http://[^/]+)/sim")
#: Timeout of a command or a condition in seconds.
TIMEOUT_S = 300.0


class ProofError(Exception):
    """A proof failed; the text says how."""


def chicane(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs a command of the program and returns its output."""
    return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=TIMEOUT_S)


def succeed(program: str, *arguments: str) -> str:
    """Runs a command that must succeed, and returns its output."""
    done = chicane(program, *arguments)
    if done.returncode != 0:
        raise ProofError(f"chicane {' '.join(arguments)}: {done.stdout}{done.stderr}")
    return done.stdout


def records(program: str, data: pathlib.Path) -> list[dict[str, Any]]:
    """All records of a data folder."""
    return json.loads(succeed(program, "records", "export", "--json", "--data-dir", str(data)))


class Simulator:
    """A running simulator. `kill` ends it with SIGKILL."""

    def __init__(self, program: str, data: pathlib.Path, *arguments: str) -> None:
        command = [program, "serve", "--listen", "127.0.0.1:0", "--data-dir", str(data), *arguments]
        log = data.parent / f"{data.name}.log"
        with log.open("ab") as errors:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        assert self.process.stdout is not None
        ready = READY.match(self.process.stdout.readline())
        if ready is None:
            self.kill()
            raise ProofError(f"the simulator did not start: {log.read_text()[-2000:]}")
        self.url = ready[1]

    def ask(self, path: str, body: dict[str, Any] | None = None) -> tuple[int, Any]:
        """Sends a POST request with the body, or a GET request if the body is None.

        Returns status and answer.
        """
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.url + path, data, {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def until(self, what: str, path: str, wanted: Any) -> Any:
        """Repeats a GET request until `wanted` accepts its answer."""
        end = time.monotonic() + TIMEOUT_S
        while time.monotonic() < end:
            status, answer = self.ask(path)
            if status == 200 and wanted(answer):
                return answer
            time.sleep(0.01)
        raise ProofError(f"no {what} within {TIMEOUT_S:g} s")

    def start(self, command: str) -> None:
        """Starts an evaluation.

        The request is repeated while the simulator refuses it, such as before the judge is ready.
        """
        end = time.monotonic() + TIMEOUT_S
        while time.monotonic() < end:
            status, answer = self.ask("/sim/api/evaluation/start", {"command": command})
            if status == 200:
                return
            time.sleep(0.05)
        raise ProofError(f"the evaluation did not start: {answer}")

    def elapsed(self, seconds: float) -> None:
        """Waits until the session has run for this simulated time, or has ended."""

        def reached(answer: Any) -> bool:
            session = answer.get("session") or {}
            running = session.get("phase") == "running" and session["elapsed_s"] >= seconds
            return running or not answer["active"]

        self.until(f"session at {seconds:g} s", "/sim/api/evaluation/session", reached)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
