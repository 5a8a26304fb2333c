"""What branches and loops share: trials of a path, conditions, and values brought to a type."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import ArrayType, Block, For, StackType, Variable, While, type_of, walk
from ..errors import IndexBoundsError, ShapeMismatchError
from ..registry import PRIMITIVES
from .attributes import python_method
from .machine import BranchEnds, Specialiser
from .store import Trial
from .values import Growing, is_dynamic


def attempt(s: Specialiser, path: Callable) -> tuple[Block, Trial | None, Any]:
    """Specialise one path, and take its writes back; no trial if the path ends in an exception."""
    block = Block()
    s.store.open()
    s.uncertain += 1
    ended, value = False, None
    try:
        with s.builder.inside(block):
            value = path()
    except BranchEnds:
        ended = True
    except Exception as error:
        if not mistake(error):
            s.store.close()
            raise
        ended = True
        with s.builder.inside(block):
            static = {"exception": exception_name(error), "message": message_of(error)}
            s.builder.emit(PRIMITIVES["check"], False, **static)
    finally:
        s.uncertain -= 1
    trial = s.store.close()
    return block, None if ended else trial, value


def mistake(error: Exception) -> bool:
    """Whether an exception is what Python or NumPy says of a wrong index, size or divisor."""
    numpys = isinstance(error, (ShapeMismatchError, IndexBoundsError)) and not error.remedy
    pythons = isinstance(error, (LookupError, ValueError, ZeroDivisionError))
    return numpys or (pythons and getattr(error, "located", False))


def exception_name(error: Exception) -> str:
    """The class that Python knows of an exception's."""
    return next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")


def message_of(error: Exception) -> str:
    """What an exception says, without the place."""
    return str(getattr(error, "what", error.args[0] if error.args else ""))


def truth(s: Specialiser, value: Any, node: Any) -> Any:
    """A value as a condition: a Python bool, or a boolean scalar known only at run time."""
    value = s.defined(value, "condition", node)
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], Growing):
        return s.builder.emit(PRIMITIVES["greater"], s.operand(value[0].count), 0)
    if not is_dynamic(value):
        for name in ("__bool__", "__len__"):
            method = python_method(value, name)
            if method is not None:
                return truth(s, s.call(method, [value], {}, node), node)
        return bool(value)
    of = s.type(value)
    if of.shape:
        if all(isinstance(size, int) and size == 1 for size in of.shape):
            value = s.emit("reshape", value, ())
        else:
            raise s.unsupported(
                "the truth value of an array with more than one element is ambiguous",
                "use a.any() or a.all()", node)
    if of.dtype.kind == "b":
        return s.operand(value)
    return s.builder.emit(PRIMITIVES["not_equal"], s.operand(value), 0)


def defined_in(block: Block) -> list[Variable]:
    """Variables that a block and the blocks in it assign."""
    found: list[Variable] = []
    for statement in walk(block):
        found.extend(statement.targets)
        if isinstance(statement, For):
            found.extend((statement.index, *statement.carried))
        elif isinstance(statement, While):
            found.extend(statement.carried)
    return found


def emit_sizes(s: Specialiser, unknown: list) -> None:
    """Read off the sizes of results that their types leave open."""
    for size, axis, array in unknown:
        s.builder.emit_size(size, array, axis)


def cast(s: Specialiser, operand: Any, to: ArrayType) -> Any:
    """An operand converted to a dtype (sizes are left alone)."""
    if isinstance(to, StackType) or isinstance(operand, Hole):
        return fill(s, operand) if isinstance(operand, Hole) else operand
    have = type_of(operand)
    if have.dtype == to.dtype and (have.weak == to.weak or not isinstance(operand, Variable)):
        return operand
    if not isinstance(operand, Variable):
        kinds = {"b": bool, "i": int, "f": float, "c": complex}
        return kinds[to.dtype.kind](operand) if to.weak else to.dtype.type(operand)
    return s.builder.emit(
        PRIMITIVES["astype"], operand, dtype=to.dtype, **({"weak": True} if to.weak else {})
    )


class Hole:
    """Stands for a value of a type on a path where there is none."""

    def __init__(self, of: ArrayType):
        self.type = of


def placeholder(of: ArrayType) -> Hole:
    return Hole(of)


def fill(s: Specialiser, hole: Hole) -> Any:
    """Any value of the hole's type: it is never read."""
    if isinstance(hole.type, StackType):
        return s.builder.emit(PRIMITIVES["stack"], element=hole.type.element)
    if not hole.type.shape:
        return cast(s, 0, hole.type)
    shape = tuple(0 if size is None else size for size in hole.type.shape)
    return s.builder.emit(PRIMITIVES["zeros"], shape, dtype=hole.type.dtype)
