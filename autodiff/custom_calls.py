"""Calls of functions with derivative rules of their own, made ready for a derivative pass.

In forward mode a call becomes the code of its jvp rule. In reverse mode it becomes, before the sweep, code
whose ordinary derivative is that of its rule:

    y = custom_call(x)    ->    y_0, r = (forward rule)             y = pulled(y_0, r, x)

which the backward sweep goes back through with the backward rule; or, where there is only a jvp rule, which
is linear in tangents and so is transposed,

    x_0 = stopped(x)    x_dot = seed(x)    y_0, y_dot = (jvp rule of x_0, x_dot)    y = joined(y_0, y_dot)

After the sweep, `pulled`, `stopped` and `joined` are other names of values, and a seed is zero.
"""

from __future__ import annotations

from functools import partial

from ..codegen.adopt import adopt, open_program, paste
from ..codegen.build import Builder
from ..codegen.core import (
    Assign,
    Block,
    If,
    Operand,
    Program,
    Statement,
    Variable,
    blocks_of,
    operands_of,
    type_of,
    variables_in,
    walk,
)
from ..codegen.custom_calls import (
    CustomCall,
    alias,
    copied,
    has_custom_calls,
    is_custom_call,
    joined,
    pulled,
    seed,
)
from ..codegen.dead_code import remove_dead_code
from ..codegen.errors import NotDifferentiableError
from ..codegen.registry import Primitive, derivative, zero_derivative
from ..codegen.renaming import Renaming
from .activity import Activity
from .calls import conform, emit, tangent_type, zeros

stopped = Primitive("stopped", lambda value: value, lambda builder, value: type_of(value))
zero_derivative(stopped)
derivative(alias, 0, jvp=lambda t, out, value: t, vjp=lambda ct, out, value: ct)
derivative(seed, 0, jvp=lambda t, out, value, whose: t, vjp=lambda ct, out, value, whose: ct)
derivative(joined, 1, jvp=lambda t, out, value, linear: t, vjp=lambda ct, out, value, linear: ct)


def usable(call: CustomCall, rule: str, statement: Assign) -> Program:
    """A rule of a call as a program; refused where there is none, or none could be made."""
    program = getattr(call, rule)
    if isinstance(program, Exception):
        raise program
    if program is None and (call.jvp is not None or call.forward is not None):
        raise NotDifferentiableError(
            f"{call.name} has a derivative rule for reverse mode only, and is differentiated in forward mode "
            "(jvp, jacfwd, linearize, hvp, hessian)",
            "use grad, vjp or jacrev, or give it a rule for forward mode with custom_jvp",
            statement.location,
        )
    if program is None:
        raise NotDifferentiableError(f"{call.name} has no derivative rule", call.remedy, statement.location)
    return program


def refuse_closed_over(statement: Assign, activity: Activity) -> None:
    """Refuse a derivative by what a function with a rule reads beside its arguments: the rule has none."""
    call = statement.static["call"]
    for operand in statement.operands[call.leaves :]:
        if operand in activity:
            name = f"'{operand.name}'" if operand.name else "a value"
            raise NotDifferentiableError(
                f"{call.name} has a derivative rule for its arguments only, and it or the rule reads {name} "
                "beside them, through which the derivative passes too",
                "pass it as an argument, or cut it off with stop_gradient",
                statement.location,
            )


def fitted(builder: Builder, value: Operand, parameter: Variable) -> Operand:
    """A tangent or cotangent as a rule's parameter has it."""
    of = parameter.type
    value = conform(builder, value, of)
    if of.weak and not type_of(value).weak:
        if not isinstance(value, Variable):
            return value.item()
        return emit(builder, "astype", value, dtype=of.dtype, weak=True)
    return value


# forward


def push_call(sweep, statement: Assign) -> None:
    """The jvp rule in place of a call."""
    call, builder = statement.static["call"], sweep.builder
    refuse_closed_over(statement, sweep.activity)
    if call.jvp is None and call.turned and call.forward is not None:
        outs, dots = push_by_turning(sweep, statement)
    else:
        program = usable(call, "jvp", statement)
        count = len(statement.operands)
        dots = [
            fitted(builder, sweep.instantiated(operand), parameter)
            for operand, parameter in zip(statement.operands, program.parameters[count:], strict=False)
        ]
        results = paste(builder, program, (*statement.operands, *dots))
        outs, dots = results[: len(statement.targets)], results[len(statement.targets) :]
    for target, result in zip(statement.targets, outs, strict=True):
        adopt(builder, Assign((target,), alias, (result,), {}, statement.location))
    for place, dot in zip(call.inexact, dots, strict=True):
        target = statement.targets[place]
        sweep.set(target, conform(builder, dot, target.type))


def push_by_turning(sweep, statement: Assign) -> tuple[tuple, list[Operand]]:
    """The results of a call and their tangents, by transposing its backward rule, which is linear."""
    from .reverse import reverse

    call, builder, operands = statement.static["call"], sweep.builder, statement.operands
    forward, backward = usable(call, "forward", statement), call.backward
    found = paste(builder, forward, operands)
    outs, residuals = found[: len(statement.targets)], found[len(statement.targets) :]
    bars = [Variable(None, tangent_type(type_of(outs[place]))) for place in call.inexact]
    with builder.inside(Block()) as block:
        seeds = map(partial(fitted, builder), bars, backward.parameters[len(operands) + len(residuals) :])
        block.results = paste(builder, backward, (*operands, *residuals, *seeds))
    turned = reverse(Program("turned", tuple(bars), block), (True,) * len(bars))
    turned.body.results = turned.results[len(call.pulled) :]
    turned = remove_dead_code(turned)
    if not all_read(turned.body).isdisjoint(turned.parameters[: len(bars)]):
        raise not_linear("backward", call.name, "cotangents", "forward", statement)
    dots = [conform(builder, sweep.instantiated(operands[k]), type_of(operands[k])) for k in call.pulled]
    zero = [zeros(builder, bar.type) for bar in bars]
    return outs, list(paste(builder, turned, (*zero, *dots)))


# reverse


def open_calls(program: Program, active: tuple[bool, ...]) -> Program:
    """The program with code in place of its active calls, the derivative of which is that of the rules."""
    while True:
        if not has_custom_calls(program.body):
            return program
        opener = Opener(program, Activity(program, active))
        body = opener.block(program.body)
        if not opener.opened:
            return program
        program = Program(program.name, program.parameters, body)


class Opener(Renaming):
    """Copies statements, those that are active calls opened."""

    def __init__(self, program: Program, activity: Activity):
        super().__init__()
        self.activity = activity
        self.opened = False
        self.builder = Builder()
        open_program(self.builder, program)

    def statement(self, statement: Statement) -> Statement:
        if isinstance(statement, If) and statement.recompute:  # opened when it is run again
            return Renaming(self.mapping).statement(statement)
        return super().statement(statement)

    def statements(self, statements: list[Statement]) -> list[Statement]:
        made: list[Statement] = []
        for statement in statements:
            if is_custom_call(statement) and self.activity.part(statement):
                self.opened = True
                made += self.call(statement)
            else:
                made.append(self.statement(statement))
        return made

    def call(self, statement: Assign) -> list[Statement]:
        call = statement.static["call"]
        refuse_closed_over(statement, self.activity)
        operands = self(statement.operands)
        if call.forward is None and call.jvp is not None:
            return self.linear_rule(call, statement, operands)
        program = usable(call, "forward", statement)
        block = copied(Renaming(dict(zip(program.parameters, operands, strict=True))), program.body)
        static = {"call": call}
        operands = (*block.results, *operands)
        return [*block.statements, Assign(statement.targets, pulled, operands, static, statement.location)]

    def linear_rule(self, call: CustomCall, statement: Assign, operands: tuple) -> list[Statement]:
        program = usable(call, "jvp", statement)
        builder, location = self.builder, statement.location
        builder.location = location
        leaves, parameters = operands[: call.leaves], program.parameters[len(operands) :]
        with builder.inside(Block()) as block:
            fixed = [self.stop(leaf, location) for leaf in leaves]
            dots = [
                self.seed(leaf, parameter, call.name, location)
                for leaf, parameter in zip(leaves, parameters, strict=True)
            ]
            results = paste(builder, program, (*fixed, *operands[call.leaves :], *dots))
            count = len(statement.targets)
            linear = dict(zip(call.inexact, results[count:], strict=True))
            for place, (target, result) in enumerate(zip(statement.targets, results, strict=False)):
                given = (result, linear[place]) if place in linear else (result,)
                builder.append(Assign((target,), joined if place in linear else alias, given, {}, location))
        return block.statements

    def stop(self, operand: Operand, location) -> Operand:
        fixed = Variable(operand.name, operand.type)
        self.builder.append(Assign((fixed,), stopped, (operand,), {}, location))
        return fixed

    def seed(self, operand: Operand, like: Variable, whose: str, location) -> Operand:
        dot = Variable(None, like.type.with_shape(operand.type.shape))
        self.builder.append(Assign((dot,), seed, (operand,), {"whose": whose}, location))
        return dot


def pull_call(sweep, statement: Assign, adjoints) -> None:
    """The backward rule of a call."""
    call, builder = statement.static["call"], sweep.builder
    count, inputs = len(statement.targets), len(call.body.parameters)
    residuals = statement.operands[count : len(statement.operands) - inputs]
    operands = statement.operands[len(statement.operands) - inputs :]
    program = call.backward
    parameters = program.parameters[inputs + len(residuals) :]
    bars = []
    for place, parameter in zip(call.inexact, parameters, strict=True):
        target = statement.targets[place]
        bar = adjoints.instantiated(target)
        adjoints.take(target)
        bars.append(fitted(builder, bar, parameter))
    results = paste(builder, program, (*operands, *residuals, *bars))
    for place, bar in zip(call.pulled, results, strict=True):
        sweep.contribute(operands[place], bar, adjoints)


def settle(statements: list[Statement], seeds: dict[Variable, Assign]) -> list[Statement]:
    """The statements of a sweep without what is of use only while it is made; its seeds are noted."""
    made: list[Statement] = []
    for statement in statements:
        for block in blocks_of(statement):
            block.statements = settle(block.statements, seeds)
        made += replaced(statement, seeds) if isinstance(statement, Assign) else [statement]
    return made


def replaced(statement: Assign, seeds: dict[Variable, Assign]) -> list[Statement]:
    targets, location = statement.targets, statement.location
    if statement.primitive in (stopped, joined):
        return [Assign(targets, alias, statement.operands[:1], {}, location)]
    if statement.primitive is pulled:
        return [
            Assign((target,), alias, (value,), {}, location)
            for target, value in zip(targets, statement.operands, strict=False)
        ]
    if statement.primitive is not seed:
        return [statement]
    seeds[targets[0]] = statement
    builder = Builder()
    zero = zeros(builder, targets[0].type)
    return [*builder.block.statements, Assign(targets, alias, (zero,), {}, location)]


def require_linear(body: Block, seeds: dict[Variable, Assign]) -> None:
    """Refuse a jvp rule that does with its tangents what is not linear: then they are read going back."""
    if not seeds:
        return
    read = all_read(remove_dead_code(Program("", (), body)).body)
    for variable, statement in seeds.items():
        if variable in read:
            raise not_linear("jvp", statement.static["whose"], "tangents", "reverse", statement)


def not_linear(rule: str, whose: str, what: str, mode: str, statement: Assign) -> NotDifferentiableError:
    return NotDifferentiableError(
        f"the {rule} rule of {whose} is not linear in its {what}, so that it cannot be transposed for {mode} "
        "mode",
        f"multiply {what} by values, and add them; compute all else from the arguments",
        statement.location,
    )


def all_read(block: Block) -> set[Variable]:
    """Every variable that is read anywhere in a block."""
    read = set(variables_in(block.results))
    for statement in walk(block):
        read.update(variables_in(operands_of(statement)))
        for inner in blocks_of(statement):
            read.update(variables_in(inner.results))
    return read
