"""Derivatives against central differences, and forward against reverse."""
import pytest

from tests.functions.checks import check_first, check_second, chosen, outcome
from tests.functions.every_row import ROWS, parameters
from tests.functions.table import variants


@pytest.mark.parametrize("row", **parameters(ROWS, lambda row: row.order > 0 and row.positions))
def test_first(row):
    check_first(*chosen(row, row.arguments()), row.generator())


@pytest.mark.parametrize("row", **parameters(ROWS, lambda row: row.order > 1 and row.positions))
def test_second(row):
    check_second(*chosen(row, row.arguments()), row.generator())


@pytest.mark.parametrize("row",
                         **parameters(ROWS, lambda row: row.order > 0 and row.positions and variants(row)))
def test_shapes(row):
    for variant in variants(row):
        arguments = variant.arguments()
        if not isinstance(outcome(variant.function, arguments), Exception):
            check_first(*chosen(variant, arguments), variant.generator())
