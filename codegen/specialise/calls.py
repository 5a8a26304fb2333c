"""Calling things: the library's functions, the user's functions and classes, builtins, transformations."""
from __future__ import annotations

import dataclasses
import functools
import inspect
import types
from typing import Any

import gast
import numpy as np

from ..core import Variable
from ..registry import FUNCTIONS, METHODS, Primitive, lookup
from .builtin_functions import BUILTINS, CONTAINER_METHODS, NATIVE_MODULES
from .machine import Specialiser
from .merge import make_record
from .scope import inner_scope, parameter_names, scope_of
from .store import Frame
from .values import Array, ArrayMethod, Closure, Method, has_dynamic, is_dynamic

DEEPEST = 200


def evaluate_call(s: Specialiser, node: Any, frame: Frame) -> Any:
    """A call in the source: its arguments in order, stars and all."""
    from .expressions import evaluate, sequence

    function = evaluate(s, node.func, frame)
    if function is super and not node.args:
        return super_of(s, frame, node)
    arguments = sequence(s, node.args, frame)
    keywords: dict[str, Any] = {}
    for keyword in node.keywords:
        value = evaluate(s, keyword.value, frame)
        if keyword.arg is None:
            keywords.update(value)
        else:
            keywords[keyword.arg] = value
    return call(s, function, arguments, keywords, node)


def super_of(s: Specialiser, frame: Frame, node: Any) -> Any:
    owner = frame
    while not hasattr(owner, "owner_class"):
        if owner.parent is None:
            raise s.unsupported("super() here", "name the base class", node)
        owner = owner.parent
    first = parameter_names(owner.scope.tree.args)[0]
    return Super(owner.owner_class, owner.names[first])


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Super:
    """What super() gives: attributes of the classes after `owner`."""

    owner: type
    instance: Any

    def __getattr__(self, name: str) -> Any:
        following = type(self.instance).__mro__
        for kind in following[following.index(self.owner) + 1:]:
            if name in kind.__dict__:
                found = kind.__dict__[name]
                return Method(found, self.instance) if isinstance(found, types.FunctionType) else found
        raise AttributeError(name)


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
        return call(s, function.func, [*function.args, *arguments], {**function.keywords, **keywords}, node)
    builtin = BUILTINS.get(function) if is_hashable(function) else None
    if builtin is not None:
        return builtin(s, arguments, keywords, node)
    known = lookup(function)
    if known is not None and needs_rule(s, function, known, arguments, keywords):
        return call_library(s, function, known, arguments, keywords, node)
    if isinstance(function, types.FunctionType):
        return call_python(s, function, arguments, keywords, node)
    if isinstance(function, types.MethodType):
        return call(s, function.__func__, [function.__self__, *arguments], keywords, node)
    if isinstance(function, type):
        return construct(s, function, arguments, keywords, node)
    method = python_method(function, "__call__")
    if method is not None:
        return call(s, method, [function, *arguments], keywords, node)
    return call_native(s, function, arguments, keywords, node)


def is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def needs_rule(s: Specialiser, function: Any, known: Any, arguments: list, keywords: dict) -> bool:
    """Whether a library function is to be emitted: always for arrays, never for plain numbers and strings."""
    if has_dynamic((arguments, keywords)) or isinstance(function, Primitive) or s.quiet:
        return True
    return getattr(function, "__module__", None) not in ("math", "builtins", "_operator")


def call_library(s: Specialiser, function: Any, known: Any, arguments: list, keywords: dict, node: Any) -> Any:
    """A function with a rule: a primitive is emitted, a composition is read as Python."""
    out = keywords.pop("out", None) if "out" in keywords else None
    try:
        result = emit_library(s, function, known, arguments, keywords, node)
    except (IndexError, ValueError, TypeError) as error:
        raise located(s, error, node) from error
    if out is None:
        return result
    from .indexing import set_element

    out = out[0] if isinstance(out, tuple) else out
    if not isinstance(out, Array):
        raise s.unsupported("out= that is not an array of the function's own", "assign the result", node)
    set_element(s, out, Ellipsis, result, node)
    return out


def located(s: Specialiser, error: Exception, node: Any) -> Exception:
    """An exception that also says where in the user's code it happened."""
    if getattr(error, "located", False) or hasattr(error, "remedy") or s.quiet:
        return error
    where = s.location(node)
    if where is not None:
        error.add_note(f"{where}")
        error.located = True
    return error


def emit_library(s: Specialiser, function: Any, known: Any, arguments: list, keywords: dict, node: Any) -> Any:
    if not isinstance(known, Primitive):
        return call_quietly(s, known, arguments, keywords, node)
    return emit_primitive(s, function, known, arguments, keywords, node)


def emit_primitive(s: Specialiser, function: Any, known: Primitive, arguments: list, keywords: dict,
                   node: Any) -> Any:
    dtype = None
    if isinstance(function, np.ufunc):
        dtype = keywords.pop("dtype", None)
        if keywords:
            raise s.unsupported(f"{known.name}({', '.join(keywords)}=...)", "leave the keyword out", node)
        from .expressions import as_array

        arguments = [as_array(s, a) if isinstance(a, (list, tuple)) else a for a in arguments]
    if known.view and isinstance(arguments[0], Array):
        return emit_view(s, known, arguments, keywords, node)
    if dtype is not None:
        arguments = [s.emit("astype", a, dtype=np.dtype(dtype)) for a in arguments]
    result = s.emit(known, *arguments, **keywords)
    return strong(s, result) if isinstance(function, np.ufunc) and not s.quiet else result


def strong(s: Specialiser, result: Any) -> Any:
    """The result of a ufunc: a NumPy scalar even where its arguments are Python's."""
    if isinstance(result, tuple):
        return tuple(strong(s, part) for part in result)
    if isinstance(result, Variable) and getattr(result.type, "weak", False):
        return s.emit("astype", result, dtype=result.type.dtype)
    return np.asarray(result)[()] if type(result) in (float, int, complex, bool) else result


def emit_view(s: Specialiser, known: Primitive, arguments: list, keywords: dict, node: Any) -> Any:
    """A view keeps its base, so that a write through either is seen by both."""
    array, *rest = arguments
    if known.name == "getitem":
        from .indexing import get_element

        return get_element(s, array, rest[0], node)
    if known.name in ("reshape", "transpose"):
        seen = s.view(array, known, *rest, **keywords)
        if known.name == "reshape" and isinstance(seen, Array) and s.contiguous(array) is None:
            copy = s.wrap(s.read(seen))
            copy.cell.ambiguous = "reshape may have made a view or a copy"
            return copy
        return seen
    return s.emit(known, *arguments, **keywords)


def call_quietly(s: Specialiser, function: Any, arguments: list, keywords: dict, node: Any) -> Any:
    """Read a composition of ours: what it emits serves the user's line that called it."""
    s.quiet += 1
    try:
        return call_python(s, function, arguments, keywords, node)
    finally:
        s.quiet -= 1


def call_method(s: Specialiser, method: ArrayMethod, arguments: list, keywords: dict, node: Any) -> Any:
    instance = method.instance
    if not is_dynamic(instance):
        return CONTAINER_METHODS(s, instance, method.name, arguments, keywords, node)
    known = METHODS.get(method.name)
    function: Any = getattr(np, method.name, None)
    if known is None and function is not None:
        known = lookup(function)
    if known is None:
        raise s.unsupported(f"the array method .{method.name}()", "use a NumPy function that does the same", node)
    return call_library(s, function, known, [instance, *arguments], dict(keywords), node)


# functions with source


def call_python(s: Specialiser, function: Any, arguments: list, keywords: dict, node: Any) -> Any:
    """Read a Python function's source and run it here."""
    if function.__code__.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        kind = "an async function" if function.__code__.co_flags & inspect.CO_COROUTINE else "a generator function"
        raise s.unsupported(f"{function.__name__} is {kind}", "write a function that returns a list", node)
    scope = scope_of(function)
    frame = Frame(scope, None, s.store.depth)
    frame.closure = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    if "__class__" in frame.closure:
        frame.owner_class = frame.closure["__class__"].cell_contents
    defaults = tuple(s.default(d) for d in function.__defaults__ or ())
    keyword_defaults = {name: s.default(d) for name, d in (function.__kwdefaults__ or {}).items()}
    bind(s, scope.tree.args, frame, arguments, keywords, defaults, keyword_defaults, function.__name__, node)
    return run_body(s, scope, frame, node)


def call_closure(s: Specialiser, function: Closure, arguments: list, keywords: dict, node: Any) -> Any:
    scope = inner_scope(function.tree, function.frame.scope)
    if any(isinstance(part, (gast.Yield, gast.YieldFrom)) for part in gast.walk(function.tree)):
        raise s.unsupported(f"{function.name} is a generator function", "write a function that returns a list", node)
    frame = Frame(scope, function.frame, s.store.depth)
    bind(s, function.tree.args, frame, arguments, keywords, function.defaults, function.keyword_defaults,
         function.name, node)
    return run_body(s, scope, frame, node)


def run_body(s: Specialiser, scope: Any, frame: Frame, node: Any) -> Any:
    from .statements import run

    if s.calls > DEEPEST:
        raise s.unsupported(f"{scope.name} calls itself to a depth that is not known before it runs",
                            "write a loop, or make the argument that ends the recursion static", node)
    s.calls += 1
    s.sources.append(scope.source)
    s.quiet += scope.quiet
    try:
        return run(s, scope.body, frame)
    finally:
        s.quiet -= scope.quiet
        s.sources.pop()
        s.calls -= 1


def bind(s: Specialiser, parameters: Any, frame: Frame, arguments: list, keywords: dict, defaults: tuple,
         keyword_defaults: dict, name: str, node: Any) -> None:
    """Give a call's arguments to the parameters, as Python does, with Python's errors."""
    wrong = lambda text: TypeError(f"{name}() {text}\n{s.location(node)}")
    positional = [p.id for p in (*parameters.posonlyargs, *parameters.args)]
    only = {p.id for p in parameters.posonlyargs}
    keywords = dict(keywords)
    values = dict(zip(positional, arguments, strict=False))
    extra = arguments[len(positional):]
    if extra and parameters.vararg is None:
        raise wrong(f"takes {len(positional)} positional arguments but {len(arguments)} were given")
    for key in list(keywords):
        if key in positional and key not in only:
            if key in values:
                raise wrong(f"got multiple values for argument '{key}'")
            values[key] = keywords.pop(key)
    for key, default in zip(reversed(positional), reversed(defaults), strict=False):
        values.setdefault(key, default)
    for parameter in parameters.kwonlyargs:
        if parameter.id in keywords:
            values[parameter.id] = keywords.pop(parameter.id)
        elif parameter.id in keyword_defaults:
            values[parameter.id] = keyword_defaults[parameter.id]
        else:
            raise wrong(f"missing 1 required keyword-only argument: '{parameter.id}'")
    missing = [key for key in positional if key not in values]
    if missing:
        raise wrong(f"missing {len(missing)} required positional argument{'s' if len(missing) > 1 else ''}: "
                    + " and ".join(f"'{key}'" for key in missing))
    if keywords and parameters.kwarg is None:
        raise wrong(f"got an unexpected keyword argument '{next(iter(keywords))}'")
    if parameters.vararg is not None:
        values[parameters.vararg.id] = tuple(extra)
    if parameters.kwarg is not None:
        values[parameters.kwarg.id] = s.store.new(keywords)
    frame.names.update(values)


# classes and the rest


def python_method(instance: Any, name: str) -> Any:
    """A method that the class of a value defines in Python, or None."""
    for base in type(instance).__mro__:
        found = base.__dict__.get(name)
        if found is not None:
            return found if isinstance(found, types.FunctionType) and not generated(found) else None
    return None


def generated(function: Any) -> bool:
    """Whether a method was made by a decorator such as dataclass, and so has no source."""
    return function.__code__.co_filename == "<string>"


def construct(s: Specialiser, kind: type, arguments: list, keywords: dict, node: Any) -> Any:
    """Make an instance of a class."""
    if issubclass(kind, BaseException) or kind in (np.dtype,) or issubclass(kind, np.generic):
        if issubclass(kind, np.generic) and has_dynamic(arguments):
            return s.emit("astype", arguments[0], dtype=np.dtype(kind))
        return call_native(s, kind, arguments, keywords, node)
    if hasattr(kind, "_fields") and issubclass(kind, tuple):
        return kind(*arguments, **keywords)
    if kind in (slice, functools.partial, types.SimpleNamespace, object):
        return s.store.new(kind(*arguments, **keywords))
    if dataclasses.is_dataclass(kind) and generated_init(kind):
        return construct_dataclass(s, kind, arguments, keywords, node)
    initialise = python_method_of(kind, "__init__")
    if initialise is None and not has_dynamic((arguments, keywords)):
        return s.store.new(kind(*arguments, **keywords))
    if initialise is None and kind.__init__ is not object.__init__:
        raise s.unsupported(f"making a {kind.__name__} of values known only at run time",
                            "use a class with an __init__ in Python", node)
    made = s.store.new(object.__new__(kind))
    if initialise is not None:
        call(s, initialise, [made, *arguments], keywords, node)
    return made


def python_method_of(kind: type, name: str) -> Any:
    for base in kind.__mro__:
        found = base.__dict__.get(name)
        if found is not None:
            return found if isinstance(found, types.FunctionType) else None
    return None


def generated_init(kind: type) -> bool:
    found = python_method_of(kind, "__init__")
    return found is not None and generated(found)


def construct_dataclass(s: Specialiser, kind: type, arguments: list, keywords: dict, node: Any) -> Any:
    fields = [f for f in dataclasses.fields(kind) if f.init]
    names = [f.name for f in fields if not f.kw_only]
    if len(arguments) > len(names):
        raise TypeError(f"{kind.__name__}() takes {len(names)} arguments but {len(arguments)} were given\n"
                        f"{s.location(node)}")
    values = {**dict(zip(names, arguments, strict=False)), **keywords}
    for field in dataclasses.fields(kind):
        if field.name in values:
            continue
        if field.default is not dataclasses.MISSING:
            values[field.name] = s.default(field.default)
        elif field.default_factory is not dataclasses.MISSING:
            values[field.name] = s.store.new(field.default_factory())
        elif field.init:
            raise TypeError(f"{kind.__name__}() is missing the argument '{field.name}'\n{s.location(node)}")
    unknown = set(values) - {f.name for f in dataclasses.fields(kind)}
    if unknown:
        raise TypeError(f"{kind.__name__}() got an unexpected argument '{unknown.pop()}'\n{s.location(node)}")
    made = s.store.new(make_record(kind, values))
    after = python_method_of(kind, "__post_init__")
    if after is not None:
        call(s, after, [made], {}, node)
    return made


def call_native(s: Specialiser, function: Any, arguments: list, keywords: dict, node: Any) -> Any:
    """A function in C, on values that are all known: run now, if its result depends on nothing else."""
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or repr(function)
    module = getattr(function, "__module__", None) or type(getattr(function, "__self__", None)).__module__
    if not callable(function):
        raise TypeError(f"'{type(function).__name__}' object is not callable\n{s.location(node)}")
    if has_dynamic((arguments, keywords)):
        raise s.unsupported(f"{name} has no rule, and is called with a value known only at run time",
                            "use a NumPy function that chainrule knows, or register a rule for it", node)
    if module.split(".")[0] not in NATIVE_MODULES or "random" in module:
        raise s.unsupported(f"{name} is written in C, and may give another result at each call",
                            "call it outside of the function and pass the result as an argument", node)
    try:
        result = function(*arguments, **keywords)
    except Exception as error:
        raise located(s, error, node) from None
    return s.store.new(result) if isinstance(result, (list, dict, set)) else result


__all__ = ["FUNCTIONS", "call", "evaluate_call", "python_method"]
