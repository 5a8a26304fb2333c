"""Numba's lowering, with few LLVM instructions where references to arrays are counted."""

from __future__ import annotations

from typing import Any

from llvmlite import ir as llvm
from numba.core import cgutils, lowering, types
from numba.core.runtime.nrtdynmod import incref_decref_ty


class LowerReferences(lowering.Lower):
    """Lowers one function."""

    def incref(self, typ: Any, val: Any) -> None:
        self.count("NRT_incref", typ, val) if type(typ) is types.Array else super().incref(typ, val)

    def decref(self, typ: Any, val: Any) -> None:
        self.count("NRT_decref", typ, val) if type(typ) is types.Array else super().decref(typ, val)

    def count(self, what: str, of: Any, value: Any) -> None:
        count(self.builder, what, self.builder.extract_value(value, self.owner(of)))

    def owner(self, of: Any) -> int:
        """Where an array has the pointer to what counts its references."""
        return self.context.data_model_manager[of].get_field_position("meminfo")

    def kept_in_memory(self, name: str) -> bool:
        """Whether a variable is an array with a place of its own on the stack."""
        held = name in self._singly_assigned_vars or name in self._blk_local_varmap
        return type(self.typeof(name)) is types.Array and not held and not self._disable_sroa_like_opt

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        if argidx is not None or not self.kept_in_memory(name):
            return super().storevar(value, name, argidx)
        self._alloca_var(name, self.typeof(name))
        count(self.builder, "NRT_decref", self.builder.load(self.address_of_owner(name)))
        self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        if name not in self._blk_local_varmap:
            self._singly_assigned_vars.discard(name)
        if not self.kept_in_memory(name):
            return super().delvar(name)
        self._alloca_var(name, self.typeof(name))
        address = self.address_of_owner(name)
        count(self.builder, "NRT_decref", self.builder.load(address))
        # It may be deleted again before it is assigned.
        self.builder.store(llvm.Constant(address.type.pointee, None), address)

    def address_of_owner(self, name: str) -> Any:
        return cgutils.gep_inbounds(self.builder, self.getvar(name), 0, self.owner(self.typeof(name)))


def count(builder: Any, what: str, owner: Any) -> None:
    """Call Numba's function that takes, or gives back, a reference to what an array's memory belongs to."""
    function = cgutils.get_or_insert_function(builder.module, incref_decref_ty, what)
    for attribute in ("noalias", "captures(none)"):
        function.args[0].add_attribute(attribute)
    builder.call(function, [owner])
