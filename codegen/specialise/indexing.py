"""Reading and writing elements: of containers, and of arrays with every kind of index."""
from __future__ import annotations

import collections
from typing import Any

import numpy as np

from ..core import Variable, type_of
from ..linear import difference, least, linear_form
from ..registry import PRIMITIVES
from .attributes import python_method
from .growing import get as growing_item
from .growing import growing_of, refuse, replaced
from .machine import VIEW_OF_NUMBER, Specialiser
from .store import Location
from .tables import chosen_item, known_index, with_item
from .values import UNDEFINED, Array, ViewStep, has_dynamic, is_dynamic


def get_item(s: Specialiser, container: Any, index: Any, node: Any) -> Any:
    """`container[index]`."""
    if isinstance(container, np.ndarray) and (has_dynamic(index) or container.dtype.kind in "biufc"):
        container = s.wrap(s.constant(container))
    if is_dynamic(container):
        return get_element(s, container, index, node)
    if isinstance(container, dict):
        return item_of_dict(s, container, s.hashable(index, node), node)
    growing = growing_of(container)
    if growing is not None:
        return growing_item(s, growing, index, node)
    if isinstance(container, (list, tuple, str, range, bytes, collections.deque)):
        if isinstance(index, slice):
            parts = [None if p is None else s.static_int(p, "a bound of a slice of a list", node)
                     for p in (index.start, index.stop, index.step)]
            chosen = container[slice(*parts)]
            return s.store.new(chosen) if isinstance(chosen, list) else chosen
        try:
            place = known_index(s, container, index, node)
            return chosen_item(s, container, index, node) if place is None else container[place]
        except IndexError as error:
            raise s.located(IndexError(f"{error}"), node) from None
    method = python_method(container, "__getitem__")
    if method is not None:
        return s.call(method, [container, index], {}, node)
    if hasattr(container, "step"):
        return item_of_range(s, container, index, node)
    if hasattr(container, "counted"):
        return list(container.items(s, node))[s.static_int(index, "an index", node)]
    if has_dynamic(index):
        raise s.need_static(index, "this index", node)
    item = container[index]
    if isinstance(container, np.generic) and isinstance(item, np.ndarray) and item.ndim:
        made = s.wrap(s.constant(item))
        made.cell.ambiguous = VIEW_OF_NUMBER
        return made
    return s.imported(item)


def item_of_dict(s: Specialiser, container: dict, key: Any, node: Any) -> Any:
    if key in container:
        return container[key]
    if isinstance(container, collections.Counter):
        return 0
    factory = getattr(container, "default_factory", None)
    if factory is None:
        raise s.located(KeyError(key), node)
    value = s.call(factory, [], {}, node)
    set_item(s, container, key, value, node)
    return value


def item_of_range(s: Specialiser, container: Any, index: Any, node: Any) -> Any:
    """An item of a range: counted from its start."""
    parts = (container.start, container.stop, container.step)
    if not any(map(is_dynamic, parts)) and not has_dynamic(index):
        return get_item(s, range(*parts), index, node)
    if (
        isinstance(index, slice)
        or isinstance(index, int)
        and index < 0
        or not isinstance(container.step, int)
    ):
        raise s.need_static(next(filter(is_dynamic, parts), index), "the length of this range", node)
    size = s.call(len, [container], {}, node)
    check_bounds(s, s.operand(index), size, 0, node)
    return s.builder.dimension_add(container.start, s.builder.dimension_multiply(index, container.step))


def get_element(s: Specialiser, array: Any, index: Any, node: Any) -> Any:
    """An element, view or selection of an array."""
    shape = s.shape(array)
    canonical = canonical_index(s, shape, index, node)
    if not canonical:
        return array
    if not is_basic(canonical):
        if s.diagonal and isinstance(array, Array):
            return s.view(array, PRIMITIVES["getitem"], canonical, writable=False)
        return s.emit("getitem", array, canonical)
    if not isinstance(array, Array):
        return s.emit("getitem", array, canonical)
    if array.path and by_basic_index(array.path[-1]):
        merged = compose(array.path[-1].operands[0], canonical)
        if merged is not None:
            return s.view(Array(array.cell, array.path[:-1]), PRIMITIVES["getitem"], merged)
    return s.view(array, PRIMITIVES["getitem"], canonical)


def by_basic_index(step: ViewStep) -> bool:
    return step.primitive.name == "getitem" and is_basic(step.operands[0])


def compose(outer: tuple, inner: tuple) -> tuple | None:
    """The one basic index that does `[outer]` and then `[inner]`, where that is plain to see."""
    whole = slice(None)
    rest = iter(inner)
    merged: list[Any] = []
    for part in outer:
        if not isinstance(part, slice):
            if part is None:
                return None
            merged.append(part)
        elif plain_slice(part, whole):
            merged.append(next(rest, whole))
            if merged[-1] is None:
                return None
        else:
            following = next(rest, whole)
            if not plain_slice(following, whole):
                return None
            merged.append(part)
    merged.extend(rest)
    return tuple(merged)


def plain_slice(part: Any, whole: slice) -> bool:
    return isinstance(part, slice) and part.start is None and part.stop is None and part.step is None


def set_item(s: Specialiser, container: Any, index: Any, value: Any, node: Any) -> None:
    """`container[index] = value`."""
    if isinstance(container, Array):
        set_element(s, container, index, value, node)
        return
    if is_dynamic(container):
        raise s.located(TypeError("a scalar does not support item assignment"), node)
    if isinstance(container, (list, dict)):
        if not s.is_internal(container):
            raise s.unsupported(
                f"writing to a {type(container).__name__} that exists outside of the function",
                "make a copy inside the function, and return it",
                node,
            )
        if isinstance(container, dict):
            s.check_container(container, node)
            s.store.write(Location("item", container, s.hashable(index, node)), value)
            return
        growing = growing_of(container)
        if growing is not None:
            s.write_list(container, [replaced(s, growing, index, value, node)], node)
            return
        items = list(container)
        if isinstance(index, slice):
            parts = [None if p is None else s.static_int(p, "a bound of a slice of a list", node)
                     for p in (index.start, index.stop, index.step)]
            items[slice(*parts)] = list(s.elements(value, node))
        else:
            place = known_index(s, container, index, node, (value,))
            if place is None:
                items = with_item(s, items, index, value, node)
            else:
                items[place] = value
        s.write_list(container, items, node)
        return
    method = python_method(container, "__setitem__")
    if method is None:
        raise s.located(TypeError(
            f"'{type(container).__name__}' object does not support item assignment"
        ), node)
    s.call(method, [container, index, value], {}, node)


def set_element(s: Specialiser, array: Array, index: Any, value: Any, node: Any) -> None:
    if isinstance(value, (list, tuple)):
        value = s.as_array(value)
    if not s.number(value):
        raise s.located(TypeError(f"cannot write a {type(value).__name__} into an array"), node)
    canonical = canonical_index(s, s.shape(array), index, node)
    if is_basic(canonical) and array.path and by_basic_index(array.path[-1]):
        merged = compose(array.path[-1].operands[0], canonical)
        if merged is not None:
            array, canonical = Array(array.cell, array.path[:-1]), merged
    old = s.read(array)
    whole = tuple(value.path) == array.path if isinstance(value, Array) else False
    if whole and value.cell is array.cell and not canonical:
        return
    new = s.builder.emit(PRIMITIVES["setitem"], old, canonical, s.operand(value))
    s.write(array, new, node)


def delete_item(s: Specialiser, container: Any, index: Any, node: Any) -> None:
    if isinstance(container, dict) and s.is_internal(container):
        if s.hashable(index, node) not in container:
            raise KeyError(index)
        s.store.write(Location("item", container, index), UNDEFINED)
    elif isinstance(container, list) and s.is_internal(container):
        if growing_of(container) is not None:
            raise refuse(s, "del of an item", node)
        items = list(container)
        del items[index]
        s.write_list(container, items, node)
    else:
        raise s.unsupported(
            "deleting an element of this object", "use np.delete, or build a new container", node
        )


def is_basic(index: tuple) -> bool:
    """Whether an index gives a view: integers, slices and new axes only."""
    return not any(isinstance(part, Variable) and type_of(part).shape for part in index)


def canonical_index(s: Specialiser, shape: tuple, index: Any, node: Any) -> tuple:
    """An index as core programs have it: a tuple, no Ellipsis, masks as integers, bounds checked."""
    parts = list(index) if isinstance(index, tuple) else [index]
    parts = [part for one in parts for part in canonical_part(s, one, node)]
    consumed = sum(1 for part in parts if part is not None and part is not Ellipsis)
    if consumed > len(shape):
        raise s.located(IndexError(
            f"too many indices for array: array is {len(shape)}-dimensional, but {consumed} were "
            f"indexed"
        ), node)
    if parts.count(Ellipsis) > 1:
        raise s.located(IndexError("an index can only have a single ellipsis ('...')"), node)
    if Ellipsis in parts:
        at = parts.index(Ellipsis)
        parts[at:at + 1] = [slice(None)] * (len(shape) - consumed)
    if is_basic(tuple(parts)):
        parts = of_one_element(s, parts, shape)
    axis = 0
    for part in parts:
        if part is not None:
            if not isinstance(part, slice):
                check_bounds(s, part, shape[axis], axis, node)
            axis += 1
    while parts and plain_slice(parts[-1], slice(None)):
        parts.pop()
    return tuple(parts)


def of_one_element(s: Specialiser, parts: list, shape: tuple) -> list:
    """A basic index, whose slices k:k+1 within the axis are k and a new axis: their size of 1 broadcasts."""
    made: list[Any] = []
    axes = iter(shape)
    for part in parts:
        size = None if part is None else next(axes)
        if isinstance(part, slice) and part.step in (None, 1) and isinstance(part.start, Variable) and (
            isinstance(part.stop, Variable) and difference(s.builder, part.stop, part.start) == ({}, 1)
            and in_range(s, part.start, size)
        ):  # fmt: skip
            made += [part.start, None]
        else:
            made.append(part)
    return made


def canonical_part(s: Specialiser, part: Any, node: Any) -> list[Any]:
    """One entry of an index, as the entries it stands for."""
    if part is None or part is Ellipsis:
        return [part]
    if isinstance(part, slice):
        return [slice(*(bound(s, p, node) for p in (part.start, part.stop, part.step)))]
    if isinstance(part, (list, tuple)):
        part = s.emit("array", tuple(part), dtype=np.dtype(np.int64)) if part and not masks(part) and flat(
            part) else list_index(s, part)
    if isinstance(part, (bool, np.bool_)):
        raise s.unsupported("an index that is a single bool", "index with an array of bools, or use if", node)
    if isinstance(part, (int, np.integer)):
        return [int(part)]
    if isinstance(part, np.ndarray):
        part = s.wrap(s.constant(part))
    if not is_dynamic(part):
        method = python_method(part, "__index__")
        if method is None:
            raise s.located(IndexError(
                "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or "
                "boolean arrays are valid indices"
            ), node)
        return [s.call(method, [part], {}, node)]
    kind = s.type(part)
    if kind.dtype.kind == "b":
        if not kind.shape:
            raise s.unsupported("an index that is a single bool known only at run time",
                                "index with an array of bools, or use if", node)
        found = s.emit("nonzero", part)
        return [s.operand(f) for f in (found if isinstance(found, tuple) else (found,))]
    if kind.dtype.kind not in "iu":
        raise s.located(IndexError("arrays used as indices must be of integer (or boolean) type, and "
                         f"this one is {kind.dtype}"), node)
    return [s.operand(part)]


def masks(items: Any) -> bool:
    return all(isinstance(item, (bool, np.bool_)) for item in items)


def flat(items: Any) -> bool:
    return all(not isinstance(item, (list, tuple, Array)) for item in items)


def list_index(s: Specialiser, items: Any) -> Any:
    if not has_dynamic(items):
        array = np.asarray(items)
        return s.wrap(s.constant(array if array.size else array.astype(np.intp)))
    return s.as_array(items)


def bound(s: Specialiser, value: Any, node: Any) -> Any:
    if value is None or isinstance(value, int):
        return value
    if isinstance(value, np.integer):
        return int(value)
    if is_dynamic(value) and s.type(value).dtype.kind in "iu" and not s.type(value).shape:
        return s.operand(value)
    raise s.located(TypeError("slice indices must be integers or None or have an __index__ method"), node)


def check_bounds(s: Specialiser, index: Any, size: Any, axis: int, node: Any) -> None:
    """See to it that an integer index is in range: now if that can be known, else at run time."""
    builder = s.builder
    if isinstance(index, int):
        if isinstance(size, int):
            if not -size <= index < size:
                if s.quiet and len(builder.scopes) > 1:  # a rule's, perhaps on a path that is not taken
                    builder.emit(PRIMITIVES["check_index"], index, size, axis=axis)
                    return
                text = f"index {index} is out of bounds for axis {axis} with size {size}"
                raise s.located(IndexError(text), node)
            return
        bound_below = builder.lower_bound(size) or 0
        if -bound_below <= index < bound_below:
            return
    elif not isinstance(index, Variable) or in_range(s, index, size):
        return
    builder.emit(PRIMITIVES["check_index"], index, size, axis=axis)


def in_range(s: Specialiser, index: Variable, size: Any) -> bool:
    """Whether 0 <= index < size is known: for what is worked out from loop counters."""
    low = least(s.builder, linear_form(s.builder, index))
    if low is None or low < 0:
        return False
    room = least(s.builder, below_bounds(s.builder, difference(s.builder, size, index)))
    return room is not None and room > 0


def below_bounds(builder: Any, form: tuple[dict[Variable, int], int]) -> tuple[dict[Variable, int], int]:
    """A linear form that is nowhere larger, without the loop counters that are subtracted."""
    terms, total = dict(form[0]), form[1]
    done: set[Variable] = set()
    while counters := [v for v, factor in terms.items() if factor < 0 and v not in done
                       and builder.upper_bounds.get(v) is not None]:  # fmt: skip
        done.add(counters[0])
        factor = terms.pop(counters[0])
        own, constant = linear_form(builder, builder.upper_bounds[counters[0]])
        for variable, times in own.items():
            terms[variable] = terms.get(variable, 0) + factor * times
        total += factor * (constant - 1)
    return {v: c for v, c in terms.items() if c}, total


__all__ = ["ViewStep", "canonical_index", "check_bounds", "delete_item", "get_item", "is_basic", "set_item"]
