"""Generates `chicane/wire/*.py`, the types of requests and responses, from the OpenAPI documents.

python python/scripts/wire.py target/release/chicane            writes the files
python python/scripts/wire.py target/release/chicane --check    exits with 1 if they are outdated
"""

import json
import keyword
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "src/chicane/wire"
DOCUMENTS = {"sim": ["openapi"], "robot": ["openapi", "--robot"]}
PLAIN = {"integer": "int", "number": "float", "string": "str", "boolean": "bool", "null": "None"}

Schema = dict[str, Any]
LINE = 100
"""Longest line that the formatter does not wrap."""


def type_of(schema: Schema) -> str:
    """The Python type of a schema."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "enum" in schema:
        return f"Literal[{', '.join(json.dumps(value) for value in schema['enum'])}]"
    either = schema.get("oneOf") or schema.get("anyOf")
    if either:
        return union(type_of(one) for one in either)
    types = schema.get("type", [])
    if not types:
        return "Any"
    return union(of_type(one, schema) for one in ([types] if isinstance(types, str) else types))


def union(types: Any) -> str:
    return " | ".join(dict.fromkeys(types))


def of_type(name: str, schema: Schema) -> str:
    if name == "array":
        return f"list[{type_of(schema.get('items', {}))}]"
    if name == "object":
        more = schema.get("additionalProperties")
        return f"dict[str, {type_of(more) if isinstance(more, dict) else 'Any'}]"
    if name == "string" and schema.get("format") == "binary":
        return "bytes"
    return PLAIN[name]


def text(words: str, indent: str) -> str:
    """Formats a description as a docstring."""
    words = " ".join(words.split()).replace("\\", "\\\\").replace('"', "'")
    if len(words) + len(indent) + 6 <= 100:
        return f'{indent}"""{words}"""\n'
    lines = textwrap.wrap(words, 92 - len(indent))
    return (
        f'{indent}"""{lines[0]}\n'
        + "".join(f"{indent}{line}\n" for line in lines[1:])
        + f'{indent}"""\n'
    )


def fields(schema: Schema, required: bool) -> str:
    """The fields of an object that are required, or those that are optional."""
    out = ""
    for name, field in schema.get("properties", {}).items():
        if (name in schema.get("required", [])) is required and not keyword.iskeyword(name):
            if not name.isidentifier():
                raise SystemExit(f"the field name {name!r} is not a Python identifier")
            either = field.get("oneOf", [{}])
            words = field.get("description") or either[0].get("description", "")
            out += f"    {name}: {type_of(field)}\n" + (text(words, "    ") if words else "")
    return out


def keyword_fields(name: str, schema: Schema) -> str:
    """The source of a `TypedDict` with the fields whose names are Python keywords.

    The text is empty if there are no such fields. A class body cannot declare such a field, so the
    text calls `TypedDict("Name", {...})` instead.
    """
    found = {n: f for n, f in schema.get("properties", {}).items() if keyword.iskeyword(n)}
    if not found:
        return ""
    if not found.keys() <= set(schema.get("required", [])):
        raise SystemExit(f"{name}: an optional field has the name of a Python keyword")
    pairs = ", ".join(f'"{one}": "{type_of(field)}"' for one, field in found.items())
    words = text(f"The fields of {name} that have the name of a Python keyword.", "")
    return f'{name}Keywords = TypedDict("{name}Keywords", {{{pairs}}})\n{words}\n\n'


@dataclass
class Variant:
    """One alternative of a schema: suffix of its class name, base classes and own fields."""

    suffix: str
    bases: list[str]
    own: Schema
    words: str


def variants(schema: Schema, schemas: dict[str, Schema]) -> list[Variant]:
    """The alternatives of a schema: several for a tagged union and its extensions, else one."""
    words = schema.get("description", "")
    if is_union(schema):
        found = [one for part in schema["oneOf"] for one in variants(part, schemas)]
        return [replace(one, suffix=tag(one.own) + one.suffix) for one in found]
    out = [Variant("", [], {"properties": {}, "required": []}, words)]
    for part in schema.get("allOf", [schema]):
        if "$ref" in part:
            base = type_of(part)
            more = [
                Variant(v.suffix, [base + v.suffix], {}, "")
                for v in variants(schemas[base], schemas)
            ]
        else:
            more = [Variant("", [], part, "")]
        out = [joined(one, other) for one in out for other in more]
    return out


def is_union(schema: Schema) -> bool:
    """Whether a schema is a union whose members differ by a tag."""
    parts = schema.get("oneOf", [])
    return bool(parts) and all(any(map(tag, part.get("allOf", [part]))) for part in parts)


def tag(own: Schema) -> str:
    """The value of the tag field of a variant, as a part of a class name."""
    fields_of = own.get("properties", {}).values()
    words = [f["enum"][0] for f in fields_of if len(f.get("enum", [])) == 1]
    return "".join(part.capitalize() for part in re.split("[_ ]", words[-1])) if words else ""


def joined(one: Variant, other: Variant) -> Variant:
    own = {
        "properties": one.own["properties"] | other.own.get("properties", {}),
        "required": one.own["required"] + other.own.get("required", []),
    }
    return Variant(one.suffix + other.suffix, one.bases + other.bases, own, one.words)


def definition(name: str, schema: Schema, schemas: dict[str, Schema]) -> str:
    """The definition of a schema: a `TypedDict`, a union of `TypedDict` classes, or an alias."""
    if is_union(schema) or any("properties" in p for p in schema.get("allOf", [schema])):
        ways = variants(schema, schemas)
        classes = [class_of(name + way.suffix, way, schema) for way in ways]
        if len(ways) == 1:
            return classes[0]
        alias = alias_of(name, [name + way.suffix for way in ways])
        words = text(schema.get("description", name), "")
        return "\n\n".join(classes) + f"\n\n{alias}\n{words}"
    words = text(schema.get("description", name), "")
    if "enum" in schema:
        return f"{literal_of(name, schema['enum'])}\n{words}"
    return f"{name}: TypeAlias = {quoted(type_of(schema))}\n{words}"


def alias_of(name: str, classes: list[str]) -> str:
    """An alias of a union of classes, over several lines if it is long."""
    line = f"{name}: TypeAlias = {' | '.join(classes)}"
    if len(line) <= LINE:
        return line
    return f"{name}: TypeAlias = (\n    " + "\n    | ".join(classes) + "\n)"


def literal_of(name: str, values: list[Any]) -> str:
    """An alias of literals, over several lines if it is long."""
    words = [json.dumps(value) for value in values]
    line = f"{name}: TypeAlias = Literal[{', '.join(words)}]"
    if len(line) <= LINE:
        return line
    return f"{name}: TypeAlias = Literal[\n    " + ",\n    ".join(words) + ",\n]"


def class_of(name: str, way: Variant, schema: Schema) -> str:
    """A `TypedDict` for one alternative of a schema."""
    must, may = fields(way.own, True), fields(way.own, False)
    words = text(way.words or schema.get("description", name), "    ")
    before = keyword_fields(name, way.own)
    bases = [*way.bases, *([f"{name}Keywords"] if before else [])]
    first = ", ".join(bases or ["TypedDict"])
    if not may:
        return f"{before}class {name}({first}):\n{words}\n{must}"
    if must:
        inner = f"class {name}Required({first}):\n    '''The required fields of {name}.'''\n\n"
        inner = inner.replace("'''", '"""') + must + "\n\n"
        return f"{before}{inner}class {name}({name}Required, total=False):\n{words}\n{may}"
    return f"{before}class {name}({first}, total=False):\n{words}\n{may}"


def quoted(words: str) -> str:
    """Quotes a type that names a class, because an alias may come before the class."""
    return words if re.fullmatch(r"[a-z]+|Literal\[.*\]|dict\[str, Any\]", words) else f'"{words}"'


def order(schemas: dict[str, Schema]) -> list[str]:
    """Names of the schemas in alphabetical order, but a base class comes before its subclasses."""
    out: list[str] = []

    def add(name: str) -> None:
        ways = [schemas[name], *schemas[name].get("oneOf", [])]
        for part in (part for way in ways for part in way.get("allOf", [])):
            if "$ref" in part:
                add(type_of(part))
        if name not in out:
            out.append(name)

    for name in sorted(schemas):
        add(name)
    return out


def module(document: dict[str, Any]) -> str:
    schemas = document["components"]["schemas"]
    body = "\n\n".join(definition(name, schemas[name], schemas) for name in order(schemas))
    known = ("Any", "Literal", "TypeAlias", "TypedDict")
    names = ", ".join(name for name in known if re.search(rf"\b{name}\b", body))
    title = document["info"]["title"]
    return (
        f'"""Types of the OpenAPI document "{title}". Generated by `make wire`; do not edit."""\n\n'
        f"from __future__ import annotations\n\nfrom typing import {names}\n\n\n{body}"
    )


def main(program: str, *mode: str) -> int:
    behind = 0
    for name, words in DOCUMENTS.items():
        output = subprocess.run([program, *words], check=True, stdout=subprocess.PIPE, timeout=60)
        made, file = module(json.loads(output.stdout)), FOLDER / f"{name}.py"
        if mode != ("--check",):
            file.write_text(made)
        elif file.read_text() != made:
            print(f"{file} does not match the OpenAPI document: run `make wire`", file=sys.stderr)
            behind = 1
    return behind


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
