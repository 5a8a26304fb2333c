"""Writes docs/api.md: the public names, and the library functions that are known. Run it after adding one."""

import inspect
import sys
from pathlib import Path

import numpy as np
import scipy.special

import chainrule as cr
from chainrule.codegen.registry import METHODS, Primitive, has_derivative, lookup

# Run as a script, it does not find the tests, whose table of functions it reads.
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.functions.batched_kinds import batched_kinds  # noqa: E402

HOMES = [
    ("numpy", np),
    ("numpy.linalg", np.linalg),
    ("numpy.fft", np.fft),
    ("numpy.lib.stride_tricks", np.lib.stride_tricks),
    ("scipy.special", scipy.special),
]
MODULES = [cr, cr.lax, cr.random, cr.tree, cr.io, cr.debug]
HEAD = """# What chainrule knows

Written by docs/make_api.py from docstrings, the registry, and the table of functions in tests/functions."""

FUNCTIONS = """## Library functions

Inside of a function that is differentiated, compiled or batched, these may be called. The columns say

- **derivative**: *rule*, the function has one of its own; *parts*, it is written in terms of others, and has
  what they have; *zero*, the derivative is zero almost everywhere; *none*, the function has none.
- **vmap**, where all arguments are mapped: *rule*, a batch is done at once; *lanes*, one example after the
  other; *rule, lanes*, the latter in some cases; *refused*, the size of the result depends on the data, and
  differs between examples; *same*, nothing in the batch goes into it."""

PYTHON = "The functions of `math` and the operators have the rules of their NumPy counterparts."


def summary(value):
    """The first paragraph of a docstring, on one line of a table."""
    if inspect.isbuiltin(value):
        return "Python's own."
    return " ".join((inspect.getdoc(value) or "").split("\n\n")[0].split()).replace("|", "\\|")


def public(module):
    """The names of a module that are for users."""
    functions = (
        v for v in vars(module).values() if inspect.isfunction(v) and v.__module__ == module.__name__
    )
    own = {v.__name__ for v in functions if not v.__name__.startswith("_")}
    return sorted(getattr(module, "__all__", None) or own & set(vars(module)))


def listed(module):
    """A table of the public names of a module."""
    rows = [f"| `{name}` | {summary(getattr(module, name))} |" for name in public(module)]
    return "\n".join(["| name | |", "| --- | --- |", *rows])


def derivative(known):
    if not isinstance(known, Primitive):
        return "parts"
    if not has_derivative(known):
        return "none"
    return "zero" if None in known.jvp else "rule"


def is_known(value):
    return callable(value) and lookup(value) is not None


def names(home):
    """The functions of a module that are known, with what they mean."""
    found = {name: getattr(home, name) for name in dir(home) if not name.startswith("_")}
    return {name: lookup(value) for name, value in sorted(found.items()) if is_known(value)}


def grouped(known, kinds):
    """A table of functions by what is known of them."""
    groups = {}
    for name, meaning in known.items():
        groups.setdefault((derivative(meaning), kinds.get(meaning, "same")), []).append(name)
    lines = [f"| {a} | {b} | {', '.join(group)} |" for (a, b), group in sorted(groups.items())]
    return "\n".join(["| derivative | vmap | functions |", "| --- | --- | --- |", *lines])


def page():
    """The text of docs/api.md."""
    lines = [HEAD]
    lines += [f"## {module.__name__}\n\n{listed(module)}" for module in MODULES]
    lines.append(FUNCTIONS)
    kinds = batched_kinds()
    for title, home in HOMES:
        known = names(home)
        lines.append(f"### {title}\n\n{len(known)} functions.\n\n{grouped(known, kinds)}")
    methods = {name: METHODS[name] for name in sorted(METHODS)}
    lines.append(f"### Methods of arrays\n\n{grouped(methods, kinds)}")
    lines.append(f"### Python\n\n{PYTHON}")
    return "\n\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("api.md").write_text(page())
