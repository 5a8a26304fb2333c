"""From a specialised function to something that runs: the order of the passes, and what each stage prints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..backends.numba import emit as numba_backend
from ..backends.numpy import emit as numpy_backend
from ..codegen.core import Assign, Program, walk
from ..codegen.dead_code import remove_dead_code
from ..codegen.enforced import without_enforced_checks
from ..codegen.inplace import write_in_place
from ..codegen.printing import print_program
from ..codegen.simplify import simplify
from ..codegen.specialise import Specialised, put_together

STAGES = ("core", "simplified", "numpy", "loops", "numba")


def text_of_stage(program: Program, stage: str, fresh: bool = False) -> str:
    """The program as Python at one of the stages it passes through.

    `fresh`: no result shares memory with an argument or with another result.
    """
    if stage == "core":
        return print_program(write_in_place(remove_dead_code(program)))
    if stage == "simplified":
        return print_program(write_in_place(simplify(program)))
    if stage == "numpy":
        return numpy_text(program, fresh)
    if stage == "loops":
        return print_program(numba_backend.compiled_form(simplify(program)))
    if stage == "numba":
        return numba_text(program, fresh)
    raise ValueError(f"there is no stage {stage!r}; the stages are {', '.join(STAGES)}")


def numpy_text(program: Program, fresh: bool) -> Any:
    simple = simplify(without_enforced_checks(simplify(program)), keep_sizes=False)
    return numpy_backend.emit(write_in_place(simple, fresh_results=fresh))


def numba_text(program: Program, fresh: bool) -> Any:
    return numba_backend.emit(simplify(program), fresh_results=fresh)


class Compiled:
    """A program of one signature, ready to be called with the leaves of its arguments."""

    def __init__(self, specialised: Specialised, jitted: bool, fresh: bool = False):
        self.captures = specialised.captures
        self.guards = specialised.guards
        self.template = specialised.template
        self.written = specialised.written
        self.program = specialised.program
        self.capture_types = [capture.variable.type for capture in specialised.captures]
        self.function = build(specialised.program, jitted, fresh)
        self.count = len(specialised.program.results)
        self.guards_of_sizes = tuple(
            {start_of_message(s) for s in walk(specialised.program.body) if is_check(s)}
        )

    def fresh(self) -> bool:
        """Whether everything outside on which the program was specialised is still as it was."""
        return all(guard.holds() for guard in self.guards)

    def of_sizes(self, error: ValueError) -> bool:
        """Whether an exception may say that sizes differ which the program takes to be equal."""
        return str(error).startswith(self.guards_of_sizes)

    def fetched(self) -> list[Any] | None:
        """The captured values of this call; None if one has another type than the program was made for."""
        try:
            values = [capture.fetch() for capture in self.captures]
        except Exception:
            return None
        for value, known in zip(values, self.capture_types, strict=True):
            if not fits(value, known):
                return None
        return values

    def results(self, leaves: list[Any], captured: list[Any]) -> tuple:
        """What the generated function returns; an exception in it names the user's line."""
        try:
            results = self.function(*leaves, *captured)
        except Exception as error:
            raise numpy_backend.annotate(error) from None
        return (results,) if self.count == 1 else results

    def __call__(self, leaves: list[Any], captured: list[Any]) -> Any:
        results = self.results(leaves, captured)
        if self.written:
            results = self.write_back(leaves, results)
        return put_together(self.template, [plain(result) for result in results])

    def write_back(self, leaves: list[Any], results: tuple) -> tuple:
        """Give the arguments that the function writes to their new contents."""
        kept = results[: -len(self.written)]
        for where, contents in zip(self.written, results[-len(self.written) :], strict=True):
            for other, leaf in enumerate(leaves):
                if (
                    other != where
                    and isinstance(leaf, np.ndarray)
                    and np.may_share_memory(leaf, leaves[where])
                ):
                    raise ValueError(
                        "an argument that the function writes to shares memory with another argument; "
                        "pass a copy"
                    )
            leaves[where][...] = contents
        kept = tuple(
            leaves[self.written[[id(r) for r in results[-len(self.written) :]].index(id(result))]]
            if any(result is r for r in results[-len(self.written) :])
            else result
            for result in kept
        )
        return kept


def is_check(statement: Any) -> bool:
    """Whether a statement checks that sizes are equal."""
    return isinstance(statement, Assign) and statement.primitive.name == "check_same"


def start_of_message(statement: Assign) -> str:
    """What of a check's message is the same for all sizes."""
    return statement.static.get("message", "sizes differ").split("{")[0]


def plain(result: Any) -> Any:
    """0-d arrays as the scalars that NumPy gives."""
    return result[()] if isinstance(result, np.ndarray) and result.ndim == 0 else result


def fits(value: Any, known: Any) -> bool:
    """Whether a captured value is of the type that the program was made for."""
    if known.weak:
        return {float: "f", complex: "c"}.get(type(value)) == known.dtype.kind
    if (
        not isinstance(value, (np.ndarray, np.generic))
        or value.dtype != known.dtype
        or value.ndim != known.ndim
    ):
        return False
    return all(
        (size == now) if isinstance(size, int) else now > 1
        for size, now in zip(known.shape, value.shape, strict=True)
    )


def build(program: Program, jitted: bool, fresh: bool) -> Callable:
    """The program as a function: Numba's if jitted, else NumPy's."""
    if jitted:
        return numba_backend.load(numba_text(program, fresh), program.name)
    return numpy_backend.load(numpy_text(program, fresh), program.name)
