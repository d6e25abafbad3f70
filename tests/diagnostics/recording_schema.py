"""JSON schema of a recording, made of the records that are saved; run it to write it anew."""

from __future__ import annotations

import json
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin

from promoarray.core.call_site import Site
from promoarray.diagnostics.record import saved
from promoarray.dtypes import DType
from promoarray.operations import Form

SCHEMA = Path(saved.__file__).parent / "recording.schema.json"

_PLAIN = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    float: {"anyOf": [{"type": "number"}, {"$ref": "#/$defs/special"}]},
    type(None): {"type": "null"},
    Any: {},
    Site: {"type": "integer", "minimum": 0, "description": "a place: its number in sites"},
    Form: {"enum": [form.name for form in Form]},
    DType: {"type": "string", "description": "a dtype's code, in bits: f32"},
}
_SPECIAL = {
    "description": "a number that JSON does not have",
    "anyOf": [
        {"type": "object", "required": ["float"]},
        {"type": "object", "required": ["complex"]},
    ],
}


def schema() -> dict[str, Any]:
    """Return the schema of the records as they are."""
    known: dict[str, Any] = {"special": _SPECIAL}

    def of(kind: Any) -> dict[str, Any]:
        origin, args = get_origin(kind) or kind, get_args(kind)
        if kind in _PLAIN:
            return _PLAIN[kind]
        if origin is UnionType:
            return {"anyOf": [of(each) for each in args]}
        if issubclass(origin, dict):
            values = of(args[1]) if args[1:] else {"type": "integer"}
            pairs = {"type": "array", "prefixItems": [of(args[0]), values], "minItems": 2}
            as_pairs = {"type": "array", "items": pairs}
            as_object = {"type": "object", "additionalProperties": values}
            return {"anyOf": [as_object, as_pairs]} if args[0] is str else as_pairs
        if origin is tuple and Ellipsis not in args:
            return {"type": "array", "prefixItems": [*map(of, args)], "minItems": len(args)}
        if origin in (tuple, list, set):
            return {"type": "array", "items": of(args[0])}
        name = f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}"
        if name not in known:
            known[name] = {}
            known[name] |= record(kind)
        return {"$ref": f"#/$defs/{name}"}

    def record(kind: Any) -> dict[str, Any]:
        types = saved._types(kind)
        return {
            "type": "object",
            "properties": {name: of(each) for name, each in types.items()},
            "required": [name for name in types if name not in saved._defaults(kind)],
        }

    whole = record(saved._Saved)
    whole["properties"] |= {
        "format": {"const": saved.FORMAT},
        "version": {"const": saved.VERSION},
        "sites": {"type": "array", "items": record(Site)},
    }
    whole["required"] += ["format", "version", "sites"]
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": saved.FORMAT}
    return head | whole | {"$defs": known}


def text() -> str:
    """Return the text of the file."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA.write_text(text(), encoding="utf-8")
