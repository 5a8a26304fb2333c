"""A mark where a random key is used up: for the warning of keys that are used twice, and for nothing else."""

from __future__ import annotations

from ..registry import primitive
from .effects import no_result


def use_key_implementation(key):
    """Nothing happens."""


use_key = primitive("use_key", use_key_implementation, no_result, effect=True)
use_key.batch = lambda case: case.again(*case.operands)
