"""The Numba backend: a program as the text of a module with one compiled function, and that as a callable.

>>> import numpy as np
>>> from ...codegen.build import Builder
>>> from ...codegen.registry import PRIMITIVES
>>> from ...codegen.core import INT, ArrayType, Variable
>>> x = Variable("x", ArrayType(np.dtype("float32"), (Variable("n", INT),)))
>>> builder = Builder()
>>> n = builder.emit(PRIMITIVES["size"], x, axis=0)
>>> x.type = x.type.with_shape((n,))
>>> builder.block.results = (builder.emit(PRIMITIVES["multiply"], x, 0.5),)
>>> print(emit(Program("half", (x,), builder.block)), end="")
import numba
import numpy as np
<BLANKLINE>
<BLANKLINE>
@numba.njit(error_model="numpy")
def half(x):
    n = x.shape[0]
    result = np.empty(n, dtype=np.float32)
    for i in range(n):
        result[i] = x[i] * np.float32(0.5)
    return result
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import linecache
import os
import sys
import tempfile
import types
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import gast

from ...codegen.array_stacks import stacks_in_arrays
from ...codegen.blocked_sums import block_sums
from ...codegen.carried_rows import carry_rows
from ...codegen.core import ArrayType, Block, Program, Variable, type_of
from ...codegen.dead_code import remove_dead_code
from ...codegen.early_transposes import transpose_early
from ...codegen.errors import Location
from ...codegen.fuse import fuse
from ...codegen.gathers import gather
from ...codegen.helper_functions import helper_functions
from ...codegen.independent import confirm_independent, mark_independent
from ...codegen.inplace import write_in_place
from ...codegen.invariants import hoist_invariants
from ...codegen.joined_additions import join_additions
from ...codegen.joined_loops import join_loops
from ...codegen.lanes_in_step import lanes_in_step
from ...codegen.lasting_arrays import make_once
from ...codegen.moved_parts import move_parts
from ...codegen.pieces import reduce_in_pieces
from ...codegen.printing import NO_DEFAULTS, Defaults, callbacks_import, to_tree
from ...codegen.registered import imports_of
from ...codegen.renewed_arrays import renew_arrays
from ...codegen.reused_arrays import reuse_arrays
from ...codegen.row_products import multiply_rows_at_once
from ...codegen.running_sums import sum_in_place
from ...codegen.size_checks import hoist_size_checks
from ...codegen.smaller_arrays import make_arrays_smaller
from ...codegen.stack_rows import stacks_in_rows
from ...codegen.staggered_rows import stagger_rows
from ...codegen.summed_products import sum_products_at_once
from ...codegen.trees import assign, call, constant, name, stored, tuple_tree
from ...codegen.turned_arrays import turn_arrays
from ...codegen.unparse import unparse_with_locations
from ..numpy.emit import LOADED, Text
from .counting import with_counted_pieces
from .divided import Divided, divide, driver
from .elementwise import on_vectors
from .lower import in_library, lower

SUPPORT, ELEMENTARY, CORES = "chainrule_support", "chainrule_elementary", "chainrule_cores"


BEFORE_FUSING = (
    transpose_early,
    hoist_size_checks,
    multiply_rows_at_once,
    carry_rows,
    sum_products_at_once,
    sum_in_place,
    gather,
    move_parts,
    remove_dead_code,
    hoist_invariants,
    make_once,
    join_additions,
)
AFTER_FUSING = (
    block_sums,
    join_loops,
    mark_independent,
    make_arrays_smaller,
    renew_arrays,
    reuse_arrays,
    turn_arrays,
    confirm_independent,
    stagger_rows,
)


def compiled_form(
    program: Program,
    owned_parameters: Iterable[Variable] = (),
    fresh_results: bool = False,
    merge: bool = True,
    shared: bool = False,
) -> Program:
    """The loop program with its writes in place: what is emitted.

    Before fusing, a small view that outlives a write is copied. Once its elements are read in nests of their
    own, the whole array would have to be.
    """
    owned = frozenset(owned_parameters)
    for step in BEFORE_FUSING if merge else ():
        program = step(program)
    program = fuse(write_in_place(program, owned), merge, in_library)
    for step in AFTER_FUSING if merge else ():
        program = step(program)
    if shared:
        program = lanes_in_step(program, on_vectors)
    program = stacks_in_arrays(stacks_in_rows(program) if merge else program)
    if shared:
        program = reduce_in_pieces(program)
    return write_in_place(program, owned, fresh_results)


def emit(
    program: Program,
    cache: bool = False,
    defaults: Defaults = NO_DEFAULTS,
    shared: bool = False,
    **options: Any,
) -> Text:
    """The program as a module that needs NumPy, Numba and perhaps support.py; `options` of compiled_form.

    `shared`: loops whose turns do not depend on each other are written so that cores can share them.
    """
    lowered, calls = lower(compiled_form(program, shared=shared, **options))
    lowered = with_counted_pieces(lowered)
    divided = divide(lowered) if shared else None
    programs = [lowered] if divided is None else [part.program for part in divided.parts]
    compiled = [compiled_function(one, defaults, cache, nogil=divided is not None) for one in programs]
    body = [gast.ast_to_gast(ast.parse(text).body[0]) for text in calls.constants]
    helpers = [gast.ast_to_gast(ast.parse(text).body[0]) for text in calls.texts]
    for helper, location in zip(helpers, calls.locations, strict=True):
        helper.location = location
    keep_apart(helpers, compiled)
    functions = [*helper_functions(gast.Module(helpers, [])), *helpers, *compiled]
    if divided is not None:
        functions.append(calling_function(program, divided, defaults))
    elif any(restores(result) for result in program.results):
        functions.append(wrapper(compiled[0], program))
    module = gast.Module([*imports(functions, body), *body, *functions], [])
    return Text(*unparse_with_locations(module))


def compiled_function(program: Program, defaults: Defaults, cache: bool, nogil: bool) -> Any:
    """The definition of a function that Numba compiles."""
    function = to_tree(program, defaults)
    for node in gast.walk(function):
        if (
            isinstance(node, gast.keyword)
            and node.arg == "dtype"
            and getattr(node.value, "id", None) == "bool"
        ):
            node.value = name("np.bool_")
    options = {"error_model": "numpy", "nogil": nogil, "cache": cache}
    keywords = {key: gast.Constant(value, None) for key, value in options.items() if value}
    function.decorator_list = [call("numba.njit", **keywords)]
    if nogil and not program.results:
        function.body = [statement for statement in function.body if not isinstance(statement, gast.Return)]
    return function


def calling_function(program: Program, divided: Divided, defaults: Defaults) -> Any:
    """The definition of the function, in Python, that calls the parts of a program."""
    function = to_tree(Program(program.name, program.parameters, Block()), defaults)
    results = [
        name(divided.name(result)) if isinstance(result, Variable) else constant(result)
        for result in divided.program.results
    ]
    restored = [
        call(numpy_scalar(result), tree) if restores(result) else tree
        for result, tree in zip(program.results, results, strict=True)
    ]
    function.body = driver(divided, restored)
    return function


def keep_apart(helpers: list, functions: list) -> None:
    """Rename the helpers whose names are also variables of the functions."""
    nodes = [node for tree in functions for node in gast.walk(tree) if isinstance(node, gast.Name)]
    local = {node.id for node in nodes if not isinstance(node.ctx, gast.Load)}
    trees = (*functions, *helpers)
    called = [node.func for tree in trees for node in gast.walk(tree) if isinstance(node, gast.Call)]
    for helper in helpers:
        old = helper.name
        while helper.name in local:
            helper.name += "_"
        for node in called:
            if isinstance(node, gast.Name) and node.id == old:
                node.id = helper.name


def restores(result: Any) -> bool:
    """Whether a result is a NumPy scalar, which Numba gives back as a Python number."""
    of = type_of(result)
    return isinstance(of, ArrayType) and not of.shape and not of.weak


def numpy_scalar(result: Any) -> str:
    """The name of the type that makes a Python number NumPy's again."""
    of = type_of(result)
    return f"np.{'bool' if of.dtype.kind == 'b' else of.dtype.name}"


def wrapper(function: Any, program: Program) -> Any:
    """A Python function around the compiled one, which makes Python's numbers NumPy's again."""
    public = function.name
    function.name = f"compiled_{public}"
    names = [parameter.id for parameter in function.args.args]
    inner = call(function.name, *map(name, names))
    dtypes = [numpy_scalar(result) if restores(result) else None for result in program.results]
    if len(dtypes) == 1:
        body = [gast.Return(call(dtypes[0], inner))]
    else:
        results = [f"result{k}" for k in range(len(dtypes))]
        restored = [call(dtype, name(r)) if dtype else name(r) for r, dtype in zip(results, dtypes)]
        body = [
            assign(gast.Tuple([stored(r) for r in results], gast.Store()), inner),
            gast.Return(tuple_tree(restored)),
        ]
    return gast.FunctionDef(public, function.args, body, [], None, None, [])


def imports(functions: list, body: list) -> list:
    """The imports of a module, standard library first."""
    used = {
        node.id for tree in (*functions, *body) for node in gast.walk(tree) if isinstance(node, gast.Name)
    }
    plain = [module for module in ("math", "numba") if module in used]
    found = [gast.Import([gast.alias(module, None)]) for module in plain]
    if "np" in used:
        found.append(gast.Import([gast.alias("numpy", "np")]))
    if "scipy" in used:
        found.append(gast.Import([gast.alias("scipy.special", None)]))
    if "PRIMITIVES" in used:
        found.append(gast.ImportFrom("chainrule.codegen.registry", [gast.alias("PRIMITIVES", None)], 0))
    if "CALLBACKS" in used:
        found.append(callbacks_import())
    found += imports_of(used)
    if "cores" in used:
        found.append(gast.Import([gast.alias(CORES, "cores")]))
    if "support" in used:
        found.append(gast.Import([gast.alias(SUPPORT, "support")]))
    if "elementary" in used:
        found.append(gast.Import([gast.alias(ELEMENTARY, "elementary")]))
    return found


MODULES: dict[Path, types.ModuleType] = {}


@functools.cache
def private_folder() -> tempfile.TemporaryDirectory:
    """Where this process keeps the modules that are to be found nowhere else; removed when it ends."""
    return tempfile.TemporaryDirectory(prefix="chainrule-")


@functools.cache
def import_numba() -> None:
    """Import Numba, and the modules that generated code imports: not before there is something to compile."""
    from . import cores, elementary, machine_code, support

    assert machine_code
    sys.modules.setdefault(CORES, cores)
    sys.modules.setdefault(SUPPORT, support)
    sys.modules.setdefault(ELEMENTARY, elementary)


def load(text: str, name: str, directory: str | os.PathLike | None = None, store: Any = None) -> Callable:
    """The function called `name` of a module, which is kept as a real file.

    With a store (see runtime/store.py), its machine code is looked for there, and left there.
    """
    directory = Path(private_folder().name if directory is None else directory)
    directory.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256(text.encode()).hexdigest()[:20]
    path = directory / f"{name}_{digest}.py"
    if path in MODULES:
        return getattr(MODULES[path], name)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write(path, text)
    import_numba()
    spec = importlib.util.spec_from_file_location(f"chainrule_generated_{name}_{digest}", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    linecache.checkcache(str(path))
    locations: dict[int, Location] = getattr(text, "locations", {})
    LOADED[path.name] = locations
    MODULES[path] = module
    from .machine_code import keep, says_all

    if store is None or not says_all(text):
        prepare(module, name)
        return getattr(module, name)
    for called, function in vars(module).items():
        if hasattr(function, "py_func") and is_called_by_python(called, name):
            keep(function, store, text, partial(prepare, module, name))
    return getattr(module, name)


def prepare(module: types.ModuleType, name: str) -> None:
    """Let a module's functions be compiled as pipeline.py says, for which more of Numba is imported."""
    from . import support
    from .pipeline import Compiler, HelperCompiler, compile_with

    for called, function in vars(module).items():
        if hasattr(function, "py_func"):
            compile_with(Compiler if is_called_by_python(called, name) else HelperCompiler, function, module)
    for function in vars(support).values():
        if hasattr(function, "py_func"):
            compile_with(Compiler, function, support)


def is_called_by_python(called: str, name: str) -> bool:
    """Whether a function of the module is its function called `name`, or a part of that."""
    return called.removeprefix("compiled_").startswith(name)


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def save(text: str, path: str | os.PathLike) -> None:
    """Write a module to a file, and beside it the support file and elementary functions, if it needs them."""
    from . import elementary, support

    path = Path(path)
    write(path, text)
    if SUPPORT in text:
        write(path.parent / f"{SUPPORT}.py", Path(support.__file__).read_text(encoding="utf-8"))
    if ELEMENTARY in text:
        folder = path.parent / ELEMENTARY
        folder.mkdir(exist_ok=True)
        for source in Path(elementary.__file__).parent.glob("*.py"):
            write(folder / source.name, source.read_text(encoding="utf-8"))
