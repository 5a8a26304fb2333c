"""Which variables hold a value that is still wanted at the same time, and so cannot share a name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from .core import Assign, Block, For, If, Operand, Program, Statement, Variable, While
from .inlining import Plan


class Interference:
    """Goes backwards through a program with the set of live variables.

    `conflicts[v]` are the variables that live where v gets its value, `wanted` the targets of branches and
    loops that are read at all, and `overwrites` the operations in place whose operand is still wanted
    after: these need a copy.
    """

    def __init__(self, program: Program, plan: Plan):
        self.plan = plan
        self.conflicts: defaultdict[Variable, set[Variable]] = defaultdict(set)
        self.wanted: set[Variable] = set()
        self.overwrites: set[Assign] = set()
        # Of a loop inside others, which is passed for each time that they are: its last answer.
        self.headers: dict[Statement, set[Variable]] = {}
        self.answers: dict[Statement, tuple[set[Variable], set[Variable]]] = {}
        live = self.block(program.body, self.reads(program.results))
        for parameter in program.parameters:
            self.define(parameter, live.union(program.parameters))

    def reads(self, operand: Operand) -> set[Variable]:
        return set(self.plan.reads(operand))

    def define(self, variable: Variable, live: Iterable[Variable], *copies: Operand) -> None:
        """A variable gets a value while others are live; those whose very value it gets do not matter."""
        others = set(live).difference((variable, *(copy for copy in copies if isinstance(copy, Variable))))
        known = self.conflicts[variable]
        for other in others - known:
            self.conflicts[other].add(variable)
        known |= others

    def block(self, block: Block, live: set[Variable]) -> set[Variable]:
        """What is live before the statements of a block, from what is live after them."""
        for statement in reversed(block.statements):
            live = self.statement(statement, live)
        return live

    def statement(self, statement: Statement, live: set[Variable]) -> set[Variable]:
        match statement:
            case Assign():
                return self.assign(statement, live)
            case If():
                return self.branch(statement, live)
            case For() | While():
                known = self.answers.get(statement)
                if known is None or known[0] != live:
                    pass_loop = self.counted if isinstance(statement, For) else self.loop
                    known = self.answers[statement] = live, pass_loop(statement, live)
                return known[1]

    def assign(self, statement: Assign, live: set[Variable]) -> set[Variable]:
        if statement in self.plan.dead or (statement.targets and statement.targets[0] in self.plan.inlined):
            return live
        reads = self.reads(statement.operands)
        if statement.primitive.destructive and self.kept_after(statement, live):
            # The copy is made first, so it must not take the name of anything read after.
            self.overwrites.add(statement)
            live = live | reads
        for target in statement.targets:
            # A stack that is popped for the last time keeps its name; any other unread result has none.
            if self.plan.uses[target] or (statement.primitive.destructive and target is statement.targets[0]):
                self.define(target, live)
        return live.difference(statement.targets) | reads

    def kept_after(self, statement: Assign, live: set[Variable]) -> bool:
        base = statement.operands[0]
        return not isinstance(base, Variable) or base in live

    def finish(self, targets: tuple, sources: tuple, live: set[Variable]) -> set[Variable]:
        """Before `target = source, ...`, all at once, of the targets that are live."""
        pairs = [(t, s) for t, s in zip(targets, sources, strict=True) if t in live]
        for target, source in pairs:
            self.wanted.add(target)
            self.define(target, live, source)
        return live.difference(targets).union(*(self.reads(s) for _, s in pairs))

    def branch(self, statement: If, live: set[Variable]) -> set[Variable]:
        before = self.reads(statement.test)
        for block in (statement.body, statement.orelse):
            before |= self.block(block, self.finish(statement.targets, block.results, live))
        return before

    def counted(self, statement: For, live: set[Variable]) -> set[Variable]:
        after = self.finish(statement.targets, statement.carried, live)
        header = after | self.headers.get(statement, set())
        while True:
            inside = self.finish(statement.carried, statement.body.results, header)
            inside = self.block(statement.body, inside)
            if self.plan.uses[statement.index]:
                self.define(statement.index, inside)
            before = header | (inside - {statement.index})
            if before == header:
                break
            header = before
        self.headers[statement] = header
        # The bounds are read after the initial values have their names.
        header = header | self.reads((statement.start, statement.stop, statement.step))
        return self.finish(statement.carried, statement.initial, header)

    def loop(self, statement: While, live: set[Variable]) -> set[Variable]:
        after = self.finish(statement.targets, statement.carried, live)
        header = self.headers.get(statement, set())
        while True:
            inside = self.finish(statement.carried, statement.body.results, header)
            inside = self.block(statement.body, inside)
            tested = after | inside | self.reads(statement.test.results)
            before = header | self.block(statement.test, tested)
            if before == header:
                break
            header = before
        self.headers[statement] = header
        return self.finish(statement.carried, statement.initial, header)


