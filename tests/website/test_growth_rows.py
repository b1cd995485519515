"""The rows of the ledger behind the pictures of growth.

Memory chips by year, language models by month.
"""

from __future__ import annotations

import re

import pytest

from flopbook.data.library import references
from flopbook.ledger.rows import Row, ledger_row, ledger_rows

YEARS = (1999, 2006, 2010, 2018, 2021)
DRAM = [row for row in ledger_rows() if row.id.startswith("dram-")]
MODELS = [row for row in ledger_rows() if row.id.startswith("wikitext-")]


def value(row: str) -> float:
    found = ledger_row(row).stated.si_value
    assert found is not None
    return found


def test_each_year_has_capacity_rate_and_latency() -> None:
    """Three rows for each of five memory chips, all from one survey of data sheets."""
    assert {row.id for row in DRAM} == {
        f"dram-{kind}-{year}" for kind in ("capacity", "rate", "latency") for year in YEARS
    }
    assert {row.source for row in DRAM} == {"patel2022case"}
    for row in DRAM:
        year = row.id.rpartition("-")[2]
        assert year in (row.place or "") and year in row.statement


@pytest.mark.parametrize(
    ("row", "stated"),
    [
        ("dram-capacity-1999", 2**25),
        ("dram-capacity-2006", 2**26),
        ("dram-capacity-2010", 2**29),
        ("dram-capacity-2018", 2**31),
        ("dram-capacity-2021", 2**31),
        ("dram-rate-1999", 133e6 / 8),
        ("dram-rate-2006", 800e6 / 8),
        ("dram-rate-2010", 1066e6 / 8),
        ("dram-rate-2018", 3200e6 / 8),
        ("dram-rate-2021", 4800e6 / 8),
        ("dram-latency-1999", 42.5e-9),
        ("dram-latency-2006", 25e-9),
        ("dram-latency-2010", 26.3e-9),
        ("dram-latency-2018", 27.5e-9),
        ("dram-latency-2021", 32.7e-9),
    ],
)
def test_what_data_sheets_state(row: str, stated: float) -> None:
    """As in the survey's table, in bytes, bytes a second for a pin, and seconds (patel2022case)."""
    assert value(row) == pytest.approx(stated, rel=0.002)


@pytest.mark.parametrize("year", YEARS)
def test_latency_is_the_sum_of_two_timings(year: int) -> None:
    """Opening the row and reading the column, as the text of the row says."""
    text = ledger_row(f"dram-latency-{year}").stated.text
    assert sum(map(float, text.split(" + "))) == pytest.approx(
        value(f"dram-latency-{year}") * 1e9, abs=0.11
    )


def test_capacity_and_rate_grow_and_latency_does_not() -> None:
    for kind in ("capacity", "rate"):
        values = [value(f"dram-{kind}-{year}") for year in YEARS]
        assert values == sorted(values) and values[-1] / values[0] > 30
    latencies = [value(f"dram-latency-{year}") for year in YEARS]
    assert max(latencies) / min(latencies) < 2


@pytest.mark.parametrize("row", MODELS, ids=lambda row: row.id)
def test_a_model_names_its_paper_and_repeats_its_number(row: Row) -> None:
    """The month of a point comes from the paper's number; the text begins with the perplexity."""
    assert re.search(r"paper \d{4}\.\d{5}$", row.place or "")
    assert (
        row.stated.text.startswith(f"{row.stated.value:g}")
        and f"{row.stated.value:g}" in row.statement
    )
    assert row.verdict == "quoted" and row.source in references()


@pytest.mark.parametrize(
    ("row", "perplexity"),
    [
        ("wikitext-lstm", 48.7),
        ("wikitext-gated-cnn", 37.2),
        ("wikitext-hebbian-lstm", 34.3),
        ("wikitext-adaptive-inputs", 20.5),
        ("wikitext-transformer-xl", 18.3),
        ("wikitext-routing", 15.8),
        ("wikitext-megatron", 10.8),
        ("wikitext-gopher", 7.75),
        ("wikitext-chinchilla", 7.16),
    ],
)
def test_perplexities_are_those_of_the_papers(row: str, perplexity: float) -> None:
    """Table of results kept by Ruder; abstract of Megatron-LM.

    Section on language modelling of Chinchilla.
    """
    assert value(row) == perplexity


def test_papers_of_the_bibliography_agree_with_the_rows() -> None:
    """Where the row's source is the paper itself, its number is the one in the bibliography."""
    known = references()
    for row in MODELS:
        number = re.search(r"\d{4}\.\d{5}", row.place or "")
        if row.source == "shoeybi2019megatron" or row.id == "wikitext-chinchilla":
            assert number is not None and number[0] == known[row.source].eprint


def test_the_rows_of_what_the_slides_leave_out() -> None:
    """Time of a gather on four devices, operations of a backward pass, copies in a report."""
    gather, long = ledger_row("slides-all-gather-share"), ledger_row("slides-all-gather-time")
    assert (
        gather.stated.value == long.stated.value
        and gather.verdict == "does-not-hold" != long.verdict
    )
    assert gather.corrected is not None and gather.corrected.value == pytest.approx(
        0.75 * (gather.stated.value or 0), rel=1e-3
    )
    saved = ledger_row("slides-fsdp-backward-flop")
    assert saved.corrected is not None and saved.corrected.value == 2 * (saved.stated.value or 0)
    copies = ledger_row("llama3-table-long-copies")
    assert (
        copies.corrected is not None
        and copies.corrected.value == 2 * (copies.stated.value or 0) == 8
    )
