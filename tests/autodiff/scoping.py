"""Checks that every variable is assigned once, and read only where it is in scope, in types too."""
from chainrule.codegen.core import (
    If,
    StackType,
    While,
    blocks_of,
    bound_in,
    operands_of,
    type_of,
    variables_in,
)


def check_scopes(program, free=()):
    assigned = set()
    scope = set(free)

    def assign(variables):
        for v in variables:
            assert v not in assigned, f"{v} is assigned twice"
            assigned.add(v)

    def sizes(v):
        return () if isinstance(v.type, StackType) else variables_in(v.type.shape)

    def read(operand, scope, where):
        for v in variables_in(operand):
            assert v in scope, f"{v} is read out of scope in {where}"

    def block(b, scope, bound=()):
        pending = list(bound)
        for s in b.statements:
            read(operands_of(s), scope, s)
            inner = scope | set(bound_in(s))
            assign(bound_in(s))
            if isinstance(s, While):
                inner = block(s.test, inner, bound_in(s))
                block(s.body, inner)
            else:
                for part in blocks_of(s):
                    block(part, inner, bound_in(s))
            if isinstance(s, If):
                assert len(s.body.results) == len(s.orelse.results) == len(s.targets), s
            elif blocks_of(s):
                assert len(s.body.results) == len(s.carried) == len(s.initial) == len(s.targets), s
                for c, i, r, t in zip(s.carried, s.initial, s.body.results, s.targets):
                    for other in (i, r, t):
                        a, o = type_of(c), type_of(other)
                        if not isinstance(a, StackType):
                            assert a.dtype == o.dtype and a.ndim == o.ndim, (s, c, a, other, o)
            assign(s.targets)
            scope = scope | set(s.targets)
            pending += s.targets
        read(b.results, scope, "results")
        for v in pending:  # a size may be read off the array just after the array is made
            for size in sizes(v):
                assert size in scope, f"the size {size} of {v} is out of scope"
        return scope

    assign(program.parameters)
    block(program.body, scope | set(program.parameters), program.parameters)
