"""The first page: its answers are those of planner and calculator, its picture that of the data."""

from __future__ import annotations

import json
import re

import pytest

from flopbook.data.library import load_entry, model_ids
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.planning.planner import plan
from flopbook.planning.question import question_of
from flopbook.quantities.units import format_quantity
from scripts.website.pages import home
from scripts.website.pages import home_questions as asking
from scripts.website.pages.home_picture import picture
from scripts.website.pages.pitfalls import defects
from scripts.website.pages.planner_words import duration, layout_words


def test_the_answer_of_training_is_that_of_the_planner() -> None:
    """The best layout of the command, its band, and the time of the tokens of the model."""
    answer = asking.train_answer(**asking.TRAIN)
    options = {"model": "llama-3-70b", "chip": "h100-sxm", "chips": "512", "seq": "8192"}
    asked = question_of({**options, "batch_tokens": "4Mi", "stack": "megatron-core"})
    best = plan(asked, 1).layouts[0]
    used = format_quantity(float(f"{best.bytes:.3g}"), "byte")
    assert answer["verdict"] == f"Fits: {used} of 80 GB per chip"
    assert answer["layout"].startswith(layout_words(best) + ": ")
    assert f"{best.seconds:.2g} s a step ({best.low:.2g} s to {best.high:.2g} s" in answer["layout"]
    days = 15e12 / 2**22 * best.seconds / 86_400
    assert answer["pace"] == f"{float(f'{days:.2g}'):,g} days for 15 trillion tokens, " + (
        "without failures."
    )


def test_layouts_are_said_as_practitioners_say_them() -> None:
    asked = {"model": "mixtral-8x7b", "chip": "h100-sxm", "chips": "64", "seq": "4096"}
    found = plan(question_of({**asked, "batch_tokens": "1Mi"}), 1).layouts[0]
    one = found._replace(tp=1, pp=1, cp=1, ep=1, dp=1, virtual=1, zero=0)
    assert layout_words(one) == "DP 1"
    assert layout_words(one._replace(dp=1024, zero=3)) == "DP 1,024 with FSDP (ZeRO-3)"
    assert layout_words(one._replace(cp=2, zero=1)) == "CP 2, ZeRO-1"
    whole = one._replace(tp=8, pp=4, virtual=2, ep=8, dp=2)
    assert layout_words(whole) == "TP 8, PP 4 with 2 chunks, EP 8, DP 2"


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
        (0.25, "250 ms"),
        (119, "120 s"),
        (86_400, "24 hours"),
        (200_000, "2.3 days"),
        (3.2e7, "370 days"),
        (1e9, "32 years"),
    ],
)
def test_times_have_two_digits_and_a_unit_that_fits(seconds: float, words: str) -> None:
    assert duration(seconds) == words


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


def test_the_script_gets_the_same_words() -> None:
    ((path, text),) = asking.files().items()
    record = json.loads(text)
    assert path.startswith("assets/flopbook/") and set(record["specs"]) == set(asking.CALCULATORS)
    assert record["words"] == asking.WORDS


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
