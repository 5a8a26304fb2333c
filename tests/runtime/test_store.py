"""Files by key: whole or absent, ours or not trusted."""

import multiprocessing
import os
import signal
import stat
import time

import pytest

from chainrule.runtime.eviction import DAY
from chainrule.runtime.store import FORGOTTEN, Store

KEYS = [f"key{k}" for k in range(4)]


def contents(key, size=200_000):
    return (key * size)[:size].encode()


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def test_what_is_put_is_got(store, tmp_path):
    assert store.get("a") is None
    store.put("a", b"one")
    store.put("a", b"two")
    store.put("b", b"")
    assert store.get("a") == b"two" and Store(tmp_path).get("b") == b""
    assert stat.S_IMODE(os.stat(store.folder).st_mode) == 0o700
    assert sorted(os.listdir(store.folder)) == ["a", "b"]


def test_any_damage_makes_it_absent(store):
    store.put("a", b"contents")
    whole = store.path("a").read_bytes()
    damaged = [whole[:n] for n in range(len(whole))] + [whole + b"x", b"", b"\0" * len(whole)]
    damaged += [whole[:n] + bytes([whole[n] ^ 1]) + whole[n + 1 :] for n in range(len(whole))]
    for text in damaged:
        store.path("a").write_bytes(text)
        assert store.get("a") is None
    store.put("a", b"contents")
    assert store.get("a") == b"contents"


def test_a_file_under_another_name_is_absent(store):
    store.put("a", b"contents")
    os.rename(store.path("a"), store.path("b"))
    assert store.get("b") is None


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX owners")
def test_what_others_may_write_is_not_trusted(store):
    store.put("a", b"contents")
    store.path("a").chmod(0o622)
    assert store.get("a") is None
    store.put("a", b"contents")
    os.rename(store.path("a"), store.path("real"))
    os.symlink(store.path("real"), store.path("a"))
    assert store.get("a") is None
    store.path("a").unlink()
    os.mkdir(store.path("a"))
    assert store.get("a") is None
    store.put("b", b"contents")
    store.folder.chmod(0o777)
    with pytest.warns(UserWarning, match="is not used as a cache"):
        assert store.get("b") is None


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_what_others_own_is_not_trusted(store):
    store.put("a", b"contents")
    os.chown(store.path("a"), 12345, 12345)
    assert store.get("a") is None
    os.chown(store.folder, 12345, 12345)
    with pytest.warns(UserWarning, match="is not used as a cache"):
        store.put("b", b"contents")
    assert not store.path("b").exists()


def test_a_folder_that_cannot_be_made_is_no_cache(tmp_path):
    (tmp_path / "file").write_text("")
    store = Store(tmp_path / "file")
    store.put("a", b"contents")
    assert store.get("a") is None


def test_what_killed_processes_left_goes(store):
    store.put("a", b"contents")
    old, new = store.folder / "x.part", store.folder / "y.part"
    old.touch(), new.touch()
    os.utime(old, (time.time() - 2 * FORGOTTEN,) * 2)
    Store(store.folder.parent).put("b", b"contents")
    assert not old.exists() and new.exists()


def test_what_was_not_used_for_longest_goes(tmp_path):
    store, now = Store(tmp_path, limit=5000), time.time()
    for key, days in (("a", 3), ("b", 9), ("c", 5)):
        store.put(key, contents(key, 1000))
        os.utime(store.path(key), (now - days * DAY,) * 2)
    assert store.get("b") is not None  # so it is used again
    (store.folder / "folder").mkdir()
    later = Store(tmp_path, limit=3500)
    later.put("d", contents("d", 1000))
    assert [key for key in "abcd" if later.get(key) is not None] == ["a", "b", "d"]
    for number in range(40):
        later.put(f"e{number}", contents("e", 1000))
        assert sum(path.stat().st_size for path in later.folder.iterdir() if path.is_file()) < 3500 + 1100


def write_for_ever(folder):
    store = Store(folder, limit=700_000)  # less than all of them
    while True:
        for key in KEYS:
            store.put(key, contents(key))


def test_many_processes_and_kills_at_any_point(tmp_path):
    context = multiprocessing.get_context("spawn")
    reader, seen = Store(tmp_path), 0
    for wait in (0.0, 0.003, 0.01, 0.03):
        writers = [context.Process(target=write_for_ever, args=(tmp_path,)) for _ in range(2)]
        for writer in writers:
            writer.start()
        stop = time.monotonic() + 20
        while not any(reader.path(key).exists() for key in KEYS) and time.monotonic() < stop:
            time.sleep(0.01)
        stop = time.monotonic() + wait
        while True:
            for key in KEYS:
                found = reader.get(key)
                assert found in (None, contents(key))
                seen += found is not None
            if time.monotonic() > stop:
                break
        for writer in writers:
            os.kill(writer.pid, signal.SIGKILL)
            writer.join()
        assert all(reader.get(key) in (None, contents(key)) for key in KEYS)
    assert seen > 4
