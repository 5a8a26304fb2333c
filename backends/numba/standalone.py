"""The support file of an exported program: those functions of support.py and elementary/ that it needs.

>>> program = "import chainrule_support as support\\ny = support.heaviside(1.0, 0.5)\\n"
>>> text, support = with_support(program, "kept")
>>> print(text, end="")
import kept as support
y = support.heaviside(1.0, 0.5)
>>> print(support[support.index("@njit"):], end="")
@njit
def heaviside(x, at_zero):
    if x != x:
        return x
    return 0.0 if x < 0 else (1.0 if x > 0 else at_zero)
"""

from __future__ import annotations

import ast
import builtins
import re
from functools import cache
from pathlib import Path

from .emit import ELEMENTARY, SUPPORT

HERE = Path(__file__).parent
ALIASES = {"support": SUPPORT, "elementary": ELEMENTARY}


def with_support(text: str, module: str) -> tuple[str, str | None]:
    """A program's text that imports its helpers from `module`, and the text of that (None: it needs none)."""
    wanted = [
        (node.value.id, node.attr)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) in ALIASES
    ]
    if not wanted:
        return text, None
    extract = Extract()
    for alias, name in dict.fromkeys(wanted):
        final = extract.need(*exported(alias, name))
        text = re.sub(rf"\b{alias}\.{name}\b", f"support.{final}", text)
    lines = text.splitlines(keepends=True)
    places = [k for k, line in enumerate(lines) if line.strip() in imports_of_helpers()]
    lines[places[0]] = f"import {module} as support\n"
    return "".join(line for k, line in enumerate(lines) if k not in places[1:]), extract.text()


def imports_of_helpers() -> set[str]:
    return {f"import {module} as {alias}" for alias, module in ALIASES.items()}


def exported(alias: str, name: str) -> tuple[str, str]:
    """The file and the name in it that a program means."""
    if alias == "support":
        return "support", name
    return source("elementary/__init__").imported[name]


class Source:
    """The statements of a file, by the names that they define."""

    def __init__(self, file: str):
        text = (HERE / f"{file}.py").read_text(encoding="utf-8")
        self.lines = text.splitlines(keepends=True)
        self.defined: dict[str, ast.stmt] = {}
        self.imported: dict[str, tuple[str, str]] = {}
        self.libraries: dict[str, str] = {}
        folder = file.rpartition("/")[0]
        for node in ast.parse(text).body:
            match node:
                case ast.FunctionDef():
                    self.defined[node.name] = node
                case ast.Assign():
                    names = [n.id for target in node.targets for n in ast.walk(target) if hasattr(n, "id")]
                    self.defined.update(dict.fromkeys(names, node))
                case ast.ImportFrom(level=1):
                    of = f"{folder}/{node.module}" if folder else str(node.module)
                    self.imported.update({a.asname or a.name: (of, a.name) for a in node.names})
                case ast.Import() | ast.ImportFrom(level=0):
                    self.libraries.update({a.asname or a.name: ast.unparse(node) for a in node.names})

    def segment(self, node: ast.stmt) -> str:
        """The text of a statement, with the comments above it."""
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]) - 1
        while first and self.lines[first - 1].startswith("#"):
            first -= 1
        return "".join(self.lines[first : node.end_lineno])


@cache
def source(file: str) -> Source:
    return Source(file)


class Extract:
    """A file put together of definitions from others, each after those that it needs."""

    def __init__(self):
        self.names: dict[tuple[str, str], str] = {}
        self.done: set[ast.stmt] = set()
        self.libraries: set[str] = set()
        self.segments: list[tuple[bool, str]] = []

    def need(self, file: str, name: str) -> str:
        """Take a definition in; the name that it gets."""
        if name in source(file).imported:
            return self.need(*source(file).imported[name])
        if (file, name) in self.names:
            return self.names[file, name]
        taken = {*self.names.values(), *dir(builtins)}
        final = name if name not in taken else f"{name}_of_{file.rpartition('/')[2]}"
        self.names[file, name] = final
        self.take(file, source(file).defined[name])
        return final

    def take(self, file: str, node: ast.stmt) -> None:
        if node in self.done:
            return
        self.done.add(node)
        origin = source(file)
        text = origin.segment(node)
        for name in dict.fromkeys(n.id for n in ast.walk(node) if isinstance(n, ast.Name)):
            if name in origin.libraries:
                self.libraries.add(origin.libraries[name])
            elif name in origin.defined or name in origin.imported:
                text = renamed(text, name, self.need(file, name))
        if isinstance(node, ast.FunctionDef):
            text = renamed(text, node.name, self.need(file, node.name))
        self.segments.append((isinstance(node, ast.FunctionDef), text))

    def text(self) -> str:
        parts = ['"""Functions that the program beside this file calls."""\n\n']
        parts += [f"{line}\n" for line in sorted(self.libraries)]
        parts += [f"\n\n{text}" if is_function else f"\n{text}" for is_function, text in self.segments]
        return "".join(parts)


def renamed(text: str, old: str, new: str) -> str:
    return text if old == new else re.sub(rf"(?<![.\w]){old}\b", new, text)
