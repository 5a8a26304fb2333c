"""Calling the library's functions: a primitive is emitted, a composition is read as Python."""
from __future__ import annotations

import inspect
import types
from functools import partial
from typing import Any

import numpy as np

from ..core import Variable, variables_in
from ..registry import METHODS, Primitive, lookup
from .complaints import complaint
from .container_methods import container_method
from .growing import growing_of, refuse, rows
from .indexing import get_element, set_element
from .machine import VIEW_OF_NUMBER, Specialiser
from .operators import as_array, numpys
from .values import Array, ArrayMethod, has_dynamic, is_dynamic

NATIVE_MODULES = frozenset(
    [
        "builtins",
        "math",
        "cmath",
        "operator",
        "_operator",
        "itertools",
        "functools",
        "_functools",
        "collections",
        "_collections",
        "numpy",
        "re",
        "string",
        "enum",
        "types",
        "typing",
        "fractions",
        "decimal",
        "numbers",
        "copy",
        "dataclasses",
        "scipy",
        "abc",
        "_abc",
        "optree",
        "NoneType",
    ]
)


def needs_rule(s: Specialiser, function: Any, known: Any, arguments: list, keywords: dict) -> bool:
    """Whether a library function is to be emitted: always for arrays, never for plain numbers and strings."""
    if has_dynamic((arguments, keywords)) or isinstance(function, Primitive) or s.quiet:
        return True
    return getattr(function, "__module__", None) not in ("math", "builtins", "_operator")


def call_library(
    s: Specialiser, function: Any, known: Any, arguments: list, keywords: dict, node: Any
) -> Any:
    """A function with a rule: a primitive is emitted, a composition is read as Python."""
    if (
        function in (np.stack, np.vstack)
        and growing_of(arguments[0]) is not None
        and not keywords.get("axis")
    ):
        arguments, function, known = [rows(s, growing_of(arguments[0]))], np.array, lookup(np.array)
        keywords.pop("axis", None)
    arguments = [rows_for(s, function, a, keywords, node) for a in arguments]
    out = keywords.pop("out", None)
    if isinstance(function, np.ufunc) and len(arguments) > function.nin:
        *arguments, out = arguments
    where = keywords.pop("where", True) if isinstance(function, np.ufunc) else True
    if where is not True:
        arguments = [inside(s, function, where, a, node) for a in arguments]
    refuse_keywords(s, function, known, keywords, node)
    outer, s.diagonal = s.diagonal, s.diagonal or function is np.diagonal
    try:
        result = emit_library(s, function, known, arguments, keywords, node)
    except (IndexError, ValueError, TypeError) as error:
        raise s.located(error, node) from error
    finally:
        s.diagonal = outer
    if function is np.ravel and isinstance(result, Array):
        result = ravelled(s, result)
    if function in LAYOUTS and isinstance(result, Array):
        result = laid_out(s, result, function)
    if out is None and where is True:
        return result
    if out is None:
        raise s.unsupported(f"{function.__name__}(where=...) without out=, which leaves elements undefined",
                            "give out= an array of your own, or use np.where", node)
    out = out[0] if isinstance(out, tuple) else out
    if not isinstance(out, Array):
        raise s.unsupported("out= that is not an array of the function's own", "assign the result", node)
    if where is not True:
        result = s.call(np.where, [where, result, out], {}, node)
    set_element(s, out, Ellipsis, result, node)
    return out


def refuse_keywords(s: Specialiser, function: Any, known: Any, keywords: dict, node: Any) -> None:
    """Refuse the arguments that NumPy's function has and ours has not."""
    if s.quiet or not isinstance(known, types.FunctionType):
        return
    code = known.__code__
    has = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    if code.co_flags & inspect.CO_VARKEYWORDS:
        return
    try:
        given = inspect.signature(function).parameters
        anything = any(parameter.kind is parameter.VAR_KEYWORD for parameter in given.values())
    except (TypeError, ValueError):
        return
    for name in keywords:
        if name not in has and (anything or name in given):
            raise s.unsupported(f"{function.__name__}({name}=...)", "leave the keyword out", node)


def inside(s: Specialiser, function: np.ufunc, where: Any, value: Any, node: Any) -> Any:
    """An operand of which `where` selects elements, with a number of the domain in place of the others."""
    if not isinstance(value, Array):
        return value
    kind = s.type(value).dtype.kind
    harmless = 2.0 if function is np.arccosh else 0.5
    return s.call(np.where, [where, value, harmless if kind in "fc" else kind != "b"], {}, node)


def rows_for(s: Specialiser, function: Any, value: Any, keywords: dict, node: Any) -> Any:
    """An argument of a library function, lists that grow as the arrays of their items."""
    growing = growing_of(value)
    if growing is None:
        return value
    items = rows(s, growing)
    if function in (np.concatenate, np.hstack) and len(s.shape(items)) > 1:
        return (s.call(np.reshape, [items, (-1, *s.shape(items)[2:])], {}, node),)
    if function in (np.stack, np.vstack, np.concatenate, np.hstack, np.column_stack, np.dstack):
        raise refuse(s, f"np.{function.__name__}", node)
    return items


def emit_library(
    s: Specialiser, function: Any, known: Any, arguments: list, keywords: dict, node: Any
) -> Any:
    if not isinstance(known, Primitive):
        return s.call_quietly(known, arguments, keywords, node)
    return emit_primitive(s, function, known, arguments, keywords, node)


def emit_primitive(s: Specialiser, function: Any, known: Primitive, arguments: list, keywords: dict,
                   node: Any) -> Any:
    dtype = None
    if isinstance(function, np.ufunc):
        dtype = keywords.pop("dtype", None)
        if keywords:
            raise s.unsupported(f"{known.name}({', '.join(keywords)}=...)", "leave the keyword out", node)
        arguments = [as_array(s, a) if isinstance(a, (list, tuple)) else a for a in arguments]
    if known.name in ("real", "imag") and isinstance(arguments[0], Array) and not keywords:
        return s.get_attribute(arguments[0], known.name, node)
    if known.view and isinstance(arguments[0], Array):
        return emit_view(s, known, arguments, keywords, node)
    if dtype is not None:
        arguments = [s.emit("astype", a, dtype=np.dtype(dtype)) for a in arguments]
    of_numpy = isinstance(function, np.ufunc) and not s.quiet
    if of_numpy and known.name in PYTHON_RAISES:
        arguments = [strong(s, arguments[0]), *arguments[1:]]
    result = s.emit(known, *arguments, **keywords)
    return strong(s, result) if of_numpy else result


# What Python refuses for some numbers, and NumPy gives inf or nan for.
PYTHON_RAISES = {"divide", "floor_divide", "remainder", "power"}


def strong(s: Specialiser, result: Any) -> Any:
    """A result with NumPy's scalars for Python's."""
    return tuple(map(partial(strong, s), result)) if isinstance(result, tuple) else numpys(s, result)


def emit_view(s: Specialiser, known: Primitive, arguments: list, keywords: dict, node: Any) -> Any:
    """A view keeps its base, so that a write through either is seen by both."""
    array, *rest = arguments
    if known.name == "getitem":
        return get_element(s, array, rest[0], node)
    if known.name == "broadcast_to":
        return s.view(array, known, *rest, writable=False, **keywords)
    if known.name == "transpose":
        return s.view(array, known, *rest, **keywords)
    if known.name == "reshape":
        return emit_reshape(s, array, known, rest, keywords)
    return s.emit(known, *arguments, **keywords)


def emit_reshape(s: Specialiser, array: Array, known: Primitive, rest: list, keywords: dict) -> Any:
    """A view or a copy as NumPy has it; an array that cannot be written where that is open."""
    seen = s.view(array, known, *rest, **keywords)
    if not isinstance(seen, Array) or s.contiguous(array) or splits_only(s, s.shape(array), s.shape(seen)):
        return seen
    shared = shares_memory(s, array, seen)
    if shared:
        return seen
    return copied(s, seen, "reshape", shared is None)


def ravelled(s: Specialiser, seen: Array) -> Array:
    """np.ravel gives a view of what is contiguous, and a copy of all else."""
    before = Array(
        seen.cell, seen.path[:-1] if seen.path and seen.path[-1].primitive.name == "reshape" else seen.path
    )
    if s.contiguous(before):
        return seen
    view = simulated(s, before)
    if view is not None and view.flags.c_contiguous:
        return seen
    return copied(s, seen, "ravel", view is None)


LAYOUTS = {np.ascontiguousarray: "c_contiguous", np.asfortranarray: "f_contiguous"}


def laid_out(s: Specialiser, array: Array, function: Any) -> Array:
    """An array that lies in memory as it should, or else a copy."""
    flag = LAYOUTS[function]
    if s.contiguous(array) and (flag == "c_contiguous" or len(s.shape(array)) < 2):
        return array
    view = simulated(s, array)
    if view is not None and getattr(view.flags, flag):
        return array
    return copied(s, array, function.__name__, view is None, flag == "c_contiguous")


def copied(s: Specialiser, seen: Array, name: str, is_open: bool, contiguous: bool = True) -> Array:
    """A copy of what a function sees; not to be written where NumPy may have made a view."""
    copy = s.wrap(s.read(seen), contiguous=contiguous)
    if is_open:
        copy.cell.ambiguous = f"{name} may have made a view or a copy"
        # These have to be known for a view's place in memory to be.
        copy.cell.sizes = tuple(size for size in s.shape(Array(seen.cell)) if isinstance(size, Variable))
    return copy


def shares_memory(s: Specialiser, array: Array, seen: Array) -> bool | None:
    """Whether a reshape of a view is itself a view: NumPy is asked, where all sizes are known."""
    view = simulated(s, array)
    return None if view is None else np.shares_memory(view, np.reshape(view, seen.path[-1].operands[0]))


def simulated(s: Specialiser, array: Array) -> np.ndarray | None:
    """An array laid out in memory as a view will be, if that is known."""
    base = s.type(Array(array.cell)).shape
    unknown = [v for step in array.path for v in variables_in((step.operands, tuple(step.static.values())))]
    if array.cell.contiguous is not True or not all(isinstance(n, int) for n in base) or unknown:
        return None
    view = np.empty(base, np.int8)
    for step in array.path:
        view = step.primitive.implementation(view, *step.operands, **step.static)
    return view


def splits_only(s: Specialiser, old: tuple, new: tuple) -> bool:
    """Whether a reshape joins no two axes (those of size 1 aside): then it is a view whatever the strides."""
    long = lambda shape: [size for size in shape if not (isinstance(size, int) and size == 1)]
    old, new = long(old), long(new)
    for size in old:
        product: Any = 1
        while new and not s.builder.same(product, size):
            product = s.builder.dimension_multiply(product, new.pop(0))
            if isinstance(product, int) and isinstance(size, int) and product > size:
                return False
        if not s.builder.same(product, size):
            return False
    return not new


def call_method(s: Specialiser, method: ArrayMethod, arguments: list, keywords: dict, node: Any) -> Any:
    instance = method.instance
    if not is_dynamic(instance):
        return container_method(s, instance, method.name, arguments, keywords, node)
    if method.name in ("conj", "conjugate") and s.type(instance).dtype.kind != "c":
        return instance
    known = METHODS.get(method.name)
    function: Any = getattr(np, method.name, None)
    if known is None and function is not None:
        known = lookup(function)
    if known is None:
        raise s.unsupported(
            f"the array method .{method.name}()", "use a NumPy function that does the same", node
        )
    return call_library(s, function, known, [instance, *arguments], dict(keywords), node)


def call_native(s: Specialiser, function: Any, arguments: list, keywords: dict, node: Any) -> Any:
    """A function in C, on values that are all known: run now, if its result depends on nothing else."""
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", None) or repr(function)
    module = getattr(function, "__module__", None) or type(getattr(function, "__self__", None)).__module__
    if not callable(function):
        raise complaint(s, lambda value: value(), [function], node)
    if has_dynamic((arguments, keywords)):
        raise s.unsupported(f"{name} has no rule, and is called with a value known only at run time",
                            "use a NumPy function that chainrule knows, or register a rule for it", node)
    if module.split(".")[0] not in NATIVE_MODULES or not OUTSIDE.isdisjoint([*module.split("."), name]):
        raise s.unsupported(f"{name} may give another result at each call",
                            "call it outside of the function and pass the result as an argument", node)
    if s.externals is not None and (name in PASSING or not is_plain([*arguments, *keywords.values()])):
        s.externals.lasting = False
    try:
        result = function(*arguments, **keywords)
    except Exception as error:
        raise s.located(error, node) from None
    made = s.store.new(result) if isinstance(result, (list, dict, set)) else with_arrays(s, result)
    if isinstance(made, Array) and isinstance(getattr(function, "__self__", None), np.generic):
        made.cell.ambiguous = VIEW_OF_NUMBER
    return made


# What in these modules a function of the library reads is not told by its arguments.
OUTSIDE = frozenset(["random", "io", "datasets", "load", "loadtxt", "genfromtxt", "fromregex", "fromfile"])


# What of these modules gives another result in another process.
PASSING = frozenset(["id", "hash", "object", "dir", "vars", "globals", "locals"])


def is_plain(value: Any) -> bool:
    """Whether a value is made of numbers, strings and types alone, whose own code is the library's."""
    kind = type(value)
    if kind in (list, tuple, set, frozenset):
        return all(map(is_plain, value))
    if kind is dict:
        return all(map(is_plain, value)) and all(map(is_plain, value.values()))
    if kind is slice:
        return is_plain((value.start, value.stop, value.step))
    if isinstance(value, type):
        return value.__module__.partition(".")[0] in NATIVE_MODULES
    known = value is None or value is Ellipsis or kind in PLAIN
    return known or isinstance(value, np.dtype | np.generic | np.ufunc)


PLAIN = (bool, int, float, complex, str, bytes, range, np.ndarray, types.BuiltinFunctionType)


def with_arrays(s: Specialiser, result: Any) -> Any:
    """A result of NumPy's with its arrays as the function's own, which it may write to."""
    if type(result) is np.ndarray and result.dtype.kind in "biufc":
        return s.wrap(s.constant(result))
    return tuple(with_arrays(s, part) for part in result) if type(result) is tuple else result
