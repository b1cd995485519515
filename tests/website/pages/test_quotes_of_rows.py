"""Rows that agree with their source quote it where its text could be read."""

from __future__ import annotations

import pytest

from flopbook.ledger.rows import Row, ledger_rows
from scripts.website.pages.stated import said_words

# Repositories and pages whose tables and sentences are quoted, every row of each.
READ = (
    "verl2026async",
    "nvidia2025nemorl",
    "nvidia2026nemorl",
    "jax2026blackwell",
    "jax2026collective",
    "jax2026pipelining",
    "pytorch2025titanasync",
    "nvidia2026bridgearchive",
    "deepseek2025dualpipe",
    "juliagpu2026graphs",
)
# Rows of papers of which whole texts were at hand.
QUOTED = (
    "deepseek-v3-days-for-a-trillion",
    "deepseek-v3-two-networks",
    "deepseek-draft-low",
    "deepseek-draft-high",
    "deepseek-draft-gain",
    "deepseek-v2-params",
    "deepseek-v2-saving",
    "llama-days",
    "playbook-tp-two-nodes",
    "playbook-pp-two-nodes",
    "sglang-ep72-decode",
)
ROWS = [
    row
    for row in ledger_rows()
    if row.source in READ or row.id in QUOTED or row.id.startswith("list-nemotron-")
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_a_row_of_a_source_that_was_read_quotes_it(row: Row) -> None:
    assert row.stated.text
    assert len(row.stated.text.split()) <= 25


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_the_quote_has_the_number_of_the_row(row: Row) -> None:
    """But for DualPipe, whose table counts in stages."""
    counts_in_stages = row.source == "deepseek2025dualpipe"
    assert said_words(row).startswith("“") == counts_in_stages
