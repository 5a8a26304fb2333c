"""Strings of which parts are known only at run time: good for print and for the messages of exceptions."""
from __future__ import annotations

import dataclasses
import re
import string
from typing import Any

import gast

from ..core import ArrayType
from ..registry import PRIMITIVES
from .attributes import python_method
from .machine import NeedStatic, Specialiser
from .store import Frame
from .values import Shown, Text, has_dynamic, is_dynamic

CONVERSIONS = {-1: "", 115: "s", 114: "r", 97: "a"}


def joined_string(s: Specialiser, node: Any, frame: Frame) -> Any:
    """An f-string."""
    parts: list[Any] = []
    for value in node.values:
        if isinstance(value, gast.Constant):
            parts.append(value.value)
            continue
        item = s.evaluate(value.value, frame)
        form = s.evaluate(value.format_spec, frame) if value.format_spec is not None else ""
        parts += shown(s, item, CONVERSIONS[value.conversion], form, node)
    return together(parts)


def shown(s: Specialiser, value: Any, conversion: str = "", form: Any = "", node: Any = None) -> list[Any]:
    """The parts of the text of a value."""
    if isinstance(form, Text):
        raise s.unsupported(
            "a format that depends on a value known only at run time", "write the format out", node
        )
    if isinstance(value, Text):
        return list(value.parts)
    if not has_dynamic(value):
        convert = {"": lambda v: v, "s": str, "r": repr, "a": ascii}[conversion]
        return [format(convert(value), form)]
    if is_dynamic(value):
        same = conversion == "s" and not form and shown_alike(s.type(value))
        return [Shown(value, "" if same else conversion, form)]
    if type(value) in (list, tuple, dict):
        return shown_container(s, value, node)
    special = ("__repr__",) if conversion == "r" else ("__str__", "__repr__")
    method = next(filter(None, (python_method(value, name) for name in special)), None)
    if method is not None and not form:
        return shown(s, s.call(method, [value], {}, node), "", "", node)
    if dataclasses.is_dataclass(value):
        return shown_record(s, value, node)
    raise s.unsupported(f"the text of a {type(value).__name__} with parts known only at run time",
                        "show its parts one by one", node)


def shown_alike(of: ArrayType) -> bool:
    """Whether format(value) is str(value): NumPy formats its numbers of low precision as Python's."""
    return bool(of.shape) or of.dtype.char in "?bBhHiIlLqQdD"


def shown_container(s: Specialiser, value: Any, node: Any) -> list[Any]:
    opening, closing = {list: "[]", tuple: "()", dict: "{}"}[type(value)]
    items = [[f"{key!r}: ", *shown(s, item, "r", "", node)] for key, item in value.items()] if isinstance(
        value, dict) else [shown(s, item, "r", "", node) for item in value]
    closing = "," + closing if isinstance(value, tuple) and len(value) == 1 else closing
    return [opening, *separated(", ", items), closing]


def shown_record(s: Specialiser, value: Any, node: Any) -> list[Any]:
    """The text of a dataclass."""
    fields = [f.name for f in dataclasses.fields(value) if f.repr]
    items = [
        [f"{name}=", *shown(s, s.get_attribute(value, name, node), "r", "", node)] for name in fields
    ]
    return [f"{type(value).__qualname__}(", *separated(", ", items), ")"]


def separated(separator: str, groups: list[list[Any]]) -> list[Any]:
    return [part for k, group in enumerate(groups) for part in ([separator] if k else []) + group]


def together(parts: list[Any]) -> Any:
    """One string, if all parts are known."""
    return Text(tuple(parts)) if has_dynamic(parts) else "".join(parts)


def joined(s: Specialiser, separator: str, items: list[Any]) -> Any:
    """separator.join(items)."""
    return together(separated(separator, [shown(s, item) for item in items]))


def formatted(s: Specialiser, template: str, arguments: list, keywords: dict, node: Any) -> Any:
    """template.format(*arguments, **keywords)."""
    parts: list[Any] = []
    automatic = iter(range(len(arguments)))
    for literal, field, form, conversion in string.Formatter().parse(template):
        parts.append(literal)
        if field is None:
            continue
        if field == "":
            field = str(next(automatic))
        if not (field.isdigit() or field.isidentifier()):
            raise s.unsupported(
                "a format field with an attribute or index", "give the value itself to format", node
            )
        value = arguments[int(field)] if field.isdigit() else keywords[field]
        parts += shown(s, value, conversion or "", form or "", node)
    return together(parts)


def percent(s: Specialiser, template: str, values: Any, node: Any) -> Any:
    """template % values."""
    values = list(values) if isinstance(values, tuple) else [values]
    parts: list[Any] = []
    rest = template
    while "%" in rest:
        literal, _, rest = rest.partition("%")
        parts.append(literal)
        length = next((k for k, c in enumerate(rest) if c.isalpha() or c == "%"), None)
        if length is None:
            raise s.located(ValueError("incomplete format"), node)
        flags, kind, rest = rest[:length], rest[length], rest[length + 1:]
        parts += ["%"] if kind == "%" else percent_part(s, flags, kind, values.pop(0), node)
    return together([*parts, rest])


def percent_part(s: Specialiser, flags: str, kind: str, value: Any, node: Any) -> list[Any]:
    if not has_dynamic(value):
        return [f"%{flags}{kind}" % value]
    known = re.fullmatch(r"([-+ #0]*)(\d*)(\.\d+)?", flags)
    whole = is_dynamic(value) and s.type(value).dtype.kind in "iu"
    if known is None or kind not in "sreEfFgGdiuxXo" or kind in "diuxXo" and not whole:
        raise s.unsupported(
            f"the format %{flags}{kind} of a value known only at run time", "use an f-string", node
        )
    marks, width, precision = known.groups(default="")
    if kind in "sr":
        return shown(s, value, kind, aligned("<" if "-" in marks else ">", width) + precision, node)
    sign = "+" if "+" in marks else " " if " " in marks else ""
    zero = "0" if "0" in marks and "-" not in marks else ""
    form = sign + "#" * ("#" in marks) + zero + width + precision + {"i": "d", "u": "d"}.get(kind, kind)
    return shown(s, value, "", "<" * ("-" in marks) + form, node)


def aligned(alignment: str, width: str) -> str:
    return alignment + width if width else ""


def added(s: Specialiser, left: Any, right: Any) -> Any:
    """left + right."""
    return together([part for value in (left, right) for part in shown(s, value)])


def to_string(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    """str(value)."""
    return together(shown(s, arguments[0], "s", "", node)) if arguments else ""


def to_repr(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    """repr(value)."""
    return together(shown(s, arguments[0], "r", "", node))


def to_format(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    """format(value, form)."""
    value, *form = arguments
    return together(shown(s, value, "", form[0] if form else "", node))


def show(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    """print: an operation of the program, carried out each time it runs."""
    options = {key: keywords[key] for key in ("sep", "end") if keywords.get(key) is not None}
    if set(keywords) - {"sep", "end", "flush"}:
        raise s.unsupported("print to a file", "print to standard output", node)
    if all(is_dynamic(a) or not has_dynamic(a) for a in arguments):
        operands = [s.operand(a) if is_dynamic(a) else str(a) for a in arguments]
        s.builder.emit(PRIMITIVES["print"], *operands, **options)
        return
    text = together(separated(options.pop("sep", " "), [shown(s, a, "s", "", node) for a in arguments]))
    message, operands = template(s, text, node)
    s.builder.emit(PRIMITIVES["print"], *operands, template=message, **options)


def field(part: Any) -> str:
    """A part of a text in the language of str.format."""
    if isinstance(part, str):
        return part.replace("{", "{{").replace("}", "}}")
    conversion = f"!{part.conversion}" if part.conversion else ""
    return "{" + conversion + (f":{part.form}" if part.form else "") + "}"


def template(s: Specialiser, value: Any, node: Any) -> tuple[str, list[Any]]:
    """The text of a value as a template for str.format, and the operands to fill in; as it is without any."""
    if not has_dynamic(value):
        return str(value), []
    parts = shown(s, value, "s", "", node)
    values = [s.operand(part.value) for part in parts if isinstance(part, Shown)]
    return "".join(map(field, parts)), values


def known_text(s: Specialiser, value: Any, node: Any) -> Any:
    """A value in the message of an exception raised while specialising: sizes in it are asked for."""
    if not has_dynamic(value):
        return value
    parts = shown(s, value, "s", "", node)
    for part in parts:
        if isinstance(part, Shown) and isinstance(need := s.need_static(part.value, "", node), NeedStatic):
            raise need
    return "".join(p if isinstance(p, str) else f"<{s.type(p.value)}>" for p in parts)
