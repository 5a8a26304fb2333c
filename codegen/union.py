"""Groups of things that are joined one by one: a union-find.

>>> names = Union()
>>> names.join("a", "b"), names.join("c", "d"), names.join("b", "d")
(None, None, None)
>>> names.find("a") == names.find("c"), names.find("e")
(True, 'e')
>>> sorted(names.members("d"))
['a', 'b', 'c', 'd']
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any


class Union:
    """Who is in one group with whom; what was never joined is alone (R. E. Tarjan, J. ACM 22, 1975)."""

    def __init__(self) -> None:
        self.parent: dict[Hashable, Any] = {}

    def find(self, member: Any) -> Any:
        """The one that stands for a member's group."""
        root = member
        while root in self.parent:
            root = self.parent[root]
        while member != root:
            self.parent[member], member = root, self.parent[member]
        return root

    def join(self, first: Any, *others: Any) -> None:
        """Make one group of the groups of these."""
        for other in others:
            a, b = self.find(first), self.find(other)
            if a != b:
                self.parent[b] = a

    def members(self, member: Any) -> set:
        """Everyone in a member's group."""
        root = self.find(member)
        return {root, *(one for one in list(self.parent) if self.find(one) == root)}
