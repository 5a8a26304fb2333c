"""Shapes without running, why a function was compiled again, and programs as files of their own."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import chainrule as cr

SCALE = 2
TABLE = np.arange(200.0).reshape(20, 10)
OFFSET = np.arange(10.0)


# eval_shape


@pytest.mark.parametrize(
    "function, arguments",
    [
        (
            lambda x, w: {"a": x @ w, "b": (x.sum(axis=0), 1.0, x.shape[0])},
            (np.ones((3, 4)), np.ones((4, 5))),
        ),
        (lambda x: np.concatenate([x, x])[1:] > 0, (np.ones(3, np.float32),)),
        (cr.grad(lambda x: np.sum(x**2)), (np.ones(3, np.float32),)),
        (cr.vmap(np.linalg.inv), (np.stack([np.eye(3)] * 2),)),
        (lambda n: np.zeros((n, n + 1)), (4,)),
        (lambda x: np.outer(x, x[::2]).reshape(-1), (np.ones(5),)),
        (cr.hessian(lambda x: np.sum(x**3)), (np.ones(5),)),
        (lambda x: x.astype(np.complex64)[None], (np.ones((1, 2)),)),
    ],
)
def test_shapes_and_dtypes_are_those_of_the_result(function, arguments):
    result = function(*arguments)
    of_arrays = lambda a: cr.ShapeDtype(a.shape, a.dtype) if isinstance(a, np.ndarray) else a
    for given in (arguments, tuple(map(of_arrays, arguments))):
        found = cr.eval_shape(function, *given)
        same = cr.tree.map(
            lambda f, r: (f.shape, f.dtype) == (np.shape(r), np.asarray(r).dtype), found, result
        )
        assert cr.tree.all(same)


def test_eval_shape_refuses_what_depends_on_data_and_what_does_not_fit():
    with pytest.raises(cr.ChainruleError) as caught:
        cr.eval_shape(lambda x: np.nonzero(x)[0], np.ones(3))
    assert "the shape of whose result depends on the data" in str(caught.value)
    with pytest.raises(ValueError, match="size 3 is different from 4"):
        cr.eval_shape(lambda x: x @ x, cr.ShapeDtype((3, 4), float))


# explain_recompiles


def test_each_program_and_why():
    @cr.jit
    def f(x, w=1.0, mode="a"):
        return x.sum() * SCALE * w

    assert cr.explain_recompiles(f) == "f has not been compiled yet"
    x = np.ones((3, 2))
    for arguments in [
        (x,),
        (x[:2],),
        (x.astype("f4"),),
        (x[:, :1].copy(),),
        (x[:1],),
        (x.T,),
        (x[0],),
        (x, 2.0),
        (x, 2.0, "b"),
        (2,),
    ]:
        f(*arguments)
    lines = cr.explain_recompiles(f).splitlines()
    assert lines[0] == "f was compiled 8 times"
    assert lines[1:3] == ["1. x: float64[n, n]", "2. x: float32[n, n]"]
    said = "\n".join(lines)
    assert "   x is float32[n, n], and was float64[n, n]" in said
    assert "   x is float64[n, 1], and was float64[n, n] (sizes of 0 and 1 have programs" in said
    assert "   x is float64[n, n] not C-contiguous, and was float64[n, n]" in said
    assert "   w is given, and was not" in said
    assert "   mode is given, and was not" in said
    assert "x is Python int, and was" in said


def test_static_values_pinned_integers_and_globals():
    @cr.jit
    def f(x, n):
        return np.reshape(x, (n, -1)).sum(axis=0)[0] * SCALE

    x = np.ones(6)
    f(x, 2), f(x, 3)
    globals()["SCALE"] = 3
    try:
        f(x, 3)
    finally:
        globals()["SCALE"] = 2
    g = cr.jit(lambda x, k: x * k, static_argnums=1)
    g(x, 2), g(x, 5)
    assert "   SCALE has changed" in cr.explain_recompiles(f)
    assert "   the static argument 1 is 5, and was 2" in cr.explain_recompiles(g)


def test_only_of_what_a_transformation_made():
    with pytest.raises(TypeError, match="takes what jit or another transformation made, and not a function"):
        cr.explain_recompiles(lambda x: x)


def test_one_program_serves_all_batch_sizes():
    f = cr.jit(lambda x, w: np.tanh(x @ w).sum(axis=0))
    w = np.linspace(-1, 1, 12).reshape(4, 3)
    for n in (2, 3, 17, 1, 1000):
        x = np.arange(n * 4.0).reshape(n, 4) / n
        assert np.allclose(f(x, w), np.tanh(x @ w).sum(axis=0))
    assert "compiled once" in cr.explain_recompiles(f)
    f(np.ones((0, 4)), w)
    assert "compiled 2 times" in cr.explain_recompiles(f)


# export


def loss(params, x, n, *, mode):
    h = np.tanh(x @ params["w"] + params["b"][0]) + (x @ TABLE) * n + OFFSET
    x[0] = 5.0
    return {"value": np.mean(np.exp(-np.abs(h))), "rest": (h, 1, mode, x[0, 0])}


def arguments():
    rng = np.random.default_rng(0)
    params = {"w": rng.normal(size=(20, 10)), "b": [np.ones(10)]}
    return params, rng.normal(size=(3, 20)) / 1000, 2


PROGRAM = """
import sys

class Block:
    def find_spec(self, name, *rest):
        if name.partition(".")[0] == "chainrule":
            raise ImportError(name)

sys.meta_path.insert(0, Block())
sys.path.insert(0, {folder!r})
import numpy as np
"""


def run_outside(folder, text):
    """What a program prints that cannot import chainrule."""
    program = PROGRAM.format(folder=str(folder)) + textwrap.dedent(text)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("stage", ["numba", "numpy"])
def test_an_exported_function_runs_without_chainrule(stage, tmp_path):
    path = cr.export(loss, tmp_path, stage)(*arguments(), mode="m")
    files = {"loss.py", "loss_values.npz"} | ({"loss_support.py"} if stage == "numba" else set())
    assert path == tmp_path / "loss.py" and {p.name for p in tmp_path.iterdir()} == files
    lines = run_outside(
        tmp_path,
        """
        from loss import loss
        rng = np.random.default_rng(0)
        params = {"w": rng.normal(size=(20, 10)), "b": [np.ones(10)]}
        x = rng.normal(size=(3, 20)) / 1000
        result = loss(params, x, 2, mode="m")
        print(repr(float(result["value"])), float(result["rest"][0].sum()), result["rest"][1:], x[0, 0])
        x = np.concatenate([x, x])
        print(loss(params, x, 3, mode="m")["rest"][0].shape)
        for call in [
            lambda: loss(params, x, 2.0, mode="m"),
            lambda: loss(params, x, 2, mode="b"),
            lambda: loss(params, x[:1], 2, mode="m"),
            lambda: loss({"w": params["w"]}, x, 2, mode="m"),
            lambda: loss(params, x.astype("f4"), 2, mode="m"),
        ]:
            try:
                call()
            except (TypeError, ValueError) as error:
                print(type(error).__name__, error)
        """,
    )
    params, x, n = arguments()
    result = loss(params, x, n, mode="m")
    value, total, *_ = lines[0].split(" ")
    assert np.isclose(float(value), result["value"]) and np.isclose(float(total), result["rest"][0].sum())
    assert lines[0].endswith(f"{result['rest'][1:]!r} 5.0") and lines[1] == "(6, 10)"
    assert lines[2:] == [
        "TypeError n must be of type int, and is of type float",
        "ValueError mode is 'b', and the program was made for 'm'",
        "ValueError x has shape (1, 20), and the program was made for (None, None)",
        "ValueError params is ['w'], and the program was made for ['b', 'w']",
        "TypeError x must be an array of float64 with 2 axes",
    ]


def test_an_exported_gradient_with_helpers_for_numbers(tmp_path):
    from scipy import special

    def f(x, a):
        return np.sum(special.expit(x) * special.digamma(x) * np.log1p(x) ** a)

    gradient = cr.grad(f, argnums=(0, 1))
    cr.export(cr.jit(gradient), tmp_path)(np.ones(3), 1.5)
    lines = run_outside(
        tmp_path,
        """
        from f import f
        print(*(float(value) for part in f(np.array([0.5, 1.5]), 1.5) for value in np.ravel(part)))
        """,
    )
    wanted = gradient(np.array([0.5, 1.5]), 1.5)
    assert np.allclose(list(map(float, lines[0].split())), [*wanted[0], wanted[1]])
    support = (tmp_path / "f_support.py").read_text()
    assert "def digamma" in support and "threefry" not in support and "chainrule" not in support


def test_an_exported_function_of_large_arrays(tmp_path):
    def slopes(x):
        return np.cos(np.linspace(0.0, 1.0, 100_000))[::1000] * x

    cr.export(cr.jit(slopes), tmp_path)(2.0)
    lines = run_outside(tmp_path, "from slopes import slopes; print(float(slopes(3.0)[99]))")
    assert np.isclose(float(lines[0]), 3 * np.cos(99_000 / 99_999))


def calls_back(x):
    cr.debug.callback(abs, x)
    return x


def test_what_cannot_be_exported(tmp_path):
    class Thing:
        pass

    cases = [
        (
            calls_back,
            (1.0,),
            "which calls abs of this process",
            "leave it out",
        ),
        (lambda x, thing: x, (1.0, Thing()), "of which thing is a Thing", "functools.partial"),
    ]
    for function, given, what, remedy in cases:
        with pytest.raises(cr.ChainruleError) as caught:
            cr.export(function, tmp_path)(*given)
        assert what in str(caught.value) and remedy in str(caught.value)
    with pytest.raises(ValueError, match="export has the stages numba, numpy, not 'core'"):
        cr.export(abs, tmp_path, "core")(1.0)
