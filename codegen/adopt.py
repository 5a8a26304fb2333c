"""Taking finished statements into a builder, so that it knows what they compute."""
from __future__ import annotations

from .build import Builder, bound_index, value_key
from .core import Assign, Block, For, Operand, Program, Statement, Variable, type_of
from .least_size import least_size
from .renaming import Renaming, sizes_in


def open_program(builder: Builder, program: Program) -> None:
    """Tell a builder what holds of every parameter: a size that is not known is at least `least_size()`."""
    for parameter in program.parameters:
        for size in sizes_in(parameter.type):
            builder.lower_bounds[size] = least_size()
            builder.depths[size] = 0


def adopt(builder: Builder, statement: Statement) -> None:
    """Append a finished statement, and let the builder share its value with what is emitted later."""
    builder.append(statement)
    for target in statement.targets:
        builder.depths.setdefault(target, len(builder.scopes))
    if isinstance(statement, For):
        bound_index(builder, statement.index, statement.start, statement.stop, statement.step)
    if not isinstance(statement, Assign):
        return
    primitive, operands = statement.primitive, statement.operands
    if primitive.name == "check_same":
        builder.equate(*operands)
    if primitive.effect:
        return
    for target in statement.targets:
        builder.definitions.setdefault(target, statement)
    if primitive.name == "size" and isinstance(statement.targets[0], Variable):
        builder.lower_bounds.setdefault(statement.targets[0], 0)
    remember_offset(builder, statement)
    if not (primitive.destructive or primitive.allocates):
        key = value_key(primitive, operands, statement.static)
        if key is not None:
            result = statement.targets if len(statement.targets) > 1 else statement.targets[0]
            builder.scopes[-1].known.setdefault(key, result)


def remember_offset(builder: Builder, statement: Assign) -> None:
    """Record n + 1 and n - 1 as the builder itself would have."""
    name, operands = statement.primitive.name, statement.operands
    if name not in ("add", "subtract") or len(operands) != 2:
        return
    base, offset = operands
    if name == "add" and not isinstance(base, Variable):
        base, offset = offset, base
    if not isinstance(base, Variable) or type(offset) is not int or not type_of(base).weak:
        return
    offset = offset if name == "add" else -offset
    target = statement.targets[0]
    if target.type.dtype.kind != "i":
        return
    root, before = getattr(builder, "offsets", {}).get(base, (base, 0))
    builder.offsets[target] = (root, before + offset)
    bound = builder.lower_bound(base)
    if bound is not None:
        builder.lower_bounds.setdefault(target, bound + offset)


def adopt_block(builder: Builder, block: Block) -> None:
    for statement in block.statements:
        adopt(builder, statement)


def paste(
    builder: Builder,
    program: Program,
    operands: tuple[Operand, ...],
    sizes: dict[Variable, Operand] | None = None,
) -> tuple[Operand, ...]:
    """Emit a program's statements into the open block with operands for its parameters; its results.

    `sizes`: what the sizes that the parameters' types mention are, where they are not the builder's own.
    """
    renaming = Renaming({**(sizes or {}), **dict(zip(program.parameters, operands, strict=True))})
    renaming.bind_block(program.body)
    pasted = renaming.block(program.body)
    renaming.retype()
    adopt_block(builder, pasted)
    return pasted.results
