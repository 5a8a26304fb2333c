"""A batched operation held against the operation done one example at a time."""

import itertools

import numpy as np

from chainrule.codegen.batching import batch
from chainrule.codegen.build import Builder
from chainrule.codegen.core import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    ArrayType,
    Assign,
    Block,
    Program,
    Variable,
    map_variables,
    variables_in,
)
from chainrule.codegen.evaluate import evaluate

WEAK = {bool: BOOL, int: INT, float: FLOAT, complex: COMPLEX}
SIZE = 3


class Slot:
    """Stands in operands for an argument: an example of it, and the same for other examples of the batch."""

    def __init__(self, *examples):
        self.examples = examples


def slots(operands, found):
    """The slots of nested operands, in order."""
    if isinstance(operands, Slot):
        found.append(operands)
    elif isinstance(operands, (tuple, list)):
        for item in operands:
            slots(item, found)
    elif isinstance(operands, slice):
        slots((operands.start, operands.stop, operands.step), found)
    return found


def filled(operands, values):
    """The operands with each slot replaced."""
    if isinstance(operands, Slot):
        return values[operands]
    if isinstance(operands, (tuple, list)):
        return type(operands)(filled(item, values) for item in operands)
    if isinstance(operands, slice):
        return slice(*(filled(part, values) for part in (operands.start, operands.stop, operands.step)))
    return operands


def as_slot(value):
    """An argument whose examples are like this value."""
    rng = np.random.default_rng(abs(hash(str(value))) % 1000)
    if type(value) in WEAK:
        return Slot(*(type(value)(value + k if type(value) is not bool else k % 2) for k in range(SIZE)))
    if value.dtype.kind in "iub":
        return Slot(*(np.roll(value, k) if value.ndim else value for k in range(SIZE)))
    return Slot(
        *(np.asarray(value * rng.uniform(0.8, 1.2, value.shape)).astype(value.dtype)[()] for _ in range(SIZE))
    )


def opened(operands):
    """The operands with every array in a slot of its own."""
    if isinstance(operands, (np.ndarray, np.generic)):
        return as_slot(operands)
    if isinstance(operands, (tuple, list)):
        return type(operands)(map(opened, operands))
    return operands


def variable_for(value, sizes):
    if type(value) in WEAK:
        return Variable("i", WEAK[type(value)])
    shape = tuple(
        sizes.setdefault(size, Variable("n", INT)) if sizes is not None and size > 1 else size
        for size in value.shape
    )
    return Variable("x", ArrayType(value.dtype, shape))


def program_of(primitive, operands, static, symbolic):
    """A program of one operation, its parameters the slots; and what its symbolic sizes are."""
    sizes = {} if symbolic else None
    variables = {slot: variable_for(slot.examples[0], sizes) for slot in slots(operands, [])}
    builder = Builder()
    if symbolic:
        builder.lower_bounds.update(dict.fromkeys(sizes.values(), 2))
    result = builder.emit(primitive, *filled(operands, variables), **static)
    builder.block.results = result if isinstance(result, tuple) else (result,)
    program = Program("f", tuple(variables.values()), builder.block)
    return program, {variable: size for size, variable in (sizes or {}).items()}


def with_sizes(program, sizes):
    """The program with numbers for its symbolic sizes."""
    for statement in program.body.statements:
        if isinstance(statement, Assign):
            statement.operands = map_variables(lambda v: sizes.get(v, v), statement.operands)
        else:
            inner = with_sizes(Program("", (), statement.body), sizes)
            statement.body = inner.body
            statement.start, statement.stop, statement.initial = map_variables(
                lambda v: sizes.get(v, v), (statement.start, statement.stop, statement.initial)
            )
    results = map_variables(lambda v: sizes.get(v, v), program.results)
    return Program(program.name, program.parameters, Block(program.body.statements, results))


def check_batched(primitive, operands, static=None, exact=True):
    """For every choice of arguments that differ among the examples, the batch is the examples one by one."""
    static, operands = static or {}, opened(operands)
    found = slots(operands, [])
    for symbolic in (False, True):
        for axes in itertools.product((False, True), repeat=len(found)):
            if not any(axes):
                continue
            program, sizes = program_of(primitive, operands, static, symbolic)
            batched, differ = batch(program, axes, SIZE)
            assert all(differ)
            given = tuple(
                np.stack(slot.examples) if chosen else slot.examples[0] for slot, chosen in zip(found, axes)
            )
            got = evaluate(with_sizes(batched, sizes), given)
            for k in range(SIZE):
                values = {slot: slot.examples[k if chosen else 0] for slot, chosen in zip(found, axes)}
                want = primitive.implementation(*filled(operands, values), **static)
                compare(got, want, k, exact, (primitive, axes, symbolic))


def compare(got, want, k, exact, what):
    several = isinstance(want, tuple)
    for one, right in zip(got if several else (got,), want if several else (want,), strict=True):
        right = np.asarray(right)
        assert one[k].dtype == right.dtype, what
        assert one[k].shape == right.shape, what
        tolerance = {} if exact else {"rtol": 1e-4, "atol": 1e-5}
        np.testing.assert_allclose(
            one[k], right, **{"rtol": 1e-6, "atol": 1e-9, **tolerance}, err_msg=str(what)
        )


__all__ = ["Slot", "as_slot", "check_batched", "variables_in"]
