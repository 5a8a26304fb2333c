"""The training script of docs/training.md, killed and started again, ends with the bits of a whole run."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import chainrule as cr

PAGE = Path(__file__).parents[2] / "docs" / "training.md"
STEPS = 400
PATIENCE = 240


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    """The page's functions, and a call of them with the folder that is given."""
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    functions = [block for block in blocks if not re.search(r"^print", block, re.MULTILINE)]
    path = tmp_path_factory.mktemp("script") / "training.py"
    end = f'import sys\ncr.io.save(sys.argv[2], train(sys.argv[1], {STEPS}))\nprint("done")\n'
    path.write_text("\n".join([*functions, end]))
    return path


def started(script, folder, result):
    """A process, whose compiled programs the next one finds."""
    environment = {**os.environ, "CHAINRULE_CACHE": str(script.parent / "cache")}
    command = [sys.executable, script, folder, result]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


def saved_steps(folder):
    return sorted(int(re.search(r"\d+", path.name)[0]) for path in folder.glob("step-*.safetensors"))


def killed_after(script, folder, result, step):
    """Start the script, and kill it when it has saved a step that is as late."""
    process = started(script, folder, result)
    patience = time.monotonic() + PATIENCE
    while not (steps := saved_steps(folder)) or steps[-1] < step:
        assert process.poll() is None and time.monotonic() < patience
        time.sleep(0.002)
    process.kill()
    return process.communicate(timeout=PATIENCE)[0]


def finished(script, folder, result):
    assert started(script, folder, result).communicate(timeout=PATIENCE)[0] == "done\n"
    return cr.io.load(result)


def test_a_killed_run_goes_on_to_the_same_bits(script, tmp_path):
    folder, result = tmp_path / "killed", tmp_path / "killed.safetensors"
    for step in (10, 130):
        assert killed_after(script, folder, result, step) == "" and not result.exists()
        assert saved_steps(folder)[-1] < STEPS
    continued = finished(script, folder, result)
    whole = finished(script, tmp_path / "whole", tmp_path / "whole.safetensors")
    assert continued["count"] == STEPS
    assert cr.tree.structure(continued) == cr.tree.structure(whole)
    assert cr.tree.all(cr.tree.map(np.array_equal, continued, whole))
