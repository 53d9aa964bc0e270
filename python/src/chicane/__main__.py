"""`chicane`, and `python -m chicane`: the simulator's own program."""

from __future__ import annotations

import os
import sys

from chicane.errors import ProgramError
from chicane.program import find


def main() -> None:
    """Becomes the program."""
    try:
        program = find()
    except ProgramError as error:
        sys.exit(f"chicane: {error}")
    # A script of this name on the path would be this one again.
    if os.path.realpath(program) == os.path.realpath(sys.argv[0]):
        sys.exit("chicane: this installation does not carry the simulator's program")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
