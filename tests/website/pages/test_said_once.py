"""A page says a finding once, names a capacity as it is sold, and tells its sources apart."""

from __future__ import annotations

import re

import pytest

from scripts.website.build.typesetting import typeset, typeset_page
from scripts.website.figures.tpu_core import generations
from scripts.website.pages.cheatsheet import sheet_page
from scripts.website.pages.entry import entry_markdown
from scripts.website.pages.errata import errata_page
from scripts.website.pages.keyfigures import cards
from scripts.website.pages.products import rows_by_id
from scripts.website.pages.vendors import vendor_page
from tests.support.cases import every


@every("chip", ("nvidia/h100-sxm", "google/tpu-v6e", "amd/mi300x"))
def test_the_finding_of_a_roofline_stands_once(chip: str) -> None:
    page = entry_markdown(chip)
    assert '<h2 id="roofline">Roofline</h2>' in page
    assert len(re.findall(r'class="fb-says"[^>]*>[^<]* FLOP/byte', page)) == 1


@every("chip", ("google/tpu-v4", "google/tpu-v6e", "aws/trainium1"))
def test_a_capacity_in_gib_is_shown_in_gib(chip: str) -> None:
    """34.36 GB is right and nobody knows the chip by it."""
    text = cards(rows_by_id()[chip].entry)
    assert "GiB" in text and "34.36" not in text


def test_tables_of_chips_show_a_capacity_as_it_is_printed() -> None:
    for text in (vendor_page("google"), sheet_page(), " ".join(map(str, generations()))):
        assert ">32 GiB<" in text or "'32 GiB'" in text
        assert "34.36" not in text


def test_a_capacity_in_gb_stays() -> None:
    assert "80 <" in cards(rows_by_id()["nvidia/h100-sxm"].entry)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("TP 8, PP 4 with 2 chunks, DP 1,024", "TP\u00a08, PP\u00a04 with 2 chunks, DP\u00a01,024"),
        ("DP with ZeRO-1", "DP with ZeRO-1"),
        ("HTTP 2 and the TP of a layer", "HTTP 2 and the TP of a layer"),
    ],
)
def test_a_degree_stays_with_its_number(text: str, shown: str) -> None:
    assert typeset(text) == typeset_page(text) == shown
    assert typeset_page(f"`{text}`") == f"`{text}`"


def test_no_two_sources_of_the_errata_have_one_name() -> None:
    table = errata_page().partition("</table>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.S)
    names = [
        re.sub(r"<[^>]*>", "", row.partition("</th>")[0] if "</th>" in row else row) for row in rows
    ]
    names = [" ".join(name.split()) for name in names if name.strip()]
    assert len(names) > 20
    assert len(set(names)) == len(names), sorted(n for n in names if names.count(n) > 1)
