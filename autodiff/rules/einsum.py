"""Derivatives of einsum: every operand's is an einsum of all the others."""
from __future__ import annotations

import string

import numpy as np

from ...codegen.primitives.einsum import einsum
from ...codegen.registry import derivative


def tangent_rule(position):
    def jvp(t, out, *operands, subscripts):
        return np.einsum(subscripts, *operands[:position], t, *operands[position + 1:])
    return jvp


def cotangent_rule(position):
    def vjp(ct, out, *operands, subscripts):
        inputs, output = subscripts.split("->")
        terms = inputs.split(",")
        wanted = terms[position]
        x = operands[position]
        others = [*operands[:position], *operands[position + 1:]]
        terms = [output, *terms[:position], *terms[position + 1:]]
        distinct, result, terms, diagonals = split_diagonals(wanted, x, terms)
        reached = "".join(letter for letter in distinct if letter in "".join(terms))
        summed = np.einsum(",".join(terms) + "->" + reached, ct, *others)
        if reached != distinct:  # an axis that is summed over, and that no other operand has
            index = tuple(slice(None) if letter in reached else None for letter in distinct)
            sizes = tuple(x.shape[wanted.index(letter)] for letter in distinct)
            summed = np.broadcast_to(summed[index], sizes)
        if diagonals:  # an axis that is repeated, as in "ii->i": only the diagonal was read
            terms = ",".join([distinct, *(term for term, _ in diagonals)])
            summed = np.einsum(terms + "->" + result, summed, *(eye for _, eye in diagonals))
        return summed
    return vjp


def split_diagonals(wanted, x, terms):
    """The distinct letters of a term; the term with new letters for repeats; identities that tie those."""
    spare = [letter for letter in string.ascii_letters if letter not in wanted + "".join(terms)]
    distinct, result, diagonals = "", "", []
    for axis, letter in enumerate(wanted):
        if letter in distinct:
            new = spare[len(diagonals)]
            diagonals.append((letter + new, np.eye(x.shape[axis], dtype=x.dtype)))
            result += new
        else:
            distinct += letter
            result += letter
    return distinct, result, terms, diagonals


for position in range(12):
    derivative(einsum, position, jvp=tangent_rule(position), vjp=cotangent_rule(position))
