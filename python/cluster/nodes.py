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

START_S = 120.0


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Nodes:
    """One head and a number of workers, each with one processor."""

    def __init__(self, workers: int, environment: dict[str, str]):
        self.folder = tempfile.TemporaryDirectory(prefix="ray-")
        self.environment = os.environ | environment | {"RAY_AUTH_MODE": "disabled"}
        self.address = f"127.0.0.1:{free_port()}"
        port = self.address.rsplit(":", 1)[1]
        temp = f"--temp-dir={self.folder.name}"
        self.head = self.start("--head", f"--port={port}", "--include-dashboard=false", temp)
        self.wait_for(1)
        self.workers = [self.start(f"--address={self.address}") for _ in range(workers)]
        self.wait_for(1 + workers)

    def start(self, *arguments: str) -> subprocess.Popen:
        ray = Path(sys.executable).with_name("ray")
        limits = ["--num-cpus=1", "--object-store-memory=200000000", "--disable-usage-stats"]
        return subprocess.Popen(
            [ray, "start", "--block", *limits, *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def wait_for(self, count: int) -> None:
        """Waits until the cluster has this many nodes."""
        code = (
            "import ray, logging\n"
            f"ray.init({self.address!r}, logging_level=logging.ERROR)\n"
            "print('alive', sum(node['Alive'] for node in ray.nodes()))\n"
        )
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            asked = subprocess.run(
                [sys.executable, "-c", code], env=self.environment, capture_output=True, text=True
            )
            if f"alive {count}" in asked.stdout:
                return
        raise TimeoutError(
            f"the cluster has no {count} nodes after {START_S:.0f} s: {asked.stderr}"
        )

    def kill_worker(self) -> None:
        """Kills all processes of a worker, as a power cut would."""
        worker = self.workers.pop()
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()

    def close(self) -> None:
        for node in [*self.workers, self.head]:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(node.pid, signal.SIGKILL)
            node.wait()
        self.folder.cleanup()
