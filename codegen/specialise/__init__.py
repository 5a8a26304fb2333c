"""From a function of the user's to a core program: a partial evaluator over its syntax tree.

>>> import numpy as np
>>> from ..core import ArrayType
>>> from ..parse import parse_text
>>> f = parse_text("def f(x):\\n    for k in range(3):\\n        x = x * x\\n    return x")
>>> done = specialise(f, [Parameter(ArrayType(np.dtype(float), (None,)), "x")])
>>> [type(statement).__name__ for statement in done.program.body.statements]
['Assign', 'For']
"""
from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gast
import numpy as np

from .. import compositions, primitives
from ..build import Builder
from ..core import INT, ArrayType, Assign, Block, Program, Variable, type_of
from ..errors import Location, UnsupportedError
from ..key_reuse import report, without_marks
from ..least_size import least_size
from ..registry import PRIMITIVES
from ..small_operations import SMALL
from .assignment import assign
from .attributes import get_attribute
from .branches import branch
from .calls import call, call_quietly, evaluate_call
from .control import truth
from .expressions import EXPRESSIONS, evaluate
from .external import Capture, Externals, Guard, known_sizes
from .growing import contains_growing
from .indexing import get_item, set_item
from .iteration import elements
from .library import call_native
from .machine import BranchEnds, NeedStatic, NotGrowing, Specialiser, Unroll
from .merge import Leaf, is_record, make_record, put_together, take_apart
from .nodes import build_node, is_node, open_node
from .operators import as_array, binary
from .statements import run
from .values import Array, Cell, Conflict, Text

EXPRESSIONS[gast.Call] = evaluate_call
for part in (
    assign,
    as_array,
    binary,
    branch,
    call,
    call_native,
    call_quietly,
    elements,
    evaluate,
    get_attribute,
    get_item,
    run,
    set_item,
    truth,
):
    setattr(Specialiser, part.__name__, part)
assert primitives and compositions


# Python's own limit is for programs that recurse by mistake; each call of the user's takes a dozen of ours.
DEEP = 30_000


@dataclass(slots=True)
class Parameter:
    """An argument known only at run time: its type (sizes None where they are not part of the signature).

    `value`, if given, is an integer's value, which is then known after all. `position` is its place among the
    program's parameters (by default, after those before it). `shape` is an array's shape in this call: small
    sizes may be asked for (know_few).
    """

    type: ArrayType
    name: str | None = None
    contiguous: bool = True
    value: int | None = None
    position: int | None = None
    shape: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Write:
    """Where a parameter is written, and the parameters that would then show it, did they share memory."""

    place: Location | None
    readers: tuple[int, ...]


@dataclass(slots=True)
class Specialised:
    """A core program, and what the caller must know to call it (`modules`, `lasting`: see Externals)."""

    program: Program
    template: Any
    captures: list[Capture]
    guards: list[Guard]
    written: list[int] = field(default_factory=list)
    writes: dict[int, Write] = field(default_factory=dict)
    modules: list[tuple[Callable[[], Any], Any]] = field(default_factory=list)
    lasting: bool = True


def specialise(function: Any, arguments: list[Any], keywords: dict[str, Any] | None = None,
               name: str | None = None, exact: bool = False) -> Specialised:
    """The core program of `function` for arguments of these types.

    `arguments` and `keywords` are values with `Parameter` wherever an array or scalar is known only at run
    time. The program's parameters are these, in order, then the captures. Its results are the leaves of
    what the function returns (template holds the rest), then the contents of the parameters it writes to.
    With `exact`, the sizes of captured arrays are known.
    """
    return Specialisation(exact).run(function, arguments, keywords or {}, name)


class Specialisation:
    """One run of the specialiser over a whole function."""

    def __init__(self, exact: bool = False):
        self.exact = exact
        self.builder = Builder(Block())
        self.builder.compared = self.know_few
        self.parameters: dict[int, Variable] = {}
        self.captured: list[Variable] = []
        self.cells: dict[int, Cell | None] = {}
        self.externals = Externals(self.capture)
        self.s = Specialiser(self.builder, self.externals)

    def know_few(self, size: Variable, few: int) -> None:
        """Make sizes of parameters that are small numbers, in a loop, part of the signature.

        They are those from which a size is computed that can only be a small number. What has so few elements
        is numbers there (small_arrays.py).
        """
        if len(self.builder.scopes) == 1 or not 1 < few <= SMALL:
            return
        roots, pins = self.s.origins(size)
        small = all(self.externals.sizes.get(pin, few) <= SMALL for pin in pins)
        sizes = all(isinstance(where, int) and axis is not None for where, axis in pins)
        if pins and not roots and small and sizes:
            message = f"a size must be known before the function runs, and can only be {few}"
            raise NeedStatic(frozenset(pins), UnsupportedError(message, location=self.builder.location))

    def run(
        self, function: Any, arguments: list[Any], keywords: dict[str, Any], name: str | None
    ) -> Specialised:
        given = self.exact, function, arguments, keywords, name
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, DEEP))
        try:
            return self.specialised(function, arguments, keywords, name)
        except NotGrowing as misuse:
            return specialised_again(misuse.error, *given, growing=False)
        except UnsupportedError as refusal:
            if not getattr(refusal, "could_be_table", False):
                raise
            return specialised_again(refusal, *given, tables={})
        finally:
            sys.setrecursionlimit(limit)

    def specialised(self, function: Any, arguments: list[Any], keywords: dict[str, Any],
                    name: str | None) -> Specialised:
        self.s.compiled = getattr(function, "jitted", False)
        values = [self.enter(a) for a in arguments]
        named = {key: self.enter(a) for key, a in keywords.items()}
        try:
            result = call(self.s, function, values, named, None)
        except Unroll as need:
            raise need.error from None
        except BranchEnds:
            result = None
        if contains_growing(result):
            raise NotGrowing(UnsupportedError("returning a list whose length is known only at run time",
                                              "return np.array of the list", self.s.returned))
        self.refuse_open(result)
        leaves: list[Any] = []
        template = take_apart(self.brought_in(result), leaves)
        results = [self.s.operand(leaf) for leaf in leaves]
        written = [k for k, cell in sorted(self.cells.items(), key=lambda item: item[0])
                   if cell is not None and cell.value is not self.parameters[k]]
        results += [self.cells[k].value for k in written]
        self.builder.block.results = tuple(results)
        parameters = (self.parameters[k] for k in sorted(self.parameters))
        program = Program(name or function_name(function), (*parameters, *self.captured), self.builder.block)
        if report(program):
            self.externals.lasting = False
        program.body = without_marks(program.body)
        return Specialised(
            program,
            template,
            self.externals.captures,
            self.externals.guards,
            written,
            self.writes(),
            self.externals.modules,
            self.externals.lasting,
        )

    def writes(self) -> dict[int, Write]:
        """The parameters that are written: a derivative writes to copies, of what the function is given."""
        cells = {k: cell for k, cell in self.cells.items() if cell is not None}
        copied = tuple(k for k, cell in cells.items() if cell.copied)
        return {
            k: Write(cell.writes[0], tuple(cells) if cell.value is not self.parameters[k] else copied)
            for k, cell in cells.items()
            if cell.writes
        }

    def refuse_open(self, value: Any) -> None:
        """Refuse a result that has no one value, or is text made at run time."""
        if isinstance(value, Conflict):
            raise UnsupportedError(f"the result {value.reason}",
                                   "let both branches return the same kind of value", self.s.returned)
        if isinstance(value, Text):
            raise UnsupportedError("returning a string that depends on values known only at run time",
                                   "return the numbers, and format them outside", self.s.returned)
        for item in value.values() if type(value) is dict else value if type(value) in (tuple, list) else ():
            self.refuse_open(item)

    def brought_in(self, value: Any) -> Any:
        """A result, in which the arrays of objects from outside are fetched again at each call."""
        if type(value) in (tuple, list):
            return type(value)(map(self.brought_in, value))
        if type(value) is dict:
            return {key: self.brought_in(item) for key, item in value.items()}
        if is_record(value) and not is_node(value) and not self.s.is_internal(value):
            fields = {f.name: self.brought_in(get_attribute(self.s, value, f.name, None))
                      for f in dataclasses.fields(value)}
            return make_record(type(value), fields)
        if is_node(value) and not self.s.is_internal(value):
            children, metadata = open_node(value)
            fetched = [self.externals.bring_in(child, lambda child=child: child, None)
                       if isinstance(child, np.ndarray) else self.brought_in(child) for child in children]
            return build_node(type(value), metadata, fetched)
        return value

    def enter(self, value: Any) -> Any:
        """An argument as a value: each Parameter in it becomes a parameter of the program."""
        if isinstance(value, Parameter):
            position = len(self.parameters) if value.position is None else value.position
            variable, made = self.parameter(value, position)
            self.parameters[position] = variable
            cell = made.cell if isinstance(made, Array) else None
            if cell is not None:
                cell.parameter = True
            self.cells[position] = cell
            return made if value.value is None else value.value
        if is_node(value):
            children, metadata = open_node(value)
            return self.s.store.new(build_node(type(value), metadata, list(map(self.enter, children))))
        if type(value) in (tuple, list):
            return type(value)(map(self.enter, value))
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(self.enter, value))
        if type(value) is dict:
            return {key: self.enter(item) for key, item in value.items()}
        if is_record(value):
            fields = {f.name: self.enter(getattr(value, f.name)) for f in dataclasses.fields(value)}
            return self.s.store.new(make_record(type(value), fields))
        return value

    def parameter(self, of: Parameter, position: int | None) -> tuple[Variable, Any]:
        variable = Variable(of.name, of.type)
        sizes: list[Any] = []
        for axis, size in enumerate(of.type.shape):
            if size is None:
                size = Variable(None, INT)
                self.builder.scopes[0].block.statements.append(size_statement(size, variable, axis))
                self.builder.definitions[size] = self.builder.scopes[0].block.statements[-1]
                self.builder.lower_bounds[size] = least_size()
                pin = (position if position is not None else variable, axis)
                self.externals.pins[size] = pin
                if of.shape:
                    self.externals.sizes[pin] = of.shape[axis]
            sizes.append(size)
        variable.type = of.type.with_shape(tuple(sizes)) if sizes else of.type
        if of.type.weak and of.type.dtype.kind in "bi" and position is not None:
            self.externals.pins[variable] = (position, None)
        made = Array(Cell(variable, of.contiguous or None)) if sizes else variable
        return variable, made

    def capture(self, value: Any, name: str | None) -> tuple[Variable, Any]:
        of = Parameter(
            type_of(value) if self.exact else known_sizes(value),
            name,
            getattr(getattr(value, "flags", None), "c_contiguous", True),
        )
        variable, made = self.parameter(of, None)
        self.captured.append(variable)
        if isinstance(made, Array):
            made.cell.ambiguous = "it exists outside of the function"
        return variable, made


def specialised_again(
    refusal: UnsupportedError,
    exact: bool,
    function: Any,
    arguments: list[Any],
    keywords: dict[str, Any],
    name: str | None,
    **how: Any,
) -> Specialised:
    """Specialise in another way, or say what could not be done in the first."""
    again = Specialisation(exact)
    for setting, value in how.items():
        setattr(again.s, setting, value)
    try:
        return again.specialised(function, arguments, keywords, name)
    except (UnsupportedError, NotGrowing):
        raise refusal from None


def size_statement(size: Variable, array: Variable, axis: int) -> Any:
    return Assign((size,), PRIMITIVES["size"], (array,), {"axis": axis}, None)


def function_name(function: Any) -> str:
    name = getattr(function, "__name__", None) or type(function).__name__
    return "function" if name == "<lambda>" else name


def inline(
    builder: Builder,
    function: Callable,
    operands: tuple,
    static: dict[str, Any] | None = None,
    infinite: bool = False,
) -> Any:
    """Read a Python function (a derivative rule, say) into the open block; the operands of its result.

    `infinite`: a division of Python's numbers by zero is infinite, as of NumPy's.
    """
    s = Specialiser(builder)
    s.quiet = 1
    s.infinite = infinite
    values = [as_value(s, operand) for operand in operands]
    result = call(s, function, values, dict(static or {}), None)
    return as_operands(s, result)


def as_value(s: Specialiser, operand: Any) -> Any:
    if isinstance(operand, (tuple, list)):
        return type(operand)(as_value(s, item) for item in operand)
    return s.wrap(operand) if isinstance(operand, Variable) else operand


def as_operands(s: Specialiser, value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return tuple(as_operands(s, item) for item in value)
    return value if value is None else s.operand(value)


__all__ = ["Leaf", "NeedStatic", "Parameter", "Specialised", "inline", "put_together", "specialise"]
