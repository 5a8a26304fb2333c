"""What the user's program says as it runs: debug.print, debug.callback and breakpoints in it.

Each is an operation of the program, which calls a Python function of this process for its effect.
"""

from __future__ import annotations

import pdb
import string
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..codegen.core import type_of
from ..codegen.errors import UnsupportedError
from ..codegen.primitives.callbacks import callback, keep
from ..codegen.specialise import put_together
from ..codegen.specialise.builtin_functions import BUILTINS
from ..codegen.specialise.merge import take_apart
from ..codegen.specialise.texts import formatted, show
from ..codegen.specialise.values import UNDEFINED, Conflict, Growing, Maybe, has_dynamic, is_dynamic
from .closures import python_function
from .nested import kept
from .pullbacks import Plain
from .transformation import Transformation

PYTHON = {"b": bool, "i": int, "f": float, "c": complex}


@dataclass(frozen=True, eq=False)
class Callback:
    """A call of a Python function from a program, which gives it the leaves of the arguments."""

    function: Callable
    template: Any
    types: tuple

    def __call__(self, *leaves: Any) -> None:
        restored = [as_typed(leaf, of) for leaf, of in zip(leaves, self.types, strict=True)]
        arguments, keywords = put_together(self.template, restored)
        self.function(*arguments, **keywords)

    def __eq__(self, other: object) -> bool:
        """Whether it is the same call, so that it may have the same name in a program."""
        if not isinstance(other, Callback):
            return False
        try:
            known = self.types == other.types and bool(self.template == other.template)
            return known and same_function(self.function, other.function)
        except Exception:
            return False

    __hash__ = None


def same_function(one: Any, other: Any) -> bool:
    """Whether two functions do the same: those of one line, for one, that read the same objects."""
    if not (isinstance(one, types.FunctionType) and isinstance(other, types.FunctionType)):
        return bool(one == other)
    read = [
        (f.__globals__, *(cell.cell_contents for cell in f.__closure__ or ()), *(f.__defaults__ or ()))
        for f in (one, other)
    ]
    return one.__code__ == other.__code__ and list(map(id, read[0])) == list(map(id, read[1]))


def as_typed(leaf: Any, of: Any) -> Any:
    """A value as NumPy has it; an array as it is now, for the program may write over it later."""
    if of.shape:
        return np.array(leaf)
    return PYTHON[of.dtype.kind](leaf) if of.weak else of.dtype.type(leaf)


def emit_callback(s: Any, function: Callable, arguments: list, keywords: dict, name: str, node: Any) -> None:
    """Call `function(*arguments, **keywords)` each time that the program comes here."""
    leaves: list[Any] = []
    template = take_apart((tuple(arguments), dict(keywords)), leaves)
    operands = [s.operand(leaf) for leaf in leaves]
    if has_dynamic(template):
        raise s.unsupported(
            f"{name} is given a value that Python code cannot have",
            "give it arrays, numbers, strings, and lists and dicts of these",
            node,
        )
    known = tuple(of.with_shape((None,) * of.ndim) for of in map(type_of, operands))
    kept = keep(Callback(function, template, known), name)
    s.builder.emit(callback, *operands, function=kept)


@dataclass(frozen=True)
class Printed:
    """Prints values in a template of str.format."""

    template: str

    def __call__(self, *arguments: Any, **keywords: Any) -> None:
        print(self.template.format(*arguments, **keywords))


def print_inside(s: Any, arguments: list, keywords: dict, node: Any) -> None:
    """debug.print: Python's own print where its language has the words, else a callback."""
    template, *values = arguments
    keywords = {key: value for key, value in keywords.items() if key != "ordered"}
    if not isinstance(template, str):
        raise s.unsupported("debug.print without a format string", "write debug.print('x = {}', x)", node)
    check_fields(template, values, keywords)
    if plain_fields(template) and all(is_plain(v) for v in (*values, *keywords.values())):
        show(s, [formatted(s, template, values, keywords, node)], {}, node)
    else:
        emit_callback(s, Printed(template), values, keywords, "print_format", node)


def check_fields(template: str, values: Any, keywords: dict) -> None:
    """Raise str.format's own error where the template asks for what was not given."""
    Stand().vformat(template, values, keywords)


class Stand(string.Formatter):
    """Looks up the fields of a template, whatever their values."""

    def get_field(self, name: str, args: Any, kwargs: Any) -> Any:
        first = name.partition(".")[0].partition("[")[0]
        self.get_value(int(first) if first.isdigit() else first, args, kwargs)
        return "", first

    def format_field(self, value: Any, form: str) -> str:
        return ""


def plain_fields(template: str) -> bool:
    """Whether a template names values only, no attributes or items of theirs."""
    fields = [field for _, field, _, _ in string.Formatter().parse(template) if field]
    return all(field.isdigit() or field.isidentifier() for field in fields)


def is_plain(value: Any) -> bool:
    return is_dynamic(value) or not has_dynamic(value)


def callback_inside(s: Any, arguments: list, keywords: dict, node: Any) -> None:
    """debug.callback."""
    function, *values = arguments
    keywords = {key: value for key, value in keywords.items() if key != "ordered"}
    called = python_function(s, function, node)
    emit_callback(s, called, values, keywords, getattr(called, "__name__", type(called).__name__), node)


@dataclass(frozen=True)
class Pause:
    """Stops in the debugger at a line of the user's, with the names that the function has there."""

    file: str
    line: int
    function: str
    names: tuple
    module: int

    def __call__(self, *values: Any) -> None:
        space = dict(MODULES[self.module])
        # pdb shows this frame: it has the user's file and line, and the user's names.
        code = compile("\n" * (self.line - 1) + "breakpoint()", self.file, "exec")
        exec(code.replace(co_name=self.function), space, dict(zip(self.names, values, strict=True)))


MODULES: dict[int, dict] = {}


def breakpoint_inside(s: Any, arguments: list, keywords: dict, node: Any) -> None:
    """breakpoint: the debugger of this process, each time that the program comes here."""
    frame, location = s.frames[-1], s.location(node)
    names = {}
    for name, value in frame.names.items():
        if name not in frame.scope.generated and can_be_shown(value):
            names[name] = value
    module = frame.scope.module
    MODULES[id(module)] = module
    pause = Pause(location.file, location.line, frame.scope.name, tuple(names), id(module))
    emit_callback(s, pause, list(names.values()), {}, f"breakpoint_line_{location.line}", node)


def can_be_shown(value: Any) -> bool:
    """Whether a local value has a form that the debugger can show."""
    if value is UNDEFINED or isinstance(value, (Maybe, Conflict, Growing, types.ModuleType)):
        return False
    try:
        return not has_dynamic(take_apart(value, []))
    except UnsupportedError:
        return False


def as_program(function: Callable) -> Callable:
    """A function as a program of its own, if it isn't one."""
    return function if isinstance(function, Transformation) else kept(Plain, function)


def enter(face: Callable, handler: Callable) -> None:
    """Let a call of `face` in the user's function be what the handler emits."""
    BUILTINS[face] = handler


enter(breakpoint, breakpoint_inside)
enter(pdb.set_trace, breakpoint_inside)
