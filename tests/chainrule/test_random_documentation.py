"""The examples of docs/random.md."""

import doctest
from pathlib import Path


def test_examples():
    failed, tried = doctest.testfile(
        str(Path(__file__).parents[2] / "docs" / "random.md"), module_relative=False
    )
    assert tried > 8 and not failed
