"""A participant on another machine that sends to the simulator's address.

The simulator may communicate with that participant only if `--ros-network` names the network.
"""

import json
import os
import subprocess
import sys
import unittest

from .simulator import FAR, OUTSIDE, OUTSIDE_ADDRESS, Simulator, wait_for

DOMAIN = 71
FAR_ADDRESS = "10.99.0.2"
CONFIGURATION = f"""<CycloneDDS><Domain>
<General><Interfaces><NetworkInterface name="{FAR}"/></Interfaces></General>
<Discovery><ParticipantIndex>auto</ParticipantIndex>
<Peers><Peer address="{OUTSIDE_ADDRESS}"/></Peers></Discovery>
</Domain></CycloneDDS>"""


def ask(domain: int, seconds: float) -> None:
    """Prints whether clock messages arrive within `seconds`, and whether commands have a reader."""
    from . import idl
    from .cyclone import CommandWriter, Listener

    listener = Listener(domain)
    writer = CommandWriter(listener.participant, "/speed", idl.Float64)
    clock = listener.listen("/clock", idl.Clock)
    listener.take(seconds, until=lambda: len(clock.at) > 20 and writer.has_subscriber())
    print(json.dumps([len(clock.at) > 20, writer.has_subscriber()]))


class Outside(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.machine = machine = subprocess.Popen(["unshare", "-n", "sleep", "600"])
        cls.addClassCleanup(machine.wait)
        cls.addClassCleanup(machine.kill)
        ours = os.readlink("/proc/self/ns/net")
        wait_for("a network", lambda: os.readlink(f"/proc/{machine.pid}/ns/net") != ours)
        subprocess.run(["ip", "link", "set", FAR, "netns", str(machine.pid)], check=True)
        cls.inside = ["nsenter", "-t", str(machine.pid), "-n"]
        for command in [
            "ip link set lo up",
            f"ip addr add {FAR_ADDRESS}/24 dev {FAR}",
            f"ip link set {FAR} up multicast on",
            f"ip route add default dev {FAR}",
        ]:
            subprocess.run([*cls.inside, *command.split()], check=True)

    def ask(self, domain: int, seconds: float) -> list[bool]:
        script = f"from ros.test_outside import ask; ask({domain}, {seconds})"
        environment = {"PYTHONPATH": os.pathsep.join(sys.path), "CYCLONEDDS_URI": CONFIGURATION}
        command = [*self.inside, sys.executable, "-c", script]
        return json.loads(subprocess.check_output(command, env=os.environ | environment))

    def test_another_machine_cannot_communicate_by_default(self):
        simulator = Simulator(DOMAIN)
        self.addCleanup(simulator.close)
        self.assertEqual(self.ask(DOMAIN, 6.0), [False, False])

    def test_another_machine_can_communicate_with_the_network_option(self):
        simulator = Simulator(DOMAIN + 1, "--ros-network", OUTSIDE)
        self.addCleanup(simulator.close)
        self.assertEqual(self.ask(DOMAIN + 1, 60.0), [True, True])
