"""Runs the documentation: executes the blocks of every page and compares the results.

usage: run.py <chicane program> [page …]

Pages are Markdown files. The language of a block determines how it runs. Each page has its own
folder and its own simulator, and its blocks run in order (see docs/TESTING.md). An error names
page and line. If an output differs from the page, the error shows the difference.
"""

import concurrent.futures
import pathlib
import sys
import tempfile
import time
import urllib.error
import urllib.request

from runner import markdown, references
from runner.bodies import Api
from runner.markdown import PageError
from runner.page import Page, Report
from runner.sandbox import Sandbox
from runner.shell import Shell

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = ["README.md", "CHANGELOG.md", "docs/*.md", "*/README.md"]
AT_ONCE = 3  # number of pages that run in parallel; a page mostly waits for simulated time


def run(path: pathlib.Path, program: pathlib.Path, known: references.References):
    """Runs a page. Returns its name, its report, the errors with their lines, and the seconds."""
    name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
    began = time.monotonic()
    report, errors = Report(), []
    with tempfile.TemporaryDirectory(prefix="chicane-docs-", ignore_cleanup_errors=True) as home:
        sandbox = Sandbox(ROOT, program, pathlib.Path(home))
        try:
            blocks, text = markdown.read(path.read_text())
            errors += known.check(path, blocks, text)
            page = Page(name, blocks, sandbox, known)
            report = page.report
            page.run()
        except PageError as error:
            errors.append(error)
        finally:
            sandbox.close()
    return name, report, errors, time.monotonic() - began


def missing_paths(program: pathlib.Path) -> list[str]:
    """The paths of `references.UNDOCUMENTED` that the simulator does not have."""
    with tempfile.TemporaryDirectory(prefix="chicane-docs-", ignore_cleanup_errors=True) as home:
        sandbox = Sandbox(ROOT, program, pathlib.Path(home))
        try:
            Shell(sandbox).serve(markdown.Block(1, "sh", f"{program} serve\n"), "simulator")
            return [path for path in references.UNDOCUMENTED if status(sandbox.url + path) == 404]
        finally:
            sandbox.close()


def status(url: str) -> int:
    """The HTTP status of a GET request."""
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__.strip().split("\n\n")[1])
        return 2
    program = pathlib.Path(sys.argv[1]).resolve()
    pages = [pathlib.Path(page).resolve() for page in sys.argv[2:]]
    missing = [] if pages else missing_paths(program)
    pages = pages or [path for each in PAGES for path in sorted(ROOT.glob(each))]
    known = references.References(ROOT, program, Api(program))
    skipped, wrong = [], 0
    for path in missing:
        print(f"docs/runner/references.py: the simulator has no {path}: correct UNDOCUMENTED")
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for result in pool.map(lambda page: run(page, program, known), pages):
            name, report, errors, seconds = result
            done = f"{report.ran} run, {report.compared} compared"
            print(f"{name}: {done}, {seconds:.1f} s", flush=True)
            skipped += [f"{name}:{line}: {why}" for line, why in report.skipped]
            for error in errors:
                print(f"{name}:{error.line}: {error}", flush=True)
            wrong += bool(errors)
    if skipped:
        print("not run:", *skipped, sep="\n  ")
    print(f"{len(pages) - wrong} of {len(pages)} pages are correct")
    return 1 if wrong or missing else 0


if __name__ == "__main__":
    sys.exit(main())
