"""Rules that are wrong, missing, or asked for what they cannot give: what is said, and at which line."""

import inspect

import numpy as np
import pytest

import chainrule as cr

X = np.array([0.3, 0.5, -0.2])


def line_of(function):
    """The line at which a rule returns."""
    lines, first = inspect.getsourcelines(function)
    return first + max(k for k, line in enumerate(lines) if "return" in line or "lambda" in line)


def jvp_ruled(rule):
    wave = cr.custom_jvp(lambda x: np.sin(x))
    wave.defjvp(rule)
    return lambda x: np.sum(wave(x))


def vjp_ruled(forward, backward):
    def wave(x, y):
        return np.sin(x) * y

    wave = cr.custom_vjp(wave)
    wave.defvjp(forward, backward)
    return lambda x, y: np.sum(wave(x, y))


def lone(primals, tangents):
    return np.cos(primals[0]) * tangents[0]


def summed(primals, tangents):
    return np.sin(primals[0]), np.sum(tangents[0])


def narrow(primals, tangents):
    return np.sin(primals[0]), tangents[0].astype(np.float32)


def nested(primals, tangents):
    return np.sin(primals[0]), (tangents[0],)


def other_value(primals, tangents):
    return np.sum(primals[0]), tangents[0]


def text(primals, tangents):
    return np.sin(primals[0]), "tangent"


JVP_RULES = {
    lone: (TypeError, "must return two values, the value and its tangent; it returns a number or array"),
    summed: (ValueError, r"needs a tangent of shape \(3,\), and returns one of shape \(\)"),
    narrow: (TypeError, "needs a tangent of dtype float64, and returns one of dtype float32"),
    nested: (TypeError, "returns a tuple where its tangent is an array or number of dtype float64"),
    other_value: (ValueError, r"needs a value of shape \(3,\), and returns one of shape \(\)"),
    text: (TypeError, "returns a str where its tangent is"),
}


@pytest.mark.parametrize("rule", JVP_RULES, ids=lambda rule: rule.__name__)
@pytest.mark.parametrize("derivative", [cr.grad, cr.jacfwd, lambda f: cr.jit(cr.grad(f))])
def test_wrong_jvp_rules(rule, derivative):
    kind, said = JVP_RULES[rule]
    with pytest.raises(kind, match=f"the jvp rule of function {said}(.|\n)*Instead: ") as caught:
        derivative(jvp_ruled(rule))(X)
    assert isinstance(caught.value, cr.ChainruleError)
    assert f'test_custom_errors.py", line {line_of(rule)}, in {rule.__name__}' in str(caught.value)


def kept(x, y):
    return np.sin(x) * y, (x, y)


def bare(residuals, cotangent):
    return cotangent


def short(residuals, cotangent):
    return (cotangent,)


def reduced(residuals, cotangent):
    return cotangent, np.sum(cotangent)


def single(residuals, cotangent):
    return cotangent.astype(np.float32), None


def pair(residuals, cotangent):
    return cotangent, (cotangent, cotangent)


BACKWARD_RULES = {
    bare: (TypeError, "must return a tuple with a cotangent for each of the 2 arguments.*a number or array"),
    short: (TypeError, "must return a tuple with a cotangent for each of the 2 arguments.*a tuple of 1"),
    reduced: (ValueError, r"needs a cotangent of argument 1 \(y\) of shape \(3,\).*one of shape \(\)"),
    single: (TypeError, r"needs a cotangent of argument 0 \(x\) of dtype float64.*float32"),
    pair: (TypeError, r"returns a tuple where its cotangent of argument 1 \(y\) is an array or number"),
}


@pytest.mark.parametrize("rule", BACKWARD_RULES, ids=lambda rule: rule.__name__)
def test_wrong_backward_rules(rule):
    kind, said = BACKWARD_RULES[rule]
    with pytest.raises(kind, match=f"the backward rule of wave {said}(.|\n)*Instead: ") as caught:
        cr.grad(vjp_ruled(kept, rule), (0, 1))(X, X)
    assert f'test_custom_errors.py", line {line_of(rule)}, in {rule.__name__}' in str(caught.value)


def without_residuals(x, y):
    return np.sin(x) * y


def with_another_value(x, y):
    return np.sum(x), None


@pytest.mark.parametrize(
    "rule, kind, said",
    [
        (
            without_residuals,
            TypeError,
            "must return two values, the value and residuals; it returns a number",
        ),
        (with_another_value, ValueError, r"needs a value of shape \(3,\), and returns one of shape \(\)"),
    ],
)
def test_wrong_forward_rules(rule, kind, said):
    with pytest.raises(kind, match=f"the forward rule of wave {said}") as caught:
        cr.grad(vjp_ruled(rule, bare))(X, X)
    assert f"line {line_of(rule)}, in {rule.__name__}" in str(caught.value)


def test_sizes_that_differ_at_run_time():
    """Sizes that are symbols are compared when it runs."""

    def longer(primals, tangents):
        return np.sin(primals[0]), np.concatenate([tangents[0], tangents[0]])

    with pytest.raises(ValueError, match="the jvp rule of function"):
        cr.grad(jvp_ruled(longer))(X)


def test_without_a_rule():
    f, g = cr.custom_jvp(np.square), cr.custom_vjp(without_residuals)
    with pytest.raises(cr.ChainruleError, match=r"square has no derivative rule\nInstead: .*square.defjvp"):
        cr.grad(lambda x: f(x))(1.0)
    with pytest.raises(cr.ChainruleError, match=r"(?s)without_residuals has no derivative rule.*defvjp\("):
        cr.grad(g)(1.0, 2.0)
    assert f(3.0) == 9.0
    assert cr.grad(lambda x: x * cr.stop_gradient(f(x)))(3.0) == 9.0


FORWARD = {
    "jvp": lambda f: cr.jvp(f, (1.0,), (1.0,)),
    "linearize": lambda f: cr.linearize(f, 1.0)[1](1.0),
    "jacfwd": lambda f: cr.jacfwd(f)(1.0),
    "jvp of vmap": lambda f: cr.jvp(cr.vmap(f), (X,), (X,)),
    "jvp in a loop": lambda f: cr.jvp(lambda x, n: [f(x) for _ in range(2)][0], (1.0, 2), (1.0, 0)),
}


@pytest.mark.parametrize("how", FORWARD)
def test_a_reverse_rule_in_forward_mode(how):
    f = cr.custom_vjp(lambda x: x)
    f.defvjp(lambda x: (x, None), lambda _, cotangent: (cotangent,))
    with pytest.raises(TypeError, match="reverse mode only, and is differentiated in forward mode"):
        FORWARD[how](f)


@pytest.mark.parametrize(
    "rule",
    [
        lambda primals, tangents: (np.sin(primals[0]), tangents[0] * tangents[0]),
        lambda primals, tangents: (np.sin(primals[0]), np.abs(tangents[0])),
        lambda primals, tangents: (
            np.sin(primals[0]),
            tangents[0] if tangents[0][0] > 0 else 2 * tangents[0],
        ),
        lambda primals, tangents: (np.sin(primals[0] + tangents[0]), tangents[0]),
    ],
)
def test_rules_that_are_not_linear(rule):
    with pytest.raises(TypeError, match="the jvp rule of function is not linear in its tangents"):
        cr.grad(jvp_ruled(rule))(X)


def test_a_vjp_rule_that_is_not_linear():
    f = cr.primitive("not_linear", np.sin, type=lambda x: x)
    f.defvjps(lambda cotangent, value, x: cotangent * cotangent)
    assert cr.grad(f)(1.0) == 1.0
    with pytest.raises(TypeError, match="the backward rule of not_linear is not linear in its cotangents"):
        cr.jvp(f, (1.0,), (1.0,))


def test_a_derivative_by_what_is_read_beside_the_arguments():
    def loss(x):
        y = 2 * x

        @cr.custom_jvp
        def wave(z):
            return np.sin(z) * y

        wave.defjvp(lambda primals, tangents: (wave(primals[0]), tangents[0]))
        return wave(x)

    with pytest.raises(
        TypeError, match="rule for its arguments only, and it or the rule reads 'y' beside them"
    ):
        cr.grad(loss)(1.0)


def test_changing_an_argument():
    def shifted(x):
        x[0] = 1.0
        return x

    f = cr.custom_jvp(shifted)
    f.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
    with pytest.raises(NotImplementedError, match="has a derivative rule, and changes something outside"):
        cr.grad(lambda x: np.sum(f(x)))(X)


def test_arguments():
    def scaled(x, *, by):
        return x * by

    f = cr.custom_jvp(scaled)
    f.defjvp(lambda primals, tangents: (primals[0], tangents[0]))
    with pytest.raises(TypeError, match="none can be keyword-only"):
        cr.grad(lambda x: f(x, by=2.0))(1.0)
    with pytest.raises(TypeError, match="needs a function, and was given a int"):
        cr.custom_jvp(3)
    with pytest.raises(ValueError, match="scaled has no argument called 'z'; its arguments are x"):
        cr.custom_vjp(scaled, nondiff_argnames="z")
    g = cr.custom_jvp(lambda x, y: x * y)
    g.defjvps(lambda tangent, value, x, y: tangent * y)
    with pytest.raises(TypeError, match="defjvps was given 1 rules, and the function is called with 2"):
        cr.grad(g)(1.0, 2.0)
    with pytest.raises(ValueError, match="nondiff_argnums of function has 2, and it is called with 1"):
        cr.grad(cr.custom_jvp(lambda x: x, nondiff_argnums=2))(1.0)
    with pytest.raises(TypeError, match="cannot be used with nondiff_argnums"):
        cr.custom_jvp(lambda n, x: x, nondiff_argnums=0).defjvps(None)
