"""Questions whose answer decides which statements are made, and so must be known before they run."""
from __future__ import annotations


class KnownEqual:
    """Whether two sizes are equal; while specialising, whether they are known to be.

    Sizes that may or may not be equal count as different, as they do in broadcasting.

    >>> known_equal(3, 3)
    True
    """

    def __call__(self, a, b):
        return bool(a == b)

    def __specialise__(self, s, arguments, keywords, node):
        return s.builder.same(*arguments)


class RequireEqual:
    """Refuse two sizes that differ, in the words of a message, where nothing else would.

    >>> require_equal(3, 3, "sizes differ")
    """

    def __call__(self, a, b, message):
        if a != b:
            raise ValueError(message)

    def __specialise__(self, s, arguments, keywords, node):
        s.builder.require_same(*arguments, False)


known_equal = KnownEqual()
require_equal = RequireEqual()
