"""The scopes of chainrule's own functions are the same from the cache as from the source."""

import types

import gast
import pytest

import chainrule as cr
from chainrule.codegen import parse
from chainrule.codegen.registry import FUNCTIONS, PRIMITIVES
from chainrule.codegen.specialise import kept_scopes
from chainrule.codegen.specialise.scope import Scope, made_or_kept
from chainrule.runtime.kept_texts import current_store


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setattr(parse, "IMPORTED", float("inf"))
    with cr.config(cache=True, cache_dir=tmp_path):
        yield current_store()


def own_functions():
    rules = [rule for p in PRIMITIVES.values() for table in (p.jvp, p.vjp) for rule in table.values()]
    functions = [f for f in (*rules, *FUNCTIONS.values()) if isinstance(f, types.FunctionType)]
    return list({f.__code__: f for f in functions if f.__module__.startswith("chainrule.")}.values())


def described(scope):
    live = {gast.dump(node, include_attributes=True): names for node, names in scope.live.items()}
    body = [gast.dump(statement, include_attributes=True) for statement in scope.body]
    names = ("name", "quiet", "users", "locals", "nonlocals", "globals", "generated")
    known = {name: getattr(scope, name) for name in names}
    source = scope.source
    return (
        live,
        body,
        known,
        gast.dump(scope.tree),
        source.file,
        source.first_line,
        source.lines,
        source.name,
    )


def test_every_function_of_ours(cache):
    functions = own_functions()
    assert len(functions) > 300
    made = [made_or_kept(function) for function in functions]
    assert cache.writes == len(functions) and cache.reads == 0
    kept = [made_or_kept(function) for function in functions]
    assert cache.writes == cache.reads == len(functions)
    for function, one, other in zip(functions, made, kept, strict=True):
        assert one is not other and other.module is function.__globals__
        assert described(one) == described(other)
        assert all(node in set(gast.walk(gast.Module(other.body, []))) for node in other.live)


def test_functions_of_the_users_are_not_kept(cache):
    made_or_kept(own_functions)
    assert cache.writes == 0


def test_files_that_changed_since_are_not_kept(cache, monkeypatch):
    monkeypatch.setattr(parse, "IMPORTED", 0.0)
    assert isinstance(made_or_kept(parse.parse), Scope) and cache.writes == 0


def test_other_versions_are_other_keys(cache, monkeypatch):
    made_or_kept(parse.parse)
    monkeypatch.setattr(kept_scopes, "PROVIDERS", [lambda: (cache, ("newer",))])
    made_or_kept(parse.parse)
    assert (cache.writes, cache.reads) == (2, 0)
