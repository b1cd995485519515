"""The first page: its answers are those of the planners, its picture that of the data."""

from __future__ import annotations

import math
import re

import pytest

from flopbook.data.library import load_entry, model_ids
from flopbook.errors import FlopbookError
from flopbook.planning.layout_words import layout_words
from flopbook.planning.planner import plan
from flopbook.planning.question import question_of
from flopbook.planning.replicas import Division
from flopbook.planning.serving import plan_serving
from flopbook.planning.serving_question import serving_question
from scripts.website.pages import home, planner, planner_data, serving_planner
from scripts.website.pages import home_questions as asking
from scripts.website.pages.home_picture import picture
from scripts.website.pages.pitfalls import defects
from scripts.website.pages.planner_words import duration, money, serving_words


def test_the_answer_of_training_is_that_of_the_planner() -> None:
    """The best layout of the command, its band, time and cost of the tokens of the model."""
    verdict, meaning = planner.answer(**planner.FIRST)
    options = {"model": "llama-3-70b", "chip": "h100-sxm", "chips": "512", "seq": "8192"}
    asked = question_of({**options, "batch_tokens": "4Mi", "stack": "megatron-core"})
    best = plan(asked, 1).layouts[0]
    step, low, high = (f"{time:.2g} s" for time in (best.seconds, best.low, best.high))
    assert verdict == f"Fits: {step} a step, {low} to {high} (80 % band)."
    seconds = math.ceil(15e12 / 2**22) * best.seconds
    assert (
        f": {layout_words(best._asdict())}. 15 trillion tokens take {duration(seconds)} " in meaning
    )
    usd = planner_data.price_record("nvidia/h100-sxm")
    cost = usd and money(seconds * 512 * usd["usd_per_s"])
    assert meaning.endswith(f", {cost} at 3.2 USD/h, the lowest list price.")


def test_layouts_are_said_as_practitioners_say_them() -> None:
    asked = {"model": "mixtral-8x7b", "chip": "h100-sxm", "chips": "64", "seq": "4096"}
    found = plan(question_of({**asked, "batch_tokens": "1Mi"}), 1).layouts[0]
    one = found._replace(tp=1, pp=1, cp=1, ep=1, dp=1, virtual=1, zero=0)
    assert layout_words(one._asdict()) == "one chip"
    assert layout_words(one._replace(dp=1024, zero=3)._asdict()) == "DP 1,024 with FSDP (ZeRO-3)"
    assert layout_words(one._replace(cp=2, zero=1)._asdict()) == "CP 2, ZeRO-1"
    whole = one._replace(tp=8, pp=4, virtual=2, ep=8, dp=2)
    assert layout_words(whole._asdict()) == "TP 8, PP 4 with 2 chunks, EP 8, DP 2"


def test_ways_to_serve_are_said_as_practitioners_say_them() -> None:
    asked = serving_question({"model": "mixtral-8x7b", "chip": "h100-sxm", "chips": "8"})
    one = plan_serving(asked, 1).layouts[0]._replace(tp=1, pp=1, dp=1, ep=1, replicas=8)
    alone = one._replace(prefill=None, prefill_replicas=0)
    assert serving_words(alone) == "8 replicas of one chip"
    whole = alone._replace(tp=2, pp=2, dp=2, ep=4, replicas=1)
    assert serving_words(whole) == "one replica: TP 2, PP 2, DP attention 2, EP 4"
    pools = alone._replace(replicas=1024, prefill=Division(tp=2), prefill_replicas=1)
    words = "prompts on one replica: TP 2; answers on 1,024 replicas of one chip"
    assert serving_words(pools) == words


def test_the_answer_of_serving_is_that_of_the_planner() -> None:
    """Tokens of all readers and of one, the first token, and the cost at the list price."""
    verdict, meaning = serving_planner.answer(**serving_planner.FIRST)
    asked = serving_question({"model": "llama-3-70b", "chip": "h100-sxm", "chips": "8"})
    best = plan_serving(asked, 1).layouts[0]
    rate, low, high = best.tokens_per_s, best.low, best.high
    assert verdict.startswith(f"Fits: {float(f'{rate:.3g}'):,.0f} tokens/s")
    assert f"{float(f'{low:.2g}'):,.0f} to {float(f'{high:.2g}'):,.0f}" in verdict
    assert f": {serving_words(best)}. {best.batch * best.replicas:,} conversations" in meaning
    assert f"each gets {1 / best.per_token:.2g} tokens/s" in meaning
    # What each gets makes up what all get, once prompts are read between tokens.
    assert f"and {rate / best.batch / best.replicas:.2g} tokens/s over all" in meaning
    usd = planner_data.price_record("nvidia/h100-sxm")
    cost = usd and money(1e6 * 8 * usd["usd_per_s"] / rate)
    assert meaning.endswith(f" {cost} a million tokens at 3.2 USD/h, the lowest list price.")


def test_what_does_not_fit_is_no_example() -> None:
    for answer in (planner.answer, serving_planner.answer):
        with pytest.raises(FlopbookError, match="does not fit"):
            answer("llama-3-405b", "h100-sxm", 1)


@pytest.mark.parametrize(
    ("usd", "words"),
    [
        (0.00123, "0.0012 USD"),
        (0.456, "0.46 USD"),
        (17_400, "17,000 USD"),
        (1_240_000, "1.2 million USD"),
    ],
)
def test_money_has_two_digits(usd: float, words: str) -> None:
    assert money(usd) == words


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
