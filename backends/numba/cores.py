"""Sharing the turns of a loop among the processor's cores.

A compiled function does the turns from `start` to `stop` of a loop whose turns do not depend on each other,
and holds no lock while it does. The first of them are done, and timed, before the others are given out: work
that would not pay for the threads is finished at once. Once turns have taken long, all are given out.

>>> import numpy as np
>>> squares = np.empty(1000)
>>> def turns(start, stop, squares):
...     squares[start:stop] = np.arange(start, stop) ** 2
>>> share(turns, 0, 1000, squares)
>>> squares[-1] == 999**2
np.True_
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections.abc import Callable
from time import perf_counter
from typing import Any
from weakref import WeakKeyDictionary

from .blas_threads import one_thread

# From here on two threads take less time than one, also where nothing is in the caches (docs/performance.md).
WORTH_SHARING = 250e-6  # seconds
PIECES = 8  # for each core, since some turns take longer than others
PROBE = 16  # one part in so many is done before
DOUBT = 4  # times as long as is worth sharing: up to that, another part is done before


def available() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Worker:
    """A thread that waits for work: given to it in a third of the time that an executor of Python's takes."""

    def __init__(self):
        self.free, self.begin = threading.Lock(), threading.Lock()
        self.begin.acquire()
        self.work: Callable | None = None
        threading.Thread(target=self.run, name="chainrule", daemon=True).start()

    def run(self) -> None:
        while True:
            self.begin.acquire()
            try:
                self.work()
            finally:
                self.work = None
                self.free.release()

    def start(self, work: Callable) -> None:
        """Let it do some work, unless it has other work."""
        if self.free.acquire(blocking=False):
            self.work = work
            self.begin.release()


class Pool:
    """As many workers as there are cores but for the caller's own."""

    def __init__(self):
        self.cores = available()
        self.lock = threading.Lock()
        self.workers: list[Worker] = []

    def submit(self, work: Callable) -> None:
        """Let every free worker do some work, beside the caller."""
        if len(self.workers) < self.cores - 1:
            with self.lock:
                while len(self.workers) < self.cores - 1:
                    self.workers.append(Worker())
        for worker in self.workers[: self.cores - 1]:
            worker.start(work)

    def resize(self, cores: int) -> None:
        """Use so many cores from now on."""
        self.cores = cores

    def forked(self) -> None:
        """Forget the threads of the parent process, which this one has not."""
        self.lock, self.workers = threading.Lock(), []


POOL = Pool()
# What a turn took when a function's turns were last shared.
SECONDS: WeakKeyDictionary[Callable, float] = WeakKeyDictionary()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=POOL.forked)


def share(function: Callable, start: int, stop: int, *operands: Any) -> None:
    """Do the turns from `start` to `stop`, on several cores if they take long.

    An exception is that of the first turn that raises one, as in a loop.
    """
    count = stop - start
    if count <= 0:
        return
    if POOL.cores == 1 or count == 1:
        return function(start, stop, *operands)
    if (took := SECONDS.get(function)) is None or took * count < 2 * WORTH_SHARING:
        for _ in range(2):
            probed = start + max(count // PROBE, 1)
            begin = perf_counter()
            function(start, probed, *operands)
            left = (perf_counter() - begin) / (probed - start) * (stop - probed)
            if left < WORTH_SHARING:
                return function(probed, stop, *operands)
            start = probed
            # The first turns also wait for the caches; if that may be all, the next ones tell.
            if count < PROBE or left >= DOUBT * WORTH_SHARING:
                break
    # Where there is a turn for every core, none is left for threads of BLAS.
    with one_thread() if count >= POOL.cores else contextlib.nullcontext():
        SECONDS[function] = Shared(function, start, stop, operands).run()


class Shared:
    """Turns that are being done in pieces, by whichever thread is free."""

    def __init__(self, function: Callable, start: int, stop: int, operands: tuple):
        self.function, self.stop, self.operands = function, stop, operands
        self.size = max((stop - start) // (PIECES * POOL.cores), 1)
        self.starts = itertools.count(start, self.size)
        self.count, self.seconds = stop - start, []
        self.helping: list[threading.Lock] = []
        self.errors: dict[int, BaseException] = {}

    def run(self) -> float:
        """Do all turns; answer how many seconds each took."""
        POOL.submit(self.help)
        self.work()
        # A worker that begins after this finds nothing left.
        for ended in list(self.helping):
            ended.acquire()
        if self.errors:
            raise self.errors[min(self.errors)]
        return sum(self.seconds) / self.count

    def help(self) -> None:
        """What a worker does."""
        ended = threading.Lock()
        with ended:
            self.helping.append(ended)
            self.work()

    def work(self) -> None:
        """Do one piece after the other until none is left; pieces after one that failed are left undone."""
        begin = perf_counter()
        for start in self.starts:
            if start >= self.stop or self.errors:
                self.seconds.append(perf_counter() - begin)
                return
            try:
                self.function(start, min(start + self.size, self.stop), *self.operands)
            except BaseException as error:
                self.errors[start] = error
