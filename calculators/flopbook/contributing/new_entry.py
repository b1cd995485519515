"""New entries and vendors: a commented file that is valid from the start, and a refusal of what is
there already.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from flopbook.data.folders import schema_paths
from flopbook.data.library import entry_ids, library, load_head, vendor, vendor_ids
from flopbook.data.schema import check, load_schema, text_problems
from flopbook.data.yaml_text import parse_yaml
from flopbook.errors import DataError, FlopbookError, Problem, UnknownName, printable, shorten

SUMMARY = "To be written: one or two sentences of your own on what it is and who uses it."
# What every chip is asked for: field, the conditions that its claim needs, unit, and what to write.
NEEDED = (
    (
        "peak",
        "dtype: bf16, engine: tensor, sparsity: dense",
        "TFLOP/s",
        'the dense matrix peak; a sparse one is a claim of its own with sparsity: "2:4"; unstated is an answer',
    ),
    (
        "memory",
        "tier: hbm",
        "GB",
        "exactly as printed: GB is decimal, GiB is binary; tier: hbm gddr lpddr ddr sram",
    ),
    ("memory_bandwidth", "tier: hbm", "TB/s", "of the same memory"),
    (
        "scaleup_bandwidth",
        'name: "link", direction: both, aggregate: chip',
        "GB/s",
        "direction: one-way, both (the two added) or unstated; aggregate: link, chip or domain",
    ),
    ("power", "of: maximum", "W", "of: design, maximum, provisioned, measured or board"),
)


class NewChip(NamedTuple):
    """What must be known of a product before its file can be written."""

    id: str
    name: str
    kind: str
    status: str
    source: str
    as_of: str
    summary: str = ""


class NewVendor(NamedTuple):
    """What must be known of a vendor before its file can be written."""

    id: str
    name: str
    website: str
    summary: str = ""


def chip_text(new: NewChip) -> str:
    """The file of a new product. Raises DataError with all problems of what was given."""
    claims = "".join(_claim(new, *needed) for needed in NEEDED)
    parts = (
        ""
        if new.kind in ("die", "package")
        else (
            "# contains:                    # what it is made of; totals follow from it and are not written here\n"
            "#   - {ref: vendor/chip, count: 8}\n"
        )
    )
    text = f"""\
# Replace each "not published" by the value of your source, with its unit and the conditions as printed, and each
# locator by the table, row or page, or by a quote of at most 25 words. What the source really does not say stays
# "not published"; what the product does not have is "none". accelerators/README.md has every field.
id: {_id(new.id)}
kind: {_plain(new.kind)}
name: {_quoted(new.name)}
vendor: {_plain(new.id.partition("/")[0])}
# family: "First"              # architecture or generation
# aliases: [a1-96gb]           # other ids that people type, lower case
# device_names: ["ACME A1"]    # what CUDA, ROCm, JAX or Neuron calls it, letter by letter
summary: {_quoted(new.summary or SUMMARY)}
{parts}status:
  - {{state: {_plain(new.status)}, as_of: {_plain(new.as_of)}, source: {_plain(new.source)}}}
claims:
{claims}  # announced: YYYY, YYYY-MM or YYYY-MM-DD; launched likewise
  - {{field: announced, value: not published, per: {_plain(new.kind)},
     basis: printed, source: {_plain(new.source)}, as_of: {_plain(new.as_of)}, locator: "not looked up yet"}}
"""
    return _valid(text, schema_paths()["accelerator"], f"accelerators/{new.id}.yaml")


def _claim(new: NewChip, field: str, conditions: str, unit: str, advice: str) -> str:
    return (
        f"  # {field}: {advice}\n"
        f"  - {{field: {field}, {conditions}, value: not published, unit: {unit}, per: {_plain(new.kind)},\n"
        f"     basis: printed, source: {_plain(new.source)}, as_of: {_plain(new.as_of)}, "
        f'locator: "not looked up yet"}}\n'
    )


def vendor_text(new: NewVendor) -> str:
    """The file of a new vendor. Raises DataError with all problems of what was given."""
    text = f"""\
id: {_id(new.id)}
name: {_quoted(new.name)}
website: {_quoted(new.website)}
# country: Utopia              # only with a source among the facts or lists below
summary: {_quoted(new.summary or SUMMARY)}
# facts:                       # each with its source; field: leader, founded, status, headquarters, listing or event
#   - {{field: founded, value: 2020, source: acme2026a1, as_of: 2026-11-21, locator: "page 1"}}
# white_papers: [acme2026a1]   # keys of bibliography/*.bib: documents of the vendor
# media: []                    # press, talks and filings about the vendor
# research: []                 # papers on its hardware
"""
    return _valid(text, schema_paths()["vendor"], f"accelerators/{new.id}/vendor.yaml")


def _plain(text: str) -> str:
    """A key, a word or a date as it is; anything else in quotes, for the check to judge."""
    return text if re.fullmatch(r"[a-z][a-z0-9-]*|\d{4}-\d{2}-\d{2}", text) else _quoted(text)


def _id(text: str) -> str:
    return (
        text if re.fullmatch(r"[a-z][a-z0-9./-]*", text) else json.dumps(re.sub(r"\s", " ", text))
    )


def _quoted(text: str) -> str:
    return json.dumps(" ".join(text.split()), ensure_ascii=False)


def _valid(text: str, schema: Path, file: str) -> str:
    """The text, if the readers would take it.

    The problems speak of what was given, not of lines nobody has seen.
    """
    try:
        data = parse_yaml(text, file)
        problems: Iterable[Problem] = [
            *check(data, load_schema(schema), file),
            *text_problems(data, file),
        ]
    except DataError as error:
        problems = error.problems
    said = {
        p.found: f"found {p.found}, expected {p.expected}; {p.mend}"
        for p in reversed(list(problems))
    }
    if said:
        raise FlopbookError(
            printable(f"{shorten(file)} would not be valid: {' | '.join(reversed(said.values()))}")
        )
    return text


def refuse_known_chip(new_id: str, name: str) -> tuple[str, ...]:
    """The nearest existing names.

    Raises FlopbookError when the id, as an alias too, or the name is taken.
    """
    maker, slash, product = new_id.partition("/")
    if not (maker and slash and product):
        raise FlopbookError(
            f"'{shorten(new_id)}' is no id; write VENDOR/PRODUCT, for example acme/a1"
        )
    if maker not in vendor_ids():
        near = str(UnknownName("vendor", maker, vendor_ids()))
        raise FlopbookError(
            f"{near}; a vendor that is not there yet: flopbook new vendor {shorten(maker)}"
        )
    ids = entry_ids()
    taken = {one: one for one in ids}
    for one, names in library().heads.items():
        taken |= {f"{one.partition('/')[0]}/{alias}": one for alias in names.aliases}
        taken |= {_folded(other): one for other in names.device_names}
    taken |= {_folded(load_head(one).name): one for one in ids}
    for wanted in (new_id, _folded(name)):
        if wanted in taken:
            there = taken[wanted]
            raise FlopbookError(
                f"'{shorten(wanted)}' is there already: accelerators/{there}.yaml; flopbook where {there}"
            )
    import difflib

    near_ids = difflib.get_close_matches(
        new_id, [one for one in taken if "/" in one], n=3, cutoff=0.75
    )
    return tuple(dict.fromkeys(taken[one] for one in near_ids))


def refuse_known_vendor(new_id: str, name: str) -> tuple[str, ...]:
    """The nearest existing vendors. Raises FlopbookError when the id or the name is taken."""
    known = {one: _folded(vendor(one).name) for one in vendor_ids()}
    for one, called in known.items():
        if new_id == one or _folded(name) == called:
            raise FlopbookError(
                f"'{shorten(name or new_id)}' is there already: accelerators/{one}/vendor.yaml"
            )
    import difflib

    return tuple(difflib.get_close_matches(new_id, known, n=3, cutoff=0.6))


def _folded(name: str) -> str:
    return re.sub(r"[\s_-]+", " ", name).strip().casefold()


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there.

    Raises FlopbookError when it is; nothing is ever overwritten.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise FlopbookError(f"{path} is there already; nothing was written") from None
