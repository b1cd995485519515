"""Serving on the page: the questions, times and divisions of the package's plan of serving."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import pytest

from flopbook.planning.replicas import Division, Replica, held_bytes, prompt_parts, step_parts
from flopbook.planning.serving import ServingLayout, plan_serving
from flopbook.planning.serving_question import ServingQuestion, serving_question
from flopbook.prediction.fitted import fitted_kinds
from scripts.website.pages import planner_data, serving_data
from scripts.website.pages.serving_data import SERVED
from tests.support.planning import RECORD, ran

MODELS = serving_data.models(planner_data.models())
CHIPS = planner_data.chips()
ADDED = RECORD["serving"]
SEED = "serving"
ASKED = 60
MOST = 2**12
_PLANNED = """async ([base, asked]) => {
  const serving = await import(base + "plan/serving.js");
  const record = await (await fetch(base + "plan/plan.json")).json();
  return JSON.parse(asked).map((one) => {
    const {first, each, ...rest} = one;
    const limits = {first: first ?? Infinity, each: each ?? Infinity};
    const question = serving.servingQuestion(record, {...rest, ...limits});
    const found = serving.planServing(question, 3);
    const parts = found.layouts.map((layout) => serving.partsOfServing(question, layout));
    return {...found, parts, enough: serving.smallestServing(question, one.grow ?? 0)};
  });
}"""


def asked_at_random(rng: random.Random) -> dict[str, Any]:
    """Any model on any chip, with lengths, formats and limits of any kind."""
    return {
        "model": rng.choice(MODELS).id,
        "chip": rng.choice(CHIPS),
        "dtype": rng.choice(SERVED),
        "chips": rng.choice([1, 2, 3, 4, 8, 12, 16, 24, 32, 64]),
        "prompt": rng.choice([1, 128, 1024, 3000, 8192]),
        "answer": rng.choice([1, 64, 256, 2000]),
        "first": rng.choice([None, None, 0.5, 2.0]),
        "each": rng.choice([None, None, 0.02, 0.1]),
    }


def question(asked: dict[str, Any]) -> ServingQuestion:
    """The package's question."""
    names = {"first": "max_first_token", "each": "max_per_token"}
    given = {names.get(name, name): str(value) for name, value in asked.items() if value}
    given.pop("grow", None)
    return serving_question(given)


def test_the_record_makes_the_question_of_the_package() -> None:
    """For every model, chip and format: rates, shape, widths, heads and room."""
    rng = random.Random(SEED)
    draws = [asked_at_random(rng) for _ in range(100)]
    draws += [{**draws[0], "model": one.id} for one in MODELS]
    draws += [{**draws[1], "chip": name} for name in CHIPS]
    for asked in draws:
        here = question(asked)
        machine = {
            **RECORD["chips"][asked["chip"]]["run"],
            "domain": ADDED["domains"][asked["chip"]],
        }
        rates = here.base.machine._asdict()
        assert {name: machine[name] for name in rates if name != "chip"} == {
            name: rate for name, rate in rates.items() if name != "chip"
        }, asked
        there = RECORD["models"][asked["model"]]["run"]
        sizes = {**here.base.shape._asdict(), "is_mixture": here.base.shape.is_mixture}
        assert {name: there[name] for name in sizes if name != "tokens"} == {
            name: size for name, size in sizes.items() if name != "tokens"
        }, asked
        of_model, of_format = ADDED["models"][asked["model"]], ADDED["formats"][asked["dtype"]]
        assert of_model["cache_values"] == here.base.cache_values
        assert float(of_model["kv_heads"]) == here.kv_heads and of_model["heads"] == here.heads
        assert machine[of_format["peak"]] == here.base.peak
        facts = ADDED["bands"][asked["chip"]], of_model, of_format
        count = sum(fact["strange"] for fact in facts)
        strange = ADDED["strangers"] if count > ADDED["most_strange"] else 1.0
        chosen = {name: asked[name] for name in ("model", "chip", "dtype")}
        widest = max(strange, *(fact["band"] for fact in facts))
        assert widest == serving_data.band(**chosen), asked
        no_width = ("peak", "band", "strange")
        widths = {name: getattr(here.base, name) for name in of_format if name not in no_width}
        assert widths == {name: of_format[name] for name in widths}, asked
        assert machine["memory"] * ADDED["parameters"]["memory_used"] == here.room


def smallest(asked: dict[str, Any], most: int) -> int | None:
    """The count of the page: doubles, and eighths between the last two, until something fits."""

    def fits(chips: int) -> bool:
        one = question({**asked, "chips": chips, "first": None, "each": None})
        return bool(plan_serving(one, 1).layouts)

    chips = 2 * asked["chips"]
    while chips <= most:
        if fits(chips):
            between = (chips // 2 + chips * step // 16 for step in range(1, 8))
            return next((count for count in between if fits(count)), chips)
        chips *= 2
    return None


def degrees(layout: Any) -> tuple[Any, ...]:
    """What a layout is, from either side."""
    names = ("tp", "pp", "dp", "ep", "replicas", "batch", "prefill", "prefill_replicas")
    if isinstance(layout, dict):
        prefill = layout["prefill"]
        found = {**layout, "prefill": prefill and tuple(prefill.values())}
    else:
        found = {**layout._asdict(), "prefill": layout.prefill and tuple(layout.prefill)}
    return tuple(found[name] for name in names)


def check_parts(asked: ServingQuestion, layout: ServingLayout, there: dict[str, Any]) -> None:
    """Parts add up to the times and bytes of the layout, and are those of the package."""
    writer = Division(layout.tp, layout.pp, layout.dp, layout.ep)
    p = fitted_kinds()["inference"].parameters
    sequences = layout.batch / (layout.dp * layout.pp)
    one = Replica(asked.base, asked.kv_heads, *map(float, writer))
    reader = Replica(asked.base, asked.kv_heads, *map(float, layout.prefill or writer))
    token = {name: float(part) for name, part in step_parts(one, sequences, p)._asdict().items()}
    first = {name: float(part) for name, part in prompt_parts(reader, 1.0, p)._asdict().items()}
    assert there["token"] == pytest.approx(token, rel=1e-12)
    assert {**there["first"], "transfer": 0} == pytest.approx({**first, "transfer": 0}, rel=1e-12)
    assert sum(there["token"].values()) == pytest.approx(layout.per_token, rel=1e-12)
    assert sum(there["first"].values()) == pytest.approx(layout.first_token, rel=1e-12)
    assert sum(there["held"].values()) == pytest.approx(layout.bytes, rel=1e-12)
    assert float(held_bytes(one, sequences)) == pytest.approx(layout.bytes, rel=1e-12)


@pytest.mark.browser
def test_the_page_ranks_as_the_package(surf: Any) -> None:
    """The first three ways to serve, with their times, bytes and parts.

    Ways whose rates differ in the last bits alone may change places.
    """
    rng = random.Random(SEED)
    asked = [asked_at_random(rng) for _ in range(ASKED)]
    common = {"prompt": 1024, "answer": 256, "dtype": "bf16", "chip": "nvidia/h100-sxm"}
    asked.append({**common, "model": "deepseek-v3", "chips": 8, "grow": MOST})
    asked.append({**common, "model": "llama-3-70b", "chips": 1, "grow": MOST})
    asked.append({**common, "model": "deepseek-v3", "chips": 32, "dtype": "fp8"})
    found = ran(_PLANNED, asked, surf)
    planned = 0
    for one, there in zip(asked, found, strict=True):
        asks = question(one)
        here = plan_serving(asks, 4)
        assert there["tried"] == here.considered, one
        assert len(there["layouts"]) == len(here.layouts[:3]), one
        same = {degrees(layout): layout for layout in here.layouts}
        rates = [layout.tokens_per_s for layout in here.layouts]
        for place, (layout, parts) in enumerate(zip(there["layouts"], there["parts"], strict=True)):
            assert layout["tokens_per_s"] == pytest.approx(rates[place], rel=1e-12), one
            expected = same.get(degrees(layout))
            if expected is None:  # of equal rates with the fourth
                assert rates[3] == pytest.approx(rates[place], rel=1e-12), one
                continue
            planned += 1
            for name in ("tokens_per_s", "first_token", "per_token", "bytes"):
                assert layout[name] == pytest.approx(getattr(expected, name), rel=1e-12), one
            check_parts(asks, expected, parts)
    assert planned > ASKED
    for one, there in itertools.islice(zip(asked, found, strict=True), ASKED, None):
        assert there["enough"] == (smallest(one, MOST) if "grow" in one else None), one


def test_models_that_are_not_offered_cannot_be_served() -> None:
    assert len(MODELS) > 100 and {one.id for one in MODELS} == set(ADDED["models"])
    assert all(1 < fact["band"] < math.inf for fact in ADDED["bands"].values())
    assert ADDED["counts"] == sorted(ADDED["counts"])
