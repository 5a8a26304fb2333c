"""check_grads names the mode, the argument, the element, and what was expected there and got."""

import numpy as np
import pytest

import chainrule as cr

X = np.array([0.3, 0.5, -0.2])


def ruled(wrong):
    """sin(p["a"]) * y, whose rule has the derivative by y times `wrong`."""

    @cr.custom_jvp
    def wave(p, y):
        return np.sin(p["a"]) * y

    @wave.defjvp
    def wave_jvp(primals, tangents):
        (p, y), (p_dot, y_dot) = primals, tangents
        dot = np.cos(p["a"]) * p_dot["a"] * y + np.array([1.0, 1.0, wrong]) * np.sin(p["a"]) * y_dot
        return wave(p, y), dot

    return wave


def test_a_right_rule():
    cr.check_grads(ruled(1.0), ({"a": X}, 2.0), order=2)


def test_forward():
    with pytest.raises(AssertionError) as caught:
        cr.check_grads(ruled(1.5), ({"a": X}, 2.0), modes="fwd")
    said = str(caught.value)
    assert said.startswith("the derivative of wave in forward mode is not what central differences say\n")
    expected, got = np.sin(-0.2), 1.5 * np.sin(-0.2)
    assert "argument 1 (y): the derivative of the result, element [2], by it is expected to be" in said
    assert f"{expected:.6g}" in said and f"{got:.6g}" in said
    assert "argument 0" not in said


def test_a_part_of_an_argument():
    @cr.custom_jvp
    def f(p):
        return {"one": p["a"] * p["b"][1], "two": p["b"][0]}

    @f.defjvp
    def f_jvp(primals, tangents):
        (p,), (dot,) = primals, tangents
        one = dot["a"] * p["b"][1] + p["a"] * dot["b"][1] * np.array([1.0, 3.0, 1.0])
        return f(p), {"one": one, "two": dot["b"][0]}

    with pytest.raises(AssertionError) as caught:
        cr.check_grads(f, ({"a": X, "b": (1.0, 2.0)},), modes="fwd")
    said = str(caught.value)
    assert (
        "argument 0 (p['b'][1]): the derivative of result 0, element [1], by it is expected to be 0.5" in said
    )
    assert "and is 1.5" in said
    assert "p['a']" not in said and "p['b'][0]" not in said


def product(backward):
    @cr.custom_vjp
    def f(x, y):
        return np.sum(x * y)

    f.defvjp(lambda x, y: (np.sum(x * y), (x, y)), backward)
    return f


def test_reverse():
    f = product(lambda r, ct: (ct * r[1], ct * r[0] * np.array([1.0, -1.0, 1.0])))
    with pytest.raises(AssertionError) as caught:
        cr.check_grads(f, (X, X), modes="rev")
    said = str(caught.value)
    assert "the derivative of f in reverse mode" in said
    assert "argument 1 (y), element [1]: its cotangent is expected to be 0.5, and is -0.5" in said
    cr.check_grads(product(lambda r, ct: (ct * r[1], ct * r[0])), (X, X), modes="rev", order=2)


def test_several_arguments_and_a_random_cotangent():
    @cr.custom_vjp
    def f(x, y):
        return x * y

    f.defvjp(lambda x, y: (x * y, (x, y)), lambda r, ct: (2 * ct * r[1], None))
    with pytest.raises(AssertionError) as caught:
        cr.check_grads(f, (X, X), modes="rev")
    lines = str(caught.value).splitlines()
    assert [line[:14] for line in lines[1:]] == ["argument 0 (x)", "argument 1 (y)"]
    assert "for a random cotangent of the result" in lines[1] and lines[2].endswith("and is 0")


def test_second_order():
    f = cr.custom_vjp(lambda x: np.sum(x**3))
    f.defvjp(lambda x: (np.sum(x**3), x), lambda x, ct: (3 * ct * x * cr.stop_gradient(x),))
    cr.check_grads(f, (X,), modes="rev")
    with pytest.raises(AssertionError, match="differentiated before in reverse mode") as caught:
        cr.check_grads(f, (X,), modes="rev", order=2)
    assert "argument 0 (x), element [1]" in str(caught.value)


def test_primitives():
    import scipy.special

    f = cr.primitive("checked_kv", scipy.special.kv)
    f.defjvps(None, lambda t, value, v, x: -t * (f(v - 1, x) + f(v + 1, x)) / 2)
    cr.check_grads(lambda x: f(1.0, x), (np.abs(X),), order=2)
    f.defjvps(None, lambda t, value, v, x: t * (f(v - 1, x) + f(v + 1, x)) / 2)
    with pytest.raises(AssertionError, match=r"argument 0 \(x\), element"):
        cr.check_grads(lambda x: f(1.0, x), (np.abs(X),))


def test_complex():
    f = cr.custom_jvp(lambda z: z**2)
    f.defjvp(lambda primals, tangents: (primals[0] ** 2, 3 * primals[0] * tangents[0]))
    with pytest.raises(AssertionError, match="expected to be 2.4j?|expected to be"):
        cr.check_grads(f, (np.array([1.0 + 1.2j]),), modes="fwd")
