"""Elements that are cleared, and added to a little later: written at once, by the addition.

    x = setitem(x, (i, k), 0.0)
    x = index_add(x, (k, k), v)        ->        x = index_add(x, (k, k), v)
    x = index_add(x, (i, k), w)                  x = setitem(x, (i, k), w)

What is written or read between must be other elements, by what is known of the indices.

>>> import numpy as np
>>> from .core import ArrayType
>>> from .additions import add_in_place
>>> from .parse import parse_text
>>> from .printing import print_program
>>> from .simplify import simplify
>>> from .specialise import Parameter, specialise
>>> vector = ArrayType(np.dtype(float), (None,))
>>> text = "def f(x):\\n  for i in range(len(x) - 1):\\n    x[i] = 0\\n"
>>> text += "    x[i + 1] += 2\\n    x[i] += 3 * x[i + 1]"
>>> program = simplify(specialise(parse_text(text), [Parameter(vector, "x")]).program)
>>> at_once = simplify(write_at_once(simplify(add_in_place(program))))
>>> print("\\n".join(line for line in print_program(at_once).splitlines() if "#" not in line))
def f(x):
    for i in range(x.shape[0] - 1):
        total = i + 1
        total_2 = x[total] + 2
        x[total] = total_2
        x[i] = 3 * total_2
    return x
"""

from __future__ import annotations

from collections import defaultdict

from .build import freeze
from .core import Assign, Block, For, Program, Statement, Variable, blocks_of, operands_of, variables_in, walk
from .identities import is_number
from .inequalities import Form
from .needless_writes import WRITES, remove
from .parts import Facts
from .primitives.indexing import is_basic


def write_at_once(program: Program) -> Program:
    """The program with additions to cleared elements as writes."""
    search = Search(program)
    search.block(program.body, [])
    if not search.cleared:
        return program
    return remove(program, search.cleared, search.additions)


class Search:
    """Finds the writes of zeros that an addition makes needless, and these additions."""

    def __init__(self, program: Program):
        self.facts = Facts(program.body)
        self.readers: defaultdict[Variable, list[Statement | None]] = defaultdict(list)
        for variable in variables_in(program.results):
            self.readers[variable].append(None)
        for statement in walk(program.body):
            for variable in variables_in(operands_of(statement)):
                self.readers[variable].append(statement)
            for block in blocks_of(statement):
                for variable in variables_in(block.results):
                    self.readers[variable].append(None)
        self.cleared: set[Statement] = set()
        self.additions: set[Statement] = set()

    def block(self, block: Block, holds: list[Form]) -> None:
        own = {target for statement in block.statements for target in statement.targets}
        for statement in block.statements:
            more = self.facts.of_loop(statement) if isinstance(statement, For) else []
            for inner in blocks_of(statement):
                self.block(inner, [*holds, *more])
            if isinstance(statement, Assign) and statement.primitive.name == "index_add":
                zero = self.zero_before(statement, own, holds)
                if zero is not None:
                    self.cleared.add(zero)
                    self.additions.add(statement)

    def zero_before(self, addition: Assign, own: set[Variable], holds: list[Form]) -> Assign | None:
        """The write of zeros to the very elements that are added to, unless something between takes them."""
        version, index, _ = addition.operands
        if not is_basic(index) or not isinstance(version, Variable):
            return None
        part, key, after = self.facts.part(version, index, holds), freeze(index), addition
        while isinstance(version, Variable) and version in own:
            made = self.facts.definitions.get(version)
            if made is None or made.primitive.name not in WRITES or made in self.cleared:
                return None
            others = [reader for reader in self.readers[version] if reader is not after]
            if not all(self.reads_apart(reader, version, part, holds) for reader in others):
                return None
            if made.primitive.name == "setitem" and freeze(made.operands[1]) == key:
                return made if is_number(made.operands[2], 0) else None
            if not self.facts.apart(part, self.facts.part(version, made.operands[1], holds), holds):
                return None
            version, after = made.operands[0], made
        return None

    def reads_apart(
        self, reader: Statement | None, version: Variable, part: list, holds: list[Form]
    ) -> bool:
        """Whether a statement reads only other elements of an array than a part."""
        if not isinstance(reader, Assign) or reader.primitive.name not in ("getitem", "size"):
            return False
        if reader.primitive.name == "size":
            return True
        return self.facts.apart(part, self.facts.part(version, reader.operands[1], holds), holds)
