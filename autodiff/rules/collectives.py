"""Derivatives of collectives: each is linear, and its transpose is another."""
from ...codegen.primitives.collectives import all_gather, all_to_all, ppermute, psum, psum_scatter
from ...codegen.registry import derivative

derivative(psum, 0,
           jvp=lambda t, out, x, axis: psum(t, axis=axis),
           vjp=lambda ct, out, x, axis: psum(ct, axis=axis))
derivative(all_gather, 0,
           jvp=lambda t, out, x, axis: all_gather(t, axis=axis),
           vjp=lambda ct, out, x, axis: psum_scatter(ct, axis=axis))
derivative(psum_scatter, 0,
           jvp=lambda t, out, x, axis: psum_scatter(t, axis=axis),
           vjp=lambda ct, out, x, axis: all_gather(ct, axis=axis))
derivative(all_to_all, 0,
           jvp=lambda t, out, x, axis, split, concat: all_to_all(t, axis=axis, split=split, concat=concat),
           vjp=lambda ct, out, x, axis, split, concat: all_to_all(ct, axis=axis, split=concat, concat=split))
derivative(ppermute, 0,
           jvp=lambda t, out, x, axis, pairs: ppermute(t, axis=axis, pairs=pairs),
           vjp=lambda ct, out, x, axis, pairs: ppermute(ct, axis=axis, pairs=tuple((b, a) for a, b in pairs)))
