"""Reading attributes: of arrays, modules, and objects of the user's classes."""
from __future__ import annotations

import types
from typing import Any

import numpy as np

from ..registry import METHODS
from .machine import Specialiser
from .values import ArrayMethod, Array, Closure, Method, has_dynamic, is_dynamic


def get_attribute(s: Specialiser, instance: Any, name: str, node: Any) -> Any:
    """`instance.name`."""
    if is_dynamic(instance):
        return array_attribute(s, instance, name, node)
    if isinstance(instance, types.ModuleType):
        return s.imported(getattr(instance, name), lambda: getattr(instance, name))
    if isinstance(instance, Closure):
        return {"__name__": instance.name}[name]
    if isinstance(instance, np.ndarray):
        return getattr(instance, name)
    kind = type(instance)
    described = class_attribute(kind, name)
    if isinstance(described, property) and isinstance(described.fget, types.FunctionType):
        from .calls import call

        return call(s, described.fget, [instance], {}, node)
    state = getattr(instance, "__dict__", None)
    if state is not None and name in state and not isinstance(instance, type):
        if s.is_internal(instance):
            return state[name]
        return s.outside(lambda: getattr(instance, name), name, False)
    if isinstance(described, types.FunctionType) and not isinstance(instance, type):
        return Method(described, instance)
    if isinstance(described, classmethod):
        return Method(described.__func__, instance if isinstance(instance, type) else kind)
    if hasattr(described, "func") and type(described).__name__ == "cached_property":
        from .calls import call

        return call(s, described.func, [instance], {}, node)
    if isinstance(instance, type):
        found = class_attribute(instance, name)
        if isinstance(found, classmethod):
            return Method(found.__func__, instance)
        return s.outside(lambda: getattr(instance, name), name, False) if not callable(
            getattr(instance, name, None)) else getattr(instance, name)
    if isinstance(instance, (list, dict, set, tuple, str)) and not has_own_data(instance, name):
        return ArrayMethod(name, instance) if has_container_method(instance, name) else getattr(instance, name)
    try:
        value = getattr(instance, name)
    except AttributeError as error:
        raise AttributeError(f"{error}\n{s.location(node)}") from None
    return value if has_dynamic(value) or callable(value) else s.imported(value, lambda: getattr(instance, name))


def class_attribute(kind: type, name: str) -> Any:
    """What a class holds under a name, its descriptors not called."""
    for base in getattr(kind, "__mro__", ()):
        if name in base.__dict__:
            return base.__dict__[name]
    return None


def has_own_data(instance: Any, name: str) -> bool:
    return isinstance(instance, tuple) and name in getattr(instance, "_fields", ())


def has_container_method(instance: Any, name: str) -> bool:
    return callable(getattr(instance, name, None))


def array_attribute(s: Specialiser, array: Any, name: str, node: Any) -> Any:
    of = s.type(array)
    match name:
        case "shape":
            return s.shape(array)
        case "ndim":
            return of.ndim
        case "dtype":
            return of.dtype
        case "size":
            return s.builder.product(s.shape(array))
        case "itemsize":
            return of.dtype.itemsize
        case "nbytes":
            return s.builder.dimension_multiply(s.builder.product(s.shape(array)), of.dtype.itemsize)
        case "T" | "mT":
            from .calls import call

            if name == "mT":
                return call(s, np.swapaxes, [array, -1, -2], {}, node)
            return call(s, np.transpose, [array], {}, node)
        case "real":
            return s.emit("real", array) if of.dtype.kind == "c" else array
        case "imag":
            return s.emit("imag", array)
        case "flat":
            from .calls import call

            return call(s, np.ravel, [array], {}, node)
        case "at":
            pass
    if name in METHODS or hasattr(np.ndarray, name) or (of.weak and hasattr(float, name)):
        return ArrayMethod(name, array)
    kind = "float" if of.weak else "numpy.ndarray"
    raise AttributeError(f"'{kind}' object has no attribute '{name}'\n{s.location(node)}")


__all__ = ["Array", "class_attribute", "get_attribute"]
