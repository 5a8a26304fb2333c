"""Which names are still to be read: after a statement, and by the next iteration of a loop.

    >>> import gast
    >>> tree = gast.parse('''
    ... def f(x, n):
    ...     total = 0
    ...     while n > 0:
    ...         step = x * n
    ...         total = total + step
    ...         n = n - 1
    ...     return total
    ... ''').body[0]
    >>> loop = tree.body[1]
    >>> sorted(live_after(tree)[loop]), sorted(upward_exposed(loop)), sorted(assigned_names(loop))
    (['total'], ['n', 'total', 'x'], ['n', 'step', 'total'])

The function's jumps must have been lowered (jumps.py). A name may be called live that is not; never the
other way round. A nested function reads its free names whenever it is called, so they stay live. A
context manager is taken for one that swallows no exceptions.
"""

import gast

DEFS = (gast.FunctionDef, gast.AsyncFunctionDef)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
TRIES = tuple(getattr(gast, name) for name in ("Try", "TryStar") if hasattr(gast, name))
LATE = (*DEFS, gast.Lambda, gast.GeneratorExp)  # these run after the place where they stand


def live_after(tree):
    """For each statement of the function, its own names that may be read after the statement."""
    declared = _declared(tree.body)
    nested = [node for statement in tree.body for node in gast.walk(statement) if isinstance(node, LATE)]
    liveness = _Liveness(declared.union(*map(_free_names, nested)))
    liveness.block(tree.body, frozenset())
    own = assigned_names(tree.body) | _parameters(tree) | declared
    return {statement: names & own for statement, names in liveness.after.items()}


def upward_exposed(loop):
    """The names, globals too, that an iteration may read before it has assigned them."""
    liveness = _Liveness(frozenset())
    if isinstance(loop, gast.While):
        return liveness.before([loop.test], liveness.block(loop.body, frozenset()))
    return liveness.before([loop.target], liveness.block(loop.body, liveness.stop(loop)))


def assigned_names(nodes):
    """All names that a node, or a list of nodes, binds in the scope it stands in."""
    names = set()
    pending = list(nodes) if isinstance(nodes, (list, tuple)) else [nodes]
    while pending:
        node = pending.pop()
        match node:
            case gast.FunctionDef() | gast.AsyncFunctionDef() | gast.ClassDef():
                names.add(node.name)
                pending += _evaluated_at_definition(node)
                continue
            case gast.Lambda():
                pending += _evaluated_at_definition(node)
                continue
            case gast.ListComp() | gast.SetComp() | gast.DictComp() | gast.GeneratorExp():
                # Only := reaches out of a comprehension.
                inner = [part for part in gast.walk(node) if isinstance(part, gast.NamedExpr)]
                names.update(part.target.id for part in inner)
                continue
            case gast.Name(ctx=gast.Store() | gast.Del()):
                names.add(node.id)
            case gast.alias():
                names.add(node.asname or node.name.partition(".")[0])
            case gast.MatchAs() | gast.MatchStar():
                names.add(node.name)
            case gast.MatchMapping():
                names.add(node.rest)
        pending.extend(gast.iter_child_nodes(node))
    return frozenset(names - {None, "*"})


def catches_all(case):
    """Whether a case of a match statement matches whatever comes."""

    def bare(pattern):
        if isinstance(pattern, gast.MatchOr):
            return any(map(bare, pattern.patterns))
        return isinstance(pattern, gast.MatchAs) and (pattern.pattern is None or bare(pattern.pattern))

    return case.guard is None and bare(case.pattern)


class _Liveness:
    """Backwards over the statements: from the names live after one to those live before it."""

    def __init__(self, always):
        self.always = frozenset(always)
        self.after = {}
        self.raising = self.always  # what may be read once an exception, or a return, leaves the block

    def block(self, statements, live):
        for statement in reversed(statements):
            self.after[statement] = live = live | self.always
            live = self.statement(statement, live)
        return live | self.always

    def before(self, parts, live):
        """The live names before expressions and targets, given in the order they are evaluated in."""
        reads, bound = set(), set()
        for part in parts:
            _scan(part, reads, bound)
        return frozenset(reads | (live - bound))

    def stop(self, loop):
        stop = getattr(loop, "stop", None)
        return frozenset([stop] if stop else [])

    def statement(self, node, live):
        match node:
            case gast.If():
                return self.before([node.test], self.block(node.body, live) | self.block(node.orelse, live))
            case gast.While():
                return self.while_loop(node, live)
            case gast.For() | gast.AsyncFor():
                return self.for_loop(node, live)
            case gast.With() | gast.AsyncWith():
                items = [part for item in node.items for part in (item.context_expr, item.optional_vars)]
                return self.before(filter(None, items), self.block(node.body, live))
            case gast.Match():
                return self.match(node, live)
            case gast.Return() | gast.Raise():
                return self.before(gast.iter_child_nodes(node), self.raising)
        if isinstance(node, TRIES):
            return self.try_statement(node, live)
        return self.before(_in_order(node), live) | _read_and_assigned(node)

    def while_loop(self, node, live):
        leaving = self.block(node.orelse, live)
        head, previous = self.before([node.test], leaving), None
        while head != previous:
            previous = head
            head = self.before([node.test], leaving | self.block(node.body, head))
        return head

    def for_loop(self, node, live):
        head, previous = self.block(node.orelse, live), None
        while head != previous:
            previous = head
            head |= self.before([node.target], self.block(node.body, head | self.stop(node)))
        return self.before([node.iter], head)

    def match(self, node, live):
        # A pattern may bind some names and then fail, so that nothing is bound for certain after it.
        joined = frozenset() if catches_all(node.cases[-1]) else live
        for case in node.cases:
            inside = self.block(case.body, live)
            if case.guard:
                inside = self.before([case.guard], inside)
            joined |= inside - assigned_names(case.pattern) | _loads([case.pattern])
        return self.before([node.subject], joined)

    def try_statement(self, node, live):
        # Any statement may be the one that raises: whatever is read anywhere in it is live throughout.
        live |= _loads([node])
        outer, self.raising = self.raising, self.raising | live
        blocks = [node.body, *(handler.body for handler in node.handlers), node.orelse, node.finalbody]
        for statements in blocks:
            live |= self.block(statements, live)
        self.raising = outer
        return live


def _in_order(node):
    """The parts of a simple statement in the order they are evaluated in."""
    match node:
        case gast.Assign():
            return [node.value, *node.targets]
        case gast.AnnAssign():
            return [node.value, node.target] if node.value else []
    return [node]


def _read_and_assigned(node):
    """The target of an augmented assignment, which is written as a store but is read first."""
    target = getattr(node, "target", None) if isinstance(node, gast.AugAssign) else None
    return frozenset([target.id] if isinstance(target, gast.Name) else [])


def _scan(node, reads, bound):
    """Add what `node` reads before binding it to `reads`, and what it binds for certain to `bound`."""
    match node:
        case gast.Name(ctx=gast.Store()):
            bound.add(node.id)
        case gast.Name():
            reads.update({node.id} - bound)
        case gast.NamedExpr():
            _scan(node.value, reads, bound)
            _scan(node.target, reads, bound)
        case gast.BoolOp() | gast.Compare():
            # All but these may be left out by Python's short circuit.
            certain = 1 if isinstance(node, gast.BoolOp) else 2
            parts = node.values if isinstance(node, gast.BoolOp) else [node.left, *node.comparators]
            for part in parts[:certain]:
                _scan(part, reads, bound)
            others, maybe = parts[certain:], set(bound)
            for other in others:
                _scan(other, reads, maybe)
        case gast.IfExp():
            _scan(node.test, reads, bound)
            _scan(node.body, reads, set(bound))
            _scan(node.orelse, reads, set(bound))
        case gast.Assert():
            _scan(node.test, reads, bound)
            reads.update(_loads([node.msg] if node.msg else []) - bound)
        case gast.Import() | gast.ImportFrom():
            bound.update(assigned_names(node))
        case gast.FunctionDef() | gast.AsyncFunctionDef() | gast.ClassDef() | gast.Lambda():
            reads.update(_loads([node]) - bound)
            if not isinstance(node, gast.Lambda):
                bound.add(node.name)
        case gast.ListComp() | gast.SetComp() | gast.DictComp() | gast.GeneratorExp():
            reads.update(_loads([node]) - bound)
        case _:
            for child in gast.iter_child_nodes(node):
                _scan(child, reads, bound)


def _loads(nodes):
    """Every name that the nodes read from the scope they stand in, at once or later."""
    names = set()
    pending = list(nodes)
    while pending:
        node = pending.pop()
        if isinstance(node, (*LATE, *COMPREHENSIONS)):
            names |= _free_names(node)
            pending += _evaluated_at_definition(node)
            continue
        if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Store):
            names.add(node.id)
        names |= _read_and_assigned(node)
        pending.extend(gast.iter_child_nodes(node))
    return frozenset(names)


def _evaluated_at_definition(node):
    """The parts of a nested scope that run where it stands, in the scope around it."""
    if isinstance(node, COMPREHENSIONS):
        return [node.generators[0].iter]
    if isinstance(node, gast.ClassDef):
        return [*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)]
    args = node.args
    parts = [
        *getattr(node, "decorator_list", ()),
        *args.defaults,
        *args.kw_defaults,
        getattr(node, "returns", None),
    ]
    parts += [parameter.annotation for parameter in _parameter_nodes(args)]
    return [part for part in parts if part is not None]


def _free_names(node):
    """The names that a nested function, lambda or comprehension takes from the scopes around it."""
    if isinstance(node, COMPREHENSIONS):
        first, *others = node.generators
        results = [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
        own = assigned_names([generator.target for generator in node.generators])
        return _loads([*results, *first.ifs, *others]) - own
    body = [node.body] if isinstance(node, gast.Lambda) else node.body
    declared = _declared(body)
    return (_loads(body) - assigned_names(body) - _parameters(node)) | declared


def _declared(statements):
    """The names declared global or nonlocal, in nested functions too."""
    nodes = [node for statement in statements for node in gast.walk(statement)]
    return {name for node in nodes if isinstance(node, (gast.Global, gast.Nonlocal)) for name in node.names}


def _parameter_nodes(args):
    return [*args.args, *args.posonlyargs, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]


def _parameters(function):
    return {parameter.id for parameter in _parameter_nodes(function.args)}
