"""Starts a simulator with ROS 2, calls its web API, and creates the tests' network namespace."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

READY = re.compile(r"chicane is ready: (http://[^/]+)/sim")
INSIDE = "CHICANE_ROS_NAMESPACE"
# A pair of virtual interfaces that acts as an external network. The tests count the packets that
# are sent to this network.
OUTSIDE, OUTSIDE_ADDRESS, FAR = "outside0", "10.99.0.1", "far0"


def enter_namespace() -> None:
    """Runs this program again in a new network namespace, isolated from other tests."""
    if os.environ.get(INSIDE):
        return
    for tool, package in [("unshare", "util-linux"), ("ip", "iproute2")]:
        if not shutil.which(tool):
            sys.exit(f"The ROS 2 tests need {tool}. Install it with: apt-get install {package}")
    if subprocess.run(["unshare", "-Urn", "true"], capture_output=True).returncode:
        sys.exit(
            "The ROS 2 tests need network namespaces, which this machine does not allow. "
            "Allow them (sysctl kernel.unprivileged_userns_clone=1, and on Ubuntu "
            "kernel.apparmor_restrict_unprivileged_userns=0) or run as root."
        )
    setup = (
        f"ip link set lo up && ip link add {OUTSIDE} type veth peer name {FAR} && "
        f"ip link set {OUTSIDE} addrgenmode none && ip link set {FAR} addrgenmode none up && "
        f"ip addr add {OUTSIDE_ADDRESS}/24 dev {OUTSIDE} && "
        f"ip link set {OUTSIDE} up multicast on && ip route add default dev {OUTSIDE} && "
        'exec "$@"'
    )
    inside = ["unshare", "-Urn", "sh", "-c", setup, "sh", sys.executable, *sys.argv]
    os.execvpe("unshare", inside, os.environ | {INSIDE: "1"})


def sent_outside() -> int:
    """Number of packets sent to the external network."""
    counter = pathlib.Path(f"/sys/class/net/{OUTSIDE}/statistics/tx_packets")
    if counter.exists():
        return int(counter.read_text())
    # /sys may still show the interfaces of the original namespace, so `ip` asks the kernel.
    shown = subprocess.check_output(["ip", "-s", "-j", "link", "show", OUTSIDE], text=True)
    return json.loads(shown)[0]["stats64"]["tx"]["packets"]


def program() -> str:
    """Path of the simulator's program."""
    return os.environ.get("CHICANE_PROGRAM", "target/release/chicane")


def wait_for(what: str, condition, seconds: float = 60.0):
    """Waits until a condition is true and returns its value.

    `what` names the condition in the error after a timeout.
    """
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.01)
    raise AssertionError(f"timeout: waited {seconds} s for {what}")


class Simulator:
    """A running simulator. `domain` is its DDS domain; None starts it without ROS 2.

    With `keep_log`, the method `log` returns the log of the simulator.
    """

    def __init__(self, domain: int | None, *args: str, keep_log: bool = False):
        self.keep_log = keep_log
        self.folder = tempfile.TemporaryDirectory()
        self.command = [program(), "serve", "--listen", "127.0.0.1:0", "--world", "oval"]
        self.command += ["--data-dir", f"{self.folder.name}/data"]
        self.command += [] if "--log-level" in args else ["--log-level", "error"]
        ros = [] if domain is None else ["--ros", "--ros-domain", str(domain)]
        self.command += [*ros, *args]
        self.start()

    def start(self) -> None:
        # No judge root is needed, because these tests run no evaluations.
        environment = os.environ | {"CHICANE_JUDGE_ROOT": f"{self.folder.name}/nothing"}
        with contextlib.ExitStack() as files:
            stderr = files.enter_context(open(self.log_file(), "w")) if self.keep_log else None
            self.process = subprocess.Popen(
                self.command, stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment
            )
        ready = READY.match(self.process.stdout.readline())
        assert ready, "the simulator did not start"
        self.url = ready[1]

    def log_file(self) -> pathlib.Path:
        return pathlib.Path(self.folder.name, "log")

    def log(self) -> str:
        """The log of the simulator, if it was started with `keep_log`."""
        return self.log_file().read_text()

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)
        self.process.stdout.close()

    def close(self) -> None:
        self.stop()
        self.folder.cleanup()

    def get(self, path: str):
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return json.load(answer)

    def post(self, path: str, body: dict | None = None):
        data = json.dumps(body or {}).encode()
        request = urllib.request.Request(
            self.url + path, data=data, headers={"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def rtf(self) -> float:
        """The real-time factor of the last second."""
        return self.get("/sim/api/clock")["rtf"]

    def time(self) -> float:
        """Simulated time."""
        return self.get("/sim/api/clock")["sim_time"]


class PaceCheck:
    """Compares the pace of a simulator with the pace of an undisturbed one on the same machine.

    Other load on the machine slows both simulators, so the ratio does not depend on that load.
    """

    def __init__(self, simulator: Simulator):
        self.quiet = Simulator(None)
        self.starts = [(one, one.time()) for one in (simulator, self.quiet)]

    def pace(self) -> float:
        """Simulated time since the start, relative to that of the undisturbed simulator."""
        # The undisturbed simulator is asked first. A delay between the two requests then only
        # raises the pace, so the delay cannot make the test fail.
        quiet, ours = (one.time() - start for one, start in reversed(self.starts))
        return ours / quiet

    def wait_for_pace(self, disturb) -> None:
        """Waits until the pace is above 0.95. `disturb` repeats the load, and is called meanwhile.

        A short delay of this simulator alone lowers the pace less and less, because the pace is a
        mean since the start of the comparison. If the load itself slows the simulator, the pace
        stays low, because the load goes on.
        """
        paces = [self.pace()]

        def is_kept() -> bool:
            if paces[-1] > 0.95:
                return True
            disturb()
            paces.append(self.pace())
            return False

        try:
            wait_for("the pace of an undisturbed simulator", is_kept)
        except AssertionError as failure:
            text = f"{failure}; first and last pace {paces[0]}, {paces[-1]}"
            raise AssertionError(text) from failure
