"""Small syntax trees: names, calls, constants, as NumPy source has them.

>>> from .unparse import unparse
>>> unparse(call("np.sum", name("x"), axis=constant(0)))
'np.sum(x, axis=0)\\n'
>>> unparse(dtype_tree(np.dtype("float32"))), unparse(constant(np.float32(0.1)))
('np.float32\\n', 'np.float32(0.1)\\n')
"""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

OPERATORS = {"+": gast.Add, "-": gast.Sub, "*": gast.Mult, "/": gast.Div, "//": gast.FloorDiv, "%": gast.Mod}
OPERATORS |= {"**": gast.Pow, "@": gast.MatMult, "<<": gast.LShift, ">>": gast.RShift, "&": gast.BitAnd}
OPERATORS |= {"|": gast.BitOr, "^": gast.BitXor}
COMPARISONS = {"<": gast.Lt, "<=": gast.LtE, ">": gast.Gt, ">=": gast.GtE, "==": gast.Eq, "!=": gast.NotEq}
UNARY = {"unary -": gast.USub, "unary +": gast.UAdd, "~": gast.Invert, "not": gast.Not}
LITERAL = 64


def name(text: str) -> Any:
    """A name, or several with dots between."""
    first, *rest = text.split(".")
    tree = gast.Name(first, gast.Load(), None, None)
    for part in rest:
        tree = gast.Attribute(tree, part, gast.Load())
    return tree


def stored(text: str) -> Any:
    """A name that is assigned."""
    return gast.Name(text, gast.Store(), None, None)


def attribute(tree: Any, *names: str) -> Any:
    for part in names:
        tree = gast.Attribute(tree, part, gast.Load())
    return tree


def call(function: Any, *arguments: Any, **keywords: Any) -> Any:
    function = name(function) if isinstance(function, str) else function
    return gast.Call(function, list(arguments), [gast.keyword(k, v) for k, v in keywords.items()])


def method(tree: Any, method_name: str, *arguments: Any, **keywords: Any) -> Any:
    return call(attribute(tree, method_name), *arguments, **keywords)


def tuple_tree(items: Any) -> Any:
    return gast.Tuple(list(items), gast.Load())


def list_tree(items: Any) -> Any:
    return gast.List(list(items), gast.Load())


def subscript(tree: Any, index: Any, context: Any = None) -> Any:
    return gast.Subscript(tree, index, context or gast.Load())


def unary(operator: str, tree: Any) -> Any:
    return gast.UnaryOp(UNARY[operator](), tree)


def infix(operator: str, left: Any, right: Any) -> Any:
    """An arithmetic operation or a comparison."""
    if operator in COMPARISONS:
        return gast.Compare(left, [COMPARISONS[operator]()], [right])
    return gast.BinOp(left, OPERATORS[operator](), right)


def assign(target: Any, value: Any) -> Any:
    return gast.Assign([target], value, None)


def statement(expression: Any) -> Any:
    return gast.Expr(expression)


def raised(exception: str, message: Any) -> Any:
    return gast.Raise(call(exception, message), None)


NAMED = {np.pi: "np.pi", np.e: "np.e"}


def constant(value: Any) -> Any:
    """A literal: a Python constant, a NumPy scalar with its type, an array, a dtype, a container of these."""
    if isinstance(value, np.ndarray):
        return array_tree(value)
    if isinstance(value, np.generic):
        return scalar_tree(value)
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return dtype_tree(value)
    if isinstance(value, type):
        return name(value.__name__)
    if isinstance(value, tuple):
        return tuple_tree(map(constant, value))
    if isinstance(value, list):
        return list_tree(map(constant, value))
    if isinstance(value, (float, complex)) and not np.isfinite(value):
        return not_finite(value)
    if isinstance(value, float) and abs(value) in NAMED:
        return unary("unary -", name(NAMED[-value])) if value < 0 else name(NAMED[value])
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, type(...))):
        return gast.Constant(value, None)
    raise TypeError(f"{type(value).__name__} cannot be printed as a literal: {value!r}")


def not_finite(value: complex) -> Any:
    if isinstance(value, complex):
        return call("complex", constant(value.real), constant(value.imag))
    if np.isnan(value):
        return name("np.nan")
    return name("np.inf") if value > 0 else unary("unary -", name("np.inf"))


def plain(value: Any) -> Any:
    """The literal without its NumPy type."""
    return constant(value.item() if isinstance(value, np.generic) else value)


def scalar_tree(value: np.generic) -> Any:
    if value.dtype.kind in "f" and value.dtype.itemsize < 8:
        return call(dtype_name(value.dtype), constant(float(str(value))))
    if value.dtype.kind not in "biufc" or value.dtype.itemsize > 16 or value.dtype.char in "gG":
        raise TypeError(f"a constant of {value.dtype} cannot be printed as a literal")
    return call(dtype_name(value.dtype), constant(value.item()))


def dtype_name(dtype: Any) -> str:
    dtype = np.dtype(dtype)
    return "np.bool_" if dtype.kind == "b" else f"np.{dtype.name}"


def dtype_tree(dtype: Any) -> Any:
    return name("bool" if np.dtype(dtype).kind == "b" else dtype_name(dtype))


def array_tree(value: np.ndarray) -> Any:
    """An array written out; a big one as its bytes."""
    if value.size > LITERAL:
        data = call("bytes.fromhex", constant(np.ascontiguousarray(value).tobytes().hex()))
        flat = call("np.frombuffer", data, dtype=dtype_tree(value.dtype))
        return call("np.array", flat if value.ndim == 1 else call("np.reshape", flat, constant(value.shape)))
    if value.size == 0:
        return call("np.zeros", constant(value.shape), dtype=dtype_tree(value.dtype))
    items = constant(exact(value).tolist())
    inferred = np.array(exact(value).tolist()).dtype == value.dtype
    return call("np.array", items) if inferred else call("np.array", items, dtype=dtype_tree(value.dtype))


def exact(value: np.ndarray) -> np.ndarray:
    """Half and single precision as the shortest decimals that read back the same."""
    if value.dtype.kind == "f" and value.dtype.itemsize < 8:
        return np.vectorize(lambda item: float(str(item)), otypes=[float])(value)
    return value
