"""Saving and loading one tree: round trips, strictness, damaged files, full disks."""
import collections
import dataclasses
import json
import math
import os
import resource
import signal
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import chainrule as cr
from chainrule import tree
from chainrule.io import CorruptFileError, MismatchError, SaveError
from tests.runtime.children import in_child


class State(NamedTuple):
    step: int
    moments: object


@dataclasses.dataclass
class Model:
    w: object
    name: str = "model"


class Layer:
    def __init__(self, w, activation):
        self.w, self.activation = w, activation


tree.register_node(Layer, lambda layer: ((layer.w,), layer.activation),
                   lambda activation, children: Layer(*children, activation))


def equal(a, b):
    """Whether two trees are the same in structure, types, dtypes and bits."""
    assert type(a) is type(b)
    if isinstance(a, (np.ndarray, np.generic)):
        assert a.dtype.newbyteorder("=") == b.dtype.newbyteorder("=") and a.shape == b.shape
        np.testing.assert_array_equal(a, b)
        if a.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(a), np.signbit(b))
    elif isinstance(a, (list, tuple, collections.deque)):
        assert len(a) == len(b)
        for one, other in zip(a, b):
            equal(one, other)
    elif isinstance(a, dict):
        assert list(a) == list(b)
        for key in a:
            equal(a[key], b[key])
    elif isinstance(a, (Layer, Model)):
        equal(vars(a), vars(b))
    elif isinstance(a, complex):
        equal(a.real, b.real), equal(a.imag, b.imag)
    elif isinstance(a, float):
        assert math.isnan(a) and math.isnan(b) or a == b and math.copysign(1, a) == math.copysign(1, b)
    else:
        assert a == b


def everything():
    return {
        "arrays": [np.arange(6.0).reshape(2, 3), np.zeros((0, 3), np.int8), np.array(2.5), np.array(1 + 2j),
                   np.array([[1 + 2j, -3j]], np.complex64), np.array([True, False]),
                   np.arange(4, dtype=np.uint16)],
        "scalars": (np.float32(1.5), np.int64(-3), np.bool_(True), np.complex128(1j)),
        "python": [1, -2.5, 1e300, float("inf"), -0.0, 3 - 1j, True, None, "text \u00e9\n\"", 10 ** 40],
        "state": State(7, {"m": np.ones(2)}),
        "model": Model(Layer(np.ones(3), "tanh")),
        3: {(1, "k"): 1, None: 2, 2.5: 3},
        "ordered": collections.OrderedDict(z=1, a=2),
        "recent": collections.deque([1.0, 2.0], maxlen=4),
        "a/b": {"c": 1.0}, "a": {"b/c": np.ones(1)}, "__metadata__": np.ones(1),
        "1": np.ones(1), 1: np.zeros(2),
    }


@pytest.fixture
def path(tmp_path):
    return tmp_path / "tree.safetensors"


@pytest.mark.parametrize("like", [None, everything()])
def test_round_trip(path, like):
    cr.io.save(path, everything())
    equal(cr.io.load(path, like=like), everything())
    assert os.listdir(path.parent) == [path.name]


NUMBERS = st.one_of(st.integers(), st.floats(), st.complex_numbers(), st.booleans(), st.none(),
                    st.text(max_size=5))
DTYPES = st.one_of(hnp.integer_dtypes(), hnp.unsigned_integer_dtypes(), hnp.boolean_dtypes(),
                   hnp.floating_dtypes(sizes=(16, 32, 64)), hnp.complex_number_dtypes(sizes=(64, 128)))
ARRAYS = hnp.arrays(DTYPES, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
KEYS = st.one_of(st.text(max_size=4), st.integers(), st.tuples(st.integers(), st.text(max_size=2)))
TREES = st.recursive(st.one_of(NUMBERS, ARRAYS), lambda part: st.one_of(
    st.lists(part, max_size=3), st.tuples(part, part), st.dictionaries(KEYS, part, max_size=3),
    st.builds(Model, part, st.text(max_size=3)), st.builds(Layer, part, st.text(max_size=2)),
    st.builds(State, st.integers(), part)), max_leaves=6)


@settings(max_examples=100, deadline=None)
@given(TREES)
def test_round_trip_of_any_tree(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("trees") / "tree.safetensors"
    cr.io.save(path, data)
    equal(cr.io.load(path), data)
    if data is not None:
        equal(cr.io.load(path, like=data), data)


@pytest.mark.parametrize("array", [
    np.arange(24.0).reshape(4, 6).T, np.arange(24.0)[::-3], np.broadcast_to(np.arange(3.0), (2, 3)),
    np.asfortranarray(np.arange(12.0).reshape(3, 4)), np.arange(24.0).reshape(2, 3, 4)[:, 1:, ::2],
    np.arange(5, dtype=">f8"), np.array(7, dtype=">i2"), (np.arange(4) + 1j)[::2]])
def test_any_memory_layout(path, array):
    cr.io.save(path, [array])
    found, = cr.io.load(path)
    np.testing.assert_array_equal(found, array)
    assert found.flags.c_contiguous and found.flags.writeable and found.dtype.isnative
    equal(cr.io.load(path, like=[array]), [found])


def test_other_readers_can_read_it(path):
    cr.io.save(path, {"w": np.arange(3.0), "z": np.array([1 + 2j])})
    found = safetensors.numpy.load_file(path)
    np.testing.assert_array_equal(found["w"], np.arange(3.0))
    np.testing.assert_array_equal(found["z"], [[1.0, 2.0]])
    with safetensors.safe_open(path, "numpy") as file:
        metadata = file.metadata()
    assert metadata["format"] == "chainrule" and metadata["version"] == "1"
    assert json.loads(metadata["structure"])["dict"]["w"] == {"array": "w", "dtype": "float64"}


def test_what_cannot_be_saved_is_named(path):
    for bad, message in [
        (np.array([None]), r"'a/1' has dtype object"), (np.array(["x"]), r"'a/1' has dtype <U1"),
        (np.zeros(1, np.longdouble), "longdouble|float128"), (np.zeros(1, "M8[s]"), "datetime64"),
        (np.ma.masked_array([1.0], [True]), "'a/1' is a numpy.ma.*MaskedArray"), ({1, 2}, "'a/1' is a set"),
        (object(), "'a/1' is an object"), (lambda: 0, "'a/1' is a function"), (b"x", "'a/1' is a bytes"),
        ({frozenset(): 1}, "'a/1' has the key frozenset"),
    ]:
        with pytest.raises(SaveError, match=message):
            cr.io.save(path, {"a": [1, bad]})
    assert os.listdir(path.parent) == []


def differences(path, saved, like, **options):
    cr.io.save(path, saved)
    with pytest.raises(MismatchError) as caught:
        cr.io.load(path, like=like, **options)
    assert str(caught.value).startswith(str(path))
    return str(caught.value)


def test_strict_about_keys_shapes_dtypes_and_kinds(path):
    saved = {"w": np.ones((2, 3)), "b": np.ones(3), "n": 1, "t": (1, 2), "gone": 1}
    like = {"w": np.ones((3, 2)), "b": np.ones(3, np.float32), "n": 1.0, "t": [1, 2], "new": 1}
    text = differences(path, saved, like)
    array = "saved is an array of shape"
    assert f"'w': {array} (2, 3) and dtype float64, and expected is one of shape (3, 2)" in text
    assert f"'b': {array} (3,) and dtype float64, and expected is one of dtype float32" in text
    assert "'n': saved is an int, and expected is a float" in text
    assert "'t': saved is a tuple of 2, and expected is a list" in text
    assert "'gone': saved, and not expected" in text and "'new': expected, and not saved" in text
    text = differences(path, saved, {**saved, "t": (1, 2, 3)})
    assert "'t': saved is a tuple of 2, and expected is a tuple of 3" in text


def test_strict_about_classes_and_metadata(path):
    layer = Layer(np.ones(2), "tanh")
    text = differences(path, [layer], [Layer(np.ones(2), "relu")])
    assert "metadata 'tanh', and expected is one with 'relu'" in text
    assert "expected is" in differences(path, [layer], [Model(np.ones(2))])
    assert "expected is" in differences(path, Model(1), State(1, 2))
    assert "expected is" in differences(path, State(1, 2), (1, 2))
    assert "expected is" in differences(path, None, 0)


def test_cast_is_opt_in(path):
    cr.io.save(path, [np.arange(3.0), np.arange(3), 1])
    like = [np.zeros(3, np.float32), np.zeros(3), 0.0]
    with pytest.raises(MismatchError, match="cast=True would convert it"):
        cr.io.load(path, like=like)
    equal(cr.io.load(path, like=like, cast=True), [np.arange(3, dtype=np.float32), np.arange(3.0), 1.0])
    with pytest.raises(MismatchError, match="dtype int64"):
        cr.io.load(path, like=[np.zeros(3, np.int64), np.zeros(3), 1], cast=True)


def test_the_order_of_keys_is_that_of_like(path):
    cr.io.save(path, {"a": 1, "b": 2})
    assert list(cr.io.load(path, like={"b": 0, "a": 0})) == ["b", "a"]


UNREGISTERED = """
import sys
import chainrule as cr
try:
    cr.io.load(sys.argv[1])
except cr.io.MismatchError as error:
    print(error)
"""


def test_classes_that_are_not_known_are_refused_by_name(path):
    for saved, name in [(Layer(1.0, "tanh"), "Layer"), (Model(1.0), "Model"), (State(1, 2), "State")]:
        cr.io.save(path, [saved])
        ran = subprocess.run([sys.executable, "-c", UNREGISTERED, str(path)], capture_output=True, text=True,
                             timeout=120)
        assert f"{type(saved).__module__}.{name}" in ran.stdout, ran.stdout + ran.stderr
        assert "register" in ran.stdout if name == "Layer" else "import" in ran.stdout


def test_metadata_without_json_comes_from_like(path):
    partial = tree.Partial(math.hypot, 3.0)
    cr.io.save(path, partial)
    assert cr.io.load(path, like=tree.Partial(math.hypot, 0.0))(4.0) == 5.0
    with pytest.raises(MismatchError, match=r"math.hypot, which isn't in the file"):
        cr.io.load(path)
    with pytest.raises(MismatchError, match="metadata"):
        cr.io.load(path, like=tree.Partial(math.atan2, 0.0))


# damaged files


def refused(path, contents):
    path.write_bytes(contents)
    with pytest.raises(CorruptFileError, match=str(path)):
        cr.io.load(path)


SMALL = {"w": np.arange(3.0), "z": np.array([1j]), "n": [1, "x"]}


def test_every_truncation_is_refused(path):
    cr.io.save(path, SMALL)
    whole = path.read_bytes()
    for length in range(len(whole)):
        refused(path, whole[:length])
    refused(path, whole + b"\0")


def test_every_flipped_byte_is_refused(path):
    cr.io.save(path, SMALL)
    whole = path.read_bytes()
    for where in range(len(whole)):
        for flip in (0x01, 0x80, 0xFF, 0x20 ^ 0x09):
            refused(path, whole[:where] + bytes([whole[where] ^ flip]) + whole[where + 1:])


def test_lost_pages_and_exchanged_blocks_are_refused(path):
    cr.io.save(path, {"w": np.arange(4096.0), "v": np.arange(4096.0) + 1})
    whole = path.read_bytes()
    refused(path, whole[:-4096] + bytes(4096))
    refused(path, whole[:-65536] + whole[-32768:] + whole[-65536:-32768])
    refused(path, bytes(len(whole)))
    refused(path, b"")


def test_files_of_others_and_of_later_versions_are_refused(path):
    safetensors.numpy.save_file({"w": np.ones(2)}, path)
    with pytest.raises(CorruptFileError, match="not written by chainrule"):
        cr.io.load(path)
    cr.io.save(path, SMALL)
    path.write_bytes(path.read_bytes().replace(b'"version":"1"', b'"version":"9"'))
    with pytest.raises(CorruptFileError, match="version '9'"):
        cr.io.load(path)
    with pytest.raises(FileNotFoundError):
        cr.io.load(path.parent / "absent")


# full disks


@pytest.mark.parametrize("limit", [0, 1, 100, 2000, 50_000])
def test_a_full_disk_leaves_the_earlier_file(path, limit):
    cr.io.save(path, SMALL)

    def fill():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        try:
            cr.io.save(path, {"big": np.zeros(10_000)})
        except OSError:
            return 7

    assert in_child(fill) == 7
    equal(cr.io.load(path), SMALL)
    assert os.listdir(path.parent) == [path.name]


def test_a_link_stays_a_link(path):
    path.symlink_to(path.parent / "behind")
    cr.io.save(path, SMALL)
    assert path.is_symlink() and (path.parent / "behind").exists()
    equal(cr.io.load(path), SMALL)
