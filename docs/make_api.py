"""Writes docs/api.md: the library functions that chainrule knows. Run it after adding one."""

from pathlib import Path

import numpy as np
import scipy.special

import chainrule as cr
from chainrule.codegen.registry import METHODS, Primitive, has_derivative, lookup

HOMES = [("numpy", np), ("numpy.linalg", np.linalg), ("numpy.fft", np.fft), ("scipy.special", scipy.special)]
HEAD = """# What chainrule knows

Written by docs/make_api.py from the registry. A function in *italics* has derivative zero, or none.

## Transformations

"""


def names(home):
    """The functions of a module that are known, sorted."""
    known = {name for name in dir(home) if not name.startswith("_") and is_known(getattr(home, name))}
    return [shown(name, lookup(getattr(home, name))) for name in sorted(known)]


def is_known(value):
    return callable(value) and lookup(value) is not None


def shown(name, known):
    differentiable = not isinstance(known, Primitive) or (has_derivative(known) and None not in known.jvp)
    return name if differentiable else f"*{name}*"


def page():
    """The text of docs/api.md."""
    lines = [HEAD + ", ".join(f"`{name}`" for name in cr.__all__)]
    lines.append("## chainrule.lax\n\n" + ", ".join(f"`{name}`" for name in cr.lax.__all__))
    for title, home in HOMES:
        found = names(home)
        lines.append(f"## {title}\n\n{len(found)} functions: " + ", ".join(found))
    lines.append("## Methods of arrays\n\n" + ", ".join(sorted(METHODS)))
    lines.append(
        "## Python\n\nThe functions of `math` and the operators have the rules of their NumPy counterparts."
    )
    return "\n\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(__file__).with_name("api.md").write_text(page())
