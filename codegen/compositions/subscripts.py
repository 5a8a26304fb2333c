"""The subscripts of einsum, made explicit; all of it is worked out before anything is compiled.

>>> explicit("ij, jk", [2, 2])
(['ij', 'jk'], 'ik')
>>> explicit("...i,i...->...", [3, 1])
(['abi', 'i'], 'ab')
"""
from __future__ import annotations

import string


def explicit(subscripts, ranks):
    """The letters of each operand and of the result, given the operands' ranks."""
    subscripts = subscripts.replace(" ", "")
    inputs, arrow, output = subscripts.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(ranks):
        more = "more operands provided to einstein sum function than specified in the subscripts string"
        fewer = "fewer operands provided to einstein sum function than specified in the subscripts string"
        raise ValueError(more if len(ranks) > len(terms) else fewer)
    spare = [letter for letter in string.ascii_letters if letter not in subscripts]
    widths = [rank - len(term.replace("...", "")) for term, rank in zip(terms, ranks)]
    for term, width in zip(terms, widths):
        if width < 0:
            raise ValueError("einstein sum subscripts string contains too many subscripts for operand")
        if width > 0 and "..." not in term:
            raise ValueError("operand has more dimensions than subscripts given in einstein sum, but no "
                             "'...' ellipsis provided to broadcast the extra dimensions.")
    widest = max([width for term, width in zip(terms, widths) if "..." in term], default=0)
    extra = "".join(spare[:widest])
    terms = [term.replace("...", extra[widest - width:]) for term, width in zip(terms, widths)]
    if arrow:
        output = output.replace("...", extra)
    else:
        letters = "".join(terms)
        output = extra + "".join(sorted(x for x in set(letters) if letters.count(x) == 1 and x not in extra))
    for letter in output:
        if output.count(letter) > 1:
            raise ValueError("einstein sum subscripts string includes output subscript "
                             f"'{letter}' multiple times")
        if letter not in "".join(terms):
            raise ValueError("einstein sum subscripts string included output subscript "
                             f"'{letter}' which never appeared in an input")
    return terms, output


def interleaved(operands):
    """Subscripts and arrays from the form einsum(a, [0, 1], b, [1, 2], [0, 2])."""
    arrays, lists = list(operands[:len(operands) // 2 * 2:2]), list(operands[1::2])
    subscripts = ",".join([term_of(one) for one in lists])
    if len(operands) % 2:
        subscripts = subscripts + "->" + term_of(operands[-1])
    return subscripts, arrays


def term_of(numbers):
    """The letters that stand for the axes of one operand: in order of the numbers, as NumPy sorts them."""
    return "".join(["..." if number is Ellipsis else string.ascii_letters[number] for number in numbers])
