"""Matrices of which the innermost loops go through columns lie in memory column by column.

    y = zeros((n, m))                       y = zeros((m, n))
    for k in range(m):                      for k in range(m):
        for j in range(k):                      for j in range(k):
            for i in range(n):      ->              for i in range(n):
                y[i, k] += y[i, j]                      y[k, i] += y[j, i]
    return y                                return y.T.copy()

It is done for arrays that the program makes itself, of which it reads and writes only elements, and that in
loops so deep that turning them takes no time.

>>> from .build import Builder
>>> from .core import FLOAT, INT
>>> n, m, t, i, k = (Variable(name, INT) for name in "nmtik")
>>> y = [Variable("y", FLOAT.with_shape((n, m))) for _ in range(7)]
>>> inner = Block([Assign((y[6],), PRIMITIVES["setitem"], (y[5], (i, k), 1.0))], (y[6],))
>>> middle = Block([For((y[4],), i, 0, n, 1, (y[5],), (y[3],), inner)], (y[4],))
>>> outer = Block([For((y[2],), k, 0, m, 1, (y[3],), (y[1],), middle)], (y[2],))
>>> b = Builder()
>>> start = b.emit(PRIMITIVES["zeros"], (n, m), dtype="float64")
>>> b.append(For((y[0],), t, 0, 9, 1, (y[1],), (start,), outer))
>>> b.block.results = (y[0],)
>>> made = turn_arrays(Program("f", (n, m), b.block)).body.statements
>>> [getattr(s, "primitive", "loop") for s in made], made[0].operands
([zeros, 'loop', transpose, copy], ((m, n),))
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

from .access import is_array
from .arrays_over_time import Histories
from .core import (
    Assign,
    Block,
    For,
    If,
    Operand,
    Program,
    Statement,
    Variable,
    While,
    blocks_of,
    variables_in,
)
from .parts import Facts
from .registry import PRIMITIVES
from .renaming import Renaming

ELEMENTS = ("getitem", "setitem", "index_add")
MAKES = ("empty", "zeros", "copy")
# Each element of a matrix is read or written again and again in loops of this depth.
DEEP = 3


def turn_arrays(program: Program) -> Program:
    """The program with the columns of some of its matrices as rows."""
    survey = Survey(program)
    turned = {history for history in survey.made if survey.goes_down(history)}
    return Turner(program, survey.histories, turned).run() if turned else program


class Survey:
    """Which matrices a program makes, what becomes of them, and where innermost loops have their index."""

    def __init__(self, program: Program):
        self.histories = Histories(program.body)
        self.facts = Facts(program.body)
        self.made: dict[Variable, Assign] = {}
        self.escaped: set[Variable] = set()
        # By history, the number of reads and writes for each depth and place of the innermost index.
        self.places: defaultdict[Variable, Counter[tuple[int, int]]] = defaultdict(Counter)
        self.escape(program.parameters)
        self.block(program.body, ())
        given = Counter(self.histories.of(v) for v in program.results if is_array(v))
        self.escaped.update(history for history, count in given.items() if count > 1)

    def goes_down(self, history: Variable) -> bool:
        """Whether the innermost loops go through the columns of a matrix more than through its rows."""
        places = self.places[history]
        depth = max((depth for depth, _ in places), default=0)
        return history not in self.escaped and depth >= DEEP and places[depth, 0] > places[depth, 1]

    def escape(self, operands: Operand) -> None:
        self.escaped.update(self.histories.of(v) for v in variables_in(operands) if is_array(v))

    def block(self, block: Block, loops: tuple[For, ...]) -> None:
        for statement in block.statements:
            if isinstance(statement, Assign):
                self.assign(statement, loops)
            for inner in blocks_of(statement):
                self.block(inner, (*loops, statement) if isinstance(statement, For) else loops)

    def assign(self, statement: Assign, loops: tuple[For, ...]) -> None:
        name, operands = statement.primitive.name, statement.operands
        if is_element(statement):
            self.note(statement, loops)
            self.escape(operands[1:])
            return
        self.escape(operands)
        for target in filter(is_array, statement.targets):
            history = self.histories.of(target)
            if name not in MAKES or target.type.ndim != 2 or history in self.made:
                self.escaped.add(history)
            self.made[history] = statement

    def note(self, statement: Assign, loops: tuple[For, ...]) -> None:
        array, index = statement.operands[:2]
        for place, entry in enumerate(index):
            form = self.facts.form(entry)
            if loops and form is not None and loops[-1].index in form.terms:
                self.places[self.histories.of(array)][len(loops), place] += 1


class Turner:
    """Rewrites a program with some matrices transposed."""

    def __init__(self, program: Program, histories: Histories, turned: set[Variable]):
        self.program = program
        self.renaming = Renaming({})
        for history in turned:
            for variable in histories.members(history):
                turned_type = variable.type.with_shape(variable.type.shape[::-1])
                self.renaming.mapping[variable] = Variable(variable.name, turned_type)

    def run(self) -> Program:
        body = self.block(self.program.body)
        results = []
        for result in self.program.results:
            if isinstance(result, Variable) and result in self.renaming.mapping:
                kept = Variable(result.name, result.type)
                body.statements += turned_copy(self.renaming(result), kept, None)
                result = kept
            results.append(result)
        return Program(self.program.name, self.program.parameters, Block(body.statements, tuple(results)))

    def block(self, block: Block) -> Block:
        made = [one for statement in block.statements for one in self.statement(statement)]
        return Block(made, self.renaming(block.results))

    def statement(self, statement: Statement) -> list[Statement]:
        if isinstance(statement, Assign):
            return self.assign(statement)
        names = {"targets", "carried", "initial"} & set(type(statement).__dataclass_fields__)
        parts = {name: self.renaming(getattr(statement, name)) for name in names}
        blocks = {If: ("body", "orelse"), For: ("body",), While: ("test", "body")}[type(statement)]
        parts |= {name: self.block(getattr(statement, name)) for name in blocks}
        return [replace(statement, **parts)]

    def assign(self, statement: Assign) -> list[Statement]:
        turned, operands = self.renaming.mapping, statement.operands
        if is_element(statement) and operands[0] in turned:
            operands = (operands[0], operands[1][::-1], *operands[2:])
        elif statement.targets and statement.targets[0] in turned:
            if statement.primitive is PRIMITIVES["copy"]:
                return turned_copy(operands[0], turned[statement.targets[0]], statement)
            operands = (tuple(operands[0])[::-1], *operands[1:])
        targets, operands = self.renaming(statement.targets), self.renaming(operands)
        return [replace(statement, targets=targets, operands=operands)]


def turned_copy(source: Variable, target: Variable, for_statement: Assign | None) -> list[Statement]:
    """Statements that copy a matrix to its transpose."""
    location = for_statement.location if for_statement is not None else None
    view = Variable(None, target.type)
    turning = Assign((view,), PRIMITIVES["transpose"], (source,), {"axes": (1, 0)}, location)
    return [turning, Assign((target,), PRIMITIVES["copy"], (view,), {}, location)]


def is_element(statement: Assign) -> bool:
    """Whether a statement reads or writes one element of a matrix."""
    if statement.primitive.name not in ELEMENTS or not is_array(statement.operands[0]):
        return False
    index = statement.operands[1]
    whole = statement.operands[0].type.ndim == len(index) == 2
    return whole and all(is_number(entry) for entry in index)


def is_number(entry: Operand) -> bool:
    return isinstance(entry, int) or isinstance(entry, Variable) and not entry.type.shape
