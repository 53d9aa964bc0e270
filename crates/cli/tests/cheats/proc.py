"""Reads the memory, environment and descriptors of the box's first process, and writes to /proc."""

import os
from pathlib import Path

from cheat import attempt, note

processes = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
note(len(processes) > 10, f"{len(processes)} processes")
for name in ("environ", "mem", "maps", "root", "cwd", "exe", "fd/0"):
    path = Path("/proc/1", name)
    attempt(
        f"read {path}",
        lambda path=path: list(path.iterdir()) if path.is_dir() else path.read_bytes(),
    )
for name in ("sys/kernel/core_pattern", "sysrq-trigger", "sys/vm/drop_caches", "1/oom_score_adj"):
    attempt(f"write {name}", lambda name=name: Path("/proc", name).write_text("0"))
