"""How the primitives that are statements read: writes in place, stacks, checks."""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from typing import Any

import gast

from .core import ArrayType, Assign, Operand, Variable, type_of
from .expressions import Expressions
from .forms import basic
from .trees import (
    OPERATORS,
    assign,
    attribute,
    call,
    constant,
    infix,
    method,
    name,
    raised,
    statement,
    stored,
    subscript,
    tuple_tree,
    unary,
)

Tree = Any
STATEMENTS: dict[str, Callable[[Assign, Expressions, str], list[Tree]]] = {}
OPPOSITE = {gast.Eq: gast.NotEq, gast.NotEq: gast.Eq, gast.Is: gast.IsNot, gast.IsNot: gast.Is}
OPPOSITE_OF_INTS = {gast.Lt: gast.GtE, gast.GtE: gast.Lt, gast.Gt: gast.LtE, gast.LtE: gast.Gt}
MIRROR = {gast.Lt: gast.Gt, gast.Gt: gast.Lt, gast.LtE: gast.GtE, gast.GtE: gast.LtE}
ORDERINGS = ("less", "less_equal", "greater", "greater_equal")
COMMUTATIVE = frozenset({"add", "multiply", "bitwise_and", "bitwise_or", "bitwise_xor"})


def written(*names: str) -> Callable:
    """Enter what a primitive prints as: function(statement, expressions, name of its target)."""

    def enter(function):
        STATEMENTS.update(dict.fromkeys(names, function))
        return function

    return enter


def negated(test: Tree, opposite: dict[type, type] = OPPOSITE) -> Tree:
    """The tree of `not test`, without a `not` where there is a plainer way."""
    if isinstance(test, gast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in opposite:
        return gast.Compare(test.left, [opposite[type(test.ops[0])]()], test.comparators)
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return test.operand
    return unary("not", test)


def refusal(operand: Operand, to: Expressions) -> Tree:
    """The tree of `not operand`, which is a comparison where the operand compares integers."""
    made = to.inlined.get(operand) if isinstance(operand, Variable) else None
    if made is None or made.primitive.name not in ORDERINGS or not all(map(is_whole, made.operands)):
        return negated(to.tree(operand, True))
    tree = negated(to.tree(operand, True), OPPOSITE_OF_INTS)
    if isinstance(made.operands[0], Variable) or not isinstance(tree, gast.Compare):
        return tree
    return gast.Compare(tree.comparators[0], [MIRROR[type(tree.ops[0])]()], [tree.left])


def is_whole(operand: Operand) -> bool:
    """Whether an operand is an integer: of these, one comparison holds where its opposite does not."""
    return isinstance(type_of(operand), ArrayType) and type_of(operand).dtype.kind in "iu"


def item(target: str, index: tuple, to: Expressions) -> Tree:
    return subscript(name(target), to.index(index) if index else tuple_tree(()), gast.Store())


@written("setitem")
def setitem(made: Assign, to: Expressions, target: str) -> list[Tree]:
    _, index, value = made.operands
    operation = augmented(made, to)
    if operation is not None:
        operator, change = operation
        return [gast.AugAssign(item(target, index, to), OPERATORS[operator](), to.tree(change, True))]
    return [assign(item(target, index, to), to.tree(value, True))]


def augmented(made: Assign, to: Expressions) -> tuple[str, Operand] | None:
    """The operator and the operand where setitem(x, i, getitem(x, i) + v) is `x[i] += v`."""
    base, index, value = made.operands
    operation = to.inlined.get(value) if isinstance(value, Variable) else None
    if operation is None or operation.primitive.printed not in OPERATORS or operation.static:
        return None
    if not operation.primitive.elementwise or value.type.dtype != base.type.dtype:
        return None
    swaps = (False, True) if operation.primitive.name in COMMUTATIVE else (False,)
    for swap in swaps:
        part, change = reversed(operation.operands) if swap else operation.operands
        reading = to.inlined.get(part) if isinstance(part, Variable) else None
        if reading is None or reading.primitive.name != "getitem":
            continue
        there = reading.operands[0] is base and same(reading.operands[1], index)
        if there and same(part.type.shape, value.type.shape):
            return operation.primitive.printed, change
    return None


def same(a: Operand, b: Operand) -> bool:
    """Whether two operands read the same."""
    if isinstance(a, (tuple, list)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, slice):
        return isinstance(b, slice) and same((a.start, a.stop, a.step), (b.start, b.stop, b.step))
    if isinstance(a, Variable) or isinstance(b, Variable):
        return a is b
    return type(a) is type(b) and not hasattr(a, "shape") and a == b


@written("index_add")
def index_add(made: Assign, to: Expressions, target: str) -> list[Tree]:
    _, index, value = made.operands
    if basic(index) or made.static.get("unique"):
        change = to.inlined.get(value) if isinstance(value, Variable) else None
        if change is not None and change.primitive.name == "negative":
            return [gast.AugAssign(item(target, index, to), gast.Sub(), to.tree(change.operands[0], True))]
        return [gast.AugAssign(item(target, index, to), gast.Add(), to.tree(value, True))]
    places = to.index(index)
    if any(isinstance(part, slice) for part in index):
        places = subscript(name("np.s_"), places)
    return [statement(call("np.add.at", name(target), places, to.tree(value, True)))]


@written("matmul_into")
def matmul_into(made: Assign, to: Expressions, target: str) -> list[Tree]:
    _, index, a, b = made.operands
    whole = all(entry == slice(None) for entry in index if isinstance(entry, slice)) and all(
        isinstance(entry, slice) for entry in index
    )
    into = name(target) if whole else subscript(name(target), to.index(index))
    return [statement(call("np.dot", to.tree(a), to.tree(b), out=into))]


@written("push")
def push(made: Assign, to: Expressions, target: str) -> list[Tree]:
    return [statement(method(name(target), "append", to.tree(made.operands[1])))]


@written("pop")
def pop(made: Assign, to: Expressions, target: str) -> list[Tree]:
    value = made.targets[1]
    popped = method(name(target), "pop")
    return [assign(stored(to.names[value]), popped) if value in to.names else statement(popped)]


@written("check_same")
def check_same(made: Assign, to: Expressions, target: str) -> list[Tree]:
    a, b = (to.tree(operand, True) for operand in made.operands)
    sizes = {"{0}": a, "{1}": b}
    parts = [sizes.get(part, part.replace("{{", "{").replace("}}", "}"))
             for part in re.split(r"(\{[01]\})", made.static.get("message", "sizes differ")) if part]
    message = constant(parts[0]) if len(parts) == 1 and isinstance(parts[0], str) else formatted(*parts)
    return [gast.If(infix("!=", a, b), [raised("ValueError", message)], [])]


@written("check_index")
def check_index(made: Assign, to: Expressions, target: str) -> list[Tree]:
    index, size = made.operands
    position, length = to.tree(index, True), to.tree(size, True)
    lowest = unary("unary -", length) if isinstance(size, Variable) else constant(-size)
    where = f" is out of bounds for axis {made.static.get('axis', 0)} with size "
    if type_of(index).shape:
        inside = call("np.all", infix("&", infix("<=", lowest, position), infix("<", position, length)))
        outside = infix("|", infix("<", position, lowest), infix("<=", length, position))
        message = formatted("index ", subscript(subscript(position, outside), constant(0)), where, length)
        return [gast.If(unary("not", inside), [raised("IndexError", message)], [])]
    inside = gast.Compare(lowest, [gast.LtE(), gast.Lt()], [position, length])
    message = formatted("index ", position, where, length)
    return [gast.If(unary("not", inside), [raised("IndexError", message)], [])]


def formatted(*parts: Any) -> Tree:
    """An f-string of texts and trees."""
    hole = lambda tree: gast.FormattedValue(tree, -1, None)
    return gast.JoinedStr([constant(part) if isinstance(part, str) else hole(part) for part in parts])


@written("check")
def check(made: Assign, to: Expressions, target: str) -> list[Tree]:
    values = [to.tree(operand, True) for operand in made.operands[1:]]
    message = made.static.get("message", "")
    text = filled(message, values) if values else constant(message)
    error = raised(made.static.get("exception", "ValueError"), text)
    return [error] if made.operands[0] is False else [gast.If(refusal(made.operands[0], to), [error], [])]


def filled(template: str, values: list[Tree]) -> Tree:
    """The f-string that is `template.format(*values)`."""
    parts: list[Tree] = []
    waiting = iter(values)
    for literal, field, form, conversion in string.Formatter().parse(template):
        parts += [constant(literal)] * bool(literal)
        if field is not None:
            how = gast.JoinedStr([constant(form)]) if form else None
            parts.append(gast.FormattedValue(next(waiting), ord(conversion) if conversion else -1, how))
    return gast.JoinedStr(parts)


@written("print")
def print_statement(made: Assign, to: Expressions, target: str) -> list[Tree]:
    defaults = {"sep": " ", "end": "\n", "template": None}
    keywords = {k: constant(v) for k, v in made.static.items() if k != "template" and defaults.get(k) != v}
    shown, template = list(map(to.tree, made.operands)), made.static.get("template")
    if template is not None:
        shown = [call(attribute(constant(template), "format"), *shown)]
    return [statement(call("print", *shown, **keywords))]


@written("callback")
def callback(made: Assign, to: Expressions, target: str) -> list[Tree]:
    function = subscript(name("CALLBACKS"), constant(made.static["function"]))
    return [statement(call(function, *map(to.tree, made.operands)))]


@written("use_key")
def use_key(made: Assign, to: Expressions, target: str) -> list[Tree]:
    return []


def copied(base: Operand, target: str, to: Expressions) -> Tree:
    """A copy of what an operation in place would overwrite, under the name of its result."""
    if isinstance(base, Variable):
        return assign(stored(target), method(to.tree(base), "copy"))
    return assign(stored(target), call("np.array", to.tree(base)))


