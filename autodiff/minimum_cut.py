"""The minimum vertex cut of a graph: the cheapest set of nodes that separates the sources from the sinks.

>>> graph = Graph()
>>> graph.cost.update(a=8, b=1, c=3)
>>> graph.edges.update(a=["b"], b=["c"])
>>> graph.cut(["a"], ["c"])
{'b'}
"""
from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable

UNLIMITED = 1 << 60


class Graph:
    """Nodes with costs, and edges; of equally cheap cuts, the one nearest to the sinks."""

    def __init__(self):
        self.cost: dict[Hashable, int] = {}
        self.edges: dict[Hashable, list[Hashable]] = {}

    def cut(self, sources: Iterable[Hashable], sinks: Iterable[Hashable]) -> set:
        # Each node is split in two, joined by an arc as wide as its cost.
        arcs: dict[Hashable, dict[Hashable, int]] = {"from": {}, "to": {}}

        def join(a: Hashable, b: Hashable, width: int) -> None:
            arcs.setdefault(a, {})[b] = width
            arcs.setdefault(b, {}).setdefault(a, 0)

        for node, cost in self.cost.items():
            join((node, 0), (node, 1), cost)
        for node, following in self.edges.items():
            for other in following:
                join((node, 1), (other, 0), UNLIMITED)
        for node in sources:
            join("from", (node, 0), UNLIMITED)
        for node in sinks:
            join((node, 1), "to", UNLIMITED)
        while path := shortest_path(arcs):
            width = min(arcs[a][b] for a, b in path)
            for a, b in path:
                arcs[a][b] -= width
                arcs[b][a] += width
        reaching = reach_back(arcs)
        return {n for n in self.cost if (n, 1) in reaching and (n, 0) not in reaching}


def shortest_path(arcs: dict) -> list[tuple] | None:
    """The arcs of a shortest path along which more can flow."""
    came: dict = {"from": None}
    waiting = deque(["from"])
    while waiting:
        node = waiting.popleft()
        for other, width in arcs[node].items():
            if width > 0 and other not in came:
                came[other] = node
                if other == "to":
                    path = []
                    while came[other] is not None:
                        path.append((came[other], other))
                        other = came[other]
                    return path
                waiting.append(other)
    return None


def reach_back(arcs: dict) -> set:
    """The nodes from which more could flow to the sinks."""
    reached = {"to"}
    waiting = ["to"]
    while waiting:
        node = waiting.pop()
        for other in arcs[node]:
            if other not in reached and arcs[other][node] > 0:
                reached.add(other)
                waiting.append(other)
    return reached
