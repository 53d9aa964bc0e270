"""A real simulator that speaks ROS 2, its web API, and the network namespace it all happens in."""

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
# A network that leads nowhere and counts what is sent to it.
OUTSIDE, OUTSIDE_ADDRESS, FAR = "outside0", "10.99.0.1", "far0"


def enter_namespace() -> None:
    """Runs this program again in a network of its own, where other tests are not met."""
    if os.environ.get(INSIDE):
        return
    for tool, package in [("unshare", "util-linux"), ("ip", "iproute2")]:
        if not shutil.which(tool):
            sys.exit(f"The ROS 2 tests need {tool}: apt-get install {package}")
    if subprocess.run(["unshare", "-Urn", "true"], capture_output=True).returncode:
        sys.exit(
            "The ROS 2 tests need network namespaces, which this machine refuses: "
            "allow them (sysctl kernel.unprivileged_userns_clone=1, and on Ubuntu "
            "kernel.apparmor_restrict_unprivileged_userns=0) or run as root"
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
    """Packets that left by the network outside."""
    counter = pathlib.Path(f"/sys/class/net/{OUTSIDE}/statistics/tx_packets")
    if counter.exists():
        return int(counter.read_text())
    # /sys still shows another network: ask the kernel.
    shown = subprocess.check_output(["ip", "-s", "-j", "link", "show", OUTSIDE], text=True)
    return json.loads(shown)[0]["stats64"]["tx"]["packets"]


def program() -> str:
    """The simulator, as a program."""
    return os.environ.get("CHICANE_PROGRAM", "target/release/chicane")


def wait_for(what: str, condition, seconds: float = 60.0):
    """What a condition gives once it is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.01)
    raise AssertionError(f"{what}: not within {seconds} s")


class Simulator:
    """A simulator in a process of its own."""

    def __init__(self, domain: int | None, *args: str):
        self.folder = tempfile.TemporaryDirectory()
        self.command = [program(), "serve", "--listen", "127.0.0.1:0", "--world", "oval"]
        self.command += ["--data-dir", f"{self.folder.name}/data", "--log-level", "error"]
        ros = [] if domain is None else ["--ros", "--ros-domain", str(domain)]
        self.command += [*ros, *args]
        self.start()

    def start(self) -> None:
        # Without a judge: nothing here is judged.
        environment = os.environ | {"CHICANE_JUDGE_ROOT": f"{self.folder.name}/nothing"}
        self.process = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, text=True, env=environment
        )
        ready = READY.match(self.process.stdout.readline())
        assert ready, "the simulator did not start"
        self.url = ready[1]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(20)
        self.process.stdout.close()

    def close(self) -> None:
        self.stop()
        self.folder.cleanup()

    def get(self, path: str):
        with urllib.request.urlopen(self.url + path, timeout=20) as answer:
            return json.load(answer)

    def post(self, path: str, body: dict | None = None):
        data = json.dumps(body or {}).encode()
        request = urllib.request.Request(
            self.url + path, data=data, headers={"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)

    def rtf(self) -> float:
        """The real-time factor of the last second."""
        return self.get("/sim/api/clock")["rtf"]

    def time(self) -> float:
        """Simulated time."""
        return self.get("/sim/api/clock")["sim_time"]


class Race:
    """A simulator beside one that nobody disturbs: what else the machine does slows both."""

    def __init__(self, simulator: Simulator):
        self.quiet = Simulator(None)
        self.lanes = [(one, one.time()) for one in (simulator, self.quiet)]

    def pace(self) -> float:
        """How fast its time goes, as a part of how fast that of the other one does."""
        ours, quiet = (one.time() - began for one, began in self.lanes)
        return ours / quiet
