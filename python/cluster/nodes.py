"""A Ray cluster of several nodes on this machine, each in processes of its own."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
"""The folder of the repository."""
PROGRAM = os.environ["CHICANE"]
"""The program `chicane` under test."""
ENVIRONMENT = {
    "CHICANE": PROGRAM,
    "CHICANE_PYTHON": sys.executable,
    "PYTHONPATH": str(ROOT / "python/src"),
    "RAY_AUTH_MODE": "disabled",
}
"""Variables of all processes that grade or drive on the cluster."""
START_S = 120.0


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Nodes:
    """One head and a number of workers, each with one processor.

    The nodes start one after another. If two nodes start on one machine at the same time, both
    choose the same free ports, and Ray loses one of the nodes.
    """

    def __init__(self, workers: int, environment: dict[str, str]):
        # A process that was just killed may still write a log file while the folder is removed.
        self.folder = tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True)
        self.environment = os.environ | environment | {"RAY_AUTH_MODE": "disabled"}
        self.address = f"127.0.0.1:{free_port()}"
        self.nodes: list[subprocess.Popen] = []
        port = self.address.rsplit(":", 1)[1]
        temp = f"--temp-dir={self.folder.name}"
        try:
            self.start("--head", f"--port={port}", "--include-dashboard=false", temp)
            for _ in range(workers):
                self.start(f"--address={self.address}")
        except BaseException:
            self.close()
            raise

    def start(self, *arguments: str) -> None:
        """Starts a node and waits until the cluster has it."""
        ray = Path(sys.executable).with_name("ray")
        limits = ["--num-cpus=1", "--object-store-memory=200000000", "--disable-usage-stats"]
        log = Path(self.folder.name, f"node-{len(self.nodes)}.log")
        with log.open("wb") as output:
            node = subprocess.Popen(
                [ray, "start", "--block", "--node-ip-address=127.0.0.1", *limits, *arguments],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.nodes.append(node)
        code = (
            "import ray, logging\n"
            f"ray.init({self.address!r}, logging_level=logging.ERROR)\n"
            "print('alive', sum(node['Alive'] for node in ray.nodes()))\n"
        )
        deadline, asked = time.monotonic() + START_S, None
        while time.monotonic() < deadline and node.poll() is None:
            asked = subprocess.run(
                [sys.executable, "-c", code], env=self.environment, capture_output=True, text=True
            )
            if f"alive {len(self.nodes)}" in asked.stdout:
                return
        raise TimeoutError(
            f"the cluster has no {len(self.nodes)} nodes: {asked and asked.stderr}{log.read_text()}"
        )

    def kill_worker(self) -> None:
        """Kills all processes of a worker, as a power cut would."""
        worker = self.nodes.pop()
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()

    def close(self) -> None:
        for node in reversed(self.nodes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(node.pid, signal.SIGKILL)
            node.wait()
        self.folder.cleanup()
