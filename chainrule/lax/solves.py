"""Solutions of equations, differentiated by what they solve, not by how: custom_root, custom_linear_solve."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..api import jvp, vjp
from ..codegen.errors import NotDifferentiableError, TypeMismatchError
from ..custom import custom_jvp
from ..programs import stop_gradient
from ..runtime import trees
from ..runtime.agreement import refuse, require_like
from ..runtime.closure_conversion import closed_over, with_rules


def custom_root(
    f: Callable, initial_guess: Any, solve: Callable, tangent_solve: Callable, has_aux: bool = False
) -> Any:
    """A root of f, that is an x with f(x) = 0, differentiated implicitly.

    Args:
        f: a function of x to a value like x; it may read other values, by which can be differentiated.
        initial_guess: an x: an array or number, or any tree of these. No derivative passes through it.
        solve: gives a root for (f, initial_guess), in any way; it is never differentiated.
        tangent_solve: gives for a linear function g and a y the x with g(x) = y. For a number:
            `lambda g, y: y / g(1.0)`; for a vector: `lambda g, y: np.linalg.solve(jacfwd(g)(y), y)`.
        has_aux: whether `solve` returns (root, anything), of which the second gets no derivative.

    Returns:
        What `solve` returns.

    With f(x, a) = 0, the derivative of x by a is the solution of f_x x' = -f_a (the implicit function
    theorem; A. Griewank and A. Walther, Evaluating Derivatives, SIAM 2008, chapter 15). It holds where f_x is
    regular, in forward and in reverse mode, and again for second derivatives.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> def bisect(f, guess):
    ...     low, high = 0.0, 2.0
    ...     for _ in range(60):
    ...         middle = 0.5 * (low + high)
    ...         if f(middle) > 0:
    ...             high = middle
    ...         else:
    ...             low = middle
    ...     return high
    >>> def square_root(a):
    ...     return cr.lax.custom_root(lambda x: x * x - a, 1.0, bisect, lambda g, y: y / g(1.0))
    >>> round(cr.grad(square_root)(2.0), 6)
    0.353553
    """
    residual, reads = closed_over(f, initial_guess)
    tangent, tangent_reads = closed_over(tangent_solve, lambda x: x, initial_guess)
    solver, solver_reads = closed_over(solve, f, initial_guess)

    def value(reads, solver_reads, guess):
        answer = solver(solver_reads, lambda x: residual(reads[0], x), guess)
        require_like(
            _first(answer, has_aux, "custom_root"),
            guess,
            "custom_root needs a root like initial_guess",
            "let solve return an x of the structure and shapes of initial_guess",
        )
        return answer

    def rule(primals, tangents):
        reads, solver_reads, guess = primals
        answer = root(reads, solver_reads, guess)
        x = _first(answer, has_aux, "custom_root")
        slope = jvp(lambda read: residual(read, x), (reads[0],), (tangents[0][0],))[1]
        require_like(
            slope,
            x,
            "custom_root needs an f whose value is like x",
            "let f return one equation for each number in x",
        )
        along = lambda direction: jvp(lambda x: residual(reads[0], x), (x,), (direction,))[1]
        x_dot = tangent(reads[1], along, _negative(slope))
        require_like(
            x_dot,
            x,
            "custom_root needs a tangent_solve whose value is like x",
            "write for a number: lambda g, y: y / g(1.0)",
        )
        return answer, (x_dot, None) if has_aux else x_dot

    root = custom_jvp(value)
    root.defjvp(rule)
    return root((reads, tangent_reads), stop_gradient(solver_reads), stop_gradient(initial_guess))


def custom_linear_solve(
    matvec: Callable,
    b: Any,
    solve: Callable,
    transpose_solve: Callable | None = None,
    symmetric: bool = False,
    has_aux: bool = False,
) -> Any:
    """The solution x of a linear system matvec(x) = b, differentiated as such.

    Args:
        matvec: a linear function of x to a value like b; it may read other values, by which can be
            differentiated.
        b: an array or number, or any tree of these; x has the same structure, shapes and dtypes.
        solve: gives the solution for (matvec, b), in any way; it is never differentiated.
        transpose_solve: gives the solution for (vecmat, b), where vecmat is the transpose of matvec; needed
            in reverse mode, unless `symmetric`.
        symmetric: whether matvec is its own transpose, and `solve` serves for both.
        has_aux: whether the solvers return (solution, anything), of which the second gets no derivative.

    Returns:
        What `solve` returns.

    Raises:
        NotDifferentiableError (a TypeError): reverse mode needs `transpose_solve`, and there is none.

    >>> import numpy as np
    >>> import chainrule as cr
    >>> def solution(a, b):
    ...     solve = lambda matvec, b: np.linalg.solve(a, b)
    ...     back = lambda vecmat, b: np.linalg.solve(a.T, b)
    ...     return cr.lax.custom_linear_solve(lambda x: a @ x, b, solve, back)
    >>> a = np.array([[2.0, 1.0], [0.0, 4.0]])
    >>> cr.jacrev(solution, 1)(a, np.ones(2))
    array([[ 0.5  , -0.125],
           [ 0.   ,  0.25 ]])
    """
    apply, reads = closed_over(matvec, b)
    forth, forth_reads = closed_over(solve, matvec, b)
    back, back_reads = forth, forth_reads
    if not symmetric and transpose_solve is not None:
        back, back_reads = closed_over(transpose_solve, matvec, b)
    elif not symmetric:
        back = None
    system = _system(apply, forth, back, symmetric, has_aux)
    return system(reads, stop_gradient((forth_reads, back_reads)), b)


def _system(apply: Callable, forth: Callable, back: Callable | None, symmetric: bool, has_aux: bool) -> Any:
    """The solution of apply(reads, x) = b as a function of (reads, what the solvers read, b)."""

    def value(reads, solver_reads, b):
        answer = forth(solver_reads[0], lambda x: apply(reads, x), b)
        require_like(
            _first(answer, has_aux, "custom_linear_solve"),
            b,
            "custom_linear_solve needs a solution like b",
            "let the solver return an x of the structure and shapes of b",
        )
        return answer

    def pushed(primals, tangents):
        reads, solver_reads, b = primals
        reads_dot, _, b_dot = tangents
        answer = system(reads, solver_reads, b)
        x = _first(answer, has_aux, "custom_linear_solve")
        slope = jvp(lambda read: apply(read, x), (reads,), (reads_dot,))[1]
        require_like(
            slope,
            b,
            "custom_linear_solve needs a matvec whose value is like b",
            "let matvec return a value of the structure and shapes of b",
        )
        rest = trees.map_leaves(lambda one, other: one - other, b_dot, (slope,), None)
        x_dot = system(reads, solver_reads, rest)
        return answer, (x_dot[0], None) if has_aux else x_dot

    def forward(reads, solver_reads, b):
        answer = system(reads, solver_reads, b)
        return answer, (reads, solver_reads, answer[0] if has_aux else answer)

    def backward(residuals, cotangent):
        reads, solver_reads, x = residuals
        x_bar = cotangent[0] if has_aux else cotangent
        if back is None:
            refuse(
                "custom_linear_solve needs transpose_solve in reverse mode",
                "give it transpose_solve, or symmetric=True",
                NotDifferentiableError,
            )
        other_way = system
        if not symmetric:
            transposed = lambda reads, y: vjp(lambda x: apply(reads, x), y)[1](y)[0]
            other_way = _system(transposed, back, forth, symmetric, has_aux)
        answer = other_way(reads, (solver_reads[1], solver_reads[0]), x_bar)
        b_bar = answer[0] if has_aux else answer
        (reads_bar,) = vjp(lambda read: apply(read, x), reads)[1](_negative(b_bar))
        return reads_bar, None, b_bar

    system = with_rules(value, pushed, forward, backward)
    return system


def _first(answer: Any, has_aux: bool, who: str) -> Any:
    """The solution in what a solver returned."""
    if not has_aux:
        return answer
    if not isinstance(answer, (tuple, list)) or len(answer) != 2:
        refuse(
            f"{who} with has_aux=True needs a solver that returns (solution, aux)",
            "return a tuple of two",
            TypeMismatchError,
        )
    return answer[0]


def _negative(tree: Any) -> Any:
    return trees.map_leaves(lambda leaf: -leaf, tree, (), None)


__all__ = ["custom_linear_solve", "custom_root"]
