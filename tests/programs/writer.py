"""Small programs made at random: statements, loops, branches, writes in place.

Each is the text of a function `f(x, y)` of a vector of four and a scalar. Everything stays within bounds and
smooth: sines and damped sums, so that differences can judge.
"""

from __future__ import annotations

from hypothesis import strategies as st

SCALARS = ("a", "b")
ARRAYS = ("u", "v")


@st.composite
def programs(draw, depth: int = 2) -> str:
    """The text of a program."""
    lines = ["def f(x, y):", "    a, b = y, 0.5", "    u, v = x * 1.5, np.cos(x)"]
    lines += draw(block(1, depth, False, ()))
    lines += ["    return np.sum(u * v) + a * b"]
    return "\n".join(lines) + "\n"


@st.composite
def block(draw, indent: int, depth: int, in_loop: bool, counters: tuple[str, ...]) -> list[str]:
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        lines += draw(statement(indent, depth, in_loop, counters))
    return lines


@st.composite
def statement(draw, indent: int, depth: int, in_loop: bool, counters: tuple[str, ...]) -> list[str]:
    pad = "    " * indent
    kinds = ["scalar", "array", "element", "slice", "update", "alias"]
    if depth:
        kinds += ["if", "for", "while"]
    if in_loop:
        kinds += ["jump"]
    match draw(st.sampled_from(kinds)):
        case "scalar":
            return [f"{pad}{draw(st.sampled_from(SCALARS))} = {draw(scalar(counters))}"]
        case "array":
            return [f"{pad}{draw(st.sampled_from(ARRAYS))} = {draw(array(counters))}"]
        case "element":
            name = draw(st.sampled_from(ARRAYS))
            return [
                f"{pad}{name} = {name}.copy()",
                f"{pad}{name}[{draw(index(counters))}] = {draw(scalar(counters))}",
            ]
        case "slice":
            name, part = (
                draw(st.sampled_from(ARRAYS)),
                draw(st.sampled_from(["1:", ":-1", "::2", "::-1", "1:3"])),
            )
            return [
                f"{pad}{name} = {name}.copy()",
                f"{pad}{name}[{part}] = np.sin({draw(st.sampled_from(ARRAYS))}[{part}]"
                f" + {draw(scalar(counters))})",
            ]
        case "update":
            name = draw(st.sampled_from(ARRAYS))
            return [
                f"{pad}{name} = 1.0 * {name}",
                f"{pad}{name} += 0.5 * {draw(scalar(counters))}",
                f"{pad}{name}[{draw(index(counters))}] *= {draw(scalar(counters))}",
            ]
        case "alias":
            one, two = draw(st.permutations(ARRAYS))
            return [f"{pad}{one}, {two} = {two}, {one}"]
        case "if":
            lines = [
                f"{pad}if {draw(condition(counters))}:",
                *draw(block(indent + 1, depth - 1, in_loop, counters)),
            ]
            if draw(st.booleans()):
                lines += [f"{pad}else:", *draw(block(indent + 1, depth - 1, in_loop, counters))]
            return lines
        case "for":
            counter = "ijk"[len(counters)]
            bounds = draw(st.sampled_from(["0", "1", "2", "3", "len(x)", "1, 3", "3, 0, -1", "0, 4, 2"]))
            return [
                f"{pad}for {counter} in range({bounds}):",
                *draw(block(indent + 1, depth - 1, True, (*counters, counter))),
            ]
        case "while":
            counter = f"n{len(counters)}{indent}"
            return [
                f"{pad}{counter} = 0",
                f"{pad}while {counter} < 3 and {draw(condition(counters))}:",
                f"{pad}    {counter} += 1",
                *draw(block(indent + 1, depth - 1, True, counters)),
            ]
        case _:
            jump = draw(st.sampled_from(["break", "continue", "return np.sum(u) + a"]))
            return [f"{pad}if {draw(condition(counters))}:", f"{pad}    {jump}"]


@st.composite
def scalar(draw, counters: tuple[str, ...], depth: int = 2) -> str:
    inner = lambda: draw(scalar(counters, depth - 1))
    match draw(st.sampled_from(["leaf", "sine", "mean", "product"])) if depth else "leaf":
        case "sine":
            return f"np.sin({inner()})"
        case "mean":
            return f"0.5 * ({inner()} + {inner()})"
        case "product":
            return f"({inner()} * np.cos({inner()}))"
    return draw(
        st.sampled_from([*SCALARS, "y", "0.7", "u[0]", "v[-1]", "x[2]", *(f"u[{c}]" for c in counters)])
    )


@st.composite
def array(draw, counters: tuple[str, ...], depth: int = 2) -> str:
    inner = lambda: draw(array(counters, depth - 1))
    match draw(st.sampled_from(["leaf", "sine", "mean", "product", "turned"])) if depth else "leaf":
        case "sine":
            return f"np.sin({inner()})"
        case "mean":
            return f"0.5 * ({inner()} - {inner()})"
        case "product":
            return f"({inner()} * np.cos({draw(scalar(counters))}))"
        case "turned":
            return f"({inner()})[::-1]"
    return draw(st.sampled_from([*ARRAYS, "x"]))


def index(counters: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.sampled_from(["0", "-1", "2", *counters])


def condition(counters: tuple[str, ...]) -> st.SearchStrategy[str]:
    plain = st.builds(
        "{} {} {}".format, scalar(counters), st.sampled_from("<>"), st.sampled_from(["0.31", "-0.23", "0.83"])
    )
    return st.one_of(plain, st.sampled_from([f"{c} == 1" for c in counters])) if counters else plain
