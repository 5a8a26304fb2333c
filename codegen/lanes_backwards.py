"""Lanes that run a loop and then back through it, several at a time.

    for lane in range(n):                      lanes give their slots to others as in lane_slots.py; when
        while a > 1:                           one begins or ends is put down, and so is what every turn of
            push(tape, a)            ->        all slots keeps. Then the same turns are done in reverse order:
            a = ...                            a lane comes back into its slot where it ended, and leaves it
        a_bar = ...                            where it began.
        for _ in range(trips):
            a_bar = a_bar * pop(tape)
        x_bar[lane] = a_bar

Here such lanes are found; what is written for them: lane_tapes.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from .core import (
    Assign,
    Block,
    For,
    If,
    StackType,
    Statement,
    Variable,
    While,
    blocks_of,
    free_variables,
    walk,
)
from .lane_parts import Lane, Vectorises, fits_around, fits_inside, flat, goes_over_lanes
from .python_arithmetic import may_refuse

STACKS = ("stack", "push", "pop")


@dataclass
class LaneBackwards(Lane):
    """A lane that has a second loop, after what is in the `middle`, which takes from the tapes of the first.

    `tapes`: for each variable that is a stack, the one that it was made as.
    """

    middle: list[Statement] = field(default_factory=list)
    back: For | None = None
    tapes: dict[Variable, Variable] = field(default_factory=dict)

    def lasting(self) -> list[Variable]:
        known = self.known_before()
        return [variable for variable in self.read_inside() if variable in known]

    def known_before(self) -> set[Variable]:
        return {self.around.index, *(target for statement in self.before for target in statement.targets)}

    def read_back(self) -> dict[Variable, None]:
        """What the second loop and what comes after it read."""
        return free_variables(self.back.body) | free_variables(Block(self.after, self.around.body.results))

    def ends(self) -> list[Variable]:
        """What the first loop gives, and anything reads."""
        read = self.read_back() | free_variables(Block(self.middle, self.back.initial))
        return [target for target in self.loop.targets if target in read]

    def kept_back(self) -> list[Variable]:
        """The numbers that a lane keeps on its way back."""
        known = self.known_before() - {self.around.index} | set(self.loop.targets)
        known.update(target for statement in self.middle for target in statement.targets)
        known.update(v for v in free_variables(self.back.body) if v is self.around.index)
        return [*self.back.carried, *(variable for variable in self.read_back() if variable in known)]

    def writing(self) -> list[Statement]:
        """What is in the middle is done for lanes that have failed too."""
        return [*self.middle, *self.before, self.loop, self.back, *self.after]

    def checked(self) -> bool:
        blocks = Block(self.middle), self.back.body
        return super().checked() or any(may_refuse(s) for block in blocks for s in walk(block))


def lane_backwards_of(loop: For, vectorises: Vectorises) -> LaneBackwards | None:
    """The parts of a turn, if it is such a lane."""
    if not goes_over_lanes(loop):
        return None
    body = flat(loop.body)
    statements = body.statements
    places = [place for place, statement in enumerate(statements) if isinstance(statement, (For, While))]
    if len(places) != 2:
        return None
    first, second = places
    ahead, back = statements[first], statements[second]
    before, middle, after = statements[:first], statements[first + 1 : second], statements[second + 1 :]
    if not isinstance(ahead, While) or not isinstance(back, For) or not counts(ahead, back):
        return None
    tapes = tapes_of(before, ahead, back)
    if tapes is None:
        return None
    plain = [s for s in before if not (isinstance(s, Assign) and is_stacks(s))]
    ahead, back = (without_carried(one, lambda of: isinstance(of.type, StackType)) for one in (ahead, back))
    inside = all(
        fits_inside(replace(one, body=without_stacks(one.body)), vectorises) for one in (ahead, back)
    )
    if not inside or not fits_around(plain, middle, after):
        return None
    lane = LaneBackwards(replace(loop, body=body), plain, ahead, after, middle, back, tapes)
    return without_count(lane) if lane.may_be_in_step() else None


def tapes_of(before: list[Statement], ahead: While, back: For) -> dict[Variable, Variable] | None:
    """The stacks that a turn ahead puts something on, once, and the same turn back takes it from.

    None if anything else is done to one.
    """
    made = [s for s in before if isinstance(s, Assign) and is_stacks(s)]
    tapes = {s.targets[0]: s.targets[0] for s in made}
    mirrored = {s.targets[0] for s in made if s.static.get("mirrored")}
    for loop, name in ((ahead, "push"), (back, "pop")):
        follow(tapes, loop.carried, loop.initial)
        done = operations(loop.body, name, tapes)
        follow(tapes, loop.targets, loop.carried)
        plain = (s for s in loop.body.statements if isinstance(s, Assign) and is_stacks(s))
        always = {tapes.get(statement.operands[0]) for statement in plain}
        if done is None or not set(done) - mirrored <= always or max(done.values(), default=0) > 1:
            return None
    return tapes


def follow(tapes: dict[Variable, Variable], variables: tuple, values: tuple) -> None:
    """Enter the variables that become, or begin as, stacks that are known."""
    tapes.update((variable, tapes[value]) for variable, value in zip(variables, values) if value in tapes)


def operations(block: Block, name: str, tapes: dict[Variable, Variable]) -> Counter[Variable] | None:
    """How often a block does an operation to each stack, at most; None if it does any other."""
    done: Counter[Variable] = Counter()
    for statement in block.statements:
        if isinstance(statement, If):
            counted = [operations(inner, name, tapes) for inner in blocks_of(statement)]
            if None in counted:
                return None
            done += counted[0] | counted[1]
            follow(tapes, statement.targets, statement.body.results)
        elif is_stacks(statement):
            if statement.primitive.name != name or statement.operands[0] not in tapes:
                return None
            follow(tapes, statement.targets[:1], statement.operands[:1])
            done[tapes[statement.operands[0]]] += 1
    return done


def is_stacks(statement: Assign) -> bool:
    return statement.primitive.name in STACKS


def counts(ahead: While, back: For) -> bool:
    """Whether the second loop has as many turns as the first has counted, and does not count them itself."""
    if (back.start, back.step) != (0, 1) or back.stop not in ahead.targets:
        return False
    place = ahead.targets.index(back.stop)
    following = ahead.body.results[place]
    made = next((s for s in ahead.body.statements if following in s.targets), None)
    adds = made is not None and made.primitive.name == "add" and made.operands == (ahead.carried[place], 1)
    return adds and ahead.initial[place] == 0 and back.index not in free_variables(back.body)


def without_carried(loop: For | While, leave: Callable[[Variable], bool]) -> For | While:
    """A loop that does not carry some of its variables."""
    kept = [k for k, carried in enumerate(loop.carried) if not leave(carried)]
    parts = {name: tuple(getattr(loop, name)[k] for k in kept) for name in ("targets", "carried", "initial")}
    body = Block(loop.body.statements, tuple(loop.body.results[k] for k in kept))
    return replace(loop, body=body, **parts)


def without_count(lane: LaneBackwards) -> LaneBackwards:
    """A lane that does not count its turns, unless anything but its second loop reads the count."""
    loop = lane.loop
    place = loop.targets.index(lane.back.stop)
    count, following = loop.carried[place], loop.body.results[place]
    kept = [statement for statement in loop.body.statements if following not in statement.targets]
    left = without_carried(replace(loop, body=Block(kept, loop.body.results)), lambda of: of is count)
    read = free_variables(left.body) | free_variables(left.test)
    if lane.back.stop in lane.ends() or count in read or following in read:
        return lane
    return replace(lane, loop=left)


def without_stacks(block: Block) -> Block:
    """A block whose branches do not give stacks, and, but for these, without what it does to them."""
    statements = []
    for statement in block.statements:
        if isinstance(statement, If):
            statement = numbers_of(statement)
            parts = {name: without_stacks(getattr(statement, name)) for name in ("body", "orelse")}
            statements.append(replace(statement, **parts))
        elif not is_stacks(statement):
            statements.append(statement)
    return Block(statements, block.results)


def numbers_of(branch: If) -> If:
    """A branch that gives no stacks."""
    kept = [k for k, target in enumerate(branch.targets) if not isinstance(target.type, StackType)]
    pick = lambda block: Block(block.statements, tuple(block.results[k] for k in kept))
    targets = tuple(branch.targets[k] for k in kept)
    return replace(branch, targets=targets, body=pick(branch.body), orelse=pick(branch.orelse))
