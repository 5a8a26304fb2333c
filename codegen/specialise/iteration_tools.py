"""Functions of itertools and functools on values known only in part."""
from __future__ import annotations

import functools
import itertools
from typing import Any

import gast
import numpy as np

from ..core import Variable
from .iteration import Endless, elements
from .machine import Specialiser
from .operators import binary
from .values import Iterator


def reduce(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    function, iterable, *initial = arguments
    items = list(elements(s, iterable, node))
    result = initial[0] if initial else items.pop(0)
    for item in items:
        result = s.call(function, [result, item], {}, node)
    return result


def accumulate(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    items = list(elements(s, arguments[0], node))
    function = keywords.get("func", arguments[1] if len(arguments) > 1 else None)
    combine = (lambda a, b: binary(s, gast.Add(), a, b, node)) if function is None else (
        lambda a, b: s.call(function, [a, b], {}, node))
    return s.store.new(Iterator(itertools.accumulate(items, combine, initial=keywords.get("initial"))))


def over_lists(tool: Any) -> Any:
    """A function of itertools that only arranges the items of its iterables."""

    def run(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
        given = [list(elements(s, a, node)) if iterable(a) else a for a in arguments]
        return s.store.new(Iterator(tool(*given, **keywords)))

    return run


def iterable(value: Any) -> bool:
    return not is_number(value) and value is not None


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex, Variable))


def starmap(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    function, rows = arguments
    items = [s.call(function, list(elements(s, row, node)), {}, node) for row in elements(s, rows, node)]
    return s.store.new(Iterator(items))


def chain_from(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    parts = [elements(s, part, node) for part in elements(s, arguments[0], node)]
    return s.store.new(Iterator(itertools.chain(*parts)))


def islice(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    iterable, *bounds = arguments
    return s.store.new(Iterator(itertools.islice(elements(s, iterable, node), *bounds)))


def count(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    start = keywords.get("start", arguments[0] if arguments else 0)
    step = keywords.get("step", arguments[1] if len(arguments) > 1 else 1)
    add = lambda k: binary(s, gast.Add(), start, binary(s, gast.Mult(), k, step, node), node)
    return Endless(lambda k: add(k) if not isinstance(k, int) or k else start)


def repeat(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    value, *times = (*arguments, *keywords.values())
    if times:
        return s.store.new(Iterator([value] * s.static_int(times[0], "the number of repetitions", node)))
    return Endless(lambda k: value)


def cycle(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    items = list(elements(s, arguments[0], node))
    return Endless(lambda k: items[s.static_int(k, "an index into cycle()", node) % len(items)])


def function_wrapper(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    """functools.wraps(f): a decorator that changes nothing that matters here."""
    return lambda function: function


def make_partial(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    made = functools.partial(_placeholder, *arguments[1:], **keywords)
    made.__setstate__((arguments[0] if callable(arguments[0]) else Bound(arguments[0]), tuple(arguments[1:]),
                       keywords, {}))
    return made


def _placeholder() -> None:
    """Stands for a function until functools.partial is given the real one."""


class Bound:
    """Makes a closure of the specialiser's look callable to functools.partial."""

    def __init__(self, function: Any):
        self.function = function

    def __call__(self) -> None:
        raise TypeError("only the specialiser calls this")

    def __specialise__(self, s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
        return s.call(self.function, arguments, keywords, node)


def indices(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    """np.ndindex: every index of an array of a shape, which must be known."""
    sizes = arguments[0] if len(arguments) == 1 and isinstance(arguments[0], (tuple, list)) else arguments
    ranges = [range(s.static_int(size, "a size in np.ndindex", node)) for size in sizes]
    return list(itertools.product(*ranges))


def items_with_indices(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    """np.ndenumerate: every index of an array with its element."""
    (array,) = arguments
    return [(index, s.get_item(array, index, node)) for index in indices(s, [s.shape(array)], {}, node)]


def by_condition(tool: Any) -> Any:
    """A function of itertools that chooses items by a condition, which must be known."""

    def run(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
        condition, given = arguments
        items = list(elements(s, given, node))
        tests = [known_test(s, condition, item, tool.__name__, node) for item in items]
        pairs = tool(lambda pair: pair[0], zip(tests, items, strict=True))
        return s.store.new(Iterator([item for _, item in pairs]))

    return run


def known_test(s: Specialiser, condition: Any, item: Any, name: str, node: Any) -> bool:
    test = s.truth(item if condition is None else s.call(condition, [item], {}, node), node)
    if isinstance(test, bool):
        return test
    raise s.need_static(test, f"the condition of {name}", node, "write a loop with an if statement")


TOOLS = {
    np.ndindex: indices,
    np.ndenumerate: items_with_indices,
    functools.reduce: reduce,
    functools.wraps: function_wrapper,
    functools.partial: make_partial,
    itertools.accumulate: accumulate,
    itertools.starmap: starmap,
    itertools.count: count,
    itertools.repeat: repeat,
    itertools.cycle: cycle,
    **{
        tool: over_lists(tool)
        for tool in (
            itertools.chain,
            itertools.product,
            itertools.combinations,
            itertools.permutations,
            itertools.pairwise,
            itertools.zip_longest,
            itertools.combinations_with_replacement,
        )
    },
    itertools.chain.from_iterable: chain_from,
    **{
        tool: by_condition(tool)
        for tool in (itertools.takewhile, itertools.dropwhile, itertools.filterfalse)
    },
    itertools.islice: islice,
}
