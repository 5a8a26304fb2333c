"""Values that are computed again at each place where a nest reads them, since storing them would cost more.

    flux = subtract(x[1:], x[:-1])                 for i in range(n - 2):
    y = subtract(flux[1:], flux[:-1])      ->          y[i] = (x[i + 2] - x[i + 1]) - (x[i + 1] - x[i])

An array costs the time to write it and to read it again, in which a processor does some simple operations:
few while it is in the first cache, and dozens where it is not in a cache at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .access import is_array
from .core import variables_in
from .elements import CHEAP

if TYPE_CHECKING:
    from .clusters import Cluster, Clusters

MOST = 20  # simple operations that cost as much as an element that is stored


def is_worth_repeating(clusters: Clusters, cluster: Cluster, position: int, places: int) -> bool:
    """Whether a value costs no more at so many places of a nest than in an array."""
    work = operations(clusters, position, cluster.members - cluster.outputs)
    return work is not None and (places - 1) * len(work) <= MOST


def operations(clusters: Clusters, position: int, others: set[int]) -> set[int] | None:
    """The statements that make a value and nothing else, down to arrays that there are in any case.

    None if one is not simple, or if they read an element that a nest which there is already would now need
    an array of. `others` are in the same nest.
    """
    made: set[int] = set()
    ready, found = {position}, set()
    while ready:
        if any(not is_simple(clusters, one) for one in ready):
            return None
        made |= ready
        found = found.union(*(sources(clusters, one) for one in ready))
        ready = {one for one in found - made if clusters.readers_through_views(one) <= made}
    elements = {one for one in found - made if clusters.readers[one] & made}
    apart = clusters.owner.keys() - made - others
    return None if any(clusters.readers_through_views(one) & apart for one in elements) else made


def is_simple(clusters: Clusters, position: int) -> bool:
    name = clusters.statements[position].primitive.name
    return clusters.kinds[position] == "pure" and name in CHEAP


def sources(clusters: Clusters, position: int) -> set[int]:
    """What computes the elements that a statement reads, unless they are in an array anyway."""
    found: set[int] = set()
    for variable in filter(is_array, variables_in(clusters.statements[position].operands)):
        made = clusters.definition.get(variable)
        if made is None or made in clusters.stored:
            continue
        if clusters.is_lazy(made):
            found |= sources(clusters, made)
        elif clusters.kinds[made] == "pure":
            found.add(made)
    return found
