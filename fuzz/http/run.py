"""Fuzzes the web API of a real simulator by its own OpenAPI document.

usage: run.py <chicane program> <schemathesis program> [test cases an operation] [seed]
"""

import pathlib
import re
import subprocess
import sys
import tempfile

READY = re.compile(r"chicane is ready: (http://[^/]+)/sim")

# An event stream has no end to wait for. The schema can't say everything that the texts of the
# errors do (two fields that exclude each other), so data that fits it may still be refused.
LEFT_OUT = ["--exclude-path", "/sim/api/events", "--exclude-checks", "positive_data_acceptance"]


def main() -> int:
    chicane, schemathesis = sys.argv[1:3]
    cases, seed = (sys.argv[3:] + ["60", "1"][len(sys.argv) - 3 :])[:2]
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [
                chicane,
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--data-dir",
                f"{folder}/data",
                "--log-level",
                "error",
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            ready = READY.match(server.stdout.readline())
            if ready is None:
                print("the simulator did not start", file=sys.stderr)
                return 1
            config = str(pathlib.Path(__file__).with_name("schemathesis.toml"))
            command = [
                schemathesis,
                "--config-file",
                config,
                "run",
                f"{ready[1]}/sim/api/openapi.json",
                *LEFT_OUT,
            ]
            command += [
                "--phases",
                "examples,coverage,fuzzing",
                "--max-examples",
                cases,
                "--seed",
                seed,
            ]
            command += ["--request-timeout", "30", "--warnings", "off", "--no-color"]
            status = subprocess.run(command, cwd=folder).returncode
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


if __name__ == "__main__":
    sys.exit(main())
