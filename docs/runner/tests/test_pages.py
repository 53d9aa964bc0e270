"""Runs complete pages, correct and incorrect, with the real program.

The environment variable `CHICANE` is the path of the program.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

RUN = pathlib.Path(__file__).parents[2] / "run.py"
CHICANE = os.environ.get("CHICANE", str(RUN.parents[1] / "target" / "release" / "chicane"))


def run(*pages: str) -> tuple[int, str]:
    """Runs the runner on pages 0.md, 1.md and so on. Returns its exit status and its output."""
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder, f"{number}.md") for number in range(len(pages))]
        for file, page in zip(files, pages, strict=True):
            file.write_text(page)
        command = [sys.executable, RUN, CHICANE, *files]
        done = subprocess.run(command, capture_output=True, text=True)
        return done.returncode, done.stdout.replace(f"{folder}/", "") + done.stderr


GOOD = """
```sh
export PATH="$PWD/target/release:$PATH" WORD=word
```

<!-- docs: background one -->
```console
$ chicane serve --world field
chicane is ready: http://127.0.0.1:8000/sim
```

```sh
mkdir work
cd work
NAME=field
```

```console
$ curl -s http://127.0.0.1:8000/sim/api/status
{"running":true,"websocket":true,"current":"field",…}
$ basename "$PWD" $NAME
work
```

Save this as `count.py`:

```python
print("from a file")
```

```sh
python3 count.py
```

```text
from a file
```

```python
import os
number = 41
```

```python
print(number + 1, os.path.exists("count.py"), os.environ["CHICANE_URL"], os.environ["WORD"])
```

```text
42 True http://127.0.0.1:8000 word
```

<!-- docs: body POST /sim/api/step -->
```json
{"steps": 3}
```

<!-- docs: answer GET /sim/api/brightness -->
```json
{"value": 1.0}
```

<!-- docs: stop one -->

<!-- docs: fails -->
```sh
curl -s http://127.0.0.1:8000/sim/api/status
```

<!-- docs: not run: it would take too long -->
```sh
sleep 1000
```
"""

# An incorrect page, the line of its error, and a part of the message.
BAD = [
    ("```sh\ntrue\nfalse\n```\n", 3, "exit status 1"),
    ("```console\n$ echo a\nb\n```\n", 3, "- b\n+ a"),
    ("```sh\necho $NOTHING\n```\n", 2, "NOTHING"),
    ("<!-- docs: fails -->\n```sh\ntrue\n```\n", 3, "should fail"),
    ("```python\nx = 1\n1 / 0\n```\n", 2, "line 3"),
    ("```python\nprint(1)\n```\n```text\n2\n```\n", 5, "+ 1"),
    ("```text\nnothing before\n```\n", 2, "there is no output"),
    ("```json\n{}\n```\n", 2, "nothing uses"),
    ("```\nwhat?\n```\n", 2, "nothing uses"),
    ("```yaml\na: 1\n```\n", 2, "nothing uses"),
    ('<!-- docs: body POST /sim/api/step -->\n```json\n{"steps": 0}\n```\n', 3, "steps"),
    ("<!-- docs: body POST /sim/api/jump -->\n```json\n{}\n```\n", 3, "the API has no POST"),
    ('<!-- docs: answer GET /sim/api/brightness -->\n```json\n{"value": 2}\n```\n', 3, "is 1.0"),
    ("Save this as `a.json`:\n```json\n{\n```\n```sh\ncat a.json\n```\n", 4, "not JSON"),
    ("Save this as `a.sh`:\n```sh\nls\n```\n", 3, "never used"),
    ("<!-- docs: not run -->\n```sh\nls\n```\n", 3, "give the reason"),
    ("<!-- docs: excerpt Makefile -->\n```make\nnothing: like this\n```\n", 3, "Makefile has no"),
    ("<!-- docs: stop nobody -->\n", 1, "nobody"),
    ("<!-- docs: quickly -->\n```sh\nls\n```\n", 3, "quickly"),
    (
        "<!-- docs: background a -->\n```sh\ntarget/release/chicane serve --world no\n```\n",
        3,
        'Unknown world "no"',
    ),
    ("Try `chicane fly`.\n", 1, "chicane fly"),
    ("Try `chicane lap oval --height 3`.\n", 1, "--height"),
    ("Try `make coffee`.\n", 1, "coffee"),
    ("Ask `GET /sim/api/weather`.\n", 1, "weather"),
    ("See `docs/nothing.md`.\n", 1, "docs/nothing.md"),
    ("See [here](nothing.md).\n", 1, "nothing.md"),
    ("Set `CHICANE_COLOUR`.\n", 1, "CHICANE_COLOUR"),
]


class Pages(unittest.TestCase):
    def test_correct_page_has_no_errors(self):
        status, output = run(GOOD)
        self.assertEqual(status, 0, output)
        self.assertIn("0.md: 11 run, 4 compared", output)
        self.assertIn("it would take too long", output)

    def test_errors_of_incorrect_pages_have_their_lines(self):
        status, output = run(*(page for page, _, _ in BAD))
        self.assertEqual(status, 1, output)
        self.assertIn(f"0 of {len(BAD)} pages are correct", output)
        # The output has one part for each page.
        parts = re.split(r"^\d+\.md: \d+ run", output, flags=re.MULTILINE)[1:]
        for number, (page, line, word) in enumerate(BAD):
            with self.subTest(page=page):
                self.assertIn(f"{number}.md:{line}: ", parts[number])
                self.assertIn(word, parts[number])
