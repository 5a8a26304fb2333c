import pickle

import pytest

from chainrule.codegen import errors
from chainrule.codegen.errors import Location, UnsupportedError, location_of
from chainrule.codegen.parse import parse, parse_text


def test_text_shows_place_cause_and_remedy():
    place = Location("fit.py", 7, 8, 15, "loss", "    y = open(p)  \n")
    error = UnsupportedError("open reads a file", "read it before", place)
    assert str(error) == (
        'File "fit.py", line 7, in loss\n'
        "    y = open(p)\n"
        "        ^^^^^^^\n"
        "open reads a file\n"
        "Instead: read it before"
    )


def test_remedy_and_location_may_be_missing():
    assert str(UnsupportedError("no")) == "no"
    assert str(Location("fit.py", 7)) == 'File "fit.py", line 7'


@pytest.mark.parametrize(
    "name, also",
    [
        ("UnsupportedError", NotImplementedError),
        ("SourceError", Exception),
        ("TypeMismatchError", TypeError),
        ("ShapeMismatchError", ValueError),
        ("SharedMemoryError", ValueError),
        ("NotDifferentiableError", TypeError),
    ],
)
def test_each_error_is_its_builtin_kind_and_survives_pickling(name, also):
    error = getattr(errors, name)("what", "remedy", Location("a.py", 1))
    assert isinstance(error, also) and isinstance(error, errors.ChainruleError)
    again = pickle.loads(pickle.dumps(error))
    assert (again.what, again.remedy, again.location) == ("what", "remedy", Location("a.py", 1))
    assert str(again) == str(error)


def test_columns_count_characters_where_the_tree_counts_bytes():
    source = parse(parse_text("def f(σ):\n    return 'é' + σ"))
    place = location_of(source.tree.body[0].value.right, source)
    assert (place.line, place.column, place.end_column) == (2, 17, 18)
    assert str(place).splitlines()[1:] == ["    return 'é' + σ", "    " + " " * 13 + "^"]


def test_node_over_several_lines_is_marked_to_the_end_of_its_first():
    source = parse(parse_text("def f(x):\n    return (x +\n        1)"))
    assert str(location_of(source.tree.body[0], source)).splitlines()[2] == "    ^^^^^^^^^^^"


def test_tabs_stay_tabs_before_the_caret():
    place = Location("a.py", 1, column=3, end_column=4, text="\tx\t=1")
    assert str(place).splitlines()[2] == "     \t^"
