"""Values that are written into a part of an array, and read later: read from there, and not stored twice.

    v = multiply(x, 2.0)                              v = multiply(x, 2.0)
    y = setitem(y, (slice(1, None),), v)      ->      y = setitem(y, (slice(1, None),), v)
    z = add(v, y[:-1])                                w = getitem(y, (slice(1, None),))
                                                      z = add(w, y[:-1])

Here z needs a nest of its own, for it reads what has been written; so v would have to be stored for it.
"""

from __future__ import annotations

from dataclasses import replace

from .access import is_one
from .clusters import Clusters
from .core import Assign, Block, Statement, Variable, map_variables
from .outputs import part_rank
from .registry import PRIMITIVES
from .roles import reads_of


def reread(clusters: Clusters, block: Block) -> Block | None:
    """The block with such values read from where they were written, or None where there are none."""
    found = {position: value for position in clusters.owner if (value := stored_twice(clusters, position))}
    if not found:
        return None
    became: dict[Variable, Variable] = {}
    statements: list[Statement] = []
    for position, statement in enumerate(block.statements):
        if isinstance(statement, Assign) and any(v in became for v in reads_of(statement)):
            operands = map_variables(lambda v: became.get(v, v), statement.operands)
            statement = replace(statement, operands=operands)
        statements.append(statement)
        if position in found:
            again = Variable(found[position].name, found[position].type)
            became[found[position]] = again
            read = statement.targets[0], statement.operands[1]
            statements.append(Assign((again,), PRIMITIVES["getitem"], read, {}, statement.location))
    return Block(statements, block.results)


def stored_twice(clusters: Clusters, position: int) -> Variable | None:
    """The value of a write that its nest also stores, only for nests that come later."""
    write, cluster = clusters.statements[position], clusters.owner[position]
    if write.primitive.name != "setitem" or position not in cluster.outputs:
        return None
    array, index, value = write.operands
    made = clusters.definition.get(value) if isinstance(value, Variable) else None
    if made not in cluster.outputs or clusters.kinds[made] != "pure" or value in clusters.results:
        return None
    if value.type.dtype != array.type.dtype or any(map(is_one, value.type.shape)):
        return None
    if value.type.ndim != part_rank(array, index):
        return None
    readers = [k for k, s in enumerate(clusters.statements) if k != position and value in reads_of(s)]
    ends = [k for k, s in enumerate(clusters.statements) if write.targets[0] in clusters.destroyed(s)]
    later = all(k > position and reads_elements(clusters, k, value) for k in readers)
    apart = all(clusters.owner.get(k) is not cluster for k in readers)
    return value if later and apart and all(end >= max(readers, default=0) for end in ends) else None


def reads_elements(clusters: Clusters, reader: int, value: Variable) -> bool:
    """Whether a statement computes something from a value element by element."""
    return reader in clusters.readers[clusters.definition[value]] and clusters.kinds[reader] != "write"
