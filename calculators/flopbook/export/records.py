"""Everything as plain dicts, and the files of `flopbook export` and of the site's api/v1/, which
are the same.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from flopbook.data.accelerators import Entry
from flopbook.data.claims import CLAIM_FIELDS, Claim
from flopbook.data.folders import schema_paths
from flopbook.data.glossary import Term
from flopbook.data.library import (
    glossary,
    load_entries,
    load_model,
    model_ids,
    reference,
    references,
    vendor,
    vendor_ids,
)
from flopbook.data.references import csl
from flopbook.data.vendors import READING
from flopbook.evaluation.terms import uses
from flopbook.formulas import formulas
from flopbook.formulas.declaration import Formula
from flopbook.hardware.choice import choose
from flopbook.hardware.parts import totals
from flopbook.hardware.shown import chosen_claims
from flopbook.ledger.rows import Row, Stated, ledger_rows


def claim_record(claim: Claim, chosen: bool) -> dict[str, Any]:
    """A claim with its SI value, whether it is shown, and the address of its source."""
    record = {name: getattr(claim, name) for name in CLAIM_FIELDS}
    record = {name: value for name, value in record.items() if value not in ("", None, False, {})}
    record["value"] = claim.words if claim.value is None else claim.value
    record |= {
        "as_of": claim.as_of.isoformat(),
        "si_value": claim.si_value,
        "si_unit": claim.si_unit or None,
    }
    return record | {"chosen": chosen, "url": reference(claim.source).link}


def entry_record(entry: Entry) -> dict[str, Any]:
    """An accelerator with all claims, the derived totals last."""
    chosen = chosen_claims(entry)
    claims = [claim_record(claim, id(claim) in chosen) for claim in entry.claims]
    claims += [claim_record(claim, True) for claim in totals(entry)]
    return {
        "id": entry.id,
        "kind": entry.kind,
        "name": entry.name,
        "vendor": entry.vendor,
        "family": entry.family,
        "summary": entry.summary,
        "notes": entry.notes,
        "aliases": list(entry.aliases),
        "device_names": list(entry.device_names),
        "variant_of": entry.variant_of or None,
        "contains": [part._asdict() for part in entry.contains],
        "status": [{**s._asdict(), "as_of": s.as_of.isoformat()} for s in entry.status],
        "claims": claims,
    }


def accelerators() -> list[dict[str, Any]]:
    """All accelerators, by id."""
    return [entry_record(entry) for entry in load_entries().values()]


def vendors() -> list[dict[str, Any]]:
    """All vendors, by id."""
    found = [vendor(name)._asdict() for name in vendor_ids()]
    for record in found:
        record["facts"] = [
            {**fact._asdict(), "as_of": fact.as_of.isoformat()} for fact in record["facts"]
        ]
        record |= {name: list(record[name]) for name in READING}
    return found


def models() -> list[dict[str, Any]]:
    """All models, by id."""
    found = []
    for name in model_ids():
        item = load_model(name)
        best = {
            id(choose([c for c in item.claims if c.field == field]))
            for field in {c.field for c in item.claims}
        }
        record = {
            key: getattr(item, key)
            for key in ("id", "kind", "name", "developer", "family", "summary", "notes")
        }
        found.append(
            record
            | {
                "aliases": list(item.aliases),
                "claims": [claim_record(c, id(c) in best) for c in item.claims],
            }
        )
    return found


def _stated(value: Stated | None) -> dict[str, Any] | None:
    return None if value is None else {**asdict(value), "si_value": value.si_value}


def row_record(row: Row) -> dict[str, Any]:
    """A row of the ledger; the call of the correction is the row's call."""
    record = asdict(row)
    record |= {
        "stated": _stated(row.stated),
        "corrected": _stated(row.corrected),
        "evidence": list(row.evidence),
    }
    record["locator"] = {
        "file": record.pop("document"),
        "line": record.pop("line"),
        "place": record.pop("place"),
    }
    del record["file"], record["file_line"]
    return record


def calculator_record(formula: Formula) -> dict[str, Any]:
    """A calculator: inputs and outputs with units, and its LaTeX and JavaScript where they are
    printed.
    """
    from flopbook.evaluation.calculator import takes
    from flopbook.faces.javascript import javascript
    from flopbook.faces.latex import latex

    inputs = {
        name: {
            "unit": spec.unit,
            "symbol": spec.symbol,
            "meaning": spec.meaning,
            "choices": list(spec.choices),
            "default": None
            if formula.defaults.get(name) == float("inf")
            else formula.defaults.get(name),
            "required": name not in formula.defaults,
        }
        for name, spec in formula.inputs.items()
    }
    outputs = {
        n: {"unit": s.unit, "symbol": s.symbol, "meaning": s.meaning}
        | ({"choices": list(s.choices)} if s.choices else {})
        for n, s in formula.outputs.items()
    }
    return {
        "calculator": formula.id,
        "title": formula.title,
        "question": formula.question,
        "summary": formula.summary,
        "options": list(takes(formula)),
        "inputs": inputs,
        "outputs": outputs,
        "sources": list(formula.sources),
        "latex": latex(formula) if formula.printed else [],
        "javascript": javascript(formula) if formula.printed else None,
    }


def references_csl() -> list[dict[str, Any]]:
    """All references as CSL-JSON, with topics and annotation."""
    return [csl(item) for item in references().values()]


def terms() -> list[dict[str, Any]]:
    """All terms of the glossary, with the calculators that use each and what they call it."""
    kept = [name for name in Term._fields if name not in ("line", "mark")]
    return [
        {name: getattr(term, name) for name in kept} | {"calculators": uses()[term.id]}
        for term in glossary()
    ]


def ledger() -> list[dict[str, Any]]:
    """All rows of the ledger."""
    return [row_record(row) for row in ledger_rows()]


CSV_COLUMNS = (
    "id",
    "name",
    "vendor",
    "kind",
    "field",
    "claim_name",
    "value",
    "unit",
    "si_value",
    "si_unit",
    "per",
    "dtype",
    "engine",
    "sparsity",
    "direction",
    "aggregate",
    "of",
    "tier",
    "basis",
    "chosen",
    "source",
    "as_of",
    "url",
    "quote",
    "locator",
    "note",
)


def accelerators_csv() -> str:
    """All claims of all accelerators as CSV, one claim a row."""
    out = io.StringIO()
    writer = csv.DictWriter(out, CSV_COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    for record in accelerators():
        head = {name: record[name] for name in ("id", "name", "vendor", "kind")}
        for claim in record["claims"]:
            row = {**claim, "claim_name": claim.get("name"), **head}
            writer.writerow({key: _csv_safe(value) for key, value in row.items()})
    return out.getvalue()


def _csv_safe(value: Any) -> Any:
    """A text that a spreadsheet would run as a formula is kept a text."""
    if not isinstance(value, str):
        return value
    text = value.replace(
        "\r", " "
    )  # the csv module of older Pythons does not quote it, and it would end the row
    return "'" + text if value[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def files() -> Iterator[tuple[str, str]]:
    """Name and text of every file of the export."""
    yield "accelerators.json", _json(accelerators())
    yield "vendors.json", _json(vendors())
    yield "models.json", _json(models())
    yield "references.json", _json(references_csl())
    yield "references.bib", "\n\n".join(item.bibtex for item in references().values()) + "\n"
    yield "claims.json", _json(ledger())
    yield "calculators.json", _json([calculator_record(formula) for formula in formulas().values()])
    yield "glossary.json", _json(terms())
    yield "accelerators.csv", accelerators_csv()
    for name, path in schema_paths().items():
        yield f"schema/{name}.json", path.read_text(encoding="utf-8")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
