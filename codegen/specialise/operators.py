"""Operators and comparisons on any two values."""
from __future__ import annotations

import operator
from typing import Any

import gast
import numpy as np

from ..core import INT, Variable
from ..registry import PRIMITIVES
from .attributes import python_method
from .complaints import complaint
from .control import truth
from .growing import appended, as_rows, growing_of, refuse
from .iteration import elements
from .machine import Specialiser
from .texts import added, percent
from .values import UNDEFINED, Array, Text, has_dynamic, is_dynamic

# operators

OPERATORS = {
    gast.Add: (operator.add, "add"),
    gast.Sub: (operator.sub, "subtract"),
    gast.Mult: (operator.mul, "multiply"),
    gast.Div: (operator.truediv, "divide"),
    gast.FloorDiv: (operator.floordiv, "floor_divide"),
    gast.Mod: (operator.mod, "remainder"),
    gast.Pow: (operator.pow, "power"),
    gast.MatMult: (operator.matmul, "matmul"),
    gast.BitAnd: (operator.and_, "bitwise_and"),
    gast.BitOr: (operator.or_, "bitwise_or"),
    gast.BitXor: (operator.xor, "bitwise_xor"),
    gast.LShift: (operator.lshift, "left_shift"),
    gast.RShift: (operator.rshift, "right_shift"),
    gast.USub: (operator.neg, "negative"),
    gast.UAdd: (operator.pos, "positive"),
    gast.Invert: (operator.invert, "invert"),
    gast.Eq: (operator.eq, "equal"),
    gast.NotEq: (operator.ne, "not_equal"),
    gast.Lt: (operator.lt, "less"),
    gast.LtE: (operator.le, "less_equal"),
    gast.Gt: (operator.gt, "greater"),
    gast.GtE: (operator.ge, "greater_equal"),
}


SPECIAL_NAMES = {
    gast.Add: "add", gast.Sub: "sub", gast.Mult: "mul", gast.Div: "truediv", gast.FloorDiv: "floordiv",
    gast.Mod: "mod", gast.Pow: "pow", gast.MatMult: "matmul", gast.Eq: "eq", gast.NotEq: "ne", gast.Lt: "lt",
    gast.LtE: "le", gast.Gt: "gt", gast.GtE: "ge", gast.USub: "neg", gast.UAdd: "pos",
}


def binary(s: Specialiser, kind: Any, left: Any, right: Any, node: Any) -> Any:
    """`left op right` on any two values."""
    native, primitive = OPERATORS[type(kind)]
    if is_dynamic(left) or is_dynamic(right) or isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        if s.number(left) and s.number(right):
            return s.emit(primitive, numpys(s, left) if poles(s, primitive, right) else left, right)
        return mixed(s, kind, left, right, node)
    if growing_of(left) is not None or growing_of(right) is not None:
        return growing_operation(s, kind, left, right, node)
    special = user_operator(s, kind, left, right, node)
    if special is not NotImplemented:
        return special
    if isinstance(left, (str, Text)) and has_dynamic((left, right)) and not isinstance(kind, gast.cmpop):
        return text_operation(s, kind, left, right, node)
    if isinstance(kind, gast.cmpop) and isinstance(left, (tuple, list, dict)) and has_dynamic((left, right)):
        return compare_containers(s, kind, left, right, node)
    try:
        result = native(left, right)
    except (TypeError, ZeroDivisionError, OverflowError, ValueError) as error:
        raise s.located(error, node) from None
    return s.store.new(result) if isinstance(result, (list, dict, set)) else result


def poles(s: Specialiser, primitive: str, right: Any) -> bool:
    """Whether an operation that Python refuses for some numbers is to give what NumPy gives for them."""
    negative = is_dynamic(right) or isinstance(right, (int, float)) and right < 0
    return s.infinite and (primitive == "divide" or primitive == "power" and negative)


def numpys(s: Specialiser, value: Any) -> Any:
    """A Python scalar as the NumPy scalar that a ufunc makes of it."""
    if isinstance(value, Variable) and getattr(value.type, "weak", False):
        return s.emit("astype", value, dtype=value.type.dtype)
    return np.asarray(value)[()] if type(value) in (float, int, complex, bool) else value


def mixed(s: Specialiser, kind: Any, left: Any, right: Any, node: Any) -> Any:
    """An operation on an array or number known at run time and something else."""
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)) is False and s.type(right).shape:
        return s.emit(OPERATORS[type(kind)][1], as_array(s, left), right)
    if isinstance(right, (list, tuple)) and is_dynamic(left) and s.type(left).shape:
        return s.emit(OPERATORS[type(kind)][1], left, as_array(s, right))
    if isinstance(kind, gast.Mult) and isinstance(left if s.number(right) else right, (list, tuple, str)):
        count, items = (right, left) if isinstance(left, (list, tuple)) else (left, right)
        return items * s.static_int(count, "the number of repetitions", node)
    if isinstance(left, (str, Text)) and (isinstance(kind, gast.Mod) or isinstance(right, (str, Text))):
        return text_operation(s, kind, left, right, node)
    special = user_operator(s, kind, left, right, node)
    if special is not NotImplemented:
        return special
    if isinstance(kind, (gast.Eq, gast.NotEq)):
        return isinstance(kind, gast.NotEq)
    raise complaint(s, OPERATORS[type(kind)][0], [left, right], node)


def as_array(s: Specialiser, value: Any) -> Any:
    return s.call(np.array, [value], {}, None)


def growing_operation(s: Specialiser, kind: Any, left: Any, right: Any, node: Any) -> Any:
    """list + list, where the left one grows."""
    growing = growing_of(left)
    if growing is None or not isinstance(kind, gast.Add) or not isinstance(right, list):
        raise refuse(s, "this operation", node)
    for value in elements(s, right, node):
        growing = appended(s, growing, value, node)
    return s.store.new([growing])


def text_operation(s: Specialiser, kind: Any, left: Any, right: Any, node: Any) -> Any:
    if isinstance(kind, gast.Mod) and isinstance(left, str):
        return percent(s, left, right, node)
    if isinstance(kind, gast.Add):
        return added(s, left, right)
    raise s.unsupported("this operation on a text with parts known only at run time", "use an f-string", node)


def user_operator(s: Specialiser, kind: Any, left: Any, right: Any, node: Any) -> Any:
    """An operator that a class of the user's defines in Python; NotImplemented if none does."""
    special = SPECIAL_NAMES.get(type(kind))
    if special is None:
        return NotImplemented
    for first, second, prefix in ((left, right, "__"), (right, left, "__r")):
        method = python_method(first, f"{prefix}{special}__")
        if method is not None:
            result = s.call(method, [first] if second is UNDEFINED else [first, second], {}, node)
            if result is not NotImplemented:
                return result
    return NotImplemented


def compare_containers(s: Specialiser, kind: Any, left: Any, right: Any, node: Any) -> Any:
    """A comparison of tuples, lists or dictionaries of which items are known only at run time."""
    alike = any(isinstance(left, one) and isinstance(right, one) for one in (tuple, list, dict))
    if isinstance(kind, (gast.Eq, gast.NotEq)):
        same = alike and items_equal(s, left, right, node)
        if isinstance(kind, gast.Eq):
            return same
        return not same if isinstance(same, bool) else s.emit("logical_not", same)
    if not alike or isinstance(left, dict):
        raise s.located(TypeError(f"'{SYMBOLS[type(kind)]}' not supported between instances of "
                                  f"'{type(left).__name__}' and '{type(right).__name__}'"), node)
    strict = gast.Lt() if isinstance(kind, (gast.Lt, gast.LtE)) else gast.Gt()
    result: Any = OPERATORS[type(kind)][0](len(left), len(right))
    for one, other in reversed(list(zip(left, right, strict=False))):
        first = truth(s, compare_two(s, strict, one, other, node), node)
        same = one is other or truth(s, compare_two(s, gast.Eq(), one, other, node), node)
        result = either(s, first, both(s, same, result))
    return result


SYMBOLS = {gast.Lt: "<", gast.LtE: "<=", gast.Gt: ">", gast.GtE: ">="}


def items_equal(s: Specialiser, left: Any, right: Any, node: Any) -> Any:
    """Whether all items of two containers are the same or equal, as Python has it."""
    if len(left) != len(right) or isinstance(left, dict) and left.keys() != right.keys():
        return False
    pairs = (
        [(left[key], right[key]) for key in left] if isinstance(left, dict) else zip(left, right, strict=True)
    )
    result: Any = True
    for one, other in pairs:
        same = one is other or truth(s, compare_two(s, gast.Eq(), one, other, node), node)
        if same is False:
            return False
        result = both(s, result, same)
    return result


def both(s: Specialiser, a: Any, b: Any) -> Any:
    """`a and b` of two truth values, each known or not."""
    if isinstance(a, bool):
        return b if a else False
    return (a if b else False) if isinstance(b, bool) else s.emit("logical_and", a, b)


def either(s: Specialiser, a: Any, b: Any) -> Any:
    """`a or b` of two truth values, each known or not."""
    if isinstance(a, bool):
        return True if a else b
    return (True if b else a) if isinstance(b, bool) else s.emit("logical_or", a, b)


def compare_two(s: Specialiser, kind: Any, left: Any, right: Any, node: Any) -> Any:
    match kind:
        case gast.Is():
            return identical(s, left, right, node)
        case gast.IsNot():
            return not identical(s, left, right, node)
        case gast.In():
            return contains(s, right, left, node)
        case gast.NotIn():
            found = contains(s, right, left, node)
            return not found if isinstance(found, bool) else s.builder.emit(PRIMITIVES["logical_not"], found)
    decided = decide(s, kind, left, right)
    return binary(s, kind, left, right, node) if decided is None else decided


def operator_function(kind: type) -> Any:
    """The handler of a function of the operator module that takes two operands."""

    def run(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
        left, right = arguments
        return (compare_two if issubclass(kind, gast.cmpop) else binary)(s, kind(), left, right, node)

    return run


OPERATOR_FUNCTIONS = {native: operator_function(kind) for kind, (native, _) in OPERATORS.items()
                      if not issubclass(kind, gast.unaryop)}


def decide(s: Specialiser, kind: Any, left: Any, right: Any) -> bool | None:
    """The outcome of a comparison of sizes, where what is known of them settles it."""
    flipped = {gast.Lt: gast.Gt, gast.LtE: gast.GtE, gast.Gt: gast.Lt, gast.GtE: gast.LtE}
    if isinstance(left, int) and isinstance(right, Variable):
        return decide(s, flipped.get(type(kind), type(kind))(), right, left)
    if not isinstance(left, Variable) or left.type != INT:
        return None
    if isinstance(right, Variable) and right.type == INT and s.builder.same(left, right):
        return isinstance(kind, (gast.Eq, gast.LtE, gast.GtE))
    least = s.builder.lower_bound(left)
    if not isinstance(right, int) or least is None:
        return None
    outcomes = {
        gast.Eq: (least > right, False),
        gast.NotEq: (least > right, True),
        gast.Lt: (least >= right, False),
        gast.LtE: (least > right, False),
        gast.Gt: (least > right, True),
        gast.GtE: (least >= right, True),
    }
    settled, outcome = outcomes.get(type(kind), (False, None))
    return outcome if settled else None


def identical(s: Specialiser, left: Any, right: Any, node: Any) -> bool:
    if isinstance(left, Array) and isinstance(right, Array):
        return left is right
    if is_dynamic(left) or is_dynamic(right):
        if isinstance(left, bool) or isinstance(right, bool):
            raise s.unsupported("`is` with a value known only at run time", "write ==", node)
        return left is right
    return left is right


def contains(s: Specialiser, container: Any, item: Any, node: Any) -> Any:
    method = python_method(container, "__contains__")
    if method is not None:
        return truth(s, s.call(method, [container, item], {}, node), node)
    if not has_dynamic(item) and isinstance(container, dict):
        return item in container
    if not has_dynamic((container, item)):
        return operator.contains(container, item)
    if isinstance(container, Array):
        return s.call(np.any, [s.emit("equal", container, item)], {}, node)
    if growing_of(container) is not None:
        container = as_rows(s, container)
        return s.call(np.any, [s.emit("equal", container, item)], {}, node)
    result: Any = False
    for one in elements(s, container, node):
        same = one is item or truth(s, binary(s, gast.Eq(), one, item, node), node)
        if same is True:
            return True
        if same is not False:
            result = same if result is False else s.builder.emit(PRIMITIVES["logical_or"], result, same)
    return result
