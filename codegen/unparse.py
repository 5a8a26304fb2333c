"""From a syntax tree to text: Python that `ruff format` leaves alone.

astunparse does the walking; this subclass adds operator precedence instead of its parentheses everywhere,
comments, and the layout of lines that are too long. It reads gast and ast trees alike.

>>> import gast
>>> print(unparse(gast.parse("y = (-x[i,:n-1,None]**2+1e-8)*('a',)")), end="")
y = (-(x[i, : n - 1, None] ** 2) + 1e-08) * ("a",)

A comment is an expression statement that holds a Comment, which is a string, so a tree with comments is
still a tree that Python accepts.

>>> tree = gast.parse("if a:\\n    b()")
>>> tree.body[0].body.insert(0, comment("line 3: if a: b()"))
>>> print(unparse(tree), end="")
if a:
    # line 3: if a: b()
    b()
"""

from __future__ import annotations

import ast
from io import StringIO
from typing import Any

import astunparse
import gast

from .layout import Layout, bracketed
from .syntax import (
    ANY,
    ATOM,
    COMPARISON,
    EXPRESSION,
    POWER,
    PRECEDENCE,
    UNARY,
    number,
    precedence,
    quoted,
    simple,
    simple_bound,
)


class Comment(str):
    """The text of a comment, without the `# `."""


def comment(text: str) -> gast.Expr:
    """A statement that prints as a comment."""
    return gast.Expr(value=gast.Constant(value=Comment(text), kind=None))


def unparse(tree: Any) -> str:
    """The text of a module, statement or expression."""
    return unparse_with_locations(tree)[0]


def unparse_with_locations(tree: Any) -> tuple[str, dict[int, Any]]:
    """The text, and for each of its lines (from 1) the `location` attribute of the statement it came from."""
    printer = Unparser(tree)
    return printer.finished(), printer.locations


class Unparser(Layout, astunparse.Unparser):
    """Prints one tree."""

    def __init__(self, tree: Any):
        self.locations: dict[int, Any] = {}
        # What is broken into lines is asked for again and again.
        self.texts: dict[tuple[int, int], str] = {}
        self.pending: Any = None
        self.lines: list[str] = []
        self.f = StringIO()
        self._indent = 0
        self.future_imports: list[str] = []
        if isinstance(tree, ast.expr):
            self.lines.append(self.text(tree, ANY))
        else:
            self.body(tree.body if type(tree).__name__ == "Module" else [tree], top=True)

    def finished(self) -> str:
        return "\n".join(self.lines) + ("\n" if self.lines else "")

    # lines

    def fill(self, text: str = "") -> None:
        """Begin a line."""
        self.flush()
        self.f.write("    " * self._indent + text)

    def flush(self) -> None:
        """End the line being written."""
        text = self.f.getvalue()
        if text:
            self.lines.append(text)
            if self.pending is not None:
                self.locations[len(self.lines)] = self.pending
            self.f = StringIO()

    def write(self, text: str) -> None:
        self.f.write(str(text))

    def dispatch(self, tree: Any) -> None:
        """Print a list of statements, a statement, or an expression as an argument stands."""
        if isinstance(tree, list):
            self.body(tree)
        elif isinstance(tree, ast.expr):
            self.at(EXPRESSION, tree)
        else:
            super().dispatch(tree)

    def at(self, level: int, tree: Any) -> None:
        """Print an expression where something that binds less than `level` needs parentheses."""
        enclosed = precedence(tree) < level
        self.write("(" * enclosed)
        super().dispatch(tree)
        self.write(")" * enclosed)

    def text(self, tree: Any, level: int = EXPRESSION) -> str:
        """The text of an expression on one line."""
        known = self.texts.get((id(tree), level))
        if known is None:
            outer, self.f = self.f, StringIO()
            self.at(level, tree) if isinstance(tree, ast.expr) else self.dispatch(tree)
            inner, self.f = self.f, outer
            known = self.texts[id(tree), level] = inner.getvalue()
        return known

    def body(self, statements: list, top: bool = False) -> None:
        """Statements with the blank lines that a formatter puts around definitions and after imports."""
        previous = None
        for statement in statements:
            kind = type(statement).__name__
            around = "Def" in kind or (previous is not None and "Def" in previous)
            if previous and around:
                self.blank(2 if top else 1)
            elif previous and "Import" in previous and "Import" not in kind:
                self.blank(1)
            outer = self.pending
            self.pending = getattr(statement, "location", None) or outer
            super().dispatch(statement)
            self.flush()
            self.pending = outer
            previous = kind

    def blank(self, count: int) -> None:
        self.flush()
        self.lines.extend([""] * count)

    # statements

    def _Expr(self, tree: Any) -> None:
        value = getattr(tree.value, "value", None)
        if isinstance(value, Comment):
            self.fill(f"# {value}".rstrip())
        else:
            self.statement("", tree.value, level=ANY)

    def _Assign(self, tree: Any) -> None:
        head = "".join(self.text(target, ANY) + " = " for target in tree.targets)
        if len(tree.targets) == 1 and bracketed(tree.targets[0]) and not self.fits(head + "("):
            *lines, head = self.opened("", tree.targets[0], " = ", 0)
            self.put(lines)
            self.flush()
        self.statement(head, tree.value, level=ANY)

    def _AugAssign(self, tree: Any) -> None:
        operator = self.binop[type(tree.op).__name__]
        self.statement(f"{self.text(tree.target)} {operator}= ", tree.value, level=ANY)

    def _AnnAssign(self, tree: Any) -> None:
        target = self.text(tree.target)
        head = f"({target})" if not tree.simple and type(tree.target).__name__ == "Name" else target
        head += f": {self.text(tree.annotation)}"
        if tree.value is None:
            self.fill(head)
        else:
            self.statement(head + " = ", tree.value, level=ANY)

    def _Return(self, tree: Any) -> None:
        if tree.value is None:
            self.fill("return")
        else:
            self.statement("return ", tree.value, level=ANY)

    def _Raise(self, tree: Any) -> None:
        if tree.exc is None:
            self.fill("raise")
        elif tree.cause is None:
            self.statement("raise ", tree.exc)
        else:
            self.fill(f"raise {self.text(tree.exc)} from {self.text(tree.cause)}")

    def _If(self, tree: Any, word: str = "if ") -> None:
        self.header(word, tree.test, tree.body)
        if len(tree.orelse) == 1 and type(tree.orelse[0]).__name__ == "If":
            self._If(tree.orelse[0], "elif ")
        else:
            self.otherwise(tree)

    def _While(self, tree: Any) -> None:
        self.header("while ", tree.test, tree.body)
        self.otherwise(tree)

    def _For(self, tree: Any, word: str = "for ") -> None:
        self.header(f"{word}{self.text(tree.target, ANY)} in ", tree.iter, tree.body)
        self.otherwise(tree)

    def _AsyncFor(self, tree: Any) -> None:
        self._For(tree, "async for ")

    def header(self, head: str, expression: Any, body: list) -> None:
        self.statement(head, expression, ":", level=1)
        self._indent += 1
        self.body(body)
        self._indent -= 1

    def otherwise(self, tree: Any) -> None:
        if tree.orelse:
            self.fill("else:")
            self._indent += 1
            self.body(tree.orelse)
            self._indent -= 1

    def _FunctionDef(self, tree: Any, word: str = "def ") -> None:
        for decorator in tree.decorator_list:
            self.fill("@" + self.text(decorator))
        returns = f" -> {self.text(tree.returns)}" if tree.returns else ""
        self.parameters(f"{word}{tree.name}(", tree.args, f"){returns}:")
        self._indent += 1
        self.body(tree.body)
        self._indent -= 1

    def _AsyncFunctionDef(self, tree: Any) -> None:
        self._FunctionDef(tree, "async def ")

    def _ClassDef(self, tree: Any) -> None:
        for decorator in tree.decorator_list:
            self.fill("@" + self.text(decorator))
        bases = ", ".join(map(self.text, [*tree.bases, *tree.keywords]))
        self.fill(f"class {tree.name}" + (f"({bases})" if bases else "") + ":")
        self._indent += 1
        self.body(tree.body)
        self._indent -= 1

    def _ExceptHandler(self, tree: Any) -> None:
        kind = f" {self.text(tree.type)}" if tree.type else ""
        self.fill("except" + kind + (f" as {getattr(tree.name, 'id', tree.name)}" if tree.name else "") + ":")
        self._indent += 1
        self.body(tree.body)
        self._indent -= 1

    # expressions

    def _BinOp(self, tree: Any) -> None:
        level = precedence(tree)
        power = level == POWER
        self.at(level + power, tree.left)
        tight = power and simple(tree.left) and simple(tree.right)
        operator = self.binop[type(tree.op).__name__]
        self.write(operator if tight else f" {operator} ")
        self.at(UNARY if power else level + 1, tree.right)

    def _UnaryOp(self, tree: Any) -> None:
        negated = type(tree.op).__name__ == "Not"
        self.write("not " if negated else self.unop[type(tree.op).__name__])
        # A formatter writes -(x**2), which says what binds.
        raised = precedence(tree.operand) == POWER and not negated
        self.at(ATOM if raised else precedence(tree), tree.operand)

    def _BoolOp(self, tree: Any) -> None:
        word = " and " if type(tree.op).__name__ == "And" else " or "
        for position, value in enumerate(tree.values):
            self.write(word if position else "")
            self.at(precedence(tree) + 1, value)

    def _Compare(self, tree: Any) -> None:
        self.at(COMPARISON + 1, tree.left)
        for operator, value in zip(tree.ops, tree.comparators, strict=True):
            self.write(f" {self.cmpops[type(operator).__name__]} ")
            self.at(COMPARISON + 1, value)

    def _IfExp(self, tree: Any) -> None:
        self.at(EXPRESSION + 1, tree.body)
        self.write(" if ")
        self.at(EXPRESSION + 1, tree.test)
        self.write(" else ")
        self.at(EXPRESSION, tree.orelse)

    def _Lambda(self, tree: Any) -> None:
        arguments = self.text(tree.args)
        self.write(f"lambda {arguments}: " if arguments else "lambda: ")
        self.at(EXPRESSION, tree.body)

    def _NamedExpr(self, tree: Any) -> None:
        self.write(f"{self.text(tree.target)} := ")
        self.at(EXPRESSION, tree.value)

    def _Await(self, tree: Any) -> None:
        self.write("await ")
        self.at(ATOM, tree.value)

    def _Yield(self, tree: Any) -> None:
        self.write("yield" + (f" {self.text(tree.value, ANY)}" if tree.value else ""))

    def _YieldFrom(self, tree: Any) -> None:
        self.write(f"yield from {self.text(tree.value)}")

    def _Attribute(self, tree: Any) -> None:
        literal = isinstance(getattr(tree.value, "value", None), (int, float, complex))
        self.write(f"({self.text(tree.value)})" if literal else self.text(tree.value, ATOM))
        self.write("." + tree.attr)

    def _Call(self, tree: Any) -> None:
        lone = len(tree.args) == 1 and not tree.keywords and type(tree.args[0]).__name__ == "GeneratorExp"
        arguments = ", ".join(map(self.text, [*tree.args, *tree.keywords]))
        self.write(self.text(tree.func, ATOM) + (arguments if lone else f"({arguments})"))

    def _Subscript(self, tree: Any) -> None:
        starred = type(tree.slice).__name__ == "Tuple" and not tree.slice.elts
        self.write(f"{self.text(tree.value, ATOM)}[{self.text(tree.slice, EXPRESSION if starred else ANY)}]")

    def _Slice(self, tree: Any) -> None:
        bounds = [tree.lower, tree.upper] + ([tree.step] if tree.step is not None else [])
        plain = all(bound is None or simple_bound(bound) for bound in bounds)
        parts = ["" if bound is None else self.text(bound) for bound in bounds]
        if plain:
            self.write(":".join(parts))
            return
        spaced = parts[0]
        for part in parts[1:]:
            spaced += (" :" if spaced and not spaced.endswith(":") else ":") + (f" {part}" if part else "")
        self.write(spaced)

    def _Starred(self, tree: Any) -> None:
        self.write("*")
        self.at(PRECEDENCE["BitOr"], tree.value)

    def _Tuple(self, tree: Any) -> None:
        if not tree.elts:
            self.write("()")
            return
        self.write(", ".join(map(self.text, tree.elts)) + ("," if len(tree.elts) == 1 else ""))

    def _Constant(self, tree: Any) -> None:
        value = tree.value
        if isinstance(value, str):
            self.write(quoted(value))
        elif value is Ellipsis:
            self.write("...")
        elif isinstance(value, (int, float, complex)) and not isinstance(value, bool):
            self.write(number(value))
        elif isinstance(value, bytes):
            self.write("b" + quoted(value.decode("latin-1")) if value.isascii() else repr(value))
        else:
            self.write(repr(value))

    def _JoinedStr(self, tree: Any) -> None:
        parts = [self.formatted(value) for value in tree.values]
        body = "".join(parts)
        literal = '"' in "".join(p for p, v in zip(parts, tree.values) if type(v).__name__ == "Constant")
        self.write(f"f'{body}'" if literal else f'f"{body}"')

    def formatted(self, part: Any) -> str:
        """One part of an f-string."""
        if type(part).__name__ == "Constant":
            return repr('"' + part.value)[2:-1].replace("{", "{{").replace("}", "}}").replace("\\'", "'")
        if type(part).__name__ == "JoinedStr":
            return "".join(map(self.formatted, part.values))
        inside = self.text(part.value, EXPRESSION).replace('"', "'")
        conversion = f"!{chr(part.conversion)}" if part.conversion != -1 else ""
        format_spec = ":" + self.formatted(part.format_spec) if part.format_spec else ""
        return "{" + " " * inside.startswith("{") + inside + conversion + format_spec + "}"

    def _arguments(self, tree: Any) -> None:
        self.write(", ".join(self.parameter_texts(tree)))
