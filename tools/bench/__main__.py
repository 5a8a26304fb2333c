"""python -m chainrule.tools.bench [-k WORD ...] [--quick] [--json FILE]

Times in ms, compile times in s. JAX and Autograd are optional: pip install chainrule[bench].
"""
from __future__ import annotations

import argparse
import json
from pathlib import Path

from .measure import measure
from .report import cell, geometric_means, heading, line, notes
from .run import ROWS, figures, selected


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m chainrule.tools.bench", description=__doc__)
    parser.add_argument("-k", nargs="+", default=[], metavar="WORD", help="rows with one of the words")
    parser.add_argument("--quick", action="store_true", help="small sizes: a check, not a measurement")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every row's figures and the means")
    parser.add_argument("--worker", metavar="ROW", help=argparse.SUPPRESS)
    parser.add_argument("--ports", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def work(title: str, quick: bool, ports: bool) -> None:
    row = next(row for row in ROWS if row.title == title)
    print(json.dumps(measure(row, quick, ports)))


def main() -> None:
    chosen = options()
    if chosen.worker:
        return work(chosen.worker, chosen.quick, chosen.ports)
    print(heading(), flush=True)
    rows, means = [], {}
    for row in selected(chosen.k):
        rows.append(figures(row, chosen.quick))
        print(line(rows[-1]), flush=True)
        means = geometric_means(rows)
        if chosen.json:  # after every row: a run may be cut short
            chosen.json.write_text(json.dumps(means | {"rows": rows}, indent=1))
    print("", *(f"{name}: {cell(mean)}" for name, mean in means.items()), sep="\n")
    print("", *(note for row in rows for note in notes(row)), sep="\n")


if __name__ == "__main__":
    main()
