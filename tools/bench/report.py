"""Prints figures as a table and their geometric means."""
from __future__ import annotations

import math
from typing import Any

from .contenders import installed
from .run import RATIOS

TIMES = {
    "primal": "primal", "gradient": "gradient", "jax_primal": "JAX primal", "jax_gradient": "JAX best",
    "jax_port_gradient": "JAX port", "autograd_gradient": "Autograd", "hand_gradient": "by hand",
    "numpy_primal": "NumPy primal",
}  # fmt: skip


def geometric_means(rows: list[dict]) -> dict[str, float | None]:
    """The mean of each ratio over the rows that have it, None where none has."""
    means = {}
    for ratio in RATIOS:
        values = [row["ratios"][ratio] for row in rows if ratio in row["ratios"]]
        mean = math.exp(sum(map(math.log, values)) / len(values)) if values else None
        means[f"{ratio}_geomean"] = mean
    return means


def cell(value: float | None, scale: float = 1.0) -> str:
    return "-" if value is None else f"{value * scale:.3g}"


def absent(name: str) -> str:
    """What stands in a cell without a figure."""
    package = name.split("_")[0]
    return "not installed" if package in ("jax", "autograd") and not installed(package) else "-"


def line(row: dict[str, Any]) -> str:
    times = [cell(row["time"][name], 1e3) if name in row["time"] else absent(name) for name in TIMES]
    compiles = [cell(row["compile"].get(name)) for name in ("gradient", "jax_gradient")]
    peaks = [cell(row["peak"].get(name), 2**-20) for name in ("primal", "gradient")]
    ratios = [cell(row["ratios"].get(name)) for name in RATIOS]
    cells = [row["name"], *times, *ratios, *compiles, cell(row["second_process"]), *peaks]
    return "| " + " | ".join(cells) + " |"


def heading() -> str:
    compiles = ["compile", "JAX compile", "second process"]
    ratios = [ratio.replace("_", " ") for ratio in RATIOS]
    names = ["row", *TIMES.values(), *ratios, *compiles, "MB primal", "MB gradient"]
    return "| " + " | ".join(names) + " |\n|" + " --- |" * len(names)


def notes(row: dict[str, Any]) -> list[str]:
    """What went wrong, and what is known to stand in the way."""
    found = [f"{row['name']}, {who}: {what}" for who, what in row["errors"].items()]
    return found + ([f"{row['name']}: {row['why']}"] if row["why"] else [])
