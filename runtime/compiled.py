"""From a specialised function to something that runs: the order of the passes, and what each stage prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..backends.numba import emit as numba_backend
from ..backends.numba.failures import told
from ..backends.numpy import emit as numpy_backend
from ..codegen.additions import add_in_place
from ..codegen.carried_values import carry_values
from ..codegen.cleared import write_at_once
from ..codegen.core import Assign, Program, Variable, type_of, walk
from ..codegen.custom_calls import without_custom_calls
from ..codegen.dead_code import remove_dead_code
from ..codegen.dissolved import dissolve
from ..codegen.enforced import without_enforced_checks
from ..codegen.errors import SharedMemoryError
from ..codegen.first_runs import without_first_runs
from ..codegen.garbage import without_collection
from ..codegen.held_elements import hold_elements
from ..codegen.hoisted_checks import hoist_checks
from ..codegen.inplace import write_in_place
from ..codegen.least_size import least_size
from ..codegen.needless_checks import without_needless_checks, without_needless_refusals
from ..codegen.needless_writes import without_needless_writes
from ..codegen.own_rows import write_own_rows
from ..codegen.printing import NO_DEFAULTS, Defaults, print_program
from ..codegen.simplify import simplify
from ..codegen.small_arrays import split_small_arrays
from ..codegen.specialise import Specialised, put_together
from .checked import run_checked
from .kept_texts import Described, current_store, kept_text
from .modes import watched
from .sized import Sized, is_large, least_large

STAGES = ("core", "simplified", "numpy", "loops", "numba")


FEW = 100


def text_of_stage(
    specialised: Specialised, stage: str, fresh: bool = False, arguments: Sequence[Any] | None = None
) -> str:
    """The program as Python at one of the stages it passes through.

    `fresh`: no result shares memory with an argument or with another result. With `arguments`, the text is
    the one that a call with them takes, whose loops may be shared among cores.
    """
    program, defaults = without_custom_calls(specialised.program), few_values(specialised)
    if stage == "core":
        return print_program(write_in_place(remove_dead_code(program)), defaults)
    if stage == "simplified":
        return print_program(write_in_place(simplified(program)), defaults)
    if stage == "numpy":
        return numpy_text(program, fresh, defaults)
    if stage == "loops":
        return print_program(numba_backend.compiled_form(loops_of(program)), defaults)
    if stage == "numba":
        shared = arguments is not None and is_large(least_large(program), arguments)
        return numba_text(program, fresh, defaults, shared)
    raise ValueError(f"there is no stage {stage!r}; the stages are {', '.join(STAGES)}")


def few_values(specialised: Specialised) -> dict[Variable, Any]:
    """The values from outside of the function, but for large arrays: the printed function has them."""
    found = {capture.variable: capture.fetch() for capture in specialised.captures}
    return {variable: value for variable, value in found.items() if np.size(value) <= FEW}


SIMPLIFYING = (
    remove_dead_code,
    without_first_runs,
    dissolve,
    simplify,
    without_needless_checks,
    without_needless_writes,
    write_at_once,
    write_own_rows,
    simplify,
)


def simplified(program: Program) -> Program:
    """The program as a careful person would have written it."""
    for step in SIMPLIFYING:
        program = step(program)
    return program


LOOPS = (
    simplified,
    split_small_arrays,
    add_in_place,
    remove_dead_code,
    hoist_checks,
    simplify,
    hold_elements,
    write_own_rows,
    carry_values,
    simplify,
    without_needless_refusals,
)


def loops_of(program: Program) -> Program:
    """The simplified program with checks before its loops, and elements held in numbers."""
    for step in LOOPS:
        program = step(program)
    return program


def numpy_text(program: Program, fresh: bool, defaults: Defaults = NO_DEFAULTS) -> Any:
    simple = simplify(without_enforced_checks(simplified(program)), keep_sizes=False)
    return numpy_backend.emit(write_in_place(simple, fresh_results=fresh), defaults)


def numba_text(
    program: Program, fresh: bool, defaults: Defaults = NO_DEFAULTS, shared: bool = False
) -> Any:
    return numba_backend.emit(loops_of(program), defaults=defaults, shared=shared, fresh_results=fresh)


class Compiled:
    """A program of one signature, ready to be called with the leaves of its arguments."""

    def __init__(self, specialised: Specialised, jitted: bool, fresh: bool = False):
        specialised.program = without_custom_calls(specialised.program)
        self.captures = specialised.captures
        self.guards = specialised.guards
        self.template = specialised.template
        self.written = specialised.written
        self.writes = specialised.writes
        self.program = specialised.program
        self.name = specialised.program.name
        self.parameters = specialised.program.parameters
        self.result_types = [type_of(result) for result in specialised.program.results]
        self.capture_types = [capture.variable.type for capture in specialised.captures]
        self.modules, self.lasting = specialised.modules, specialised.lasting
        self.described = Described(specialised.program)
        self.fresh_results = fresh
        self.function = build(self.described, jitted, fresh)
        self.count = len(self.result_types)
        self.least = least_size()
        self.guards_of_sizes = tuple(
            {start_of_message(s) for s in walk(specialised.program.body) if is_check(s)}
        )
        self.known_integers: frozenset = frozenset()
        self.entry: Any = None
        self.without_entry = False
        self.new = True  # and not left for other processes yet

    def same_code(self, other: Compiled) -> bool:
        """Whether two programs are one once compiled."""
        return self.function.small is other.function.small

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
        self.refuse_shared(leaves)
        watch = watched()
        if watch is not None:
            return run_checked(self.program, [*leaves, *captured], watch)
        try:
            results = self.function(*map(plain, leaves), *map(plain, captured))
        except Exception as error:
            raise self.annotated(error) from None
        return (results,) if self.count == 1 else results

    def annotated(self, error: Exception) -> BaseException:
        """An exception of the generated function, with the user's line."""
        return numpy_backend.annotate(told(error))

    def __call__(self, leaves: list[Any], captured: list[Any]) -> Any:
        results = self.results(leaves, captured)
        if self.written:
            results = self.write_back(leaves, results)
        return put_together(self.template, [plain(result) for result in results])

    def write_back(self, leaves: list[Any], results: tuple) -> tuple:
        """Give the arguments that the function writes to their new contents."""
        kept = results[: -len(self.written)]
        self.refuse_shared(leaves)
        for where, contents in zip(self.written, results[-len(self.written) :], strict=True):
            leaves[where][...] = contents
        kept = tuple(
            leaves[self.written[[id(r) for r in results[-len(self.written) :]].index(id(result))]]
            if any(result is r for r in results[-len(self.written) :])
            else result
            for result in kept
        )
        return kept

    def refuse_shared(self, leaves: list[Any]) -> None:
        """Refuse that an argument which the function writes shares memory with another."""
        for where, write in self.writes.items():
            for other in write.readers:
                if other != where and share_memory(leaves[other], leaves[where]):
                    written, shared = (self.parameters[k].name for k in (where, other))
                    raise SharedMemoryError(
                        f"{written} is written here, and shares memory with {shared}",
                        f"pass a copy of one of them, such as {shared}.copy()",
                        write.place,
                    )


def share_memory(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether a write to one array may be seen in another."""
    try:
        return np.shares_memory(a, b, max_work=1000)
    except np.exceptions.TooHardError:
        return True


def is_check(statement: Any) -> bool:
    """Whether a statement checks that sizes are equal."""
    return isinstance(statement, Assign) and statement.primitive.name == "check_same"


def start_of_message(statement: Assign) -> str:
    """What of a check's message is the same for all sizes."""
    return statement.static.get("message", "sizes differ").split("{")[0]


def plain(value: Any) -> Any:
    """0-d arrays as the scalars that they are in a program, and that NumPy gives."""
    return value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value


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


def build(described: Described, jitted: bool, fresh: bool) -> Callable:
    """The program as a function: Numba's if jitted, else NumPy's."""
    program = described.program
    if jitted:
        return Sized(least_large(program), partial(compiled_function, described, fresh))
    return numpy_backend.load(numpy_text(program, fresh), program.name)


@without_collection
def compiled_function(described: Described, fresh: bool, shared: bool) -> Callable:
    """The program as Numba's function, or functions with loops that are shared among cores."""
    store, program = current_store(), described.program
    text = kept_text(store, described, (fresh, shared), lambda: numba_text(program, fresh, shared=shared))
    return numba_backend.load(text, program.name, store=store)
