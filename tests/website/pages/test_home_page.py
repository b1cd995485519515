"""The first page: its answers are those of the calculators, its picture that of the data."""

from __future__ import annotations

import json
import re

import pytest

from flopbook.data.library import load_entry, model_ids
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import format_quantity
from scripts.website.pages import home
from scripts.website.pages import home_questions as asking
from scripts.website.pages.home_picture import picture
from scripts.website.pages.pitfalls import defects


def test_the_answer_of_training_is_that_of_the_calculators() -> None:
    """The first layout that fits: a smaller answer would hide what recomputation costs."""
    answer = asking.train_answer(**asking.TRAIN)
    chips = int(str(asking.TRAIN["chips"]))
    model, chip = asking.TRAIN["model"], asking.TRAIN["chip"]
    same = {"model": model, "chip": chip, "seq": asking.SEQ, "zero": 3, "dp": chips, "tp": 1}
    selective = calculate("memory", **same, recompute="selective")
    full = calculate("memory", **same, recompute="full")
    assert selective["free"] < 0 <= full["free"]
    assert format_quantity(full["total"], "byte") in answer["verdict"]
    assert "80 GB per chip" in answer["verdict"] and asking.SEQ <= 8192
    assert f"FSDP over all {chips}" in answer["layout"] and "full recomputation" in answer["layout"]
    run = calculate("training-time", model=model, chip=chip, chips=chips, mfu=0.4, seq=asking.SEQ)
    assert answer["pace"].startswith(asking.duration(run["seconds"]))
    assert "15 trillion tokens at 40 %" in answer["pace"]


def test_the_answer_of_serving_is_that_of_the_calculator() -> None:
    answer = asking.serve_answer(**asking.SERVE)
    result = calculate("serving", model="llama-3-70b", chip="h100-sxm", tp=8, seq=8192)
    assert f"room for {result['batch_fits']:,.0f} conversations" in answer["verdict"]
    assert f"{1 / result['seconds']:.0f} for each reader" in answer["pace"]


def test_what_does_not_fit_is_no_example() -> None:
    with pytest.raises(FlopbookError, match="does not fit"):
        asking.train_answer("llama-3-405b", "h100-sxm", 1)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.25, "0.25 seconds"),
        (1.5, "1.5 seconds"),
        (119, "120 seconds"),
        (121, "2 minutes"),
        (86_400, "24 hours"),
        (200_000, "2.3 days"),
        (3.2e7, "370 days"),
        (1e9, "32 years"),
    ],
)
def test_times_have_two_digits_and_a_unit_that_fits(seconds: float, words: str) -> None:
    assert asking.duration(seconds) == words


def test_every_layout_is_tried_from_the_cheapest_on() -> None:
    orders = [(layout["tp"], layout["recompute"]) for layout in asking.LAYOUTS]
    assert orders == [(1, "selective"), (1, "full"), (8, "selective"), (8, "full")]
    assert all(
        "{chips}" in str(one["words"]) or "{copies}" in str(one["words"]) for one in asking.LAYOUTS
    )


def test_the_picture_is_the_roofline_of_the_chip() -> None:
    """Both parts meet at the ridge, 295 FLOP per byte, and the point lies on the first."""
    text = picture()
    peak, bandwidth = (
        float(re.findall(rf'data-{n}="([^"]+)"', text)[0]) for n in ("peak", "bandwidth")
    )
    assert peak / bandwidth == pytest.approx(295.3, abs=0.1)
    rising = re.search(r'fb-slope" d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)"', text)
    flat = re.search(r'fb-flat" d="M([\d.]+) ([\d.]+)L([\d.]+) ([\d.]+)"', text)
    point = re.search(r'cx="([\d.]+)" cy="([\d.]+)"', text)
    assert rising and flat and point
    x0, y0, x1, y1 = map(float, rising.groups())
    assert flat.groups()[:2] == rising.groups()[2:] and flat[2] == flat[4]
    x, y = map(float, point.groups())
    assert (y - y0) / (x - x0) == pytest.approx((y1 - y0) / (x1 - x0), rel=0.01)
    assert "about 300 requests" in text and "16 · 5 % of peak" in text


def test_the_forms_offer_what_can_be_answered() -> None:
    for form in (asking.train_form(), asking.serve_form()):
        models = re.findall(r'<option value="([^"/]+)"', form)
        chips = re.findall(r'<option value="([^"]+/[^"]+)"', form)
        assert set(models) <= set(model_ids()) and len(models) > 40 and len(chips) > 40
        assert form.count(" selected") == 2
        for name in chips:
            assert load_entry(name).computes, name


def test_the_script_gets_the_same_layouts_and_words() -> None:
    ((path, text),) = asking.files().items()
    record = json.loads(text)
    assert path.startswith("assets/flopbook/") and set(record["specs"]) == set(asking.CALCULATORS)
    assert [one["words"] for one in record["layouts"]] == [one["words"] for one in asking.LAYOUTS]
    assert record["words"] == asking.WORDS and record["mfu"] == asking.MFU


def test_the_errors_are_those_of_the_page_of_errors() -> None:
    text, known = home.error_table(), {row.id: row for row in defects()}
    rows = re.findall(r'href="pitfalls/#([\w-]+)"', text)
    assert len(rows) == 3 and set(rows) <= set(known)
    assert f"{len(known)} places" in home.wrong_words()


def test_an_unknown_part_is_named() -> None:
    with pytest.raises(FlopbookError, match="no part nonsense; there are opening"):
        home.part("nonsense")


@pytest.mark.parametrize("name", ["opening", "questions", "ways", "errors", "script"])
def test_every_part_closes_what_it_opens(name: str) -> None:
    text = home.part(name)
    for tag in ("div", "section", "form", "figure", "svg", "p", "select", "table"):
        assert len(re.findall(rf"<{tag}\b", text)) == text.count(f"</{tag}>"), tag
