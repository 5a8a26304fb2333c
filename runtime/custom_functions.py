"""Functions with derivative rules of their own: what custom_jvp and custom_vjp make."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..codegen.specialise.attributes import Place
from ..codegen.specialise.builtin_functions import BUILTINS
from ..codegen.specialise.calls import call
from ..codegen.specialise.values import Closure
from .custom_calls import emit_call, parameter_names
from .keywords import taken


@dataclass(frozen=True)
class Rules:
    """What is known of a function's derivative, as the user wrote it."""

    jvp: Any = None
    forward: Any = None
    backward: Any = None


class CustomFunction:
    """A function that is called as it is, and differentiated by rules."""

    kind = "custom_jvp"

    def __init__(self, function: Any, nondiff_argnums: Any = (), nondiff_argnames: Any = ()):
        if not callable(function) and not isinstance(function, Closure):
            raise TypeError(f"{self.kind} needs a function, and was given a {type(function).__name__}")
        self.function = function
        self.rules = Rules()
        if isinstance(function, types.FunctionType):
            functools.update_wrapper(self, function, updated=())
        self.nondiff = self.positions(nondiff_argnums, nondiff_argnames)

    @property
    def name(self) -> str:
        name = getattr(self.function, "__name__", None) or getattr(self.function, "name", None) or "function"
        return "function" if name == "<lambda>" else name

    def positions(self, numbers: Any, names: Any) -> tuple[int, ...]:
        """The arguments that the rules get first, and that have no derivative."""
        numbers = (numbers,) if isinstance(numbers, int) else tuple(map(operator.index, numbers))
        names = (names,) if isinstance(names, str) else tuple(names)
        known = parameter_names(self.function)
        for name in names:
            if name not in known:
                raise ValueError(
                    f"{self.kind}: {self.name} has no argument called {name!r}; its arguments "
                    f"are {', '.join(known)}"
                )
        return tuple(dict.fromkeys((*numbers, *map(known.index, names))))

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.function(*arguments, **keywords)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name}>"

    def __specialise__(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        if not s.differentiating:
            return call(s, self.function, arguments, keywords, node)
        s.guard((self, "rules"), self.place("rules"), self.rules)
        positional = in_order(s, self, arguments, keywords)
        return emit_call(
            s, self.name, self.function, self.rules, self.nondiff, positional, node, self.remedy()
        )

    def place(self, name: str) -> Any:
        """Where an attribute is read again at each call."""
        return Place(self).attribute(name)

    def remedy(self) -> str:
        """How to register a rule."""
        method = "defvjp(forward, backward)" if self.kind == "custom_vjp" else "defjvp(rule)"
        return f"register one: {self.name}.{method}"


def defaults_of(s: Any, function: Any) -> tuple:
    """The default values of a function's last positional parameters."""
    if isinstance(function, Closure):
        return function.defaults
    function = getattr(function, "__func__", function)
    return tuple(s.default(d) for d in getattr(function, "__defaults__", None) or ())


def in_order(s: Any, custom: CustomFunction, arguments: list, keywords: dict) -> list:
    """Arguments as the rules get them: all by position, defaults filled in."""
    if not keywords and not isinstance(custom.function, (Closure, types.FunctionType, types.MethodType)):
        return arguments
    names = parameter_names(custom.function)
    if not names:
        if keywords:
            raise TypeError(
                f"{custom.name} takes its arguments by position only: it has a derivative rule, "
                f"and no signature that says where {', '.join(keywords)} belongs"
            )
        return arguments
    values = dict(zip(names, arguments, strict=False))
    extra = arguments[len(names) :]
    for key, value in keywords.items():
        if key not in names:
            raise TypeError(
                f"{custom.name}() got an unexpected keyword argument '{key}': arguments of a "
                "function with a derivative rule are given to the rule by position, so that none "
                "can be keyword-only"
            )
        if key in values:
            raise TypeError(f"{custom.name}() got multiple values for argument '{key}'")
        values[key] = value
    for key, default in zip(reversed(names), reversed(defaults_of(s, custom.function)), strict=False):
        values.setdefault(key, default)
    missing = [name for name in names if name not in values]
    if missing:
        raise TypeError(
            f"{custom.name}() missing {len(missing)} required positional argument"
            f"{'s' if len(missing) > 1 else ''}: " + " and ".join(f"'{m}'" for m in missing)
        )
    return [*(values[name] for name in names), *extra]


class CustomJvp(CustomFunction):
    """A function with a rule for its derivative in forward mode, which reverse mode transposes."""

    def defjvp(self, jvp: Callable) -> Callable:
        """Register `jvp(*nondiff, primals, tangents)`, which returns the value and its tangent."""
        self.rules = replace(self.rules, jvp=jvp)
        return jvp

    def defjvps(self, *jvps: Callable | None) -> None:
        """Register, for each argument, `jvp(tangent, value, *arguments)`: its part of the value's tangent."""
        if self.nondiff:
            raise TypeError(f"{self.name}.defjvps cannot be used with nondiff_argnums; use defjvp")
        self.rules = replace(self.rules, jvp=Parts(self, jvps))


class CustomVjp(CustomFunction):
    """A function with a rule for its derivative in reverse mode."""

    kind = "custom_vjp"

    def defvjp(self, fwd: Callable, bwd: Callable) -> None:
        """Register `fwd(*arguments)`, which returns the value and residuals, and `bwd`.

        `bwd(*nondiff, residuals, cotangent)` returns a tuple with a cotangent for each argument.
        """
        self.rules = replace(self.rules, forward=fwd, backward=bwd)


class Parts:
    """A jvp rule made of one for each argument."""

    def __init__(self, custom: CustomFunction, jvps: tuple):
        self.custom, self.jvps = custom, jvps
        self.function = next((jvp for jvp in jvps if jvp is not None), None)
        self.__name__ = custom.name

    def __specialise__(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        primals, tangents = arguments
        if len(self.jvps) != len(primals):
            raise TypeError(
                f"{self.custom.name}.defjvps was given {len(self.jvps)} rules, and the function "
                f"is called with {len(primals)} arguments: give one for each, None for a zero "
                "derivative"
            )
        out = call(s, self.custom, list(primals), keywords, node)
        parts = [
            call(s, jvp, [tangent, out, *primals], taken(jvp, keywords), node)
            for jvp, tangent in zip(self.jvps, tangents, strict=True)
            if jvp is not None
        ]
        return out, added(s, parts, node)


def added(s: Any, parts: list, node: Any) -> Any:
    """The sum of trees of one structure; None where there is none."""
    if not parts:
        return None
    total = parts[0]
    for part in parts[1:]:
        total = call(s, add_trees, [total, part], {}, node)
    return total


def add_trees(one: Any, other: Any) -> Any:
    if isinstance(one, (tuple, list)):
        return type(one)([add_trees(a, b) for a, b in zip(one, other, strict=True)])
    if isinstance(one, dict):
        return {key: add_trees(one[key], other[key]) for key in one}
    return one + other


def define_inside(method: Callable) -> None:
    """Let a function that is being specialised register rules on a function that it made."""

    def handler(s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        return method(*arguments, **keywords)

    BUILTINS[method] = handler


for method in (CustomJvp.defjvp, CustomJvp.defjvps, CustomVjp.defvjp):
    define_inside(method)
