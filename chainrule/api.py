"""The transformations: names, arguments and documentation. What they do is in runtime/."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

from .runtime.compilation import Jit
from .runtime.derivatives import Gradient, Pushforward, ReverseMode
from .runtime.jacobians import Jacobian
from .runtime.nested import inside
from .runtime.pullbacks import Plain
from .runtime.transformation import Transformation

_made: dict[type, WeakKeyDictionary] = {}


def kept(kind: type, function: Any) -> Any:
    """One transformation of each kind for each function, so that its programs are made once."""
    made = _made.setdefault(kind, WeakKeyDictionary())
    try:
        if function not in made:
            made[function] = kind(function)
        return made[function]
    except TypeError:
        return kind(function)


def grad(function: Callable | None = None, argnums: Any = 0, has_aux: bool = False) -> Any:
    if function is None:
        return lambda f: grad(f, argnums, has_aux)
    return Gradient(function, argnums, has_aux)


def value_and_grad(function: Callable | None = None, argnums: Any = 0, has_aux: bool = False) -> Any:
    if function is None:
        return lambda f: value_and_grad(f, argnums, has_aux)
    return Gradient(function, argnums, has_aux, value=True)


def jit(function: Callable | None = None, static_argnums: Any = (), static_argnames: Any = ()) -> Any:
    if function is None:
        return lambda f: jit(f, static_argnums, static_argnames)
    return Jit(function, static_argnums, static_argnames)


def jvp(function: Callable, primals: Any, tangents: Any) -> tuple:
    return kept(Pushforward, function)(primals, tangents)


def vjp(function: Callable, *primals: Any) -> tuple:
    return kept(Plain, function).pullback(primals)


def linearize(function: Callable, *primals: Any) -> tuple:
    return function(*primals), lambda *tangents: jvp(function, primals, tangents)[1]


def jacrev(function: Callable | None = None, argnums: Any = 0, has_aux: bool = False) -> Any:
    if function is None:
        return lambda f: jacrev(f, argnums, has_aux)
    return Jacobian(function, argnums, has_aux, rows=True)


def jacfwd(function: Callable | None = None, argnums: Any = 0, has_aux: bool = False) -> Any:
    if function is None:
        return lambda f: jacfwd(f, argnums, has_aux)
    return Jacobian(function, argnums, has_aux, rows=False)


def hessian(function: Callable | None = None, argnums: Any = 0, has_aux: bool = False) -> Any:
    if function is None:
        return lambda f: hessian(f, argnums, has_aux)
    return jacfwd(jacrev(function, argnums, has_aux), argnums, has_aux)


def hvp(function: Callable, primals: Any, tangents: Any) -> Any:
    return jvp(grad(function), primals, tangents)[1]


def source(function: Any, stage: str | None = None) -> Callable[..., str]:
    def text(*arguments: Any, **keywords: Any) -> str:
        made = function if isinstance(function, Transformation) else kept(Plain, function)
        wanted = stage or "numpy"
        return made.source(arguments, keywords, wanted)

    return text


inside(grad, grad)
inside(value_and_grad, value_and_grad)
inside(jit, jit)
inside(jacrev, jacrev)
inside(jacfwd, jacfwd)
inside(hessian, hessian)
inside(jvp, lambda f, primals, tangents: Pushforward(f), lambda f, primals, tangents: (primals, tangents))
inside(vjp, lambda f, *primals: ReverseMode(f), lambda f, *primals: primals)
