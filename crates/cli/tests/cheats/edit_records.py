"""Looks for the database with the records and other files of the simulator, and edits them."""

import sqlite3

from cheat import attempt, files_named, note

found = files_named("chicane.db", "running.json", "token", "installed.json")
note(found, f"files {found}")
for path in found:
    attempt(f"edit {path}", lambda path=path: sqlite3.connect(path).execute("DELETE FROM session"))
