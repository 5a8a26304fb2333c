"""The project's primitives, without those that tests and documentation register for themselves later."""

from chainrule.codegen.registry import PRIMITIVES

OWN = dict(PRIMITIVES)
