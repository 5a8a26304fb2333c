"""jit: the program of a function, compiled."""

from __future__ import annotations

import inspect
from typing import Any

from ..backends.numba.emit import import_numba
from ..codegen.specialise.calls import call
from .arguments import StaticKey
from .transformation import Transformation, innermost


class Jit(Transformation):
    """A function compiled with Numba, once for each rank and dtype of its arguments."""

    jitted = True

    def __init__(self, function: Any, static_argnums: Any = (), static_argnames: Any = ()):
        super().__init__(function)
        import_numba()
        numbers = (static_argnums,) if isinstance(static_argnums, int) else tuple(static_argnums or ())
        names = (static_argnames,) if isinstance(static_argnames, str) else tuple(static_argnames or ())
        self.static_names = frozenset((*names, *self.names_at(numbers)))
        self.static_numbers = frozenset((*numbers, *self.positions_of(names)))

        self.fresh_results = getattr(function, "fresh_results", False)

    def parameters(self) -> list[str]:
        try:
            return list(inspect.signature(innermost(self)).parameters)
        except (TypeError, ValueError):
            return []

    def names_at(self, numbers: tuple) -> list[str]:
        parameters = self.parameters()
        return [parameters[n] for n in numbers if -len(parameters) <= n < len(parameters)]

    def positions_of(self, names: tuple) -> list[int]:
        parameters = self.parameters()
        return [parameters.index(name) for name in names if name in parameters]

    def static_places(self) -> tuple[frozenset, frozenset]:
        return self.static_numbers, self.static_names

    def take_static(self, arguments: tuple, keywords: dict) -> tuple[Any, tuple, dict]:
        if not self.static_numbers and not self.static_names:
            return None, arguments, keywords
        count = len(arguments)
        numbers = sorted(n % count for n in self.static_numbers if -count <= n < count)
        for value in [arguments[n] for n in numbers] + [
            v for k, v in keywords.items() if k in self.static_names
        ]:
            try:
                hash(value)
            except TypeError:
                raise TypeError(
                    f"a static argument must be hashable, and this {type(value).__name__} is not; "
                    "pass a tuple instead of a list"
                ) from None
        static = (
            tuple((n, StaticKey(arguments[n])) for n in numbers),
            tuple(sorted((k, StaticKey(v)) for k, v in keywords.items() if k in self.static_names)),
        )
        kept = tuple(a for n, a in enumerate(arguments) if n not in numbers)
        return static, kept, {k: v for k, v in keywords.items() if k not in self.static_names}

    def put_static(self, arguments: tuple, keywords: dict, static: Any) -> tuple[tuple, dict]:
        if static is None:
            return arguments, keywords
        given = list(arguments)
        for number, value in static[0]:
            given.insert(number, value.value)
        return tuple(given), {**keywords, **{k: v.value for k, v in static[1]}}

    def leaf_names(self, leaves: list, structure: Any, static: Any) -> list[str | None]:
        if static is None:
            return super().leaf_names(leaves, structure, static)
        return [None] * len(leaves)

    def as_python(self, arguments: tuple, keywords: dict) -> Any:
        return self.function(*arguments, **keywords)

    def expand(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        return call(s, self.function, arguments, keywords, node)
