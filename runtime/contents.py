"""What objects are, told by their contents, so that two processes can compare theirs.

Told are classes with all that is in them, the code of functions with the text of their file, the attributes
of objects, containers, numbers and strings. Of an array only what a program depends on: its type, not its
elements, for a program fetches these at each call. Also told is which objects are one and the same. What only
its identity tells from others is refused.

>>> def told(value):
...     contents = Contents()
...     contents.tell(value)
...     return contents.digest()
>>> told({"a": [1, 2.0]}) == told({"a": [1, 2.0]})
True
>>> told([1]) == told([1.0])
False
>>> one = [1]
>>> told((one, one)) == told(([1], [1]))
False
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import hashlib
import linecache
import os
import sys
import types
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..codegen.specialise.nodes import NODE_KINDS
from .addresses import WRAPPED, Unkept, imported
from .kept_texts import KNOWN, LIBRARY

MOST = 20_000  # objects
PLAIN = (bool, int, float, complex, str, bytes, range, type(None), type(Ellipsis), type(NotImplemented))
LIBRARIES = frozenset([*KNOWN, *sys.stdlib_module_names, "numba", "llvmlite", "optree", "gast"])
# What of a class is no part of what it does, or told beside it.
OF_CLASSES = (
    *("__dict__", "__weakref__", "__doc__", "__annotations__", "__module__", "__qualname__"),
    *("__orig_bases__", "__parameters__", "__match_args__", "__abstractmethods__", "_abc_impl"),
    *("__static_attributes__", "__firstlineno__", "__slotnames__"),
)
OF_FIELDS = ("name", "default", "default_factory", "init", "kw_only")
IN_C = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
    types.ClassMethodDescriptorType,
    np.ufunc,
)
FIELD = type(collections.namedtuple("Pair", "first").first)
DESCRIPTORS = (types.MemberDescriptorType, types.GetSetDescriptorType)
# What a transformation keeps of the programs that it made.
OF_TRANSFORMATIONS = ("pins", "exact", "batches", "programs", "entries", "history")
BASES = (object, int, str, float)
STANDARD = os.path.dirname(os.__file__) + os.sep


class Contents:
    """Tells of objects, one after the other; `digest` stands for all that was told."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.numbers: dict[int, int] = {}
        self.met: list[Any] = []
        self.texts: dict[str, str] = {}

    def digest(self) -> str:
        return hashlib.sha256("\0".join(self.told).encode("utf-8", "surrogatepass")).hexdigest()

    def say(self, *words: Any) -> None:
        self.told.append(repr(words))

    def all(self, values: Iterable) -> None:
        for value in values:
            self.tell(value)

    def tell(self, value: Any) -> None:
        """Tell what an object is; Unkept if that cannot be told."""
        kind = type(value)
        if kind in PLAIN:
            self.say(kind.__name__, value)
        elif kind is tuple:
            self.say("tuple", len(value))
            self.all(value)
        elif isinstance(value, (np.dtype, np.generic)):
            self.say(kind.__name__, str(value) if isinstance(value, np.dtype) else value.tobytes())
        elif id(value) in self.numbers:
            self.say("again", self.numbers[id(value)])
        else:
            self.numbers[id(value)] = len(self.numbers)
            self.met.append(value)
            if len(self.met) > MOST:
                raise Unkept("too many objects")
            self.anew(value, kind)

    def anew(self, value: Any, kind: type) -> None:
        """Tell what an object is that was not told before."""
        if kind in (list, dict):
            self.say(kind.__name__, len(value))
            self.all(value if kind is list else (part for pair in value.items() for part in pair))
        elif kind in (set, frozenset):
            if any(type(item) not in PLAIN for item in value):
                raise Unkept("a set of objects")
            self.say(kind.__name__, sorted(map(repr, value)))
        elif kind is np.ndarray:
            self.array(value)
        elif isinstance(value, types.ModuleType):
            self.module(value)
        elif kind is types.FunctionType:
            self.function(value)
        elif kind is types.CodeType:
            self.code(value)
        elif kind in WRAPPED:
            self.say(kind.__name__)
            self.all(getattr(value, name, None) for name in WRAPPED[kind])
        elif kind is dataclasses.Field:
            self.say("field")
            self.all(getattr(value, name) for name in OF_FIELDS)
        elif isinstance(value, type):
            self.klass(value)
        elif kind in IN_C:
            self.in_c(value)
        elif kind in DESCRIPTORS:
            self.say("descriptor", value.__name__)
        elif kind is FIELD:
            self.say("field", *value.__reduce__()[1])
        elif (way := imported(value)) is not None and in_library(value.__module__):
            self.say("imported", way)
        else:
            self.instance(value, kind)

    def array(self, value: np.ndarray) -> None:
        if value.dtype.kind not in "biufc":
            raise Unkept(f"an array of dtype {value.dtype}")
        sizes = tuple(min(size, 2) for size in value.shape)
        self.say("array", str(value.dtype), sizes, value.flags.c_contiguous)

    def module(self, value: types.ModuleType) -> None:
        self.say("module", value.__name__)
        if not in_library(value.__name__):
            file = getattr(value, "__file__", None)
            self.say(None if file is None else self.text_of(file, vars(value)))

    # functions

    def function(self, value: types.FunctionType) -> None:
        """A function by its code; what it reads from outside is told where a program depends on it."""
        module = value.__globals__.get("__name__")
        self.say("function", module, value.__module__, value.__qualname__)
        if not in_library(module):
            self.code(value.__code__, value.__globals__)
            self.tell(value.__defaults__)
            self.tell(value.__kwdefaults__)

    def code(self, code: types.CodeType, names: dict | None = None) -> None:
        self.say("code", self.text_of(code.co_filename, names))
        self.instructions(code)

    def instructions(self, code: types.CodeType) -> None:
        self.say(
            code.co_code,
            code.co_names,
            code.co_varnames,
            code.co_freevars,
            code.co_cellvars,
            code.co_flags,
            (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount),
            (code.co_filename, code.co_qualname, code.co_firstlineno),
            code.co_linetable,
            code.co_exceptiontable,
        )
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self.instructions(constant)
            else:
                self.say(constant if not isinstance(constant, frozenset) else sorted(map(repr, constant)))

    def text_of(self, file: str, names: dict | None) -> str:
        """What stands for the text of a file."""
        if file not in self.texts:
            text = "".join(linecache.getlines(file, names))
            self.texts[file] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return self.texts[file]

    def run_by_python(self, value: types.FunctionType) -> None:
        """What a function reads, too: of one that Python calls by itself, such as __eq__."""
        self.all(cell.cell_contents for cell in value.__closure__ or () if cell != types.CellType())
        names = [name for name in value.__code__.co_names if name in value.__globals__]
        self.all(value.__globals__[name] for name in names)

    def in_c(self, value: Any) -> None:
        of = getattr(value, "__objclass__", None) or getattr(value, "__self__", None)
        module = getattr(value, "__module__", None) or getattr(of, "__module__", None) or "numpy"
        if not in_library(module) or not (of is None or isinstance(of, (type, types.ModuleType))):
            raise Unkept(f"{value!r:.100} is written in C")
        self.say("in C", module, getattr(value, "__qualname__", None) or value.__name__)

    # classes and objects

    def klass(self, kind: type) -> None:
        self.say("class", kind.__module__, kind.__qualname__)
        if kind in NODE_KINDS:
            raise Unkept(f"{kind.__qualname__} is registered")
        if in_library(kind.__module__):
            return
        if hasattr(kind, "_abc_impl") and registered_beside(kind):
            raise Unkept(f"classes are registered with {kind.__qualname__}")
        self.tell(type(kind))
        self.tell(kind.__bases__)
        for name, part in vars(kind).items():
            if name in OF_CLASSES:
                continue
            self.say(name)
            self.tell(part)
            if isinstance(part, types.FunctionType) and name.startswith("__") and not made_for(kind, part):
                self.run_by_python(part)

    def instance(self, value: Any, kind: type) -> None:
        """An object by its class and attributes."""
        self.say("object")
        self.tell(kind)
        if hasattr(kind, "__specialise__"):
            self.transformation(value)
            return
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            self.all(value)
            return
        bases = [base for base in kind.__mro__ if not base.__flags__ & (1 << 9)]
        if any(base not in BASES for base in bases):
            raise Unkept(f"an object of the class {kind.__qualname__}, part of which is written in C")
        for base in bases:
            if base is not object:
                self.say(base.__repr__(value))
        state = dict(getattr(value, "__dict__", {}))
        slots = [
            name
            for base in kind.__mro__
            for name, part in vars(base).items()
            if type(part) in DESCRIPTORS[:1]
        ]
        state |= {name: getattr(value, name) for name in slots if hasattr(value, name)}
        for name, part in state.items():
            self.say(name)
            self.tell(part)

    def transformation(self, value: Any) -> None:
        """One of chainrule's own objects that the specialiser calls, without the programs that it made."""
        if any(name in vars(value) for name in ("rules", "core", "run")) or not hasattr(value, "programs"):
            raise Unkept(f"a {type(value).__qualname__}")
        for name, part in vars(value).items():
            if name not in OF_TRANSFORMATIONS and not name.startswith("__"):
                self.say(name)
                self.tell(part)


@functools.cache
def in_library(module: str | None) -> bool:
    """Whether a module belongs to what is told by its version, and is not one of that name by the user."""
    root = (module or "").partition(".")[0]
    if root not in LIBRARIES or root == LIBRARY and ".tools." in module:
        return False
    file = getattr(sys.modules.get(root), "__file__", None)
    return root not in sys.stdlib_module_names or file is None or file.startswith(STANDARD)


def made_for(kind: type, function: types.FunctionType) -> bool:
    """Whether a decorator such as dataclass has made a method."""
    return function.__code__.co_filename == "<string>"


def registered_beside(kind: type) -> bool:
    """Whether an abstract class has classes that are not derived from it."""
    import _abc

    return bool(_abc._get_dump(kind)[0])
