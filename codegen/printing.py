"""From a core program to the Python that a careful person would have written.

>>> from .core import ArrayType
>>> from .primitives import elementwise as e
>>> from .registry import PRIMITIVES
>>> import numpy as np
>>> n = Variable("n", ArrayType(np.dtype(int), (), True))
>>> x, w, p = (Variable(s, ArrayType(np.dtype(float), (n,))) for s in "xwp")
>>> t = [Variable(None, x.type) for _ in range(4)]
>>> body = [Assign((t[0],), e.multiply, (x, w)), Assign((t[1],), e.negative, (t[0],))]
>>> body += [Assign((t[2],), e.exp, (t[1],)), Assign((t[3],), e.add, (1, t[2]))]
>>> body += [Assign((p,), e.divide, (1, t[3]))]
>>> print(print_program(Program("logistic", (x, w), Block(body, (p,)))), end="")
import numpy as np
<BLANKLINE>
<BLANKLINE>
def logistic(x, w):
    p = 1 / (1 + np.exp(-(x * w)))
    return p

The text returns a tuple, unless the program has exactly one result. It is a module of its own, and imports
what it needs. A program whose writes in place are not settled yet prints with copies.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import gast

from .core import Assign, Block, For, If, Operand, Program, Statement, Variable, While, variables_in
from .expressions import Expressions
from .forms import is_int
from .helper_functions import helper_functions
from .inlining import Plan, reassemble
from .layout import WIDTH
from .naming import Naming, name_variables
from .registered import imports_of
from .statements import STATEMENTS, copied, refusal
from .trees import assign, call, constant, stored, tuple_tree
from .unparse import comment, unparse, unparse_with_locations

Tree = Any
Defaults = Mapping[Variable, Any]
NO_DEFAULTS: Defaults = MappingProxyType({})
# A line that is too long gives up an expression each time; this many times is enough for any.
ATTEMPTS = 20
STANDARD_LIBRARY = frozenset({"math"})


def print_program(program: Program, defaults: Defaults = NO_DEFAULTS) -> str:
    """A module with the program as a function; `defaults` of parameters that the caller need not give."""
    return print_with_locations(program, defaults)[0]


def print_with_locations(program: Program, defaults: Defaults = NO_DEFAULTS) -> tuple[str, dict[int, Any]]:
    """The text of the module, and for each of its lines the user's line that it serves."""
    return unparse_with_locations(to_module(to_tree(program, defaults)))


def to_module(function: Tree) -> Tree:
    """A module of one function, with the imports and the helper functions that it needs."""
    helpers = helper_functions(function)
    return gast.Module([*imports(gast.Module([*helpers, function], [])), *helpers, function], [])


def to_tree(program: Program, defaults: Defaults = NO_DEFAULTS) -> Tree:
    """The program as a gast.FunctionDef, with comments."""
    keep: set[Variable] = set()
    moved: set[Variable] = set()
    for _ in range(ATTEMPTS):
        plan = reassemble(program, keep, moved)
        printer = Printer(program, plan, name_variables(program, plan))
        tree = printer.function(defaults)
        if printer.keep <= keep and printer.moved <= moved:
            break
        keep |= printer.keep
        moved |= printer.moved
    return tree


def imports(function: Tree) -> list[Tree]:
    """The import statements for the modules that a tree mentions."""
    modules = set(mentioned(function))
    ordered = sorted(modules, key=lambda module: (module not in STANDARD_LIBRARY, module))
    made: list[Tree] = [
        gast.Import([gast.alias(module, "np" if module == "numpy" else None)]) for module in ordered
    ]
    if any(getattr(node, "id", None) == "CALLBACKS" for node in gast.walk(function)):
        made.append(callbacks_import())
    return made + imports_of(node.id for node in gast.walk(function) if isinstance(node, gast.Name))


def callbacks_import() -> Tree:
    """The import of the user's functions that a program calls for their effect."""
    return gast.ImportFrom("chainrule.codegen.primitives.callbacks", [gast.alias("CALLBACKS", None)], 0)


def mentioned(function: Tree) -> Iterator[str]:
    for node in gast.walk(function):
        if isinstance(node, gast.Name) and node.id in ("np", "math"):
            yield "numpy" if node.id == "np" else node.id
        if isinstance(node, gast.Attribute) and getattr(node.value, "id", None) == "scipy":
            yield f"scipy.{node.attr}"


class Printer:
    """Makes the statements of one program under given names, and notes what would read better inlined or not.

    `keep` are inlined temporaries whose line is too long, `moved` those that a copy could take instead.
    """

    def __init__(self, program: Program, plan: Plan, naming: Naming):
        self.program, self.plan, self.naming = program, plan, naming
        self.to = Expressions(naming.names, plan.inlined)
        self.keep: set[Variable] = set()
        self.moved: set[Variable] = set()
        self.depth = 0
        self.commented: tuple | None = None
        self.file: str | None = None

    def function(self, defaults: Defaults) -> Tree:
        ordered = sorted(self.program.parameters, key=lambda parameter: parameter in defaults)
        parameters = [gast.Name(self.to.names[p], gast.Param(), None, None) for p in ordered]
        given = [constant(defaults[p]) for p in ordered if p in defaults]
        body = self.block(self.program.body)
        self.depth = 1
        results = [self.to.tree(result) for result in self.program.results]
        value = results[0] if len(results) == 1 else tuple_tree(results)
        ending = gast.Return(value)
        self.add(body, [ending], None)
        ending.location = next(map(self.origin, variables_in(self.program.results)), None)
        arguments = gast.arguments(parameters, [], None, [], [], None, given)
        return gast.FunctionDef(self.program.name, arguments, body, [], None, None, [])

    def origin(self, variable: Variable) -> Any:
        """The user's line that an inlined expression serves."""
        made = self.plan.inlined.get(variable)
        return None if made is None else made.location

    # blocks

    def block(self, block: Block, targets: tuple = (), sources: tuple = (),
              location: Any = None) -> list[Tree]:
        """The statements of a block, one level deeper, and the copies `target = source` at its end."""
        self.depth += 1
        out: list[Tree] = []
        for statement in block.statements:
            self.statement(statement, out)
        self.add(out, self.copies(targets, sources), location)
        self.depth -= 1
        return out

    def statement(self, statement: Statement, out: list[Tree]) -> None:
        match statement:
            case Assign():
                self.add(out, self.assign(statement), statement.location)
            case If():
                self.branch(statement, out)
            case For():
                self.counted(statement, out)
            case While():
                self.loop(statement, out)

    def add(self, out: list[Tree], trees: list[Tree], location: Any) -> None:
        """Append statements, after a comment where the user's line changes."""
        if trees:
            self.remark(out, location)
        for tree in trees:
            if location is not None:
                tree.location = location
            if not isinstance(tree, (gast.For, gast.While, gast.If)):
                self.measure(tree, unparse(tree))
            elif isinstance(tree, gast.If) and isinstance(tree.body[0], gast.Raise):
                self.measure(tree.test, f"if {unparse(tree.test).strip()}:\n")
            out.append(tree)

    def remark(self, out: list[Tree], location: Any) -> None:
        if location is None or not location.text.strip():
            return
        place = (location.file, location.line)
        if place != self.commented:
            self.file = self.file or location.file
            where = "" if location.file == self.file else f"{os.path.basename(location.file)}, "
            out.append(comment(f"{where}line {location.line}: {location.text.strip()}"))
            self.commented = place

    def measure(self, tree: Tree, text: str) -> None:
        """Where a line is too long, note the inlined temporary that would cut it most nearly in two."""
        lines = text.rstrip("\n").split("\n")
        if len(lines) == 1 and 4 * self.depth + len(lines[0]) <= WIDTH:
            return
        inlined = {node.variable: len(unparse(node)) for node in gast.walk(tree) if hasattr(node, "variable")}
        if inlined:
            half = sum(len(line.strip()) for line in lines) / 2
            self.keep.add(min(inlined, key=lambda variable: abs(inlined[variable] - half)))

    # statements

    def assign(self, statement: Assign) -> list[Tree]:
        targets = statement.targets
        if statement in self.plan.dead or (len(targets) == 1 and targets[0] in self.plan.inlined):
            return []
        names = [self.to.names[t] if t in self.to.names and self.named(t) else "_" for t in targets]
        special = STATEMENTS.get(statement.primitive.name)
        if special is not None:
            target = self.to.names[targets[0]] if statement.primitive.destructive else ""
            before = []
            if statement in self.naming.overwrites:
                before = [copied(statement.operands[0], target, self.to)]
            return before + special(statement, self.to, target)
        value = self.to.expression(statement)
        if not targets:
            return [gast.Expr(value)]
        stores = [stored(text) for text in names]
        return [assign(stores[0] if len(stores) == 1 else gast.Tuple(stores, gast.Store()), value)]

    def named(self, variable: Variable) -> bool:
        return bool(self.plan.uses[variable])

    def branch(self, statement: If, out: list[Tree]) -> None:
        if statement.recompute:
            self.depth -= 1
            out += self.block(statement.body, statement.targets, statement.body.results, statement.location)
            self.depth += 1
            return
        test = self.to.tree(statement.test)
        header: list[Tree] = []
        self.remark(header, statement.location)
        self.measure(test, f"if {unparse(test).strip()}:")
        before = self.commented
        body = self.block(statement.body, statement.targets, statement.body.results, statement.location)
        middle, self.commented = self.commented, before
        orelse = self.block(statement.orelse, statement.targets, statement.orelse.results, statement.location)
        if middle != before:
            self.commented = None
        if not body and not orelse:
            return
        if not body:
            test, body, orelse = refusal(statement.test, self.to), orelse, []
        tree = gast.If(test, body, orelse)
        tree.location = statement.location
        out += [*header, tree]

    def counted(self, statement: For, out: list[Tree]) -> None:
        begin = self.copies(statement.carried, statement.initial)
        bounds = [statement.start, statement.stop, statement.step]
        if is_int(statement.step, 1):
            bounds.pop()
            if is_int(statement.start, 0):
                bounds.pop(0)
        iterator = call("range", *(self.to.tree(bound, True) for bound in bounds))
        index = self.to.names[statement.index] if self.named(statement.index) else "_"
        self.add(out, begin, statement.location)
        self.remark(out, statement.location)
        self.measure(iterator, f"for {index} in {unparse(iterator).strip()}:")
        body = self.block(statement.body, statement.carried, statement.body.results, statement.location)
        tree = gast.For(stored(index), iterator, body or [gast.Pass()], [], None)
        tree.location = statement.location
        out.append(tree)
        self.add(out, self.copies(statement.targets, statement.carried), statement.location)

    def loop(self, statement: While, out: list[Tree]) -> None:
        self.add(out, self.copies(statement.carried, statement.initial), statement.location)
        self.remark(out, statement.location)
        before = self.block(statement.test)
        test = self.to.tree(statement.test.results[0], True)
        self.measure(test, f"while {unparse(test).strip()}:")
        body = self.block(statement.body, statement.carried, statement.body.results, statement.location)
        if before:
            leave = gast.If(refusal(statement.test.results[0], self.to), [gast.Break()], [])
            leave.location = statement.location
            test, body = constant(True), [*before, leave, *body]
        tree = gast.While(test, body or [gast.Pass()], [])
        tree.location = statement.location
        out.append(tree)
        self.add(out, self.copies(statement.targets, statement.carried), statement.location)

    # copies

    def copies(self, targets: tuple, sources: tuple) -> list[Tree]:
        """`target = source` for each pair whose names differ, all at once where the order would matter."""
        waiting = []
        for target, source in zip(targets, sources, strict=True):
            if target not in self.naming.wanted:
                continue
            text = self.to.names[target]
            if isinstance(source, Variable) and self.to.names.get(source) == text:
                continue
            self.consider(target, source)
            waiting.append((text, self.to.tree(source)))
        trees = []
        while waiting:
            free = [pair for pair in waiting
                    if not any(reads(other[1], pair[0]) for other in waiting if other is not pair)]
            if not free:
                break
            text, value = free[0]
            trees.append(assign(stored(text), value))
            waiting.remove(free[0])
        if waiting:
            left = gast.Tuple([stored(text) for text, _ in waiting], gast.Store())
            trees.append(assign(left, tuple_tree(value for _, value in waiting)))
        return trees

    def consider(self, target: Variable, source: Operand) -> None:
        """Note a temporary that only a copy reads: the copy may as well compute it."""
        if isinstance(source, Variable) and source not in self.plan.inlined and self.plan.uses[source] == 1:
            made = self.plan.definitions.get(source)
            if made is not None and len(made.targets) == 1 and source.name in (None, target.name):
                self.moved.add(source)


def reads(tree: Tree, text: str) -> bool:
    """Whether a tree mentions a name."""
    return any(isinstance(node, gast.Name) and node.id == text for node in gast.walk(tree))


