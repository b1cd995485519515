"""Reads a file of other people's runs row by row: a row that cannot be read costs no other.

The files in `calculators/runs/` are checked as a whole. A file that somebody measured may name
fields that we do not know, leave some empty, or hold a slip: each row is read for itself, and what
is wrong with one is a problem with its place.
"""

from __future__ import annotations

import functools
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from flopbook.data.folders import schema_paths
from flopbook.data.records import with_dates
from flopbook.data.run_degrees import MEND_RUN, contradiction_of_run
from flopbook.data.runs import GROUPS, NOTHING, MeasuredRun, RunFile, RunSource, slips
from flopbook.data.schema import Schema, check, load_schema
from flopbook.data.yaml_text import Node, read_yaml
from flopbook.errors import DataError, Problem, printable, shorten, show_path

# Fields whose wording no prediction depends on.
_REMARKS = ("completeness", "flags", "group", "note")
_MAY_BE_ZERO = ("zero_stage", "n_dense_layers", "n_shared_experts", "q_lora_rank", "kv_lora_rank")
MOST = 1e19  # beyond any count, rate or size in bytes
LONGEST_WORD = 100  # of a name, in characters
LATEST_YEAR = 2026  # of a source that names none: software of today


class UnreadRow(NamedTuple):
    """A row that says something impossible: its id, its kind, and what is wrong where."""

    id: str
    kind: str
    problems: tuple[Problem, ...]


class OwnRuns(NamedTuple):
    """The rows of a file that could be read, those that could not, and ids that come twice."""

    runs: RunFile
    unread: tuple[UnreadRow, ...]
    repeated: tuple[str, ...]

    def whole(self) -> RunFile:
        """All rows, for an answer that would not show which of them is missing.

        Raises DataError with what is wrong with those that were refused.
        """
        if self.unread:
            raise DataError(problem for row in self.unread for problem in row.problems)
        return self.runs


def read_own_runs(path: Path) -> OwnRuns:
    """Read a file in the layout of `calculators/runs/`.

    Raises DataError for one that is no YAML or has no list of rows.
    """
    document, file = read_yaml(path), show_path(path)
    nodes = _rows(document, file)
    sources = {name: _source(raw) for name, raw in _named_sources(document).items()}
    rows: list[MeasuredRun] = []
    unread: list[UnreadRow] = []
    for node in nodes:
        row = _without_gaps(node)
        problems = tuple(_problems(row, sources, file)) or tuple(_contradictions(row, file))
        if problems:
            unread.append(UnreadRow(_id_of(node), _word(_plain(node).get("kind", "")), problems))
            continue
        run = _run(row, file)
        sources.setdefault(run.publication, RunSource(year=LATEST_YEAR))
        rows.append(run)
    counts = Counter(row.id for row in rows)
    repeated = tuple(name for name, count in counts.items() if count > 1)
    return OwnRuns(RunFile(sources, tuple(rows)), tuple(unread), repeated)


def _rows(document: Node, file: str) -> list[Node]:
    rows = document.value.get("rows") if isinstance(document.value, dict) else None
    if rows is not None and isinstance(rows.value, list):
        nodes: list[Node] = rows.value
        return nodes
    place = rows or document
    observed = "something else" if rows is not None else "nothing under 'rows'"
    mend = "write sources and rows as in calculators/runs/"
    raise DataError([Problem(file, place.line, place.column, "rows", observed, "a list", mend)])


def _named_sources(document: Node) -> dict[str, Mapping[str, Any]]:
    sources = document.get("sources")
    named = sources if isinstance(sources, dict) else {}
    return {name: raw for name, raw in named.items() if isinstance(raw, dict)}


def _source(raw: Mapping[str, Any]) -> RunSource:
    """What a publication says about its rows, as far as it can be used."""
    texts = ("title", "repo", "path", "flops_convention_code")
    fields = {name: raw[name] for name in texts if isinstance(raw.get(name), str)}
    year = raw.get("year")
    is_year = isinstance(year, int) and not isinstance(year, bool)
    return RunSource(**fields, year=int(year) if is_year and year else LATEST_YEAR)


def _without_gaps(node: Node) -> Node:
    """A row without what is left empty: a null says as much as a field that is not there."""
    if isinstance(node.value, list):
        return Node([_without_gaps(child) for child in node.value], node.line, node.column)
    if not isinstance(node.value, dict):
        return node
    kept = {
        name: _without_gaps(child) for name, child in node.value.items() if child.value is not None
    }
    return Node(kept, node.line, node.column, node.key_marks)


def _plain(node: Node) -> Mapping[str, Any]:
    raw = node.plain()
    return raw if isinstance(raw, dict) else {}


def _id_of(node: Node) -> str:
    return _word(_plain(node).get("id") or f"row in line {node.line}")


def _word(value: Any) -> str:
    """A name that a file gives to something, as it can be shown in a table."""
    return printable(shorten(value, LONGEST_WORD))


@functools.cache
def _row_schema() -> Schema:
    """The rules of one row, less those about remarks, names and sources."""
    schema = load_schema(schema_paths()["runs"])
    rules = json.loads(schema.text)["$defs"]
    row = rules.pop("row")
    row["required"] = ["kind", "hardware", "measured"]
    row["properties"]["id"] = {}
    row["properties"]["source"] = {"type": "object", "description": "the source of the row"}
    for name in _REMARKS:
        row["properties"][name] = {}
    rules["model"].pop("required", None)  # a shape needs no name
    return Schema(json.dumps(row | {"$defs": rules}), "runs")


def _problems(row: Node, sources: Mapping[str, RunSource], file: str) -> Iterator[Problem]:
    """What is wrong with a row: types, names that are almost known, a source that is not there."""
    problems = check(row, _row_schema(), file)
    yield from problems
    if problems:
        return
    definitions = load_schema(schema_paths()["runs"])["$defs"]
    groups = {name: row.value[name] for name in GROUPS if name in row.value}
    for name, group in {"row": row, **groups}.items():
        properties = definitions[name].get("properties", {})
        for slip in slips(group, properties, file):
            # Beside the field that it resembles, a name is one of its own.
            if slip.expected.strip("'") not in group.value:
                yield slip
        yield from _out_of_range(group, file)
    key = row.value.get("source") and row.value["source"].value.get("key")
    if key is not None and sources and str(key.value) not in sources:
        expected = f"one of {', '.join(sorted(sources))}"
        mend = "describe the source at the top of the file"
        yield Problem(file, key.line, key.column, "source", f"'{key.value}'", expected, mend)


def _contradictions(row: Node, file: str) -> Iterator[Problem]:
    """Degrees that do not make the chips: the time of no layout would answer such a row."""
    wrong = contradiction_of_run(_run(row, file))
    if wrong is not None:
        degrees = row.value.get("parallelism", row)
        yield Problem(file, degrees.line, degrees.column, "run", *wrong, MEND_RUN)


def _out_of_range(group: Node, file: str) -> Iterator[Problem]:
    """Sizes and degrees that no run has."""
    for name, child in group.value.items():
        number = child.value
        if isinstance(number, bool) or not isinstance(number, int | float):
            continue
        least = 0 if name in _MAY_BE_ZERO else 1e-9
        if not least <= number <= MOST:
            expected = f"a number above 0, at most {MOST:.0e}"
            place = child.line, child.column
            yield Problem(file, *place, "range", f"{name}: {number}", expected, "mend the number")


def _run(row: Node, file: str) -> MeasuredRun:
    raw = with_dates(row.plain())
    source = raw.get("source", NOTHING)
    flags = raw.get("flags", ())
    return MeasuredRun(
        id=_id_of(row),
        kind=raw["kind"],
        publication=str(source.get("key", "")),
        where=str(source.get("where", "")),
        measured=raw["measured"],
        **{name: raw.get(name, NOTHING) for name in GROUPS},
        complete=raw.get("completeness", "full") == "full",
        flags=tuple(map(str, flags)) if isinstance(flags, list) else (),
        file=file,
        line=row.line,
    )
