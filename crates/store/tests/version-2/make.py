"""Makes chicane.db of this folder: the database of the first chicane 0.1 that kept records.

Run it in this folder: python3 make.py
"""

import json
import pathlib
import sqlite3

# The schema of database version 2, copied from the program of that time.
SCHEMA = """
CREATE TABLE setting (name TEXT NOT NULL PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE light (
    world TEXT NOT NULL,
    name TEXT NOT NULL,
    red INTEGER NOT NULL CHECK (red IN (0, 1)),
    PRIMARY KEY (world, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE session (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    world TEXT NOT NULL,
    world_id TEXT,
    rev TEXT,
    command TEXT,
    time_limit_s REAL NOT NULL,
    seed INTEGER NOT NULL,
    better TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    outcome TEXT,
    reason TEXT,
    record TEXT NOT NULL DEFAULT 'null',
    elapsed_s REAL NOT NULL DEFAULT 0,
    observations INTEGER NOT NULL DEFAULT 0,
    wait_s REAL NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX session_world ON session (world, number);
CREATE TABLE session_event (
    session INTEGER NOT NULL REFERENCES session (number),
    place INTEGER NOT NULL,
    event TEXT NOT NULL,
    PRIMARY KEY (session, place)
) STRICT, WITHOUT ROWID;
"""

SHA256 = "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef"
WORLD_ID = "0123456789abcdef0123456789abcdef"

# id, world, world_id, rev, command, outcome, reason, record, elapsed_s, observations
SESSIONS = [
    ("4f1c0a6e2b7d", "oval", None, None, "python3 lap.py", "finished", None, "21.35", 21.35, 1068),
    (
        "9b02d47c11aa",
        "oval",
        None,
        None,
        "python3 lap.py",
        "timeout",
        "the time limit of 60 s passed",
        "null",
        60.0,
        3000,
    ),
    (
        "c3e85d09f6b4",
        f"custom_{WORLD_ID}",
        WORLD_ID,
        "a1b2c3d4e5f6",
        None,
        "stopped",
        "stopped by a person",
        "3",
        8.4,
        420,
    ),
    (
        "e7714fd20c35",
        "technical",
        None,
        None,
        "./run.sh",
        "script_error",
        "evaluate: NameError: name 'x' is not defined",
        "null",
        0.02,
        1,
    ),
    # The simulator was killed during this session.
    ("0d5a9be3c782", "oval", None, None, "python3 lap.py", None, None, "2", 4.2, 0),
]


def main() -> None:
    """Writes the database."""
    file = pathlib.Path(__file__).with_name("chicane.db")
    file.unlink(missing_ok=True)
    database = sqlite3.connect(file)
    database.executescript(SCHEMA)
    database.executemany(
        "INSERT INTO setting VALUES (?, ?)", [("brightness", 1.25), ("last_world", "technical")]
    )
    lights = [("technical", "signal1", 1), ("technical", "signal2", 0)]
    database.executemany("INSERT INTO light VALUES (?, ?, ?)", lights)
    for number, row in enumerate(SESSIONS, 1):
        name, world, world_id, rev, command, outcome, reason, record, elapsed, observations = row
        started = f"2026-11-15T1{number}:00:00Z"
        ended = f"2026-11-15T1{number}:01:00Z" if outcome else None
        values = (
            number,
            name,
            world,
            world_id,
            rev,
            command,
            60.0,
            7,
            "lower",
            SHA256,
            started,
            ended,
            outcome,
        )
        values += (reason, record, elapsed, observations, 0.25)
        database.execute(f"INSERT INTO session VALUES ({', '.join('?' * 18)})", values)
        events = [
            {"kind": "phase", "phase": "running", "session": name, "t": 0.0},
            {"kind": "log", "line": "lap 1", "session": name, "t": min(elapsed, 4.0)},
        ]
        for place, event in enumerate(events):
            database.execute(
                "INSERT INTO session_event VALUES (?, ?, ?)", (number, place, json.dumps(event))
            )
    database.execute("PRAGMA user_version = 2")
    database.commit()
    # The simulator of that time left its databases in this journal mode.
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("VACUUM")
    database.close()


if __name__ == "__main__":
    main()
