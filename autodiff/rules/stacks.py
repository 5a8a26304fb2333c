"""Derivatives of stacks: push and pop are each other's adjoint. Effects have none."""
from ...codegen.primitives.effects import check, check_index, check_same, print_
from ...codegen.primitives.stacks import pop, push, stack
from ...codegen.registry import derivative, zero_derivative

derivative(push, (0, 1), jvp=lambda t, out, stack, value: push(t[0], t[1]),
           vjp=lambda ct, out, stack, value: pop(ct))
derivative(pop, jvp=lambda t, out, stack: pop(t), vjp=lambda ct, out, stack: push(ct[0], ct[1]))
zero_derivative(stack, check, check_index, check_same, print_)
