"""Assignment: to names, elements and attributes, of one value or several, and in place."""
from __future__ import annotations

import dataclasses
import types
from typing import Any

import gast
import numpy as np

from ..core import Variable
from .attributes import class_attribute, generated, get_attribute, python_method
from .complaints import complaint
from .expressions import evaluate, load_name
from .growing import growing_of, list_method
from .indexing import delete_item, get_item, set_item
from .iteration import elements
from .machine import Specialiser
from .operators import SPECIAL_NAMES, binary
from .store import Frame, Location
from .values import UNDEFINED, Array, is_dynamic


def assign_statement(s: Specialiser, node: Any, frame: Frame) -> None:
    value = evaluate(s, node.value, frame)
    for target in node.targets:
        assign(s, target, value, frame)


def annotated(s: Specialiser, node: Any, frame: Frame) -> None:
    if node.value is not None:
        assign(s, node.target, evaluate(s, node.value, frame), frame)


def assign(s: Specialiser, target: Any, value: Any, frame: Frame) -> None:
    """Give a value to a name, an element, an attribute, or several at once."""
    match target:
        case gast.Name():
            name_value(s, target.id, value)
            s.store.write(place_of(s, target.id, frame), value)
        case gast.Tuple() | gast.List():
            unpack(s, target, value, frame)
        case gast.Subscript():
            container = evaluate(s, target.value, frame)
            set_item(s, container, evaluate(s, target.slice, frame), value, target)
        case gast.Attribute():
            set_attribute(s, evaluate(s, target.value, frame), target.attr, value, target)
        case gast.Starred():
            assign(s, target.value, s.store.new(list(value)), frame)


def name_value(s: Specialiser, name: str, value: Any) -> None:
    """Let what is emitted for a value carry the user's name for it."""
    if s.quiet:
        return
    variable = value.cell.value if isinstance(value, Array) and not value.path else value
    if isinstance(value, Array) and value.path:
        variable = s.read(value)
    if isinstance(variable, Variable) and variable.name is None:
        variable.name = name


def place_of(s: Specialiser, name: str, frame: Frame) -> Location:
    """Where an assignment to a name goes."""
    if name in frame.scope.globals:
        raise s.unsupported(f"assigning to the global name '{name}'",
                            "return the value; the user's globals are never changed")
    holder = frame
    if name in frame.scope.nonlocals:
        holder = frame.parent
        while holder is not None and name not in holder.scope.locals:
            holder = holder.parent
        if holder is None:
            raise s.unsupported(f"assigning to the nonlocal name '{name}' of a function that has returned",
                                "return the value instead")
    return Location("name", holder, name)


def unpack(s: Specialiser, target: Any, value: Any, frame: Frame) -> None:
    names = target.elts
    starred = [k for k, t in enumerate(names) if isinstance(t, gast.Starred)]
    fixed = len(names) - len(starred)
    items = unpacked(s, value, None if starred else fixed, target)
    if len(items) < fixed or (not starred and len(items) != fixed):
        raise refused(s, target, len(items))
    if starred:
        first = starred[0]
        rest = len(items) - fixed
        items = [*items[:first], s.store.new(list(items[first:first + rest])), *items[first + rest:]]
        names = [t.value if isinstance(t, gast.Starred) else t for t in names]
    for one, item in zip(names, items, strict=True):
        assign(s, one, item, frame)


def unpacked(s: Specialiser, value: Any, count: int | None, node: Any) -> list[Any]:
    """The items of a value that is unpacked; an array is told how many it must have."""
    if is_dynamic(value) and not s.shape(value):
        raise complaint(s, unpack_one, [value], node)
    if is_dynamic(value) and count is not None:
        length = s.shape(value)[0]
        if isinstance(length, int) and length != count:
            raise refused(s, node, length)
        s.builder.location = s.location(node)
        s.builder.require_same(length, count, f"cannot unpack into {count} values")
        return [get_item(s, value, k, node) for k in range(count)]
    return list(elements(s, value, node))


def unpack_one(value: Any) -> Any:
    (item,) = value
    return item


def refused(s: Specialiser, target: Any, count: int) -> Exception:
    """What Python says when so many items are unpacked into a target of another length."""
    names = ", ".join("*_" if isinstance(part, gast.Starred) else "_" for part in target.elts)
    try:
        exec(f"[{names}] = items", {"items": [None] * count})
    except ValueError as error:
        return s.located(error, target)
    raise AssertionError(f"{count} items fit")


def set_attribute(s: Specialiser, instance: Any, name: str, value: Any, node: Any) -> None:
    if is_dynamic(instance):
        raise s.unsupported(
            f"assigning to the attribute .{name} of an array", "use a function of NumPy's", node
        )
    described = class_attribute(type(instance), name)
    if isinstance(described, property):
        if described.fset is None:
            text = f"property '{name}' of '{type(instance).__name__}' object has no setter"
            raise s.located(AttributeError(text), node)
        s.call(described.fset, [instance, value], {}, node)
        return
    custom = class_attribute(type(instance), "__setattr__")
    if custom is not object.__setattr__ and isinstance(custom, types.FunctionType):
        if generated(custom):
            raise s.located(dataclasses.FrozenInstanceError(f"cannot assign to field '{name}'"), node)
        s.call(custom, [instance, name, value], {}, node)
        return
    set_raw_attribute(s, instance, name, value, node)


def set_raw_attribute(s: Specialiser, instance: Any, name: str, value: Any, node: Any) -> None:
    """object.__setattr__."""
    s.check_container(instance, node)
    if not s.is_internal(instance):
        raise s.unsupported(
            f"assigning to the attribute .{name} of an object that exists outside of the function",
            "return the new value", node)
    s.store.write(Location("attribute", instance, name), value)


def augmented(s: Specialiser, node: Any, frame: Frame) -> None:
    """`target op= value`: in place for arrays and lists, as Python has it."""
    target = node.target
    if isinstance(target, gast.Name):
        old = load_name(s, target.id, frame, node)
        new = in_place(s, node.op, old, evaluate(s, node.value, frame), node)
        if new is not old:
            assign(s, target, new, frame)
    elif isinstance(target, gast.Subscript):
        container, index = evaluate(s, target.value, frame), evaluate(s, target.slice, frame)
        old = get_item(s, container, index, target)
        if not isinstance(container, Array):
            new = in_place(s, node.op, old, evaluate(s, node.value, frame), node)
            if new is not old or not isinstance(container, (list, dict)):
                set_item(s, container, index, new, target)
            return
        # A view of the container: its new contents are written with the index, not through the view.
        new = updated(s, node.op, old, evaluate(s, node.value, frame), node)
        set_item(s, container, index, new, target)
    else:
        instance = evaluate(s, target.value, frame)
        old = get_attribute(s, instance, target.attr, node)
        new = in_place(s, node.op, old, evaluate(s, node.value, frame), node)
        if new is not old:
            set_attribute(s, instance, target.attr, new, node)


def in_place(s: Specialiser, operator: Any, old: Any, value: Any, node: Any) -> Any:
    """What `old op= value` leaves: `old` itself, written, where it can be written."""
    if isinstance(old, Array):
        s.write(old, s.operand(updated(s, operator, old, value, node)), node)
        return old
    if isinstance(old, list) and isinstance(operator, (gast.Add, gast.Mult)):
        if growing_of(old) is not None and isinstance(operator, gast.Add):
            items = list_method(s, growing_of(old), "extend", [value], node)[1]
        else:
            items = [*old, *elements(s, value, node)] if isinstance(operator, gast.Add) else old * value
        s.write_list(old, items, node)
        return old
    if isinstance(old, (dict, set)) and type(operator) in (gast.BitOr, gast.BitAnd, gast.Sub, gast.BitXor):
        s.write_container(old, binary(s, operator, old, value, node), node)
        return old
    special = SPECIAL_NAMES.get(type(operator))
    method = python_method(old, f"__i{special}__") if special else None
    if method is not None:
        new = s.call(method, [old, value], {}, node)
        if new is not NotImplemented:
            return new
    return binary(s, operator, old, value, node)


def updated(s: Specialiser, operator: Any, old: Any, value: Any, node: Any) -> Any:
    """The new contents that `old op= value` gives an array: of the shape and dtype that it has."""
    if isinstance(old, list):
        return in_place(s, operator, old, value, node)
    new = binary(s, operator, old, value, node)
    if not isinstance(old, Array):
        return new
    have, got = s.type(old), s.type(new)
    if got.ndim > have.ndim:
        raise s.unsupported(
            "the result of an in-place operation has more dimensions than the array it goes to",
            "write x = x + y",
            node,
        )
    if not np.can_cast(got.dtype, have.dtype, "same_kind"):
        raise np._core._exceptions._UFuncOutputCastingError(
            getattr(np, UFUNCS.get(type(operator), "add")), "same_kind", got.dtype, have.dtype, 0)
    return new if got.dtype == have.dtype else s.emit("astype", new, dtype=have.dtype)


UFUNCS = {gast.Add: "add", gast.Sub: "subtract", gast.Mult: "multiply", gast.Div: "divide", gast.Pow: "power",
          gast.Mod: "remainder", gast.FloorDiv: "floor_divide"}


def delete(s: Specialiser, node: Any, frame: Frame) -> None:
    for target in node.targets:
        if isinstance(target, gast.Name):
            load_name(s, target.id, frame, target)
            s.store.write(place_of(s, target.id, frame), UNDEFINED)
        elif isinstance(target, gast.Subscript):
            delete_item(s, evaluate(s, target.value, frame), evaluate(s, target.slice, frame), target)
        else:
            raise s.unsupported("deleting an attribute", "leave it as it is", target)
