import copy
import textwrap

import gast
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chainrule.codegen.errors import UnsupportedError
from chainrule.codegen.jumps import lower_jumps
from chainrule.codegen.parse import parse, parse_text


def lowered(text):
    return lower_jumps(tree_of(text))


def tree_of(text):
    return gast.parse(textwrap.dedent(text)).body[0]


def printed(tree):
    return gast.unparse(tree).strip()


def run(tree, *args, names=None):
    """Call the function, each `for` ending after the iteration that leaves its flag true."""
    tree = copy.deepcopy(tree)
    for node in gast.walk(tree):
        if isinstance(node, gast.For) and getattr(node, "stop", None):
            node.body.append(gast.parse(f"if {node.stop}: break").body[0])
    namespace = dict(names or {})
    exec(gast.unparse(tree), namespace)
    try:
        return namespace[tree.name](*args)
    except Exception as error:
        return type(error), str(error)


def check_lowered(tree):
    returns = [node for node in gast.walk(tree) if isinstance(node, gast.Return)]
    assert returns == [tree.body[-1]]
    assert not any(isinstance(node, (gast.Break, gast.Continue)) for node in gast.walk(tree))
    for node in gast.walk(tree):
        if isinstance(node, (gast.For, gast.While)):
            assert not node.orelse
        if isinstance(node, gast.For):
            assert hasattr(node, "stop")
        if isinstance(node, (gast.stmt, gast.expr)):
            assert node.lineno and node.end_lineno and node.col_offset is not None


PROGRAMS = {
    "early return": """
        def f(n):
            if n < 2:
                return 1
            return n * 2""",
    "elif chain": """
        def f(n):
            if n < 2:
                return 1
            elif n < 4:
                n = n + 1
            elif n < 5:
                return -n
            else:
                n = n + 7
            return n""",
    "falls off the end": """
        def f(n):
            if n > 3:
                return n""",
    "bare return": """
        def f(n):
            if n > 3:
                return
            return n""",
    "no return": """
        def f(n):
            n = n + 1""",
    "raise in a branch": """
        def f(n):
            if n < 2:
                raise ValueError(n)
            elif n < 4:
                return n
            else:
                n = n + 2
            return n""",
    "break": """
        def f(n):
            total = 0
            for i in range(10):
                if i == n:
                    break
                total += i
            return total, i""",
    "continue": """
        def f(n):
            total = 0
            for i in range(10):
                if i % 2 == n % 2:
                    continue
                total += i
            return total""",
    "for else": """
        def f(n):
            for i in range(3):
                if i == n:
                    break
            else:
                i = -1
            return i""",
    "for else without break": """
        def f(n):
            for i in range(n):
                n += i
            else:
                n = -n
            return n""",
    "for else that returns": """
        def f(n):
            for i in range(3):
                if i == n:
                    break
            else:
                return -1
            return i * 10""",
    "while else": """
        def f(n):
            k = 0
            while k < 4:
                k += 1
                if k == n:
                    break
            else:
                k = 100
            return k""",
    "while True": """
        def f(n):
            while True:
                n += 1
                if n % 5 == 0:
                    break
            return n""",
    "while True with return": """
        def f(n):
            while True:
                n += 1
                if n % 5 == 0:
                    return n""",
    "return from nested loops": """
        def f(n):
            for i in range(5):
                for j in range(5):
                    if i * j == n:
                        return i, j
                    if j > i:
                        break
                    if j == 2:
                        continue
                    n += 1
                else:
                    n += 100
            return n""",
    "return in loop else": """
        def f(n):
            for i in range(3):
                while n < 10:
                    n += 3
                    if n == 7:
                        break
                else:
                    return i, n
            return n""",
    "continue in nested ifs": """
        def f(n):
            total = []
            for i in range(12):
                if i > n:
                    if i % 2:
                        if i % 3:
                            continue
                        total.append(-i)
                    elif i == 10:
                        break
                    total.append(i)
                total.append("end")
            return total""",
    "continue at the end": """
        def f(n):
            for i in range(n):
                n += i
                continue
            return n""",
    "only continue": """
        def f(n):
            for i in range(n):
                continue
            while n > 3:
                n -= 1
                if n == 4:
                    continue
            return n""",
    "with": """
        def f(n):
            with context(n):
                if n < 3:
                    return n
                n += 1
            for i in range(4):
                with context(i):
                    if i == n:
                        continue
                    if i == n - 2:
                        break
                    n += i
                n += 10
            return n""",
    "match": """
        def f(n):
            for i in range(8):
                match i:
                    case 1 | 2:
                        continue
                    case k if k == n:
                        return k * 10
                    case 6:
                        break
                match i:
                    case 3:
                        n += 1
                    case 5:
                        continue
                    case _:
                        n += 100
                n += 1
            return n""",
    "match that returns": """
        def f(n):
            match n:
                case 1:
                    return 10
                case 2:
                    return 20
            return 30""",
    "try around a whole loop": """
        def f(n):
            try:
                for i in range(9):
                    if i == n:
                        break
                    n = n / (i - 3)
            except ZeroDivisionError:
                n = -1
            return n""",
    "names taken": """
        def f(stop):
            result = returned = 0
            for skip in range(5):
                if skip == stop:
                    break
                result += skip
            for skip in range(5):
                if skip == stop + 1:
                    return result, returned
            return stop""",
    "statements that cannot be reached": """
        def f(n):
            for i in range(3):
                if i == n:
                    continue
                    n += 1
                else:
                    break
                n += 50
            return n
            n = 7""",
}


class context:
    log = []

    def __init__(self, value):
        self.value = value

    def __enter__(self):
        self.log.append(self.value)

    def __exit__(self, *error):
        self.log.append("out")


@pytest.mark.parametrize("title", PROGRAMS)
def test_programs_give_what_they_gave(title):
    before = tree_of(PROGRAMS[title])
    text = printed(before)
    after = lower_jumps(before)
    assert printed(before) == text, "the tree given was changed"
    check_lowered(after)
    names = {"context": context}
    for n in range(9):
        context.log.clear()
        wanted = run(before, n, names=names), list(context.log)
        context.log.clear()
        assert (run(after, n, names=names), context.log) == wanted, printed(after)


def test_branches_nest_without_flags():
    after = lowered("""
        def f(n):
            if n < 2:
                return 1
            n = n + 1
            return n""")
    assert (
        printed(after)
        == textwrap.dedent("""
        def f(n):
            if n < 2:
                result = 1
            else:
                n = n + 1
                result = n
            return result""").strip()
    )


def test_continue_turns_its_test_round():
    after = lowered("""
        def f(n):
            for i in n:
                if i < 0:
                    continue
                if not i:
                    continue
                g(i)
            return n""")
    assert "if not i < 0:" in printed(after) and "if i:" in printed(after)
    assert "skip" not in printed(after)


def test_while_with_break():
    tree = "def f(n):\n    while {}:\n        if g(n): break\n    return n"
    assert "stop = False\n    while not stop and n > 1:" in printed(lowered(tree.format("n > 1")))
    assert "stop = False\n    while not stop:" in printed(lowered(tree.format("True")))


def test_for_names_its_flag():
    after = lowered("""
        def f(n):
            for i in n:
                for j in n:
                    if j:
                        return j
                    if i:
                        break
            for k in n:
                pass
            return n""")
    loops = [node for node in gast.walk(after) if isinstance(node, gast.For)]
    assert {node.target.id: node.stop for node in loops} == {"i": "returned", "j": "stop", "k": None}


@pytest.mark.parametrize(
    "text",
    [
        "def f(n):\n    for i in n:\n        g(i)\n    return n",
        "def f(n):\n    if n < 0:\n        raise ValueError(n)\n    return n",
        "def f(n):\n    def g(x):\n        for i in x:\n            if i: return i\n    return g(n)",
        "def f(n):\n    try:\n        n = g(n)\n    except ValueError:\n        n = 0\n    return n",
    ],
)
def test_functions_without_jumps_come_back_unchanged(text):
    tree = tree_of(text)
    assert lower_jumps(tree) is tree and printed(tree) == printed(tree_of(text))
    assert all(node.stop is None for node in tree.body if isinstance(node, gast.For))


def test_final_return_stays_as_it_is():
    after = lowered("def f(n):\n    for i in n:\n        if i: break\n    return g(i) + 1")
    assert printed(after.body[-1]) in ("return g(i) + 1", "return (g(i) + 1)")
    assert "result" not in printed(after)


def test_nested_functions_keep_their_jumps():
    after = lowered("""
        def f(n):
            def g(x):
                while True:
                    if x: break
                if x: return 1
                return 2
            if n: return g(n)
            return lambda: n""")
    assert sum(isinstance(node, gast.Return) for node in gast.walk(after.body[0])) == 2
    assert any(isinstance(node, gast.Break) for node in gast.walk(after.body[0]))


def test_new_statements_stand_where_the_jump_stood():
    after = lowered("def f(n):\n    for i in n:\n        if i:\n            break\n    return n")
    flag = after.body[1].body[0].body[0]
    assert printed(flag) == "stop = True" and (flag.lineno, flag.col_offset) == (4, 12)
    assert after.body[0].lineno == 2


@pytest.mark.parametrize("word", ["return", "break", "continue"])
def test_jump_out_of_try_is_refused(word):
    function = parse_text(f"""
        def f(n):
            for i in range(n):
                try:
                    {word}
                finally:
                    n = 0
            return n
    """)
    source = parse(function)
    with pytest.raises(UnsupportedError) as caught:
        lower_jumps(source.tree, source)
    text = str(caught.value)
    assert f"line 4, in f\n    {word}\n    {'^' * len(word)}\na {word} inside try is not supported" in text
    assert f"Instead: set a variable inside the try statement, and {word} after it" in text
    with pytest.raises(UnsupportedError, match="inside try"):
        lower_jumps(source.tree)


SIMPLE = st.sampled_from(["log", "log", "break", "continue", "return", "raise"])


@st.composite
def blocks(draw, depth=3, in_loop=False):
    """The lines of a random block: nested statements that log each place they pass."""
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(
            st.sampled_from(["simple", "if", "if", "for", "while", "with", "match"] if depth else ["simple"])
        )
        if kind == "simple":
            word = draw(SIMPLE)
            if word in ("break", "continue") and not in_loop:
                word = "log"
            number = draw(st.integers(0, 99))
            texts = {
                "log": f"log({number})",
                "return": f"return {number}",
                "raise": f"raise ValueError({number})",
            }
            lines.append(texts.get(word, word))
            continue
        loop = kind in ("for", "while")
        body = draw(blocks(depth - 1, in_loop or loop))
        orelse = draw(st.none() | blocks(depth - 1, in_loop)) if kind not in ("with", "match") else None
        heads = {
            "if": "if test():",
            "for": "for i in range(3):",
            "while": draw(st.sampled_from(["while test():", "while True:"])),
            "with": "with context(0):",
            "match": "match test():",
        }
        lines.append(heads[kind])
        if kind == "match":
            patterns = draw(st.sampled_from([["True"], ["True", "False"], ["True", "_"]]))
            for pattern in patterns:
                inner = draw(blocks(depth - 1, in_loop))
                lines += [f"    case {pattern}:", *("        " + line for line in inner)]
            continue
        lines += ["    " + line for line in body]
        if orelse:
            lines += ["else:", *("    " + line for line in orelse)]
    return lines


def trace(tree, bits):
    """What the function does: its result, and the places it passes, until it has used up its fuel."""
    seen, answers = [], list(bits)

    def log(value):
        seen.append(value)
        if len(seen) > 60:
            raise RuntimeError("out of fuel")

    def test():
        log("test")
        answers.append(answers.pop(0))
        return answers[-1]

    context.log = seen
    result = run(tree, names={"log": log, "test": test, "context": context})
    return result, seen


@settings(max_examples=300, deadline=None)
@given(blocks(), st.lists(st.lists(st.booleans(), min_size=1, max_size=7), min_size=3, max_size=3))
def test_random_programs_give_what_they_gave(lines, scripts):
    # A loop that never logs would never end.
    text = "\n".join(line.replace("while True:", "while log(-1) is None:") for line in lines)
    tree = tree_of("def f():\n" + textwrap.indent(text, "    "))
    after = lower_jumps(tree)
    check_lowered(after)
    for bits in scripts:
        assert trace(after, bits) == trace(tree, bits), printed(tree) + "\n\n" + printed(after)


@settings(max_examples=100, deadline=None)
@given(blocks(), st.lists(st.booleans(), min_size=1, max_size=7))
def test_random_programs_with_endless_loops(lines, bits):
    tree = tree_of("def f():\n" + textwrap.indent("\n".join(lines), "    "))
    for node in gast.walk(tree):
        if isinstance(node, gast.While):
            node.body.insert(0, gast.parse("log(-1)").body[0])
            gast.copy_location(node.body[0], node)
            gast.fix_missing_locations(node)
    after = lower_jumps(tree)
    check_lowered(after)
    assert trace(after, bits) == trace(tree, bits), printed(tree) + "\n\n" + printed(after)
