"""Programs receive messages again after they or the simulator have been stopped for a while."""

import contextlib
import os
import signal
import subprocess
import sys
import unittest

from . import idl
from .cyclone import CONFIGURATION, LATCHED, CommandWriter, Listener
from .simulator import Simulator, wait_for

DOMAIN = 111
# A short lease, so that the test does not have to wait long.
LEASE = "<LeaseDuration>3s</LeaseDuration><SPDPInterval>1s</SPDPInterval>"
SHORT = CONFIGURATION.replace("<Discovery>", f"<Discovery>{LEASE}")
# A program is lost if the simulator has received no announcement from it during its lease. The
# simulator logs the first text when a program is lost, and the second text when a lost program
# announces itself again.
LOST, BACK = "gives no sign of life", "a ROS 2 program is back"
# The simulator logs the first text when its own connection has ended, and the second text when it
# has a new connection.
INTERRUPTED = "connection to the ROS 2 graph was interrupted"
JOINED = "the robot joined the ROS 2 graph again"


def print_ticks(domain: int) -> None:
    """Subscribes to /scan and prints the tick of each message."""
    listener = Listener(domain)
    scan = listener.listen("/scan", idl.LaserScan)
    while True:
        listener.take(60.0, until=lambda: scan.ticks)
        for tick in scan.ticks:
            print(tick, flush=True)
        scan.forget()


class Returning(unittest.TestCase):
    def setUp(self):
        self.simulator = Simulator(DOMAIN, "--log-level", "info", keep_log=True)
        self.addCleanup(self.simulator.close)
        self.subscriber = subprocess.Popen(
            [
                sys.executable,
                "-c",
                f"from ros.test_returning import print_ticks; print_ticks({DOMAIN})",
            ],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "CYCLONEDDS_URI": SHORT},
        )
        # The cleanups run in reverse order. `kill` comes first, because SIGKILL also ends a process
        # that SIGSTOP has stopped.
        for step in [self.subscriber.stdout.close, self.subscriber.wait, self.subscriber.kill]:
            self.addCleanup(step)

    def lose(self, number: int) -> int:
        """Stops or kills the subscriber with a signal, and waits until the simulator has lost it.

        Returns the tick of the loss.
        """
        # On a busy machine, the short lease may have ended while the subscriber ran. Wait for a new
        # message first: it shows that the simulator still knows the subscriber.
        self.wait_for_tick_after(int(200 * self.simulator.time()))
        before = self.simulator.log().count(LOST)
        self.subscriber.send_signal(number)
        wait_for("the loss", lambda: self.simulator.log().count(LOST) > before)
        return int(200 * self.simulator.time())

    def wait_for_tick_after(self, tick: int) -> None:
        for line in self.subscriber.stdout:
            if int(line) > tick:
                return
        self.fail("the subscriber ended")

    def test_stopped_subscriber_receives_messages_again(self):
        self.wait_for_tick_after(0)
        other = Listener(DOMAIN)
        clock = other.listen("/clock", idl.Clock)
        pan = CommandWriter(other.participant, "/camera/pan", idl.Float64)
        other.take(60.0, until=lambda: clock.at)
        for angle in [0.3, -0.2]:
            lost_at = self.lose(signal.SIGSTOP)
            before = self.simulator.log().count(BACK)
            self.subscriber.send_signal(signal.SIGCONT)
            self.wait_for_tick_after(lost_at)
            wait_for("the message", lambda n=before: self.simulator.log().count(BACK) > n)
            # A program that was never lost still receives messages and can send commands.
            returned_at = int(200 * self.simulator.time())
            other.take(60.0, until=lambda end=returned_at: clock.ticks[-1] > end)
            self.assertGreater(clock.ticks[-1], returned_at)
            wait_for("a subscriber", pan.has_subscriber)

            def is_panned(wanted=angle) -> bool:
                pan.publish(idl.Float64(wanted))
                return abs(self.simulator.get("/camera/pan") - wanted) < 0.01

            wait_for("pan", is_panned)
        # A new program must get the latched messages too, although they were published only once.
        late = Listener(DOMAIN)
        for name, kind in LATCHED.items():
            late.listen(name, kind, depth=1, kept=True)
        late.take(60.0, until=lambda: all(log.at for log in late.logs.values()))
        self.assertEqual([name for name, log in late.logs.items() if not log.at], [])

    def test_killed_subscriber_is_forgotten(self):
        self.wait_for_tick_after(0)
        self.lose(signal.SIGKILL)
        # The subscriber may also have been lost, and have come back, before it was killed.
        before = self.simulator.log().count(BACK)
        other = Listener(DOMAIN)
        clock = other.listen("/clock", idl.Clock)
        other.take(60.0, until=lambda: len(clock.ticks) > 100)
        self.assertGreater(len(clock.ticks), 100)
        self.assertEqual(self.simulator.log().count(BACK), before)


class StoppedSimulator(unittest.TestCase):
    def test_no_program_found_a_simulator_that_had_been_stopped_and_continued(self):
        simulator = Simulator(DOMAIN, "--log-level", "info", keep_log=True)
        self.addCleanup(simulator.close)
        early = Listener(DOMAIN)
        early_clock = early.listen("/clock", idl.Clock)
        early.take(60.0, until=lambda: early_clock.at)
        wait_for("an interruption", lambda: stop_briefly(simulator))
        wait_for("the message", lambda: JOINED in simulator.log())
        joined_at = int(200 * simulator.time())
        late = Listener(DOMAIN)
        late_clock = late.listen("/clock", idl.Clock)
        for listener, clock in [(late, late_clock), (early, early_clock)]:
            listener.take(60.0, until=lambda c=clock: c.ticks and c.ticks[-1] > joined_at)
            self.assertGreater(clock.ticks[-1], joined_at)
        pan = CommandWriter(late.participant, "/camera/pan", idl.Float64)
        wait_for("a subscriber", pan.has_subscriber)
        pan.publish(idl.Float64(0.2))
        wait_for("pan", lambda: abs(simulator.get("/camera/pan") - 0.2) < 0.01)


def stop_briefly(simulator: Simulator) -> bool:
    """Stops and continues a simulator. Returns whether it logs that its ROS 2 connection ended.

    The signals interrupt the threads that wait. The connection ends only if one of its threads
    waited when the signals arrived, so a call may have no effect.
    """
    simulator.process.send_signal(signal.SIGSTOP)
    os.waitpid(simulator.process.pid, os.WUNTRACED)
    simulator.process.send_signal(signal.SIGCONT)
    with contextlib.suppress(AssertionError):
        wait_for("the message", lambda: INTERRUPTED in simulator.log(), 5.0)
    return INTERRUPTED in simulator.log()
