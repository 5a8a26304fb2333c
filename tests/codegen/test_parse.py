import doctest
import functools
import importlib.util
import linecache
import math
import os
import subprocess
import sys
import types

import gast
import numpy as np
import pytest

from chainrule.codegen.errors import SourceError, location_of
from chainrule.codegen.parse import parse, parse_text


def body(function):
    return text_of(parse(function).tree)


def text_of(tree):
    return "\n".join(gast.unparse(statement).strip() for statement in tree.body)


def module_from(path, text):
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def outer(x, scale=2.0, *, shift=1.0):
    def inner(y):
        return y * x

    return inner


def logged(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


@logged
def wrapped(x):
    return x + 1


class Model:
    def __call__(self, x):
        return self.__weight * x

    @property
    def size(self):
        return 1

    scale = lambda self, x: x * 3  # noqa: E731


def test_plain_and_nested_functions():
    source = parse(outer)
    assert source.name == "outer" and source.tree.name == "outer"
    assert source.first_line == outer.__code__.co_firstlineno == source.tree.lineno
    assert source.file == __file__ and source.globals is globals()
    assert source.lines[source.first_line - 1] == "def outer(x, scale=2.0, *, shift=1.0):\n"
    assert body(outer(1)) == "return (y * x)" or body(outer(1)) == "return y * x"
    assert parse(outer(1)).tree.body[0].col_offset == 8


def test_wraps_is_not_followed():
    assert parse(wrapped).name == "wrapper"
    assert "function(*args)" in body(wrapped)


def test_decorated_function_starts_at_its_decorator():
    source = parse(wrapped.__wrapped__)
    assert source.tree.name == "wrapped"
    assert source.first_line == source.tree.lineno - 1


def test_methods_and_private_names():
    assert "self._Model__weight" in body(Model.__call__)
    assert body(Model.size.fget) == "return 1"
    assert "3" in body(Model.scale)


def constants(function):
    return [node.value for node in gast.walk(parse(function).tree) if isinstance(node, gast.Constant)]


def test_lambdas_on_one_line_are_told_apart():
    f, g, h = lambda x: x + 1, lambda x: x + 1, lambda x: x + 2
    assert constants(f) == constants(g) == [1] and constants(h) == [2]
    assert parse(f).tree.col_offset < parse(g).tree.col_offset < parse(h).tree.col_offset
    assert parse(f).name == "<lambda>" and parse(f).tree.name == "lambda_"
    assert isinstance(parse(f).tree.body[0], gast.Return)


def test_lambdas_inside_lambdas():
    nested = lambda: lambda: lambda: 5  # noqa: E731
    assert isinstance(parse(nested).tree.body[0].value, gast.Lambda)
    assert isinstance(parse(nested()).tree.body[0].value, gast.Lambda)
    assert parse(nested()).tree.col_offset > parse(nested).tree.col_offset
    assert constants(nested()()) == [5]
    assert len([n for n in gast.walk(parse(nested()()).tree) if isinstance(n, gast.Lambda)]) == 0


def test_lambda_in_a_default_value():
    f = lambda x, g=lambda x: x * 2: g(x) + 7  # noqa: E731
    assert 7 in constants(f) and constants(f.__defaults__[0]) == [2]


def test_lambdas_over_several_lines_and_in_comprehensions():
    pair = [
        lambda x: (
            x
            + 1
        ), lambda x: (x
                      + 2),
    ]  # fmt: skip
    assert [constants(f) for f in pair] == [[1], [2]]
    made = [[lambda x: x * 3, lambda x: x * 4] for _ in range(1)][0]
    assert [constants(f) for f in made] == [[3], [4]]


def test_function_with_assert_in_a_module_that_pytest_rewrites():
    def checked(x):
        assert x > 0, "positive"
        return x

    assert isinstance(parse(checked).tree.body[0], gast.Assert)


def test_generators_and_coroutines_are_parsed():
    def count():
        yield 1

    async def wait():
        return 2

    assert constants(count) == [1] and constants(wait) == [2]
    assert isinstance(parse(wait).tree, gast.AsyncFunctionDef)


def test_every_call_gives_a_tree_of_its_own():
    assert parse(outer).tree is not parse(outer).tree


def test_node_columns_are_those_of_the_file():
    source = parse(Model.__call__)
    place = location_of(source.tree.body[0].value, source)
    assert place.text[place.column : place.end_column] == "self.__weight * x"
    assert place.function == "__call__"


@pytest.mark.parametrize(
    "text, name",
    [
        ("def f(x):\n    return x", "f"),
        ("\n    def g(x):\n        return x\n    def f(x):\n        return g(x)\n", "f"),
        ("lambda x: x", "<lambda>"),
        ("f = lambda x: x", "<lambda>"),
        ("import math\ndef f(x): return math.pi * x\nscale = 2", "f"),
    ],
)
def test_text_becomes_a_real_function(text, name):
    function = parse_text(text)
    assert function.__name__ == name and function(0) == 0
    assert parse(function).name == name


def test_text_sees_the_globals_it_is_given():
    names = {"factor": 3}
    function = parse_text("def f(x): return factor * x", names)
    names["factor"] = 4
    assert function(2) == 8 and parse(function).globals is names


def test_two_texts_do_not_disturb_each_other():
    first, second = parse_text("lambda x: x + 1"), parse_text("lambda x: x + 2")
    linecache.checkcache()
    assert constants(first) == [1] and constants(second) == [2]


def test_text_in_error():
    with pytest.raises(SourceError, match="defines no function\nInstead: write a def or a lambda"):
        parse_text("x = 1")
    with pytest.raises(SourceError) as caught:
        parse_text("def f(x):\n    return x +")
    assert "the source is not valid Python" in str(caught.value) and "    return x +" in str(caught.value)


def test_future_flags(tmp_path):
    text = "from __future__ import annotations\ndef f(x: Missing) -> Missing:\n    return lambda y: x\n"
    module = module_from(tmp_path / "futures_in_file.py", text)
    assert parse(module.f).name == "f" and parse(module.f(1)).name == "<lambda>"


def test_changed_file_is_refused_and_moved_function_found(tmp_path):
    path = tmp_path / "edited.py"
    module = module_from(path, "def f(x):\n    return x + 1\n\ndef g(x):\n    return [i for i in x]\n")
    path.write_text("import math\n\n\ndef f(x):\n    return x + 2\n\ndef g(x):\n    return [i for i in x]\n")
    with pytest.raises(SourceError) as caught:
        parse(module.f)
    assert "f was compiled from other text than its file holds now" in str(caught.value)
    assert f'File "{path}", line 1, in f' in str(caught.value)
    assert "Instead: reload the module" in str(caught.value)
    assert parse(module.g).first_line == 7
    path.write_text("this is not Python\n" * 9)
    with pytest.raises(SourceError, match="has changed since it was imported"):
        parse(module.f)


def test_constants_that_compare_equal_are_still_a_change(tmp_path):
    path = tmp_path / "equal.py"
    module = module_from(path, "def f(x):\n    return x * 1.0\n")
    path.write_text("def f(x):\n    return x * 1  \n")
    with pytest.raises(SourceError, match="has changed"):
        parse(module.f)


def test_reloaded_module_is_read_again(tmp_path):
    path = tmp_path / "reloaded.py"
    assert constants(module_from(path, "def f(x):\n    return x + 1\n").f) == [1]
    again = module_from(path, "def f(x):\n    return x + 22\n")
    os.utime(path, (1, 1))
    assert constants(again.f) == [22]


@pytest.mark.parametrize("file", ["<string>", "<stdin>", "/nowhere/gone.py"])
def test_function_without_text_is_refused(file):
    names = {}
    exec(compile("def made(x): return x", file, "exec"), names)
    cause = {"<string>": "made by exec", "<stdin>": "Python prompt", "/nowhere/gone.py": "cannot be read"}
    with pytest.raises(SourceError) as caught:
        parse(names["made"])
    text = str(caught.value)
    assert "the source of made cannot be found" in text and cause[file] in text
    assert "Instead: define it in a file, or pass its source as a string" in text


@pytest.mark.parametrize("value", [len, np.add, math.sin, np.linalg.det, Model, Model().__call__, 3])
def test_what_is_not_a_python_function_is_refused_by_name(value):
    with pytest.raises(SourceError) as caught:
        parse(value)
    assert getattr(value, "__qualname__", getattr(value, "__name__", str(value))) in str(caught.value)
    assert "Instead: " in str(caught.value)


def test_doctest_examples_have_source():
    text = ">>> def f(x):\n...     return x + 9\n>>> constants(f), constants(lambda x: x - 8)\n([9], [8])\n"
    example = doctest.DocTestParser().get_doctest(text, {"constants": constants}, "example", None, 0)
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


def test_notebook_cells_have_source():
    file, text = "<ipython-input-3-abc>", "k = 2\nf = lambda x: x + 6\n"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {}
    exec(compile(text, file, "exec"), names)
    assert constants(names["f"]) == [6]


def test_without_columns_lambdas_are_still_found(tmp_path):
    script = tmp_path / "plain.py"
    script.write_text(
        "from chainrule.codegen.parse import parse\n"
        "from chainrule.codegen.errors import SourceError\n"
        "f = lambda x: x + 1\n"
        "g, h = lambda x: x + 1, lambda x: x + 2\n"
        "print(parse(f).tree.col_offset)\n"
        "try:\n"
        "    print(parse(h))\n"
        "except SourceError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-X", "no_debug_ranges", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("4\n")
    assert "cannot be told apart" in done.stdout


def test_our_own_functions_are_found_without_their_code(monkeypatch):
    import chainrule.autodiff
    from chainrule.codegen import parse as parsing
    from chainrule.codegen.registry import PRIMITIVES

    assert chainrule.autodiff
    rules = [rule for p in PRIMITIVES.values() for table in (p.jvp, p.vjp) for rule in table.values()]
    ours = [parse, *(rule for rule in rules if isinstance(rule, types.FunctionType))]
    ours = [function for function in ours if function.__module__.startswith("chainrule.")]
    monkeypatch.setattr(parsing, "IMPORTED", float("inf"))
    assert len(ours) > 200 and all(map(parsing.known_unchanged, ours))
    assert not parsing.known_unchanged(body)
    found = [gast.dump(parse(function).tree) for function in ours]
    monkeypatch.setattr(parsing, "IMPORTED", 0.0)
    assert not any(map(parsing.known_unchanged, ours))
    assert [gast.dump(parse(function).tree) for function in ours] == found
