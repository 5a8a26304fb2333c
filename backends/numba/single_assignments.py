"""Numba's step that gives each variable one assignment, which looks for it only where it is mentioned.

Numba goes through the whole function twice for each variable that is assigned several times.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from numba.core import postproc, ssa
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler_machinery import register_pass
from numba.core.ir_utils import build_definitions
from numba.core.untyped_passes import ReconstructSSA


@register_pass(mutates_CFG=False, analysis_only=False)
class SingleAssignments(ReconstructSSA):
    _name = "chainrule_single_assignments"

    def run_pass(self, state: Any) -> bool:
        assigned_once(state.func_ir.blocks)
        self._patch_locals(state)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        postproc.PostProcessor(state.func_ir).run(emit_dels=False)
        return True


def assigned_once(blocks: dict) -> None:
    """Rename the variables that are assigned several times, in place."""
    graph = compute_cfg_from_blocks(blocks)
    frontiers = ssa._iterated_domfronts(graph)
    remembered = ssa._CacheListVars()
    mentioned: dict[str, dict] = defaultdict(dict)
    for label, block in blocks.items():
        for statement in block.body:
            for variable in remembered.get(statement):
                mentioned[variable.name][label] = None
    states = ssa._make_states(blocks)
    for name in ssa._find_defs_violators(blocks, graph):
        where, defined = mentioned[name], defaultdict(list)
        states |= {"varname": name, "defmap": defined}
        rewrite(blocks, where, states, ssa._FreshVarHandler())
        joined: dict[int, list] = defaultdict(list)
        places = ssa._compute_phi_locations(frontiers, defined)
        states |= {"phimap": joined, "cfg": graph, "phi_locations": places}
        rewrite(blocks, where, states, ssa._FixSSAVars(remembered))
        for label, versions in joined.items():
            blocks[label].body = versions + blocks[label].body


def rewrite(blocks: dict, labels: Any, states: dict, handler: Any) -> None:
    """Numba's rewriting of some of the blocks."""
    blocks |= ssa._run_block_rewrite({label: blocks[label] for label in labels}, states, handler)
