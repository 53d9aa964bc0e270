"""Fuzzes the web APIs of a real simulator and its robot, based on their OpenAPI documents.

usage: run.py <chicane program> <schemathesis program> [test cases per operation] [seed]
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

# Event streams are excluded because they do not end, and prints because they can take minutes. The
# check that the server accepts all data that fits the schema is excluded too. The schema cannot
# express every constraint, such as two fields that exclude each other.
EXCLUDED = ["--exclude-path", "/sim/api/events", "--exclude-path", "/audio/events"]
EXCLUDED += ["--exclude-path", "/sim/api/worlds/{name}/print.jpg"]
EXCLUDED += ["--exclude-path", "/sim/api/builder/projects/{id}/events"]
EXCLUDED += ["--exclude-path", "/sim/api/builder/projects/{id}/print"]
EXCLUDED += ["--exclude-checks", "positive_data_acceptance"]


# Paths of the OpenAPI documents of simulator and robot. These documents contain no WebSockets.
DOCUMENTS = ["/sim/api/openapi.json", "/openapi.json"]


def fuzz(schemathesis: str, document: str, cases: str, seed: str, folder: str) -> int:
    """Runs the fuzzer with one document and returns its exit status."""
    here = pathlib.Path(__file__).parent
    command = [
        schemathesis,
        "--config-file",
        str(here / "schemathesis.toml"),
        "run",
        document,
        *EXCLUDED,
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
        # The judge root is empty, so that no evaluation can start and run random text as a command.
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
                # Requests for the previous document may have paused time. Then a request that holds
                # a speed for some simulated seconds would never end.
                resume_time(ready[1])
                status |= fuzz(schemathesis, ready[1] + document, cases, seed, folder)
            if server.poll() is not None:
                print(
                    f"the simulator ended during the run with status {server.returncode}",
                    file=sys.stderr,
                )
                return 1
            return status
        finally:
            server.terminate()
            server.wait(timeout=60)


def resume_time(base: str) -> None:
    """Resumes simulated time, at real-time speed."""
    body = json.dumps({"paused": False, "speed": 1}).encode()
    urllib.request.urlopen(f"{base}/sim/api/clock", data=body, timeout=60).close()


if __name__ == "__main__":
    sys.exit(main())
