"""The planner of the page finds what the package finds: the same questions, times and layouts."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from flopbook.architectures.shape import shape
from flopbook.data.library import model_ids
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import get_formula
from flopbook.planning.explaining import NEAR, other_chunks, parts_of_layout, smallest_count
from flopbook.planning.memory import memory_inputs
from flopbook.planning.planner import plan
from flopbook.planning.question import Question, question_of
from flopbook.prediction.stacks import STACKS
from scripts.website.pages import planner_data
from scripts.website.pages.form_state import state_query
from scripts.website.pages.planner_data import FORMATS
from tests.support.planning import RECORD, ran

MODELS = planner_data.models()
CHIPS = planner_data.chips()
SEED = "layouts"
ASKED = 60
_PLANNED = """async ([base, asked]) => {
  const {questionOf} = await import(base + "plan/asking.js");
  const {plan, partsOf, secondsByChunks, smallestCount} = await import(base + "plan/search.js");
  const record = await (await fetch(base + "plan/plan.json")).json();
  return JSON.parse(asked).map((one) => {
    const question = questionOf(record, one);
    const found = plan(question, 3);
    const parts = found.layouts.length ? partsOf(question, found.layouts[0]) : {};
    const chunks = found.layouts.map((layout) => [...secondsByChunks(question, layout)]);
    const enough = one.grow && !found.layouts.length ? smallestCount(question, one.grow) : null;
    return {...found, parts, enough, chunks};
  });
}"""


def asked_at_random(rng: random.Random) -> dict[str, Any]:
    """Any model on any chip, with sizes and software of any kind."""
    model = rng.choice(MODELS)
    seq = rng.choice([1024, 2048, 4096, 8192])
    name = rng.choice(CHIPS)
    lacks = RECORD["chips"][name]["lacks"]
    return {
        "model": model.id,
        "chip": name,
        "stack": rng.choice(STACKS),
        "dtype": rng.choice([dtype for dtype in FORMATS if dtype not in lacks]),
        "chips": rng.choice([1, 2, 6, 8, 24, 64, 96, 128, 512, 1000, 4096]),
        "seq": seq,
        "batch": rng.choice([1, 7, 48, 64, 192, 256, 1536]),
    }


def question(asked: dict[str, Any]) -> Question:
    """The package's question."""
    options = {name: str(asked[name]) for name in ("model", "chip", "stack", "dtype", "chips")}
    tokens = asked["batch"] * asked["seq"]
    return question_of({**options, "seq": str(asked["seq"]), "batch_tokens": str(tokens)})


def put_together(asked: dict[str, Any], part: str) -> dict[str, Any]:
    """What `asking.js` makes of the record."""
    names = {"chips": "chip", "stacks": "stack", "formats": "dtype", "models": "model"}
    merged = dict(RECORD[part])
    for kind, name in names.items():
        merged |= RECORD[kind][asked[name]][part]
    return merged


def test_the_record_makes_the_question_of_the_package() -> None:
    """For every model, chip, stack and format; all else of a run is the layout."""
    rng = random.Random(SEED)
    draws = [asked_at_random(rng) for _ in range(250)]
    draws += [{**draws[0], "model": one.id} for one in MODELS]
    draws += [{**draws[1], "chip": name, "dtype": "bf16"} for name in CHIPS]
    for asked in draws:
        here = question(asked)
        run = {**here.run.machine._asdict(), **here.run.shape._asdict(), **here.run._asdict()}
        there = put_together(asked, "run")
        left = {name for name in run if name not in there}
        assert left == {*planner_data._LEFT_OUT, "chip", "tokens"}, asked
        assert {name: there[name] for name in there if name in run} == {
            name: run[name] for name in there if name in run
        }, asked
        inputs = {
            name: math.inf if value == "inf" else value
            for name, value in put_together(asked, "memory").items()
        }
        assert {**inputs, "seq": asked["seq"]} == memory_inputs(here), asked


def test_a_chip_lacks_what_the_package_refuses() -> None:
    refused = []
    for name in CHIPS[::8]:
        for dtype in FORMATS:
            try:
                question_of({**planner_data.REFERENCE, "chip": name, "dtype": dtype})
            except FlopbookError:
                refused.append((name, dtype))
    lacking = [(name, dtype) for name in CHIPS[::8] for dtype in RECORD["chips"][name]["lacks"]]
    assert refused == lacking != []


def test_the_memory_form_takes_what_a_link_of_the_page_says() -> None:
    """And computes the bytes of the plan from it, whatever the software."""
    degrees = ("tp", "pp", "cp", "ep", "dp", "zero", "virtual", "micro_batch", "recompute")
    for name in STACKS:
        asked = question_of({**planner_data.REFERENCE, "stack": name, "chips": "64"})
        best = plan(asked, 1).layouts[0]
        state = {
            **{key: planner_data.REFERENCE[key] for key in ("model", "chip", "seq", "dtype")},
            **RECORD["stacks"][name]["options"],
            **{key: getattr(best, key) for key in degrees},
            "schedule": best.schedule,
            "microbatches": asked.batch / (best.dp * best.micro_batch),
        }
        assert state_query(get_formula("memory"), state), name
        total = calculate("memory", **state).outputs["total"]
        assert total == pytest.approx(best.bytes, rel=1e-12), name


@pytest.mark.browser
def test_the_page_ranks_as_the_package(surf: Any) -> None:
    """The first three divisions, their seconds and bytes, over many models, chips and counts."""
    rng = random.Random(f"{SEED} ranked")
    asked = [asked_at_random(rng) for _ in range(ASKED)]
    asked.append({**asked[0], "model": "deepseek-v3", "chips": 256, "batch": 1024, "seq": 4096})
    slices = {"chip": "google/tpu-v5e", "dtype": "bf16", "chips": 1024, "batch": 1024}
    asked.append({**asked[0], **slices, "model": "llama-3-8b", "seq": 4096, "stack": "maxtext"})
    asked.append({**asked[0], "model": "llama-3-405b", "chips": 8, "grow": 2**16})
    found = ran(_PLANNED, asked, surf)
    planned = 0
    for one, there in zip(asked, found, strict=True):
        here = plan(question(one), 3)
        assert len(there["layouts"]) == len(here.divisions), one
        for layout, expected in zip(there["layouts"], here.divisions, strict=True):
            planned += 1
            words = {name: layout[name] for name in expected._fields[:10]}
            assert words == dict(zip(expected._fields[:10], expected, strict=False)), one
            assert layout["seconds"] == pytest.approx(expected.seconds, rel=1e-12), one
            assert layout["bytes"] == pytest.approx(expected.bytes, rel=1e-12), one
        for expected, chunks in zip(here.divisions, there["chunks"], strict=True):
            shares = {n: seconds / expected.seconds - 1 for n, seconds in chunks}
            near = {n: share for n, share in shares.items() if share <= NEAR}
            near.pop(expected.virtual)
            assert near == pytest.approx(other_chunks(here, expected), rel=1e-6, abs=1e-9), one
        if here.layouts:
            parts = parts_of_layout(question(one), here.layouts[0])
            assert there["parts"] == pytest.approx(parts, rel=1e-9, abs=1e-15), one
    assert planned > ASKED
    assert found[-1]["enough"] == smallest_count(question(asked[-1]))


def test_every_chip_and_model_of_the_page_can_be_planned() -> None:
    """And models that are left out are those that no layout can hold."""
    assert len(CHIPS) > 40 and len(MODELS) > 100
    assert set(RECORD["models"]) == {one.id for one in MODELS}
    for name in set(model_ids()) - set(RECORD["models"]):
        options = {**planner_data.REFERENCE, "model": name}
        with pytest.raises(FlopbookError):
            shape(name).pick("params")
            plan(question_of(options))
    for name, price in RECORD["prices"].items():
        assert name in CHIPS and 0 < price["usd_per_s"] < 1 and "list price" in price["note"]
