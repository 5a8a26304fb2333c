"""The state of one specialisation: the program so far, memory, and where in the user's code we are."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import core
from ..build import Builder
from ..core import ArrayType, Variable, type_of
from ..errors import ChainruleError, UnsupportedError, location_of
from ..errors import Location as SourceLocation
from ..parse import Source
from ..registry import PRIMITIVES, Primitive, array_scalar
from .store import Frame, Location, Store
from .values import (
    UNDEFINED,
    Array,
    Cell,
    Conflict,
    Maybe,
    ViewStep,
    has_dynamic,
    is_dynamic,
    keeps_order,
    may_be_zero_dimensional,
)


class NeedStatic(Exception):
    """A value must be known: specialise again with these parameters' sizes or values known.

    `pins` is a set of (parameter variable, axis), axis None for the value of an integer parameter.
    """

    def __init__(self, pins: frozenset, error: UnsupportedError):
        super().__init__(pins)
        self.pins = pins
        self.error = error


VIEW_OF_NUMBER = "it is a view of what may be a 0-d array, which is a number here"


class Unroll(Exception):
    """The loop being tried needs its iterations one by one."""

    def __init__(self, reason: str, error: UnsupportedError):
        super().__init__(reason)
        self.reason = reason
        self.error = error


class NotGrowing(Exception):
    """A list that grew in a loop is used as only a list of known length can be."""

    def __init__(self, error: UnsupportedError):
        super().__init__(str(error))
        self.error = error


class BranchEnds(Exception):
    """The path being specialised ends in an exception of the user's."""


class Specialiser:
    """Runs a function's syntax tree on values known and unknown, and emits the operations on the unknown."""

    # The parts of the specialiser need one another in a circle; __init__.py makes them methods.
    assign: Callable[..., None]
    as_array: Callable[..., Any]
    binary: Callable[..., Any]
    branch: Callable[..., Any]
    call: Callable[..., Any]
    call_native: Callable[..., Any]
    call_quietly: Callable[..., Any]
    elements: Callable[..., Any]
    evaluate: Callable[..., Any]
    get_attribute: Callable[..., Any]
    get_item: Callable[..., Any]
    run: Callable[..., Any]
    set_item: Callable[..., None]
    truth: Callable[..., Any]

    def __init__(self, builder: Builder | None = None, externals: Any = None):
        self.builder = builder or Builder()
        self.store = Store()
        self.sources: list[Source | None] = []
        self.loops: list[set[Variable]] = []
        self.externals = externals
        self.quiet = 0
        self.calls = 0
        self.axes: list[Any] = []
        self.uncertain = 0
        self.tests: list[Any] = []
        self.frames: list[Frame] = []
        self.diagonal = False
        # Twice the number of derivatives taken of what is emitted, and one more where it is transposed only.
        self.differentiating = 0
        self.growing = True
        self.tables: dict[Any, Variable] | None = None
        self.infinite = False
        self.compiled = False  # what is emitted will be
        self.returned: SourceLocation | None = None

    # where we are

    @contextlib.contextmanager
    def at(self, node: Any):
        """Statements emitted within serve this node of the user's."""
        if self.quiet or not self.sources:
            yield
            return
        before = self.builder.location
        self.builder.location = self.location(node)
        try:
            yield
        except Exception as error:
            self.located(error, node)
            raise
        finally:
            self.builder.location = before

    def location(self, node: Any) -> SourceLocation | None:
        if self.quiet or node is None:
            return self.builder.location
        return location_of(node, self.sources[-1])

    def unsupported(self, what: str, remedy: str | None = None, node: Any = None) -> UnsupportedError:
        return UnsupportedError(what, remedy, self.location(node))

    # values and operands

    def emit(self, name: str | Primitive, *operands: Any, **static: Any) -> Any:
        """Emit a primitive on values, and return its result as a value."""
        primitive = PRIMITIVES[name] if isinstance(name, str) else name
        result = self.builder.emit(primitive, *map(self.operand, operands), **static)
        ordered = all(self.ordered(value) for value in operands)
        wrap = lambda r: self.wrap(r, ordered and not primitive.view)
        made = tuple(map(wrap, result)) if isinstance(result, tuple) else wrap(result)
        if primitive.view and isinstance(made, Array) and may_be_zero_dimensional(self, operands[0]):
            made.cell.ambiguous = VIEW_OF_NUMBER
        return made

    def wrap(self, result: Any, contiguous: bool = True) -> Any:
        """A core result as a value: arrays get a cell of their own."""
        if isinstance(result, Variable) and isinstance(result.type, ArrayType) and result.type.shape:
            return Array(Cell(result, contiguous or None, self.store.depth))
        return result

    def operand(self, value: Any) -> Any:
        """A value as an operand: arrays are read, containers are read through."""
        if isinstance(value, Array):
            return self.read(value)
        if isinstance(value, (tuple, list)):
            return tuple(map(self.operand, value))
        if isinstance(value, slice):
            return slice(*map(self.operand, (value.start, value.stop, value.step)))
        if isinstance(value, np.ndarray):
            return self.constant(value)
        if isinstance(value, (Maybe, Conflict)):
            return self.operand(self.defined(value, "value"))
        return value

    def constant(self, array: np.ndarray) -> Any:
        """An array computed while specialising, as part of the program."""
        if array.ndim == 0:
            return array[()]
        return self.builder.emit(PRIMITIVES["constant"], value=array)

    def number(self, value: Any) -> bool:
        """Whether a value is an array or a number, known or not."""
        return is_dynamic(value) or array_scalar(value) or isinstance(value, np.ndarray)

    def type(self, value: Any) -> ArrayType:
        """The core type of an array or number."""
        return type_of(self.operand(value))

    def shape(self, value: Any) -> tuple:
        return tuple(map(self.builder.representative, self.type(value).shape))

    def ordered(self, value: Any) -> bool:
        """Whether NumPy would keep C order in a result computed from this value."""
        if isinstance(value, (tuple, list)):
            return all(map(self.ordered, value))
        if not isinstance(value, Array):
            return True
        return value.cell.contiguous is True and not any(s.primitive.name == "transpose" for s in value.path)

    def contiguous(self, array: Array) -> bool | None:
        """Whether an array is C-contiguous: True, or None where it may not be."""
        return array.cell.contiguous if all(map(keeps_order, array.path)) else None

    # memory

    def read(self, array: Array) -> Any:
        """The current contents of an array, as a core variable."""
        value = array.cell.value
        for step in array.path:
            value = self.builder.emit(step.primitive, value, *step.operands, **step.static)
        return value

    def write(self, array: Array, new: Any, node: Any = None) -> None:
        """Replace the whole contents of an array (of the same shape and dtype), in the base of its view."""
        cell = array.cell
        if cell.ambiguous:
            raise self.refuse_write(cell, node)
        if not all(step.writable for step in array.path):
            raise self.located(ValueError("assignment destination is read-only"), node)
        self.note_write(cell, node)
        contents = [cell.value]
        for step in array.path:
            contents.append(self.builder.emit(step.primitive, contents[-1], *step.operands, **step.static))
        for step, base in zip(reversed(array.path), reversed(contents[:-1]), strict=True):
            new = self.write_back(step, base, new, node)
        if isinstance(new, Variable) and new.name is None and isinstance(cell.value, Variable):
            new.name = cell.value.name
        self.store.write(Location("cell", cell), new)

    def note_write(self, cell: Cell | None, node: Any) -> None:
        """Note where an array is written first, and what it is a copy of."""
        while cell is not None and not cell.writes:
            cell.writes.append(self.location(node))
            cell = cell.origin

    def refuse_write(self, cell: Cell, node: Any) -> Exception:
        error = self.unsupported(f"this array is written in place, but {cell.ambiguous}",
                                 "copy the array before writing to it", node)
        found = [self.origins(size) for size in cell.sizes]
        pins = {pin for _, pins in found for pin in pins}
        return NeedStatic(frozenset(pins), error) if pins and not any(roots for roots, _ in found) else error

    def write_back(self, step: ViewStep, base: Variable, new: Any, node: Any) -> Any:
        """The contents of `base` after its view by `step` became `new`."""
        match step.primitive.name:
            case "getitem":
                return self.builder.emit(PRIMITIVES["setitem"], base, step.operands[0], new)
            case "reshape":
                return self.builder.emit(PRIMITIVES["reshape"], new, base.type.shape)
            case "transpose":
                axes = step.static["axes"]
                inverse = tuple(axes.index(k) for k in range(len(axes)))
                return self.builder.emit(PRIMITIVES["transpose"], new, axes=inverse)
            case "real" | "imag" as part:
                emit = lambda name, *operands: self.builder.emit(PRIMITIVES[name], *operands)
                other = emit("imag" if part == "real" else "real", base)
                real, imaginary = (new, other) if part == "real" else (other, new)
                return emit("add", real, emit("multiply", imaginary, 1j))
        raise self.unsupported(f"writing through a view made by {step.primitive.name}",
                               "write to the array itself", node)

    def view(
        self, array: Array, primitive: Primitive, *operands: Any, writable: bool = True, **static: Any
    ) -> Any:
        """A view of an array by one more operation; 0-d results are scalars."""
        step = ViewStep(primitive, tuple(map(self.operand, operands)), static, writable)
        seen = Array(array.cell, (*array.path, step))
        contents = self.read(seen)
        return seen if type_of(contents).shape else contents

    # known and unknown

    def static_int(self, value: Any, what: str, node: Any = None) -> int:
        """An integer that must be known now; where it depends on sizes, these are asked for."""
        if isinstance(value, (bool, int, np.integer)):
            return int(value)
        raise self.need_static(value, what, node)

    def need_static(self, value: Any, what: str, node: Any = None, remedy: str | None = None) -> Exception:
        """The exception to raise where `value` must be known: Unroll, NeedStatic or a refusal."""
        remedy = remedy or "make it an argument that is a Python int, or a static argument"
        text = f"{what} must be known before the function runs, and depends on its data"
        error = self.unsupported(text, remedy, node)
        if isinstance(value, Conflict):
            error = self.unsupported(f"{what} must be known before the function runs: here it {value.reason}",
                                     "write the two cases out in the branches of an if statement", node)
            return Unroll(value.reason, error) if any(self.loops) else error
        if not isinstance(value, (Variable, Array)):
            return self.unsupported(f"{what} cannot be a {type(value).__name__}", None, node)
        roots, pins = self.origins(self.operand(value))
        for indices in reversed(self.loops):
            if roots & indices:
                return Unroll(what, error)
        if pins and not roots:
            return NeedStatic(frozenset(pins), error)
        return error

    def origins(self, variable: Variable) -> tuple[set[Variable], set]:
        """What a value was computed from: variables not defined here, and sizes and ints of parameters."""
        roots: set[Variable] = set()
        pins: set = set()
        pending, seen = [variable], set()
        while pending:
            one = pending.pop()
            if one in seen:
                continue
            seen.add(one)
            if self.externals is not None and one in self.externals.pins:
                pins.add(self.externals.pins[one])
            elif one in self.builder.definitions:
                inputs = list(core.variables_in(self.builder.definitions[one].operands))
                pending.extend(inputs)
                if not inputs:
                    roots.add(one)
            else:
                roots.add(one)
        return roots, pins

    def defined(self, value: Any, name: str, node: Any = None) -> Any:
        """A value that may be read: assigned (checked at run time), and one value."""
        if isinstance(value, Conflict):
            raise self.conflict(value, name, node)
        if isinstance(value, Maybe):
            message = f"cannot access local variable '{name}' where it is not associated with a value"
            self.emit("check", value.defined, exception="UnboundLocalError", message=message)
            return self.defined(value.value, name, node)
        return value

    def conflict(self, value: Conflict, name: str, node: Any) -> Exception:
        error = self.unsupported(f"'{name}' {value.reason}",
                                 "let both branches give it the same kind of value", node)
        return Unroll(value.reason, error) if any(self.loops) else error

    # the world outside

    def outside(self, fetch: Any, name: str, quiet: bool) -> Any:
        """Something read by name or attribute from outside of the function."""
        value = fetch()
        if quiet or self.externals is None:
            return value
        return self.externals.bring_in(value, fetch, name)

    def imported(self, value: Any, fetch: Any = None) -> Any:
        """A value found inside something from outside; library modules do not change."""
        if self.quiet or self.externals is None:
            return value
        return self.externals.bring_in(value, fetch, None, few=False)

    def guard(self, key: Any, fetch: Any, expected: Any) -> None:
        """The program holds for as long as `fetch` gives this very object."""
        if self.externals is not None and not self.quiet:
            self.externals.watch(key, fetch, expected)

    def default(self, value: Any) -> Any:
        """The default value of a parameter."""
        return self.imported(value)

    def is_internal(self, container: Any) -> bool:
        """Whether a container or object was made by the function itself, and so may be written."""
        return id(container) in self.store.alive

    def located(self, error: Exception, node: Any) -> Exception:
        """An exception that also says where in the user's code it happened."""
        if isinstance(error, ChainruleError) and error.location is None and not self.quiet:
            error.location = self.location(node)
            error.args = (error.what, error.remedy, error.location)
        known = getattr(error, "located", False) or hasattr(error, "remedy")
        if known or self.quiet or isinstance(error, (NeedStatic, Unroll, NotGrowing, BranchEnds)):
            return error
        where = self.location(node)
        if where is not None:
            error.add_note(f"{where}")
            error.located = True
        return error

    def write_container(self, container: Any, contents: Any, node: Any) -> None:
        """Replace the contents of a dictionary or set."""
        self.check_container(container, node)
        if not self.is_internal(container) and not self.quiet:
            raise self.unsupported(
                f"changing a {type(container).__name__} that exists outside of the function",
                "make a copy inside the function, and return it",
                node,
            )
        if isinstance(container, set):
            self.store.write(Location("set", container), frozenset(contents))
            return
        for key in [key for key in container if key not in contents]:
            self.store.write(Location("item", container, key), UNDEFINED)
        for key, value in contents.items():
            if container.get(key, UNDEFINED) is not value:
                self.store.write(Location("item", container, key), value)

    def check_container(self, container: Any, node: Any) -> None:
        """Refuse writing to a list, dictionary or object that may or may not be another one too."""
        known = self.store.ambiguous.get(id(container))
        if known is not None and known is container:
            raise self.unsupported(
                f"this {type(container).__name__} is changed, but a condition or loop known only at run time "
                "decides which other names share it",
                "make a copy before changing it",
                node,
            )

    def write_list(self, container: list, items: list, node: Any) -> None:
        """Replace the items of a list."""
        self.check_container(container, node)
        if not self.is_internal(container) and not self.quiet:
            raise self.unsupported("changing a list that exists outside of the function",
                                   "make a copy with list(...), and return it", node)
        self.store.write(Location("list", container), tuple(items))

    def hashable(self, key: Any, node: Any) -> Any:
        """A key of a dictionary or set: it must be known."""
        if has_dynamic(key):
            raise self.need_static(key, "a key of a dictionary or set", node)
        return key


__all__ = ["BranchEnds", "Frame", "NeedStatic", "Specialiser", "Unroll", "has_dynamic"]
