"""Batching: a program for one example becomes a program for many."""
from . import (
    rules_calls,
    rules_collectives,
    rules_elementwise,
    rules_indexing,
    rules_linalg,
    rules_reductions,
    rules_structural,
)
from .batch import batch

__all__ = [
    "batch",
    "rules_calls",
    "rules_collectives",
    "rules_elementwise",
    "rules_indexing",
    "rules_linalg",
    "rules_reductions",
    "rules_structural",
]
