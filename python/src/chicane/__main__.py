"""The command `chicane` and `python -m chicane`: both run the simulator's program."""

from __future__ import annotations

import os
import sys

from chicane.errors import ProgramError
from chicane.program import find


def main() -> None:
    """Replaces this process with the simulator's program.

    Exits with a message if the program is not installed.
    """
    try:
        program = find()
    except ProgramError as error:
        sys.exit(f"chicane: {error}")
    # `find` may return the console script that runs this module. The script would start this module
    # again, which would start the script again, without end.
    if os.path.realpath(program) == os.path.realpath(sys.argv[0]):
        sys.exit(
            "chicane: this installation does not contain the simulator's program: install the "
            "wheel that `make wheel` builds, or set CHICANE=/path/to/chicane"
        )
    # `chicane grade --ray` starts the Python that this variable names. This Python has the package.
    os.environ.setdefault("CHICANE_PYTHON", sys.executable)
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()
