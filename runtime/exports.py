"""export: a function's program as a folder that runs without chainrule.

A module holds the program, whose parameters are arrays and numbers, and a function with the user's own
parameters, which takes them apart, refuses what the program was not made for, and puts the results together.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np

from ..backends.numba.emit import write
from ..backends.numba.standalone import with_support
from ..codegen.errors import TypeMismatchError, UnsupportedError
from ..codegen.specialise import Leaf
from .arguments import flatten, is_dynamic_leaf, leaf_key
from .compiled import FEW, text_of_stage
from .transformation import Transformation, innermost

STAGES = ("numba", "numpy")
PLAIN = (str, int, float, bool, bytes, type(None))

ARRAY = '''
def array(value, name, dtype, shape):
    """The argument, if it is what the program was made for: None stands for any size from 2 on."""
    if not isinstance(value, np.ndarray) or value.dtype != dtype or value.ndim != len(shape):
        raise TypeError(f"{name} must be an array of {np.dtype(dtype)} with {len(shape)} axes")
    for size, known in zip(value.shape, shape):
        if size != known if known is not None else size < 2:
            raise ValueError(f"{name} has shape {value.shape}, and the program was made for {shape}")
    return np.ascontiguousarray(value)
'''
NUMBER = '''
def number(value, name, kind):
    """The argument, if it is of the type that the program was made for."""
    if type(value) is not kind:
        raise TypeError(f"{name} must be of type {kind.__name__}, and is of type {type(value).__name__}")
    return value
'''
SAME = '''
def same(value, name, known):
    """Refuse another value than the program was made for."""
    if type(value) is not type(known) or value != known:
        raise ValueError(f"{name} is {value!r}, and the program was made for {known!r}")
'''


def export(made: Transformation, folder: Path, stage: str, arguments: tuple, keywords: dict) -> Path:
    """Write the program for these arguments; the path of its module."""
    if stage not in STAGES:
        raise ValueError(f"export has the stages {', '.join(STAGES)}, not {stage!r}")
    made.check(arguments, keywords)
    static, given, named = made.take_static(arguments, keywords)
    leaves, structure = flatten((given, named))
    key = (structure, tuple(map(leaf_key, leaves)), static)
    specialised = made.specialised(key, leaves, structure)
    public = made.program_name()
    specialised.program.name = f"{public}_program"
    text = str(text_of_stage(specialised, stage, made.fresh_results))
    refuse_ours(text, public)
    wrapper = Wrapper(made, specialised, leaves, made.pins.get(key, frozenset()))
    lines = wrapper.function(public, *full_arguments(made, structure, len(leaves), static))
    module = folder / f"{public}.py"
    text, support = with_support(text, f"{public}_support")
    folder.mkdir(parents=True, exist_ok=True)
    if support is not None:
        write(folder / f"{public}_support.py", support)
    if wrapper.values:
        np.savez(folder / f"{public}_values.npz", **wrapper.values)
    write(module, assembled(text, wrapper, lines, public))
    return module


def refuse_ours(text: str, name: str) -> None:
    """Refuse programs that run functions of this process."""
    found = re.search(r"(PRIMITIVES|CALLBACKS)\[['\"](\w+)|registered import (?P<name>\w+)", text)
    if found:
        raise UnsupportedError(
            f"export of {name}, which calls {found['name'] or found[2]} of this process",
            "leave it out of what is exported, or write it with NumPy functions",
        )


def full_arguments(made: Transformation, structure: Any, count: int, static: Any) -> tuple[tuple, dict]:
    """The arguments, with a Place for each leaf and constants for what is static."""
    items = structure.unflatten([Place(k) for k in range(count)])
    return made.put_static(*items, static)


class Place:
    """Stands for leaf number `index`."""

    def __init__(self, index: int):
        self.index = index


class Wrapper:
    """Writes the function with the user's parameters around a program of leaves."""

    def __init__(self, made: Transformation, specialised: Any, leaves: list, pins: frozenset):
        self.specialised, self.leaves, self.pins = specialised, leaves, pins
        self.parameters = signature_names(made)
        self.lines: list[str] = []
        self.helpers: dict[str, None] = {}
        self.values: dict[str, np.ndarray] = {}
        # Of the program's parameters, by the numbers of their leaves.
        self.operands: dict[int, str] = {}
        self.texts: dict[int, str] = {}
        dynamic = [k for k, leaf in enumerate(leaves) if is_dynamic_leaf(leaf)]
        self.numbers = {index: number for number, index in enumerate(dynamic)}

    def function(self, name: str, arguments: tuple, keywords: dict) -> list[str]:
        heads = [self.parameter(k) for k in range(len(arguments))]
        for head, value in zip(heads, arguments, strict=True):
            self.take(head, value)
        for key, value in keywords.items():
            self.take(key, value)
        head = ", ".join([*heads, *(["*"] * bool(keywords)), *keywords])
        self.call()
        return [f"def {name}({head}):", *(f"    {line}" for line in self.lines)]

    def parameter(self, position: int) -> str:
        known = position < len(self.parameters)
        return self.parameters[position] if known else f"argument_{position}"

    def take(self, text: str, value: Any) -> None:
        """Take an argument apart; `text` reads it."""
        if isinstance(value, Place):
            self.leaf(text, value.index)
        elif type(value) in (tuple, list):
            self.same_length(text, value)
            for k, item in enumerate(value):
                self.take(f"{text}[{k}]", item)
        elif type(value) is dict:
            self.same_keys(text, value)
            for key, item in value.items():
                self.take(f"{text}[{key!r}]", item)
        else:
            self.static(text, value)

    def same_length(self, text: str, value: Any) -> None:
        self.same(f"(type({text}), len({text}))", text, f"({type(value).__name__}, {len(value)})")

    def same_keys(self, text: str, value: dict) -> None:
        if not all(isinstance(key, PLAIN) for key in value):
            raise refuse(text, value)
        self.same(f"sorted({text}, key=repr)", text, repr(sorted(value, key=repr)))

    def static(self, text: str, value: Any) -> None:
        if not isinstance(value, PLAIN):
            raise refuse(text, value)
        self.same(text, text, repr(value))

    def same(self, tested: str, text: str, known: str) -> None:
        self.helpers["same"] = None
        self.lines.append(f"same({tested}, {text!r}, {known})")

    def leaf(self, text: str, index: int) -> None:
        leaf, number = self.leaves[index], self.numbers.get(index)
        if number is None:
            self.static(text, leaf)
            return
        self.texts[number] = text
        if isinstance(leaf, np.ndarray):
            self.helpers["array"] = None
            known = [size < 2 or (number, axis) in self.pins for axis, size in enumerate(leaf.shape)]
            shape = tuple(size if k else None for size, k in zip(leaf.shape, known, strict=True))
            self.operands[number] = f"array({text}, {text!r}, {dtype_text(leaf.dtype)}, {shape!r})"
            return
        if (number, None) in self.pins:
            self.static(text, leaf)
        kind = dtype_text(leaf.dtype) if isinstance(leaf, np.generic) else type(leaf).__name__
        self.helpers["number"] = None
        self.operands[number] = f"number({text}, {text!r}, {kind})"

    def captured(self) -> list[str]:
        """The values from outside that are too large to be defaults of the program's parameters."""
        found = []
        for k, capture in enumerate(self.specialised.captures):
            value = np.asarray(capture.fetch())
            if value.size > FEW:
                name = capture.variable.name or f"value_{k}"
                name = name if name not in self.values else f"{name}_{k}"
                self.values[name] = value
                found.append(f"{capture.variable.name}=VALUES[{name!r}]")
        return found

    def call(self) -> None:
        """Run the program; write back what it writes to, and put its results together."""
        program, written = self.specialised.program, self.specialised.written
        count = len(program.results)
        operands = [self.operands[number] for number in sorted(self.operands)]
        self.lines.append(f"result = {program.name}(")
        self.lines += [f"    {operand}," for operand in (*operands, *self.captured())]
        self.lines.append(")")
        part = (lambda k: "result") if count == 1 else (lambda k: f"result[{k}]")
        for k, where in enumerate(written):
            self.lines.append(f"{self.texts[where]}[...] = {part(count - len(written) + k)}")
        self.lines.append(f"return {result_text(self.specialised.template, part)}")


def signature_names(made: Transformation) -> list[str]:
    try:
        parameters = inspect.signature(innermost(made)).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def refuse(text: str, value: Any) -> TypeMismatchError:
    return TypeMismatchError(
        f"export of a function of which {text} is a {type(value).__name__}",
        "pass arrays, numbers, strings, and tuples, lists and dicts of these; give what else the function "
        "needs by functools.partial",
    )


def dtype_text(dtype: Any) -> str:
    return f"np.{'bool' if dtype.kind == 'b' else dtype.name}"


def result_text(template: Any, part: Any) -> str:
    """An expression for the function's result."""
    if isinstance(template, Leaf):
        return part(template.index)
    inner = lambda items: ", ".join(result_text(item, part) for item in items)
    if type(template) is tuple:
        return f"({inner(template)}{',' if len(template) == 1 else ''})"
    if type(template) is list:
        return f"[{inner(template)}]"
    if type(template) is dict:
        return "{" + ", ".join(f"{k!r}: {result_text(v, part)}" for k, v in template.items()) + "}"
    if isinstance(template, PLAIN):
        return repr(template)
    raise TypeMismatchError(
        f"export of a function that returns a {getattr(template, 'kind', type(template)).__name__}",
        "return arrays, numbers, strings, and tuples, lists and dicts of these",
    )


def assembled(text: str, wrapper: Wrapper, function: list[str], name: str) -> str:
    """The module: the program, the helpers of the function, and the function."""
    imports = [] if re.search(r"^import numpy as np$", text, re.MULTILINE) else ["import numpy as np"]
    head = [f'"""{name}, exported by chainrule."""', "", *imports]
    values: list[str] = []
    if wrapper.values:
        head.insert(2, "from pathlib import Path")
        values = ["", "", f'VALUES = np.load(Path(__file__).with_name("{name}_values.npz"))']
    texts = {"array": ARRAY, "number": NUMBER, "same": SAME}
    parts = ["\n".join([*head, text.rstrip(), *values]), *(texts[h].strip() for h in wrapper.helpers)]
    return "\n\n\n".join([*parts, "\n".join(function)]) + "\n"
