"""Measures the processor time that ROS 2 costs the simulator, and the latency of messages.

Prints one line of JSON.

usage: bench.py <chicane program> [seconds of one measurement]
"""

import json
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

from ros.simulator import Simulator, enter_namespace

DOMAIN = 81


def cpu_seconds(process: int) -> float:
    """Processor time that a process has used, in seconds."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cores(simulator: Simulator, listener, span: float) -> float:
    """Number of cores that a simulator uses while `listener` receives its topics.

    The measurement takes `span` seconds. If `listener` is None, no client receives the topics.
    """
    before, since = cpu_seconds(simulator.process.pid), time.monotonic()
    listener.take(span) if listener else time.sleep(span)
    return (cpu_seconds(simulator.process.pid) - before) / (time.monotonic() - since)


def percentile(values: list[float], part: float) -> float:
    return sorted(values)[min(len(values) - 1, int(part * len(values)))]


def main() -> int:
    enter_namespace()
    from ros.cyclone import TOPICS, Listener

    os.environ["CHICANE_PROGRAM"] = os.path.abspath(sys.argv[1])
    span = float(sys.argv[2]) if len(sys.argv) > 2 else 8.0
    figures = {}
    simulator = Simulator(None)
    figures["off"] = cores(simulator, None, span)
    simulator.close()
    simulator = Simulator(DOMAIN)
    figures["alone"] = cores(simulator, None, span)
    pictures = ["/camera/image_raw", "/camera/image_raw/compressed"]
    for what, names in [
        ("sensors", [name for name in TOPICS if name not in pictures]),
        ("jpeg", [name for name in TOPICS if name != pictures[0]]),
        ("all", list(TOPICS)),
    ]:
        listener = Listener(DOMAIN)
        for name in names:
            listener.listen(name, TOPICS[name][0])
        logs = listener.logs
        listener.take(15.0, until=lambda logs=logs: all(log.at for log in logs.values()))
        for log in logs.values():
            log.forget()
        figures[what] = cores(simulator, listener, span)
        figures[f"{what} rtf"] = simulator.rtf()
        if what == "all":
            figures["ages"] = {
                name: [1e3 * percentile(log.ages, p) for p in (0.5, 0.99)]
                for name, log in logs.items()
            }
            figures["rates"] = {name: len(log.at) / span for name, log in logs.items()}
        del listener, logs, log
    simulator.close()
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
