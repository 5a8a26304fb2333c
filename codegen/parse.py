"""Find the syntax tree of a function: where user source enters the compiler.

The whole file is parsed once, so every node keeps the line and column it has there. The function's
node is found through the code objects that the file compiles to, never by looking at text: two lambdas
on one line are told apart, and a file edited since it was imported is noticed.

    >>> import gast
    >>> pair = parse_text("twice = lambda x: x + x; square = lambda x: x * x")
    >>> source = parse(pair)
    >>> source.name, source.tree.lineno, source.tree.col_offset
    ('<lambda>', 1, 34)
    >>> print(gast.unparse(source.tree).strip())
    def lambda_(x):
        return x * x
"""

import __future__

import ast
import inspect
import itertools
import linecache
import os
import textwrap
import time
import types
from ast import PyCF_ALLOW_TOP_LEVEL_AWAIT
from dataclasses import dataclass, field
from functools import lru_cache

import gast

from .errors import Location, SourceError

FUTURES = 0
for _name in __future__.all_feature_names:
    FUTURES |= getattr(__future__, _name).compiler_flag

IMPORTED = time.time() - 1  # a second less, for clocks that differ
REMEDY = "define it in a file, or pass its source as a string"
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Source:
    """A function's syntax tree, and the file it stands in."""

    tree: gast.FunctionDef
    file: str
    first_line: int
    lines: list = field(repr=False)
    name: str
    globals: dict = field(repr=False)


def parse(function):
    """The Source of a plain Python function or lambda; SourceError if there is none that is its own."""
    if not isinstance(function, types.FunctionType):
        raise SourceError(_not_python(function), "write it in Python with NumPy, or register a rule for it")
    code = function.__code__
    text = _text(function)
    found = _find(code, text, known_unchanged(function))
    if found is None:
        # linecache may hold the file as it was before the module was reloaded.
        linecache.checkcache(code.co_filename)
        text = _text(function)
        found = _find(code, text)
    if found is None:
        raise SourceError(
            f"{function.__qualname__} was compiled from other text than its file holds now: "
            "the file has changed since it was imported",
            "reload the module, or restart Python",
            Location(code.co_filename, code.co_firstlineno, function=code.co_name),
        )
    node, class_name = found
    tree = _mangle(_as_function(gast.ast_to_gast(node)), class_name)
    lines = text.splitlines(keepends=True)
    first_line = _first_line(node)
    return Source(tree, code.co_filename, first_line, lines, code.co_name, function.__globals__)


def parse_text(text, globals=None):
    """The function that `text` defines (its last def or lambda), as a real function that parse accepts.

    The text is executed in `globals` as exec would do it, so the names it defines are left there.
    """
    text = textwrap.dedent(text).strip() + "\n"
    file = f"<chainrule source {next(_numbers)}>"
    namespace = {"__name__": file} if globals is None else globals
    tree = _syntax_tree(file, text)
    # No modification time: linecache then keeps the entry for good.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    last = tree.body[-1] if tree.body else None
    if len(tree.body) == 1 and isinstance(last, ast.Expr) and isinstance(last.value, ast.Lambda):
        return eval(compile(text, file, "eval", dont_inherit=True), namespace)
    name = next(filter(None, map(_defined_name, reversed(tree.body))), None)
    if name is None:
        raise SourceError("the text defines no function", "write a def or a lambda", Location(file, 1))
    exec(compile(text, file, "exec", dont_inherit=True), namespace)
    return namespace[name]


def _defined_name(statement):
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return statement.name
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Lambda):
        return getattr(statement.targets[0], "id", None)
    return None


def _not_python(function):
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or repr(function)
    if inspect.isclass(function):
        return f"{name} is a class, not a function"
    if isinstance(function, types.MethodType):
        return f"{name} is a bound method, not a plain function"
    if callable(function):
        kind = type(function).__name__
        return f"{name} ({kind}) is written in C or is a callable object: it has no Python source"
    return f"{name} is a {type(function).__name__}, not a function"


def _text(function):
    """The whole text of the file (or notebook cell, or doctest example) that `function` stands in."""
    code = function.__code__
    # Looked up on the module at each call, since doctest puts its own getlines there.
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        try:
            lines, _ = inspect.findsource(code)
        except (OSError, TypeError, IndexError):
            raise _no_source(function) from None
    return "".join(lines)


def _no_source(function):
    file = function.__code__.co_filename
    if file == "<stdin>":
        cause = "it was typed at the Python prompt, which keeps no text"
    elif file.startswith("<"):
        cause = f"it was made by exec or eval, which keep no text (its file is given as {file})"
    else:
        cause = f"the file {file} cannot be read"
    location = Location(file, function.__code__.co_firstlineno, function=function.__code__.co_name)
    return SourceError(f"the source of {function.__qualname__} cannot be found: {cause}", REMEDY, location)


@lru_cache(maxsize=64)
def _syntax_tree(file, text):
    try:
        return ast.parse(text, file)
    except SyntaxError as error:
        line = (error.text or "").rstrip("\n")
        column = (error.offset or 1) - 1
        location = Location(file, error.lineno or 1, column, column + 1, text=line)
        raise SourceError(
            f"the source is not valid Python: {error.msg}", "mend the syntax", location
        ) from None


@lru_cache(maxsize=64)
def _codes(file, text, flags):
    """Every code object that the file compiles to, by qualified name."""
    table = {}
    pending = [compile(text, file, "exec", flags | PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)]
    while pending:
        code = pending.pop()
        table.setdefault(code.co_qualname, []).append(code)
        pending.extend(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return table


def _find(code, text, unchanged=False):
    """The node whose code is `code`, and the class it stands in; None if the text has no such function.

    `unchanged`: the text is what the code was compiled from, so the code need not be looked for.
    """
    try:
        tree = _syntax_tree(code.co_filename, text)
        if unchanged:
            codes = [code]
        else:
            codes = _codes(code.co_filename, text, code.co_flags & FUTURES).get(code.co_qualname, ())
    except (SyntaxError, SourceError):  # the file was edited into something that isn't Python
        return None
    same = [candidate for candidate in codes if _same_code(candidate, code)]
    # The very line first; a function that only moved down its file is still the same function.
    same.sort(key=lambda candidate: abs(candidate.co_firstlineno - code.co_firstlineno))
    for candidate in same:
        nodes = [entry for entry in _function_nodes(tree, candidate) if _encloses(entry, candidate)]
        if len(nodes) > 1 and not any(_positions(candidate)):
            raise SourceError(
                f"{len(nodes)} lambdas start at this line and cannot be told apart, "
                "since Python runs with no_debug_ranges",
                "put each on a line of its own, or run Python without that option",
                Location(code.co_filename, code.co_firstlineno, function=code.co_name),
            )
        if nodes:
            # A lambda in another's default value stands inside it: the smaller is the one.
            node, _, class_name = min(nodes, key=lambda entry: _extent(entry[0]))
            return node, class_name
    return None


def known_unchanged(function):
    """Whether a function is one of ours, in a file that is as it was when this package was imported."""
    if (function.__module__ or "").partition(".")[0] != __name__.partition(".")[0]:
        return False
    try:
        return os.stat(function.__code__.co_filename).st_mtime < IMPORTED
    except OSError:
        return False


def _same_code(candidate, code):
    if _moved(code, candidate.co_firstlineno - code.co_firstlineno) == candidate:
        return True
    if not any(name.startswith("@py") for name in code.co_names + code.co_varnames):
        return False
    # pytest rewrites assert statements, and so the code of functions that hold any.
    names = [name for name in code.co_varnames if not name.startswith("@py")]
    return list(candidate.co_varnames) == names and candidate.co_firstlineno == code.co_firstlineno


def _moved(code, lines):
    if not lines:
        return code
    constants = tuple(_moved(c, lines) if isinstance(c, types.CodeType) else c for c in code.co_consts)
    return code.replace(co_firstlineno=code.co_firstlineno + lines, co_consts=constants)


def _encloses(entry, code):
    """Whether the node starts where the code does, nests as deep in lambdas, and holds all its positions."""
    node, depth, _ = entry
    if _first_line(node) != code.co_firstlineno:
        return False
    if not isinstance(node, ast.Lambda):
        return True
    start = (node.lineno, node.col_offset)
    end = (node.end_lineno, node.end_col_offset)
    return depth == code.co_qualname.count("<lambda>") and all(
        start <= first and last <= end for first, last in _positions(code)
    )


def _positions(code):
    for line, end_line, column, end_column in code.co_positions():
        if None in (line, end_line, column, end_column) or (line, column) == (end_line, end_column):
            continue  # instructions that stand for no text, such as the entry into the function
        yield (line, column), (end_line, end_column)


def _extent(node):
    return node.end_lineno - node.lineno, node.end_col_offset - node.col_offset


def _first_line(node):
    decorators = getattr(node, "decorator_list", None)
    return decorators[0].lineno if decorators else node.lineno


def _as_function(node):
    """A lambda as the def it stands for; a def as it is, its decorators left on it."""
    if not isinstance(node, gast.Lambda):
        return node
    value = gast.copy_location(gast.Return(node.body), node.body)
    function = gast.FunctionDef("lambda_", node.args, [value], [], None, None, [])
    return gast.copy_location(function, node)


def _function_nodes(tree, code):
    """The functions of this code's name around its first line: (node, how many lambdas deep, class name)."""
    line = code.co_firstlineno
    pending = [(tree, 0, None)]
    while pending:
        node, depth, class_name = pending.pop()
        if hasattr(node, "lineno") and not _first_line(node) <= line <= node.end_lineno:
            continue
        if isinstance(node, ast.Lambda):
            if code.co_name == "<lambda>":
                yield node, depth + 1, class_name
            # Default values belong to the scope around the lambda.
            pending += [(node.args, depth, class_name), (node.body, depth + 1, class_name)]
            continue
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name == code.co_name:
            yield node, depth, class_name
        inner = node.name if isinstance(node, ast.ClassDef) else class_name
        pending.extend((child, depth, inner) for child in ast.iter_child_nodes(node))


def _mangle(tree, class_name):
    """Private names (`self.__x`) as the class spells them (`self._Model__x`), in place."""
    pending = [(tree, class_name)]
    while pending:
        node, class_name = pending.pop()
        prefix = "_" + class_name.lstrip("_") if class_name and class_name.strip("_") else None
        for part in ("id", "attr", "arg", "asname") if prefix else ():
            name = getattr(node, part, None)
            if isinstance(name, str) and name.startswith("__") and not name.endswith("__"):
                setattr(node, part, prefix + name)
        inner = node.name if isinstance(node, gast.ClassDef) else class_name
        pending.extend((child, inner) for child in gast.iter_child_nodes(node))
    return tree
