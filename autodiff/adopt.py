"""Taking finished statements into a builder: see codegen/adopt.py."""
from ..codegen.adopt import adopt, adopt_block, open_program, paste, remember_offset

__all__ = ["open_program", "adopt", "remember_offset", "adopt_block", "paste"]
