"""Checks documents against the published JSON Schemas, with a place for every problem.

The schema files that editors and other tools use are the ones enforced here, so the two cannot
drift apart. This reads the small part of JSON Schema (2020-12) that our schemas use; a
test holds it equal to the `jsonschema` library, which would cost every command 90 ms.
A schema's `description` becomes the "how to mend it" of the message.
"""

from __future__ import annotations

import datetime
import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from flopbook.data.yaml_text import Node, named_children
from flopbook.errors import Problem, shorten

Schema = Mapping[str, Any]

KEYWORDS = frozenset(
    [
        "$schema",
        "$id",
        "$defs",
        "$ref",
        "title",
        "description",
        "type",
        "enum",
        "const",
        "pattern",
        "format",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "items",
        "minItems",
        "maxItems",
        "properties",
        "required",
        "additionalProperties",
        "allOf",
        "anyOf",
        "if",
        "then",
        "else",
        "not",
        "examples",
        "uniqueItems",
    ]
)


@functools.cache
def load_schema(path: Path) -> Schema:
    """Read a schema file.

    Raises ValueError if it uses a keyword that this checker does not know.
    """
    schema = json.loads(path.read_text(encoding="utf-8"))
    _refuse_unknown_keywords(schema, path.name)
    return schema


def _refuse_unknown_keywords(schema: Any, where: str) -> None:
    if not isinstance(schema, dict):
        return
    if unknown := set(schema) - KEYWORDS:
        raise ValueError(f"{where}: keywords that are not enforced: {', '.join(sorted(unknown))}")
    for key, value in schema.items():
        if key in ("properties", "$defs"):
            for name, part in value.items():
                _refuse_unknown_keywords(part, f"{where}/{name}")
        elif key in ("items", "if", "then", "else", "not", "additionalProperties"):
            _refuse_unknown_keywords(value, f"{where}/{key}")
        elif key in ("allOf", "anyOf"):
            for part in value:
                _refuse_unknown_keywords(part, f"{where}/{key}")


def check(node: Node, schema: Schema, file: str) -> list[Problem]:
    """All the problems of a document under a schema; an empty list when it is valid."""
    return list(_Checker(schema, file).check(node, schema))


_STRUCTURAL = (
    "properties",
    "required",
    "additionalProperties",
    "items",
    "allOf",
    "anyOf",
    "not",
    "if",
)


class _Plan(NamedTuple):
    """A schema with its reference followed, its types, its tests of single values, and whether that
    is all.
    """

    schema: Schema
    types: tuple[str, ...]
    tests: tuple[tuple[str, Callable[[Any, Any], str | None], Any], ...]
    simple: bool


class _Study:
    """What is found out about a schema once and holds for every document: plans, rules by field,
    descriptions.
    """

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.plans: dict[int, _Plan] = {}
        self.rules: dict[int, tuple[list[Schema], dict[str, dict[str, list[Schema]]]]] = {}

    @functools.cached_property
    def described(self) -> dict[str, Schema]:
        """Every property that says how to fill it in, by name: a rule may require a field described
        elsewhere.
        """
        return dict(_described(self.root))


_STUDIES: dict[int, _Study] = {}


def _study(root: Schema) -> _Study:
    """The study of a schema. It keeps the schema, so that the id stays the schema's own."""
    found = _STUDIES.get(id(root))
    if found is None or found.root is not root:
        found = _STUDIES[id(root)] = _Study(root)
    return found


class _Checker:
    def __init__(self, root: Schema, file: str) -> None:
        self.root, self.file, self.study = root, file, _study(root)
        self.plans, self.rules = self.study.plans, self.study.rules

    def check(self, node: Node, schema: Schema) -> Iterator[Problem]:
        plan = self.plans.get(id(schema)) or self._plan(schema)
        schema = plan.schema
        if plan.types and not any(_TYPES[name](node.value) for name in plan.types):
            yield self.problem(
                node, "type", _describe(node.value), _type_words(schema["type"]), schema
            )
            return
        for keyword, test, argument in plan.tests:
            if (expected := test(_json_value(node), argument)) is not None:
                expected += _nearest(node.value, schema["enum"]) if keyword == "enum" else ""
                yield self.problem(node, keyword, _describe(node.value), expected, schema)
        if plan.simple:
            return
        if isinstance(node.value, dict):
            yield from self._mapping(node, schema)
        if isinstance(node.value, list) and "items" in schema:
            for item in node.value:
                yield from self.check(item, schema["items"])
        yield from self._combined(node, schema)

    def _plan(self, schema: Schema) -> _Plan:
        """What to do for a schema, found out once: an entry meets the same few hundred times."""
        resolved = self.resolved(schema)
        types = resolved.get("type", ())
        tests = tuple(
            (k, _SCALAR_TESTS[k], argument)
            for k, argument in resolved.items()
            if k in _SCALAR_TESTS
        )
        simple = resolved.keys().isdisjoint(_STRUCTURAL)
        plan = _Plan(resolved, (types,) if isinstance(types, str) else tuple(types), tests, simple)
        self.plans[id(schema)] = plan
        return plan

    def _mapping(self, node: Node, schema: Schema) -> Iterator[Problem]:
        properties = schema.get("properties", {})
        for name in schema.get("required", ()):
            if name not in node.value:
                expected = f"a '{name}'"
                hint = self.resolved(properties.get(name) or self.study.described.get(name, {}))
                yield self.problem(node, "missing", f"no '{name}'{_label(node)}", expected, hint)
        for name, child in node.value.items():
            if name in properties:
                yield from self.check(child, properties[name])
            elif schema.get("additionalProperties") is False:
                near = _close(name, properties)
                expected = f"'{near[0]}'" if near else f"one of {', '.join(sorted(properties))}"
                line, column = node.key_marks[name] if node.key_marks else (node.line, node.column)
                yield Problem(
                    self.file,
                    line,
                    column,
                    "unknown",
                    f"'{shorten(name)}'",
                    expected,
                    "rename or remove it",
                )

    def _combined(self, node: Node, schema: Schema) -> Iterator[Problem]:
        always, switches = self._rules_of(schema)
        for part in always:
            yield from self.check(node, part)
        for name, branches in switches.items() if isinstance(node.value, dict) else ():
            child = node.value.get(name)
            # A rule about another field than this claim's has nothing to say: it is not even looked
            # at.
            if child is not None and isinstance(child.value, str):
                for branch in branches.get(child.value, ()):
                    yield from self.check(node, branch)
        if "anyOf" in schema and not any(self.holds(node, part) for part in schema["anyOf"]):
            words = " or ".join(
                self.resolved(part).get("title", "another form") for part in schema["anyOf"]
            )
            wanted = [name for part in schema["anyOf"] for name in part.get("required", ())]
            found = (
                f"no {' and no '.join(map(repr, wanted))}{_label(node)}"
                if wanted
                else _describe(node.value)
            )
            yield self.problem(node, "form", found, words, schema)
        if "not" in schema and self.holds(node, schema["not"]):
            yield self.problem(node, "not-allowed", _describe(node.value), "something else", schema)
        if "if" in schema:
            branch = schema.get("then" if self.holds(node, schema["if"]) else "else")
            if branch is not None:
                yield from self.check(node, branch)

    def _rules_of(self, schema: Schema) -> tuple[list[Schema], dict[str, dict[str, list[Schema]]]]:
        """The parts of `allOf`: those for every node, and those for one value of one field, by
        field and value.
        """
        found = self.rules.get(id(schema))
        if found is None:
            always: list[Schema] = []
            switches: dict[str, dict[str, list[Schema]]] = {}
            for part in schema.get("allOf", ()):
                if rule := _field_rule(part):
                    switches.setdefault(rule[0], {}).setdefault(rule[1], []).append(part["then"])
                else:
                    always.append(part)
            found = self.rules[id(schema)] = (always, switches)
        return found

    def resolved(self, schema: Schema) -> Schema:
        """The schema that a reference stands for."""
        while "$ref" in schema:
            schema = self.root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
        return schema

    def holds(self, node: Node, schema: Schema) -> bool:
        return next(self.check(node, schema), None) is None

    def problem(self, node: Node, rule: str, found: str, expected: str, schema: Schema) -> Problem:
        mend = schema.get("description") or "see accelerators/README.md"
        return Problem(self.file, node.line, node.column, rule, found, expected, mend)


def _field_rule(part: Schema) -> tuple[str, Any] | None:
    """Name and value for a rule about one field only (`if field is X then ...`), else None."""
    if part.keys() != {"if", "then"} or part["if"].keys() != {"properties", "required"}:
        return None
    properties, required = part["if"]["properties"], part["if"]["required"]
    name, rule = next(iter(properties.items()))
    only = (
        len(properties) == 1
        and required == [name]
        and rule.keys() == {"const"}
        and isinstance(rule["const"], str)
    )
    return (name, rule["const"]) if only else None


def _described(schema: Any) -> Iterator[tuple[str, Schema]]:
    if isinstance(schema, dict):
        for name, part in (
            schema.get("properties", {}).items()
            if isinstance(schema.get("properties"), dict)
            else ()
        ):
            if isinstance(part, dict) and "description" in part:
                yield name, part
        for part in schema.values():
            yield from _described(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _described(part)


def _nearest(value: Any, choices: list[Any]) -> str:
    near = (
        _close(value, [c for c in choices if isinstance(c, str)]) if isinstance(value, str) else []
    )
    return f" (nearest: {near[0]})" if near else ""


def _close(word: str, known: Iterable[str]) -> list[str]:
    import difflib  # only a message needs it

    return difflib.get_close_matches(word, list(known), n=1)


def _label(node: Node) -> str:
    """Which claim lacks something: its field and dtype say more than its line alone."""
    words = [
        str(node.get(key)) for key in ("field", "dtype", "sparsity") if node.get(key) is not None
    ]
    return f" in this {' '.join(words)} claim" if words else ""


def _json_value(node: Node) -> Any:
    """The value as JSON would carry it: dates become text."""
    value = node.plain() if isinstance(node.value, (dict, list)) else node.value
    return value.isoformat() if isinstance(value, datetime.date) else value


_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, (str, datetime.date)),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "integer": lambda v: (
        isinstance(v, int | float) and not isinstance(v, bool) and float(v).is_integer()
    ),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
}


def _type_words(names: str | list[str]) -> str:
    words = {
        "object": "a mapping",
        "array": "a list",
        "string": "text",
        "integer": "a whole number",
    }
    listed = [names] if isinstance(names, str) else names
    return " or ".join(words.get(name, f"a {name}") for name in listed)


def _describe(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, str) and re.fullmatch(r"[-+]?\d*\.?\d+(e[-+]?\d+)?", value, re.IGNORECASE):
        return f"the text '{shorten(value)}'"
    return "nothing" if value is None else f"'{shorten(value)}'"


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_date(text: str) -> bool:
    """True for a day of the calendar written YYYY-MM-DD."""
    try:
        return len(text) == 10 and datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


# Patterns are compiled by their first use: most commands meet none of them.
_URI = r"https?://[A-Za-z0-9.-]+(:[0-9]+)?(/[^\s<>\"'`\\]*)?"
_FORMATS: Mapping[str, Callable[[str], bool]] = {
    "date": is_date,
    "uri": lambda text: bool(re.fullmatch(_URI, text)),
}

# keyword -> function of (value, argument): what was expected, or None when the value passes
_SCALAR_TESTS: Mapping[str, Callable[[Any, Any], str | None]] = {
    "enum": lambda v, a: None if v in a else f"one of {', '.join(map(str, a))}",
    "const": lambda v, a: None if v == a else f"'{a}'",
    "pattern": lambda v, a: None if not isinstance(v, str) or re.search(a, v) else f"text like {a}",
    "format": lambda v, a: None if not isinstance(v, str) or _FORMATS[a](v) else _FORMAT_WORDS[a],
    "minLength": lambda v, a: (
        None if not isinstance(v, str) or len(v) >= a else f"at least {a} characters"
    ),
    "maxLength": lambda v, a: (
        None if not isinstance(v, str) or len(v) <= a else f"at most {a} characters"
    ),
    "minimum": lambda v, a: None if not _number(v) or v >= a else f"at least {a}",
    "maximum": lambda v, a: None if not _number(v) or v <= a else f"at most {a}",
    "exclusiveMinimum": lambda v, a: None if not _number(v) or v > a else f"more than {a}",
    "minItems": lambda v, a: (
        None if not isinstance(v, list) or len(v) >= a else f"at least {a} of them"
    ),
    "maxItems": lambda v, a: (
        None if not isinstance(v, list) or len(v) <= a else f"at most {a} of them"
    ),
    "uniqueItems": lambda v, a: (
        None if not isinstance(v, list) or _unique(v) else "each of them once"
    ),
}


_FORMAT_WORDS = {"date": "a date as YYYY-MM-DD", "uri": "an http or https address"}


def _unique(values: list[Any]) -> bool:
    seen = [json.dumps(value, sort_keys=True, default=str) for value in values]
    return len(seen) == len(set(seen))


MAX_QUOTE_WORDS = 25
_MARKUP = r"(?i:<[a-z/!?]|\{[{%#]|&#|(?:javascript|vbscript):|data:(?:text|image))"
_MARKS = ("<", "{", "&#", "script:", "data:")  # no markup is without one of these
_PROSE = ("intro",)  # texts with expressions over the data, which pages fill in


def text_problems(node: Node, file: str) -> Iterator[Problem]:
    """Text rules for contributed data: no markup, no control characters, short quotes, sane dates."""
    for key, child in named_children(node):
        yield from text_problems(child, file)
        value = child.value
        if isinstance(value, str):
            yield from _text_rules(key, value, child, file)
        if key == "as_of" and is_date(str(value)) and str(value) < "2000":
            yield Problem(
                file,
                child.line,
                child.column,
                "date",
                str(value),
                "the date of reading",
                "mend the year",
            )


_HIDDEN = (
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"
)


def hidden_character(text: str) -> str:
    """The first character that drives a terminal or turns the reading direction, by number; else
    empty.
    """
    if text.isascii() and text.isprintable():
        return ""
    match = re.search(_HIDDEN, text)
    return f"the hidden character U+{ord(match[0]):04X}" if match else ""


def _text_rules(key: str, value: str, node: Node, file: str) -> Iterator[Problem]:
    at = (file, node.line, node.column)
    lower = value.lower()
    plain = value.replace("{{", "") if key in _PROSE else value
    if any(mark in lower for mark in _MARKS) and (match := re.search(_MARKUP, plain)):
        yield Problem(
            *at,
            "markup",
            f"'{shorten(plain[match.start() :], 30)}'",
            "plain text",
            "remove the markup",
        )
    if hidden := hidden_character(value):
        yield Problem(*at, "control-character", hidden, "printable text", "retype the line")
    if key == "quote" and len(value.split()) > MAX_QUOTE_WORDS:
        found, expected = f"{len(value.split())} words", f"at most {MAX_QUOTE_WORDS}"
        yield Problem(*at, "quote-length", found, expected, "shorten the quote or use a locator")
