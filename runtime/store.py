"""A folder of files by key, that any number of processes may use, and whose files are never trusted unseen.

A file appears under its name whole or not at all. When the files take more than a limit, those go that were
not used for longest. A file starts with a checksum of its key and contents: what is
truncated, damaged or renamed counts as absent. So does what another user owns or could have written.

>>> import tempfile
>>> store = Store(tempfile.mkdtemp())
>>> store.get("a1")
>>> store.put("a1", b"contents")
>>> store.get("a1")
b'contents'
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import tempfile
import time
import warnings
from pathlib import Path

from .eviction import note_use, shrink

MAGIC = b"chainrule 1\n"
FOLDER = "programs"
FORGOTTEN = 3600  # seconds after which a file that is not complete is nobody's
OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


class Store:
    """The files under one folder; whatever goes wrong with them, a reader is told that there is none.

    `limit`: how many bytes they may take, all together; looked at now and then.
    """

    def __init__(self, folder: str | os.PathLike, limit: int | None = None):
        self.folder = Path(folder) / FOLDER
        self.limit = limit
        self.prepared = False
        self.unseen = 0  # bytes written since the limit was looked at
        self.reads = self.writes = 0

    def path(self, key: str) -> Path:
        return self.folder / key

    def get(self, key: str) -> bytes | None:
        """The contents of a file; None if there is none that is whole and ours."""
        try:
            text = self.read(self.path(key)) if self.usable() else None
        except OSError:
            return None
        start = len(MAGIC) + hashlib.sha256().digest_size
        if text is None or text[:start] != header(key, text[start:]):
            return None
        self.reads += 1
        return text[start:]

    def put(self, key: str, contents: bytes) -> None:
        """Keep contents under a key; where that fails, they are not kept."""
        with contextlib.suppress(OSError):
            self.prepare()
            if self.usable():
                self.write(self.path(key), header(key, contents) + contents)
                self.writes += 1
                self.keep_to_limit(len(contents))

    def keep_to_limit(self, written: int) -> None:
        """Look at the limit after the first file of a process, and then whenever a part of it is written."""
        if self.limit is None:
            return
        self.unseen += written
        if self.writes == 1 or self.unseen > self.limit // 16:
            self.unseen = 0
            shrink(self.folder, self.limit)

    def prepare(self) -> None:
        """Make the folder, for this user alone, and remove what killed processes left half written."""
        if self.prepared:
            return
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for left in self.folder.glob("*.part"):
            with contextlib.suppress(OSError):
                if time.time() - left.stat().st_mtime > FORGOTTEN:
                    left.unlink()
        self.prepared = True

    def usable(self) -> bool:
        """Whether the folder is there, and nobody else could have put files into it."""
        try:
            found = os.lstat(self.folder)
        except OSError:
            return False
        if stat.S_ISDIR(found.st_mode) and ours(found):
            return True
        warnings.warn(f"{self.folder} is not used as a cache: others own it or may write to it", stacklevel=2)
        return False

    @staticmethod
    def read(path: Path) -> bytes | None:
        file = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(file, "rb") as opened:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode) or not ours(found):
                return None
            note_use(path, found.st_mtime)
            return opened.read()

    @staticmethod
    def write(path: Path, contents: bytes) -> None:
        handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(contents)
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise


def header(key: str, contents: bytes) -> bytes:
    digest = hashlib.sha256(key.encode() + b"\0")
    digest.update(contents)
    return MAGIC + digest.digest()


def ours(found: os.stat_result) -> bool:
    """Whether a file or folder is this user's, who alone may write to it."""
    if not hasattr(os, "geteuid"):
        return True
    return found.st_uid == os.geteuid() and not found.st_mode & OTHERS_MAY_WRITE
