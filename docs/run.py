"""Runs the documentation: every block of every page must do what the page says.

usage: run.py <chicane program> [page …]

Pages are Markdown. A block runs by its language, in order, each page in a folder of its own with a
simulator of its own (docs/TESTING.md says how). Fails with page, line and what came out.
"""

import concurrent.futures
import pathlib
import sys
import tempfile
import time
import urllib.error
import urllib.request

from runner import markdown, words
from runner.bodies import Api
from runner.markdown import PageError
from runner.page import Page, Report
from runner.reader import Reader
from runner.shell import Shell

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["README.md", "CHANGELOG.md", "docs/*.md", "*/README.md"]
AT_ONCE = 3  # pages mostly wait for simulated time


def run(path: pathlib.Path, program: pathlib.Path, known: words.Words):
    """Runs a page: its name, what became of it, errors with their lines, seconds."""
    name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
    began = time.monotonic()
    report, errors = Report(), []
    with tempfile.TemporaryDirectory(prefix="chicane-docs-") as home:
        reader = Reader(ROOT, program, pathlib.Path(home))
        try:
            blocks, text = markdown.read(path.read_text())
            errors += known.check(path, blocks, text)
            page = Page(name, blocks, reader, known)
            report = page.report
            page.run()
        except PageError as error:
            errors.append(error)
        finally:
            reader.close()
    return name, report, errors, time.monotonic() - began


def beside(program: pathlib.Path) -> list[str]:
    """Paths that pages may name though no document has them, and that are not there."""
    with tempfile.TemporaryDirectory(prefix="chicane-docs-") as home:
        reader = Reader(ROOT, program, pathlib.Path(home))
        try:
            Shell(reader).serve(markdown.Block(1, "sh", f"{program} serve\n"), "simulator")
            return [path for path in words.BESIDE if status(reader.url + path) == 404]
        finally:
            reader.close()


def status(url: str) -> int:
    """The status of an answer."""
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__.strip().split("\n\n")[1])
        return 2
    program = pathlib.Path(sys.argv[1]).resolve()
    pages = [pathlib.Path(page).resolve() for page in sys.argv[2:]]
    missing = [] if pages else beside(program)
    pages = pages or [path for each in PAGES for path in sorted(ROOT.glob(each))]
    known = words.Words(ROOT, program, Api(program))
    left_out, wrong = [], 0
    for path in missing:
        print(f"docs/runner/words.py: pages may name {path}, which is not there")
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for result in pool.map(lambda page: run(page, program, known), pages):
            name, report, errors, seconds = result
            done = f"{report.ran} run, {report.compared} compared"
            print(f"{name}: {done}, {seconds:.1f} s", flush=True)
            left_out += [f"{name}:{line}: {why}" for line, why in report.left_out]
            for error in errors:
                print(f"{name}:{error.line}: {error}", flush=True)
            wrong += bool(errors)
    if left_out:
        print("not run:", *left_out, sep="\n  ")
    print(f"{len(pages) - wrong} of {len(pages)} pages are right")
    return 1 if wrong or missing else 0


if __name__ == "__main__":
    sys.exit(main())
