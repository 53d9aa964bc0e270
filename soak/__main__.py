"""`python3 -m soak`: runs a soak test, checks its history and writes a report.

The exit status is 0 if no rule was broken.
"""

import argparse
import json
import pathlib
import sys
import tempfile

from . import report, rules
from .history import read
from .run import Options, soak


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m soak", description=__doc__)
    parser.add_argument("program", help="path of the program chicane")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--speed", type=float, default=20.0, help="real-time factor")
    parser.add_argument("--short", action="store_true", help="half a minute, for every test run")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("target/soak"))
    arguments = parser.parse_args()
    seconds = 18.0 if arguments.short else arguments.minutes * 60
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="chicane-soak-", ignore_cleanup_errors=True) as folder:
        options = Options(
            program=str(pathlib.Path(arguments.program).resolve()),
            folder=pathlib.Path(folder),
            seconds=seconds,
            seed=arguments.seed,
            speed=arguments.speed,
            short=arguments.short,
        )
        try:
            end = soak(options, lambda text: print(text, flush=True))
        finally:
            for name in ("history.jsonl", "server.log", "after-end.log", "after-kill.log"):
                made = options.folder / name
                if made.exists():
                    (arguments.out / name).write_bytes(made.read_bytes())
    end |= {
        "seconds": seconds,
        "seed": arguments.seed,
        "speed": arguments.speed,
        "short": arguments.short,
    }
    (arguments.out / "end.json").write_text(json.dumps(end, indent=1))
    return judge(arguments.out, end)


def judge(folder: pathlib.Path, end: dict) -> int:
    """Checks the history in a folder and writes the report. Returns the exit status."""
    lines = read(folder / "history.jsonl")
    verdict = rules.check(lines, end)
    summary = report.summary(lines, end, verdict)
    (folder / "report.json").write_text(json.dumps(summary, indent=1))
    text = report.markdown(summary)
    (folder / "report.md").write_text(text)
    print(text)
    return 1 if verdict.broken else 0


if __name__ == "__main__":
    sys.exit(main())
