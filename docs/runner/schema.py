"""Checks values by the part of JSON Schema that our documents use. Rejects other keywords."""

import re

# Keywords that do not restrict a value.
ANNOTATIONS = {"$schema", "$id", "title", "description", "default", "examples", "example", "format"}
ANNOTATIONS |= {"$defs", "definitions", "components", "deprecated", "readOnly"}
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
}


def problems(value, schema, document, at="it") -> list[str]:
    """Describes what is wrong with a value. `document` is the root for references."""
    if schema is True:
        return []
    if schema is False:
        return [f"{at} is not allowed"]
    found = []
    for word, rule in schema.items():
        if word in ANNOTATIONS:
            continue
        if word not in RULES:
            raise ValueError(f"the schema has a keyword that this checker does not know: {word}")
        found += RULES[word](value, rule, schema, document, at)
    return found


def is_a(value, name: str) -> bool:
    """Whether a value is of a type of JSON Schema."""
    if name in ("number", "integer"):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and (name == "number" or value == int(value))
    return isinstance(value, TYPES[name])


def check_type(value, rule, _schema, _document, at):
    names = [rule] if isinstance(rule, str) else rule
    return [] if any(is_a(value, name) for name in names) else [f"{at} is not {' or '.join(names)}"]


def check_reference(value, rule, _schema, document, at):
    target = document
    for part in rule.removeprefix("#/").split("/"):
        target = target[part.replace("~1", "/").replace("~0", "~")]
    return problems(value, target, document, at)


def check_properties(value, rule, _schema, document, at):
    if not isinstance(value, dict):
        return []
    pairs = [(key, rule[key]) for key in value if key in rule]
    return [p for key, s in pairs for p in problems(value[key], s, document, f"{at}.{key}")]


def check_additional(value, rule, schema, document, at):
    if not isinstance(value, dict):
        return []
    others = [key for key in value if key not in schema.get("properties", {})]
    return [p for key in others for p in problems(value[key], rule, document, f"{at}.{key}")]


def check_names(value, rule, _schema, document, at):
    if not isinstance(value, dict):
        return []
    return [p for key in value for p in problems(key, rule, document, f"the name {at}.{key}")]


def check_required(value, rule, _schema, _document, at):
    if not isinstance(value, dict):
        return []
    return [f"{at}.{key} is missing" for key in rule if key not in value]


def check_items(value, rule, schema, document, at):
    if not isinstance(value, list):
        return []
    rest = list(enumerate(value))[len(schema.get("prefixItems", [])) :]
    return [p for i, item in rest for p in problems(item, rule, document, f"{at}[{i}]")]


def check_first_items(value, rule, _schema, document, at):
    if not isinstance(value, list):
        return []
    pairs = enumerate(zip(value, rule, strict=False))
    return [p for i, (item, s) in pairs for p in problems(item, s, document, f"{at}[{i}]")]


def check_any(value, rule, _schema, document, at):
    if any(not problems(value, each, document, at) for each in rule):
        return []
    return [f"{at} matches no schema of anyOf"]


def check_one(value, rule, _schema, document, at):
    fits = sum(not problems(value, each, document, at) for each in rule)
    return [] if fits == 1 else [f"{at} matches {fits} schemas of oneOf, not one"]


def check_all(value, rule, _schema, document, at):
    return [p for each in rule for p in problems(value, each, document, at)]


def check_not(value, rule, _schema, document, at):
    return [] if problems(value, rule, document, at) else [f"{at} is what it may not be"]


def check_const(value, rule, _schema, _document, at):
    return [] if value == rule else [f"{at} is not {rule!r}"]


def check_enum(value, rule, _schema, _document, at):
    return [] if value in rule else [f"{at} is not one of {rule}"]


def check_pattern(value, rule, _schema, _document, at):
    if isinstance(value, str) and not re.search(rule, value):
        return [f"{at} does not match {rule}"]
    return []


def bound(kind, fits, words):
    """A rule for the value of a number, or for the length of a string, list or object."""

    def check(value, rule, _schema, _document, at):
        if kind is None:
            measured = value if is_a(value, "number") else None
        else:
            measured = len(value) if isinstance(value, kind) else None
        return [] if measured is None or fits(measured, rule) else [f"{at} {words} {rule}"]

    return check


RULES = {
    "type": check_type,
    "$ref": check_reference,
    "properties": check_properties,
    "additionalProperties": check_additional,
    "propertyNames": check_names,
    "required": check_required,
    "items": check_items,
    "prefixItems": check_first_items,
    "anyOf": check_any,
    "oneOf": check_one,
    "allOf": check_all,
    "not": check_not,
    "const": check_const,
    "enum": check_enum,
    "pattern": check_pattern,
    "minimum": bound(None, lambda a, b: a >= b, "is under"),
    "maximum": bound(None, lambda a, b: a <= b, "is over"),
    "exclusiveMinimum": bound(None, lambda a, b: a > b, "is not over"),
    "exclusiveMaximum": bound(None, lambda a, b: a < b, "is not under"),
    "minLength": bound(str, lambda a, b: a >= b, "is shorter than"),
    "maxLength": bound(str, lambda a, b: a <= b, "is longer than"),
    "minItems": bound(list, lambda a, b: a >= b, "has fewer items than"),
    "maxItems": bound(list, lambda a, b: a <= b, "has more items than"),
    "minProperties": bound(dict, lambda a, b: a >= b, "has fewer entries than"),
    "maxProperties": bound(dict, lambda a, b: a <= b, "has more entries than"),
}
