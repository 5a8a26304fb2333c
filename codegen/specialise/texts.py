"""Strings of which parts are known only at run time: good for print and for the messages of exceptions."""
from __future__ import annotations

import string
from typing import Any

import gast

from ..registry import PRIMITIVES
from .machine import Specialiser
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
        return [Shown(value, conversion, form)]
    if type(value) in (list, tuple, dict):
        return shown_container(s, value, node)
    raise s.unsupported(f"the text of a {type(value).__name__} with parts known only at run time",
                        "show its parts one by one", node)


def shown_container(s: Specialiser, value: Any, node: Any) -> list[Any]:
    opening, closing = {list: "[]", tuple: "()", dict: "{}"}[type(value)]
    items = [[f"{key!r}: ", *shown(s, item, "r", "", node)] for key, item in value.items()] if isinstance(
        value, dict) else [shown(s, item, "r", "", node) for item in value]
    closing = "," + closing if isinstance(value, tuple) and len(value) == 1 else closing
    return [opening, *separated(", ", items), closing]


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
    if kind in "sr":
        return shown(s, value, kind, f">{flags}" if flags.isdigit() else flags, node)
    if kind == "d" or not all(c.isdigit() or c in ".+" for c in flags):
        raise s.unsupported(
            f"the format %{flags}{kind} of a value known only at run time", "use an f-string", node
        )
    return shown(s, value, "", f"{flags}{kind}", node)


def added(s: Specialiser, left: Any, right: Any) -> Any:
    """left + right."""
    return together([part for value in (left, right) for part in shown(s, value)])


def to_string(s: Specialiser, arguments: list, keywords: dict, node: Any) -> Any:
    """str(value) and repr(value)."""
    return together(shown(s, arguments[0], "", "", node)) if arguments else ""


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
    parts = separated(options.pop("sep", " "), [shown(s, a, "", "", node) for a in arguments])
    operands = [s.operand(part.value) for part in parts if isinstance(part, Shown)]
    s.builder.emit(PRIMITIVES["print"], *operands, template="".join(map(field, parts)), **options)


def field(part: Any) -> str:
    """A part of a text in the language of str.format."""
    if isinstance(part, str):
        return part.replace("{", "{{").replace("}", "}}")
    conversion = f"!{part.conversion}" if part.conversion else ""
    return "{" + conversion + (f":{part.form}" if part.form else "") + "}"


def text_of(s: Specialiser, value: Any, node: Any) -> str:
    """A message for an exception; what is known only at run time is not in it."""
    if isinstance(value, Text):
        return "".join(part if isinstance(part, str) else "?" for part in value.parts)
    return value if isinstance(value, str) else str(value) if not has_dynamic(value) else "?"
