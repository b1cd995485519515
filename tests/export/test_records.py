"""The export is the contract: which files, what is in them, that other programs read them."""

from __future__ import annotations

import csv
import io
import json
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pybtex.database import parse_string

from flopbook.data.claims import CLAIM_FIELDS
from flopbook.data.library import (
    entry_ids,
    library,
    load_entry,
    model_ids,
    references,
    vendor_ids,
)
from flopbook.export import records as export
from flopbook.formulas import formulas
from flopbook.hardware.chip import chip
from flopbook.hardware.choice import choose, quantity_of
from flopbook.hardware.parts import settled_totals
from flopbook.hardware.shown import chosen_claims
from flopbook.ledger.rows import VERDICTS, ledger_rows
from tests.support.cases import every


@cache
def files() -> dict[str, str]:
    """The whole export, made once."""
    return dict(export.files())


@cache
def data() -> dict[str, list[dict[str, Any]]]:
    """The records of each JSON file."""
    return {
        name.removesuffix(".json"): json.loads(text)
        for name, text in files().items()
        if name.endswith(".json") and "/" not in name
    }


def claims() -> list[tuple[str, dict[str, Any]]]:
    """Each claim with the entry that it is of."""
    return [(entry["id"], claim) for entry in data()["accelerators"] for claim in entry["claims"]]


def refuse(value: str) -> None:
    raise AssertionError(f"{value} is not JSON")


def test_the_files_are_those_of_the_contract() -> None:
    assert set(files()) == {
        "accelerators.json",
        "vendors.json",
        "models.json",
        "references.json",
        "references.bib",
        "claims.json",
        "calculators.json",
        "glossary.json",
        "accelerators.csv",
        "schema/accelerator.json",
        "schema/vendor.json",
        "schema/model.json",
        "schema/topics.json",
        "schema/sought.json",
        "schema/claims.json",
        "schema/glossary.json",
        "schema/runs.json",
        "schema/workloads.json",
        "schema/prices.json",
        "prices.json",
        "runs.json",
        "runs.csv",
        "audit.csv",
    }


@every("name", lambda: [name for name in files() if name.endswith(".json")])
def test_json_is_strict_and_reads_back(name: str) -> None:
    """No NaN and no Infinity, which JSON does not have; letters as they are."""
    document = json.loads(files()[name], parse_constant=refuse)
    assert json.loads(json.dumps(document)) == document
    assert files()[name].endswith("\n") and "\\u00" not in files()[name]


def test_the_same_data_give_the_same_bytes() -> None:
    assert dict(export.files()) == files()


def test_every_entry_is_there_in_order() -> None:
    assert [record["id"] for record in data()["accelerators"]] == list(entry_ids())
    assert [record["id"] for record in data()["vendors"]] == list(vendor_ids())
    assert [record["id"] for record in data()["models"]] == list(model_ids())
    assert [record["id"] for record in data()["references"]] == list(references())
    assert [record["id"] for record in data()["claims"]] == [row.id for row in ledger_rows()]
    assert [record["calculator"] for record in data()["calculators"]] == list(formulas())


def test_every_claim_has_its_fields_and_what_follows_from_them() -> None:
    for name, claim in claims():
        assert {
            "field",
            "value",
            "per",
            "basis",
            "source",
            "as_of",
            "si_value",
            "si_unit",
            "chosen",
            "url",
        } <= set(claim), name
        assert set(claim) <= {*CLAIM_FIELDS, "si_value", "si_unit", "chosen", "url"}
        assert claim["source"] in references() and claim["url"].startswith(("https://", "http://"))
        assert claim["chosen"] in (True, False) and claim["value"] not in (None, "")
        if isinstance(claim["value"], (int, float)) and claim.get("unit"):
            assert claim["si_value"] is not None and claim["si_unit"]
        if claim["value"] == "not published":
            assert claim["si_value"] is None and not claim["chosen"]


@every("name", entry_ids())
def test_the_chosen_claim_is_the_one_of_the_rule(name: str) -> None:
    """One value is shown for each quantity: of the best source, or the total of the system."""
    entry = load_entry(name)
    chosen = chosen_claims(entry)
    settled = settled_totals(entry)
    derived = {quantity_of(total.of_parts) for total in settled}
    printed = {id(total.shown): total.shown for total in settled if not total.is_sum}
    for key in {quantity_of(claim) for claim in entry.claims}:
        group = [claim for claim in entry.claims if quantity_of(claim) == key]
        shown = [claim for claim in group if id(claim) in chosen]
        best = None if key in derived else choose(group)
        totals = [claim for claim in group if id(claim) in printed]
        assert shown == (totals or ([] if best is None else [best]))
        assert not any(claim.known_error or not claim.published for claim in shown)


def test_a_calculator_and_the_export_show_the_same_value() -> None:
    peaks = [
        c
        for n, c in claims()
        if n == "nvidia/h100-sxm"
        and c["field"] == "peak"
        and c["chosen"]
        and c["engine"] == "tensor"
    ]
    values = {(c["dtype"], c["sparsity"]): c["si_value"] for c in peaks}
    assert values["bf16", "dense"] == chip("nvidia/h100-sxm").peak("bf16")
    assert values["bf16", "2:4"] == chip("nvidia/h100-sxm").peak("bf16", "2:4")


def test_totals_of_systems_are_derived_and_cite_their_parts() -> None:
    node = next(record for record in data()["accelerators"] if record["id"] == "nvidia/dgx-h100")
    derived = [
        c
        for c in node["claims"]
        if c["basis"] == "derived" and c.get("derived_from", "").startswith("nvidia/h100-sxm")
    ]
    peaks = [c for c in derived if c["field"] == "peak" and c["engine"] == "tensor"]
    peak = next(c for c in peaks if (c["dtype"], c["sparsity"]) == ("bf16", "dense"))
    assert (
        peak["si_value"] == pytest.approx(8 * chip("nvidia/h100-sxm").peak("bf16"))
        and peak["chosen"]
    )


def test_models_choose_one_value_a_field() -> None:
    for model in data()["models"]:
        shown = [claim["field"] for claim in model["claims"] if claim["chosen"]]
        assert len(shown) == len(set(shown)) and "params" in shown


def test_references_are_csl_with_topics_and_notes() -> None:
    for record in data()["references"]:
        assert {"id", "type", "title", "author", "issued", "topics", "annote"} <= set(record)
        assert record["topics"] and record["annote"]
        assert all({"family"} <= set(p) or set(p) == {"literal"} for p in record["author"])


def test_references_bib_is_read_by_pybtex() -> None:
    parsed = parse_string(files()["references.bib"], "bibtex")
    assert set(parsed.entries) == set(references())
    assert parsed.entries["brown2020language"].persons["author"][0].last_names == ["Brown"]


def test_claims_carry_stated_corrected_and_verdict() -> None:
    for row in data()["claims"]:
        assert row["verdict"] in VERDICTS and set(row["locator"]) == {"file", "line", "place"}
        assert {"value", "unit", "text", "si_value"} == set(row["stated"])
        if row["verdict"] == "does-not-hold":
            assert row["corrected"]["si_value"] is not None and row["call"]
        assert "file_line" not in row and "file" not in row


@every("item", lambda: data()["calculators"])
def test_calculators_bring_all_their_faces(item: dict[str, Any]) -> None:
    formula = formulas()[item["calculator"]]
    assert set(item["inputs"]) == set(formula.inputs) and set(item["outputs"]) == set(
        formula.outputs
    )
    if formula.printed:
        assert item["javascript"].startswith("export function ") and item["latex"]
    else:
        assert item["javascript"] is None and item["latex"] == []
    assert set(item["sources"]) <= set(references())
    for name, spec in item["inputs"].items():
        assert set(spec) == {"unit", "symbol", "meaning", "choices", "default", "required"}
        assert spec["required"] == (name not in formula.defaults)


def test_schemas_are_schemas() -> None:
    for name, text in files().items():
        if name.startswith("schema/"):
            Draft202012Validator.check_schema(json.loads(text))


def test_csv_has_a_row_for_each_claim() -> None:
    rows = list(csv.DictReader(io.StringIO(files()["accelerators.csv"])))
    assert len(rows) == len(claims()) and tuple(rows[0]) == export.CSV_COLUMNS
    for (name, claim), row in zip(claims(), rows, strict=True):
        assert (row["id"], row["field"], row["source"], row["chosen"]) == (
            name,
            claim["field"],
            claim["source"],
            str(claim["chosen"]),
        )
        assert row["name"] == load_entry(name).name and row["claim_name"].lstrip("'") == claim.get(
            "name", ""
        )
        if claim["si_value"] is not None:
            assert float(row["si_value"]) == claim["si_value"]


def test_csv_tells_claims_of_different_names_apart() -> None:
    """Two caches of one chip are two quantities; without their names a reader could not tell."""
    rows = list(csv.DictReader(io.StringIO(files()["accelerators.csv"])))
    caches = [
        (row["id"], row["claim_name"], row["source"], row["value"])
        for row in rows
        if row["field"] == "cache"
    ]
    assert caches and len(set(caches)) == len(caches)


FORMULAS = ["=1+1", '=HYPERLINK("https://example.org")', "+1", "-1+2", "@SUM(A1)", "\t=1", "\r=1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_spreadsheet_runs_nothing(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    record = {**data()["accelerators"][0], "name": text}
    claim = {**record["claims"][0], "note": text, "quote": text, "name": text, "value": -5.0}
    monkeypatch.setattr(export, "accelerators", lambda: [{**record, "claims": [claim]}])
    (row,) = csv.DictReader(io.StringIO(export.accelerators_csv(), newline=""))
    assert (
        row["note"]
        == row["quote"]
        == row["name"]
        == row["claim_name"]
        == "'" + text.replace("\r", " ").replace("\t=", "\t =")
    )
    assert row["value"] == "-5.0"


def test_no_cell_of_the_real_table_begins_like_a_formula() -> None:
    for row in csv.DictReader(io.StringIO(files()["accelerators.csv"])):
        for cell in row.values():
            assert cell[:1] not in ("=", "+", "@", "\t", "\r") and not (
                cell[:1] == "-" and not cell[1:2].isdigit()
            )


def test_nothing_of_this_machine_is_exported() -> None:
    for name, text in files().items():
        assert "/home/" not in text and str(library().accelerators) not in text, name
