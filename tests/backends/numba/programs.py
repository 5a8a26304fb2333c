"""Small programs for tests: built straight from primitives, compiled, compared with the interpreter."""

import numpy as np

from chainrule.backends.numba.emit import compiled_form, emit, load
from chainrule.codegen.build import Builder
from chainrule.codegen.core import INT, ArrayType, Program, Variable
from chainrule.codegen.evaluate import evaluate
from chainrule.codegen.registry import PRIMITIVES

PYTHON = {bool: np.dtype(bool), int: np.dtype(np.int64), float: np.dtype(float), complex: np.dtype(complex)}


def program(function, *arguments, name="f"):
    """The program of `function(emit, *parameters)`, for arguments like these; sizes above 1 are symbols."""
    builder, parameters = Builder(), []
    for letter, argument in zip("xyzuvw", arguments):
        if type(argument) in PYTHON:
            parameters.append(Variable(letter, ArrayType(PYTHON[type(argument)], (), True)))
            continue
        argument = np.asarray(argument)
        parameter = Variable(letter, ArrayType(argument.dtype, argument.shape))
        sizes = []
        for axis, size in enumerate(argument.shape):
            if size > 1:
                size = Variable(None, INT)
                builder.lower_bounds[size] = 2
            sizes.append(size)
        parameter.type = ArrayType(argument.dtype, tuple(sizes))
        for axis, size in enumerate(sizes):
            if isinstance(size, Variable):
                made = builder.emit(PRIMITIVES["size"], parameter, axis=axis)
                builder.lower_bounds[made] = 2
                sizes[axis] = made
        parameter.type = ArrayType(argument.dtype, tuple(sizes))
        parameters.append(parameter)

    def call(primitive, *operands, **static):
        return builder.emit(PRIMITIVES[primitive], *operands, **static)

    results = function(call, *parameters)
    builder.block.results = results if isinstance(results, tuple) else (results,)
    return Program(name, tuple(parameters), builder.block)


def several(results):
    return results if isinstance(results, tuple) else (results,)


def same(found, expected, text=""):
    """Whether results agree in value, shape and dtype."""
    found, expected = several(found), several(expected)
    assert len(found) == len(expected), text
    for one, other in zip(found, expected):
        other = other[()] if isinstance(other, np.ndarray) and not other.ndim else other
        assert type(one) is type(other), (type(one), type(other), text)
        assert np.asarray(one).dtype == np.asarray(other).dtype, text
        assert np.shape(one) == np.shape(other), text
        precision = (
            2e-5
            if np.asarray(other).dtype.char in "fF"
            else 1e-3
            if np.asarray(other).dtype.char == "e"
            else 1e-11
        )
        np.testing.assert_allclose(one, other, rtol=precision, atol=precision * 1e-2, err_msg=text)


def fused(function, *arguments, merge=True):
    """The loop program gives what the program gives."""
    before = program(function, *arguments)
    after = compiled_form(before, merge=merge)
    with np.errstate(all="ignore"):
        same(evaluate(after, arguments), evaluate(before, arguments))
    return after


def compiled(function, *arguments, directory=None, **options):
    """The compiled program gives what the program gives; returns it, and its text."""
    made = program(function, *arguments)
    text = emit(made, **options)
    run = load(text, made.name, directory)
    kept = [np.array(argument) for argument in arguments]
    with np.errstate(all="ignore"):
        expected = evaluate(made, arguments)
    same(run(*arguments), expected, text)
    for argument, before in zip(arguments, kept):
        np.testing.assert_array_equal(argument, before)
    return run, text
