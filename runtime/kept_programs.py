"""Programs kept from one process to the next with all that a call needs, which spares making them.

Beside a program stands where it was read from: each place of a global, attribute, closure variable or class
that the specialiser looked at, as a way that another process can follow, and a digest of what was there. The
entry is found by the transformed function, told by its contents, and the signature of its arguments. It is
used only if every way still leads somewhere, and to the same contents. Where one does not, or where what was
read means something to one process only, the program is made anew.

The program itself is written down too, but read only where its text is not kept, or it is run line by line.
"""

from __future__ import annotations

import functools
import hashlib
import io
import pickle
import types
from collections.abc import Callable
from typing import Any

from ..backends.numba import emit as numba_backend
from ..backends.numpy.emit import Text
from ..codegen.garbage import without_collection
from ..codegen.specialise.external import Capture, Guard
from ..codegen.specialise.merge import Leaf, Record
from .addresses import PLAIN, Addresses, Unkept, Way, follow, place_of
from .arguments import StaticKey, pinned_values
from .compiled import Compiled, compiled_function
from .contents import Contents, in_library
from .kept_texts import Described, current_store, environment, only_ours, restored
from .modes import DEFAULTS, ordinary
from .sized import Sized
from .store import Store

STATE = (
    *("template", "written", "writes", "name", "parameters", "result_types", "fresh_results", "count"),
    *("least", "guards_of_sizes", "known_integers"),
)


READ = ("guards", "captures", "modules")


class Recalled(Compiled):
    """A program as another process left it."""

    def __init__(self, kept: dict[str, Any], starts: dict[Any, Any], store: Store):
        vars(self).update(zip(STATE, kept["state"], strict=True))
        self.written_down, self.texts, self.store = kept["written_down"], kept["texts"], store
        self.guards = [restored_guard(place_of(*place, starts), kind) for *place, kind in kept["guards"]]
        variables = self.parameters[len(self.parameters) - len(kept["captures"]) :]
        self.captures = [
            Capture(place_of(*place, starts), variable)
            for place, variable in zip(kept["captures"], variables, strict=True)
        ]
        self.capture_types = [variable.type for variable in variables]
        self.function = Sized(kept["least_large"], self.build)
        self.entry: Any = None
        self.without_entry = False
        self.new = False

    @functools.cached_property
    def described(self) -> Described:
        return Described(restored(self.written_down), self.least)

    @property
    def program(self) -> Any:
        return self.described.program

    def build(self, shared: bool) -> Callable:
        contents = self.store.get(self.texts[shared])
        if contents is None:
            return compiled_function(self.described, self.fresh_results, shared)
        return numba_backend.load(Text(*pickle.loads(contents)), self.name, store=self.store)


def restored_guard(place: Any, kind: str) -> Guard:
    """A guard that what is there now stays."""
    found = place()
    whole = {"keys": tuple, "length": len}.get(kind)
    return Guard(place, found if whole is None else (type(found), whole(found)), kind)


# finding and keeping


@without_collection
def recall(transformation: Any, key: tuple, leaves: list, dynamic: list) -> Recalled | None:
    """The program that another process made for this signature, if all that it was made from is as it was."""
    store = store_for(transformation, key)
    if store is None:
        return None
    starts = starts_of(transformation, key, leaves)
    try:
        signature = signature_of(transformation, key)
        kept = load(store, signature, starts)
        if kept is not None and "digest" not in kept:
            known = pinned(kept["pins"], pinned_values(dynamic, kept["pins"]))
            kept = load(store, signature + known, starts)
        if kept is None or kept["digest"] != digest(*map(kept.get, READ), starts):
            return None
        found = Recalled(kept, starts, store)
    except Exception:  # whatever objects of the user's raise when they are looked at
        return None
    transformation.pins[key] = kept["pins"]
    return found


@without_collection
def keep(transformation: Any, key: tuple, leaves: list, dynamic: list, compiled: Compiled) -> None:
    """Leave a new program for other processes, if it means something to them."""
    store = store_for(transformation, key)
    if store is None or not compiled.lasting or compiled.described.written is None:
        return
    starts = starts_of(transformation, key, leaves)
    pins = transformation.pins.get(key, frozenset())
    try:
        signature = signature_of(transformation, key)
        contents = dump(compiled, pins, starts)
        if not compiled.fresh():
            return
        known = pinned(pins, pinned_values(dynamic, pins)) if pins else ""
        store.put(key_of(signature + known), contents)
        if pins:
            store.put(key_of(signature), pickle.dumps({"pins": pins}))
    except Exception:  # as above
        return


def load(store: Store, signature: str, starts: dict[Any, Any]) -> Any:
    contents = store.get(key_of(signature))
    return None if contents is None else Reader(io.BytesIO(contents), starts).load()


def dump(compiled: Compiled, pins: frozenset, starts: dict[Any, Any]) -> bytes:
    """All that a call needs, and where it was read from; Unkept if that cannot be told."""
    addresses = Addresses()
    for name, value in starts.items():
        addresses.enter(value, (("start", name),))
    guards = []
    for guard in compiled.guards:
        place = addresses.place(guard.fetch)
        guards.append((*place, guard.kind))
        addresses.enter(guard.fetch(), (*place[0], *place[1]))
    captures = [addresses.place(capture.fetch) for capture in compiled.captures]
    modules = [addresses.place(fetch) for fetch, _ in compiled.modules]
    described, fresh = compiled.described, compiled.fresh_results
    texts = {shared: described.key((fresh, shared)) for shared in (False, True)}
    store = current_store()
    if not any(store.path(text).exists() for text in texts.values()):
        raise Unkept("its text is not kept")
    refuse_objects(compiled.template)
    written = io.BytesIO()
    Writer(written, addresses).dump(
        {
            "pins": pins,
            "guards": guards,
            "captures": captures,
            "modules": modules,
            "digest": digest(guards, captures, modules, starts),
            "state": [getattr(compiled, name) for name in STATE],
            "least_large": compiled.function.least,
            "written_down": described.written,
            "texts": texts,
        }
    )
    return written.getvalue()


class Writer(pickle.Pickler):
    """Writes what is kept of a program; classes of the user's as ways to them."""

    def __init__(self, file: Any, addresses: Addresses):
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.addresses = addresses

    def persistent_id(self, value: Any) -> Any:
        if isinstance(value, types.FunctionType):
            raise Unkept("it holds a function")
        if isinstance(value, type) and not in_library(value.__module__):
            return self.addresses.way(value)
        return None


class Reader(pickle.Unpickler):
    """Reads what a Writer wrote."""

    def __init__(self, file: Any, starts: dict[Any, Any]):
        super().__init__(file)
        self.starts = starts

    def persistent_load(self, way: Way) -> Any:
        return follow(way, self.starts)


def refuse_objects(template: Any) -> None:
    """Refuse results that hold objects from outside of the function."""
    if isinstance(template, Record):
        refuse_objects(template.fields)
    elif isinstance(template, (tuple, list)):
        for part in template:
            refuse_objects(part)
    elif type(template) is dict:
        refuse_objects([*template, *template.values()])
    elif not isinstance(template, (Leaf, *PLAIN)):
        raise Unkept("a result holds an object")


# what is compared


def store_for(transformation: Any, key: tuple) -> Store | None:
    """Where programs of a transformation are kept, if they are: compiled ones, for arrays of any sizes."""
    kind = transformation.compiled_kind
    if not transformation.jitted or kind is not Compiled or len(key) > 3 or key in transformation.exact:
        return None
    return current_store() if ordinary() and only_ours() else None


def starts_of(transformation: Any, key: tuple, leaves: list) -> dict[Any, Any]:
    """The objects that the ways in a process start at."""
    given = {n: leaf for n, (leaf, of) in enumerate(zip(leaves, key[1], strict=True)) if is_static(of)}
    static = {("static", n): value.value for part in key[2] or () for n, value in part}
    return {"function": transformation, **{("leaf", n): v for n, v in given.items()}, **static}


def is_static(of: Any) -> bool:
    return isinstance(of, StaticKey)


def signature_of(transformation: Any, key: tuple) -> str:
    """The transformed function and the types of its arguments, by their contents."""
    structure, leaves, static = key
    contents = Contents()
    contents.tell(transformation)
    pending = [structure]
    while pending:
        node = pending.pop()
        contents.tell(node.type)
        pending.extend(node.children())
    for leaf in leaves:
        contents.say("static" if is_static(leaf) else str(leaf))
        contents.tell(leaf.value if is_static(leaf) else None)
    for part in static or ():
        for name, value in part:
            contents.say(name)
            contents.tell(value.value)
    return repr((environment(), contents.digest(), str(structure), DEFAULTS["key_reuse"]))


def pinned(pins: frozenset, values: tuple) -> str:
    return repr((sorted(map(repr, pins)), values))


def key_of(signature: str) -> str:
    return hashlib.sha256(b"program" + signature.encode()).hexdigest()


def digest(guards: list, captures: list, modules: list, starts: dict[Any, Any]) -> str:
    """What stands for all that is read at these places."""
    contents = Contents()
    for way, steps, kind in guards:
        found = place_of(way, steps, starts)()
        contents.say(kind)
        if kind in ("keys", "length"):
            contents.tell(type(found))
            contents.tell(tuple(found) if kind == "keys" else len(found))
        else:
            contents.tell(found)
    for way, steps in captures:
        found = place_of(way, steps, starts)()
        contents.say("type", type(found).__name__)
        if hasattr(found, "dtype"):
            contents.array(found)
    for way, steps in modules:
        contents.tell(place_of(way, steps, starts)())
    return contents.digest()
