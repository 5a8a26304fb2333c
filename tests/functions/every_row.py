"""The whole table."""
import collections
import importlib

SUBJECTS = ("elementwise", "special", "reductions", "scans", "sorting", "shaping", "joining", "products",
            "linear_algebra",
            "fourier", "indexing", "interpolation", "creation", "loops")

TABLE = {subject: importlib.import_module(f"tests.functions.rows.{subject}").ROWS for subject in SUBJECTS}
ROWS = [row for rows in TABLE.values() for row in rows]

REPEATED = [name for name, count in collections.Counter((s, r.name) for s,
                                                        rows in TABLE.items() for r in rows).items()
            if count > 1]


def parameters(rows, wanted=lambda row: True):
    """Arguments for pytest.mark.parametrize: the rows that are wanted, and what they are called."""
    chosen = [row for row in rows if wanted(row)]
    return {"argvalues": chosen, "ids": [row.name for row in chosen]}
