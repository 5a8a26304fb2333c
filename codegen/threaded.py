"""Control flow built around values that change: each block takes their present versions, and passes them on.

>>> from .core import INT, Program
>>> from .printing import print_program
>>> from .registry import PRIMITIVES
>>> builder, n = Builder(), Variable("n", INT)
>>> values = Threaded(builder, {"count": 0, "left": n})
>>> def turn():
...     values.set("count", builder.emit(PRIMITIVES["add"], values["count"], 2))
...     values.set("left", builder.emit(PRIMITIVES["subtract"], values["left"], 1))
>>> values.repeat(lambda: builder.emit(PRIMITIVES["greater"], values["left"], 0), turn)
>>> builder.block.results = (values["count"],)
>>> print(print_program(Program("f", (n,), builder.block)))
def f(n):
    count = 0
    left = n
    while left > 0:
        count = count + 2
        left = left - 1
    return count
<BLANKLINE>
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace

from .build import Builder
from .core import INT, Block, For, If, Operand, Variable, While, type_of
from .renaming import Renaming


class Threaded:
    """The present versions of some values, by key, and the control flow that changes them."""

    def __init__(self, builder: Builder, now: dict[Hashable, Operand]):
        self.builder, self.now = builder, dict(now)

    def __getitem__(self, key: Hashable) -> Operand:
        return self.now[key]

    def set(self, key: Hashable, value: Operand) -> None:
        self.now[key] = value

    def version(self, key: Hashable) -> Variable:
        """A new variable for a value."""
        of = self.now[key]
        return Variable(key if isinstance(key, str) else getattr(of, "name", None), type_of(of))

    def branch(self, test: Operand, body: Callable, orelse: Callable = lambda: None) -> None:
        """Do one thing where a test holds, else another."""
        before, blocks, ends = self.now, [], []
        for make in (body, orelse):
            self.now = dict(before)
            with self.builder.inside(Block()) as block:
                make()
            blocks.append(block)
            ends.append(self.now)
        changed = [key for key in before if any(end[key] is not before[key] for end in ends)]
        for block, end in zip(blocks, ends):
            block.results = tuple(end[key] for key in changed)
        self.now = before
        self.now = before | {key: self.version(key) for key in changed}
        targets = tuple(self.now[key] for key in changed)
        self.builder.append(If(targets, test, *blocks, self.builder.location))

    def each(self, name: str, stop: Operand, turn: Callable[[Variable], None], **options: bool) -> None:
        """For each number below `stop`, do a turn."""
        index = Variable(name, INT)
        parts = {"index": index, "start": 0, "stop": stop, "step": 1, **options}
        self.loop(lambda: turn(index), lambda ends: For(**ends, **parts))

    def repeat(self, test: Callable[[], Operand], turn: Callable[[], None]) -> None:
        """As long as a test holds, do a turn."""
        made = Block()

        def tested() -> None:
            with self.builder.inside(made):
                made.results = (test(),)
            turn()

        self.loop(tested, lambda ends: While(**ends, test=made))

    def loop(self, turn: Callable, make: Callable[[dict], For | While]) -> None:
        initial = self.now
        carried = {key: self.version(key) for key in initial}
        self.now = dict(carried)
        with self.builder.inside(Block()) as body:
            turn()
        changed = [key for key in initial if self.now[key] is not carried[key]]
        body.results = tuple(self.now[key] for key in changed)
        self.now = initial
        targets = {key: self.version(key) for key in changed}
        pick = lambda values: tuple(values[key] for key in changed)
        made = make({"targets": pick(targets), "carried": pick(carried), "initial": pick(initial),
                     "body": body, "location": self.builder.location})  # fmt: skip
        outside = Renaming({carried[key]: initial[key] for key in initial if key not in targets})
        parts = {"body": outside.block(made.body)}
        if isinstance(made, While):
            parts["test"] = outside.block(made.test)
        self.builder.append(replace(made, **parts))
        self.now = initial | targets
