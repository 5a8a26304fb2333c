"""Derivatives of core programs: forward and reverse mode."""
from . import rules
from .adopt import paste
from .forward import forward
from .reverse import reverse
from .segments import segmented
from .split import linear_split, split
