"""Everything as plain dicts, and the files of `flopbook export`, which the site has as api/v1/."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from flopbook.data.accelerators import Die, Entry, Status
from flopbook.data.audits import audit_sheets, joined
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
from flopbook.data.models import Model
from flopbook.data.prices import Price, prices
from flopbook.data.references import csl
from flopbook.data.sheets import csv_safe
from flopbook.data.vendors import READING, Fact, Vendor
from flopbook.evaluation.terms import uses
from flopbook.formulas import formulas
from flopbook.formulas.declaration import Formula, Output
from flopbook.hardware.choice import choose
from flopbook.hardware.parts import settled_totals
from flopbook.hardware.shown import chosen_claims
from flopbook.ledger.rows import Row, Stated, ledger_rows
from flopbook.prediction.reached import Reached, reached_runs

RUN_DEGREES = ("tp", "pp", "dp", "cp", "ep")
RUN_COLUMNS = (
    *("id", "kind", "use", "complete", "model", "model_id", "chip", "chip_id", "chips", "format"),
    *("date", "value", "unit", "share", "basis", "lacks", "flags", *RUN_DEGREES, "seq", "batch"),
    *("software", "locator", "source", "url", "note"),
)
_ENTRY_TEXTS = ("id", "kind", "name", "vendor", "family", "market", "summary", "notes")
_MODEL_TEXTS = ("id", "kind", "name", "developer", "family", "summary", "notes")


def claim_record(claim: Claim, chosen: bool) -> dict[str, Any]:
    """A claim with its SI value, whether it is shown, and the address of its source."""
    record: dict[str, Any] = {}
    for name in CLAIM_FIELDS:
        field = getattr(claim, name)
        if field not in ("", None, False, {}):
            record[name] = field
    record["value"] = claim.words if claim.value is None else claim.value
    record["as_of"] = claim.as_of.isoformat()
    record["si_value"] = claim.si_value
    record["si_unit"] = claim.si_unit or None
    return record | {"chosen": chosen, "url": reference(claim.source).link}


def entry_record(entry: Entry) -> dict[str, Any]:
    """An accelerator with all claims, the derived totals last."""
    chosen = chosen_claims(entry)
    claims = [claim_record(claim, id(claim) in chosen) for claim in entry.claims]
    claims += [claim_record(total.of_parts, total.is_sum) for total in settled_totals(entry)]
    return {name: getattr(entry, name) for name in _ENTRY_TEXTS} | {
        "aliases": list(entry.aliases),
        "device_names": list(entry.device_names),
        "die": _dated(entry.die) if entry.die else None,
        "variant_of": entry.variant_of or None,
        "contains": [{"ref": part.ref, "count": part.number} for part in entry.contains],
        "status": [_dated(status) for status in entry.status],
        "claims": claims,
    }


def _dated(statement: Status | Die | Fact) -> dict[str, Any]:
    return {**statement._asdict(), "as_of": statement.as_of.isoformat()}


def accelerators() -> list[dict[str, Any]]:
    """All accelerators, by id."""
    return [entry_record(entry) for entry in load_entries().values()]


def vendors() -> list[dict[str, Any]]:
    """All vendors, by id."""
    return [_vendor_record(vendor(vendor_id)) for vendor_id in vendor_ids()]


def _vendor_record(company: Vendor) -> dict[str, Any]:
    record = company._asdict()
    record["facts"] = [_dated(fact) for fact in company.facts]
    return record | {name: list(record[name]) for name in READING}


def measured_runs() -> list[dict[str, Any]]:
    """All measured runs, each with what it reached under one convention, and its source."""
    return [_run_record(run) for run in reached_runs()]


def _run_record(run: Reached) -> dict[str, Any]:
    record = run.row._asdict()
    for name in ("file", "line", "publication"):
        del record[name]
    source = run.source.source
    reached = {"chip": run.chip, "model": run.model, "format": run.format, "date": run.date}
    return record | {
        "source": source,
        "url": reference(source).link,
        "reached": reached | run.rate._asdict(),
    }


def run_rows() -> list[dict[str, Any]]:
    """The same as flat rows, for tables: what most questions ask of a run."""
    return [_run_row(record) for record in measured_runs()]


def _run_row(record: dict[str, Any]) -> dict[str, Any]:
    reached, degrees, run = record["reached"], record["parallelism"], record["run"]
    return {
        **{name: record[name] for name in ("id", "kind", "use", "complete", "note")},
        **{name: record[name] for name in ("source", "url")},
        **{name: reached[name] for name in ("format", "date", "value", "unit", "share", "basis")},
        **{name: degrees.get(name) for name in RUN_DEGREES},
        "model": record["model"].get("name"),
        "model_id": reached["model"],
        "chip": record["hardware"]["chip"],
        "chip_id": reached["chip"],
        "chips": record["hardware"].get("n_chips"),
        "lacks": reached["lacks"],
        "flags": " ".join(record["flags"]),
        "seq": record["model"].get("seq_len_tokens"),
        "batch": degrees.get("global_batch_seqs") or run.get("batch_seqs"),
        "software": run.get("software"),
        "locator": record["where"],
    }


def list_prices() -> list[dict[str, Any]]:
    """All list prices, each with the price of one chip and the address of its source."""
    return [_price_record(price) for price in prices()]


def _price_record(price: Price) -> dict[str, Any]:
    record = price._asdict()
    for name in ("file", "line"):
        del record[name]
    days = {"date": price.date.isoformat(), "as_of": price.as_of.isoformat()}
    address = reference(price.source).link
    return record | days | {"usd_per_chip_hour": price.per_chip, "url": address}


def models() -> list[dict[str, Any]]:
    """All models, by id."""
    return [_model_record(load_model(model_id)) for model_id in model_ids()]


def _model_record(model: Model) -> dict[str, Any]:
    chosen: set[int] = set()
    for field in {claim.field for claim in model.claims}:
        chosen.add(id(choose(claim for claim in model.claims if claim.field == field)))
    return {name: getattr(model, name) for name in _MODEL_TEXTS} | {
        "aliases": list(model.aliases),
        "claims": [claim_record(claim, id(claim) in chosen) for claim in model.claims],
    }


def row_record(row: Row) -> dict[str, Any]:
    """A row of the ledger; the call of the correction is the row's call."""
    record = asdict(row)
    record["stated"] = _stated(row.stated)
    record["corrected"] = _stated(row.corrected)
    record["evidence"] = list(row.evidence)
    # In the order of the published file: the locator comes last.
    document, line, place = (record.pop(name) for name in ("document", "line", "place"))
    record["locator"] = {"file": document, "line": line, "place": place}
    del record["file"], record["file_line"]
    return record


def _stated(stated: Stated | None) -> dict[str, Any] | None:
    return None if stated is None else {**asdict(stated), "si_value": stated.si_value}


def calculator_record(formula: Formula) -> dict[str, Any]:
    """A calculator: inputs and outputs with units, LaTeX and JavaScript where they are printed."""
    # Printing and evaluating are needed for this record only.
    from flopbook.evaluation.calculator import takes
    from flopbook.faces.javascript import javascript
    from flopbook.faces.latex import latex

    return {
        "calculator": formula.id,
        "title": formula.title,
        "question": formula.question,
        "summary": formula.summary,
        "options": list(takes(formula)),
        "inputs": {name: _input_record(formula, name) for name in formula.inputs},
        "outputs": {name: _output_record(spec) for name, spec in formula.outputs.items()},
        "sources": list(formula.sources),
        "latex": latex(formula) if formula.printed else [],
        "javascript": javascript(formula) if formula.printed else None,
    }


def _input_record(formula: Formula, name: str) -> dict[str, Any]:
    spec = formula.inputs[name]
    default = formula.defaults.get(name)
    return {
        "unit": spec.unit,
        "symbol": spec.symbol,
        "meaning": spec.meaning,
        "choices": list(spec.choices),
        "default": None if default == float("inf") else default,  # JSON has no infinity
        "required": name not in formula.defaults,
    }


def _output_record(spec: Output) -> dict[str, Any]:
    record: dict[str, Any] = {"unit": spec.unit, "symbol": spec.symbol, "meaning": spec.meaning}
    if spec.choices:
        record["choices"] = list(spec.choices)
    return record


def references_csl() -> list[dict[str, Any]]:
    """All references as CSL-JSON, with topics and annotation."""
    return [csl(work) for work in references().values()]


def terms() -> list[dict[str, Any]]:
    """All terms of the glossary, with the calculators that use each and what they call it."""
    # What chapters link, and the line in our file, are of no use outside.
    published = [name for name in Term._fields if name not in ("line", "mark")]
    records = []
    for term in glossary():
        record = {name: getattr(term, name) for name in published}
        records.append(record | {"calculators": uses()[term.id]})
    return records


def ledger() -> list[dict[str, Any]]:
    """All rows of the ledger."""
    return [row_record(row) for row in ledger_rows()]


CSV_COLUMNS = (
    *("id", "name", "vendor", "kind", "field", "claim_name", "value", "unit", "si_value"),
    *("si_unit", "per", "dtype", "engine", "sparsity", "direction", "aggregate", "of", "tier"),
    *("basis", "chosen", "source", "as_of", "url", "quote", "locator", "note"),
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
            writer.writerow({key: csv_safe(value) for key, value in row.items()})
    return out.getvalue()


def runs_csv() -> str:
    """All measured runs as CSV, one run a row."""
    out = io.StringIO()
    writer = csv.DictWriter(out, RUN_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in run_rows():
        writer.writerow({key: csv_safe(value) for key, value in row.items()})
    return out.getvalue()


def files() -> Iterator[tuple[str, str]]:
    """Name and text of every file of the export."""
    yield "accelerators.json", _json(accelerators())
    yield "vendors.json", _json(vendors())
    yield "models.json", _json(models())
    yield "references.json", _json(references_csl())
    yield "references.bib", "\n\n".join(work.bibtex for work in references().values()) + "\n"
    yield "claims.json", _json(ledger())
    yield "calculators.json", _json([calculator_record(formula) for formula in formulas().values()])
    yield "glossary.json", _json(terms())
    yield "runs.json", _json(measured_runs())
    yield "prices.json", _json(list_prices())
    yield "accelerators.csv", accelerators_csv()
    yield "runs.csv", runs_csv()
    if sheets := audit_sheets():
        yield "audit.csv", joined(sheets)
    for name, path in schema_paths().items():
        yield f"schema/{name}.json", path.read_text(encoding="utf-8")


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
