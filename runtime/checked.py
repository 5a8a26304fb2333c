"""debug.nans: a program run one operation at a time, up to the first that makes a NaN or an infinity.

An operation makes a NaN if it gives one and none of its operands has any: what was there before is not its
fault. So is an infinity made of finite numbers.
"""

from __future__ import annotations

import re
import types
from typing import Any

import numpy as np

from ..codegen import evaluate
from ..codegen.core import Assign, Program, Variable
from ..codegen.errors import Location, NotFiniteError
from .modes import WATCH, Setting, Watch

# Their contents are arbitrary, or stand where none was computed.
UNSET = frozenset({"empty", "stack"})
REMEDY = "keep the operands inside of the operation's domain, with np.where, np.maximum or a small epsilon"


def run_checked(program: Program, arguments: list[Any], watch: Watch) -> tuple:
    """The program's results; NotFiniteError at the first operation that makes what is watched for."""
    check_arguments(program, arguments)
    environment = Watched(watch)
    environment.update(zip(program.parameters, arguments, strict=True))
    with np.errstate(all="ignore"):
        results = evaluate.run(program.body, environment)
    return tuple(result.copy() if isinstance(result, np.ndarray) else result for result in results)


def check_arguments(program: Program, arguments: list[Any]) -> None:
    for parameter, value in zip(program.parameters, arguments, strict=True):
        if has(value, np.isnan):
            raise NotFiniteError(
                f"the argument {parameter.name} of {program.name} has nan in it: {shown(value)}",
                "look for where it was computed, with debug.nans around that",
            )


class Watched(evaluate.Environment):
    """The values of a program's variables, which looks at each operation that gives some."""

    def __init__(self, watch: Watch):
        super().__init__()
        self.watch = watch

    def made(self, statement: Assign, operands: tuple, results: tuple) -> None:
        """Refuse what an operation made that is watched for."""
        if statement.primitive.name in UNSET:
            return
        tests = [(np.isnan, np.isnan)] + [(np.isinf, not_finite)] * self.watch.inf
        for test, excuse in tests:
            ill = next((r for r in results if has(r, test)), None)
            if ill is not None and not any(has(o, excuse) for o in parts(operands)):
                raise refused(statement, operands, ill, test)


def not_finite(value: Any) -> Any:
    return ~np.isfinite(value)


def parts(operands: Any) -> list[Any]:
    """Every number and array in nested operands."""
    if isinstance(operands, (tuple, list)):
        return [part for operand in operands for part in parts(operand)]
    if isinstance(operands, slice) or operands is None:
        return []
    return [operands]


def has(value: Any, test: Any) -> bool:
    """Whether a value is, or has in it, what the test finds."""
    if isinstance(value, list):
        return any(has(item, test) for item in value)
    if not isinstance(value, (np.ndarray, np.generic, float, complex)):
        return False
    return np.asarray(value).dtype.kind in "fc" and bool(np.any(test(value)))


def refused(statement: Assign, operands: tuple, result: Any, test: Any) -> NotFiniteError:
    """What is wrong, with the operands by their names."""
    primitive, location = statement.primitive, statement.location
    printed = primitive.printed if isinstance(primitive.printed, str) else primitive.name
    sweep = ", in the backward sweep" if location is not None and location.backward else ""
    where = first_place(result, test)
    place, found = ("", result) if where is None else (f" at [{', '.join(map(str, where))}]", result[where])
    lines = [f"{printed} gave {found}{place}{sweep}, of"]
    for number, (operand, value) in enumerate(zip(statement.operands, operands, strict=True)):
        if parts(value):
            element = there(value, result, where) if primitive.elementwise else ""
            lines.append(f"    {name_of(operand, number)} = {shown(value)}{element}")
    return NotFiniteError("\n".join(lines), REMEDY, location)


def name_of(operand: Any, number: int) -> str:
    named = isinstance(operand, Variable) and operand.name
    return operand.name if named else f"operand {number + 1}"


def first_place(result: Any, test: Any) -> tuple | None:
    """The index of the first element that the test finds."""
    if not isinstance(result, np.ndarray) or not result.ndim:
        return None
    return tuple(int(k) for k in np.argwhere(test(result))[0])


def there(value: Any, result: Any, where: tuple | None) -> str:
    """The element of an operand that an element of the result was computed from."""
    if where is None or not np.ndim(value):
        return ""
    return f", there {np.broadcast_to(value, result.shape)[where]}"


def shown(value: Any) -> str:
    """A value in a few lines."""
    if isinstance(value, (np.ndarray, np.generic)):
        text = np.array2string(np.asarray(value), threshold=20, edgeitems=3, separator=", ")
        return re.sub(r"\s*\n\s*", " ", text)
    return repr(value)


class Nans(Setting):
    """The mode in which programs are watched; NumPy itself watches what is not a program."""

    def __init__(self, variable: Any = WATCH, value: Any = None):
        super().__init__(variable, value)

    def __enter__(self) -> None:
        super().__enter__()
        over = "raise" if self.value.inf else "ignore"
        self.numpy = np.errstate(invalid="raise", divide=over, over=over)
        self.numpy.__enter__()

    def __exit__(self, kind: Any, error: Any, traceback: Any) -> None:
        self.numpy.__exit__(kind, error, traceback)
        super().__exit__(kind, error, traceback)
        if isinstance(error, FloatingPointError) and not isinstance(error, NotFiniteError):
            raise explained(error, traceback) from error


def explained(error: FloatingPointError, traceback: types.TracebackType) -> NotFiniteError:
    """NumPy's exception with the line that it left, and what the names on that line stood for."""
    import linecache

    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    frame, code = traceback.tb_frame, traceback.tb_frame.f_code
    text = linecache.getline(code.co_filename, traceback.tb_lineno, frame.f_globals)
    names = dict.fromkeys(re.findall(r"\b[A-Za-z_]\w*\b", text))
    values = {name: frame.f_locals[name] for name in names if name in frame.f_locals}
    lines = [f"    {name} = {shown(v)}" for name, v in values.items() if is_number(v)]
    width = len(text.rstrip())
    location = Location(code.co_filename, traceback.tb_lineno, 0, width, code.co_name, text)
    return NotFiniteError("\n".join([f"{error}, where", *lines] if lines else [str(error)]), REMEDY, location)


def is_number(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic, int, float, complex))
