"""Do a call's arguments fit the tool's input schema?

Source: JSON Schema 2020-12, and of it the keywords that our contracts use: type (one or several),
properties, required, additionalProperties false, items, maxItems, minimum. ``format`` is an
annotation there, and one here. We check by hand: the SDK does not, and jsonschema takes longer to
import than a tool call may take; its messages are for people who know the schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def problem(tool: str, arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> str | None:
    """Return one sentence about the first thing that does not fit, or None if all does."""
    properties: Mapping[str, Any] = schema["properties"]
    for name in arguments:
        if name not in properties:
            known = ", ".join(properties) or "no arguments"
            return f"{tool} has no argument {name!r}; it takes {known}"
    for name in schema.get("required", ()):
        if name not in arguments:
            return f"{tool} needs the argument {name!r}"
    for name, value in arguments.items():
        if (found := _misfit(name, value, properties[name])) is not None:
            return found
    return None


def _misfit(where: str, value: object, schema: Mapping[str, Any]) -> str | None:
    allowed = schema["type"]
    types = [allowed] if isinstance(allowed, str) else allowed
    if not any(_is(value, name) for name in types):
        return f"{where} must be {' or '.join(_NOUNS[name] for name in types)}, not {_kind(value)}"
    if isinstance(value, list):
        most = schema.get("maxItems")
        if most is not None and len(value) > most:
            return f"{where} takes at most {most} entries, not {len(value)}"
        for index, item in enumerate(value):
            if (found := _misfit(f"{where}[{index}]", item, schema["items"])) is not None:
                return found
    least = schema.get("minimum")
    if least is not None and isinstance(value, (int, float)) and value < least:
        return f"{where} must be at least {least}, not {value}"
    return None


def _is(value: object, name: str) -> bool:
    if name == "integer":  # 2.0 is an integer in JSON, True is not
        whole = isinstance(value, float) and value.is_integer()
        return whole or (isinstance(value, int) and not isinstance(value, bool))
    return isinstance(value, _TYPES[name])


def _kind(value: object) -> str:
    if isinstance(value, bool):
        return _NOUNS["boolean"]
    if isinstance(value, float):
        return f"{value}"
    return next(_NOUNS[name] for name in _NOUNS if name != "boolean" and _is(value, name))


_TYPES: Mapping[str, type] = {
    "string": str,
    "boolean": bool,
    "null": type(None),
    "array": list,
    "object": dict,
}
_NOUNS = {
    "string": "a string",
    "integer": "an integer",
    "boolean": "a boolean",
    "array": "an array",
    "object": "an object",
    "null": "null",
}
