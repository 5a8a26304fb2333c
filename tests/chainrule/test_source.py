"""The text of every stage runs by itself, gives the same numbers, and is formatted as ruff would."""

import importlib.util
import shutil
import subprocess
import sys

import numpy as np
import pytest

import chainrule as cr
from chainrule.backends.numba.emit import save
from chainrule.backends.numpy.emit import Text

STAGES = ("core", "simplified", "numpy", "loops", "numba")
RNG = np.random.default_rng(5)
X, Y = RNG.standard_normal(6), RNG.standard_normal(6)
A = RNG.standard_normal((6, 6)) + 6 * np.eye(6)


def logistic(w, x, y):
    p = 1 / (1 + np.exp(-(x @ w)))
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


def while_loop(x):
    while np.sum(x * x) < 100.0:
        x = x * 1.5
    return np.sum(x)


def in_place(x):
    y = x.copy()
    for i in range(1, len(y)):
        y[i] = y[i - 1] * 0.5 + np.sin(y[i])
    return np.sum(y * y)


def branch(x):
    return np.sum(x) ** 2 if x[0] > 0 else np.sum(x * x)


def stencil(x):
    y = np.zeros_like(x)
    y[1:-1] = x[:-2] - 2 * x[1:-1] + x[2:]
    return np.sum(y**2)


def broadcast(x, y):
    return np.sum(np.tanh(x[:, None] * y) - np.max(x))


def columns(a):
    return np.sum(np.sort(a, axis=0)[0] * np.cumsum(a, axis=1)[:, -1])


def solved(a, b):
    return b @ np.linalg.solve(a, b)


def collected(x):
    parts = []
    for k in range(len(x)):
        parts.append(x[k] * k)
    return sum(parts)


def clipped(x):
    return np.sum(np.clip(x, -0.5, 0.5) * np.where(x > 0, np.sqrt(np.abs(x)), x))


def indexed(x, y):
    z = np.zeros(3)
    np.add.at(z, [0, 2, 2], x[:3])
    return np.sum(z * y[[1, 1, 5]])


PROGRAMS = {
    "value": (logistic, (X, A, (Y > 0) * 1.0)),
    "gradient": (cr.grad(logistic), (X, A, (Y > 0) * 1.0)),
    "value and gradient": (cr.value_and_grad(logistic, (0, 1)), (X, A, (Y > 0) * 1.0)),
    "while": (cr.grad(while_loop), (X,)),
    "in place": (cr.grad(in_place), (X,)),
    "branch": (cr.value_and_grad(branch), (X,)),
    "stencil": (cr.grad(stencil), (X,)),
    "broadcast": (cr.grad(broadcast, (0, 1)), (X, Y)),
    "columns": (cr.grad(columns), (A,)),
    "solve": (cr.grad(solved, (0, 1)), (A, X)),
    "list": (cr.grad(collected), (X,)),
    "clip": (cr.grad(clipped), (X,)),
    "index": (cr.grad(indexed), (X, Y)),
    "hessian": (cr.hessian(stencil), (X,)),
    "single": (cr.grad(lambda x, s: np.sum(np.exp(x) * s)), (X.astype(np.float32), 2.0)),
    "checkpoint": (cr.grad(cr.checkpoint(in_place)), (X,)),
}


def flat(result):
    return (
        [leaf for part in result for leaf in flat(part)]
        if isinstance(result, tuple)
        else [np.asarray(result)]
    )


def ran(text, stage, folder, arguments):
    """What the text's last function gives in a namespace of its own."""
    namespace = {"__name__": "alone"}
    name = [line for line in text.splitlines() if line.startswith("def ")][-1][4:].partition("(")[0]
    if stage == "numba":
        save(Text(text), folder / "program.py")
        specification = importlib.util.spec_from_file_location("program", folder / "program.py")
        module = importlib.util.module_from_spec(specification)
        sys.path.insert(0, str(folder))
        sys.modules["program"] = module
        specification.loader.exec_module(module)
        sys.path.remove(str(folder))
        namespace = vars(module)
    else:
        exec(text, namespace)
    return namespace[name](*(a.copy() if isinstance(a, np.ndarray) else a for a in arguments))


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("stage", STAGES)
def test_runs_alone(name, stage, tmp_path):
    function, arguments = PROGRAMS[name]
    text = cr.source(function, stage)(*arguments)
    imports = {line for line in text.splitlines() if line.startswith(("import ", "from "))}
    allowed = {"import numpy as np", "import math"}
    if stage == "numba":
        allowed |= {"import numba", "import chainrule_support as support"}
        allowed |= {"import chainrule_elementary as elementary"}
    assert imports <= allowed, imports
    wanted = flat(function(*arguments))
    got = flat(ran(text, stage, tmp_path, arguments))
    assert len(got) == len(wanted)
    tolerance = 1e-5 if name == "single" else 1e-10
    for one, other in zip(got, wanted):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def test_is_formatted(tmp_path):
    for name, (function, arguments) in PROGRAMS.items():
        for stage in STAGES:
            text = cr.source(function, stage)(*arguments)
            (tmp_path / f"{name.replace(' ', '_')}_{stage}.py").write_text(text)
    ruff = shutil.which("ruff") or shutil.which("ruff", path=sys.prefix + "/bin")
    if ruff is None:
        pytest.skip("ruff is not installed")
    for command in (["format", "--check", "--diff"], ["check", "--select", "F"]):
        done = subprocess.run(
            [ruff, *command, "--isolated", "."], cwd=tmp_path, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_stages_are_named():
    with pytest.raises(ValueError, match="the stages are core, simplified, numpy, loops, numba"):
        cr.source(branch, "ast")(X)


def test_names_and_lines_are_the_users():
    text = cr.source(cr.grad(in_place))(X)
    assert "y_bar" in text and "def in_place(x):" in text
    assert "y[i] = y[i - 1] * 0.5 + np.sin(y[i])" in text, "a comment has the user's line"


SCALE, OFFSETS, TABLE = 0.5, np.array([1.0, 2.0, 3.0]), np.linspace(0.0, 1.0, 300).reshape(100, 3)


@pytest.mark.parametrize("stage", ["core", "simplified", "numpy", "loops", "numba"])
def test_values_from_outside_stand_in_the_text(stage, tmp_path):
    """Small ones are the defaults of the printed function's last parameters; large ones are to be given."""

    def fit(w):
        return np.sum((TABLE @ w * SCALE) ** 2) + np.sum(OFFSETS * w)

    w = np.array([0.5, -1.0, 2.0])
    text = cr.source(cr.grad(fit), stage=stage)(w)
    assert "SCALE=0.5, OFFSETS=np.array([1.0, 2.0, 3.0])" in text
    wanted = 2 * SCALE**2 * TABLE.T @ (TABLE @ w) + OFFSETS
    np.testing.assert_allclose(ran(text, stage, tmp_path, (w, TABLE)), wanted)


@pytest.mark.parametrize(("function", "line"), [
    (lambda a: np.sum(np.linalg.inv(a + np.eye(len(a)))), "np.linalg.inv(a + np.eye(n))"),
    (lambda a: np.sum(np.eye(3, 4, dtype=np.float32)) * a, "np.eye(3, 4, dtype=np.float32)"),
    (lambda a: np.sum(np.stack([a[0], 2 * a[1]], axis=1) ** 3), "np.stack((a[0], 2 * a[1]), axis=1)"),
    (lambda a: np.where(a[0, 0] > 0, a[0, 1], 2.0), "a[0, 1] if a[0, 0] > 0 else np.float64(2.0)"),
    (lambda a: np.concatenate([a[0], a[1]]), "np.concatenate((a[0], a[1]))"),
])  # fmt: skip
def test_lines_read_as_a_person_writes_them(function, line):
    a = A[:3, :3]
    text = cr.source(function)(a)
    assert line in text.replace("\n", " "), text
    result, wanted = cr.jit(function)(a), function(a)
    np.testing.assert_allclose(result, wanted)
    assert np.asarray(result).dtype == np.asarray(wanted).dtype


def test_derivatives_of_both_sides_of_where_are_put_together():
    text = cr.source(cr.grad(lambda x: np.sum(np.where(x > 0, x, np.exp(x) - 1))))(X)
    assert "x_bar = np.where(x > 0, 1.0, np.exp(x))" in text
