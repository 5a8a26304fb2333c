"""What a transformed function is, and what happens when it is called."""

from __future__ import annotations

import functools
import inspect
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ..codegen.errors import ChainruleError, NotDifferentiableError, ShapeMismatchError
from ..codegen.garbage import without_collection
from ..codegen.least_size import sizes_from
from ..codegen.parse import parse_text
from ..codegen.registered import REGISTERED
from ..codegen.specialise import NeedStatic, specialise
from ..codegen.specialise.values import ArrayMethod, Closure, Method
from .arguments import as_nodes, flatten, is_dynamic_leaf, leaf_key, pinned_values, placeholders
from .compiled import Compiled, text_of_stage
from .entry import OTHER, Entry, entry_of
from .kept_programs import keep, recall
from .modes import ordinary, uncompiled, watched
from .recompiles import Making, making
from .size_one import Unsuitable, check_suitable, first_axes_of_one, for_any_size

ENTRIES = 4  # that are tried in turn before the general way


class Exact:
    """Marks the signature of a program for arguments of these very sizes."""


class Transformation:
    """A function made from another. Subclasses say how by `expand`, which the specialiser calls.

    Calling it finds the program for the arguments' signature, or makes it, and runs it.
    """

    jitted = False
    fresh_results = False
    compiled_kind = Compiled

    def __init__(self, function: Any):
        if isinstance(function, str):
            function = parse_text(function, {"__name__": "<source>", "np": np, "math": math})
        if not callable(function) and not isinstance(function, (Closure, Method, ArrayMethod)):
            raise TypeError(f"expected a function, got {type(function).__name__}")
        self.function = function
        self.pins: dict[Any, frozenset] = {}
        self.exact: set[Any] = set()
        self.batches: dict[Any, tuple[int, ...]] = {}
        self.programs: dict[Any, list[Compiled]] = {}
        self.entries: tuple[Entry, ...] = ()
        self.history: list[Making] = []
        if isinstance(function, (types.FunctionType, Transformation)):
            functools.update_wrapper(self, function, updated=())

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if ordinary():
            for entry in self.entries:
                result = entry.enter(arguments, keywords)
                if result is not OTHER:
                    return result
        elif uncompiled() and watched() is None:
            result = self.as_python(arguments, keywords)
            if result is not OTHER:
                return result
        return self.general(arguments, keywords)

    def as_python(self, arguments: tuple, keywords: dict) -> Any:
        """The result by running the user's own function, where that is what this one computes; else OTHER."""
        return OTHER

    def general(self, arguments: tuple, keywords: dict) -> Any:
        """A call that no entry recognises; the next one like it will have an entry."""
        self.check(arguments, keywords)
        static, dynamic_arguments, dynamic_keywords = self.take_static(arguments, keywords)
        leaves, structure = flatten((dynamic_arguments, dynamic_keywords))
        used: list[Compiled] = []

        def use(compiled: Compiled, dynamic: list, captured: list) -> Any:
            used[:] = [compiled]
            return compiled(dynamic, captured)

        result = self.run(leaves, structure, static, use)
        if ordinary():
            self.remember(used[0], arguments, keywords)
        return result

    def remember(self, compiled: Compiled, arguments: tuple, keywords: dict) -> None:
        """Let calls like this one find their program in its entry."""
        if compiled.entry is None and not compiled.without_entry:
            compiled.entry = entry_of(compiled, arguments, keywords, self.static_places())
            compiled.without_entry = compiled.entry is None
        if compiled.entry is not None and compiled.entry not in self.entries:
            self.entries = (compiled.entry, *self.entries[: ENTRIES - 1])

    def run(self, leaves: list, structure: Any, static: Any, use: Callable) -> Any:
        """`use(program, its leaves, its captured values)`, with the program for these leaves.

        Where sizes that a program takes to be equal are not, one of them may be a 1 that NumPy would
        broadcast: then the program for these very sizes is used, which knows. If it is not a 1, that program
        cannot be made, and the error has the sizes in it.
        """
        key = (structure, tuple(map(leaf_key, leaves)), static)
        dynamic = [leaf for leaf in leaves if is_dynamic_leaf(leaf)]
        compiled, captured = self.for_any_size(key, leaves, structure, dynamic)
        if compiled is not None:
            try:
                return use(compiled, dynamic, captured)
            except ValueError as error:
                if not compiled.of_sizes(error):
                    raise
            self.batches[key] = ()
        compiled, captured = self.prepared(key, leaves, structure, dynamic)
        try:
            result = use(compiled, dynamic, captured)
            if compiled.new:
                compiled.new = False
                keep(self, key, leaves, dynamic, compiled)
                compiled.described.forget()
            return result
        except ValueError as error:
            if not compiled.of_sizes(error):
                raise
        key = (*key, Exact)
        self.pins[key] = every_size(dynamic)
        self.exact.add(key)
        compiled, captured = self.prepared(key, leaves, structure, dynamic)
        return use(compiled, dynamic, captured)

    def for_any_size(
        self, key: tuple, leaves: list, structure: Any, dynamic: list
    ) -> tuple[Compiled | None, Any]:
        """The program for batches of all sizes and its captured values, if it is for this batch of one."""
        if not self.jitted:
            return None, None
        opened = self.batches.setdefault(key, first_axes_of_one(key))
        while opened:
            wide = for_any_size(key, opened)
            compiled, captured = self.find(wide, dynamic)
            if compiled is not None and compiled.least == 1:
                return compiled, captured
            try:
                with sizes_from(1):
                    return self.make(wide, leaves, structure, dynamic, opened)
            except Unsuitable as unsuitable:
                opened = self.batches[key] = unsuitable.batch
            except Exception:
                opened = self.batches[key] = ()
        return None, None

    def prepared(self, key: Any, leaves: list, structure: Any, dynamic: list) -> tuple[Compiled, list]:
        """The program for a signature and its captured values."""
        compiled, captured = self.find(key, dynamic)
        if compiled is None:
            compiled = recall(self, key, leaves, dynamic)
            captured = None if compiled is None else compiled.fetched()
            if captured is not None:
                self.enter(compiled, key, leaves, structure, dynamic)
                return compiled, captured
            compiled, captured = self.make(key, leaves, structure, dynamic)
        return compiled, captured

    def find(self, key: Any, dynamic: list[Any]) -> tuple[Compiled | None, Any]:
        """The program made earlier for this signature, if what it was made from has not changed."""
        pins = self.pins.get(key, frozenset())
        for compiled in self.programs.get((key, pinned_values(dynamic, pins)), ()):
            if compiled.fresh():
                captured = compiled.fetched()
                if captured is not None:
                    return compiled, captured
        return None, None

    @without_collection
    def make(
        self, key: Any, leaves: list, structure: Any, dynamic: list, opened: tuple[int, ...] | None = None
    ) -> tuple[Compiled, list]:
        """A new program; with `opened`, one for all sizes of the first axis of these leaves."""
        try:
            specialised = self.specialised(key, leaves, structure)
        except (ShapeMismatchError, NotDifferentiableError) as error:
            raise self.in_numbers(error, key, leaves, structure) from None
        if opened is not None:
            captured = [capture.fetch() for capture in specialised.captures]
            check_suitable(specialised.program, [*dynamic, *captured], opened)
        compiled = self.compiled_kind(specialised, self.jitted, self.fresh_results)
        pins = self.pins.get(key, frozenset())
        compiled.known_integers = frozenset(where for where, axis in pins if axis is None)
        self.enter(compiled, key, leaves, structure, dynamic, opened is not None)
        return compiled, [capture.fetch() for capture in compiled.captures]

    def enter(
        self, compiled: Compiled, key: Any, leaves: list, structure: Any, dynamic: list, again: bool = False
    ) -> None:
        """Let a program be found by its signature; with `again`, it may be one that is there already."""
        pins = self.pins.get(key, frozenset())
        values = pinned_values(dynamic, pins)
        alike = self.programs.setdefault((key, values), [])
        names = self.leaf_names(leaves, structure, key[2])
        if not again or not any(map(compiled.same_code, alike)):
            self.history.append(making(names, key, pins, values, Exact in key, alike))
        alike.insert(0, compiled)

    def in_numbers(self, error: ChainruleError, key: Any, leaves: list, structure: Any) -> ChainruleError:
        """The same error in the sizes of this call, instead of names of sizes."""
        dynamic = [leaf for leaf in leaves if is_dynamic_leaf(leaf)]
        exact = (*key[:3], Exact, tuple(np.shape(leaf) for leaf in dynamic))
        self.pins[exact] = every_size(dynamic)
        try:
            self.specialised(exact, leaves, structure)
        except ChainruleError as told:
            return told if type(told) is type(error) else error
        except Exception:
            pass
        finally:
            del self.pins[exact]
        return error

    def specialised(self, key: Any, leaves: list, structure: Any) -> Any:
        """The core program for these arguments; sizes that must be known become part of the signature."""
        static = key[2]
        names, name = self.leaf_names(leaves, structure, static), self.program_name()
        name = f"{name}_program" if name in REGISTERED else name
        while True:
            pins = self.pins.get(key, frozenset())
            items, _ = placeholders(leaves, key[1], names, pins)
            arguments, keywords = self.put_static(*as_nodes(structure, items), static)
            try:
                return specialise(self, list(arguments), keywords, name, key in self.exact)
            except NeedStatic as need:
                wanted = {pin for pin in need.pins if isinstance(pin[0], int)}
                exact = any(not isinstance(pin[0], int) for pin in need.pins)
                if wanted <= pins and (not exact or key in self.exact):
                    raise need.error from None
                self.pins[key] = pins | wanted
                if exact:
                    self.exact.add(key)

    def source(self, arguments: tuple, keywords: dict, stage: str) -> str:
        """The text of the program for these arguments."""
        self.check(arguments, keywords)
        static, arguments, keywords = self.take_static(arguments, keywords)
        leaves, structure = flatten((arguments, keywords))
        key = (structure, tuple(map(leaf_key, leaves)), static)
        specialised = self.specialised(key, leaves, structure)
        return str(text_of_stage(specialised, stage, self.fresh_results, leaves))

    # what subclasses change

    def expand(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        """The transformed function's value on the specialiser's values."""
        raise NotImplementedError

    def __specialise__(self, s: Any, arguments: list, keywords: dict, node: Any) -> Any:
        return self.expand(s, arguments, keywords, node)

    def check(self, arguments: tuple, keywords: dict) -> None:
        """Refuse arguments that no program could be made for."""

    def static_places(self) -> tuple[frozenset, frozenset]:
        """The positions and names of the arguments that are part of the signature."""
        return frozenset(), frozenset()

    def take_static(self, arguments: tuple, keywords: dict) -> tuple[Any, tuple, dict]:
        return None, arguments, keywords

    def put_static(self, arguments: tuple, keywords: dict, static: Any) -> tuple[tuple, dict]:
        return arguments, keywords

    def program_name(self) -> str:
        """The name of the generated function."""
        name = getattr(innermost(self), "__name__", "function")
        name = "function" if not name.isidentifier() else name
        return name.strip("_") or "function"

    def leaf_names(self, leaves: list, structure: Any, static: Any) -> list[str | None]:
        """A name for each leaf of the arguments, after the user's parameters."""
        return names_of_leaves(innermost(self), leaves, structure)


def every_size(leaves: list) -> frozenset:
    """All sizes of arrays, and the values of all integers, as parts of a signature."""
    sizes = {(k, axis) for k, leaf in enumerate(leaves) for axis in range(np.ndim(leaf))}
    return frozenset(sizes | {(k, None) for k, leaf in enumerate(leaves) if type(leaf) is int})


def innermost(function: Any) -> Any:
    """The user's function under all transformations."""
    while isinstance(function, (Transformation, functools.partial)):
        function = function.function if isinstance(function, Transformation) else function.func
    return function


def names_of_leaves(function: Any, leaves: list, structure: Any) -> list[str | None]:
    """Names such as `w`, `params_w`, `layers_0_w`: from the parameters' names and the paths of leaves."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    names: list[str | None] = []
    for where, first, *rest in structure.paths():
        base = first if where == 1 else positional[first] if first < len(positional) else f"argument_{first}"
        name = "_".join(str(part) for part in (base, *rest))
        names.append("".join(c if c.isalnum() or c == "_" else "_" for c in name))
    return names


__all__ = ["ChainruleError", "Transformation", "innermost"]
