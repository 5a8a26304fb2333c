"""A folder of checkpoints: one file for each step, kept or deleted by rule, written in the background."""
from __future__ import annotations

import contextlib
import json
import math
import os
import re
import threading
import warnings
from collections.abc import Mapping
from typing import Any

from .files import CorruptFileError, load, read_metadata, remove_leftovers, replace_file, sync_folder, write
from .saved_trees import describe

FILE = re.compile(r"step-(\d{10,})\.safetensors")
LATEST = "latest"


class Folder:
    """The checkpoints in a folder, as they are on the disk."""

    def __init__(self, path: str, metric: str | None, mode: str):
        self.path = path
        self.metric = metric
        self.mode = mode

    def file(self, step: int) -> str:
        return os.path.join(self.path, f"step-{step:010d}.safetensors")

    def named(self) -> list[int]:
        """The steps that have a file, whole or not."""
        found = (FILE.fullmatch(name) for name in os.listdir(self.path))
        return sorted(int(match[1]) for match in found if match)

    def metadata(self, step: int) -> dict[str, str] | None:
        """What the file of a step says about itself; None if it is gone, cut off or not one of ours."""
        try:
            return read_metadata(self.file(step))
        except (FileNotFoundError, CorruptFileError):
            return None

    def steps(self) -> list[int]:
        return [step for step in self.named() if self.metadata(step) is not None]

    def ranked(self) -> list[int]:
        """The steps with a finite metric, from best to worst; of equals the later first."""
        values = {step: self.value(step) for step in self.named()}
        sign = -1 if self.mode == "max" else 1
        known = [step for step, value in values.items() if value is not None]
        return sorted(known, key=lambda step: (sign * values[step], -step))

    def value(self, step: int) -> float | None:
        metadata = self.metadata(step)
        try:
            metrics = json.loads((metadata or {}).get("metrics", "{}"))
        except ValueError:
            return None
        value = chosen(metrics, self.metric) if isinstance(metrics, dict) else None
        return value if isinstance(value, (int, float)) and math.isfinite(value) else None

    def delete(self, steps: list[int]) -> None:
        for step in steps:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self.file(step))
        if steps:
            sync_folder(self.path)


def chosen(metrics: dict, metric: str | None) -> Any:
    """The metric that ranks: the one that is named, or the only one."""
    if metric is not None:
        return metrics.get(metric)
    return next(iter(metrics.values())) if len(metrics) == 1 else None


class CheckpointManager:
    """Saves a tree at steps of a computation, and restores it.

    Each step is one file, `step-0000000120.safetensors`, which appears when it is whole. The file `latest`
    names the step saved last; files that are no longer wanted are deleted after that.

    Args:
        directory: the folder, made if need be. Several managers may use one.
        max_to_keep: how many of the latest steps to keep; None keeps all.
        save_interval: `save` does nothing at steps that are not multiples of this.
        keep_best: how many of the best steps to keep as well.
        metric: the name of the metric that says which is best; it may be left out where there is one only.
        mode: "min" if small values are good, "max" if large ones are.
        background: whether to write in a thread, while the computation goes on. The arrays are copied first.
            An error in it is raised by the next call of any method.

    >>> import tempfile
    >>> import numpy as np
    >>> import chainrule as cr
    >>> with cr.io.CheckpointManager(tempfile.mkdtemp(), max_to_keep=2) as manager:
    ...     for step in range(4):
    ...         _ = manager.save(step, {"w": np.full(2, float(step))}, metrics={"loss": 1.0 / (1 + step)})
    ...     manager.wait()
    ...     manager.all_steps(), manager.best_step(), manager.restore()["w"]
    ([2, 3], 3, array([3., 3.]))
    """

    def __init__(self, directory: Any, max_to_keep: int | None = None, save_interval: int = 1,
                 keep_best: int | None = None, metric: str | None = None, mode: str = "min",
                 background: bool = True):
        at_least(1, max_to_keep=max_to_keep, save_interval=save_interval)
        at_least(0, keep_best=keep_best)
        if mode not in ("min", "max"):
            raise ValueError(f"mode is 'min' or 'max', and not {mode!r}")
        self.directory = os.path.realpath(os.fspath(directory))
        os.makedirs(self.directory, exist_ok=True)
        with contextlib.suppress(OSError):
            sync_folder(os.path.dirname(self.directory))
        remove_leftovers(self.directory)
        self.folder = Folder(self.directory, metric, mode)
        self.max_to_keep, self.keep_best = max_to_keep, keep_best or 0
        self.save_interval, self.background = save_interval, background
        self.thread: threading.Thread | None = None
        self.failure: BaseException | None = None
        self.pending: int | None = None
        self.closed = False

    # saving

    def save(self, step: int, tree: Any, metrics: Any = None, force: bool = False,
             overwrite: bool = False) -> bool:
        """Save a tree as it is now.

        Args:
            step: a non-negative int.
            tree: what `chainrule.io.save` takes.
            metrics: a number, or a dictionary of numbers, by which steps are compared.
            force: save at a step that is not a multiple of `save_interval`, too.
            overwrite: replace the file of this step, if there is one.

        Returns:
            Whether this step is saved.

        Raises:
            FileExistsError: this step was saved before. SaveError (a TypeError): the tree holds something
            that cannot be saved. What the last save in the background raised.
        """
        if self.closed:
            raise ValueError(f"the manager of {self.directory} is closed")
        if isinstance(step, bool) or not hasattr(step, "__index__") or step < 0:
            raise ValueError(f"a step is a non-negative int, and not {step!r}")
        step = step.__index__()
        self.wait()
        if step % self.save_interval and not force:
            return False
        if not overwrite and os.path.exists(self.folder.file(step)):
            raise FileExistsError(f"{self.folder.file(step)} exists; overwrite=True would replace it")
        extra = {"step": str(step), "metrics": json.dumps(as_metrics(metrics))}
        text, arrays = describe(tree, copy=self.background)
        if not self.background:
            self.write(step, text, arrays, extra)
            return True
        self.pending = step
        self.thread = threading.Thread(target=self.write_quietly, args=(step, text, arrays, extra),
                                       name=f"chainrule checkpoint {step}")
        self.thread.start()
        return True

    def write_quietly(self, *what: Any) -> None:
        try:
            self.write(*what)
        except BaseException as error:
            self.failure = error

    def write(self, step: int, text: Any, arrays: dict, extra: dict[str, str]) -> None:
        """The file, then the name of the latest, then deletions: what goes has a successor on the disk."""
        path = self.folder.file(step)
        try:
            write(path, text, arrays, extra)
            latest = f"{os.path.basename(path)}\n".encode()
            replace_file(os.path.join(self.directory, LATEST), [latest], lambda written: None)
            self.folder.delete(self.unwanted(step))
        except OSError as error:
            error.add_note(f"while saving step {step} to {path}")
            raise

    def unwanted(self, newest: int) -> list[int]:
        if self.max_to_keep is None:
            return []
        steps = self.folder.steps()
        kept = {newest, *steps[-self.max_to_keep:]}
        if self.keep_best:
            kept |= set(self.folder.ranked()[:self.keep_best])
        return [step for step in steps if step not in kept]

    # reading

    def restore(self, step: int | None = None, like: Any = None, cast: bool = False) -> Any:
        """The tree of a step.

        Args:
            step: by default the latest one that is undamaged; damaged ones are passed over with a warning.
            like, cast: as for `chainrule.io.load`.

        Raises:
            FileNotFoundError: there is no such step. CorruptFileError (a ValueError): the file of this step,
            or of all steps, is damaged. MismatchError (a ValueError): the tree is not as `like` is.
        """
        self.wait()
        guided = like is not None
        if step is not None:
            if not os.path.exists(self.folder.file(step)):
                raise FileNotFoundError(f"there is no step {step} in {self.directory}; there are "
                                        f"{self.folder.steps()}")
            return load(self.folder.file(step), like, guided, cast)
        damaged = []
        for one in reversed(self.folder.named()):
            try:
                return load(self.folder.file(one), like, guided, cast)
            except FileNotFoundError:
                continue
            except CorruptFileError as error:
                warnings.warn(f"{error}; an earlier step is restored", stacklevel=2)
                damaged.append(str(error))
        if damaged:
            raise CorruptFileError("no step is undamaged:\n" + "\n".join(damaged))
        raise FileNotFoundError(f"there are no checkpoints in {self.directory}")

    def latest_step(self) -> int | None:
        """The last step whose file is complete; None if there is none."""
        steps = self.all_steps()
        return steps[-1] if steps else None

    def all_steps(self) -> list[int]:
        """The steps whose files are complete, in order."""
        self.raise_failure()
        return self.folder.steps()

    def best_step(self) -> int | None:
        """The step with the best metric, of equals the last; None if no step has one that is finite."""
        self.raise_failure()
        return next(iter(self.folder.ranked()), None)

    # the thread

    def raise_failure(self) -> None:
        failure, self.failure = self.failure, None
        if failure is not None:
            failure.add_note(f"raised in the background, where step {self.pending} was saved")
            raise failure

    def wait(self) -> None:
        """Wait until what is being saved is on the disk."""
        if self.thread is not None:
            self.thread.join()
            self.thread = None
        self.raise_failure()

    def close(self) -> None:
        """Wait, and save nothing more."""
        self.closed = True
        self.wait()

    def __enter__(self) -> CheckpointManager:
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        try:
            self.close()
        except BaseException as failure:
            if error is None:
                raise
            error.add_note(f"moreover, a checkpoint was not saved: {failure!r}")


def as_metrics(metrics: Any) -> dict[str, float]:
    """Metrics as a dictionary of Python numbers; those that are not finite are left out, as JSON has none."""
    named = metrics if isinstance(metrics, Mapping) else {} if metrics is None else {"value": metrics}
    numbers = {str(name): float(value) for name, value in named.items()}
    return {name: value for name, value in numbers.items() if math.isfinite(value)}


def at_least(least: int, **options: int | None) -> None:
    for name, value in options.items():
        if value is not None and (not isinstance(value, int) or value < least):
            raise ValueError(f"{name} is an int of at least {least}, and not {value!r}")
