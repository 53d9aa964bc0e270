"""The simulator under test, with its own data folder and a log file."""

import pathlib
import re
import signal
import subprocess
import time

READY = re.compile(r"chicane is ready: http://([^:/]+):(\d+)/sim")
#: A log line that is an error, a warning or a panic.
PROBLEM = re.compile(r"^\S+\s+(ERROR|WARN)\s|panicked at")


class Server:
    """A running simulator."""

    def __init__(
        self, program: str, folder: pathlib.Path, speed: float, log: str = "server.log"
    ) -> None:
        self.program, self.data = program, folder / "data"
        self.workspace = folder / "workspace"
        self.workspace.mkdir(parents=True, exist_ok=True)
        self.log = folder / log
        arguments = ["--listen", "127.0.0.1:0", "--data-dir", str(self.data), "--world", "oval"]
        arguments += ["--speed", str(speed), "--workspace", str(self.workspace)]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [program, "serve", *arguments], stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert self.process.stdout is not None
        ready = READY.match(self.process.stdout.readline())
        if ready is None:
            self.stop()
            raise RuntimeError(f"the simulator did not start: {self.log.read_text()[-2000:]}")
        self.address = (ready[1], int(ready[2]))

    @property
    def pid(self) -> int:
        return self.process.pid

    def wait_for_judge(self, timeout: float = 120.0) -> None:
        """Waits until the log shows that the judge is ready. Raises `RuntimeError` on timeout."""
        end = time.monotonic() + timeout
        while "the judge is ready" not in self.log.read_text(errors="replace"):
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError("the simulator has no judge: run `chicane setup`")
            time.sleep(0.05)

    def stop(self) -> float:
        """Ends the simulator with SIGTERM, or with SIGKILL after 60 s.

        Returns the number of seconds until the simulator has ended.
        """
        started = time.monotonic()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return time.monotonic() - started

    def kill(self) -> None:
        """Ends the simulator with SIGKILL."""
        self.process.kill()
        self.process.wait()

    def publish(self, project: pathlib.Path, name: str) -> str:
        """Publishes a project with the command `chicane publish` and returns the world id."""
        arguments = ["publish", str(project), "--name", name, "--data-dir", str(self.data)]
        done = subprocess.run(
            [self.program, *arguments], capture_output=True, text=True, timeout=120
        )
        found = re.search(r"\b[0-9a-f]{32}\b", done.stdout)
        if done.returncode != 0 or found is None:
            raise RuntimeError(f"chicane publish failed: {done.stdout}{done.stderr}")
        return found[0]


def log_problems(log: pathlib.Path) -> tuple[list[str], list[str]]:
    """The errors and the warnings in a log file."""
    lines = log.read_text(errors="replace").splitlines()
    found = [line for line in lines if PROBLEM.search(re.sub(r"\x1b\[[0-9;]*m", "", line))]
    warnings = [line for line in found if " WARN " in line]
    return [line for line in found if line not in warnings], warnings
