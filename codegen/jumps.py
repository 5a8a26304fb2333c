"""Rewrite break, continue and early return into nested statements and, where it must be, flags.

Afterwards there is one return, the last statement of the function, and no break or continue. What follows
a branch that jumps moves into the other branch. A flag appears only where a loop stops early, or where
a jump inside a branch that may also run on must skip what comes after it.

    >>> import gast
    >>> tree = gast.parse('''
    ... def first(a, n):
    ...     if n < 2:
    ...         return a
    ...     for x in a:
    ...         if x < 0:
    ...             continue
    ...         n = n - 1
    ...         if n == 0:
    ...             break
    ...     return n
    ... ''').body[0]
    >>> print(gast.unparse(lower_jumps(tree)).strip())
    def first(a, n):
        if n < 2:
            result = a
        else:
            stop = False
            for x in a:
                if not x < 0:
                    n = n - 1
                    if n == 0:
                        stop = True
            result = n
        return result

A `for` that stops early names its flag in its attribute `stop` (None for one that does not): the loop ends
after the iteration that leaves the flag true. A `while` tests its flag first. A name such as `result` may be
unbound until the statement that gives it, as any name of the user's may be.

A context manager that swallows exceptions is taken for one that does not.
"""

import copy

import gast

from .errors import UnsupportedError, location_of
from .live_names import catches_all, live_after

FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef)
FORS = (gast.For, gast.AsyncFor)
LOOPS = (*FORS, gast.While)
WITHS = (gast.With, gast.AsyncWith)
JUMPS = (gast.Return, gast.Break, gast.Continue)


def lower_jumps(tree, source=None):
    """The function without break, continue and early return; itself if it has none.

    `source` (a parse.Source) gives an error its file and line.
    """
    if _needs_lowering(tree):
        tree = _Lowering(copy.deepcopy(tree), source).function()
    for node in _own_nodes(tree.body):
        if isinstance(node, FORS) and not hasattr(node, "stop"):
            node.stop = None
    return tree


def _own_nodes(statements):
    """Every statement within, but for those of nested functions and classes."""
    pending = list(statements)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, FUNCTIONS):
            pending.extend(child for child in gast.iter_child_nodes(node) if not isinstance(child, gast.expr))


def _needs_lowering(tree):
    *front, last = tree.body
    return not isinstance(last, gast.Return) or any(map(_has_work, front))


def _has_work(statement):
    """Whether the statement holds a jump, or a loop with an else."""
    return any(
        isinstance(node, JUMPS) or (isinstance(node, LOOPS) and node.orelse)
        for node in _own_nodes([statement])
    )


def _escapes(node, in_loop=False):
    """The kinds of jump in `node` that leave it."""
    if isinstance(node, gast.Return) or (isinstance(node, JUMPS) and not in_loop):
        return {type(node)}
    if isinstance(node, (*FUNCTIONS, gast.expr)):
        return set()
    kinds = set()
    inner = node.body if isinstance(node, LOOPS) else ()
    for child in gast.iter_child_nodes(node):
        kinds |= _escapes(child, in_loop or child in inner)
    return kinds


def _has_break(loop):
    return any(gast.Break in _escapes(statement) for statement in loop.body)


def _ends(statements):
    """Whether no path runs through to the end of the statements."""
    return any(map(_never_falls_through, statements))


def _never_falls_through(statement):
    match statement:
        case gast.Return() | gast.Break() | gast.Continue() | gast.Raise():
            return True
        case gast.If() | gast.Match():
            return all(map(_ends, _branches(statement)))
        case gast.With() | gast.AsyncWith():
            return _ends(statement.body)
        case gast.While() if _is_true(statement.test):
            return not _has_break(statement)
        case gast.While() | gast.For() | gast.AsyncFor():
            return _ends(statement.orelse) and not _has_break(statement)
    return False


def _is_true(test):
    return isinstance(test, gast.Constant) and bool(test.value)


def _branches(statement):
    """The statement lists of an if or match, the one where nothing matches included."""
    if isinstance(statement, gast.If):
        return [statement.body, statement.orelse]
    bodies = [case.body for case in statement.cases]
    return bodies if catches_all(statement.cases[-1]) else [*bodies, []]


class _Loop:
    """The flags of the loop around a statement."""

    def __init__(self, stop, own, skip, outer):
        self.stop = stop  # None if nothing stops it early
        self.own = own  # the flag is this loop's, not `returned`
        self.skip = skip
        self.outer = outer


class _Lowering:
    """The state of one function's rewriting: its names, and the loop around the present statement."""

    def __init__(self, tree, source):
        self.tree = tree
        self.source = source
        self.taken = _all_names(tree)
        self.flags = set()
        self.loop = None
        self.returned = self.result = None

    def function(self):
        tree = self.tree
        returns = [node for node in _own_nodes(tree.body) if isinstance(node, gast.Return)]
        if not returns or (len(returns) == 1 and returns[0] is tree.body[-1]):
            body, value = [s for s in tree.body if s not in returns], None
            final = returns[0] if returns else _at(gast.Return(_constant(None)), tree.body[-1])
        else:
            if not _ends(tree.body):
                tree.body.append(_at(gast.Return(_constant(None)), tree.body[-1]))
            body, value = tree.body, self.fresh("result")
            final = _at(gast.Return(_name(value)), tree.body[-1])
        self.result = value
        self.returned = self.fresh("returned", flag=True)
        lowered = self.declare(self.returned, self.block(body))
        tree.body = [*lowered, final]
        _drop_unread(tree, self.flags)
        _fill(tree.body)
        return tree

    def fresh(self, stem, flag=False):
        name, number = stem, 1
        while name in self.taken:
            number += 1
            name = f"{stem}_{number}"
        self.taken.add(name)
        if flag:
            self.flags.add(name)
        return name

    def declare(self, flag, statements):
        """`flag = False` before the first statement that mentions the flag."""
        for index, statement in enumerate(statements):
            if flag in _mentioned(statement):
                first = _at(_assign(flag, _constant(False)), statement)
                return [*statements[:index], first, *statements[index:]]
        return statements

    def block(self, statements):
        """The statements lowered: a jump has become what it assigns, and what it skips is skipped."""
        done = []
        for index, statement in enumerate(statements):
            rest = statements[index + 1 :]
            if isinstance(statement, JUMPS):
                return done + self.jump(statement)
            if isinstance(statement, gast.Raise):
                return [*done, statement]
            if not _has_work(statement):
                done.append(statement)
            elif isinstance(statement, LOOPS):
                return done + self.lower_loop(statement, rest)
            elif not _escapes(statement):
                done.append(self.lower_inside(statement))
            elif isinstance(statement, (gast.If, gast.Match)):
                return done + self.lower_branches(statement, rest)
            elif isinstance(statement, WITHS):
                kinds = _escapes(statement)
                return [*done, self.lower_inside(statement), *self.guard(kinds, rest, statement)]
            else:
                self.refuse(statement)
        return done

    def jump(self, statement):
        loop = self.loop
        if isinstance(statement, gast.Continue):
            flags, first = [loop.skip], []
        elif isinstance(statement, gast.Break):
            flags, first = [loop.stop], []
        else:
            value = statement.value or _constant(None)
            flags, first = [self.returned], [_at(_assign(self.result, value), statement)]
            while loop:
                flags += [loop.stop] if loop.own else []
                loop = loop.outer
        return first + [_at(_assign(flag, _constant(True)), statement) for flag in flags]

    def lower_branches(self, statement, rest):
        """What follows moves into the one branch that runs on; if several do, it is guarded by flags."""
        kinds = _escapes(statement)
        open_branches = [body for body in _branches(statement) if not _ends(body)]
        if len(open_branches) == 1 and rest:
            if isinstance(statement, gast.Match) and not any(
                c.body is open_branches[0] for c in statement.cases
            ):
                case = gast.match_case(gast.MatchAs(None, None), None, open_branches[0])
                statement.cases.append(_at(case, statement))
            open_branches[0].extend(rest)
        self.lower_inside(statement)
        return [statement, *(self.guard(kinds, rest, statement) if len(open_branches) > 1 else [])]

    def lower_inside(self, statement):
        """Lower each list of statements in `statement` by itself, in place."""
        for node in [statement, *getattr(statement, "cases", ()), *getattr(statement, "handlers", ())]:
            for part in ("body", "orelse", "finalbody"):
                if getattr(node, part, None):
                    setattr(node, part, self.block(getattr(node, part)))
        return statement

    def lower_loop(self, statement, rest):
        own = _has_break(statement)
        returns = any(gast.Return in _escapes(child) for child in statement.body)
        stop = self.fresh("stop", flag=True) if own else self.returned if returns else None
        endless = isinstance(statement, gast.While) and _is_true(statement.test) and not own
        after = self.loop_else(statement, stop if own else None) + rest
        self.lower_loop_body(statement, stop, own)
        if not isinstance(statement, gast.While):
            statement.stop = stop
        elif stop:
            statement.test = _at(_unless([stop], statement.test), statement.test)
        first = [_at(_assign(stop, _constant(False)), statement)] if own else []
        if endless:
            return [*first, statement]
        # The else asks for `not stop`, which a return sets too.
        guarded = returns and (rest or not own)
        following = self.guard({gast.Return}, after, statement) if guarded else self.block(after)
        return [*first, statement, *following]

    def lower_loop_body(self, statement, stop, own):
        self.loop = _Loop(stop, own, self.fresh("skip", flag=True), self.loop)
        body = statement.body
        if isinstance(body[-1], gast.Continue):
            body = body[:-1]
        statement.body = self.declare(self.loop.skip, self.block(body))
        self.loop = self.loop.outer

    def loop_else(self, statement, stop):
        """The loop's else, as statements to follow the loop."""
        orelse, statement.orelse = statement.orelse, []
        if not orelse or not stop:
            return orelse
        return [_at(gast.If(_unless([stop]), orelse, []), orelse[0])]

    def guard(self, kinds, rest, origin):
        """`rest`, for when none of the jumps that `origin` may make was made."""
        if not rest:
            return []
        flags = [self.loop.skip] if gast.Continue in kinds else []
        if kinds - {gast.Continue}:
            flags.append(self.loop.stop if self.loop else self.returned)
        return [_at(gast.If(_unless(flags), self.block(rest), []), origin)]

    def refuse(self, statement):
        jump = next(node for node in _own_nodes([statement]) if isinstance(node, JUMPS))
        word = type(jump).__name__.lower()
        raise UnsupportedError(
            f"a {word} inside try is not supported",
            f"set a variable inside the try statement, and {word} after it",
            location_of(jump, self.source),
        )


def _all_names(tree):
    """Every identifier in the function, nested functions and match captures included."""
    names = set()
    for node in gast.walk(tree):
        for part in ("id", "name", "asname", "rest"):
            value = getattr(node, part, None)
            if isinstance(value, str):
                names.add(value.partition(".")[0])
        if isinstance(node, (gast.Global, gast.Nonlocal)):
            names.update(node.names)
    return names


def _mentioned(node):
    """The names in `node`, the flags its loops stop by included."""
    nodes = list(gast.walk(node))
    stops = {getattr(child, "stop", None) for child in nodes if isinstance(child, FORS)}
    return stops | {child.id for child in nodes if isinstance(child, gast.Name)}


def _drop_unread(tree, flags):
    """Take out assignments to flags that nothing reads afterwards."""
    live = live_after(tree)

    class Drop(gast.NodeTransformer):
        def visit_Assign(self, node):
            name = getattr(node.targets[0], "id", None)
            return None if name in flags and name not in live.get(node, flags) else node

    Drop().visit(tree)


def _fill(statements):
    """Leave no branch empty."""
    for node in _own_nodes(statements):
        if isinstance(node, gast.If) and node.orelse and not node.body:
            node.test = _at(_not(node.test), node.test)
            node.body, node.orelse = node.orelse, []
        # An expression has a body too: a lambda's.
        elif isinstance(getattr(node, "body", None), list) and not node.body:
            origin = node.pattern if isinstance(node, gast.match_case) else node
            node.body = [_at(gast.Pass(), origin)]


def _name(name, ctx=None):
    return gast.Name(name, ctx or gast.Load(), None, None)


def _constant(value):
    return gast.Constant(value, None)


def _assign(name, value):
    return gast.Assign([_name(name, gast.Store())], value, None)


def _not(test):
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return test.operand
    return gast.UnaryOp(gast.Not(), test)


def _unless(flags, test=None):
    """`not flag`, or `not (flag or flag)`; with a test, `not flag and test`."""
    names = list(map(_name, flags))
    unless = _not(names[0] if len(names) == 1 else gast.BoolOp(gast.Or(), names))
    return unless if test is None or _is_true(test) else gast.BoolOp(gast.And(), [unless, test])


def _at(node, origin):
    """`node`, with the location of `origin` on every part that has none."""
    for part in gast.walk(node):
        if "lineno" not in vars(part) and not isinstance(
            part, (gast.expr_context, gast.boolop, gast.unaryop)
        ):
            gast.copy_location(part, origin)
    return node
