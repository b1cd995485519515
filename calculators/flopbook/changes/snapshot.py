"""Everything that two states of the data are compared by, as plain dicts: values, verdicts, and
what they lead to.

Both states are read and computed by this code, so what differs comes from the data, not from a
formula that changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from flopbook.changes.unreadable import KINDS
from flopbook.data.accelerators import Entry, Part
from flopbook.data.claims import CLAIM_FIELDS, Claim
from flopbook.data.library import (
    Library,
    entry_ids,
    library,
    load_entry,
    load_head,
    load_model,
    model_ids,
    using,
    vendor_ids,
)
from flopbook.data.models import Model
from flopbook.data.yaml_text import read_yaml
from flopbook.errors import FlopbookError, shorten
from flopbook.hardware.choice import choose
from flopbook.hardware.parts import settled_totals
from flopbook.hardware.shown import chosen_claims

Record = dict[str, Any]
Loaded = TypeVar("Loaded")
HEAD = (
    "kind",
    "name",
    "family",
    "market",
    "summary",
    "notes",
    "aliases",
    "device_names",
    "die",
    "variant_of",
    "contains",
    "status",
)
MODEL_HEAD = ("kind", "name", "developer", "family", "summary", "notes", "aliases")
# An older state may follow older rules: what this code cannot read is listed, not fatal.
_UNREADABLE = (FlopbookError, KeyError, TypeError, ValueError)


def snapshot(books: Library, only: Collection[str] | None = None) -> Record:
    """A state of the data; of products `only` these, where it is known which may differ.

    `unread` says what this code cannot read of it, `unreadable` has the names by kind.
    """
    with using(books):
        unread: list[str] = []
        names: dict[str, list[str]] = {kind: [] for kind in KINDS}
        return {
            "entries": _read(
                _among(entry_ids(), only), load_entry, _entry, unread, names["entries"]
            ),
            "vendors": _read(vendor_ids(), _vendor_file, _plain, unread, names["vendors"]),
            "models": _read(model_ids(), load_model, _model, unread, names["models"]),
            "references": _references(),
            "ledger": _ledger(unread, names["ledger"]),
            "calculators": _calculators(_among(entry_ids(), only)),
            "unread": unread,
            "unreadable": names,
        }


def _among(ids: Sequence[str], only: Collection[str] | None) -> list[str]:
    return [name for name in ids if only is None or name in only]


def _read(
    names: Sequence[str],
    load: Callable[[str], Loaded],
    record: Callable[[Loaded], Record],
    unread: list[str],
    unreadable: list[str],
) -> Record:
    records: Record = {}
    for name in names:
        try:
            records[name] = record(load(name))
        except _UNREADABLE as error:
            unread.append(shorten(f"{name}: {error}", 200))
            unreadable.append(name)
    return records


def _vendor_file(vendor_id: str) -> Record:
    """A vendor's file as it is written: nothing is computed with it."""
    written: Record = read_yaml(library().vendor_path(vendor_id)).plain()
    return written


def _entry(entry: Entry) -> Record:
    try:
        chosen, derived = chosen_claims(entry), settled_totals(entry)
    except FlopbookError:  # a part that is missing or broken has a problem of its own
        chosen, derived = set(), ()
    claims = [claim_record(claim, id(claim) in chosen) for claim in entry.claims]
    claims += [claim_record(total.of_parts, total.is_sum) for total in derived]
    head: Record = _plain({name: getattr(entry, name) for name in HEAD})
    return head | {"claims": claims}


def _model(model: Model) -> Record:
    chosen: set[int] = set()
    for field in {claim.field for claim in model.claims}:
        chosen.add(id(choose(claim for claim in model.claims if claim.field == field)))
    head: Record = _plain({name: getattr(model, name) for name in MODEL_HEAD})
    return head | {"claims": [claim_record(claim, id(claim) in chosen) for claim in model.claims]}


def claim_record(claim: Claim, chosen: bool) -> Record:
    """A claim as it is compared.

    One without quote and locator is a total that follows from parts.
    """
    fields = {name: getattr(claim, name) for name in CLAIM_FIELDS}
    fields = {name: value for name, value in fields.items() if value not in ("", None, False, {})}
    fields["value"] = claim.words if claim.value is None else claim.value
    record: Record = _plain(fields | {"chosen": chosen})
    return record | {"si_value": claim.si_value}


def _references() -> dict[str, str]:
    tiers = library().source_tiers
    return {key: tiers.get(key, "") for key in sorted(library().reference_keys)}


def _ledger(unread: list[str], unreadable: list[str]) -> Record:
    from flopbook.ledger.rows import ledger_rows

    try:
        return {row.id: _row(row) for row in ledger_rows()}
    except _UNREADABLE as error:
        unread.append(shorten(f"ledger: {error}", 200))
        unreadable.append("ledger")
        return {}


def _row(row: Any) -> Record:
    from flopbook.ledger.recomputation import recompute
    from flopbook.ledger.verdicts import judge

    value, stands = None, True
    try:
        value = recompute(row.call) if row.call else None
        stands = not judge(row)
    except (FlopbookError, ValueError, ArithmeticError):
        stands = False
    return {
        "verdict": row.verdict,
        "statement": row.statement,
        "source": row.source,
        "value": value,
        "stands": stands,
    }


def _calculators(chips: Sequence[str]) -> dict[str, dict[str, float | str | None]]:
    """What every example gives, and for each of these chips the first example that takes one."""
    from flopbook.evaluation.calculator import calculate
    from flopbook.formulas import formulas

    answers = {}
    for formula in formulas().values():
        for options in _questions(formula, chips):
            words = " ".join(f"--{name} {value}" for name, value in options.items())
            options_of: dict[str, Any] = {
                name.replace("-", "_"): value for name, value in options.items()
            }
            try:
                outputs = calculate(formula.id, **options_of).outputs
            except (FlopbookError, ValueError, ArithmeticError):
                continue
            answers[f"{formula.id} {words}"] = {
                name: _number(value) for name, value in outputs.items()
            }
    return answers


def _questions(formula: Any, chips: Sequence[str]) -> Iterator[dict[str, str]]:
    """The options of every example, and of the first with a chip once for each of these chips."""
    yield from (dict(options) for options in formula.examples)
    with_chip = [options for options in formula.examples if "chip" in options]
    if not with_chip:
        return
    for entry_id in chips:
        try:
            computes = load_head(entry_id).computes
        except FlopbookError:
            continue
        if computes:
            yield {**with_chip[0], "chip": entry_id}


def _number(value: Any) -> float | str | None:
    if not isinstance(value, (int, float)):
        return None if value is None else str(value)
    number = float(value)
    # JSON has no infinity and no NaN.
    return number if abs(number) < float("inf") else str(value)


def _plain(value: Any) -> Any:
    """As JSON holds it: records as dicts, tuples as lists, dates as text."""
    if isinstance(value, Part):
        return {"ref": value.ref, "count": value.number}
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return str(value)
