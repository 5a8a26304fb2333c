"""One pytree in one safetensors file, written so that a file with its name is always whole.

The file's metadata holds a format, a version, the tree's structure as JSON, and the SHA-256 of the rest of
the metadata and the arrays. Complex arrays are stored as pairs of reals, on a last axis of size 2; the
metadata names them.
"""
from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import socket
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import safetensors.numpy

from .restored_trees import MismatchError, restore
from .saved_trees import describe

FORMAT = "chainrule"
VERSION = "1"
CHUNK = 1 << 24
DAMAGED = (safetensors.SafetensorError, AttributeError, TypeError)  # the latter for dtypes that NumPy lacks


class CorruptFileError(ValueError):
    """A file is damaged, incomplete, or was not written by chainrule."""


# writing


def save(path: Any, tree: Any) -> None:
    write(path, *describe(tree))


def write(path: Any, text: Any, arrays: dict[str, np.ndarray], extra: dict[str, str] | None = None) -> None:
    """Write a described tree; the file appears under its name when all of it is on the disk."""
    pairs = sorted(name for name, array in arrays.items() if array.dtype.kind == "c")
    metadata = {"format": FORMAT, "version": VERSION, **(extra or {}),
                "structure": json.dumps(text, allow_nan=False), "complex": json.dumps(pairs)}
    reals = {name: as_reals(array) for name, array in arrays.items()}
    metadata["checksum"] = checksum(metadata, reals, reals.__getitem__)
    replace_file(path, [safetensors.numpy.save(reals, metadata)], lambda written: check(written, metadata))


def as_reals(array: np.ndarray) -> np.ndarray:
    """An array as the library takes it: contiguous, since it writes what is in memory, and real."""
    whole = np.array(array, array.dtype.newbyteorder("<"), order="C", copy=None)
    if whole.dtype.kind != "c":
        return whole
    return whole.reshape(*whole.shape, 1).view(f"<f{whole.itemsize // 2}")


def checksum(metadata: dict[str, str], names: Iterable[str], take: Callable[[str], np.ndarray]) -> str:
    """What the metadata say of all else: the rest of them, and each array's name, dtype, shape and bytes."""
    digest = hashlib.sha256()
    digest.update(json.dumps(sorted(item for item in metadata.items() if item[0] != "checksum")).encode())
    for name in sorted(names):
        array = as_reals(take(name))
        digest.update(json.dumps([name, array.dtype.name, array.shape]).encode())
        digest.update(array.reshape(-1).view(np.uint8))
    return f"sha256:{digest.hexdigest()}"


def replace_file(path: Any, blocks: list, verify: Callable[[str], Any]) -> None:
    """Write a file under another name, verify it, and give it its name."""
    folder, name = os.path.split(os.path.realpath(os.fspath(path)))
    # no other writer uses this name, and it says who writes: see remove_leftovers
    writer = f"{socket.gethostname()}.{os.getpid()}.{secrets.token_hex(4)}"
    temporary = os.path.join(folder, f".{name}.{writer}.tmp")
    try:
        write_new(temporary, blocks)
        verify(temporary)
        os.replace(temporary, os.path.join(folder, name))
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(folder)


def write_new(path: str, blocks: list) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        for block in blocks:
            rest = memoryview(block)
            while rest.nbytes:
                rest = rest[os.write(file, rest[:CHUNK]):]
        os.fsync(file)
    finally:
        os.close(file)


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
    except OSError as error:
        return not isinstance(error, ProcessLookupError)
    return True


# reading


def load(path: Any, like: Any, guided: bool, cast: bool) -> Any:
    path = os.fspath(path)
    metadata, arrays = read(path)
    try:
        return restore(json.loads(metadata["structure"]), arrays, like, guided, cast)
    except MismatchError as error:
        raise MismatchError(f"{path}: {error}") from None


def check(path: str, written: dict[str, str]) -> None:
    """Refuse a file that is not what was written."""
    with contents(path) as (file, metadata):
        if metadata != written or checksum(metadata, file.keys(), file.get_tensor) != metadata["checksum"]:
            raise CorruptFileError("it is not what was written")


def read(path: str) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """The metadata and the arrays of a file, once its checksum is right."""
    with contents(path) as (file, metadata):
        arrays = file.get_tensors()
        if checksum(metadata, arrays, arrays.__getitem__) != metadata["checksum"]:
            raise CorruptFileError("its contents are not what was written (the checksum differs)")
    for name in json.loads(metadata["complex"]):
        pairs = arrays[name]
        arrays[name] = pairs.view(f"c{2 * pairs.itemsize}").reshape(pairs.shape[:-1])
    return metadata, arrays


def read_metadata(path: str) -> dict[str, str]:
    """The metadata of a file of the right length; its checksum is not looked at."""
    with contents(path) as (_, metadata):
        return metadata


@contextlib.contextmanager
def contents(path: str) -> Iterator[tuple[Any, dict[str, str]]]:
    """An open file of the right length and format, and its metadata; errors name the path."""
    try:
        # the library's default, a memory map, would end the process where the disk fails: pread raises
        with safetensors.safe_open(path, "numpy", backend="pread") as file:
            metadata = file.metadata() or {}
            if metadata.get("format") != FORMAT:
                raise CorruptFileError("it was not written by chainrule, or its header is damaged")
            if (version := metadata.get("version")) != VERSION:
                raise CorruptFileError(f"its format has version {version!r}; this chainrule reads {VERSION}")
            if not ({"structure", "complex", "checksum"} <= metadata.keys() and ends_in_blanks(path)):
                raise CorruptFileError("its header lacks the structure or the checksum, or is damaged")
            yield file, metadata
    except (CorruptFileError, *DAMAGED) as error:
        raise CorruptFileError(f"{path} cannot be loaded: {error}") from error


def ends_in_blanks(path: str) -> bool:
    """Whether what fills up a file's header is as written: the library takes any white space for it."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        return file.read(size).rstrip(b" ").endswith(b"}")
