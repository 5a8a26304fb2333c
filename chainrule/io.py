"""Trees of arrays on the disk: safetensors files that are whole or not there, with their structure as JSON.

Saved can be: arrays and NumPy scalars of bools, ints, floats and complex numbers; Python numbers, strings,
bools and None; lists, tuples, dictionaries, OrderedDict and deque; namedtuples, dataclasses and registered
classes. Nothing is pickled: a file holds numbers and names, and loading one runs no code but the registered
classes' own.

>>> import os, tempfile
>>> import numpy as np
>>> import chainrule as cr
>>> path = os.path.join(tempfile.mkdtemp(), "weights.safetensors")
>>> cr.io.save(path, {"w": np.ones(2), "step": 7})
>>> cr.io.load(path)
{'w': array([1., 1.]), 'step': 7}
"""
from __future__ import annotations

from typing import Any

from .runtime import files
from .runtime.files import CorruptFileError
from .runtime.restored_trees import MismatchError
from .runtime.saved_trees import SaveError
from .runtime.saving import CheckpointManager


def save(path: Any, tree: Any) -> None:
    """Save a tree in one file. It appears, or replaces an earlier one, when all of it is on the disk.

    Args:
        path: the file's name, by custom with the ending .safetensors.
        tree: any tree of what can be saved. Arrays of another byte order are converted.

    Raises:
        SaveError (a TypeError): something in the tree cannot be saved; its path is in the message.
        OSError: the disk is full, or the folder isn't there. An earlier file of this name is then as it was.
    """
    files.save(path, tree)


def load(path: Any, like: Any = None, cast: bool = False) -> Any:
    """The tree in a file.

    Args:
        path: a file that `save` or a CheckpointManager wrote.
        like: a tree that the saved one must be like: in its structure, its classes and their metadata, and
            the shapes and dtypes of its arrays. Without it, classes are found by their names: registered
            ones, and dataclasses and namedtuples of modules that are imported already.
        cast: whether arrays and numbers of another dtype than `like` has are converted, where NumPy's
            "same_kind" rule allows it.

    Raises:
        CorruptFileError (a ValueError): the file is damaged, cut off, or not one of chainrule's.
        MismatchError (a ValueError): the tree is not like `like` (the message has each path with what
            differs), or a class isn't registered.
        FileNotFoundError: there is no such file.
    """
    return files.load(path, like, like is not None, cast)


__all__ = ["CheckpointManager", "CorruptFileError", "MismatchError", "SaveError", "load", "save"]
