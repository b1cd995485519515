"""Finds the text fields of data files, and puts hostile texts into them."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

# Fields whose schema takes any text, by the kind of file. Left out are units, formulas and
# programs, which have a grammar of their own.
_CLAIM = (
    *("derived_from", "conflicts_with", "locator", "note", "quote", "formula_note"),
    *("point", "type", "shape"),
)
_EXCUSES = (
    *("binary", "clock", "community", "dates", "inferred", "intensity", "links", "range"),
    *("sparsity", "stacks", "total", "two-way", "params", "reason"),
)
_OF_ENTRY = ("name", "family", "summary", "notes", "device_names")
_OF_RUN = (
    *("note", "where", "path", "title", "flops_convention", "dims_from", "strategy", "other"),
    *("interconnect", "pipeline_schedule", "parallel_unit", "algorithm", "algorithm_changes"),
    *("group", "attention", "precision", "software", "recompute", "task", "op", "benchmark"),
    *("direction", "model_variant", "weight_quantization", "fsdp_mixed_precision"),
)
TEXT_FIELDS = {
    "accelerators/prices.yaml": ("offer", "quote", "locator", "note"),
    "accelerators/sought.yaml": ("name", "maker", "where", "found"),
    "calculators/runs/*.yaml": _OF_RUN,
    "accelerators/*/*.yaml": (*_OF_ENTRY, *_CLAIM, *_EXCUSES),
    "accelerators/*/vendor.yaml": (
        *("name", "summary", "country", "note", "quote", "locator", "value"),
    ),
    "calculators/models/*.yaml": ("developer", *_OF_ENTRY, *_CLAIM, *_EXCUSES),
    "bibliography/topics.yaml": ("title", "intro", "few", "about"),
    "bibliography/claims/*.yaml": (
        *("place", "statement", "text", "why", "assumption", "tool", "topic"),
    ),
    "bibliography/glossary.yaml": ("term", "also", "meaning", "elsewhere"),
}
_LONGEST = re.compile(r'"maxLength": \d+')
_BIB_FIELDS = (
    "title|note|annote|journal|booktitle|publisher|howpublished|institution|author|school"
    "|volume|number|pages|url|doi|code"
)
_BIB_FIELD = re.compile(rf"^  ({_BIB_FIELDS}) = \{{(.*)\}}(,?)$", re.MULTILINE)


class _Words(yaml.SafeLoader):
    """Reads `no` and days as the words that they are in our files."""


_Words.yaml_implicit_resolvers = {
    first: [pair for pair in pairs if not pair[0].endswith((":bool", ":timestamp"))]
    for first, pairs in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Words.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("true|false"), ["t", "f"])


class Leaf(NamedTuple):
    """A text of a data file: where it stands, what it says, and how to say something else."""

    place: str
    text: str
    put: Callable[[str], None]


def files_of(folder: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """The YAML files of a checkout with the names of their text fields."""
    for pattern, fields in TEXT_FIELDS.items():
        for path in sorted(folder.glob(pattern)):
            if path.name != "vendor.yaml" or pattern.endswith("vendor.yaml"):
                yield path, fields


def leaves(document: Any, fields: tuple[str, ...], place: str = "") -> Iterator[Leaf]:
    """The texts of a document in these fields, lists of texts as well."""
    pairs = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in list(pairs):
        path = f"{place}.{key}" if place else str(key)
        if isinstance(value, dict | list):
            yield from leaves(value, fields, path)
        elif isinstance(value, str) and _is_text(path, fields):
            yield Leaf(path, value, functools.partial(document.__setitem__, key))


def _is_text(place: str, fields: tuple[str, ...]) -> bool:
    """Whether a place holds a text of these fields; the name of an excuse counts as such only."""
    names = [name for name in place.split(".") if not name.isdigit()]
    is_excuse = "exceptions" in names[:-1]
    return names[-1] in fields and (names[-1] not in _EXCUSES or is_excuse)


def load(path: Path) -> Any:
    """A data file as plain lists and tables."""
    return yaml.load(path.read_text(encoding="utf-8"), _Words)


def store(path: Path, document: Any) -> None:
    """Write a document so that every text is read as it is, whatever is in it."""
    path.write_text(yaml.safe_dump(document, sort_keys=False, width=1000), encoding="utf-8")


def poison(folder: Path, payloads: tuple[str, ...], rng: random.Random) -> int:
    """Put a payload behind every text of every data file; how many texts there were."""
    count = 0
    for path, fields in files_of(folder):
        document = load(path)
        for leaf in leaves(document, fields):
            leaf.put(f"{leaf.text} {rng.choice(payloads)} {count}")
            count += 1
        store(path, document)
    for path in sorted(folder.glob("bibliography/*.bib")):
        text, changed = _BIB_FIELD.subn(
            lambda match: _poisoned(match, payloads, rng), path.read_text(encoding="utf-8")
        )
        path.write_text(text, encoding="utf-8")
        count += changed
    return count


def _poisoned(match: re.Match[str], payloads: tuple[str, ...], rng: random.Random) -> str:
    """A field of BibTeX with a payload in it that leaves its braces in balance."""
    payload = rng.choice([text for text in payloads if not set(text) & set("{}%")])
    name, text, comma = match.groups()
    joined = f"{payload}, X. and {text}" if name == "author" else f"{text} {payload}"
    return f"  {name} = {{{joined}}}{comma}"


def without_filters(folder: Path) -> None:
    """Switch off, in a checkout, what refuses a text for its characters or its length."""
    for path in (*folder.glob("*/*schema.json"), *folder.glob("calculators/*/schema.json")):
        schema = path.read_text(encoding="utf-8")
        path.write_text(_LONGEST.sub('"maxLength": 9999', schema), encoding="utf-8")
    package = folder / "calculators" / "flopbook" / "data"
    _append(
        package / "contributed_text.py", "\n\ndef text_problems(node, file):\n    return iter(())\n"
    )
    _append(package / "reference_rules.py", "\n\ndef rules_of(reference):\n    return iter(())\n")
    _append(
        folder / "scripts" / "build_site.py",
        "",
        ("def check_data() -> None:\n", "def check_data() -> None:\n    return\n"),
    )


def _append(path: Path, text: str, change: tuple[str, str] = ("", "")) -> None:
    whole = path.read_text(encoding="utf-8")
    assert change[0] in whole
    path.write_text(whole.replace(*change, 1) + text, encoding="utf-8")
