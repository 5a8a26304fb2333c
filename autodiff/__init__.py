"""Derivatives of core programs: forward and reverse mode."""
from ..codegen.adopt import paste
from . import rules
from .forward import forward
from .reverse import reverse
from .segments import segmented
from .split import linear_split, split
