"""Out of single assignment: a name for every variable, shared wherever a person would reuse the name.

Variables that are copies of each other (a loop's carried value, what it begins as and becomes; the results
of both branches) share one name unless they are wanted at the same time. What an operation in place writes
always has the name of what it overwrites.

>>> from .core import FLOAT
>>> from .inlining import reassemble
>>> from .primitives import elementwise as e
>>> x, y, z = (Variable(name, FLOAT) for name in "xyz")
>>> again, t = Variable("x", FLOAT), Variable(None, FLOAT)
>>> body = [Assign((again,), e.multiply, (x, 2.0)), Assign((t,), e.add, (again, x))]
>>> body += [Assign((y,), e.subtract, (t, t))]
>>> program = Program("f", (x,), Block(body, (y,)))
>>> names = name_variables(program, reassemble(program)).names
>>> names[x], names[again], names[t], names[y]
('x', 'x_2', 'total', 'y')
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterator
from dataclasses import dataclass

from .core import Assign, Block, For, If, Program, Statement, Variable, While, blocks_of, walk
from .helper_functions import is_helper
from .inlining import Plan
from .interference import Interference
from .registered import REGISTERED
from .wishes import wish_for

# Names that printed code uses for itself.
MODULES = frozenset({"np", "math", "scipy", "numba", "support", "elementary", "cores", "_"})
BUILTINS = frozenset({"abs", "bool", "bytes", "complex", "float", "int", "len", "max", "min"})
BUILTINS |= {"print", "range", "slice"}
ERRORS = frozenset(name for name in dir(builtins) if name.endswith("Error"))
RESERVED = MODULES | BUILTINS | ERRORS


@dataclass
class Naming:
    """A name for each variable that needs one; `wanted`, the targets of copies that are read."""

    names: dict[Variable, str]
    wanted: set[Variable]
    overwrites: set[Assign]


class Classes:
    """Groups of variables that share a name: a union-find that refuses what interferes."""

    def __init__(self, interference: Interference, parameters: tuple[Variable, ...]):
        self.conflicts = interference.conflicts
        self.parent: dict[Variable, Variable] = {}
        self.members: dict[Variable, list[Variable]] = {}
        self.fixed = {parameter: parameter.name for parameter in parameters}

    def find(self, variable: Variable) -> Variable:
        root = variable
        while root in self.parent:
            root = self.parent[root]
        while variable is not root:
            self.parent[variable], variable = root, self.parent[variable]
        return root

    def of(self, variable: Variable) -> list[Variable]:
        return self.members.setdefault(self.find(variable), [self.find(variable)])

    def wish(self, variable: Variable) -> str | None:
        """The name that a class wants: a parameter's, or else the first that a member was given."""
        members = self.of(variable)
        named = [m for m in members if m in self.fixed] + [m for m in members if (m.name or "").strip("_")]
        return named[0].name if named else None

    def interfere(self, a: Variable, b: Variable) -> bool:
        one, other = self.of(a), self.of(b)
        if len(one) > len(other):
            one, other = other, one
        members = set(other)
        return any(not members.isdisjoint(self.conflicts.get(variable, ())) for variable in one)

    def merge(self, a, b, whatever_names: bool = False) -> bool:
        """Give two variables one name, if nothing speaks against it."""
        if not isinstance(a, Variable) or not isinstance(b, Variable):
            return False
        a, b = self.find(a), self.find(b)
        if a is b:
            return True
        if self.interfere(a, b):
            return False
        wishes = {self.wish(a), self.wish(b)} - {None}
        if len(wishes) == 2 and not whatever_names:
            return False
        if sum(any(m in self.fixed for m in self.of(v)) for v in (a, b)) == 2:
            return False
        members = self.of(a) + self.of(b)
        self.parent[b] = a
        self.members[a] = members
        return True


def name_variables(program: Program, plan: Plan) -> Naming:
    """Decide the names of a program whose expressions are put together as `plan` says."""
    interference = Interference(program, plan)
    classes = Classes(interference, program.parameters)
    merge_in_place(program, plan, interference, classes)
    merge_copies(program, interference, plan, classes)
    names = choose(program, plan, interference, classes)
    return Naming(names, interference.wanted, interference.overwrites)


def merge_in_place(program: Program, plan: Plan, interference: Interference, classes: Classes) -> None:
    """An operation in place names its result as its operand."""
    for statement in walk(program.body):
        if isinstance(statement, Assign) and statement.primitive.destructive and statement not in plan.dead:
            if statement in interference.overwrites:
                continue
            if not classes.merge(statement.operands[0], statement.targets[0], whatever_names=True):
                interference.overwrites.add(statement)
                for variable in plan.reads(statement.operands):
                    interference.define(statement.targets[0], (variable,))


def merge_copies(program: Program, interference: Interference, plan: Plan, classes: Classes) -> None:
    """Give copies one name: what a loop does each time first, then results, then beginnings."""
    statements = list(walk(program.body))
    pairs: list[tuple] = []
    loops = [s for s in statements if isinstance(s, (For, While))]
    for statement in loops:
        pairs += zip(statement.carried, statement.body.results, strict=True)
    for statement in statements:
        if isinstance(statement, If):
            pairs += zip(statement.targets, statement.body.results, strict=True)
            pairs += zip(statement.targets, statement.orelse.results, strict=True)
    for statement in loops:
        pairs += zip(statement.targets, statement.carried, strict=True)
        pairs += zip(statement.carried, statement.initial, strict=True)
    # Names that agree come first, so that a temporary does not bring in another.
    agreeing = lambda pair: isinstance(pair[1], Variable) and pair[0].name == pair[1].name
    for target, source in sorted(pairs, key=lambda pair: not agreeing(pair)):
        if target in interference.wanted and not (isinstance(source, Variable) and source in plan.inlined):
            classes.merge(target, source)


def printed_variables(program: Program, plan: Plan) -> Iterator[Variable]:
    """Every variable that has a name in the text, in order."""
    yield from program.parameters
    yield from block_variables(program.body, plan)


def block_variables(block: Block, plan: Plan) -> Iterator[Variable]:
    for statement in block.statements:
        if statement in plan.dead:
            continue
        if isinstance(statement, (For, While)):
            yield from statement.carried
        if isinstance(statement, For) and plan.uses[statement.index]:
            yield statement.index
        for inner in blocks_of(statement):
            yield from block_variables(inner, plan)
        yield from kept_targets(statement, plan)


def kept_targets(statement: Statement, plan: Plan) -> Iterator[Variable]:
    for position, target in enumerate(statement.targets):
        written = isinstance(statement, Assign) and statement.primitive.destructive and position == 0
        if target not in plan.inlined and (plan.uses[target] or written):
            yield target


def choose(program: Program, plan: Plan, interference: Interference, classes: Classes) -> dict[Variable, str]:
    """A name for each class: parameters', then those wished for, then those that temporaries get."""
    order = list(dict.fromkeys(map(classes.find, printed_variables(program, plan))))
    names: dict[Variable, str] = {}
    helpers = {s.primitive.printed for s in walk(program.body)
               if isinstance(s, Assign) and is_helper(s.primitive)}

    def give(root: Variable, wish: str) -> None:
        members = classes.of(root)
        near = {classes.find(other) for member in members for other in interference.conflicts.get(member, ())}
        names[root] = unique(wish, helpers | {names[other] for other in near if other in names})

    for parameter in program.parameters:
        root = classes.find(parameter)
        names[root] = unique(parameter.name or "x", helpers | set(names.values()))
    for root in order:
        if root not in names and classes.wish(root):
            give(root, classes.wish(root))
    for root in order:
        if root not in names:
            give(root, wish_for(classes.of(root), plan, lambda v: names.get(classes.find(v))))
    everyone = ((variable, classes.find(variable)) for variable in all_variables(program))
    return {variable: names[root] for variable, root in everyone if root in names}


def all_variables(program: Program) -> Iterator[Variable]:
    yield from program.parameters
    for statement in walk(program.body):
        yield from statement.targets
        if isinstance(statement, (For, While)):
            yield from statement.carried
        if isinstance(statement, For):
            yield statement.index


def unique(wish: str, taken: set[str]) -> str:
    """The wish itself, or the first of wish_2, wish_3, ... that is a name and free."""
    wish = wish if wish.isidentifier() and not keyword.iskeyword(wish) else f"{wish}_"
    if not wish.isidentifier():
        wish = "x"
    candidate, number = wish, 2
    while candidate in taken or candidate in RESERVED or candidate in REGISTERED:
        candidate, number = f"{wish}_{number}", number + 1
    return candidate
