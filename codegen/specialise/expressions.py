"""Evaluating expressions: one function a kind of expression."""
from __future__ import annotations

import builtins
import operator
from typing import Any

import gast
import numpy as np

from ..core import FLOAT, INT, Variable
from ..registry import PRIMITIVES, lookup
from .attributes import get_attribute
from .control import branch, truth
from .indexing import get_item
from .iteration import elements
from .machine import Specialiser
from .scope import inner_scope
from .store import Frame, Location
from .values import UNDEFINED, Array, Closure, Conflict, Maybe, Text, has_dynamic, is_dynamic


def evaluate(s: Specialiser, node: Any, frame: Frame) -> Any:
    """The value of an expression."""
    handler = EXPRESSIONS.get(type(node))
    if handler is None:
        names = {"Await": "await", "Yield": "yield", "YieldFrom": "yield from"}
        kind = type(node).__name__
        raise s.unsupported(f"{names.get(kind, kind)} is not supported", "return the values instead", node)
    with s.at(node):
        return handler(s, node, frame)


def constant(s: Specialiser, node: Any, frame: Frame) -> Any:
    return node.value


def name(s: Specialiser, node: Any, frame: Frame) -> Any:
    return load_name(s, node.id, frame, node)


def load_name(s: Specialiser, wanted: str, frame: Frame, node: Any) -> Any:
    """The value of a name: a local of this function or an enclosing one, a global, a builtin."""
    holder: Frame | None = frame
    while holder is not None:
        if wanted in holder.names:
            value = holder.names[wanted]
            if isinstance(value, (Maybe, Conflict)):
                value = s.defined(value, wanted, node)
                s.store.write(Location("name", holder, wanted), value)
            if isinstance(value, Array) and value.cell.stale:
                raise s.unsupported(f"'{wanted}' is read after {value.cell.stale}", "copy the array first", node)
            return value
        if wanted in holder.scope.locals:
            if wanted in holder.scope.generated:
                return None
            kind = UnboundLocalError if holder is frame else NameError
            raise kind(f"cannot access local variable '{wanted}' where it is not associated with a value\n"
                       f"{s.location(node)}")
        if holder.parent is None:
            break
        holder = holder.parent
    return outside_name(s, wanted, holder or frame, node)


def outside_name(s: Specialiser, wanted: str, frame: Frame, node: Any) -> Any:
    """A name that is not local: a closure variable of the user's function, a global or a builtin."""
    closure = getattr(frame, "closure", None) or {}
    module = frame.scope.module
    if wanted in closure:
        cell = closure[wanted]
        return s.outside(lambda: cell.cell_contents, wanted, frame.scope.quiet)
    if wanted in module:
        return s.outside(lambda: module[wanted], wanted, frame.scope.quiet)
    found = getattr(builtins, wanted, UNDEFINED)
    if found is UNDEFINED:
        raise NameError(f"name '{wanted}' is not defined\n{s.location(node)}")
    return found


# operators

OPERATORS = {
    gast.Add: (operator.add, "add"), gast.Sub: (operator.sub, "subtract"), gast.Mult: (operator.mul, "multiply"),
    gast.Div: (operator.truediv, "divide"), gast.FloorDiv: (operator.floordiv, "floor_divide"),
    gast.Mod: (operator.mod, "remainder"), gast.Pow: (operator.pow, "power"),
    gast.MatMult: (operator.matmul, "matmul"), gast.BitAnd: (operator.and_, "bitwise_and"),
    gast.BitOr: (operator.or_, "bitwise_or"), gast.BitXor: (operator.xor, "bitwise_xor"),
    gast.LShift: (operator.lshift, "left_shift"), gast.RShift: (operator.rshift, "right_shift"),
    gast.USub: (operator.neg, "negative"), gast.UAdd: (operator.pos, "positive"),
    gast.Invert: (operator.invert, "invert"),
    gast.Eq: (operator.eq, "equal"), gast.NotEq: (operator.ne, "not_equal"), gast.Lt: (operator.lt, "less"),
    gast.LtE: (operator.le, "less_equal"), gast.Gt: (operator.gt, "greater"),
    gast.GtE: (operator.ge, "greater_equal"),
}
SPECIAL_NAMES = {
    gast.Add: "add", gast.Sub: "sub", gast.Mult: "mul", gast.Div: "truediv", gast.FloorDiv: "floordiv",
    gast.Mod: "mod", gast.Pow: "pow", gast.MatMult: "matmul", gast.Eq: "eq", gast.NotEq: "ne", gast.Lt: "lt",
    gast.LtE: "le", gast.Gt: "gt", gast.GtE: "ge", gast.USub: "neg", gast.UAdd: "pos",
}


def binary_operation(s: Specialiser, node: Any, frame: Frame) -> Any:
    left, right = evaluate(s, node.left, frame), evaluate(s, node.right, frame)
    return binary(s, node.op, left, right, node)


def binary(s: Specialiser, kind: Any, left: Any, right: Any, node: Any) -> Any:
    """`left op right` on any two values."""
    native, primitive = OPERATORS[type(kind)]
    if is_dynamic(left) or is_dynamic(right) or isinstance(left, np.ndarray) or isinstance(right, np.ndarray):
        if s.number(left) and s.number(right):
            return s.emit(primitive, left, right)
        return mixed(s, kind, left, right, node)
    special = user_operator(s, kind, left, right, node)
    if special is not NotImplemented:
        return special
    if isinstance(left, (str, Text)) and isinstance(kind, (gast.Mod, gast.Add)) and has_dynamic((left, right)):
        return text_operation(s, kind, left, right)
    result = native(left, right)
    return s.store.new(result) if isinstance(result, list) else result


def mixed(s: Specialiser, kind: Any, left: Any, right: Any, node: Any) -> Any:
    """An operation on an array or number known at run time and something else."""
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)) is False and s.type(right).shape:
        return s.emit(OPERATORS[type(kind)][1], as_array(s, left), right)
    if isinstance(right, (list, tuple)) and is_dynamic(left) and s.type(left).shape:
        return s.emit(OPERATORS[type(kind)][1], left, as_array(s, right))
    if isinstance(kind, gast.Mult) and isinstance(left, (list, tuple)) or isinstance(right, (list, tuple, str)):
        count, items = (right, left) if isinstance(left, (list, tuple)) else (left, right)
        return items * s.static_int(count, "the number of repetitions", node)
    if isinstance(left, (str, Text)) or isinstance(right, (str, Text)):
        return text_operation(s, kind, left, right)
    special = user_operator(s, kind, left, right, node)
    if special is not NotImplemented:
        return special
    if isinstance(kind, (gast.Eq, gast.NotEq)):
        return isinstance(kind, gast.NotEq)
    raise TypeError(f"unsupported operand types: {shown(s, left)} and {shown(s, right)}\n{s.location(node)}")


def shown(s: Specialiser, value: Any) -> str:
    return f"array {s.type(value)}" if is_dynamic(value) else type(value).__name__


def as_array(s: Specialiser, value: Any) -> Any:
    from .calls import call

    return call(s, np.array, [value], {}, None)


def text_operation(s: Specialiser, kind: Any, left: Any, right: Any) -> Any:
    parts = []
    for value in (left, right):
        parts.extend(value.parts if isinstance(value, Text) else (value,))
    return Text(tuple(parts))


def user_operator(s: Specialiser, kind: Any, left: Any, right: Any, node: Any) -> Any:
    """An operator that a class of the user's defines in Python; NotImplemented if none does."""
    from .calls import call, python_method

    special = SPECIAL_NAMES.get(type(kind))
    if special is None:
        return NotImplemented
    for first, second, prefix in ((left, right, "__"), (right, left, "__r")):
        method = python_method(first, f"{prefix}{special}__")
        if method is not None:
            result = call(s, method, [first] if second is UNDEFINED else [first, second], {}, node)
            if result is not NotImplemented:
                return result
    return NotImplemented


def unary_operation(s: Specialiser, node: Any, frame: Frame) -> Any:
    value = evaluate(s, node.operand, frame)
    if isinstance(node.op, gast.Not):
        test = truth(s, value, node)
        return not test if isinstance(test, bool) else s.builder.emit(PRIMITIVES["logical_not"], test)
    native, primitive = OPERATORS[type(node.op)]
    if is_dynamic(value):
        return s.emit(primitive, value)
    special = user_operator(s, node.op, value, UNDEFINED, node)
    return native(value) if special is NotImplemented else special


def compare(s: Specialiser, node: Any, frame: Frame) -> Any:
    """A chain of comparisons: each operand is evaluated once, and only as far as needed."""
    left = evaluate(s, node.left, frame)
    return compare_rest(s, node, left, 0, frame)


def compare_rest(s: Specialiser, node: Any, left: Any, position: int, frame: Frame) -> Any:
    right = evaluate(s, node.comparators[position], frame)
    result = compare_two(s, node.ops[position], left, right, node)
    if position + 1 == len(node.ops):
        return result
    test = truth(s, result, node)
    rest = lambda: compare_rest(s, node, right, position + 1, frame)
    if isinstance(test, bool):
        return rest() if test else result
    return conjunction(s, test, rest, frame, node)


def conjunction(s: Specialiser, test: Any, rest: Any, frame: Frame, node: Any) -> Any:
    """`test and rest()` for conditions: the right side is evaluated only where it is needed."""
    return branch(s, test, lambda: truth(s, rest(), node), lambda: False, frame, None, node)


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
    outcomes = {gast.Eq: (least > right, False), gast.NotEq: (least > right, True), gast.Lt: (least >= right, False),
                gast.LtE: (least > right, False), gast.Gt: (least > right, True), gast.GtE: (least >= right, True)}
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
    if not has_dynamic(item) and isinstance(container, dict):
        return item in container
    if not has_dynamic((container, item)):
        return operator.contains(container, item)
    if isinstance(container, Array):
        from .calls import call

        return call(s, np.any, [s.emit("equal", container, item)], {}, node)
    result: Any = False
    for one in elements(s, container, node):
        same = one is item or truth(s, binary(s, gast.Eq(), one, item, node), node)
        if same is True:
            return True
        if same is not False:
            result = same if result is False else s.builder.emit(PRIMITIVES["logical_or"], result, same)
    return result


def boolean(s: Specialiser, node: Any, frame: Frame) -> Any:
    """and, or: the value of the operand that decides, evaluated only as far as needed."""
    return boolean_rest(s, node, 0, frame)


def boolean_rest(s: Specialiser, node: Any, position: int, frame: Frame) -> Any:
    value = evaluate(s, node.values[position], frame)
    if position + 1 == len(node.values):
        return value
    test = truth(s, value, node.values[position])
    rest = lambda: boolean_rest(s, node, position + 1, frame)
    conjunctive = isinstance(node.op, gast.And)
    if isinstance(test, bool):
        return rest() if test == conjunctive else value
    simple = simple_condition(s, node, position + 1, frame, value)
    if simple is not None:
        return s.builder.emit(PRIMITIVES["logical_and" if conjunctive else "logical_or"], test, simple)
    first, second = (rest, lambda: value) if conjunctive else (lambda: value, rest)
    return branch(s, test, first, second, frame, None, node)


def simple_condition(s: Specialiser, node: Any, position: int, frame: Frame, value: Any) -> Any:
    """The rest of a boolean operation where it is a condition that costs nothing and cannot fail, else None."""
    if not boolean_type(s, value) or not all(map(harmless, node.values[position:])):
        return None
    rest = boolean_rest(s, node, position, frame)
    return s.operand(rest) if boolean_type(s, rest) else None


def boolean_type(s: Specialiser, value: Any) -> bool:
    return isinstance(value, bool) or is_dynamic(value) and s.type(value).dtype.kind == "b" and not s.type(value).shape


def harmless(node: Any) -> bool:
    """Whether evaluating an expression early can neither fail nor cost much: names, numbers, comparisons."""
    fine = (gast.Name, gast.Constant, gast.Compare, gast.BoolOp, gast.UnaryOp, gast.Load, gast.cmpop, gast.boolop,
            gast.unaryop, gast.Add, gast.Sub, gast.Mult, gast.BinOp)
    return all(isinstance(child, fine) for child in gast.walk(node))


def conditional(s: Specialiser, node: Any, frame: Frame) -> Any:
    test = truth(s, evaluate(s, node.test, frame), node.test)
    first, second = (lambda: evaluate(s, node.body, frame)), (lambda: evaluate(s, node.orelse, frame))
    if isinstance(test, bool):
        return first() if test else second()
    return branch(s, test, first, second, frame, None, node)


# containers


def sequence(s: Specialiser, nodes: list[Any], frame: Frame) -> list[Any]:
    items: list[Any] = []
    for node in nodes:
        if isinstance(node, gast.Starred):
            items.extend(elements(s, evaluate(s, node.value, frame), node))
        else:
            items.append(evaluate(s, node, frame))
    return items


def tuple_display(s: Specialiser, node: Any, frame: Frame) -> Any:
    return tuple(sequence(s, node.elts, frame))


def list_display(s: Specialiser, node: Any, frame: Frame) -> Any:
    return s.store.new(sequence(s, node.elts, frame))


def set_display(s: Specialiser, node: Any, frame: Frame) -> Any:
    return s.store.new(set(s.hashable(item, node) for item in sequence(s, node.elts, frame)))


def dict_display(s: Specialiser, node: Any, frame: Frame) -> Any:
    made: dict[Any, Any] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            made.update(evaluate(s, value, frame))
        else:
            known = s.hashable(evaluate(s, key, frame), key)
            made[known] = evaluate(s, value, frame)
    return s.store.new(made)


def subscript(s: Specialiser, node: Any, frame: Frame) -> Any:
    container = evaluate(s, node.value, frame)
    return get_item(s, container, evaluate(s, node.slice, frame), node)


def slice_display(s: Specialiser, node: Any, frame: Frame) -> Any:
    part = lambda n: None if n is None else evaluate(s, n, frame)
    return slice(part(node.lower), part(node.upper), part(node.step))


def attribute(s: Specialiser, node: Any, frame: Frame) -> Any:
    return get_attribute(s, evaluate(s, node.value, frame), node.attr, node)


def named(s: Specialiser, node: Any, frame: Frame) -> Any:
    from .statements import assign

    value = evaluate(s, node.value, frame)
    holder = frame
    while getattr(holder, "comprehension", False):
        holder = holder.parent
    assign(s, node.target, value, holder)
    return value


def lambda_expression(s: Specialiser, node: Any, frame: Frame) -> Any:
    from .statements import make_closure

    return make_closure(s, node, frame)


def joined_string(s: Specialiser, node: Any, frame: Frame) -> Any:
    parts: list[Any] = []
    for value in node.values:
        if isinstance(value, gast.Constant):
            parts.append(value.value)
            continue
        item = evaluate(s, value.value, frame)
        form = evaluate(s, value.format_spec, frame) if value.format_spec is not None else ""
        if has_dynamic(item):
            parts.append(item)
        else:
            converted = {-1: lambda v: v, 115: str, 114: repr, 97: ascii}[value.conversion](item)
            parts.append(format(converted, form))
    if has_dynamic(parts):
        return Text(tuple(parts))
    return "".join(parts)


def text_of(s: Specialiser, value: Any, node: Any) -> Any:
    """A message for an exception: a string, or a tuple of strings and operands."""
    if isinstance(value, Text):
        return "".join(part if isinstance(part, str) else "?" for part in value.parts)
    return value if isinstance(value, str) else str(value) if not has_dynamic(value) else "?"


# comprehensions


def comprehension(s: Specialiser, node: Any, frame: Frame) -> Any:
    """A list, set, dict or generator comprehension, worked out at once."""
    inner = Frame(inner_scope_of(node, frame), frame, s.store.depth)
    inner.comprehension = True
    items: list[Any] = []

    def produce() -> None:
        if isinstance(node, gast.DictComp):
            items.append((evaluate(s, node.key, inner), evaluate(s, node.value, inner)))
        else:
            items.append(evaluate(s, node.elt, inner))

    generate(s, node.generators, 0, inner, produce)
    if isinstance(node, gast.DictComp):
        return s.store.new({s.hashable(key, node): value for key, value in items})
    if isinstance(node, gast.SetComp):
        return s.store.new({s.hashable(item, node) for item in items})
    return s.store.new(items)


class ComprehensionScope:
    """The names of a comprehension: its targets are its own, all else is the function's."""

    def __init__(self, outer: Any, names: set[str]):
        self.locals = names
        self.generated = frozenset()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.live: dict = {}
        self.module = outer.module
        self.quiet = outer.quiet
        self.source = outer.source


def inner_scope_of(node: Any, frame: Frame) -> ComprehensionScope:
    names = {part.id for generator in node.generators for part in gast.walk(generator.target)
             if isinstance(part, gast.Name)}
    return ComprehensionScope(frame.scope, names)


def generate(s: Specialiser, generators: list[Any], position: int, frame: Frame, produce: Any) -> None:
    from .statements import assign

    if position == len(generators):
        produce()
        return
    generator = generators[position]
    outer = frame.parent if position == 0 else frame
    for item in elements(s, evaluate(s, generator.iter, outer), generator.iter):
        assign(s, generator.target, item, frame)
        if all(keeps(s, test, frame) for test in generator.ifs):
            generate(s, generators, position + 1, frame, produce)


def keeps(s: Specialiser, test: Any, frame: Frame) -> bool:
    kept = truth(s, evaluate(s, test, frame), test)
    if not isinstance(kept, bool):
        raise s.need_static(kept, "the condition of a comprehension", test)
    return kept


EXPRESSIONS = {
    gast.Constant: constant, gast.Name: name, gast.BinOp: binary_operation, gast.UnaryOp: unary_operation,
    gast.Compare: compare, gast.BoolOp: boolean, gast.IfExp: conditional, gast.Tuple: tuple_display,
    gast.List: list_display, gast.Set: set_display, gast.Dict: dict_display, gast.Subscript: subscript,
    gast.Slice: slice_display, gast.Attribute: attribute, gast.NamedExpr: named, gast.Lambda: lambda_expression,
    gast.JoinedStr: joined_string, gast.ListComp: comprehension, gast.SetComp: comprehension,
    gast.DictComp: comprehension, gast.GeneratorExp: comprehension,
}

__all__ = ["EXPRESSIONS", "FLOAT", "Closure", "Variable", "evaluate", "inner_scope", "load_name", "lookup"]
