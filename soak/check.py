"""`python3 -m soak.check <folder>`: checks the history of an earlier soak test again."""

import json
import pathlib
import sys

from .__main__ import judge

if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "target/soak")
    sys.exit(judge(folder, json.loads((folder / "end.json").read_text())))
