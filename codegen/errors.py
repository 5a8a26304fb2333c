"""What chainrule says when it cannot do something, and where in the user's code it says it.

>>> line = Location("fit.py", 3, column=8, end_column=14, function="loss", text="    y = foo(x)")
>>> print(UnsupportedError("foo has no derivative", "write it with NumPy", line))
File "fit.py", line 3, in loss
    y = foo(x)
        ^^^^^^
foo has no derivative
Instead: write it with NumPy
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Location:
    """A stretch of one line of the user's source; columns count characters from 0."""

    file: str
    line: int
    column: int = 0
    end_column: int = 0
    function: str = ""
    text: str = ""
    backward: bool = field(default=False, compare=False)  # whether it is served in a backward sweep

    def __str__(self):
        head = f'File "{self.file}", line {self.line}'
        if self.function:
            head += f", in {self.function}"
        text = self.text.rstrip()
        code = text.lstrip()
        if not code:
            return head
        indent = len(text) - len(code)
        start = min(max(self.column - indent, 0), len(code) - 1)
        width = max(self.end_column - indent - start, 1)
        # A tab stays a tab, so that the caret stands under its column however wide the tab is shown.
        lead = "".join("\t" if character == "\t" else " " for character in code[:start])
        caret = "^" * min(width, len(code) - start)
        return f"{head}\n    {code}\n    {lead}{caret}"


def location_of(node, source):
    """Where `node` stands in `source` (anything with file, lines, name and first_line)."""
    if source is None:
        return Location("<unknown>", getattr(node, "lineno", 1))
    line = getattr(node, "lineno", source.first_line)
    text = source.lines[line - 1].rstrip("\r\n") if 0 < line <= len(source.lines) else ""
    column = _characters(text, getattr(node, "col_offset", 0))
    end_column = len(text)
    if getattr(node, "end_lineno", None) == line and node.end_col_offset is not None:
        end_column = _characters(text, node.end_col_offset)
    return Location(source.file, line, column, end_column, source.name, text)


def _characters(text, offset):
    """The number of characters in the first `offset` bytes: syntax trees count UTF-8 bytes."""
    return len(text.encode()[:offset].decode(errors="ignore"))


class ChainruleError(Exception):
    """What is wrong, where, and what to write instead."""

    def __init__(self, what, remedy=None, location=None):
        super().__init__(what, remedy, location)  # all three, so that the error can be pickled
        self.what = what
        self.remedy = remedy
        self.location = location

    def __str__(self):
        parts = [str(self.location)] if self.location else []
        parts.append(self.what)
        if self.remedy:
            parts.append(f"Instead: {self.remedy}")
        return "\n".join(parts)


class UnsupportedError(ChainruleError, NotImplementedError):
    """The construct is outside the language that chainrule accepts."""


class SourceError(ChainruleError):
    """The source of a function cannot be found, or is not what the function was compiled from."""


class TypeMismatchError(ChainruleError, TypeError):
    """A value has a type or dtype that does not fit."""


class ShapeMismatchError(ChainruleError, ValueError):
    """A value has a shape that does not fit."""


class SharedMemoryError(ChainruleError, ValueError):
    """Two arguments share memory, and the function writes to one of them."""


class IndexBoundsError(ChainruleError, IndexError):
    """An index is outside an array, or there are too many."""


class NotFiniteError(ChainruleError, FloatingPointError):
    """An operation made a NaN or an infinity of numbers that were none, and debug.nans was on."""


class NotDifferentiableError(ChainruleError, TypeError):
    """A derivative was asked for of, or with respect to, something that has none."""
