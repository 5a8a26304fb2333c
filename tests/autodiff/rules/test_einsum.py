"""Derivatives of einsum."""

import numpy as np
import pytest

from chainrule.autodiff import rules  # noqa: F401
from chainrule.codegen.primitives.einsum import einsum
from tests.autodiff.rules.checks import check_rule

SIZES = {"a": 2, "b": 2, "i": 2, "j": 3, "k": 4, "n": 1, "z": 0}
SUBSCRIPTS = ["i->i", "ij->ji", "ij->", "ij->i", "ii->i", "ii->", "iji->j", "iii->", "ij,jk->ik", "ij,jk->",
              "ij,ij->i",
              "ij,k->ik", "i,i,i->i", "i,ij,j->", ",i->i", "aij,ajk->aik", "ij,kj,kn->in", "iij,j->i",
              "iz,z->i", "ii,ii->i",
              "ij,kk->ij"]


@pytest.mark.parametrize("dtype", ["f", "d", "D"])
@pytest.mark.parametrize("subscripts", SUBSCRIPTS)
def test_einsum(subscripts, dtype):
    rng = np.random.default_rng(0)
    terms = subscripts.split("->")[0].split(",")
    operands = [rng.standard_normal([SIZES[letter] for letter in term]).astype(dtype) for term in terms]
    for i in range(len(terms)):
        check_rule(einsum, *operands, operand=i, subscripts=subscripts)
