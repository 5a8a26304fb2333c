"""The primitives that read better than as a call of the function of their name.

Each form sees the statement and an Expressions, which makes the trees of its operands.

>>> FORMS["size"].__name__, basic((0, slice(None), None))
('size', True)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from .core import ArrayType, Assign, Operand, StackType, Variable, type_of
from .primitives.promotion import common_dtype
from .registry import array_scalar
from .trees import (
    attribute,
    call,
    constant,
    dtype_tree,
    infix,
    list_tree,
    method,
    subscript,
    tuple_tree,
    unary,
)

if TYPE_CHECKING:
    from .expressions import Expressions

Tree = Any
FORMS: dict[str, Callable[[Assign, Expressions], Tree]] = {}
DEFAULTS = {"keepdims": False, "dtype": None, "kind": None, "norm": None, "side": "left", "ddof": 0}
PYTHON = {"b": "bool", "i": "int", "u": "int", "f": "float", "c": "complex"}


def form(*names: str) -> Callable:
    """Enter a special form for primitives of these names."""

    def enter(function):
        FORMS.update(dict.fromkeys(names, function))
        return function

    return enter


def weak_operand(operand: Operand) -> bool:
    of = type_of(operand)
    return isinstance(of, ArrayType) and of.weak


def is_int(value: Any, number: int) -> bool:
    return array_scalar(value) and not isinstance(value, (bool, np.bool_)) and value == number


def default(key: str, value: Any) -> bool:
    return key in DEFAULTS and type(value) is type(DEFAULTS[key]) and value == DEFAULTS[key]


def rank(operand: Operand) -> int:
    of = type_of(operand)
    return 0 if isinstance(of, StackType) else of.ndim


def basic(index: tuple) -> bool:
    """Whether an index has no arrays."""
    return all(isinstance(item, slice) or item is None or not rank(item) for item in index)


@form("getitem")
def getitem(statement: Assign, to: Expressions) -> Tree:
    x, index = statement.operands
    return subscript(to.tree(x), to.index(index) if index else tuple_tree(()))


@form("stop_gradient")
def stop_gradient(statement: Assign, to: Expressions) -> Tree:
    return to.tree(statement.operands[0])


@form("size")
def size(statement: Assign, to: Expressions) -> Tree:
    return subscript(attribute(to.tree(statement.operands[0]), "shape"), constant(statement.static["axis"]))


@form("slice_size", "slice_start")
def slice_bounds(statement: Assign, to: Expressions) -> Tree:
    size, start, stop, step = statement.operands
    part = slice(start, stop, None if is_int(step, 1) else step)
    places = subscript(call("range", to.tree(size, True)), to.index((part,)))
    return attribute(places, "start") if statement.primitive.name == "slice_start" else call("len", places)


@form("reshape")
def reshape(statement: Assign, to: Expressions) -> Tree:
    x, shape = statement.operands
    shape = shape if isinstance(shape, (tuple, list)) else (shape,)
    if rank(x) and shape:
        return method(to.tree(x), "reshape", *(to.tree(size, True) for size in shape))
    return call("np.reshape", to.tree(x), to.tree(tuple(shape), True))


@form("transpose")
def transpose(statement: Assign, to: Expressions) -> Tree:
    x, axes = statement.operands[0], tuple(statement.static["axes"])
    if rank(x) >= 2 and axes == tuple(reversed(range(rank(x)))):
        return attribute(to.tree(x), "T")
    return call("np.transpose", to.tree(x), constant(axes))


@form("moved")
def moved(statement: Assign, to: Expressions) -> Tree:
    x, shape = statement.operands
    sizes = attribute(to.tree(x), "shape")
    widths = []
    for axis, (offset, size) in enumerate(zip(statement.static["offsets"], shape)):
        left = infix("-", to.tree(size, True), constant(offset)) if offset else to.tree(size, True)
        widths.append(tuple_tree([constant(offset), infix("-", left, subscript(sizes, constant(axis)))]))
    return call("np.pad", to.tree(x), tuple_tree(widths))


@form("broadcast_to")
def broadcast_to(statement: Assign, to: Expressions) -> Tree:
    return call("np.broadcast_to", to.tree(statement.operands[0]), shape_tree(statement.operands[1], to))


@form("sum", "prod", "max", "min", "any", "all", "argmax", "argmin")
def reduction(statement: Assign, to: Expressions) -> Tree:
    x, static = statement.operands[0], dict(statement.static)
    axis = static.pop("axis", None)
    axes = (axis,) if isinstance(axis, int) else axis
    keywords = {}
    if axes is not None and tuple(axes) != tuple(range(rank(x))):
        keywords["axis"] = constant(axes[0] if len(axes) == 1 else tuple(axes))
    keywords |= {k: to.keyword(k, v) for k, v in static.items() if not default(k, v) and k != "weak"}
    return to.weak(statement, call(f"np.{statement.primitive.name}", to.tree(x), **keywords))


@form("cumsum", "cumprod", "sort", "argsort", "fft", "ifft", "rfft", "irfft")
def along_axis(statement: Assign, to: Expressions) -> Tree:
    x, static = statement.operands[0], dict(statement.static)
    axis = static.pop("axis")
    keywords = {}
    total = statement.primitive.name.startswith("cum")
    if not (rank(x) == 1 if total else axis == rank(x) - 1):
        keywords["axis"] = constant(axis)
    keywords |= {k: to.keyword(k, v) for k, v in static.items() if not default(k, v)}
    arguments = [to.tree(operand, place > 0) for place, operand in enumerate(statement.operands)]
    return call(statement.primitive.printed, *arguments, **keywords)


@form("where")
def where(statement: Assign, to: Expressions) -> Tree:


    test, x, y = to.operands(statement)
    of = statement.targets[0].type
    if of.weak:
        return gast.IfExp(test, x, y)
    if of.shape:
        return call("np.where", test, x, y)
    sides = [of.dtype.type(o) if array_scalar(o) else o for o in statement.operands[1:]]
    if all(type_of(side) == of for side in sides):
        return gast.IfExp(test, *map(to.tree, sides))
    return subscript(call("np.where", test, x, y), tuple_tree(()))


@form("maximum", "minimum")
def extreme(statement: Assign, to: Expressions) -> Tree:
    kind = statement.primitive.name
    # Python's max differs from NumPy's for NaN, so it serves for integers only.
    types = [type_of(operand) for operand in statement.operands]
    if statement.targets[0].type.weak and all(of.weak and of.dtype.kind == "i" for of in types):
        return call(kind[:3], *to.operands(statement))
    return to.weak(statement, call(f"np.{kind}", *to.operands(statement)))


@form("absolute")
def absolute(statement: Assign, to: Expressions) -> Tree:
    python = statement.targets[0].type.weak and all(map(weak_operand, statement.operands))
    tree = call("abs" if python else "np.abs", *to.operands(statement))
    return to.weak(statement, tree, python)


@form("logical_and", "logical_or", "logical_not")
def logical(statement: Assign, to: Expressions) -> Tree:


    kind, operands = statement.primitive.name, to.operands(statement)
    if statement.targets[0].type.weak and all(weak_bool(o) for o in statement.operands):
        if kind == "logical_not":
            return unary("not", operands[0])
        return gast.BoolOp(gast.And() if kind == "logical_and" else gast.Or(), operands)
    return to.weak(statement, call(f"np.{kind}", *operands))


def weak_bool(operand: Operand) -> bool:
    return weak_operand(operand) and type_of(operand).dtype.kind == "b"


@form("astype")
def astype(statement: Assign, to: Expressions) -> Tree:
    x, of = statement.operands[0], statement.targets[0].type
    if (sizes := identity_sizes(x, to)) is not None:
        keywords = {} if of.dtype == np.float64 else {"dtype": dtype_tree(of.dtype)}
        return call("np.eye", *(to.tree(size, True) for size in sizes), **keywords)
    if of.weak:
        return call(PYTHON[of.dtype.kind], to.tree(x))
    if isinstance(x, Variable) and not x.type.weak:
        return method(to.tree(x), "astype", dtype_tree(of.dtype))
    return subscript(method(call("np.asarray", to.tree(x)), "astype", dtype_tree(of.dtype)), tuple_tree(())) \
        if of.dtype.kind in "iu" else call(dtype_name_of(of), to.tree(x))


def identity_sizes(mask: Operand, to: Expressions) -> tuple | None:
    """The sizes of an identity matrix, of which this is where its ones are."""

    def made(operand: Operand, name: str) -> tuple | None:
        found = to.inlined.get(operand) if isinstance(operand, Variable) else None
        return found.operands if found is not None and found.primitive.name == name else None

    rows, columns = made(mask, "equal") or (None, None)
    rows, index = made(rows, "getitem") or (None, None)
    steps = made(rows, "arange"), made(columns, "arange")
    if index != (slice(None), None) or not all(s and is_int(s[0], 0) and is_int(s[2], 1) for s in steps):
        return None
    (_, n, _), (_, m, _) = steps
    return (n,) if n is m else (n, m)


def dtype_name_of(of: ArrayType) -> str:
    return f"np.{of.dtype.name}"


def shape_tree(shape: Operand, to: Expressions) -> Tree:
    """A shape as an argument: a bare size for one dimension."""
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    return to.tree(sizes[0] if len(sizes) == 1 else sizes, True)


@form("zeros", "ones", "empty")
def filled(statement: Assign, to: Expressions) -> Tree:
    dtype = np.dtype(statement.static.get("dtype", float))
    keywords = {} if dtype == np.float64 else {"dtype": dtype_tree(dtype)}
    return call(f"np.{statement.primitive.name}", shape_tree(statement.operands[0], to), **keywords)


@form("full")
def full(statement: Assign, to: Expressions) -> Tree:
    shape, value = statement.operands
    dtype = statement.targets[0].type.dtype
    bare = value.item() if isinstance(value, np.generic) else value
    inferred = type_of(bare).dtype == dtype
    keywords = {} if inferred else {"dtype": dtype_tree(dtype)}
    return call("np.full", shape_tree(shape, to), to.tree(bare), **keywords)


@form("arange")
def arange(statement: Assign, to: Expressions) -> Tree:
    start, stop, *rest = statement.operands
    step = rest[0] if rest else 1
    dtype = statement.targets[0].type.dtype
    arguments = [start, stop, step]
    if is_int(step, 1):
        arguments.pop()
        if is_int(start, 0) and isinstance(start, int):
            arguments.pop(0)
    inferred = common_dtype([*map(type_of, arguments), type_of(0)]) == dtype
    keywords = {} if inferred else {"dtype": dtype_tree(dtype)}
    return call("np.arange", *map(to.tree, arguments), **keywords)


@form("array")
def array(statement: Assign, to: Expressions) -> Tree:
    items, dtype = statement.operands[0], statement.targets[0].type.dtype
    leaves = list(scalars(items))
    # A given dtype is dropped where NumPy finds the same one.
    bare = all(isinstance(leaf, Variable) or untyped_leaf(leaf, dtype) for leaf in leaves)
    found = common_dtype(type_of(l.item() if bare and isinstance(l, np.generic) else l) for l in leaves) \
        if leaves else np.dtype(float)
    keywords = {} if found == dtype else {"dtype": dtype_tree(dtype)}
    return call("np.array", to.tree(listed(items), True), **keywords)


def untyped_leaf(leaf: Any, dtype: np.dtype) -> bool:
    return not isinstance(leaf, np.generic) or leaf.dtype.kind == dtype.kind


def scalars(items: Operand):
    if isinstance(items, (tuple, list)):
        for item in items:
            yield from scalars(item)
    else:
        yield items


def listed(items: Operand) -> Operand:
    return [listed(item) for item in items] if isinstance(items, (tuple, list)) else items


@form("constant")
def constant_array(statement: Assign, to: Expressions) -> Tree:
    value = statement.static.get("value", statement.operands[0] if statement.operands else None)
    return constant(value)


@form("concatenate")
def concatenate(statement: Assign, to: Expressions) -> Tree:
    axis, parts = statement.static.get("axis", 0), statement.operands[0]
    keywords = {"axis": constant(axis)} if axis else {}
    layers = [layer(part, axis, to) for part in parts]
    if all(one is not None for one in layers):
        return call("np.stack", to.tree(tuple(layers)), **keywords)
    return call("np.concatenate", to.tree(parts), **keywords)


def layer(part: Operand, axis: int, to: Expressions) -> Operand | None:
    """What a part of a concatenation is, but for an axis of size 1 that it was given to be stacked."""
    made = to.inlined.get(part) if isinstance(part, Variable) else None
    if made is None or made.primitive.name != "reshape" or type_of(made.operands[0]) is None:
        return None
    before, shape = type_of(made.operands[0]).shape, list(part.type.shape)
    alone = len(shape) == len(before) + 1 and shape.pop(axis) == 1
    return made.operands[0] if alone and tuple(shape) == tuple(before) else None


@form("copy")
def copy(statement: Assign, to: Expressions) -> Tree:
    x = statement.operands[0]
    if isinstance(x, Variable) and (isinstance(x.type, StackType) or x.type.ndim):
        return method(to.tree(x), "copy")
    return subscript(call("np.array", to.tree(x)), tuple_tree(()))


@form("count_nonzero")
def count_nonzero(statement: Assign, to: Expressions) -> Tree:
    return call("int", call("np.count_nonzero", to.tree(statement.operands[0])))


@form("nonzero")
def nonzero(statement: Assign, to: Expressions) -> Tree:
    tree = call("np.nonzero", to.tree(statement.operands[0]))
    return tree if len(statement.targets) > 1 else subscript(tree, constant(0))


@form("einsum")
def einsum(statement: Assign, to: Expressions) -> Tree:
    keywords = {"optimize": constant(True)} if len(statement.operands) > 2 else {}
    subscripts = constant(statement.static["subscripts"])
    return call("np.einsum", subscripts, *map(to.tree, statement.operands), **keywords)


@form("svd")
def svd(statement: Assign, to: Expressions) -> Tree:
    full_matrices = statement.static.get("full_matrices", False)
    keywords = {} if full_matrices else {"full_matrices": constant(False)}
    return call("np.linalg.svd", to.tree(statement.operands[0]), **keywords)


@form("real", "imag")
def component(statement: Assign, to: Expressions) -> Tree:
    tree = attribute(to.tree(statement.operands[0]), statement.primitive.name)
    return to.weak(statement, tree, python=True)


@form("conjugate")
def conjugate(statement: Assign, to: Expressions) -> Tree:
    x = statement.operands[0]
    # np.conj of a bool is an int8; the method's is a bool.
    if type_of(x).dtype.kind == "b" and not weak_operand(x):
        return method(to.tree(x), "conjugate")
    return to.weak(statement, call("np.conj", *to.operands(statement)))


@form("row")
def row(statement: Assign, to: Expressions) -> Tree:
    array, start, size, shape = statement.operands
    first, count = to.tree(start, True), to.tree(size, True)
    known = isinstance(start, int) and isinstance(size, int)
    end = constant(start + size) if known else count if is_int(start, 0) else infix("+", first, count)
    part = subscript(to.tree(array), gast.Slice(None if is_int(start, 0) else first, end, None))
    return part if len(shape) == 1 else method(part, "reshape", to.tree(shape, True))


@form("stack")
def stack(statement: Assign, to: Expressions) -> Tree:
    return list_tree(())


