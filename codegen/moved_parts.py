"""Parts added to an array of zeros, whole rows at a time: instead, a sum of arrays that are moved.

    y = zeros((n, m))                              t = moved(u, (n, m))  # by (0, 0)
    y = setitem(y, (slice(None, -1),), u)    ->    s = moved(v, (n, m))  # by (1, 0)
    y = index_add(y, (slice(1, None),), v)         y = add(t, s)

A moved array is zero where it does not reach. So elements are written once and in order, and turns of the
loops do not wait for each other. A nest reads some element also where none reaches, so that all is done by
vectors; therefore no part may be empty. The last axis stays in its place.

>>> from . import primitives
>>> from .build import Builder
>>> from .core import FLOAT
>>> b = Builder()
>>> u, v = (Variable(name, FLOAT.with_shape((4, 5))) for name in "uv")
>>> zeros = b.emit(PRIMITIVES["zeros"], (5, 5), dtype=FLOAT.dtype)
>>> y = b.emit(PRIMITIVES["setitem"], zeros, (slice(None, -1),), u)
>>> b.block.results = (b.emit(PRIMITIVES["index_add"], y, (slice(1, None),), v),)
>>> [s.primitive for s in move_parts(Program("f", (u, v), b.block)).body.statements]
[zeros, moved, moved, add]
"""

from __future__ import annotations

from .checked_sizes import CheckedSizes
from .core import Assign, Block, Program, Statement, Variable, uses_in
from .elements import moved
from .gathers import Shift, shift_of
from .lasting_arrays import is_zeros
from .least_size import least_size
from .registry import PRIMITIVES
from .renaming import sizes_in

Run = list[Assign]


def move_parts(program: Program) -> Program:
    """The program with such additions, outside of loops, as sums of moved arrays."""
    runs = runs_in(program)
    parameters = [size for parameter in program.parameters for size in sizes_in(parameter.type)]
    sizes = CheckedSizes(dict.fromkeys(parameters, least_size()))
    members = {statement for run in runs.values() for statement in run}
    made: list[Statement] = []
    for statement in program.body.statements:
        sizes.learn(statement)
        if statement in runs:
            made += sum_of_moved(runs[statement]) if may_be_moved(runs[statement], sizes) else runs[statement]
        elif statement not in members:
            made.append(statement)
    return Program(program.name, program.parameters, Block(made, program.results))


def runs_in(program: Program) -> dict[Assign, Run]:
    """Additions to one array of zeros after another, by the last of them; the first may be a write."""
    uses, runs = uses_in(program), {}
    zeros = {s.targets[0] for s in program.body.statements if is_zeros(s)}
    for statement in program.body.statements:
        if not isinstance(statement, Assign) or statement.primitive.name not in ("setitem", "index_add"):
            continue
        array = statement.operands[0]
        if uses[array] != 1 or statement.static:
            continue
        if array in zeros:
            runs[statement.targets[0]] = [statement]
        elif statement.primitive.name == "index_add" and array in runs:
            runs[statement.targets[0]] = [*runs.pop(array), statement]
    return {run[-1]: run for run in runs.values()}


def may_be_moved(run: Run, sizes: CheckedSizes) -> bool:
    """Whether additions are of whole rows, none of which is missing, to several places."""
    shifts = [shift_of(statement) for statement in run]
    if not all(shifts) or len({shift.offsets for shift in shifts}) < 2:
        return False
    return all(is_along_rows(shift) and has_elements(shift, sizes) for shift in shifts)


def is_along_rows(shift: Shift) -> bool:
    parts = entries(shift)
    rank = shift.statement.targets[0].type.ndim
    return rank > 1 and all(isinstance(part, slice) for part in parts) and parts[-1] == slice(None)


def has_elements(shift: Shift, sizes: CheckedSizes) -> bool:
    """Whether no axis of a part that does not fill that of the array is empty."""
    axes = zip(entries(shift), shift.value.type.shape)
    return all(part == slice(None) or (sizes.least(size) or 0) > 0 for part, size in axes)


def entries(shift: Shift) -> tuple:
    """The entries of an index, one for each axis."""
    array, index, _ = shift.statement.operands
    return (*index, *(slice(None),) * (array.type.ndim - len(index)))


def sum_of_moved(run: Run) -> list[Assign]:
    """The sum of what is added, each at its place."""
    target, made, total = run[-1].targets[0], [], None
    for statement in run:
        shift = shift_of(statement)
        static = {"offsets": shift.offsets, "ends": tuple(part.stop is not None for part in entries(shift))}
        term = Variable(None, target.type)
        operands = (shift.value, target.type.shape)
        made.append(Assign((term,), moved, operands, static, statement.location))
        if total is not None:
            after = target if statement is run[-1] else Variable(None, target.type)
            made.append(Assign((after,), PRIMITIVES["add"], (total, term), {}, statement.location))
            term = after
        total = term
    return made
