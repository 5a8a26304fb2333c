"""One pytree in one safetensors file, written so that a file with its name is always whole.

The file's metadata holds a format, a version, the tree's structure as JSON, and the SHA-256 of the whole
file (with zeros where the digest stands). Complex arrays are stored as pairs of reals, on a last axis of size
2; the metadata names them.
"""
from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import secrets
import socket
from collections.abc import Callable, Iterator
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
NAMES = {"bool": "BOOL", "float16": "F16", "float32": "F32", "float64": "F64", "int8": "I8", "int16": "I16",
         "int32": "I32", "int64": "I64", "uint8": "U8", "uint16": "U16", "uint32": "U32", "uint64": "U64"}
DTYPES = {short: np.dtype(long).newbyteorder("<") for long, short in NAMES.items()}


class CorruptFileError(ValueError):
    """A file is damaged, incomplete, or was not written by chainrule."""


# writing


def save(path: Any, tree: Any) -> None:
    write(path, *describe(tree))


def write(path: Any, text: Any, arrays: dict[str, np.ndarray], extra: dict[str, str] | None = None) -> None:
    """Write a described tree; the file appears under its name when all of it is on the disk."""
    header, ordered = lay_out(text, arrays, extra or {})
    blocks = [header, *map(memory, ordered)]
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    blocks[0] = header.replace(MARK + b"0" * DIGITS, MARK + digest.hexdigest().encode())
    replace_file(path, blocks, check)


def replace_file(path: Any, blocks: list, verify: Callable[[str], Any]) -> None:
    """Write a file under another name, verify it, and give it its name."""
    folder, name = os.path.split(os.path.realpath(os.fspath(path)))
    temporary = os.path.join(folder, temporary_name(name))
    try:
        with opened(temporary) as file:
            for block in blocks:
                write_all(file, block)
            os.fsync(file)
        verify(temporary)
        os.replace(temporary, os.path.join(folder, name))
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(folder)


def lay_out(text: Any, arrays: dict[str, np.ndarray], extra: dict[str, str]) -> tuple[bytes, list]:
    """The header of a file, with zeros for its checksum, and the arrays in the order that they have in it."""
    plain = {name: as_reals(array) for name, array in arrays.items()}
    order = sorted(plain, key=lambda name: (-plain[name].itemsize, name))
    pairs = sorted(name for name, array in arrays.items() if array.dtype.kind == "c")
    metadata = {"format": FORMAT, "version": str(VERSION), **extra,
                "structure": json.dumps(text, allow_nan=False), "complex": json.dumps(pairs),
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
    for name in json.loads(header.metadata["complex"]):
        pairs = arrays[name]
        arrays[name] = pairs.view(f"<c{2 * pairs.itemsize}").reshape(pairs.shape[:-1])
    native = {name: array.astype(array.dtype.newbyteorder("="), copy=False) for name, array in arrays.items()}
    return header.metadata, native


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
            raise self.corrupt(f"its format has version {version!r}, and this chainrule reads {VERSION}")
        if not {"structure", "complex", "checksum"} <= metadata.keys():
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
            if not is_entry(entry):
                raise self.corrupt("its header describes an array in a way that is not known")
        return sorted(self.entries.items(), key=lambda item: item[1]["data_offsets"])

    def unsigned(self) -> bytes:
        """The header as it was before the checksum was put in."""
        if self.bytes.count(MARK) != 1:
            raise self.corrupt("its header has no checksum")
        where = self.bytes.index(MARK) + len(MARK)
        return self.bytes[:where] + b"0" * DIGITS + self.bytes[where + DIGITS:]

    def compare(self, digest: Any) -> None:
        if self.metadata["checksum"] != "sha256:" + digest.hexdigest():
            raise self.corrupt("its contents are not what was written (the checksum differs)")


def is_entry(entry: Any) -> bool:
    """Whether a header's entry for an array is one of those that are written."""
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        return False
    if not (isinstance(entry["dtype"], str) and entry["dtype"] in DTYPES):
        return False
    if not (isinstance(entry["shape"], list) and isinstance(entry["data_offsets"], list)):
        return False
    return all(type(size) is int and size >= 0 for size in (*entry["shape"], *entry["data_offsets"]))


def once_each(pairs: list[tuple[str, Any]]) -> dict:
    """The object of a JSON text, in which no key stands twice."""
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key stands twice")
    return made
