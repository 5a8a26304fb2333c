"""Lower: from the loop program to operations that Numba has, and means the same by.

Scalar arithmetic gets its dtypes written out (elementwise.py), products go to BLAS, checks name the
user's line, and what Numba cannot do becomes a call of the library (library.py).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from ...codegen.core import (
    INT,
    ArrayType,
    Assign,
    Block,
    For,
    If,
    Operand,
    Program,
    Statement,
    Variable,
    While,
    operands_of,
    type_of,
    variables_in,
    walk,
)
from ...codegen.errors import UnsupportedError
from ...codegen.expand import Expander
from ...codegen.parts import Facts
from ...codegen.registry import PRIMITIVES
from . import elementwise, forms
from .contiguity import contiguous_in
from .library import SMALL, Calls, read
from .loop_matrices import LoopMatrices
from .waiting import one_at_a_time, sums, waiting

RULES: dict[str, Callable[[Lowering, Assign], Operand | None]] = {}  # noqa: F821
# These print for Numba as they do for NumPy.
SAME = frozenset(
    {"size", "arange", "transpose", "broadcast_to", "nonzero", "count_nonzero", "stack", "pop",
     "row"}
)
# These have no scalar form in Numba: they are called on whole arrays.
LIBRARY = frozenset(
    {"erfcx", "erfinv", "erfcinv", "gamma", "beta", "betaln", "log_ndtr", "ndtri", "i0", "i1", "i0e",
     "i1e", "iv", "ive", "j0", "j1", "jv", "polygamma"}
)


def in_library(statement: Assign) -> bool:
    """Whether an operation has no form on scalars in Numba, so that it is called on whole arrays."""
    name = statement.primitive.name
    ordered = name in ("less", "less_equal", "greater", "greater_equal")
    lowerings = statement.primitive.lowerings
    registered = "numpy" in lowerings and "numba" not in lowerings
    complex_order = ordered and any(type_of(o).dtype.kind == "c" for o in statement.operands)
    return name in LIBRARY or registered or complex_order


def require_dtypes(program: Program) -> None:
    """Refuse the dtypes that Numba's arrays do not have."""
    for statement in walk(program.body):
        for variable in (*program.parameters, *statement.targets, *variables_in(operands_of(statement))):
            dtype = getattr(variable.type, "element", variable.type).dtype
            if dtype.char in "egG":
                raise UnsupportedError(
                    f"compiled code has no {dtype}",
                    "use float32 or float64, or do not compile",
                    statement.location,
                )


def rule(*names: str) -> Callable:
    """Enter the lowering of primitives: it gives the results, or None where the statement stays."""

    def enter(function):
        RULES.update(dict.fromkeys(names, function))
        return function

    return enter


def lower(program: Program) -> tuple[Program, Calls]:
    """The program in Numba's terms, and the library calls it makes."""
    require_dtypes(program)
    lowering = Lowering(contiguous_in(program.body), Facts(program.body), LoopMatrices(program))
    shapes = [getattr(p.type, "shape", ()) for p in program.parameters]
    lowering.sizes.update(variables_in(shapes))
    return Program(program.name, program.parameters, lowering.block(program.body)), lowering.calls


class Lowering(Expander):
    """Rewrites every statement that Numba would read otherwise."""

    def __init__(self, contiguous: set[Variable], facts: Facts, matrices: LoopMatrices):
        super().__init__(RULES)
        self.contiguous, self.facts, self.matrices = contiguous, facts, matrices
        # In a loop: what is multiplied in place of matrices.
        self.ready: dict[Variable, Variable] | None = None
        self.rows: dict[tuple[int, Variable], Variable] = {}
        self.calls = Calls()
        self.sizes: set[Variable] = set()  # of arguments: at least 2
        # In an innermost loop: what each round gets from the one before.
        self.waiting: frozenset[Variable] | None = None
        self.sums: frozenset[Variable] = frozenset()
        # Whether its rounds run one at a time.
        self.serial = False

    def rule(self, statement: Assign) -> Callable | None:
        primitive = statement.primitive
        if PRIMITIVES.get(primitive.name) is not primitive or primitive.name in SAME:
            return None
        if primitive.name in RULES:
            return RULES[primitive.name]
        if "numba" in primitive.lowerings:
            return registered_lowering
        scalar = all(not getattr(t.type, "shape", ()) for t in statement.targets)
        if primitive.elementwise and scalar and not in_library(statement):
            return lower_scalar
        return library_call

    def alias(self, target: Variable, value: Operand) -> None:
        dtype = target.type.dtype
        value = elementwise.cast(self, value, dtype)
        self.builder.append(
            Assign((target,), forms.cast, (value,), {"dtype": dtype, "source": dtype}, self.builder.location)
        )

    def statement(self, statement: Statement) -> None:
        if isinstance(statement, (For, While)):
            initial = self.settled(statement.initial, statement.carried)
            statement = dataclasses.replace(statement, initial=initial)
            if self.ready is None:
                self.ready = {matrix: self.aligned(matrix) for matrix in self.matrices.of(statement)}
                self.statement(statement)
                self.ready = None
                return
        match statement:
            case If():
                test = elementwise.cast(self, statement.test, bool)
                statement = dataclasses.replace(
                    statement,
                    test=test,
                    body=self.ended(statement.body, statement.targets),
                    orelse=self.ended(statement.orelse, statement.targets),
                )
                self.builder.append(statement)
            case For():
                outer = self.waiting, self.sums, self.serial
                self.waiting, self.sums = waiting(statement), sums(statement)
                self.serial = one_at_a_time(statement, self.sums, self.facts)
                body = self.ended(statement.body, statement.carried)
                self.waiting, self.sums, self.serial = outer
                self.builder.append(dataclasses.replace(statement, body=body))
            case While():
                outer, self.waiting = self.waiting, None
                test = Variable(None, ArrayType(np.dtype(bool), (), True))
                body = self.ended(statement.body, statement.carried)
                self.builder.append(
                    dataclasses.replace(statement, test=self.ended(statement.test, (test,)), body=body)
                )
                self.waiting = outer
            case _:
                super().statement(statement)

    def aligned(self, matrix: Variable) -> Variable:
        """A matrix as loops multiply by it; the same for all loops of a block."""
        place = id(self.builder.block), matrix
        if place not in self.rows:
            self.rows[place] = rows = self.assign(forms.aligned, matrix.type, matrix)
            rows.name = f"{matrix.name}_rows"
            self.contiguous.add(rows)
        return self.rows[place]

    def ended(self, block: Block, targets: tuple[Variable, ...]) -> Block:
        """A block whose results have the dtypes of the variables that they become."""
        made = Block()
        with self.builder.inside(made):
            for statement in block.statements:
                self.statement(statement)
            made.results = self.settled(block.results, targets)
        return made

    def settled(self, operands: tuple[Operand, ...], targets: tuple[Variable, ...]) -> tuple[Operand, ...]:
        scalar = lambda target: isinstance(target.type, ArrayType) and not target.type.shape
        return tuple(
            elementwise.cast(self, operand, target.type.dtype) if scalar(target) else operand
            for operand, target in zip(operands, targets, strict=True)
        )


def registered_lowering(to: Lowering, statement: Assign) -> Operand | tuple:
    """A call of the compiled function that a user registered."""
    primitive = statement.primitive
    function = forms.form(primitive.name, primitive.lowerings["numba"])
    targets = tuple(Variable(t.name, t.type) for t in statement.targets)
    to.builder.append(Assign(targets, function, statement.operands, statement.static, statement.location))
    return targets


def lower_scalar(to: Lowering, statement: Assign) -> Operand | None:
    result = elementwise.lower(to, statement)
    return library_call(to, statement) if result is None else result


def library_call(to: Lowering, statement: Assign) -> Operand | tuple | None:
    """A call of the library, through Python."""
    function = to.calls.function(statement)
    targets = tuple(Variable(t.name, t.type) for t in statement.targets)
    to.builder.append(Assign(targets, function, read(statement), {}, statement.location))
    return targets


def contiguous(to: Lowering, array: Operand) -> Operand:
    """An array whose elements follow each other in memory."""
    return array if array in to.contiguous else to.assign(forms.contiguous, type_of(array), array)


def factor(to: Lowering, array: Operand) -> Operand:
    """An operand of a product, as BLAS reads it: contiguous, or a contiguous array transposed."""
    ready = to.ready or {}
    array, turning = ready.get(array, array), to.transposed.get(array)
    if turning is None or tuple(turning.static["axes"]) != (1, 0):
        return contiguous(to, array)
    (turned,) = (ready.get(operand, operand) for operand in turning.operands)
    return array if turned in to.contiguous else to.emit("transpose", contiguous(to, turned), axes=(1, 0))


@rule("matmul")
def matmul(to: Lowering, statement: Assign) -> Operand | None:
    """A product of vectors and matrices of one inexact dtype: BLAS."""
    a, b = statement.operands
    if max(a.type.ndim, b.type.ndim) > 2 or a.type.dtype != b.type.dtype or a.type.dtype.char not in "fdFD":
        return library_call(to, statement)
    return to.assign(forms.dot, statement.targets[0].type, factor(to, a), factor(to, b))


@rule(*SMALL)
def of_matrices(to: Lowering, statement: Assign) -> Operand:
    """A function of matrices, compiled for contiguous ones only."""
    arrays = (contiguous(to, o) if getattr(type_of(o), "shape", ()) else o for o in statement.operands)
    return library_call(to, dataclasses.replace(statement, operands=tuple(arrays)))


@rule("matmul_into")
def matmul_into(to: Lowering, statement: Assign) -> Operand:
    array, index, a, b = statement.operands
    return to.assign(statement.primitive, array.type, array, index, factor(to, a), factor(to, b))


@rule("reshape")
def reshape(to: Lowering, statement: Assign) -> Operand:
    array, shape = statement.operands
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    of = type_of(array)
    if not of.shape:
        array = to.assign(
            forms.cast, of, elementwise.cast(to, array, of.dtype), dtype=of.dtype, source=of.dtype
        )
        return to.emit("full", shape, array, dtype=of.dtype)
    if not shape:
        return to.assign("getitem", statement.targets[0].type, array, (0,) * of.ndim)
    return to.assign(forms.reshape, statement.targets[0].type, array, shape)


@rule("getitem")
def getitem(to: Lowering, statement: Assign) -> Operand | None:
    array, index = statement.operands
    if not type_of(array).shape:
        return to.emit("full", statement.targets[0].type.shape, array, dtype=type_of(array).dtype)
    return None


@rule("setitem", "index_add")
def setitem(to: Lowering, statement: Assign) -> Operand | None:
    array, index, value = statement.operands[:3]
    if type_of(value).shape:
        return library_call(to, statement)
    return to.assign(
        statement.primitive, array.type, array, index, elementwise.cast(to, value, array.type.dtype)
    )


@rule("zeros", "ones", "empty", "full", "array")
def filled(to: Lowering, statement: Assign) -> Operand | None:
    """What has no dimensions is a number."""
    of, name = statement.targets[0].type, statement.primitive.name
    if of.shape:
        return None
    value = {"ones": 1, "full": statement.operands[-1], "array": statement.operands[0]}.get(name, 0)
    return to.assign(forms.cast, of, elementwise.cast(to, value, of.dtype), dtype=of.dtype, source=of.dtype)


@rule("copy", "stop_gradient")
def copy(to: Lowering, statement: Assign) -> Operand | None:
    (array,) = statement.operands
    of = type_of(array)
    if not isinstance(of, ArrayType) or of.shape:
        return None
    dtype = of.dtype
    return to.assign(
        forms.cast, statement.targets[0].type, elementwise.cast(to, array, dtype), dtype=dtype, source=dtype
    )


@rule("constant")
def constant(to: Lowering, statement: Assign) -> Operand:
    """An array known in advance: a global of the module, copied where it may be written."""
    return to.assign(
        to.calls.constant(statement.static.get("value", *statement.operands)), statement.targets[0].type
    )


@rule("push")
def push(to: Lowering, statement: Assign) -> Operand:
    stack, value = statement.operands
    element = stack.type.element
    value = contiguous(to, value) if element.shape else elementwise.cast(to, value, element.dtype)
    return to.assign("push", stack.type, stack, value)


@rule("longer")
def longer(to: Lowering, statement: Assign) -> Operand:
    return to.assign(forms.helper("longer"), statement.targets[0].type, *statement.operands)


@rule("check")
def check(to: Lowering, statement: Assign) -> tuple | None:
    """A check whose message shows values fails in Python, which makes the text."""
    test, *values = statement.operands
    if not values:
        return None
    if test is not False and only_integers(values, statement.static["message"]):
        elementwise.check(to, test, statement.static["exception"], statement.static["message"], *values)
        return ()
    failing = Assign((), statement.primitive, (None, *values), statement.static, statement.location)
    refusal = Assign((), to.calls.function(failing), read(failing), {}, statement.location)
    if test is False:
        to.builder.append(refusal)
    else:
        test = elementwise.cast(to, test, bool)
        to.builder.append(If((), test, Block(), Block([refusal]), statement.location))
    return ()


def only_integers(values: list, template: str) -> bool:
    """Whether a message shows Python's integers as they are, and so may be made outside (failures.py)."""
    return template.count("{}") == template.count("{") == len(values) and all(
        isinstance(type_of(value), ArrayType) and type_of(value).weak and type_of(value).dtype.kind == "i"
        for value in values
    )


@rule("check_same")
def check_same(to: Lowering, statement: Assign) -> tuple:
    equal = to.assign("equal", ArrayType(np.dtype(bool), (), True), *statement.operands)
    message = statement.static.get("message", "sizes differ").format("n", "m")
    elementwise.check(to, equal, "ValueError", message)
    return ()


@rule("check_index")
def check_index(to: Lowering, statement: Assign) -> tuple:
    """A check that an index, or every index of an array, is inside an axis."""
    index, size = statement.operands
    truth = ArrayType(np.dtype(bool), (), True)
    if type_of(index).shape:
        inside = to.assign(forms.helper("all_inside"), ArrayType(truth.dtype), index, size)
    else:
        inside = to.assign(forms.inside, truth, elementwise.cast(to, index, np.int64), size)
    axis = statement.static.get("axis", 0)
    message = f"index {{}} is out of bounds for axis {axis} with size {{}}"
    elementwise.check(to, inside, "IndexError", message, index, size)
    return ()


@rule("print")
def print_(to: Lowering, statement: Assign) -> tuple | None:
    options = {**{"sep": " ", "end": "\n"}, **statement.static}
    same = all(isinstance(o, str) or shown_alike(type_of(o)) for o in statement.operands)
    if same and options == {"sep": " ", "end": "\n"}:
        return None
    return library_call(to, statement)


def shown_alike(of: ArrayType) -> bool:
    """Whether Numba's print shows a value as Python's does."""
    return not of.shape and of.dtype.char in "?ld"


@rule("searchsorted")
def searchsorted(to: Lowering, statement: Assign) -> Operand:
    """One value is searched for here, many by the library."""
    array, value = statement.operands
    if type_of(value).shape or array.type.dtype.kind == "c":
        return library_call(to, statement)
    dtype = np.result_type(array.type.dtype, type_of(value).dtype)
    right = statement.static.get("side", "left") == "right"
    return to.assign(
        forms.helper("searchsorted"),
        statement.targets[0].type,
        array,
        elementwise.cast(to, value, dtype),
        right,
    )


@rule("slice_start", "slice_size")
def slice_part(to: Lowering, statement: Assign) -> Operand:
    """A slice's start or size; a missing bound is written as the end that it means."""
    size, start, stop, step = statement.operands
    step = 1 if step is None else step
    if isinstance(step, Variable) and (start is None or stop is None):
        return to.assign(to.calls.function(statement), INT, *read(statement))
    up = isinstance(step, Variable) or step > 0
    far = to.assign("add", INT, size, 1) if isinstance(size, Variable) else size + 1
    before = to.assign("multiply", INT, far, -1) if isinstance(far, Variable) else -far
    start = (0 if up else far) if start is None else start
    stop = (far if up else before) if stop is None else stop
    operands = (size, start, step) if statement.primitive.name == "slice_start" else (size, start, stop, step)
    return to.assign(forms.helper(statement.primitive.name), INT, *operands)
