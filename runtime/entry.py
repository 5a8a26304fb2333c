"""The short way into a program: a function, written for its signature, that recognises what it was made for.

The general way into a program takes arguments apart, looks up their types and asks every guard in turn, which
costs many times what a small program does. All of that is known once the program is made, so its entry makes
the same tests in a row of plain Python. An entry only ever declines more than it should: what it does not
recognise it answers with OTHER, and the general way decides.

>>> import numpy as np
>>> from .compilation import Jit
>>> half = Jit("def half(x): return {'half': x['whole'] * 0.5}")
>>> _ = half({"whole": np.ones(3)})
>>> print(half.entries[0].text, end="")
def enter(arguments, keywords):
    try:
        (a,) = arguments
        if type(a) is not dict or tuple(a) != k:
            return OTHER
        b = a['whole']
        if type(b) is not ndarray or b.dtype is not k_2 and b.dtype != k_2:
            return OTHER
        (c,) = b.shape
        if c < 2 or not b.flags.c_contiguous:
            return OTHER
        if keywords:
            return OTHER
        if k_3.__code__ is not k_4 or k_3.__defaults__ is not None or k_3.__kwdefaults__ is not None:
            return OTHER
    except Exception:
        return OTHER
    try:
        r = (large if c >= 32768 else small)(b)
    except Exception as error:
        return failed(error)
    return {'half': r}
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..codegen.core import ArrayType
from ..codegen.specialise import Leaf, put_together
from ..codegen.specialise.external import Guard
from ..codegen.specialise.places import Place
from .arguments import flatten, is_dynamic_leaf
from .sized import Sized
from .trees import registered_dataclasses

OTHER = object()
WEAK = (float, int, complex)
SIMPLE = (bool, int, float, complex, str, bytes, tuple, frozenset)
WRITTEN = (bool, int, str, type(None))


class NoEntry(Exception):
    """A part of a signature that only the general way recognises."""


class Entry:
    """A program's short way in: `enter(arguments, keywords)` answers the result, or OTHER."""

    def __init__(self, compiled: Any, arguments: tuple, keywords: dict, static: tuple):
        writer = Writer(compiled, static)
        self.text = writer.text(arguments, keywords)
        namespace = writer.constants
        exec(compile(self.text, f"<chainrule entry of {compiled.name}>", "exec"), namespace)
        self.enter = namespace["enter"]


def entry_of(compiled: Any, arguments: tuple, keywords: dict, static: tuple) -> Entry | None:
    """The entry of a program that these arguments led to; None if there can be none."""
    try:
        return Entry(compiled, arguments, keywords, static)
    except NoEntry:
        return None


def failing(compiled: Any) -> Callable:
    """What an entry does with an exception of the program's: sizes that differ are for the general way."""

    def failed(error: Exception) -> Any:
        if isinstance(error, ValueError) and compiled.of_sizes(error):
            return OTHER
        raise compiled.annotated(error) from None

    return failed


class Writer:
    """Writes an entry, line by line, and names the objects that it refers to."""

    def __init__(self, compiled: Any, static: tuple):
        self.compiled, self.static = compiled, static
        self.constants: dict[str, Any] = {
            "OTHER": OTHER,
            "failed": failing(compiled),
            "may_share_memory": np.may_share_memory,
            "ndarray": np.ndarray,
            "put_together": put_together,
            "write_back": compiled.write_back,
        }
        self.function = compiled.function
        self.names: dict[int, str] = {}
        self.elements: list[str] = []
        self.lines: list[str] = []
        self.leaves: list[Any] = []
        self.operands: list[str] = []
        self.variables = variable_names()

    def text(self, arguments: tuple, keywords: dict) -> str:
        self.take_arguments(arguments, keywords)
        if len(self.operands) + len(self.compiled.captures) != len(self.compiled.parameters):
            raise NoEntry
        for capture in self.compiled.captures:
            self.take_capture(capture)
        self.decline_if_shared()
        self.decline_unless_held(self.compiled.guards)
        recognise = indented(["try:", *indented(self.lines), "except Exception:", "    return OTHER"])
        return "\n".join(["def enter(arguments, keywords):", *recognise, *indented(self.run()), ""])

    def decline_if(self, *tests: str) -> None:
        if tests:
            self.lines += [f"if {' or '.join(tests)}:", "    return OTHER"]

    def bound(self, expression: str) -> str:
        """A new variable with the value of an expression."""
        variable = next(self.variables)
        self.lines.append(f"{variable} = {expression}")
        return variable

    def constant(self, value: Any) -> str:
        """The name of an object, or its text."""
        if type(value) in WRITTEN:
            return repr(value)
        if id(value) not in self.names:
            number = len(self.names) + 1
            self.names[id(value)] = "k" if number == 1 else f"k_{number}"
            self.constants[self.names[id(value)]] = value
        return self.names[id(value)]

    # what the arguments must be

    def take_arguments(self, arguments: tuple, keywords: dict) -> None:
        """Unpack the arguments of a call, in the order that their leaves have."""
        static_numbers, static_names = self.static
        names = [next(self.variables) for _ in arguments]
        self.lines.append(f"{tuple_text(names)} = arguments" if names else "if arguments: return OTHER")
        for number, (name, value) in enumerate(zip(names, arguments, strict=True)):
            if number in static_numbers or number - len(arguments) in static_numbers:
                self.take_static(value, name)
            else:
                self.take(value, name)
        self.decline_if(f"tuple(keywords) != {self.constant(tuple(keywords))}" if keywords else "keywords")
        for key in sorted(keywords):
            variable = self.bound(f"keywords[{key!r}]")
            (self.take_static if key in static_names else self.take)(keywords[key], variable)
        found = flatten(
            (without(arguments, static_numbers), {k: v for k, v in keywords.items() if k not in static_names})
        )
        if list(map(id, found[0])) != list(map(id, self.leaves)):
            raise NoEntry

    def take(self, value: Any, name: str) -> None:
        """Recognise a node of the arguments and what is in it, or a leaf."""
        kind = type(value)
        fields = getattr(kind, "_fields", None) if isinstance(value, tuple) else None
        if kind in (tuple, list) or fields is not None:
            self.decline_if(f"type({name}) is not {self.constant_type(kind)}", f"len({name}) != {len(value)}")
            names = [next(self.variables) for _ in value]
            if names:
                self.lines.append(f"{tuple_text(names)} = {name}")
            for part, one in zip(value, names, strict=True):
                self.take(part, one)
        elif kind is dict:
            if not all(type(key) is str for key in value):
                raise NoEntry
            self.decline_if(f"type({name}) is not dict", f"tuple({name}) != {self.constant(tuple(value))}")
            for key in sorted(value):
                self.take(value[key], self.bound(f"{name}[{key!r}]"))
        elif kind in registered_dataclasses():
            self.decline_if(f"type({name}) is not {self.constant_type(kind)}")
            for field in kind.__dataclass_fields__:
                self.take(getattr(value, field), self.bound(f"{name}.{field}"))
        elif value is None:
            self.decline_if(f"{name} is not None")
        else:
            self.leaves.append(value)
            (self.take_dynamic if is_dynamic_leaf(value) else self.take_static)(value, name)

    def constant_type(self, kind: type) -> str:
        return kind.__name__ if kind in (tuple, list, dict, *SIMPLE) else self.constant(kind)

    def take_dynamic(self, leaf: Any, name: str) -> None:
        number = len(self.operands)
        self.operands.append(name)
        if type(leaf) in WEAK:
            tests = [f"type({name}) is not {type(leaf).__name__}"]
            if number in self.compiled.known_integers:
                tests.append(f"{name} != {leaf!r}")
            elif type(leaf) is int:
                self.elements.append(name)
            self.decline_if(*tests)
        elif isinstance(leaf, np.generic):
            self.decline_if(f"type({name}) is not {self.constant(type(leaf))}")
        elif type(leaf) is np.ndarray:
            contiguous = "not " if leaf.flags.c_contiguous else ""
            of = self.compiled.parameters[number].type
            self.take_array(name, of, f"{contiguous}{name}.flags.c_contiguous")
        else:
            raise NoEntry

    def take_array(self, name: str, of: ArrayType, *tests: str) -> None:
        dtype = self.constant(of.dtype)
        self.decline_if(
            f"type({name}) is not ndarray", f"{name}.dtype is not {dtype} and {name}.dtype != {dtype}"
        )
        if not of.shape:
            self.decline_if(f"{name}.shape", *tests)
            self.operands[-1] = self.bound(f"{name}[()]")
            return
        sizes = [next(self.variables) for _ in of.shape]
        self.lines.append(f"{tuple_text(sizes)} = {name}.shape")
        known = [
            f"{size} != {dimension}"
            if isinstance(dimension, int)
            else f"{size} < {2 if axis else self.compiled.least}"
            for axis, (size, dimension) in enumerate(zip(sizes, of.shape, strict=True))
        ]
        self.elements.append(" * ".join(sizes))
        self.decline_if(*known, *tests)

    def take_static(self, value: Any, name: str) -> None:
        """Recognise a value that is part of the signature: by value where that is safe, else by identity."""
        if value is None or type(value) is bool:
            self.decline_if(f"{name} is not {value!r}")
        elif type(value) in SIMPLE:
            self.decline_if(
                f"type({name}) is not {type(value).__name__}", f"not {name} == {self.constant(value)}"
            )
        elif isinstance(value, type) or type(value).__eq__ is object.__eq__:
            self.decline_if(f"{name} is not {self.constant(value)}")
        else:
            raise NoEntry

    # what it reads from outside

    def read(self, place: Any) -> str:
        if isinstance(place, Place):
            return place.written(self.constant(place.root), self.constant)
        return f"{self.constant(place)}()"

    def take_capture(self, capture: Any) -> None:
        """Fetch a captured value, and recognise its type as compiled.fits does."""
        name, of, now = self.bound(self.read(capture.fetch)), capture.variable.type, capture.fetch()
        self.operands.append(name)
        if of.weak or isinstance(now, np.generic):
            self.decline_if(f"type({name}) is not {self.constant_type(type(now))}")
        else:
            self.take_array(name, of)

    def decline_if_shared(self) -> None:
        """Where the function writes to an argument, let the general way look at others in the same memory."""
        for where, write in self.compiled.writes.items():
            others = [other for other in write.readers if other != where]
            self.decline_if(
                *(f"may_share_memory({self.operands[other]}, {self.operands[where]})" for other in others)
            )

    def decline_unless_held(self, guards: list[Guard]) -> None:
        tests = dict.fromkeys(test for guard in guards for test in self.broken(guard))
        self.decline_if(*tests)

    def broken(self, guard: Guard) -> Iterator[str]:
        """Tests of which one is true if a guard does not hold."""
        found, expected = self.read(guard.fetch), guard.expected
        if guard.kind == "identity":
            yield f"{found} is not {self.constant(expected)}"
            return
        if guard.kind in ("keys", "length"):
            kind, known = expected
            yield f"type({found}) is not {self.constant_type(kind)}"
            read = "tuple" if guard.kind == "keys" else "len"
            yield f"{read}({found}) != {self.constant(known)}"
            return
        if expected is None or type(expected) is bool:
            yield f"{found} is not {expected!r}"
            return
        yield f"type({found}) is not {self.constant_type(type(expected))}"
        yield f"not {found} == {self.constant(expected)}"

    # the call, and its result

    def run(self) -> list[str]:
        count = self.compiled.count
        results = [name for name, _ in zip(numbered("r"), range(count), strict=False)]
        target = {0: "", 1: "r = "}.get(count, f"{tuple_text(results)} = ")
        lines = [
            "try:",
            f"    {target}{self.called()}({', '.join(self.operands)})",
            "except Exception as error:",
            "    return failed(error)",
        ]
        written = len(self.compiled.written)
        if written:
            results, kept = results[: count - written], tuple_text(results)
            leaves = tuple_text(self.operands[: len(self.operands) - len(self.compiled.captures)])
            target = f"{tuple_text(results)} = " if results else ""
            lines.append(f"{target}write_back({leaves}, {kept})")
        for name, of in zip(results, self.compiled.result_types):
            if not (isinstance(of, ArrayType) and (of.shape or of.weak)):
                lines.append(f"if type({name}) is ndarray and not {name}.ndim: {name} = {name}[()]")
        return [*lines, f"return {self.built(self.compiled.template, results)}"]

    def called(self) -> str:
        """The function, or a choice between the two for small and for large arguments."""
        if not isinstance(self.function, Sized):
            self.constants["function"] = self.function
            return "function"
        self.constants |= {w: self.function.called_by(self.constants, w) for w in ("small", "large")}
        least = self.function.least
        tests = [f"{elements} >= {least}" for elements in self.elements] if least else []
        if not tests:
            return "small" if least else "large"
        return f"(large if {' or '.join(tests)} else small)"

    def built(self, template: Any, results: list[str]) -> str:
        """An expression for the value with this template."""
        kind = type(template)
        if isinstance(template, Leaf):
            return results[template.index]
        if kind is tuple or kind is list:
            parts = [self.built(part, results) for part in template]
            return tuple_text(parts) if kind is tuple else f"[{', '.join(parts)}]"
        if kind is dict:
            parts = [f"{self.constant(key)}: {self.built(part, results)}" for key, part in template.items()]
            return f"{{{', '.join(parts)}}}"
        if template is None or kind in (bool, int, float, str):
            return self.constant(template)
        return f"put_together({self.constant(template)}, [{', '.join(results)}])"


def variable_names() -> Iterator[str]:
    """a, b, ..., z, a_2, ... but for what has a meaning in an entry."""
    for suffix in itertools.chain([""], (f"_{n}" for n in itertools.count(2))):
        yield from (f"{letter}{suffix}" for letter in string.ascii_lowercase if letter not in "kr")


def numbered(letter: str) -> Iterator[str]:
    return itertools.chain([letter], (f"{letter}_{n}" for n in itertools.count(2)))


def tuple_text(names: list[str]) -> str:
    """A tuple, without parentheses where a target needs none: `a, b`."""
    return f"({names[0]},)" if len(names) == 1 else f"({', '.join(names)})"


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def without(arguments: tuple, numbers: frozenset) -> tuple:
    count = len(arguments)
    return tuple(a for n, a in enumerate(arguments) if n not in numbers and n - count not in numbers)
