"""How a statement that is too long for one line is laid out, as `ruff format` would.

Brackets open: first with all arguments on one line of their own, then with each on its own; an operation
at the outside is put in parentheses, then broken before its operators.
"""

from __future__ import annotations

from typing import Any

from .syntax import ATOM, POWER, precedence

WIDTH = 88


class Layout:
    """The part of the Unparser that breaks lines."""

    def fits(self, text: str, deeper: int = 0) -> bool:
        return 4 * (self._indent + deeper) + len(text) <= WIDTH

    def statement(self, head: str, expression: Any, tail: str = "", level: int = 2) -> None:
        """Write `head expression tail`, on several lines where one does not hold it."""
        line = head + self.text(expression, level) + tail
        if self.fits(line):
            self.fill(line)
        elif bracketed(expression) and self.fits(head + self.brackets(expression)[0]):
            self.put(self.opened(head, expression, tail, 0))
        else:
            self.put(self.enclosed(head, expression, tail))

    def put(self, lines: list[str]) -> None:
        for line in lines:
            self.fill(line)

    def enclosed(self, head: str, expression: Any, tail: str) -> list[str]:
        """In parentheses: on one line within them, or else one operand a line."""
        inside = self.text(expression)
        if self.fits(inside, 1):
            return [head + "(", "    " + inside, ")" + tail]
        if operands(expression) is None:
            return [head + inside + tail]
        return [head + "(", *indented(self.split("", expression, "", 1)), ")" + tail]

    def opened(self, head: str, node: Any, tail: str, deeper: int) -> list[str]:
        """A call, subscript, tuple or list with its brackets on lines of their own."""
        opening, items, closing, together = self.brackets(node)
        one_line = ", ".join(prefix + self.text(item) for prefix, item in items)
        if together and self.fits(one_line, deeper + 1):
            return [head + opening, "    " + one_line, closing + tail]
        lines = []
        for prefix, item in items:
            # A formatter adds no comma after an argument that stands alone.
            comma = "" if together and len(items) == 1 else ","
            lines += indented(self.item(prefix, item, comma, deeper + 1))
        return [head + opening, *lines, closing + tail]

    def item(self, head: str, node: Any, tail: str, deeper: int) -> list[str]:
        """One item between brackets."""
        line = head + self.text(node) + tail
        if self.fits(line, deeper):
            return [line]
        if bracketed(node):
            return self.opened(head, node, tail, deeper)
        if operands(node) is not None and not head:
            return self.split(head, node, tail, deeper)
        return [line]

    def split(self, head: str, node: Any, tail: str, deeper: int) -> list[str]:
        """An operation with each operator at the beginning of a line."""
        parts = operands(node)
        lines = []
        for position, (operator, level, operand) in enumerate(parts):
            end = tail if position == len(parts) - 1 else ""
            prefix = self.operator_text(operator)
            line = prefix + self.text(operand, level) + end
            if not self.fits(line, deeper) and bracketed(operand) and type(operand).__name__ != "Tuple":
                lines += self.opened(prefix, operand, end, deeper)
            else:
                lines.append(line)
        return lines

    def operator_text(self, operator: Any) -> str:
        if operator is None:
            return ""
        kind = type(operator).__name__
        known = self.binop | self.cmpops | {"And": "and", "Or": "or"}
        return known[kind] + " "

    def brackets(self, node: Any) -> tuple[str, list[tuple[str, Any]], str, bool]:
        """The opening, the items, the closing, and whether the items may share one line."""
        kind = type(node).__name__
        if kind == "Call":
            items = [("", argument) for argument in node.args]
            items += [(f"{k.arg}=" if k.arg else "**", k.value) for k in node.keywords]
            return self.text(node.func, ATOM) + "(", items, ")", True
        if kind == "Subscript":
            inner = node.slice.elts if type(node.slice).__name__ == "Tuple" else [node.slice]
            return self.text(node.value, ATOM) + "[", [("", item) for item in inner], "]", True
        pair = {"Tuple": "()", "List": "[]", "Set": "{}"}[kind]
        return pair[0], [("", item) for item in node.elts], pair[1], False

    def parameters(self, head: str, arguments: Any, tail: str) -> None:
        """The header of a function."""
        texts = self.parameter_texts(arguments)
        line = ", ".join(texts)
        if self.fits(head + line + tail):
            self.fill(head + line + tail)
        elif self.fits(line, 1):
            self.put([head, "    " + line, tail])
        else:
            last = "" if texts[-1].startswith("*") else ","
            self.put([head, *("    " + t + "," for t in texts[:-1]), f"    {texts[-1]}{last}", tail])

    def parameter_texts(self, tree: Any) -> list[str]:
        positional = [*getattr(tree, "posonlyargs", []), *tree.args]
        defaults = [None] * (len(positional) - len(tree.defaults)) + list(tree.defaults)
        texts = [self.parameter(a, d) for a, d in zip(positional, defaults, strict=True)]
        if getattr(tree, "posonlyargs", []):
            texts.insert(len(tree.posonlyargs), "/")
        if tree.vararg:
            texts.append("*" + self.parameter(tree.vararg, None))
        elif tree.kwonlyargs:
            texts.append("*")
        texts += [self.parameter(a, d) for a, d in zip(tree.kwonlyargs, tree.kw_defaults, strict=True)]
        if tree.kwarg:
            texts.append("**" + self.parameter(tree.kwarg, None))
        return texts

    def parameter(self, argument: Any, default: Any) -> str:
        text = getattr(argument, "id", None) or argument.arg
        if argument.annotation:
            text += f": {self.text(argument.annotation)}"
        if default is None:
            return text
        return text + (" = " if argument.annotation else "=") + self.text(default)


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def bracketed(node: Any) -> bool:
    """Whether the outermost thing of an expression is a pair of brackets with something in it."""
    kind = type(node).__name__
    if kind == "Call":
        return bool(node.args or node.keywords)
    return kind == "Subscript" or (kind in ("Tuple", "List", "Set") and bool(node.elts))


def operands(node: Any) -> list[tuple[Any, int, Any]] | None:
    """The operands of an operation and those of its rank within it: (operator before, level, tree)."""
    kind = type(node).__name__
    level = precedence(node)
    if kind == "BinOp" and level != POWER:
        nested = type(node.left).__name__ == "BinOp" and precedence(node.left) == level
        first = operands(node.left) if nested else [(None, level, node.left)]
        return [*first, (node.op, level + 1, node.right)]
    if kind == "Compare":
        rest = zip(node.ops, node.comparators, strict=True)
        return [(None, level + 1, node.left), *((op, level + 1, value) for op, value in rest)]
    if kind == "BoolOp":
        return [(None if i == 0 else node.op, level + 1, value) for i, value in enumerate(node.values)]
    return None
