"""New entries and vendors: a commented file that is valid from the start, never a second one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from flopbook.data.contributed_text import text_problems
from flopbook.data.folders import schema_paths
from flopbook.data.library import entry_ids, library, load_head, vendor, vendor_ids
from flopbook.data.placeholders import LOCATOR, SUMMARY
from flopbook.data.schema import check, load_schema
from flopbook.data.yaml_text import parse_yaml
from flopbook.errors import DataError, FlopbookError, Problem, UnknownName, printable, shorten


class NeededClaim(NamedTuple):
    """A claim that every chip is asked for, with what the template says beside it."""

    field: str
    conditions: str
    unit: str
    advice: str


NEEDED = (
    NeededClaim(
        "peak",
        "dtype: bf16, engine: tensor, sparsity: dense",
        "TFLOP/s",
        "the dense matrix peak; a sparse one is a claim of its own with "
        'sparsity: "2:4"; unstated is an answer',
    ),
    NeededClaim(
        "memory",
        "tier: hbm",
        "GB",
        "exactly as printed: GB is decimal, GiB is binary; tier: hbm gddr lpddr ddr sram unstated",
    ),
    NeededClaim("memory_bandwidth", "tier: hbm", "TB/s", "of the same memory"),
    NeededClaim(
        "scaleup_bandwidth",
        'name: "link", direction: both, aggregate: chip',
        "GB/s",
        "direction: one-way, both (the two added) or unstated; aggregate: link, chip or domain",
    ),
    NeededClaim("power", "of: maximum", "W", "of: design, maximum, provisioned, measured or board"),
)
# Only of a product that is put together from others, such as a board or a system.
_PARTS = (
    "# contains:                    # what it is made of; totals follow from it and are not "
    "written here\n"
    "#   - {ref: vendor/chip, count: 8}\n"
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
    claims = "".join(_claim(new, claim) for claim in NEEDED)
    contents = "" if new.kind in ("die", "package") else _PARTS
    kind, source, as_of = _plain(new.kind), _plain(new.source), _plain(new.as_of)
    text = f"""\
{_ADVICE}id: {_id(new.id)}
kind: {kind}
name: {_quoted(new.name)}
vendor: {_plain(new.id.partition("/")[0])}
# family: "First"              # architecture or generation
# market: workstation          # if not for the data centre: workstation, consumer or edge
# aliases: [a1-96gb]           # other ids that people type, lower case
# device_names: ["ACME A1"]    # what CUDA, ROCm, JAX or Neuron calls it, letter by letter
summary: {_quoted(new.summary or SUMMARY)}
{contents}status:
  - {{state: {_plain(new.status)}, as_of: {as_of}, source: {source}}}
claims:
{claims}  # announced: YYYY, YYYY-MM or YYYY-MM-DD; launched likewise
  - {{field: announced, value: not published, per: {kind},
     basis: printed, source: {source}, as_of: {as_of}, locator: "{LOCATOR}"}}
"""
    return _valid(text, schema_paths()["accelerator"], f"accelerators/{new.id}.yaml")


_FACTS = (
    "# facts:                       # each with its source"
    "; field: leader, founded, status, headquarters, listing or event"
)
# The head of a new file; its lines are as long as those of the data may be.
_ADVICE = (
    '# Replace each "not published" by the value of your source, with its unit and the conditions '
    "as printed, and each\n"
    "# locator by the table, row or page, or by a quote of at most 25 words. What the source "
    "really does not say stays\n"
    '# "not published"; what the product does not have is "none". accelerators/README.md has every '
    "field.\n"
)


def _claim(new: NewChip, claim: NeededClaim) -> str:
    return (
        f"  # {claim.field}: {claim.advice}\n"
        f"  - {{field: {claim.field}, {claim.conditions}, value: not published, "
        f"unit: {claim.unit}, per: {_plain(new.kind)},\n"
        f"     basis: printed, source: {_plain(new.source)}, as_of: {_plain(new.as_of)}, "
        f'locator: "{LOCATOR}"}}\n'
    )


def vendor_text(new: NewVendor) -> str:
    """The file of a new vendor. Raises DataError with all problems of what was given."""
    text = f"""\
id: {_id(new.id)}
name: {_quoted(new.name)}
website: {_quoted(new.website)}
# country: Utopia              # only with a source among the facts or lists below
summary: {_quoted(new.summary or SUMMARY)}
{_FACTS}
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
    if re.fullmatch(r"[a-z][a-z0-9./-]*", text):
        return text
    return json.dumps(re.sub(r"\s", " ", text))


def _quoted(text: str) -> str:
    return json.dumps(" ".join(text.split()), ensure_ascii=False)


def _valid(text: str, schema: Path, file: str) -> str:
    """The text, if the readers would take it; else raises FlopbookError.

    The problems speak of what was given, not of lines nobody has seen.
    """
    try:
        document = parse_yaml(text, file)
        problems: Sequence[Problem] = [
            *check(document, load_schema(schema), file),
            *text_problems(document, file),
        ]
    except DataError as error:
        problems = error.problems
    messages: dict[str, str] = {}  # one for each thing that was given, however often it appears
    for problem in problems:
        message = f"found {problem.found}, expected {problem.expected}; {problem.mend}"
        messages.setdefault(problem.found, message)
    if messages:
        reasons = " | ".join(messages.values())
        raise FlopbookError(printable(f"{shorten(file)} would not be valid: {reasons}"))
    return text


def refuse_known_chip(new_id: str, name: str) -> tuple[str, ...]:
    """The nearest existing names.

    Raises FlopbookError when the id, as an alias too, or the name is taken.
    """
    maker, _, product = new_id.partition("/")
    if not maker or not product:
        raise FlopbookError(
            f"'{shorten(new_id)}' is no id; write VENDOR/PRODUCT, for example acme/a1"
        )
    if maker not in vendor_ids():
        nearest = str(UnknownName("vendor", maker, vendor_ids()))
        raise FlopbookError(
            f"{nearest}; a vendor that is not there yet: flopbook new vendor {shorten(maker)}"
        )
    owners = _taken_names()
    for text in (new_id, _folded(name)):
        if text in owners:
            owner = owners[text]
            raise FlopbookError(
                f"'{shorten(text)}' is there already: accelerators/{owner}.yaml; "
                f"flopbook where {owner}"
            )
    ids_and_aliases = [text for text in owners if "/" in text]
    near = _close_matches(new_id, ids_and_aliases, 0.75)
    return tuple(dict.fromkeys(owners[text] for text in near))


def _taken_names() -> dict[str, str]:
    """Every id, alias, device name and name (the last two folded), with the id it belongs to."""
    ids = entry_ids()
    owners = {entry_id: entry_id for entry_id in ids}
    for entry_id, names in library().heads.items():
        maker = entry_id.partition("/")[0]
        owners |= {f"{maker}/{alias}": entry_id for alias in names.aliases}
        owners |= {_folded(device_name): entry_id for device_name in names.device_names}
    return owners | {_folded(load_head(entry_id).name): entry_id for entry_id in ids}


def refuse_known_vendor(new_id: str, name: str) -> tuple[str, ...]:
    """The nearest existing vendors. Raises FlopbookError when the id or the name is taken."""
    for vendor_id in vendor_ids():
        if new_id == vendor_id or _folded(name) == _folded(vendor(vendor_id).name):
            raise FlopbookError(
                f"'{shorten(name or new_id)}' is there already: "
                f"accelerators/{vendor_id}/vendor.yaml"
            )
    return _close_matches(new_id, vendor_ids(), 0.6)


def _close_matches(text: str, names: Iterable[str], cutoff: float) -> tuple[str, ...]:
    import difflib  # only this command needs it

    return tuple(difflib.get_close_matches(text, list(names), n=3, cutoff=cutoff))


def _folded(name: str) -> str:
    """A name without the differences of case, hyphens and spaces that people do not see."""
    return re.sub(r"[\s_-]+", " ", name).strip().casefold()
