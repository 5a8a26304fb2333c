"""Lanes with loops of their own, several at a time: in vectors, none of them waiting for another.

    for lane in range(n):                  slots of some arrays hold the numbers of sixteen lanes; while any
        a = x[lane]                        is left, lanes that have ended give their slots to those that wait,
        while a > 1:             ->        and the others do a turn:
            a = a / 2                          for slot in range(16):
        y[lane] = a                                a = a_slots[slot] / 2
                                                   a_slots[slot] = a
                                                   running[slot] = a > 1

What a lane is: lane_parts.py; what is written for it: lane_slots.py.
"""

from __future__ import annotations

from .build import Builder
from .core import Block, For, Program
from .lane_parts import Vectorises, lane_of
from .lane_slots import Writer, blocks_of_lanes
from .lane_tapes import BackwardsWriter
from .lanes_backwards import lane_backwards_of

KINDS = ((lane_of, Writer), (lane_backwards_of, BackwardsWriter))


def lanes_in_step(program: Program, vectorises: Vectorises) -> Program:
    """The program with the lanes of its independent loops done several at a time."""
    builder = Builder()
    for statement in program.body.statements:
        builder.append(in_step(builder, statement, vectorises) if isinstance(statement, For) else statement)
    return Program(program.name, program.parameters, Block(builder.block.statements, program.results))


def in_step(builder: Builder, loop: For, vectorises: Vectorises) -> For:
    """A loop over lanes as one over blocks of them, if its lanes can be done in step."""
    for find, writer in KINDS:
        lane = find(loop, vectorises)
        if lane is not None:
            return blocks_of_lanes(builder, lane, writer)
    return loop
