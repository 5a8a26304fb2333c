"""A bound for a folder of files that are only a convenience: those that nobody used for longest go first.

A file's time says when it was last used, to within a day: readers set it, if it is older than that.

>>> import tempfile
>>> folder = Path(tempfile.mkdtemp())
>>> for name, used in (("a", 30), ("b", 10), ("c", 20)):
...     _ = (folder / name).write_bytes(bytes(100))
...     os.utime(folder / name, (used, used))
>>> shrink(folder, 250)
>>> sorted(path.name for path in folder.iterdir())
['a', 'c']
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

DAY = 24 * 3600
LEFT = 0.9  # of the limit, so that the next file does not meet it again


def shrink(folder: Path, limit: int) -> None:
    """Remove files until the others take little less than `limit` bytes, if they take more.

    Other processes may do the same at once, or be killed at it: files that are gone already are counted as
    removed, and whoever reads one goes on reading it.
    """
    with os.scandir(folder) as entries:
        found = [status for entry in entries if (status := used_and_size(entry)) is not None]
    total = sum(size for _, size, _ in found)
    if total <= limit:
        return
    for _, size, path in sorted(found):
        if total <= LEFT * limit:
            return
        with contextlib.suppress(OSError):
            os.unlink(path)
        total -= size


def used_and_size(entry: os.DirEntry) -> tuple[float, int, str] | None:
    """When a file was last used, and its size and path; None for what is not a file, or is gone."""
    try:
        if not entry.is_file(follow_symlinks=False):
            return None
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return None
    return status.st_mtime, status.st_size, entry.path


def note_use(path: Path, last: float) -> None:
    """Let a file's time say that it is in use, where what it says is a day old."""
    if time.time() - last > DAY:
        with contextlib.suppress(OSError):
            os.utime(path)
