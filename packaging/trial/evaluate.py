"""Waits for a simulator, starts one judged run, and prints its record.

usage: evaluate.py <address of the simulator> <command>

The token is in the environment variable CHICANE_TOKEN, if the simulator needs one.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable

# Limits for the start of the simulator and for the run. The first start of the service takes long,
# because it downloads the judge's Python.
START_S, RUN_S = 300, 180


def ask(url: str, body: dict[str, str] | None = None) -> dict:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json"}
    if token := os.environ.get("CHICANE_TOKEN"):
        headers["Authorization"] = f"Bearer {token}"
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=10) as answer:
        return json.load(answer)


def wait_for(what: str, seconds: float, test: Callable[[], bool]) -> None:
    end = time.monotonic() + seconds
    while not test():
        if time.monotonic() > end:
            sys.exit(f"{what}: not within {seconds} s")
        time.sleep(0.2)


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit((__doc__ or "").split("\n\n")[1])
    base, command = sys.argv[1].rstrip("/"), sys.argv[2]

    def is_healthy() -> bool:
        try:
            return ask(f"{base}/health")["status"] == "ok"
        except OSError:  # nothing listens yet, or 503
            return False

    wait_for("health", START_S, is_healthy)
    print("health:", json.dumps(ask(f"{base}/health")))
    try:
        ask(f"{base}/sim/api/evaluation/start", {"command": command})
    except urllib.error.HTTPError as error:
        sys.exit(f"evaluation refused: {error.read().decode()}")
    session = f"{base}/sim/api/evaluation/session"
    wait_for("end of the run", RUN_S, lambda: ask(session)["session"]["phase"] == "ended")
    ended = ask(session)["session"]
    print(
        "evaluation:", json.dumps({key: ended.get(key) for key in ("outcome", "record", "reason")})
    )
    if ended["outcome"] != "finished" or not ended["record"]:
        sys.exit(f"the run has no record: {json.dumps(ended)}")


if __name__ == "__main__":
    main()
