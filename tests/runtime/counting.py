"""Run as a process: calls run() of the module `work` in a folder, and prints what had to be made for it."""

import importlib
import json
import sys

import numpy as np
from numba.core import event

import chainrule.runtime.compiled as compiled
from chainrule.backends.numba import machine_code
from chainrule.runtime import kept_texts

COUNTS = {"compiled": 0, "emitted": 0}


class Compilations(event.Listener):
    def on_start(self, event):
        COUNTS["compiled"] += 1

    def on_end(self, event):
        pass


def counted(function):
    def emit(*arguments, **options):
        COUNTS["emitted"] += 1
        return function(*arguments, **options)

    return emit


def listed(value):
    if isinstance(value, (tuple, list)):
        return [listed(part) for part in value]
    return [str(np.asarray(value).dtype), np.asarray(value).tolist()]


def main(folder):
    # chainrule itself may be being edited while the tests run
    machine_code.versions = kept_texts.installed = tuple
    event.register("numba:compile", Compilations())
    compiled.numba_text = counted(compiled.numba_text)
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    print(json.dumps({"result": listed(importlib.import_module("work").run()), **COUNTS}))


if __name__ == "__main__":
    main(sys.argv[1])
