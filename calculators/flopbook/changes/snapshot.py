"""Everything that two states of the data are compared by, as plain dicts: values, verdicts, and
what they lead to.

`taken(folders)` reads other data than the package's own, a revision of the repository for example.
The readers know one place each, so this happens in a process of its own, with this code: a formula
gives the same on both sides, and what differs comes from the data.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from flopbook.data.claims import CLAIM_FIELDS, Claim, choose
from flopbook.errors import FlopbookError, shorten

HEAD = (
    "kind",
    "name",
    "family",
    "summary",
    "notes",
    "aliases",
    "device_names",
    "variant_of",
    "contains",
    "status",
)
MODEL_HEAD = ("kind", "name", "developer", "family", "summary", "notes", "aliases")
_CHILD = """
import importlib.machinery, json, sys, types
import flopbook
for name, folder in json.loads(sys.argv[1]).items():
    module = types.ModuleType("flopbook." + name)
    module.__file__ = folder + "/__init__.py"
    sys.modules["flopbook." + name] = module
    setattr(flopbook, name, module)
from flopbook.changes.snapshot import snapshot
sys.stdout.reconfigure(encoding="utf-8")
json.dump(snapshot(), sys.stdout)
"""


def taken(*states: Mapping[str, Path]) -> list[dict[str, Any]]:
    """A snapshot of each state, all at once; a state names the folders `accelerators`,
    `bibliography`, `models`.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    running = [
        subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-c",
                _CHILD,
                json.dumps({name: str(path) for name, path in state.items()}),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            encoding="utf-8",
        )
        for state in states
    ]
    printed = [process.communicate() for process in running]
    return [
        _result(*texts, process.returncode) for texts, process in zip(printed, running, strict=True)
    ]


def _result(out: str, err: str, status: int) -> dict[str, Any]:
    if status != 0:
        said = err.strip().splitlines()[-1:] or [f"status {status}"]
        raise FlopbookError(f"the data cannot be read: {shorten(said[0], 200)}")
    return json.loads(out)


def snapshot() -> dict[str, Any]:
    """The data that this process reads."""
    from flopbook.data.accelerators import entry_ids, load_entry, load_model, model_ids, vendor_ids
    from flopbook.data.tiers import source_tiers

    unread: list[str] = []
    return {
        "entries": _read(entry_ids(), lambda name: _entry(load_entry(name)), unread),
        "vendors": _read(vendor_ids(), _vendor, unread),
        "models": _read(model_ids(), lambda name: _model(load_model(name)), unread),
        "references": _references(source_tiers()),
        "ledger": _ledger(unread),
        "calculators": _calculators(),
        "unread": unread,
    }


def _read(names: tuple[str, ...], load: Callable[[str], Any], unread: list[str]) -> dict[str, Any]:
    found = {}
    for name in names:
        try:
            found[name] = load(name)
        except (
            FlopbookError,
            KeyError,
            TypeError,
            ValueError,
        ) as error:  # an older state may follow older rules
            unread.append(shorten(f"{name}: {error}", 200))
    return found


def _vendor(name: str) -> dict[str, Any]:
    """A vendor's file as it is written: nothing is computed with it."""
    from flopbook.data.accelerators import ACCELERATORS
    from flopbook.data.yaml_text import read_yaml

    return _plain(read_yaml(ACCELERATORS / name / "vendor.yaml").plain())


def _entry(item: Any) -> dict[str, Any]:
    from flopbook.export.records import chosen_claims
    from flopbook.hardware.chip import totals

    try:
        chosen, derived = chosen_claims(item), totals(item)
    except FlopbookError:  # a part that is missing or broken has a problem of its own
        chosen, derived = set(), ()
    claims = [claim_record(c, id(c) in chosen) for c in item.claims] + [
        claim_record(c, True) for c in derived
    ]
    return {**_plain({name: getattr(item, name) for name in HEAD}), "claims": claims}


def _model(item: Any) -> dict[str, Any]:
    from flopbook.data.tiers import source_tiers

    fields = {claim.field for claim in item.claims}
    best = {
        id(choose((c for c in item.claims if c.field == field), source_tiers())) for field in fields
    }
    head = {name: getattr(item, name) for name in MODEL_HEAD}
    return {**_plain(head), "claims": [claim_record(c, id(c) in best) for c in item.claims]}


def claim_record(claim: Claim, chosen: bool) -> dict[str, Any]:
    """A claim as it is compared.

    One without quote and locator is a total that follows from parts.
    """
    record = {
        name: getattr(claim, name)
        for name in CLAIM_FIELDS
        if getattr(claim, name) not in ("", None, False)
    }
    record |= {"value": claim.words if claim.value is None else claim.value, "chosen": chosen}
    return _plain({key: value for key, value in record.items() if value != {}}) | {
        "si_value": claim.si_value
    }


def _references(tiers: Mapping[str, str]) -> dict[str, str]:
    from flopbook.contributing.where import reference_keys

    return {key: tiers.get(key, "") for key in sorted(reference_keys())}


def _ledger(unread: list[str]) -> dict[str, Any]:
    from flopbook.ledger.rows import ledger_rows

    try:
        return {row.id: _row(row) for row in ledger_rows()}
    except (FlopbookError, KeyError, TypeError, ValueError) as error:
        unread.append(shorten(f"ledger: {error}", 200))
        return {}


def _row(row: Any) -> dict[str, Any]:
    from flopbook.ledger.rows import judge, recompute

    record = {
        "verdict": row.verdict,
        "statement": row.statement,
        "source": row.source,
        "value": None,
        "stands": True,
    }
    try:
        record["value"] = recompute(row.call) if row.call else None
        record["stands"] = not judge(row)
    except (FlopbookError, ValueError, ArithmeticError):
        record["stands"] = False
    return record


def _calculators() -> dict[str, dict[str, float | str | None]]:
    """What every example gives, and for every chip the first example that takes one."""
    from flopbook.evaluation.calculator import calculate
    from flopbook.formulas import formulas

    found = {}
    for formula in formulas().values():
        for options in _asked(formula):
            words = " ".join(f"--{name} {value}" for name, value in options.items())
            try:
                given = {name.replace("-", "_"): value for name, value in options.items()}
                found[f"{formula.id} {words}"] = dict(calculate(formula.id, **given).outputs)
            except (FlopbookError, ValueError, ArithmeticError):
                continue
    return {
        key: {name: _number(value) for name, value in outputs.items()}
        for key, outputs in found.items()
    }


def _asked(formula: Any) -> Iterator[dict[str, str]]:
    from flopbook.data.accelerators import entry_ids, load_head

    yield from (dict(options) for options in formula.examples)
    with_chip = next((options for options in formula.examples if "chip" in options), None)
    for name in entry_ids() if with_chip else ():
        try:
            computes = load_head(name).computes
        except FlopbookError:
            continue
        if computes:
            yield {**with_chip, "chip": name}


def _number(value: Any) -> float | str | None:
    if isinstance(value, (int, float)):
        return float(value) if abs(float(value)) < float("inf") else str(value)
    return None if value is None else str(value)


def _plain(value: Any) -> Any:
    """As JSON holds it: records as dicts, tuples as lists, dates as text."""
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)
