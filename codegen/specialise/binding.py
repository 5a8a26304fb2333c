"""What Python says of a call whose arguments do not fit the parameters.

>>> too_many(2, 1, 3)
'takes from 1 to 2 positional arguments but 3 were given'
>>> too_many(1, 1, 2)
'takes 1 positional argument but 2 were given'
>>> missing(["a", "b", "c"])
"missing 3 required positional arguments: 'a', 'b', and 'c'"
"""

from __future__ import annotations


def too_many(positional: int, required: int, given: int) -> str:
    """More positional arguments were given than there are."""
    count = f"from {required} to {positional}" if required < positional else str(positional)
    takes = f"takes {count} positional argument{'' if positional == 1 else 's'}"
    return f"{takes} but {given} {'was' if given == 1 else 'were'} given"


def missing(names: list[str], kind: str = "positional") -> str:
    """Parameters that no argument was given for."""
    quoted = [f"'{name}'" for name in names]
    *first, last = quoted
    if len(first) > 1:
        listed = f"{', '.join(first)}, and {last}"
    else:
        listed = " and ".join(quoted)
    return f"missing {len(names)} required {kind} argument{'s' if first else ''}: {listed}"


def unexpected(name: str) -> str:
    return f"got an unexpected keyword argument '{name}'"
