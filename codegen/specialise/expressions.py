"""Evaluating expressions: one function a kind of expression."""
from __future__ import annotations

import builtins
from typing import Any

import gast

from ..registry import PRIMITIVES
from ..unparse import unparse
from .attributes import get_attribute
from .branches import branch
from .comprehensions import comprehension
from .control import truth
from .indexing import get_item
from .iteration import elements
from .machine import Specialiser
from .operators import OPERATORS, binary, compare_two, user_operator
from .places import Place, item_or_undefined
from .scope import inner_scope
from .store import Frame, Location
from .texts import joined_string
from .values import UNDEFINED, Array, Closure, Conflict, Maybe, is_dynamic


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
                raise s.unsupported(
                    f"'{wanted}' is read after {value.cell.stale}", "copy the array first", node
                )
            return value
        if wanted in holder.scope.locals:
            if wanted in holder.scope.generated:
                return None
            kind = UnboundLocalError if holder is frame else NameError
            text = f"cannot access local variable '{wanted}' where it is not associated with a value"
            raise s.located(kind(text), node)
        if holder.parent is None:
            break
        holder = holder.parent
    return outside_name(s, wanted, holder or frame, node)


def outside_name(s: Specialiser, wanted: str, frame: Frame, node: Any) -> Any:
    """A name that is not local: a closure variable of the user's function, a global or a builtin."""
    closure = getattr(frame, "closure", None) or {}
    module = frame.scope.module
    if wanted in closure:
        place = Place(closure[wanted]).attribute("cell_contents")
        return s.outside(place, wanted, not frame.scope.users)
    if wanted in module:
        return s.outside(Place(module).item(wanted), wanted, not frame.scope.users)
    found = getattr(builtins, wanted, UNDEFINED)
    if found is UNDEFINED:
        raise s.located(NameError(f"name '{wanted}' is not defined"), node)
    if not frame.scope.quiet:
        s.guard((module, wanted), Place(module).then(item_or_undefined, wanted), UNDEFINED)
    return found


def operand(s: Specialiser, node: Any, frame: Frame) -> Any:
    """The value that an operator is applied to: one value, whatever is decided at run time."""
    value = evaluate(s, node, frame)
    if isinstance(value, Conflict):
        raise s.conflict(value, unparse(node).strip(), node)
    return value


def binary_operation(s: Specialiser, node: Any, frame: Frame) -> Any:
    left, right = operand(s, node.left, frame), operand(s, node.right, frame)
    return binary(s, node.op, left, right, node)


def unary_operation(s: Specialiser, node: Any, frame: Frame) -> Any:
    value = operand(s, node.operand, frame)
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
    left = operand(s, node.left, frame)
    return compare_rest(s, node, left, 0, frame)


def compare_rest(s: Specialiser, node: Any, left: Any, position: int, frame: Frame) -> Any:
    right = operand(s, node.comparators[position], frame)
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
    """The rest of a boolean operation, if it is a condition that costs nothing and cannot fail."""
    if not boolean_type(s, value) or not all(map(harmless, node.values[position:])):
        return None
    rest = boolean_rest(s, node, position, frame)
    return s.operand(rest) if boolean_type(s, rest) else None


def boolean_type(s: Specialiser, value: Any) -> bool:
    return (
        isinstance(value, bool)
        or is_dynamic(value)
        and s.type(value).dtype.kind == "b"
        and not s.type(value).shape
    )


def harmless(node: Any) -> bool:
    """Whether evaluating an expression early can neither fail nor cost much: names, numbers, comparisons."""
    fine = (
        gast.Name,
        gast.Constant,
        gast.Compare,
        gast.BoolOp,
        gast.UnaryOp,
        gast.Load,
        gast.cmpop,
        gast.boolop,
        gast.unaryop,
        gast.Add,
        gast.Sub,
        gast.Mult,
        gast.BinOp,
    )
    return all(isinstance(child, fine) for child in gast.walk(node))


def conditional(s: Specialiser, node: Any, frame: Frame) -> Any:
    test = truth(s, evaluate(s, node.test, frame), node.test)
    first, second = (lambda: evaluate(s, node.body, frame)), (lambda: evaluate(s, node.orelse, frame))
    if isinstance(test, bool):
        return first() if test else second()
    return branch(s, test, first, second, frame, None, node)


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
    return s.store.new({s.hashable(item, node) for item in sequence(s, node.elts, frame)})


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
    value = evaluate(s, node.value, frame)
    holder = frame
    while getattr(holder, "comprehension", False):
        holder = holder.parent
    s.assign(node.target, value, holder)
    return value


def lambda_expression(s: Specialiser, node: Any, frame: Frame) -> Any:
    return make_closure(s, node, frame)


def make_closure(s: Specialiser, node: Any, frame: Frame) -> Closure:
    defaults = tuple(evaluate(s, d, frame) for d in node.args.defaults)
    keyword = {
        k.id: evaluate(s, d, frame)
        for k, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if d is not None
    }
    inner_scope(node, frame.scope)
    return Closure(node, frame, defaults, keyword, getattr(node, "name", "<lambda>"))


EXPRESSIONS = {
    gast.Constant: constant,
    gast.Name: name,
    gast.BinOp: binary_operation,
    gast.UnaryOp: unary_operation,
    gast.Compare: compare,
    gast.BoolOp: boolean,
    gast.IfExp: conditional,
    gast.Tuple: tuple_display,
    gast.List: list_display,
    gast.Set: set_display,
    gast.Dict: dict_display,
    gast.Subscript: subscript,
    gast.Slice: slice_display,
    gast.Attribute: attribute,
    gast.NamedExpr: named,
    gast.Lambda: lambda_expression,
    gast.JoinedStr: joined_string,
    gast.ListComp: comprehension,
    gast.SetComp: comprehension,
    gast.DictComp: comprehension,
    gast.GeneratorExp: comprehension,
}
