"""CheckpointManager: what is kept, what survives a killed writer, what the background does."""
import errno
import os
import resource
import signal
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest

import chainrule as cr
from chainrule.io import CheckpointManager, CorruptFileError, MismatchError, SaveError
from tests.runtime.children import in_child


def state(step):
    return {"w": np.full(200, float(step)), "step": step}


def good(found, step):
    assert found["step"] == step
    np.testing.assert_array_equal(found["w"], np.full(200, float(step)))


def damage(manager, step):
    path = manager.folder.file(step)
    contents = bytearray(open(path, "rb").read())
    contents[-5] ^= 1
    with open(path, "wb") as file:
        file.write(contents)


def cut(manager, step):
    os.truncate(manager.folder.file(step), os.path.getsize(manager.folder.file(step)) - 1)


# what is saved and kept


@pytest.mark.parametrize("background", [True, False])
def test_save_and_restore(tmp_path, background):
    with CheckpointManager(tmp_path / "new" / "folder", background=background) as manager:
        assert manager.latest_step() is None and manager.best_step() is None and manager.all_steps() == []
        for step in (3, 10, 200):
            assert manager.save(step, state(step))
        manager.wait()
        assert manager.all_steps() == [3, 10, 200] and manager.latest_step() == 200
        good(manager.restore(), 200)
        good(manager.restore(10, like=state(0)), 10)
        assert (tmp_path / "new" / "folder" / "latest").read_text() == "step-0000000200.safetensors\n"
    good(CheckpointManager(tmp_path / "new" / "folder").restore(), 200)


def test_the_interval(tmp_path):
    with CheckpointManager(tmp_path, save_interval=3) as manager:
        assert [step for step in range(8) if manager.save(step, state(step))] == [0, 3, 6]
        assert manager.save(7, state(7), force=True)
        manager.wait()
        assert manager.all_steps() == [0, 3, 6, 7]


@pytest.mark.parametrize("mode, best", [("min", [2, 5]), ("max", [0, 7])])
def test_what_is_kept(tmp_path, mode, best):
    losses = [9.0, 5.0, 1.0, 6.0, 4.0, 2.0, 7.0, 8.0, float("nan")]
    with CheckpointManager(tmp_path, max_to_keep=2, keep_best=2, metric="loss", mode=mode) as manager:
        for step, loss in enumerate(losses):
            manager.save(step, state(step), metrics={"loss": loss, "other": 0})
        manager.wait()
        assert manager.all_steps() == sorted({*best, 7, 8})
        assert manager.best_step() == {"min": 2, "max": 0}[mode]


def test_equal_metrics_and_metrics_as_arrays(tmp_path):
    with CheckpointManager(tmp_path) as manager:
        for step in range(3):
            manager.save(step, state(step), metrics=np.array(1.0))
        manager.wait()
        assert manager.best_step() == 2


def test_refusals(tmp_path):
    for options in ({"max_to_keep": 0}, {"save_interval": 0}, {"keep_best": -1}, {"mode": "best"}):
        with pytest.raises(ValueError, match=next(iter(options))):
            CheckpointManager(tmp_path, **options)
    manager = CheckpointManager(tmp_path)
    for step in (-1, 1.0, True, "1"):
        with pytest.raises(ValueError, match="non-negative int"):
            manager.save(step, state(0))
    manager.save(1, state(1))
    with pytest.raises(FileExistsError, match="overwrite=True"):
        manager.save(1, state(2))
    assert manager.save(1, {"other": 2}, overwrite=True)
    with pytest.raises(MismatchError, match="'other': saved, and not expected"):
        manager.restore(like=state(0))
    with pytest.raises(FileNotFoundError, match=r"no step 7 .*\[1\]"):
        manager.restore(7)
    with pytest.raises(SaveError, match="'x' is an object"):
        manager.save(2, {"x": object()})
    manager.close()
    manager.close()
    with pytest.raises(ValueError, match="closed"):
        manager.save(3, state(3))
    with pytest.raises(FileNotFoundError, match="no checkpoints"):
        CheckpointManager(tmp_path / "empty").restore()


# the background


def test_arrays_are_copied_before_save_returns(tmp_path, monkeypatch):
    gate = threading.Event()
    replace = os.replace
    monkeypatch.setattr(os, "replace", lambda *names: (gate.wait(20), replace(*names)))
    fresh = {"c": np.zeros(3), "view": np.zeros((4, 4))[1:, ::2], "big": np.zeros(3, ">f8"),
             "deep": [(np.zeros(2),)]}
    with CheckpointManager(tmp_path) as manager:
        manager.save(0, fresh)
        for array in cr.tree.leaves(fresh):
            array[...] = 1.0
        assert manager.all_steps() == []
        gate.set()
        assert all(not np.any(leaf) for leaf in cr.tree.leaves(manager.restore()))


def test_a_failed_save_is_raised_by_the_next_call(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    for call in (lambda m: m.save(2, state(2)), lambda m: m.restore(),
                 lambda m: m.wait(), lambda m: m.close(),
                 lambda m: (m.thread.join(), m.latest_step()), lambda m: (m.thread.join(), m.all_steps()),
                 lambda m: (m.thread.join(), m.best_step())):
        manager = CheckpointManager(tmp_path)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            manager.save(1, state(1), overwrite=True)
            with pytest.raises(OSError, match="No space left") as caught:
                call(manager)
        assert any("step 1" in note for note in caught.value.__notes__)
        assert manager.latest_step() is None and os.listdir(tmp_path) == []
        manager.close()


def test_a_failed_save_is_raised_where_the_manager_closes(tmp_path, monkeypatch):
    def broken(*_):
        raise OSError("broken disk")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(OSError, match="broken disk"):
        with CheckpointManager(tmp_path) as manager:
            manager.save(0, state(0))
    with pytest.raises(KeyError) as caught:
        with CheckpointManager(tmp_path) as manager:
            manager.save(0, state(0))
            raise KeyError("the user's own")
    assert any("broken disk" in note for note in caught.value.__notes__)


FORGOTTEN = """
import sys
import numpy as np
import chainrule as cr
cr.io.CheckpointManager(sys.argv[1]).save(1, {"w": np.zeros(1_000_000)})
"""


def test_a_process_that_ends_finishes_its_save(tmp_path):
    subprocess.run([sys.executable, "-c", FORGOTTEN, str(tmp_path)], check=True, timeout=120)
    assert CheckpointManager(tmp_path).latest_step() == 1


# damage


def test_damaged_steps_are_refused_by_name_and_passed_over(tmp_path):
    manager = CheckpointManager(tmp_path)
    for step in range(4):
        manager.save(step, state(step))
    manager.wait()
    cut(manager, 3)
    assert manager.latest_step() == 2
    damage(manager, 2)
    for step in (2, 3):
        with pytest.raises(CorruptFileError, match=f"step-000000000{step}"):
            manager.restore(step)
    with pytest.warns(UserWarning, match="step-000000000[23]"):
        good(manager.restore(), 1)
    for step in (0, 1):
        damage(manager, step)
    with pytest.raises(CorruptFileError, match="no step is undamaged"), pytest.warns(UserWarning):
        manager.restore()


def test_a_damaged_step_does_not_count_as_kept(tmp_path):
    with CheckpointManager(tmp_path, max_to_keep=2) as manager:
        for step in (1, 2):
            manager.save(step, state(step))
        manager.wait()
        cut(manager, 2)
        manager.save(3, state(3))
        manager.wait()
        assert manager.all_steps() == [1, 3]


# killed writers


CALLS = ("open", "write", "fsync", "close", "replace", "unlink")


def killed(folder, number, when):
    """Save step 2 in a process that dies at system call `number`: before it, after it, or within a write.

    The status is 9 if it died, else 0.
    """

    def action():
        manager = CheckpointManager(folder, max_to_keep=1, background=False)
        count = 0

        def counting(name, real):
            def call(*arguments, **keywords):
                nonlocal count
                count += 1
                if count != number:
                    return real(*arguments, **keywords)
                if when == "after":
                    real(*arguments, **keywords)
                elif when == "within" and name == "write":
                    real(arguments[0], bytes(arguments[1])[:len(arguments[1]) // 2])
                os._exit(9)

            return call

        for name in CALLS:
            setattr(os, name, counting(name, getattr(os, name)))
        manager.save(2, state(2))
        return 0

    return in_child(action)


@pytest.mark.parametrize("when", ["before", "after", "within"])
def test_a_writer_killed_at_any_system_call(tmp_path, when):
    seen = set()
    for number in range(1, 100):
        folder = tmp_path / str(number)
        with CheckpointManager(folder) as manager:
            manager.save(1, state(1))
        status = killed(folder, number, when)
        manager = CheckpointManager(folder)
        steps = manager.all_steps()
        assert steps in ([1], [1, 2], [2])
        for step in steps:
            good(manager.restore(step), step)
        good(manager.restore(), steps[-1])
        assert [name for name in os.listdir(folder) if name.endswith(".tmp")] == []
        manager.save(3, state(3))
        good(manager.restore(), 3)
        seen.add(tuple(steps))
        if status == 0:
            break
    else:
        raise AssertionError("the save makes more system calls than are tried")
    assert status == 0 and number > 15 and seen == {(1,), (1, 2), (2,)}


def test_the_order_of_what_reaches_the_disk(tmp_path, monkeypatch):
    manager = CheckpointManager(tmp_path, max_to_keep=1, background=False)
    manager.save(1, state(1))
    log, names = [], {}
    opening, syncing, replacing, unlinking = os.open, os.fsync, os.replace, os.unlink

    def opened(path, *rest):
        file = opening(path, *rest)
        names[file] = "folder" if os.path.isdir(path) else os.path.basename(path).split(".")[1]
        return file

    monkeypatch.setattr(os, "open", opened)
    monkeypatch.setattr(os, "fsync", lambda file: (log.append(f"sync {names[file]}"), syncing(file)))
    note = lambda what, path: log.append(f"{what} {os.path.basename(path)}")
    monkeypatch.setattr(os, "replace", lambda a, b: (note("name", b), replacing(a, b)))
    monkeypatch.setattr(os, "unlink", lambda path: (note("delete", path), unlinking(path)))
    manager.save(2, state(2))
    assert log == ["sync step-0000000002", "name step-0000000002.safetensors", "sync folder",
                   "sync latest", "name latest", "sync folder",
                   "delete step-0000000001.safetensors", "sync folder"]


@pytest.mark.parametrize("limit", [0, 10, 1000, 2400])
def test_a_full_disk_keeps_the_last_good_step(tmp_path, limit):
    with CheckpointManager(tmp_path) as manager:
        manager.save(1, state(1))

    def fill():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        manager = CheckpointManager(tmp_path, max_to_keep=1)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        manager.save(2, {"w": np.zeros(1000)})
        try:
            manager.close()
        except OSError as error:
            return 7 if any("step 2" in note for note in error.__notes__) else 8

    assert in_child(fill) == 7
    manager = CheckpointManager(tmp_path)
    assert manager.all_steps() == [1]
    assert sorted(os.listdir(tmp_path)) == ["latest", "step-0000000001.safetensors"]
    good(manager.restore(), 1)


# several managers


def test_two_managers_in_one_folder(tmp_path):
    one, two = CheckpointManager(tmp_path, max_to_keep=3), CheckpointManager(tmp_path, max_to_keep=3)
    for step in range(0, 20, 2):
        one.save(step, state(step))
        two.save(step + 1, state(step + 1))
    one.close(), two.close()
    steps = one.all_steps()
    assert steps == two.all_steps() and steps[-3:] == [17, 18, 19] and len(steps) <= 4
    for step in steps:
        good(two.restore(step), step)


def test_a_second_process_sees_whole_steps_only(tmp_path):
    def write():
        with CheckpointManager(tmp_path, max_to_keep=2) as manager:
            for step in range(30):
                manager.save(step, state(step))

    child = threading.Thread(target=lambda: statuses.append(in_child(write)))
    statuses = []
    child.start()
    reader = CheckpointManager(tmp_path)
    while child.is_alive():
        step = reader.latest_step()
        if step is not None:
            try:
                good(reader.restore(step), step)
            except FileNotFoundError:
                assert reader.latest_step() > step
    assert statuses == [0] and reader.latest_step() == 29


def test_a_living_writer_keeps_its_temporary_file(tmp_path):
    mine = tmp_path / f".step-0000000001.safetensors.{socket.gethostname()}.{os.getpid()}.00.tmp"
    elsewhere = tmp_path / ".step-0000000001.safetensors.elsewhere.1.00.tmp"
    mine.touch(), elsewhere.touch()
    assert CheckpointManager(tmp_path).all_steps() == []
    assert mine.exists() and elsewhere.exists()
