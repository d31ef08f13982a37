"""How many cores there are to use. plan.py decides how many of them are worth using."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_LIMIT = Path("/sys/fs/cgroup/cpu.max")
"""What a container may use: microseconds of work in so many microseconds, or "max" for no limit."""


def cores() -> int:
    """The machine's cores, less what the system or a container withholds from this process."""
    number = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    with suppress(OSError, ValueError):
        quota, period = map(int, _LIMIT.read_text().split())
        number = min(number, max(1, quota // period))
    return number
