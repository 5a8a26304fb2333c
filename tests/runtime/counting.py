"""Run as a process: calls run() of the module `work` in a folder, and prints what had to be made for it."""

import importlib
import json
import sys

import numpy as np
from numba.core import event

from chainrule.backends.numba import machine_code
from chainrule.runtime import compiled, kept_programs, kept_texts, transformation

COUNTS = {"compiled": 0, "emitted": 0, "specialised": 0}


class Compilations(event.Listener):
    def on_start(self, event):
        COUNTS["compiled"] += 1

    def on_end(self, event):
        pass


def counted(function, name):
    def call(*arguments, **options):
        COUNTS[name] += 1
        return function(*arguments, **options)

    return call


def listed(value):
    if isinstance(value, (tuple, list)):
        return [listed(part) for part in value]
    return [str(np.asarray(value).dtype), np.asarray(value).tolist()]


def main(folder):
    # chainrule itself may be being edited while the tests run
    machine_code.versions = kept_texts.installed = kept_programs.environment = tuple
    event.register("numba:compile", Compilations())
    compiled.numba_text = counted(compiled.numba_text, "emitted")
    transformation.specialise = counted(transformation.specialise, "specialised")
    sys.path.insert(0, folder)
    sys.dont_write_bytecode = True
    print(json.dumps({"result": listed(importlib.import_module("work").run()), **COUNTS}))


if __name__ == "__main__":
    main(sys.argv[1])
