"""What functions given to chainrule.lax return: branches the same as each other, solvers what is solved for.

Outside of a program only the branch taken runs, and there is nothing to compare it with.
"""

from __future__ import annotations

from typing import Any

from ..codegen.core import Variable
from ..codegen.errors import ShapeMismatchError, TypeMismatchError
from ..codegen.specialise.builtin_functions import BUILTINS
from .carries import described, fitted, known_type, name_of, path_text, same_rank_and_sizes
from .trees import flatten
from .tried_steps import leaves_of, number_type


def refuse(what: str, remedy: str, kind: type) -> None:
    """Raise an error of chainrule's, which inside a program names the user's line."""
    raise kind(what, remedy)


def require_like(value: Any, model: Any, what: str, remedy: str) -> None:
    """Refuse a value that has not the structure and shapes of another; `what` says what is needed of it."""
    compare(
        flatten(value),
        flatten(model),
        [list(map(known_type, flatten(v)[0])) for v in (value, model)],
        what,
        remedy,
        None,
    )


def compare(value: tuple, model: tuple, types: list[list], what: str, remedy: str, where: Any) -> None:
    (leaves, structure), (models, wanted) = value, model
    if structure != wanted:
        raise TypeMismatchError(
            f"{what}: {described(wanted)}, and it is {described(structure)}", remedy, where
        )
    for path, have, want, leaf, other in zip(structure.paths(), *types, leaves, models, strict=True):
        if have is None or want is None or same_rank_and_sizes(have, want):
            continue
        raise ShapeMismatchError(
            f"{what}: {path_text('it', path)} is {name_of(have, leaf)}, and not {name_of(want, other)}",
            remedy,
            where,
        )


def agreement(who: str) -> Any:
    """What the branches of one call agree on."""


def agreed(agreement: Any, result: Any, name: str) -> Any:
    """The result of a branch, refused if it is not like those of the others."""
    return result


def settled(agreement: Any, result: Any) -> Any:
    """The result of the branch that was taken, whose sizes are those of the first branch."""
    return result


# inside a function that is being specialised


class Agreement:
    """The structure and types of the first branch's result."""

    def __init__(self, who: str):
        self.who = who
        self.first: tuple | None = None
        self.several = False

    def agree(self, s: Any, result: Any, name: str, node: Any) -> None:
        leaves, structure = leaves_of(s, result)
        types = [number_type(s, leaf) for leaf in leaves]
        if self.first is None:
            self.first = (name, leaves, structure, types)
            return
        self.several = True
        other, others, first_structure, first_types = self.first
        where = s.location(node)
        if structure != first_structure:
            raise TypeMismatchError(
                f"{self.who} needs branches that return one structure: {other} returned "
                f"{described(first_structure)}, and {name} {described(structure)}",
                "let all branches return the same structure",
                where,
            )
        rows = zip(structure.paths(), first_types, types, others, leaves, strict=True)
        for path, a, b, old, new in rows:
            if a is None and b is None:
                continue
            kind = self.differs(a, b)
            if kind is not None:
                raise kind(
                    f"{self.who} needs branches that return one shape and dtype: "
                    f"{path_text('the result', path)} of {other} is {name_of(a, old)}, and of {name} "
                    f"{name_of(b, new)}",
                    "let all branches return the same shapes and dtypes",
                    where,
                )

    def settle(self, s: Any, result: Any) -> None:
        """Check sizes of the result that only run time tells against those of the first branch, if known."""
        if not self.several:
            return
        for leaf, of in zip(leaves_of(s, result)[0], self.first[3], strict=True):
            for size, wanted in zip(s.shape(leaf), of.shape, strict=True) if of is not None else ():
                if not isinstance(wanted, Variable) or s.builder.depth(wanted) <= len(s.builder.scopes):
                    s.builder.require_same(
                        size,
                        wanted,
                        f"{self.who} needs branches that return one shape, and theirs differ",
                        False,
                    )

    def differs(self, a: Any, b: Any) -> type | None:
        """The kind of error that two types are, if they are one."""
        if a is None or b is None:
            return TypeMismatchError
        if a.weak and b.weak or fitted(a, b) is not None or fitted(b, a) is not None:
            return None
        alike = a.ndim == b.ndim and a.with_shape(b.shape).dtype != b.dtype
        return TypeMismatchError if alike else ShapeMismatchError


def values_agreed(s: Any, arguments: list, keywords: dict, node: Any) -> Any:
    agreement, result, name = arguments
    agreement.agree(s, result, name, node)
    return result


def values_settled(s: Any, arguments: list, keywords: dict, node: Any) -> Any:
    agreement, result = arguments
    agreement.settle(s, result)
    return result


def values_refuse(s: Any, arguments: list, keywords: dict, node: Any) -> None:
    what, remedy, kind = arguments
    raise kind(what, remedy, s.location(node))


def values_require_like(s: Any, arguments: list, keywords: dict, node: Any) -> None:
    value, model, what, remedy = arguments
    both = leaves_of(s, value), leaves_of(s, model)
    types = [[number_type(s, leaf) for leaf in leaves] for leaves, _ in both]
    compare(*both, types, what, remedy, s.location(node))


BUILTINS[require_like] = values_require_like
BUILTINS[agreement] = lambda s, arguments, keywords, node: Agreement(*arguments)
BUILTINS[agreed] = values_agreed
BUILTINS[settled] = values_settled
BUILTINS[refuse] = values_refuse
