"""Calling things: the library's functions, the user's functions and classes, builtins, transformations."""
from __future__ import annotations

import functools
import inspect
import operator
import types
from typing import Any

import gast
import numpy as np

from ..errors import ChainruleError
from ..registry import lookup
from .attributes import Super, python_method
from .binding import missing, too_many, unexpected
from .builtin_functions import BUILTINS
from .classes import construct, super_of
from .expressions import sequence
from .library import call_library, call_method, call_native, needs_rule
from .machine import NeedStatic, Specialiser
from .places import Place
from .scope import inner_scope, is_foreign, scope_of
from .store import Frame
from .values import ArrayMethod, Closure, Method

DEEPEST = 40
DEEPEST_KNOWN = 1000


def evaluate_call(s: Specialiser, node: Any, frame: Frame) -> Any:
    """A call in the source: its arguments in order, stars and all."""
    function = s.evaluate(node.func, frame)
    if function is super and not node.args:
        return super_of(s, frame, node)
    arguments = sequence(s, node.args, frame)
    if function is super:
        return Super(*arguments)
    keywords: dict[str, Any] = {}
    for keyword in node.keywords:
        value = s.evaluate(keyword.value, frame)
        if keyword.arg is None:
            keywords.update(mapping(s, value, keyword))
        else:
            keywords[keyword.arg] = value
    try:
        return call(s, function, arguments, keywords, node)
    except Exception as error:
        s.located(error, node)
        raise


def mapping(s: Specialiser, value: Any, node: Any) -> dict:
    """What ** unpacks."""
    if not isinstance(value, dict):
        raise s.located(TypeError(
            f"argument after ** must be a mapping, not {type(value).__name__}"
        ), node)
    return value


def call(s: Specialiser, function: Any, arguments: list[Any], keywords: dict[str, Any], node: Any) -> Any:
    """`function(*arguments, **keywords)`."""
    function = getattr(function, "value", function) if type(function).__name__ == "External" else function
    hook = getattr(type(function), "__specialise__", None)
    if hook is not None:
        return hook(function, s, arguments, keywords, node)
    if isinstance(function, ArrayMethod):
        return call_method(s, function, arguments, keywords, node)
    if isinstance(function, Method):
        return call(s, function.function, [function.instance, *arguments], keywords, node)
    if isinstance(function, Closure):
        return call_closure(s, function, arguments, keywords, node)
    if isinstance(function, functools.partial):
        return call_partial(s, function, arguments, keywords, node)
    if isinstance(function, OPERATOR_OBJECTS):
        return call_operator_object(s, function, arguments, node)
    builtin = BUILTINS.get(function) if is_hashable(function) else None
    if builtin is not None:
        return builtin(s, arguments, keywords, node)
    known = lookup(function)
    if known is not None and needs_rule(s, function, known, arguments, keywords):
        return call_library(s, function, known, arguments, keywords, node)
    if isinstance(function, types.FunctionType):
        read = call_foreign if is_foreign(function.__module__) else call_python
        return read(s, function, arguments, keywords, node)
    if isinstance(function, types.MethodType):
        return call(s, function.__func__, [function.__self__, *arguments], keywords, node)
    if isinstance(function, type):
        return construct(s, function, arguments, keywords, node)
    method = python_method(function, "__call__")
    if method is not None:
        return call(s, method, [function, *arguments], keywords, node)
    return call_native(s, function, arguments, keywords, node)


def call_partial(
    s: Specialiser, function: functools.partial, arguments: list, keywords: dict, node: Any
) -> Any:
    bound, named = list(function.args), dict(function.keywords)
    if not s.is_internal(function):
        bound = [s.outside(Place(function).attribute("args").item(k), None, False) for k in range(len(bound))]
        named = {key: s.outside(Place(function).attribute("keywords").item(key), key, False) for key in named}
    return call(s, function.func, [*bound, *arguments], {**named, **keywords}, node)


OPERATOR_OBJECTS = (operator.itemgetter, operator.attrgetter, operator.methodcaller)


def call_operator_object(s: Specialiser, function: Any, arguments: list, node: Any) -> Any:
    """operator.itemgetter(...), attrgetter(...) and methodcaller(...)."""
    (instance,) = arguments
    kind, given = function.__reduce__()[:2]
    if isinstance(function, operator.methodcaller):
        options = kind.keywords if isinstance(kind, functools.partial) else {}
        return call(s, s.get_attribute(instance, given[0], node), list(given[1:]), options, node)
    if isinstance(function, operator.itemgetter):
        found = [s.get_item(instance, key, node) for key in given]
    else:
        found = [functools.reduce(lambda of, name: s.get_attribute(of, name, node), path.split("."), instance)
                 for path in given]
    return found[0] if len(found) == 1 else tuple(found)


def is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def call_quietly(s: Specialiser, function: Any, arguments: list, keywords: dict, node: Any) -> Any:
    """Read a composition of ours: what it emits serves the user's line that called it."""
    s.quiet += 1
    try:
        return call_python(s, function, arguments, keywords, node)
    finally:
        s.quiet -= 1


def call_python(s: Specialiser, function: Any, arguments: list, keywords: dict, node: Any) -> Any:
    """Read a Python function's source and run it here."""
    flags = function.__code__.co_flags
    if flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        what = f"{function.__name__} is an async function"
        raise s.unsupported(what, "write an ordinary function", node)
    if flags & inspect.CO_GENERATOR:
        what = f"{function.__name__} is a generator function"
        raise s.unsupported(what, "write a function that returns a list", node)
    scope = scope_of(function)
    frame = Frame(scope, None, s.store.depth)
    frame.closure = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    if "__class__" in frame.closure:
        frame.owner_class = frame.closure["__class__"].cell_contents
    outer = s.quiet
    s.quiet = 0 if scope.users else outer
    watch(s, function)
    defaults = tuple(s.default(d) for d in function.__defaults__ or ())
    keyword_defaults = {name: s.default(d) for name, d in (function.__kwdefaults__ or {}).items()}
    s.quiet = outer
    name = function.__qualname__
    bind(s, scope.tree.args, frame, arguments, keywords, defaults, keyword_defaults, name, node)
    return run_body(s, scope, frame, node)


def call_foreign(s: Specialiser, function: Any, arguments: list, keywords: dict, node: Any) -> Any:
    """A function of NumPy's or SciPy's without a rule: run now on known values, or else read."""
    if is_data([*arguments, *keywords.values()]):
        return call_native(s, function, arguments, keywords, node)
    try:
        return call_quietly(s, function, arguments, keywords, node)
    except (ChainruleError, TypeError, AttributeError, NameError, KeyError) as error:
        raise s.unsupported(
            f"{function.__module__}.{function.__qualname__} has no rule",
            "use a NumPy function that chainrule knows, or register a rule for it",
            node,
        ) from error


def is_data(value: Any) -> bool:
    """Whether a value is known, and made of numbers and strings alone."""
    if isinstance(value, list | tuple):
        return all(map(is_data, value))
    kinds = (int, float, complex, str, np.ndarray, np.generic, np.dtype)
    return value is None or isinstance(value, kinds)


def watch(s: Specialiser, function: Any) -> None:
    """The program holds for as long as the function has this code and these defaults."""
    for part in ("__code__", "__defaults__", "__kwdefaults__"):
        s.guard((function, part), Place(function).attribute(part), getattr(function, part))


def call_closure(s: Specialiser, function: Closure, arguments: list, keywords: dict, node: Any) -> Any:
    scope = inner_scope(function.tree, function.frame.scope)
    if any(isinstance(part, (gast.Yield, gast.YieldFrom)) for part in gast.walk(function.tree)):
        raise s.unsupported(
            f"{function.name} is a generator function", "write a function that returns a list", node
        )
    frame = Frame(scope, function.frame, s.store.depth)
    bind(s, function.tree.args, frame, arguments, keywords, function.defaults, function.keyword_defaults,
         function.name, node)
    return run_body(s, scope, frame, node)


def run_body(s: Specialiser, scope: Any, frame: Frame, node: Any) -> Any:
    check_depth(s, scope, node)
    s.calls += 1
    s.frames.append(frame)
    s.sources.append(scope.source)
    outer = s.quiet
    s.quiet = 0 if scope.users else outer + scope.quiet
    try:
        return s.run(scope.body, frame)
    finally:
        s.quiet = outer
        s.sources.pop()
        s.frames.pop()
        s.calls -= 1


def check_depth(s: Specialiser, scope: Any, node: Any) -> None:
    """Refuse recursion that values known at run time end; if sizes end it, ask for these."""
    if len(s.tests) <= DEEPEST and s.calls <= DEEPEST_KNOWN:
        return
    error = s.unsupported(f"{scope.name} calls itself to a depth that is not known before it runs",
                          "write a loop, or make the argument that ends the recursion static", node)
    wanted: set = set()
    for test in s.tests:
        roots, pins = s.origins(test)
        if pins and not roots:
            wanted |= pins
    raise NeedStatic(frozenset(wanted), error) if wanted else error


def bind(s: Specialiser, parameters: Any, frame: Frame, arguments: list, keywords: dict, defaults: tuple,
         keyword_defaults: dict, name: str, node: Any) -> None:
    """Give a call's arguments to the parameters, as Python does, with Python's errors."""
    wrong = lambda text: s.located(TypeError(f"{name}() {text}"), node)
    positional = [p.id for p in (*parameters.posonlyargs, *parameters.args)]
    only = {p.id for p in parameters.posonlyargs}
    keywords = dict(keywords)
    values = dict(zip(positional, arguments, strict=False))
    extra = arguments[len(positional):]
    if extra and parameters.vararg is None:
        raise wrong(too_many(len(positional), len(positional) - len(defaults), len(arguments)))
    for key in list(keywords):
        if key in positional and key not in only:
            if key in values:
                raise wrong(f"got multiple values for argument '{key}'")
            values[key] = keywords.pop(key)
    for key, default in zip(reversed(positional), reversed(defaults), strict=False):
        values.setdefault(key, default)
    named = [p.id for p in parameters.kwonlyargs]
    values |= keyword_defaults | {key: keywords.pop(key) for key in named if key in keywords}
    if keywords and parameters.kwarg is None:
        raise wrong(unexpected(next(iter(keywords))))
    for names, kind in ((positional, "positional"), (named, "keyword-only")):
        absent = [key for key in names if key not in values]
        if absent:
            raise wrong(missing(absent, kind))
    if parameters.vararg is not None:
        values[parameters.vararg.id] = tuple(extra)
    if parameters.kwarg is not None:
        values[parameters.kwarg.id] = s.store.new(keywords)
    frame.names.update(values)
