"""Making objects: of the user's classes, of dataclasses, namedtuples and library types."""
from __future__ import annotations

import collections
import dataclasses
import functools
import types
from typing import Any

import numpy as np

from .attributes import Super, generated
from .binding import missing, too_many, unexpected
from .iteration_tools import Bound
from .machine import Specialiser
from .merge import make_record, rebuild_tuple
from .scope import parameter_names
from .store import Frame
from .values import has_dynamic, note_made


def super_of(s: Specialiser, frame: Frame, node: Any) -> Any:
    """super() in a method: the class that it stands in comes from the method's closure."""
    owner = frame
    while not hasattr(owner, "owner_class"):
        if owner.parent is None:
            raise s.unsupported("super() here", "name the base class", node)
        owner = owner.parent
    first = parameter_names(owner.scope.tree.args)[0]
    return Super(owner.owner_class, owner.names[first])


def construct(s: Specialiser, kind: type, arguments: list, keywords: dict, node: Any) -> Any:
    """Make an instance of a class."""
    if issubclass(kind, BaseException) or kind in (np.dtype,) or issubclass(kind, np.generic):
        if issubclass(kind, np.generic) and has_dynamic(arguments):
            return s.emit("astype", arguments[0], dtype=np.dtype(kind))
        return s.call_native(kind, arguments, keywords, node)
    if hasattr(kind, "_fields") and issubclass(kind, tuple):
        return kind(*arguments, **keywords)
    if kind in (slice, functools.partial, types.SimpleNamespace, object):
        return s.store.new(kind(*arguments, **keywords))
    if kind in COLLECTIONS:
        return s.store.new(COLLECTIONS[kind](s, arguments, keywords, node))
    if issubclass(kind, (list, dict, set, tuple, str, int, float)):
        raise s.unsupported(f"{kind.__name__}, a class derived from {kind.__mro__[-2].__name__}",
                            "keep the container in an attribute", node)
    if dataclasses.is_dataclass(kind) and generated_init(kind):
        return construct_dataclass(s, kind, arguments, keywords, node)
    initialise = python_method_of(kind, "__init__")
    if initialise is None and not has_dynamic((arguments, keywords)):
        return s.store.new(kind(*arguments, **keywords))
    made_otherwise = isinstance(kind.__new__, types.FunctionType) or type(kind).__call__ is not type.__call__
    if made_otherwise:
        raise s.unsupported(f"{kind.__name__}, a class that makes its instances itself, by __new__",
                            "use a class with an __init__ alone, or a function", node)
    in_c = kind.__init__ is not object.__init__ or kind.__new__ is not object.__new__
    if initialise is None and in_c:
        raise s.unsupported(f"making a {kind.__name__} of values known only at run time",
                            "use a class with an __init__ in Python, or register what is done with it as a "
                            "primitive (cr.primitive)", node)
    made = s.store.new(note_made(object.__new__(kind)))
    if initialise is not None:
        s.call(initialise, [made, *arguments], keywords, node)
    return made


def make_default_dict(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    factory, *source = arguments or [None]
    made = collections.defaultdict(factory if callable(factory) or factory is None else Bound(factory))
    made.update(pairs(s, source, keywords, node))
    return made


def make_counter(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    if has_dynamic((arguments, keywords)) and not isinstance(arguments[0], dict):
        raise s.unsupported("counting values known only at run time", "use np.bincount or np.unique", node)
    return collections.Counter(*arguments, **keywords)


def pairs(s: Specialiser, source: list, keywords: dict, node: Any) -> dict:
    """The entries that dict(*source, **keywords) has."""
    made: dict = {}
    if source:
        found = source[0]
        made.update(
            found
            if isinstance(found, dict)
            else [tuple(s.elements(p, node)) for p in s.elements(found, node)]
        )
    return made | keywords


COLLECTIONS = {
    collections.defaultdict: make_default_dict,
    collections.OrderedDict: lambda s, a, k, node: collections.OrderedDict(pairs(s, a, k, node)),
    collections.Counter: make_counter,
    collections.deque: lambda s, a, k, node: collections.deque(
        s.elements(a[0], node) if a else (), *a[1:], **k
    ),
}


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
    wrong = lambda text: s.located(TypeError(f"{kind.__qualname__}.__init__() {text}"), node)
    if len(arguments) > len(names):
        required = sum(f.default is f.default_factory for f in fields if not f.kw_only)
        raise wrong(too_many(len(names) + 1, required + 1, len(arguments) + 1))
    unknown = set(keywords) - {f.name for f in fields}
    if unknown:
        raise wrong(unexpected(next(key for key in keywords if key in unknown)))
    values = {**dict(zip(names, arguments, strict=False)), **keywords}
    for field in dataclasses.fields(kind):
        if field.name in values:
            continue
        if field.default is not dataclasses.MISSING:
            values[field.name] = s.default(field.default)
        elif field.default_factory is not dataclasses.MISSING:
            values[field.name] = s.call(field.default_factory, [], {}, node)
    for kw_only, called in ((False, "positional"), (True, "keyword-only")):
        absent = [f.name for f in fields if f.kw_only is kw_only and f.name not in values]
        if absent:
            raise wrong(missing(absent, called))
    made = s.store.new(make_record(kind, values))
    after = python_method_of(kind, "__post_init__")
    if after is not None:
        s.call(after, [made], {}, node)
    return made


# the dataclasses module


def replace(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    (instance,) = arguments
    fields = [f for f in dataclasses.fields(instance) if f.init]
    values = {f.name: s.get_attribute(instance, f.name, node) for f in fields if f.name not in keywords}
    return s.call(type(instance), [], {**values, **keywords}, node)


def as_dict(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    return in_containers(s, arguments[0], lambda pairs: s.store.new(dict(pairs)), node)


def as_tuple(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    return in_containers(s, arguments[0], lambda pairs: tuple(value for _, value in pairs), node)


def in_containers(s: Specialiser, value: Any, build: Any, node: Any) -> Any:
    """A nesting of dataclasses with each built anew from its (name, value) pairs."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return build([(f.name, in_containers(s, s.get_attribute(value, f.name, node), build, node))
                      for f in dataclasses.fields(value)])
    if isinstance(value, (list, tuple)):
        items = [in_containers(s, item, build, node) for item in value]
        return rebuild_tuple(value, items) if isinstance(value, tuple) else s.store.new(items)
    if isinstance(value, dict):
        return s.store.new({key: in_containers(s, item, build, node) for key, item in value.items()})
    return value


CLASS_FUNCTIONS = {dataclasses.replace: replace, dataclasses.asdict: as_dict, dataclasses.astuple: as_tuple}
