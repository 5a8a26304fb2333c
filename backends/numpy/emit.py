"""The NumPy backend: a program as the text of a module, and that text as a function.

>>> f = load("def double(x):\\n    return 2 * x\\n", "double")
>>> f(3)
6

The function's source is where the debugger and tracebacks look for it. An exception that leaves it can be
told which line of the user's it came from:

>>> from ...codegen.errors import Location
>>> text = Text("def inverse(x):\\n    return 1 / x\\n", {2: Location("fit.py", 7, text="  return 1 / x")})
>>> try:
...     load(text, "inverse")(0)
... except ZeroDivisionError as error:
...     print(annotate(error).__notes__)
['in your code: fit.py:7: return 1 / x']
"""

from __future__ import annotations

import itertools
import linecache
import os
import types
import weakref
from collections.abc import Callable, Iterator

from ...codegen.core import Program
from ...codegen.errors import Location
from ...codegen.printing import NO_DEFAULTS, Defaults, print_with_locations

# By the file's name alone: machine code of another process tells the folder that it was compiled in.
LOADED: dict[str, dict[int, Location]] = {}
COUNTER = itertools.count(1)


class Text(str):
    """Source text that knows, for each of its lines, the user's line that it serves."""

    locations: dict[int, Location]

    def __new__(cls, text: str, locations: dict[int, Location] | None = None):
        made = super().__new__(cls, text)
        made.locations = dict(locations or {})
        return made


def emit(program: Program, defaults: Defaults = NO_DEFAULTS) -> Text:
    """The program as a module that needs NumPy only."""
    return Text(*print_with_locations(program, defaults))


def load(text: str, name: str) -> Callable:
    """The function called `name` that a module's text defines."""
    filename = f"<chainrule {name} {next(COUNTER)}>"
    code = compile(str(text), filename, "exec")
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    LOADED[filename] = getattr(text, "locations", {})
    namespace = {"__name__": filename, "__file__": filename}
    exec(code, namespace)
    function = namespace[name]
    weakref.finalize(function, forget, filename)
    return function


def forget(filename: str) -> None:
    """Drop the source of a function that is gone."""
    linecache.cache.pop(filename, None)
    LOADED.pop(filename, None)


def annotate(exception: BaseException) -> BaseException:
    """Add to an exception the user's lines that it passed through in generated code."""
    for filename, line in passed(exception.__traceback__):
        location = LOADED[filename].get(line)
        if location is not None:
            note = f"in your code: {location.file}:{location.line}: {location.text.strip()}"
            if note not in getattr(exception, "__notes__", ()):
                exception.add_note(note)
    return exception


def passed(traceback: types.TracebackType | None) -> Iterator[tuple[str, int]]:
    while traceback is not None:
        filename = os.path.basename(traceback.tb_frame.f_code.co_filename)
        if filename in LOADED:
            yield filename, traceback.tb_lineno
        traceback = traceback.tb_next
