"""Checks documents against the published JSON Schemas, with a place for every problem.

The schema files that editors and other tools use are the ones enforced here, so the two cannot
drift apart. `jsonschema_rs` decides; this module turns its errors into our problems: the line and
column of the value at fault, and the schema's own `description` as the way to mend it.
"""

from __future__ import annotations

import datetime
import functools
import json
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from flopbook.data import approvals
from flopbook.data.files import read_text
from flopbook.data.grouped_digits import advice_for, cut_numbers, ungrouped
from flopbook.data.schema_words import (
    EXPECTED,
    FORMATS,
    KEYWORDS,
    RULE_NAMES,
    described_value,
    nearest,
)
from flopbook.data.yaml_text import Node, is_number, named_children
from flopbook.errors import DataError, Problem, shorten, show_path

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator

_LONGEST_CHOICES = 300  # letters of a list of choices that stands beside the nearest of them
_LONGEST_LIST = 600  # letters of one that stands alone: the fields of a model have more
_MOST_ITEMS = 2_000  # of one list; ours have 400 at most
_MOST_PROBLEMS = 1_000  # of one file; more are no help, and a hundred such files fill a memory
_MOST_UNKNOWN = 20  # names of one mapping that are told one by one
_NUMBERS = ("number", "integer")
Rule = Mapping[str, Any]
Json = dict[str, "Json"] | list["Json"] | str | float | bool | None


class Schema(dict[str, Any]):
    """A schema as it is published. What checking needs of it is made once, when it is needed."""

    def __init__(self, text: str, file: str = "schema") -> None:
        rules = json.loads(text)
        if not isinstance(rules, dict):
            raise TypeError(f"a {type(rules).__name__} in place of a mapping of rules")
        super().__init__(rules)
        self.text, self.file = text, file

    @functools.cached_property
    def validator(self) -> Validator:
        """The compiled schema."""
        # Loading the library takes 15 ms and compiling 2 ms: commands that only meet approved
        # documents do without.
        from jsonschema_rs import Draft202012Validator

        formats = {name: test for name, (test, _) in FORMATS.items()}
        try:
            return Draft202012Validator(dict(self), formats=formats, validate_formats=True)
        except ValueError as error:
            raise _broken(self.file, error) from None

    @property
    def compiled(self) -> bool:
        """True when the validator was made, so that one more check costs next to nothing."""
        return "validator" in self.__dict__

    @functools.cached_property
    def described(self) -> Mapping[str, Rule]:
        """Every property that says how to fill it in.

        A rule about one field may require a property that is described elsewhere. Exceptions have
        the names of rules, some of which are properties too, and are never required.
        """
        parts = self.get("$defs", {})
        needed = {name: part for name, part in parts.items() if name != "exceptions"}
        return dict(_described({**self, "$defs": needed}))

    def resolved(self, rule: Rule) -> Rule:
        """The rule that a reference stands for."""
        while "$ref" in rule:
            rule = self["$defs"][rule["$ref"].removeprefix("#/$defs/")]
        return rule


# How a schema that is broken fails: as a file, as JSON, and as rules.
_BROKEN = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, MemoryError)


@functools.cache
def load_schema(path: Path) -> Schema:
    """Read a schema file.

    Raises DataError for one that is broken, and for a keyword that has no message here: editors
    would see it and we would not.
    """
    try:
        schema = Schema(read_text(path), show_path(path))
        _refuse_unknown_keywords(schema, path.name)
    except _BROKEN as error:
        raise _broken(show_path(path), error) from None
    return schema


def _broken(file: str, error: Exception) -> DataError:
    place = getattr(error, "lineno", 1), getattr(error, "colno", 1)
    observed = shorten(getattr(error, "msg", error) or type(error).__name__, 160)
    expected = "a JSON Schema that the checks understand"
    return DataError([Problem(file, *place, "schema", observed, expected, "mend the schema")])


def _refuse_unknown_keywords(rule: Rule, place: str) -> None:
    if unknown := rule.keys() - KEYWORDS:
        raise ValueError(f"{place}: keywords that are not enforced: {', '.join(sorted(unknown))}")
    for name, inner in _inner_rules(rule):
        _refuse_unknown_keywords(inner, f"{place}/{name}")


def _inner_rules(rule: Rule) -> Iterator[tuple[str, Rule]]:
    """The rules directly inside a rule, with the name that leads to each."""
    for keyword in ("properties", "$defs"):
        yield from rule.get(keyword, {}).items()
    for keyword in ("allOf", "anyOf"):
        yield from ((keyword, branch) for branch in rule.get(keyword, ()))
    for keyword in ("items", "if", "then", "else", "not", "additionalProperties"):
        if isinstance(rule.get(keyword), dict):
            yield keyword, rule[keyword]


def _described(rule: Rule) -> Iterator[tuple[str, Rule]]:
    for name, inner in rule.get("properties", {}).items():
        if "description" in inner:
            yield name, inner
    for _, inner in _inner_rules(rule):
        yield from _described(inner)


def check(node: Node, schema: Schema, file: str) -> list[Problem]:
    """All the problems of a document under a schema; an empty list when it is valid."""
    document = _json_value(node)
    if schema.compiled:
        return _problems(node, document, schema, file)
    if approvals.approved(schema.text, document):
        return []
    # Only the document that makes the checker load is worth remembering: further ones are cheap.
    problems = _problems(node, document, schema, file)
    if not problems:
        approvals.approve(schema.text, document)
    return problems


def _json_value(node: Node) -> Json:
    """The document as JSON carries it: dates are text."""
    value = node.value
    if isinstance(value, str):  # three of four
        return value
    if isinstance(value, dict):
        return {key: _json_value(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_json_value(child) for child in value]
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, float) and math.isinf(value):  # 1e999, which JSON cannot say
        return math.copysign(sys.float_info.max, value)
    return cast(Json, value)


def _problems(node: Node, document: Json, schema: Schema, file: str) -> list[Problem]:
    if too_long := next(_long_lists(node), None):
        # The checker keeps every error of every item: 20,000 empty claims took a gigabyte.
        observed, expected = f"a list of {len(too_long.value):,}", f"at most {_MOST_ITEMS:,}"
        place = too_long.line, too_long.column
        return [Problem(file, *place, "maxItems", observed, expected, "split the file")]
    reporter = _Reporter(node, schema, file)
    problems: dict[Problem, None] = {}  # in the order of the errors, each once
    for error in schema.validator.iter_errors(document):
        problems.update(dict.fromkeys(reporter.problems(error)))
    return _told(list(problems))


def _told(problems: list[Problem]) -> list[Problem]:
    """So many problems as anybody reads, and how many there are beyond them."""
    if len(problems) <= _MOST_PROBLEMS:
        return problems
    last = problems[_MOST_PROBLEMS - 1]
    observed = f"{len(problems) - _MOST_PROBLEMS:,} more problems"
    more = Problem(last.file, last.line, last.column, "more", observed, "none", "mend these first")
    return [*problems[:_MOST_PROBLEMS], more]


def _long_lists(node: Node) -> Iterator[Node]:
    """Lists of more items than any file has."""
    if isinstance(node.value, list) and len(node.value) > _MOST_ITEMS:
        yield node
    for _, child in named_children(node):
        if isinstance(child.value, (dict, list)):
            yield from _long_lists(child)


class _Reporter:
    """Says what the errors of one document mean to whoever wrote it."""

    def __init__(self, document: Node, schema: Schema, file: str) -> None:
        self.document, self.schema, self.file = document, schema, file

    def problems(self, error: ValidationError) -> Iterator[Problem]:
        """An error as problems: several where it names several keys."""
        node = _node_at(self.document, error.instance_path)
        *place, last = error.schema_path
        rule, keyword = _rule_at(self.schema, place), str(last)
        if keyword == "additionalProperties":
            yield from self._unknown_keys(node, rule)
        elif keyword == "required":
            yield from self._missing_keys(node, rule)
        else:
            yield self._broken_rule(node, rule, keyword)

    def _unknown_keys(self, node: Node, rule: Rule) -> Iterator[Problem]:
        properties = rule.get("properties", {})
        marks, cut = node.key_marks or {}, cut_numbers(node.plain())
        unknown = [name for name in node.value if name not in properties]
        for name in unknown[:_MOST_UNKNOWN]:
            expected = f"one of {', '.join(sorted(properties))}"
            if close := nearest(name, properties):
                expected = f"'{close}'"
            place = marks.get(name, (node.line, node.column))
            if name in cut:
                yield Problem(self.file, *marks[cut[name][0]], *advice_for(cut[name][1]))
                continue
            observed = f"'{shorten(name)}'"
            yield Problem(self.file, *place, "unknown", observed, expected, "rename or remove it")
        if unprinted := unknown[_MOST_UNKNOWN:]:
            place, observed = (
                marks.get(unprinted[0], (node.line, node.column)),
                f"{len(unprinted):,} more",
            )
            expected = "fields of the schema"
            yield Problem(self.file, *place, "unknown", observed, expected, "rename or remove them")

    def _missing_keys(self, node: Node, rule: Rule) -> Iterator[Problem]:
        properties: Mapping[str, Rule] = rule.get("properties", {})
        for name in rule["required"]:
            if name not in node.value:
                advice = properties.get(name) or self.schema.described.get(name, {})
                observed = f"no '{name}'{_label(node)}"
                yield self._problem(node, "missing", observed, f"a '{name}'", advice)

    def _broken_rule(self, node: Node, rule: Rule, keyword: str) -> Problem:
        if keyword == "anyOf":
            return self._no_form_fits(node, rule)
        expected = EXPECTED[keyword](rule[keyword])
        if keyword == "enum" and len(expected) > _LONGEST_LIST:
            head = shorten(", ".join(map(str, rule["enum"])), _LONGEST_CHOICES)
            expected = f"one of {len(rule['enum'])} words of the schema, among them {head}"
        if keyword == "enum" and (close := nearest(node.value, rule["enum"])):
            if len(expected) > _LONGEST_CHOICES:
                expected = f"one of {len(rule['enum'])} words"
            expected += f" (nearest: {close})"
            if close.lower() == node.value.lower():
                rule = {"description": f"write {close}"}
        name = RULE_NAMES.get(keyword, keyword)
        return self._problem(node, name, described_value(node.value), expected, rule)

    def _no_form_fits(self, node: Node, rule: Rule) -> Problem:
        forms = [self.schema.resolved(form) for form in rule["anyOf"]]
        titles = " or ".join(form.get("title", "another form") for form in forms)
        # Forms that only require keys, such as a quote or a locator: none of these is there.
        keys = [f"no '{name}'" for form in forms for name in form.get("required", ())]
        observed = described_value(node.value)
        if keys:
            observed = f"{' and '.join(keys)}{_label(node)}"
        return self._problem(node, "form", observed, titles, rule)

    def _problem(self, node: Node, name: str, observed: str, expected: str, rule: Rule) -> Problem:
        if ungrouped(str(node.value)):
            return Problem(self.file, node.line, node.column, *advice_for(str(node.value)))
        advice = self.schema.resolved(rule).get("description") or "see accelerators/README.md"
        if isinstance(node.value, str) and is_number(node.value) and self._takes_a_number(rule):
            advice = f"write {node.value} without quotes"
        return Problem(self.file, node.line, node.column, name, observed, expected, advice)

    def _takes_a_number(self, rule: Rule) -> bool:
        rule = self.schema.resolved(rule)
        forms = rule.get("anyOf", [rule])
        return any(self.schema.resolved(form).get("type") in _NUMBERS for form in forms)


def _node_at(document: Node, path: Sequence[str | int]) -> Node:
    node = document
    for step in path:
        node = node.value[step]
    return node


def _rule_at(schema: Schema, path: Sequence[str | int]) -> Rule:
    rule: Any = schema
    for step in path:
        rule = rule[step]
    return cast(Rule, rule)


def _label(node: Node) -> str:
    """Which claim lacks something: its field and dtype say more than its line alone."""
    conditions = [node.get(key) for key in ("field", "dtype", "sparsity")]
    words = [str(condition) for condition in conditions if condition is not None]
    if not words:
        return ""
    return f" in this {' '.join(words)} claim"
