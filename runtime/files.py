"""One pytree in one safetensors file, written so that a file with its name is always whole.

The file's metadata holds a format, a version, the tree's structure as JSON, and the SHA-256 of the whole file (with
zeros where the digest stands). Complex arrays are stored as pairs of reals, on a last axis of size 2.
"""
from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import secrets
import socket
from collections.abc import Iterator
from typing import Any

import numpy as np

from .restored_trees import MismatchError, restore
from .saved_trees import describe

FORMAT = "chainrule"
VERSION = 1
MARK = b'"checksum":"sha256:'
DIGITS = 64
LONGEST_HEADER = 1 << 28
CHUNK = 1 << 24
NAMES = {"bool": "BOOL", "float16": "F16", "float32": "F32", "float64": "F64",
         **{f"{kind}int{8 * size}": f"{kind or 'i'}{8 * size}".upper() for kind in ("", "u") for size in (1, 2, 4, 8)}}
DTYPES = {short: np.dtype(long).newbyteorder("<") for long, short in NAMES.items()}
REALS = {"complex64": "float32", "complex128": "float64"}


class CorruptFileError(ValueError):
    """A file is damaged, incomplete, or was not written by chainrule."""


# writing


def save(path: Any, tree: Any) -> None:
    write(path, *describe(tree))


def write(path: Any, text: Any, arrays: dict[str, np.ndarray], extra: dict[str, str] | None = None) -> None:
    """Write a described tree; the file appears under its name when all of it is on the disk."""
    path = os.path.realpath(os.fspath(path))
    header, ordered = lay_out(text, arrays, extra or {})
    blocks = [header, *map(memory, ordered)]
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    blocks[0] = header.replace(MARK + b"0" * DIGITS, MARK + digest.hexdigest().encode())
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, temporary_name(name))
    try:
        with opened(temporary) as file:
            for block in blocks:
                write_all(file, block)
            os.fsync(file)
        check(temporary)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(folder)


def lay_out(text: Any, arrays: dict[str, np.ndarray], extra: dict[str, str]) -> tuple[bytes, list[np.ndarray]]:
    """The header of a file, with zeros for its checksum, and the arrays in the order in which they follow it."""
    plain = {name: as_reals(array) for name, array in arrays.items()}
    order = sorted(plain, key=lambda name: (-plain[name].itemsize, name))
    metadata = {"format": FORMAT, "version": str(VERSION), **extra, "structure": json.dumps(text, allow_nan=False),
                "checksum": "sha256:" + "0" * DIGITS}
    entries: dict[str, Any] = {"__metadata__": metadata}
    start = 0
    for name in order:
        array = plain[name]
        entries[name] = {"dtype": NAMES[array.dtype.name], "shape": list(array.shape),
                         "data_offsets": [start, start + array.nbytes]}
        start += array.nbytes
    packed = json.dumps(entries, separators=(",", ":")).encode()
    packed += b" " * (-len(packed) % 8)
    return len(packed).to_bytes(8, "little") + packed, [plain[name] for name in order]


def as_reals(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind != "c":
        return array
    return np.ascontiguousarray(array).view(f"<f{array.itemsize // 2}").reshape(*array.shape, 2)


def memory(array: np.ndarray) -> memoryview:
    """The bytes of a contiguous array."""
    if not array.flags.c_contiguous:
        raise AssertionError("an array to be written is not contiguous")
    return memoryview(array.reshape(-1).view(np.uint8))


def temporary_name(name: str) -> str:
    """A name that no other writer uses, and that says who writes."""
    return f".{name}.{socket.gethostname()}.{os.getpid()}.{secrets.token_hex(4)}.tmp"


@contextlib.contextmanager
def opened(path: str) -> Iterator[int]:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        yield file
    finally:
        os.close(file)


def write_all(file: int, block: Any) -> None:
    rest = memoryview(block)
    while rest.nbytes:
        rest = rest[os.write(file, rest[:CHUNK]):]


def write_text(path: str, text: str) -> None:
    """Replace a small file at once."""
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, temporary_name(name))
    try:
        with opened(temporary) as file:
            write_all(file, text.encode())
            os.fsync(file)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(folder)


def sync_folder(folder: str) -> None:
    """Let the names in a folder reach the disk."""
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def remove_leftovers(folder: str) -> None:
    """Remove the temporary files of writers on this machine that are no more."""
    here = socket.gethostname()
    for name in os.listdir(folder):
        rest, _, end = name.rpartition(f".{here}.")
        process = end.split(".")[0]
        if rest.startswith(".") and end.endswith(".tmp") and process.isdigit() and not alive(int(process)):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(os.path.join(folder, name))


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


# reading


def load(path: Any, like: Any, guided: bool, cast: bool) -> Any:
    path = os.fspath(path)
    metadata, arrays = read(path)
    try:
        return restore(json.loads(metadata["structure"]), arrays, like, guided, cast)
    except MismatchError as error:
        raise MismatchError(f"{path}: {error}") from None


def check(path: str) -> None:
    """Refuse a file that is not what was written."""
    with open(path, "rb") as file:
        header = Header(path, file)
        digest = hashlib.sha256(header.unsigned())
        while block := file.read(CHUNK):
            digest.update(block)
        header.compare(digest)


def read(path: str) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """The metadata and the arrays of a file, once its checksum is right."""
    with open(path, "rb") as file:
        header = Header(path, file)
        digest = hashlib.sha256(header.unsigned())
        arrays = {}
        for name, entry in header.in_order():
            arrays[name] = np.empty(entry["shape"], DTYPES[entry["dtype"]])
            block = memory(arrays[name])
            if file.readinto(block) != block.nbytes:
                raise header.corrupt("it ends in the middle of an array")
            digest.update(block)
        header.compare(digest)
    for name, long in header.complex_names():
        arrays[name] = arrays[name].view(np.dtype(long).newbyteorder("<")).reshape(arrays[name].shape[:-1])
    return header.metadata, {name: array.astype(array.dtype.newbyteorder("="), copy=False)
                             for name, array in arrays.items()}


def read_metadata(path: str) -> dict[str, str]:
    """The metadata of a file of the right length; its checksum is not looked at."""
    with open(path, "rb") as file:
        return Header(path, file).metadata


class Header:
    """What stands at the beginning of a file, checked against its length."""

    def __init__(self, path: str, file: Any):
        self.path = path
        length = os.fstat(file.fileno()).st_size
        first = file.read(8)
        size = int.from_bytes(first, "little")
        if len(first) < 8 or size > min(LONGEST_HEADER, length - 8):
            raise self.corrupt("it is too short for its header")
        self.bytes = first + file.read(size)
        try:
            self.entries = json.loads(self.bytes[8:], object_pairs_hook=once_each)
        except ValueError as error:
            raise self.corrupt(f"its header is not JSON ({error})") from None
        self.metadata = self.take_metadata()
        self.check_entries(length - 8 - size)

    def corrupt(self, why: str) -> CorruptFileError:
        return CorruptFileError(f"{self.path} cannot be loaded: {why}")

    def take_metadata(self) -> dict[str, str]:
        metadata = self.entries.pop("__metadata__", None) if isinstance(self.entries, dict) else None
        if not isinstance(metadata, dict) or metadata.get("format") != FORMAT:
            raise self.corrupt("it was not written by chainrule, or its header is damaged")
        version = metadata.get("version", "")
        if version != str(VERSION):
            raise self.corrupt(f"it has version {version!r} of the format, and this chainrule reads version {VERSION}")
        if not {"structure", "checksum"} <= metadata.keys():
            raise self.corrupt("its header lacks the structure or the checksum")
        return metadata

    def check_entries(self, length: int) -> None:
        """Refuse arrays that do not fill the rest of the file, one after the other."""
        start = 0
        for _, entry in self.in_order():
            count = DTYPES[entry["dtype"]].itemsize * math.prod(entry["shape"])
            if entry["data_offsets"] != [start, start + count]:
                raise self.corrupt("its arrays overlap, or leave holes")
            start += count
        if start != length:
            raise self.corrupt(f"it holds {length} bytes of arrays, and its header tells of {start}")

    def in_order(self) -> list[tuple[str, dict]]:
        for entry in self.entries.values():
            if not (isinstance(entry, dict) and entry.keys() == {"dtype", "shape", "data_offsets"}
                    and entry["dtype"] in DTYPES and isinstance(entry["shape"], list)
                    and isinstance(entry["data_offsets"], list)
                    and all(type(size) is int and size >= 0 for size in (*entry["shape"], *entry["data_offsets"]))):
                raise self.corrupt("its header describes an array in a way that is not known")
        return sorted(self.entries.items(), key=lambda item: item[1]["data_offsets"])

    def complex_names(self) -> list[tuple[str, str]]:
        """The arrays that hold pairs of reals, with their dtypes."""
        found: list[tuple[str, str]] = []
        pending = [json.loads(self.metadata["structure"])]
        while pending:
            part = pending.pop()
            if isinstance(part, list):
                pending.extend(part)
            elif isinstance(part, dict):
                pending.extend(part.values())
                if part.get("dtype") in REALS and next(iter(part)) in ("array", "scalar"):
                    found.append((part[next(iter(part))], part["dtype"]))
        return found

    def unsigned(self) -> bytes:
        """The header as it was before the checksum was put in."""
        if self.bytes.count(MARK) != 1:
            raise self.corrupt("its header has no checksum")
        where = self.bytes.index(MARK) + len(MARK)
        return self.bytes[:where] + b"0" * DIGITS + self.bytes[where + DIGITS:]

    def compare(self, digest: Any) -> None:
        if self.metadata["checksum"] != "sha256:" + digest.hexdigest():
            raise self.corrupt("its contents are not what was written (the checksum differs)")


def once_each(pairs: list[tuple[str, Any]]) -> dict:
    """The object of a JSON text, in which no key stands twice."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made
