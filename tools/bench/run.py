"""Runs rows, each in processes of its own, and puts their figures together."""
from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import Any

from . import bundle_adjustment, dynamic, linear_algebra, models, stencils, transformed
from .row import Row

SUBJECTS = stencils, linear_algebra, models, bundle_adjustment, dynamic, transformed
ROWS: list[Row] = [row for subject in SUBJECTS for row in subject.ROWS]
PLAIN = "--xla_cpu_experimental_ynn_fusion_type="  # without a fusion of XLA that makes some programs slower
LIMIT = 300  # seconds for one process
# glibc keeps what is freed, for every contender: else those that allocate measure the system's page faults
KEPT_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(2**31 - 1), "MALLOC_MMAP_THRESHOLD_": str(2**30)}

RATIOS = {
    "gradient_over_jax_best": ("gradient", "jax_gradient"),
    "gradient_over_jax_port": ("gradient", "jax_port_gradient"),
    "gradient_over_hand": ("gradient", "hand_gradient"),
    "gradient_over_autograd": ("gradient", "autograd_gradient"),
    "gradient_over_primal": ("gradient", "primal"),
    "primal_over_jax_best": ("primal", "jax_primal"),
}


def selected(words: list[str]) -> list[Row]:
    """The rows whose title contains one of the words, or all."""
    return [row for row in ROWS if not words or any(word in row.title for word in words)]


def worker(row: Row, quick: bool, ports: bool, flags: str, cache: str) -> dict[str, Any]:
    """What measure.py finds in a fresh process with these flags for XLA, and this folder for chainrule."""
    command = [sys.executable, "-m", "chainrule.tools.bench", "--worker", row.title]
    command += ["--quick"] * quick + ["--ports"] * ports
    environment = os.environ | KEPT_MEMORY | {
        "XLA_FLAGS": f"{os.environ.get('XLA_FLAGS', '')} {flags}".strip(),
        "CHAINRULE_CACHE": cache,
    }
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return failed(f"took more than {LIMIT} s")
    if done.returncode:
        return failed((done.stderr.strip() or "ended").splitlines()[-1])
    return json.loads(done.stdout.splitlines()[-1])


def failed(reason: str) -> dict[str, Any]:
    return {"first": {}, "time": {}, "peak": {}, "errors": {"process": reason}}


def figures(row: Row, quick: bool) -> dict[str, Any]:
    """A row's figures from two processes: every contender has the better of its two medians."""
    with tempfile.TemporaryDirectory() as cache:
        runs = [worker(row, quick, True, "", cache), worker(row, quick, False, PLAIN, cache)]
    names = runs[0]["time"] | runs[1]["time"]
    time = {name: min(run["time"][name] for run in runs if name in run["time"]) for name in names}
    return {
        "name": row.title,
        "time": time,
        "compile": runs[0]["first"],
        "second_process": runs[1]["first"].get("gradient"),
        "peak": runs[0]["peak"],
        "errors": runs[1]["errors"] | runs[0]["errors"],
        "why": row.why,
        "ratios": {
            ratio: time[ours] / time[theirs]
            for ratio, (ours, theirs) in RATIOS.items()
            if ours in time and theirs in time
        },
    }
