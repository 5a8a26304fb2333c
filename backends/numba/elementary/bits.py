"""What elementary functions are made of: products and sums rounded once, numbers as bits, rare cases."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

WIDTHS = (2, 4, 8, 16)


def fused(a, b, c):
    """a * b + c rounded once."""
    return a(a, a, a), lambda context, builder, signature, arguments: builder.fma(*arguments)


fma = intrinsic(lambda context, a, b, c: fused(a, b, c))


@intrinsic
def plus(context, total, x):
    """total + x, which a loop may do in any order, so that it becomes vectors."""

    def build(context, builder, signature, a):
        return builder.fadd(*a, flags=("reassoc",))

    return total(total, total), build


def extreme(kind, name):
    """An LLVM intrinsic of two numbers, of which NaN is the result if either is."""

    def build(context, builder, signature, a):
        of = a[0].type
        function = builder.module.declare_intrinsic(name, [of], ir.FunctionType(of, [of, of]))
        return builder.call(function, a)

    return kind(kind, kind), build


@intrinsic
def larger(context, best, x):
    """The larger of two numbers, or NaN; a loop may compare in any order, so that it becomes vectors."""
    return extreme(best, "llvm.maximum")


@intrinsic
def smaller(context, best, x):
    """The smaller of two numbers, or NaN; a loop may compare in any order, so that it becomes vectors."""
    return extreme(best, "llvm.minimum")


@intrinsic
def bits(context, x):
    """A number's bits, as an integer."""
    width = x.bitwidth
    to = {64: types.int64, 32: types.int32}[width]
    return to(x), lambda context, builder, signature, a: builder.bitcast(a[0], ir.IntType(width))


@intrinsic
def number(context, n):
    """The double with these bits."""
    return types.float64(n), lambda context, builder, signature, a: builder.bitcast(a[0], ir.DoubleType())


@intrinsic
def number32(context, n):
    """The single with these bits, the lowest 32 of them."""

    def build(context, builder, signature, a):
        narrow = a[0] if n.bitwidth == 32 else builder.trunc(a[0], ir.IntType(32))
        return builder.bitcast(narrow, ir.FloatType())

    return types.float32(n), build


@intrinsic
def select(context, test, x, y):
    """x where the test is true, else y: both are computed, and no branch stands in the way of vectors."""
    kind = context.unify_types(x, y)

    def build(context, builder, signature, a):
        return builder.select(context.cast(builder, a[0], signature.args[0], types.boolean), a[1], a[2])

    return kind(types.boolean, kind, kind), build


@intrinsic
def floor(context, x):
    def build(context, builder, signature, a):
        function = builder.module.declare_intrinsic("llvm.floor", [a[0].type])
        return builder.call(function, a)

    return x(x), build


@intrinsic
def polynomial(context, x, coefficients):
    """A polynomial by Horner's rule, the highest power first."""

    def build(context, builder, signature, arguments):
        x, packed = arguments
        kind = signature.args[1].dtype
        terms = [builder.extract_value(packed, k) for k in range(signature.args[1].count)]
        terms = [context.cast(builder, term, kind, signature.args[0]) for term in terms]
        value = terms[0]
        for term in terms[1:]:
            value = builder.fma(value, x, term)
        return value

    return x(x, coefficients), build


def rare(name, limit):
    """The C library's function where |x| is over a limit, 0 elsewhere: a call that loops vectorise around.

    The call has vector variants, by LLVM's attribute for them; a variant looks at all its lanes at once
    and calls the library only if one of them needs it.
    """

    @intrinsic
    def beyond(context, x):
        def build(context, builder, signature, arguments):
            module, called = builder.module, f"chainrule_rare_{name}"
            if called not in module.globals:
                scalar = scalar_function(module, called, name, limit)
                for width in WIDTHS:
                    vector_function(module, scalar, f"{called}_{width}", width, limit)
            made = builder.call(module.globals[called], arguments)
            variants = ",".join(f"_ZGV_LLVM_N{n}v_{called}({called}_{n})" for n in WIDTHS)
            # llvmlite knows no attributes with values: its check of names is passed by.
            set.add(made.attributes, f'"vector-function-abi-variant"="{variants}"')
            return made

        return types.float64(types.float64), build

    return beyond


def pure(module, name, kind, linkage):
    """A function that is not inlined, does not look at memory, and returns."""
    function = ir.Function(module, ir.FunctionType(kind, [kind]), name)
    function.linkage = linkage
    for attribute in ("noinline", "nounwind", "readnone", "willreturn"):
        set.add(function.attributes, attribute)
    return function, ir.IRBuilder(function.append_basic_block())


def is_beyond(builder, x, limit):
    above = builder.fcmp_ordered(">", x, ir.Constant(x.type, limit))
    negative = [-limit_ for limit_ in limit] if isinstance(limit, list) else -limit
    return builder.or_(above, builder.fcmp_ordered("<", x, ir.Constant(x.type, negative)))


def scalar_function(module, name, library, limit):
    double = ir.DoubleType()
    function, builder = pure(module, name, double, "linkonce_odr")
    x = function.args[0]
    with builder.if_then(is_beyond(builder, x, limit)):
        target = module.globals.get(library) or ir.Function(module, function.ftype, library)
        builder.ret(builder.call(target, [x]))
    builder.ret(ir.Constant(double, 0.0))
    return function


def vector_function(module, scalar, name, width, limit):
    lanes = ir.VectorType(ir.DoubleType(), width)
    # Nothing calls it before loops are vectorised: it must not be dropped.
    function, builder = pure(module, name, lanes, "weak_odr")
    x, zero = function.args[0], ir.Constant(lanes, [0.0] * width)
    some = builder.bitcast(is_beyond(builder, x, [limit] * width), ir.IntType(width))
    with builder.if_then(builder.icmp_unsigned("!=", some, ir.Constant(ir.IntType(width), 0))):
        values = zero
        for k in range(width):
            at = ir.Constant(ir.IntType(32), k)
            value = builder.call(scalar, [builder.extract_element(x, at)])
            values = builder.insert_element(values, value, at)
        builder.ret(values)
    builder.ret(zero)
