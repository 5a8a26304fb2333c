"""Where stacks of arrays are filled and emptied, and which of these arrays can be parts of larger ones.

The array that is put on a stack is made by the same turn, or by the one before, which carries it on:

    for k in range(n):                           while test:
        x = np.empty(m)                              tape.append(y)
        ...                                          y = np.empty(m)
        tape.append(x)                               ...

It can be a part of another array if nothing writes to it after, and if it is no result of the program, which
would hold on to all the others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from .array_stacks import Survey, is_stack
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
    assigned_in,
    blocks_of,
    bound_in,
    uses_in,
    variables_in,
    walk,
)
from .registry import PRIMITIVES
from .stack_room import Counting

Loop = For | While


@dataclass(eq=False)
class Tape:
    """A stack of arrays: what makes an array that is put on it, what takes it off, the loops around both."""

    stack: Variable
    made: Assign
    taken: Assign
    pushing: tuple[Loop, ...]
    popping: tuple[Loop, ...]
    carried: int | None = None  # if the turn before makes the array: its place in what the loop carries
    counting: Counting | None = None

    @property
    def sizes(self) -> tuple:
        return self.made.targets[0].type.shape

    @property
    def filling(self) -> tuple:
        """What stacks that as many elements are put on have in common."""
        return self.pushing, self.sizes, self.carried is None

    @property
    def kind(self) -> tuple:
        """What stacks that always hold as many elements have in common."""
        alone = self if self.carried is not None else None
        return self.pushing, self.popping, self.sizes, self.taken.targets[1].type.shape, alone


class Places:
    """Finds the stacks of a program."""

    def __init__(self, program: Program):
        self.survey = Survey(program)
        self.uses = uses_in(program)
        self.order: dict[Variable, int] = {}
        self.carriers: defaultdict[Variable, list[Statement]] = defaultdict(list)
        self.note(program.body)
        self.histories = Histories(program.body)
        self.given = {self.histories.of(v) for v in variables_in(program.results)}
        self.writes: defaultdict[Variable, list[Assign]] = defaultdict(list)
        for statement in walk(program.body):
            if isinstance(statement, Assign) and statement.primitive.destructive:
                self.writes[self.histories.of(statement.targets[0])].append(statement)

    def note(self, block: Block) -> None:
        for statement in block.statements:
            for variable in bound_in(statement):
                self.order[variable] = len(self.order)
            for inner in blocks_of(statement):
                self.note(inner)
            for target in statement.targets:
                self.order[target] = len(self.order)
                if is_stack(target) and not isinstance(statement, Assign):
                    self.carriers[self.survey.of(target)].append(statement)

    def tapes(self) -> Iterator[Tape]:
        """The stacks whose arrays can be parts of larger ones."""
        operations: defaultdict[Variable, list[tuple[Block, Assign]]] = defaultdict(list)
        for variable, block, made in self.survey.found:
            if variable.type.element.shape and self.survey.of(variable) not in self.survey.lists:
                operations[self.survey.of(variable)].append((block, made))
        found: dict[Assign, Tape] = {}
        for stack, steps in operations.items():
            tape = self.tape(stack, steps)
            if tape is None or not self.fits(tape):
                continue
            first = found.setdefault(tape.made, tape)
            if first is tape or all(t.counting and t.carried is None for t in (first, tape)):
                yield tape

    def tape(self, stack: Variable, steps: list[tuple[Block, Assign]]) -> Tape | None:
        """A stack that one loop fills and a later one empties, each in one place."""
        if [made.primitive.name for _, made in steps] != ["stack", "push", "pop"]:
            return None
        (home, _), (full, push), (empty, pop) = steps
        around = self.survey.around
        outer = len(around[home])
        pushing, popping = around[full][outer:], around[empty][outer:]
        if not pushing or not popping or pushing[0] is popping[0]:
            return None
        if not all(loop in (*pushing, *popping) for loop in self.carriers[stack]):
            return None
        if any(isinstance(loop, If) or full is getattr(loop, "test", None) for loop in (*pushing, *popping)):
            return None
        carried, value = self.passed_on(pushing, push.operands[1]) or (None, push.operands[1])
        made = self.maker(full, value, pushing[0] if carried is not None else None)
        if made is None or carried is not None and full.statements.index(made) < full.statements.index(push):
            return None
        return Tape(stack, made, pop, pushing, popping, carried)

    def passed_on(self, loops: tuple[Loop, ...], value: Operand) -> tuple[int, Operand] | None:
        """Of an array that loops only carry to the innermost: its place in the first, and what follows it."""
        inner = following = None
        for loop in reversed(loops):
            if value not in loop.carried:
                return None
            place = loop.carried.index(value)
            result = loop.body.results[place]
            if inner is None:
                following = result
            elif result is not inner or self.uses[result] > 1 or self.uses[value] > 1:
                return None
            inner, value = loop.targets[place], loop.initial[place]
        return place, following

    def maker(self, block: Block, value: Operand, around: Loop | None) -> Assign | None:
        """What makes an array in a block that it fills, if all writes to it, in a loop around, are there."""
        makers = {target: statement for statement in block.statements for target in statement.targets}
        chain: list[Statement] = []
        made = makers.get(value) if isinstance(value, Variable) else None
        array = value
        while made is not None:
            chain.append(made)
            if isinstance(made, For):
                array = made.initial[made.targets.index(array)]
            elif isinstance(made, Assign) and made.primitive.destructive and not is_stack(array):
                array = made.operands[0]
            else:
                break
            made = makers.get(array)
        if not isinstance(made, Assign) or made.primitive is not PRIMITIVES["empty"]:
            return None
        history = self.histories.of(value)
        writes = set(self.writes[history]).difference(walk(Block(chain)))
        if around is not None:
            writes.intersection_update(walk(around.body))
        return None if writes or history in self.given else made

    def fits(self, tape: Tape) -> bool:
        """Whether it is known where each array is: how many elements those before it have."""
        taken = tape.taken.targets[1]
        history = self.histories.of(taken)
        if history in self.given or self.writes[history]:
            return False
        if tape.made.targets[0].type.dtype != taken.type.dtype:
            return False
        before = self.order[taken]
        if not all(self.order.get(size, -1) < before for size in variables_in(taken.type.shape)):
            return False
        if all(isinstance(loop, For) for loop in tape.pushing):
            counting = Counting(tape.pushing, self.survey.definitions)
            tape.counting = counting if counting.countable(tape.sizes) else None
        inside = assigned_in(tape.pushing[0])
        constant = not any(size in inside for size in variables_in(tape.sizes))
        return constant or tape.carried is None and tape.counting is not None
