import textwrap

import gast
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.codegen.jumps import lower_jumps
from chainrule.codegen.live_names import assigned_names, live_after, upward_exposed

COMPOUND = (gast.If, gast.For, gast.While, gast.With, gast.Match)


def tree_of(text):
    return lower_jumps(gast.parse(textwrap.dedent(text)).body[0])


def live_at(text, line):
    """The names live after the compound statement that starts on the line."""
    live = live_after(tree_of(text))
    [names] = [names for node, names in live.items() if isinstance(node, COMPOUND) and node.lineno == line]
    return set(names)


def exposed(text):
    return set(upward_exposed(gast.parse(textwrap.dedent(text)).body[0]))


@pytest.mark.parametrize(
    "title, body, live",
    [
        ("read later", "if c:\n  a = 1\nreturn a + b", "a b"),
        ("assigned before it is read", "if c:\n  a = 1\na = b\nreturn a", "b"),
        ("augmented", "if c:\n  a = 1\na += b\nreturn a", "a b"),
        ("item assignment reads its base", "if c:\n  a = b\na[b] = c\nreturn 0", "a b c"),
        ("deleted", "if c:\n  a = 1\ndel a\nreturn 0", "a"),
        ("raise ends the path", "if c:\n  a = 1\nif b:\n  raise E\nelse:\n  a = 2\nreturn a", "b"),
        ("walrus", "if c:\n  a = 1\nreturn (a := b) + a", "b"),
        ("walrus that may not run", "if c:\n  a = 1\nb and (a := b)\nreturn a", "a b"),
        ("walrus in a chain", "if c:\n  a = 1\nb < (a := b)\nreturn a", "b"),
        ("conditional expression", "if c:\n  a = 1\nb = (a := 2) if b else 3\nreturn a", "a b"),
        ("for target", "if c:\n  a = 1\nfor a in b:\n  pass\nreturn a", "a b"),
        ("with", "if c:\n  a = 1\nwith b as a:\n  d = a\nreturn d", "b"),
        ("match", "if c:\n  a = 1\nmatch b:\n  case [a]:\n    pass\n  case _:\n    a = 2\nreturn a", "b"),
        ("match that may bind nothing", "if c:\n  a = 1\nmatch b:\n  case [a]:\n    pass\nreturn a", "a b"),
        ("try", "if c:\n  a = 1\ntry:\n  a = g()\nexcept b:\n  pass\nreturn a", "a b"),
        ("comprehension", "if c:\n  a = 1\nreturn [a for a in b]", "b"),
        ("comprehension over its own name", "if c:\n  a = 1\nreturn [a for a in a]", "a"),
        ("annotation only", "if c:\n  a = 1\na: b\nreturn 0", ""),
        ("annotated", "if c:\n  a = 1\na: int = b\nreturn a", "b"),
        ("import", "if c:\n  a = 1\nimport a.x\nreturn a", ""),
        ("a lambda defined later", "if c:\n  a = 1\nreturn lambda a: a + b", "b"),
        ("a function's own names", "if c:\n  a = 1\ndef g(b):\n  a = b\n  return a + c\nreturn g", "c"),
        ("defaults are read in place", "if c:\n  a = 1\ndef g(b=a):\n  return b\nreturn g", "a"),
        ("assert", "if c:\n  a = 1\nassert b, a\nreturn 0", "a b"),
    ],
)
def test_live_after_the_first_if(title, body, live):
    assert live_at("def f(a, b, c, d):\n" + textwrap.indent(body, "  "), 2) == set(live.split())


def test_late_binding_keeps_names_live_everywhere():
    text = """\
    def f(a, b):
        g = lambda: a
        if b:
            a = 1
        a = 2
        return g()
    """
    assert live_at(text, 3) == {"a", "g"}
    assert live_at(text.replace("lambda: a", "(a for _ in b)").replace("g()", "list(g)"), 3) == {"a", "g"}


def test_declared_names_are_always_live():
    text = "def f(a):\n    global total\n    if a:\n        total = a\n    return 0"
    assert live_at(text, 3) == {"total"}
    text = (
        "def f(a):\n    def g():\n        nonlocal a\n        a = 2\n    if a:\n        a = 3\n    return 0"
    )
    assert live_at(text, 5) == {"a"}


def test_in_a_loop_the_next_iteration_counts():
    text = """\
    def f(n, x):
        s = 0
        t = 0
        while n > s:
            if x:
                t = s
            if t:
                n = n - 1
            t = 0
        return s
    """
    assert live_at(text, 5) == {"n", "s", "t", "x"}
    assert live_at(text, 7) == {"n", "s", "x"}
    assert live_at(text, 4) == {"s"}


def test_flags_are_read_by_their_loop():
    text = "def f(n):\n    for i in n:\n        if i:\n            break\n    return 0"
    assert live_at(text, 3) == {"stop"}
    loop = tree_of(text).body[1]
    assert upward_exposed(loop) == {"stop"}


@pytest.mark.parametrize(
    "text, names",
    [
        ("for i in a:\n  s = s + i", "s"),
        ("for i in a:\n  t = i\n  s += t", "s"),
        ("for i in a:\n  if i:\n    t = i\n  s = t", "t"),
        ("for i in a:\n  if i:\n    t = i\n  else:\n    t = 1\n  s = t", ""),
        ("for i in a:\n  x[i] = 0", "x"),
        ("while n > 0:\n  n = n - 1", "n"),
        ("while (n := g) > 0:\n  t = n", "g"),
        ("for i in a:\n  for j in b:\n    s = j\n  t = s", "b s"),
        ("for i, x[0] in a:\n  pass", "x"),
    ],
)
def test_upward_exposed(text, names):
    assert exposed(text) == set(names.split())


def test_assigned_names():
    text = """
    a = b, *c = d[0] = e.x = 1
    f += 1
    g: int = 2
    for h, (i, j) in []: k = 1
    with m as n, o: pass
    import p.q, r as s
    from t import u
    def v(w=(x := 1)): y = 1
    class A(B): z = 1
    l = [aa for aa in (bb := [])]
    del cc
    match dd:
        case [ee, *ff] | {"x": gg, **hh}: pass
        case Z(ii) as jj: pass
        case _: pass
    try: pass
    except E as kk: pass
    lambda ll: (mm := 1)
    """
    wanted = "a b c f g h i j k n p s u v x A l bb cc ee ff gg hh ii jj kk"
    assert assigned_names(gast.parse(textwrap.dedent(text)).body) == set(wanted.split())
    assert assigned_names(gast.parse("from x import *").body[0]) == frozenset()


NAMES = st.sampled_from("abc")


@st.composite
def blocks(draw, depth=3, in_loop=False):
    lines = []
    for _ in range(draw(st.integers(1, 4))):
        kinds = (
            ["assign"] * 3
            + ["log", "walrus"]
            + ["jump"] * in_loop
            + ["if", "if", "for", "while"] * (depth > 0)
        )
        kind = draw(st.sampled_from(kinds))
        a, b, c = draw(NAMES), draw(NAMES), draw(NAMES)
        simple = {
            "assign": f"{a} = {b} + {draw(st.integers(0, 9))}",
            "log": f"log({a})",
            "walrus": f"log(({a} := {b} * 3) % 2 and ({c} := 5))",
            "jump": f"if {a} % 2: {draw(st.sampled_from(['break', 'continue']))}",
        }
        if kind in simple:
            lines.append(simple[kind])
            continue
        heads = {"if": f"if {a} % 3:", "for": f"for {a} in range({b} % 4):", "while": f"while step({a}) % 3:"}
        lines.append(heads[kind])
        lines += ["    " + line for line in draw(blocks(depth - 1, in_loop or kind != "if"))]
        if draw(st.booleans()):
            lines += ["else:", *("    " + line for line in draw(blocks(depth - 1, in_loop)))]
    return lines


class Poison(gast.NodeTransformer):
    """Spoils, after every compound statement and at the start of every iteration, what is said to be dead."""

    def __init__(self, tree):
        self.live = live_after(tree)

    def spoil(self, names):
        return [gast.parse(f"{name} = None").body[0] for name in sorted(names)]

    def generic_visit(self, node):
        if not isinstance(node, COMPOUND):
            return super().generic_visit(node)
        live = self.live[node]
        spoilt = set()
        if isinstance(node, (gast.For, gast.While)):
            bound = assigned_names(node.target if isinstance(node, gast.For) else node.test)
            spoilt = assigned_names(node.body) - upward_exposed(node) - live - bound
        super().generic_visit(node)
        node.body[:0] = self.spoil(spoilt)
        if getattr(node, "stop", None):
            node.body.append(gast.parse(f"if {node.stop}: break").body[0])
        return [node, *self.spoil({*"abc"} - live)]


def outcome(tree):
    seen = []

    def step(value):
        seen.append(value)
        if len(seen) > 80:
            raise OverflowError
        return value + len(seen)

    namespace = {"log": step, "step": step}
    exec(gast.unparse(tree), namespace)
    try:
        return namespace["f"](1, 2, 3), seen
    except OverflowError:
        return "stopped", seen


@settings(max_examples=300, deadline=None)
@given(blocks())
def test_what_is_dead_may_be_spoilt(lines):
    text = "def f(a, b, c):\n" + textwrap.indent("\n".join(lines), "    ") + "\n    return a\n"
    tree = gast.parse(text).body[0]
    after = lower_jumps(tree)
    spoilt = Poison(after).visit(after)
    assert outcome(spoilt) == outcome(gast.parse(text)), text + gast.unparse(spoilt)
