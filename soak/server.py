"""The program under test, with a data folder of its own and its log in a file."""

import pathlib
import re
import signal
import subprocess
import time

READY = re.compile(r"chicane is ready: http://([^:/]+):(\d+)/sim")
#: The tail of a line of the log, when it is worth a look.
TROUBLE = re.compile(r"^\S+\s+(ERROR|WARN)\s|panicked at")


class Server:
    """A simulator that runs."""

    def __init__(self, program: str, folder: pathlib.Path, speed: float) -> None:
        self.program, self.data = program, folder / "data"
        self.workspace = folder / "workspace"
        self.workspace.mkdir(parents=True, exist_ok=True)
        self.log = folder / "server.log"
        words = ["--listen", "127.0.0.1:0", "--data-dir", str(self.data), "--world", "oval"]
        words += ["--speed", str(speed), "--workspace", str(self.workspace)]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [program, "serve", *words], stdout=subprocess.PIPE, stderr=log, text=True
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

    def wait_for_judge(self, patience: float = 30.0) -> None:
        """Waits until the log says that evaluations can be run."""
        end = time.monotonic() + patience
        while "the judge is ready" not in self.log.read_text(errors="replace"):
            if time.monotonic() > end or self.process.poll() is not None:
                raise RuntimeError("the simulator has no judge: see `chicane setup`")
            time.sleep(0.05)

    def stop(self) -> float:
        """Ends it as a person would; how long that took."""
        started = time.monotonic()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return time.monotonic() - started

    def publish(self, project: pathlib.Path, name: str) -> str:
        """Publishes a project as another program would, and gives its id."""
        words = ["publish", str(project), "--name", name, "--data-dir", str(self.data)]
        done = subprocess.run([self.program, *words], capture_output=True, text=True, timeout=120)
        found = re.search(r"\b[0-9a-f]{32}\b", done.stdout)
        if done.returncode != 0 or found is None:
            raise RuntimeError(f"publishing failed: {done.stdout}{done.stderr}")
        return found[0]


def trouble(log: pathlib.Path) -> tuple[list[str], list[str]]:
    """Errors and warnings of a log."""
    lines = log.read_text(errors="replace").splitlines()
    found = [line for line in lines if TROUBLE.search(re.sub(r"\x1b\[[0-9;]*m", "", line))]
    warnings = [line for line in found if " WARN " in line]
    return [line for line in found if line not in warnings], warnings
