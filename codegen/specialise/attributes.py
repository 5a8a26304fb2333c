"""Reading attributes: of arrays, modules, and objects of the user's classes."""
from __future__ import annotations

import collections
import dataclasses
import functools
import types
from typing import Any

import numpy as np

from ..registry import METHODS, PRIMITIVES
from .complaints import complaint
from .machine import Specialiser
from .places import Place, class_attribute
from .store import Location
from .values import Array, ArrayMethod, Closure, Method, Text, has_dynamic, is_dynamic


def get_attribute(s: Specialiser, instance: Any, name: str, node: Any) -> Any:
    """`instance.name`."""
    if is_dynamic(instance):
        return array_attribute(s, instance, name, node)
    if isinstance(instance, types.ModuleType):
        return module_attribute(s, instance, name, node)
    if isinstance(instance, Closure):
        return closure_attribute(instance, name, node, s)
    if isinstance(instance, np.ndarray):
        return getattr(instance, name)
    if isinstance(instance, Super):
        return instance.attribute(s, name, node)
    if isinstance(instance, Text) and hasattr(str, name):
        raise s.unsupported(f".{name} of a string that depends on values known only at run time",
                            "use the numbers themselves; such a string is for print and exceptions", node)
    if isinstance(instance, type):
        return type_attribute(s, instance, name, node)
    if isinstance(instance, CONTAINERS) and class_attribute(type(instance), name) is not None:
        return container_attribute(s, instance, name, node)
    return object_attribute(s, instance, name, node)


CONTAINERS = (list, dict, set, frozenset, tuple, str, bytes, collections.deque)


def module_attribute(s: Specialiser, module: types.ModuleType, name: str, node: Any) -> Any:
    try:
        return s.imported(getattr(module, name), Place(module).attribute(name))
    except AttributeError as error:
        raise s.located(AttributeError(f"{error}"), node) from None


def closure_attribute(closure: Closure, name: str, node: Any, s: Specialiser) -> Any:
    known = {"__name__": closure.name, "__qualname__": closure.name, "__doc__": None, "__dict__": {},
             "__module__": closure.frame.scope.module.get("__name__")}
    if name not in known:
        raise s.unsupported(f"the attribute .{name} of a function", "keep the value in a variable", node)
    return known[name]


def object_attribute(s: Specialiser, instance: Any, name: str, node: Any) -> Any:
    """An attribute as Python looks it up: data descriptors, the object's own, its class's, __getattr__."""
    kind = type(instance)
    described = class_attribute(kind, name)
    if isinstance(described, property) and isinstance(described.fget, types.FunctionType):
        return s.call(described.fget, [instance], {}, node)
    state = getattr(instance, "__dict__", None)
    if state is not None and name in state:
        return (
            s.defined(state[name], name, node)
            if s.is_internal(instance)
            else s.outside(Place(instance).attribute(name), name, False)
        )
    if isinstance(described, types.MemberDescriptorType):
        value = getattr(instance, name)
        return value if s.is_internal(instance) else s.outside(Place(instance).attribute(name), name, False)
    if isinstance(described, functools.cached_property):
        value = s.call(described.func, [instance], {}, node)
        if s.is_internal(instance):
            s.store.write(Location("attribute", instance, name), value)
        return value
    bound = bind(s, described, instance, kind)
    if bound is not UNBOUND:
        s.guard((kind, name), Place(kind).then(class_attribute, name), described)
        return bound
    fallback = python_method(instance, "__getattr__")
    if described is None and fallback is not None:
        return s.call(fallback, [instance, name], {}, node)
    try:
        value = getattr(instance, name)
    except AttributeError as error:
        raise s.located(AttributeError(f"{error}"), node) from None
    return (
        value if has_dynamic(value) or callable(value) else s.imported(value, Place(instance).attribute(name))
    )


UNBOUND = object()


def bind(s: Specialiser, described: Any, instance: Any, kind: type) -> Any:
    """What a function, classmethod or staticmethod of a class is as an attribute; UNBOUND for all else."""
    if isinstance(described, types.FunctionType):
        return described if instance is None else Method(described, instance)
    if isinstance(described, classmethod):
        return Method(described.__func__, kind)
    if isinstance(described, staticmethod):
        return described.__func__
    return UNBOUND


def type_attribute(s: Specialiser, kind: type, name: str, node: Any) -> Any:
    described = class_attribute(kind, name)
    bound = bind(s, described, None, kind)
    if bound is not UNBOUND:
        s.guard((kind, name), Place(kind).then(class_attribute, name), described)
        return bound
    try:
        value = getattr(kind, name)
    except AttributeError as error:
        raise s.located(AttributeError(f"{error}"), node) from None
    return value if callable(value) else s.outside(Place(kind).attribute(name), name, False)


def container_attribute(s: Specialiser, instance: Any, name: str, node: Any) -> Any:
    """A method of a container, or a field of a namedtuple."""
    if isinstance(instance, tuple) and name in getattr(instance, "_fields", ()):
        return getattr(instance, name)
    described = class_attribute(type(instance), name)
    known = isinstance(described, types.FunctionType) and name not in ("_replace", "_asdict")
    if known or isinstance(described, (property, classmethod)):
        return object_attribute(s, instance, name, node)
    return ArrayMethod(name, instance) if callable(getattr(instance, name)) else getattr(instance, name)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Super:
    """What super() gives: attributes of the classes after `owner`."""

    owner: type
    instance: Any

    def attribute(self, s: Specialiser, name: str, node: Any) -> Any:
        of_class = isinstance(self.instance, type)
        kind = self.instance if of_class else type(self.instance)
        following = kind.__mro__
        for base in following[following.index(self.owner) + 1:]:
            if name not in base.__dict__:
                continue
            described = base.__dict__[name]
            if isinstance(described, property):
                return s.call(described.fget, [self.instance], {}, node)
            bound = bind(s, described, None if of_class else self.instance, kind)
            if bound is not UNBOUND:
                return bound
            if callable(described):
                return Method(described, self.instance)
            return s.imported(described, Place(base).then(class_attribute, name))
        raise s.located(AttributeError(f"'super' object has no attribute '{name}'"), node)


def part_of_complex(s: Specialiser, array: Any, name: str) -> Any:
    """The real or imaginary part: a view of an array, a number of a number."""
    return s.view(array, PRIMITIVES[name]) if isinstance(array, Array) else s.emit(name, array)


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
            if name == "mT":
                return s.call(np.swapaxes, [array, -1, -2], {}, node)
            return s.call(np.transpose, [array], {}, node)
        case "real":
            return part_of_complex(s, array, name) if of.dtype.kind == "c" else array
        case "imag":
            return part_of_complex(s, array, name) if of.dtype.kind == "c" else s.emit("imag", array)
        case "flat":
            return s.call(np.ravel, [array], {}, node)
        case "at":
            pass
    if name not in METHODS and hasattr(np.ndarray, name) and not callable(getattr(np.ndarray, name)):
        raise s.unsupported(f"the attribute .{name} of an array, which is of its place in memory",
                            "write what does not depend on it", node)
    number = () if of.shape else ((float,) if of.weak else (of.dtype.type,))
    if name in METHODS or any(hasattr(kind, name) for kind in (np.ndarray, *number)):
        return ArrayMethod(name, array)
    raise complaint(s, lambda value: getattr(value, name), [array], node)


def python_method(instance: Any, name: str) -> Any:
    """A method that the class of a value defines in Python, or None."""
    for base in type(instance).__mro__:
        found = base.__dict__.get(name)
        if found is not None:
            return found if isinstance(found, types.FunctionType) and not generated(found) else None
    return None


def generated(function: Any) -> bool:
    """Whether a method was made by a decorator such as dataclass, and so has no source."""
    made_in = function.__globals__.get("__name__")
    return function.__code__.co_filename == "<string>" or made_in in ("dataclasses", "reprlib")


__all__ = ["Array", "Super", "class_attribute", "generated", "get_attribute", "python_method"]
