"""Type rules held against what NumPy returns, with sizes known and with sizes symbolic."""

import numpy as np

from chainrule.codegen.build import Builder
from chainrule.codegen.core import INT, ArrayType, Variable, map_variables


def variable_of(value, sizes=None):
    """A variable for an operand; with `sizes`, its sizes of 2 and more are variables, noted there."""
    if not isinstance(value, (np.ndarray, np.generic)):
        return value
    shape = tuple(symbol(size, sizes) if sizes is not None and size > 1 else size for size in value.shape)
    return Variable("x", ArrayType(value.dtype, shape))


def symbol(size, sizes):
    made = Variable("n", INT)
    sizes[made] = size
    return made


def inferred(primitive, operands, static, symbolic):
    """The dtypes and shapes that the type rule gives, its size arithmetic carried out."""
    builder, sizes = Builder(), {} if symbolic else None
    variables = [variable_of(value, sizes) for value in operands]
    if symbolic:
        builder.lower_bounds.update(dict.fromkeys(sizes, 2))
    types = primitive.type_rule(builder, *variables, **static)
    known = dict(sizes or {})
    for statement in builder.block.statements:
        values = map_variables(known.get, statement.operands)
        result = statement.primitive.implementation(*values, **statement.static)
        known.update(zip(statement.targets, (result,)))
    types = types if isinstance(types, tuple) else (types,)
    return [(of.dtype, tuple(known.get(size, size) for size in of.shape)) for of in types]


def check_type(primitive, *operands, **static):
    """The type rule gives the dtype and shape that NumPy does."""
    results = primitive(*operands, **static)
    results = results if isinstance(results, tuple) else (results,)
    expected = [(np.asarray(result).dtype, np.shape(result)) for result in results]
    assert inferred(primitive, operands, static, symbolic=False) == expected
    assert inferred(primitive, operands, static, symbolic=True) == expected
