"""Fuzzes the web APIs of a real simulator and of its robot by their own OpenAPI documents.

usage: run.py <chicane program> <schemathesis program> [test cases an operation] [seed]
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.request

READY = re.compile(r"chicane is ready: (http://[^/]+)/sim")

# An event stream has no end to wait for, and a print may take minutes. The schema can't say
# everything that the texts of the errors do (two fields that exclude each other), so data that fits
# it may still be refused.
LEFT_OUT = ["--exclude-path", "/sim/api/events", "--exclude-path", "/audio/events"]
LEFT_OUT += ["--exclude-path", "/sim/api/worlds/{name}/print.jpg"]
LEFT_OUT += ["--exclude-checks", "positive_data_acceptance"]


# Where the documents are: the simulator's, and the robot's. WebSockets are in neither.
DOCUMENTS = ["/sim/api/openapi.json", "/openapi.json"]


def fuzz(schemathesis: str, document: str, cases: str, seed: str, folder: str) -> int:
    """Runs the fuzzer by one document; its exit status."""
    here = pathlib.Path(__file__).parent
    command = [
        schemathesis,
        "--config-file",
        str(here / "schemathesis.toml"),
        "run",
        document,
        *LEFT_OUT,
    ]
    command += ["--phases", "examples,coverage,fuzzing", "--max-examples", cases, "--seed", seed]
    command += ["--request-timeout", "30", "--warnings", "off", "--no-color"]
    hooks = {"SCHEMATHESIS_HOOKS": "hooks", "PYTHONPATH": str(here)}
    return subprocess.run(command, cwd=folder, env=os.environ | hooks).returncode


def main() -> int:
    chicane, schemathesis = sys.argv[1:3]
    schemathesis = os.path.abspath(schemathesis)
    cases, seed = (sys.argv[3:] + ["60", "1"][len(sys.argv) - 3 :])[:2]
    with tempfile.TemporaryDirectory() as folder:
        data = ["--listen", "127.0.0.1:0", "--data-dir", f"{folder}/data"]
        # Without a judge no evaluation is started: random texts must not be run as commands.
        server = subprocess.Popen(
            [chicane, "serve", *data, "--log-level", "error"],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"CHICANE_JUDGE_ROOT": f"{folder}/nothing"},
        )
        try:
            ready = READY.match(server.stdout.readline())
            if ready is None:
                print("the simulator did not start", file=sys.stderr)
                return 1
            status = 0
            for document in DOCUMENTS:
                # Whatever was done to it before: time goes on, or a held speed would never end.
                run_on(ready[1])
                status |= fuzz(schemathesis, ready[1] + document, cases, seed, folder)
            if server.poll() is not None:
                print(
                    f"the simulator ended on the way, with status {server.returncode}",
                    file=sys.stderr,
                )
                return 1
            return status
        finally:
            server.terminate()
            server.wait(timeout=10)


def run_on(base: str) -> None:
    """Has the time of the simulator go on, at its own pace."""
    body = json.dumps({"paused": False, "speed": 1}).encode()
    urllib.request.urlopen(f"{base}/sim/api/clock", data=body, timeout=10).close()


if __name__ == "__main__":
    sys.exit(main())
