"""Simple values that several nests read: computed in each of them, and not stored.

    v = negative(x)                      v, w = negative(x), negative(x)
    s = sum(multiply(v, y))      ->      s = sum(multiply(v, y))
    z = multiply(w, s)                   z = multiply(w, s)

The second nest waits for the sum, so v would have to be stored for it. To read an element of x again and
change its sign costs no more than to read that of another array.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from .access import is_array
from .clusters import Clusters
from .core import Assign, Block, Statement, Variable, map_variables, variables_in
from .elements import CHEAP
from .roles import reads_of


def repeat(clusters: Clusters, block: Block, sort: Callable[[Block], Clusters]) -> Block | None:
    """The block with such values computed for each nest, if there are any; `sort` finds the nests."""
    found = {position: others for position in clusters.owner if (others := readers_apart(clusters, position))}
    while found:
        again, copies = with_copies(block, found)
        nests = sort(again)
        stored = {
            position
            for position, made in copies.items()
            if any(nests.definition[v] in nests.owner[nests.definition[v]].outputs for v in made)
        }
        if not stored:
            return again
        found = {position: others for position, others in found.items() if position not in stored}
    return None


def readers_apart(clusters: Clusters, position: int) -> list[list[int]]:
    """The readers of a simple value that is stored, by nest, but for those of the first nest."""
    if position not in clusters.owner[position].outputs or not is_simple(clusters, position):
        return []
    (value,) = clusters.statements[position].targets
    readers = [k for k, statement in enumerate(clusters.statements) if value in reads_of(statement)]
    element_by_element = all(k in clusters.readers[position] and k in clusters.owner for k in readers)
    if value in clusters.results or not element_by_element:
        return []
    nests: dict[int, list[int]] = {}
    for reader in readers:
        nests.setdefault(id(clusters.owner[reader]), []).append(reader)
    return list(nests.values())[1:]


def is_simple(clusters: Clusters, position: int) -> bool:
    """Whether an element takes one simple operation on one element of an array that there is."""
    made = clusters.statements[position]
    if clusters.kinds[position] != "pure" or made.primitive.name not in CHEAP:
        return False
    arrays = list(filter(is_array, variables_in(made.operands)))
    return made.primitive.elementwise and len(arrays) == 1 and is_there(clusters, arrays[0])


def is_there(clusters: Clusters, array: Variable) -> bool:
    """Whether an array is in memory, or a view of one that is."""
    made = clusters.definition.get(array)
    if made is None or made in clusters.stored:
        return True
    operand = clusters.statements[made].operands[0] if clusters.kinds[made] == "view" else None
    return is_array(operand) and is_there(clusters, operand)


def with_copies(block: Block, found: dict[int, list[list[int]]]) -> tuple[Block, dict[int, list[Variable]]]:
    """The block with each value again for the nests of other readers, and all variables for each value."""
    statements: list[Statement] = []
    became: dict[int, dict[Variable, Variable]] = {}
    copies: dict[int, list[Variable]] = {}
    for position, statement in enumerate(block.statements):
        if position in became and isinstance(statement, Assign):
            new = became[position]
            operands = map_variables(lambda v, new=new: new.get(v, v), statement.operands)
            statement = replace(statement, operands=operands)
        statements.append(statement)
        for readers in found.get(position, ()):
            (value,) = statement.targets
            again = Variable(value.name, value.type)
            statements.append(replace(statement, targets=(again,)))
            copies.setdefault(position, [value]).append(again)
            for reader in readers:
                became.setdefault(reader, {})[value] = again
    return Block(statements, block.results), copies
