"""The plain commands and their help: every command explains itself with an example that runs."""

from __future__ import annotations

import csv
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import flopbook
from flopbook.checks.audit import audits
from flopbook.data.library import entry_ids, model_ids
from flopbook.export import records as export
from flopbook.export.tables import published
from flopbook.formulas import formulas
from flopbook.ledger.rows import ledger_rows

DATA = ["list", "show", "compare", "peak", "models", "cite", "claims", "check", "export"]
PREDICTION = ["predict", "plan", "study", "validate", "measure"]
CONTRIBUTING = ["where", "new", "lint", "diff", "stale", "audit"]
PLAIN = [*DATA, *PREDICTION, *CONTRIBUTING]
every_command = pytest.mark.parametrize("name", [*formulas(), *PLAIN])


def test_the_help_lists_every_command(cli: Any) -> None:
    outcome = cli("--help")
    assert (outcome.status, outcome.err) == (0, "")
    assert re.findall(r"^  ([a-z][a-z-]+)  ", outcome.out, re.M) == [*formulas(), *PLAIN]
    titles = r"^(?:Calculators|Data|Measured and predicted|Contributing):\n"
    _, *sections = re.split(titles, outcome.out, flags=re.M)
    expected = (formulas(), DATA, PREDICTION, CONTRIBUTING)
    for section, names in zip(sections, expected, strict=True):
        assert re.findall(r"^  ([a-z][a-z-]+)  ", section, re.M) == list(names)


@pytest.mark.parametrize("name", [*formulas(), *PLAIN])
def test_the_help_says_in_one_line_what_a_command_does(
    name: str, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert re.search(rf"^  {name} +[A-Z][^\n]+(\n {{8,}}[^\n]+)*[.?]$", cli("--help").out, re.M)


def test_no_command_at_all_is_answered_with_the_help(cli: Any) -> None:
    assert cli() == cli("--help") == cli("-h")


def test_the_version(cli: Any) -> None:
    outcome = cli("--version")
    assert outcome.status == 0 and flopbook.__version__ in outcome.out


@every_command
def test_help_has_an_example_that_runs(
    name: str, cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = cli(name, "--help")
    assert (outcome.status, outcome.err) == (0, "") and "--json" in outcome.out
    assert outcome == cli(name, "-h") and outcome.out.startswith(
        f"Usage: flopbook {name} [OPTIONS]"
    )
    example = outcome.out.splitlines()[-1].removeprefix("  Example: ")  # one line, at any width
    program, *arguments = shlex.split(example)
    assert program == "flopbook" and arguments[0] == name
    study = "model: llama-3-8b\nchip: h100-sxm\nchips: 8\nbatch-tokens: 64Ki\n"
    (tmp_path / "sizes.yaml").write_text(study, encoding="utf-8")
    ran = cli(*arguments)
    # What audits found so far is said beside the sheet, which goes into a file.
    aside = f"{len(audits())} audits, the last of " if name == "audit" else ""
    assert ran.status == 0 and ran.out and ran.err.startswith(aside)
    assert ran.err.count("\n") == bool(aside)


@pytest.mark.parametrize("name", formulas())
def test_all_examples_of_a_calculator_run(name: str, cli: Any) -> None:
    for example in formulas()[name].examples:
        arguments = [word for key, value in example.items() for word in (f"--{key}", value)]
        for flag in ("--json", "--explain"):
            assert cli(name, *arguments, flag).status == 0


def test_list_gives_all_or_those_of_one_vendor(cli: Any) -> None:
    assert [line.split()[0] for line in cli("list").out.splitlines()] == list(entry_ids())
    google = json.loads(cli("list", "google", "--json").out)
    assert [item["id"] for item in google] == [
        name for name in entry_ids() if name.startswith("google/")
    ]
    assert json.loads(cli("list", "--json", "google").out) == google


def test_two_hyphens_end_the_options(cli: Any) -> None:
    assert cli("list", "--", "google") == cli("--", "list", "google") == cli("list", "google")
    assert cli("--") == cli()


def test_show_prints_values_with_sources(cli: Any) -> None:
    outcome = cli("show", "h100-sxm")
    assert outcome.status == 0 and "(nvidia/h100-sxm, package)" in outcome.out
    hidden = int(re.search(r"(\d+) values of other sources: --all shows them", outcome.out)[1])
    everything = cli("show", "h100-sxm", "--all").out
    assert everything.count(" (not chosen)") >= hidden > 0 and "--all shows them" not in everything


def test_show_json_is_the_record_of_the_export(cli: Any) -> None:
    record = json.loads(cli("show", "nvidia/h100-sxm", "--json").out)
    assert record in json.loads(dict(export.files())["accelerators.json"])


def test_models_lists_all(cli: Any) -> None:
    assert [item["id"] for item in json.loads(cli("models", "--json").out)] == list(model_ids())
    assert [line.split()[0] for line in cli("models").out.splitlines()] == list(model_ids())
    found = [item["id"] for item in json.loads(cli("models", "Qwen", "--json").out)]
    assert found and found == [name for name in model_ids() if "qwen" in name]
    assert cli("models", "zzz").status == 2


def test_cite_prints_a_reference_three_ways(cli: Any) -> None:
    text = cli("cite", "williams2009roofline").out
    assert "Samuel Williams" in text and "https://doi.org/" in text
    assert cli("cite", "williams2009roofline", "--bibtex").out.startswith(
        "@article{williams2009roofline,"
    )
    assert (
        json.loads(cli("cite", "williams2009roofline", "--json").out)["id"]
        == "williams2009roofline"
    )


def test_claims_are_listed_by_verdict(cli: Any) -> None:
    rows = json.loads(cli("claims", "--json").out)
    assert [row["id"] for row in rows] == [row.id for row in ledger_rows()]
    wrong = json.loads(cli("claims", "--verdict", "does-not-hold", "--json").out)
    assert wrong and {row["verdict"] for row in wrong} == {"does-not-hold"}
    assert all(
        line.startswith("does-not-hold")
        for line in cli("claims", "--verdict", "does-not-hold").out.splitlines()
    )


def test_claims_are_listed_by_source_and_topic(cli: Any) -> None:
    """Options add up: a row has to be all that is asked for."""
    for name, value in (("source", "rajbhandari2020zero"), ("topic", "memory")):
        rows = json.loads(cli("claims", f"--{name}", value, "--json").out)
        assert (
            [row["id"] for row in rows]
            == [row.id for row in ledger_rows() if getattr(row, name) == value]
            != []
        )
    both = json.loads(
        cli("claims", "--source", "slides2025scaling", "--topic", "memory", "--json").out
    )
    assert both and {(row["source"], row["topic"]) for row in both} == {
        ("slides2025scaling", "memory")
    }


def test_no_claim_that_is_all_that_was_asked_for(cli: Any) -> None:
    asked = ("claims", "--source", "touvron2023llama", "--verdict", "typo")
    assert (
        cli(*asked).out == "No row is all of these.\n"
        and json.loads(cli(*asked, "--json").out) == []
    )


def test_lint_of_the_real_data_is_clean(cli: Any) -> None:
    assert cli("lint", "--json").out == "[]\n"


def test_lint_reports_problems_with_status_1(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from flopbook.checks import lint
    from flopbook.errors import Problem

    monkeypatch.setattr(
        lint, "lint", lambda: [Problem("a.yaml", 3, 1, "unit", "GX", "GB", "mend it")]
    )
    outcome = cli("lint")
    assert (outcome.status, outcome.err) == (1, "")
    told = "a.yaml:3:1: unit: found GX, expected GB; mend it\n"
    assert outcome.out.startswith(told) and outcome.out.endswith("\n1 problem\n")
    assert json.loads(cli("lint", "--json").out)[0]["line"] == 3


def test_an_export_is_what_the_data_say(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every file and its size, the columns of the table; nothing differs from the data.

    The texts are made once: that they are the same each time is for tests/export.
    """
    files = tuple(export.files())
    monkeypatch.setattr(export, "files", lambda: files)
    folder = tmp_path / "deep" / "folder"
    outcome = cli("export", str(folder), "--json")
    written = {Path(item["file"]): item["bytes"] for item in json.loads(outcome.out)}
    expected = {folder / name: content for name, content in published()[0].items()}
    assert set(written) == set(expected) == {p for p in tmp_path.rglob("*") if p.is_file()}
    for path, content in expected.items():
        assert path.stat().st_size == written[path] == len(content)
    for name, text in files:
        assert (folder / name).read_text(encoding="utf-8") == text
    with (folder / "accelerators.csv").open(encoding="utf-8", newline="") as file:
        assert next(csv.reader(file)) == list(export.CSV_COLUMNS)
    assert cli("diff", str(folder)).out == f"no difference from {folder}\n"


def test_export_over_a_file_is_refused(fails: Any, tmp_path: Path) -> None:
    """Before anything is computed: that takes seconds."""
    (tmp_path / "taken").write_text("mine", encoding="utf-8")
    assert "taken" in fails("export", str(tmp_path / "taken"))
    assert "taken" in fails("export", str(tmp_path / "taken" / "inside"))
    assert (tmp_path / "taken").read_text(encoding="utf-8") == "mine"
    assert "/dev/null is a file" in fails("export", "/dev/null/inside")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    assert "circle" in fails("export", str(tmp_path / "circle"))


def test_broken_data_is_reported_line_by_line(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """All problems of the data at once is the one case with more than one line."""
    from flopbook.data import library
    from flopbook.errors import DataError, Problem

    def broken(_: str) -> None:
        raise DataError([Problem("a.yaml", n, 1, "unit", "GX", "GB", "mend it") for n in (2, 1)])

    monkeypatch.setattr(library, "entry", broken)
    outcome = cli("show", "anything")
    assert (outcome.status, outcome.out) == (2, "")
    first, second = outcome.err.splitlines()
    assert first.startswith("flopbook: a.yaml:1:1: unit: ") and second.startswith(
        "a.yaml:2:1: unit: "
    )
