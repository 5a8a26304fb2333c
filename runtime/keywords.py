"""The keywords of a call that a rule asks for."""

from __future__ import annotations

import inspect
from collections.abc import Callable


def taken(rule: Callable, keywords: dict) -> dict:
    """The keywords that a rule asks for."""
    try:
        parameters = inspect.signature(rule).parameters
    except (TypeError, ValueError):
        return {}
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return dict(keywords)
    return {key: value for key, value in keywords.items() if key in parameters}
