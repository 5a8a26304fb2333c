"""The NumPy backend: text becomes a function whose lines the debugger and tracebacks find."""

import gc
import linecache
import traceback

import numpy as np
import pytest

from chainrule.backends.numpy.emit import LOADED, Text, annotate, emit, load
from chainrule.codegen import primitives  # noqa: F401
from chainrule.codegen.build import Builder
from chainrule.codegen.core import FLOAT, ArrayType, Program, Variable
from chainrule.codegen.errors import Location
from chainrule.codegen.registry import PRIMITIVES

VECTOR = ArrayType(np.dtype(float), (3,))


def inverse():
    """A program that divides Python numbers, from a line of the user's."""
    b, x = Builder(), Variable("x", FLOAT)
    b.location = Location("fit.py", 7, text="    y = 1 / x")
    y = b.emit(PRIMITIVES["divide"], 1.0, x, name="y")
    b.block.results = (y,)
    return Program("inverse", (x,), b.block)


def test_emitted_text_runs_alone():
    text = emit(inverse())
    namespace = {}
    exec(str(text), namespace)
    assert namespace["inverse"](4.0) == 0.25 and "import" not in text


def test_an_error_shows_the_generated_line_and_names_the_users():
    function = load(emit(inverse()), "inverse")
    with pytest.raises(ZeroDivisionError) as caught:
        function(0.0)
    shown = "".join(traceback.format_exception(annotate(annotate(caught.value))))
    assert "y = 1.0 / x" in shown
    assert shown.count("in your code: fit.py:7: y = 1 / x") == 1


def test_two_functions_of_one_name_are_two_files():
    one, two = (load(f"def f():\n    return {k}\n", "f") for k in (1, 2))
    assert one.__code__.co_filename != two.__code__.co_filename and (one(), two()) == (1, 2)
    assert linecache.getline(two.__code__.co_filename, 2) == "    return 2\n"
    linecache.checkcache()
    assert linecache.getline(one.__code__.co_filename, 2) == "    return 1\n"


def test_the_source_goes_with_the_function():
    function = load("def f():\n    return 1\n", "f")
    filename = function.__code__.co_filename
    del function
    gc.collect()
    assert filename not in linecache.cache and filename not in LOADED


def test_an_exception_from_elsewhere_gets_no_note():
    try:
        raise ValueError("mine")
    except ValueError as error:
        assert not hasattr(annotate(error), "__notes__")


def test_text_is_a_string_with_locations():
    text = emit(inverse())
    line = text.splitlines().index("    y = 1.0 / x") + 1
    assert isinstance(text, Text) and text.locations[line].line == 7
