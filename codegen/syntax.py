"""What Python's grammar and a formatter's taste say of single nodes: precedence, literals, spacing.

>>> number(1e16), number(-0.0), number(float("-inf")), number(1 - 2j)
('1e16', '-0.0', '-np.inf', '1.0 - 2.0j')
>>> print(quoted("it's"), quoted('say "hi"'))
"it's" 'say "hi"'
"""

from __future__ import annotations

from typing import Any

PRECEDENCE = {"NamedExpr": 1, "IfExp": 2, "Lambda": 2, "Not": 5, "Compare": 6}
PRECEDENCE |= {"BitOr": 7, "BitXor": 8, "BitAnd": 9, "LShift": 10, "RShift": 10, "Add": 11, "Sub": 11}
PRECEDENCE |= {"Mult": 12, "Div": 12, "FloorDiv": 12, "Mod": 12, "MatMult": 12, "Pow": 14, "Await": 15}
PRECEDENCE |= {"Tuple": 0, "Yield": 0, "YieldFrom": 0, "Or": 3, "And": 4}
ANY, EXPRESSION, COMPARISON, UNARY, POWER, ATOM = 0, 2, 6, 13, 14, 16


def precedence(node: Any) -> int:
    """How tightly an expression binds."""
    kind = type(node).__name__
    if kind in ("BinOp", "UnaryOp", "BoolOp"):
        operator = type(node.op).__name__
        return PRECEDENCE.get(operator, UNARY)
    if kind == "Constant" and isinstance(node.value, (int, float, complex)):
        text = number(node.value)
        if " " in text:
            return PRECEDENCE["Add"]
        return UNARY if text.startswith("-") else ATOM
    if kind == "Tuple" and not node.elts:
        return ATOM
    return PRECEDENCE.get(kind, ATOM)


def number(value: complex) -> str:
    """A literal that Python reads back as exactly this number."""
    if isinstance(value, complex):
        return complex_literal(value)
    text = repr(value)
    if "inf" in text or "nan" in text:
        return text.replace("inf", "np.inf").replace("nan", "np.nan")
    return text.replace("e+", "e")


def complex_literal(value: complex) -> str:
    real, imag = number(value.real), number(value.imag)
    if real == "-0.0" and imag.startswith("-") and "np." not in imag:
        return imag + "j"
    if "np." in real + imag or "-0.0" in (real, imag):
        return f"complex({real}, {imag})"
    if value.real == 0:
        return imag + "j"
    return f"{real} - {imag[1:]}j" if imag.startswith("-") else f"{real} + {imag}j"


def quoted(value: str) -> str:
    """A string literal in double quotes, unless single ones save escapes."""
    body = repr('"' + value)[2:-1]
    if value.count('"') > value.count("'"):
        return f"'{body}'"
    plain = body.replace("\\'", "'")
    return '"' + plain.replace('"', '\\"') + '"'


def simple(node: Any) -> bool:
    """Whether a formatter writes a power of this without spaces: a name, a number, attributes of a name."""
    match type(node).__name__:
        case "UnaryOp":
            return type(node.op).__name__ != "Not" and simple_operand(node.operand)
        case "Attribute":
            return type(node.value).__name__ in ("Name", "Attribute") and simple(node.value)
        case "Constant":
            return is_number(node.value) and " " not in number(node.value)
        case kind:
            return kind == "Name"


def simple_operand(node: Any) -> bool:
    return type(node).__name__ in ("Name", "Constant", "Attribute")


def simple_bound(node: Any) -> bool:
    """Whether a slice bound stands without spaces round the colon."""
    match type(node).__name__:
        case "UnaryOp":
            return type(node.op).__name__ != "Not" and simple_bound(node.operand)
        case "Constant":
            return not is_number(node.value) or " " not in number(node.value)
        case kind:
            return kind == "Name"


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, complex))
