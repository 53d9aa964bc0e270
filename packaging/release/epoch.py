"""The time of a release, which all files in its packages have."""

import os
import re
import subprocess
from pathlib import Path


def release_time(root: Path) -> int:
    """The time of the release in seconds since 1970."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is None:
        command = ["git", "-C", str(root), "log", "-1", "--format=%ct"]
        given = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    # The header of ar has room for 12 decimal digits, and that of tar for 11 octal digits.
    if not re.fullmatch(r"\d{1,10}", given):
        raise ValueError(
            "SOURCE_DATE_EPOCH must be a number of seconds, or the sources a git repository"
        )
    return int(given)
