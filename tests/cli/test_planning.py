"""The command `plan`: what it prints, its JSON, and one line for a mistake."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flopbook.planning.flags import FRAMEWORKS
from tests.support.commands import with_options

ASKED = (
    "plan --model llama-3-70b --chip h100-sxm --chips 256 --batch-tokens 2Mi --seq 8192 "
    "--stack megatron-core"
)
FIELDS = ["tp", "pp", "virtual", "schedule", "dp", "zero", "cp", "ep", "micro_batch", "recompute"]
FIELDS += ["hsdp", "seconds", "low", "high", "bytes", "mfu"]


def told(cli: Any, more: str = "") -> str:
    outcome = cli(*with_options(ASKED.split(), more.split()))
    assert (outcome.status, outcome.err) == (0, "")
    return str(outcome.out)


def record(cli: Any, more: str = "") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(told(cli, f"{more} --json"))
    return found


def test_json_is_as_agreed(cli: Any) -> None:
    found = record(cli, "--top 3")
    assert list(found) == ["layouts", "considered", "infeasible"]
    assert [list(layout) for layout in found["layouts"]] == [FIELDS] * 3
    seconds = [layout["seconds"] for layout in found["layouts"]]
    assert seconds == sorted(seconds)
    assert 0 < sum(found["infeasible"].values()) < found["considered"]


def test_predict_takes_a_layout_of_the_plan_and_agrees(cli: Any) -> None:
    best = record(cli, "--top 1")["layouts"][0]
    degrees = " ".join(f"--{name.replace('_', '-')} {best[name]}" for name in FIELDS[:10])
    words = f"predict {ASKED.removeprefix('plan')} {degrees} --json".split()
    predicted = json.loads(cli(*words).out)["prediction"]
    for name in ("seconds", "low", "high", "mfu"):
        assert predicted[name] == pytest.approx(best[name])


def test_the_answer_is_a_table_a_sentence_and_a_line(cli: Any) -> None:
    lines = told(cli, "--top 2").splitlines()
    assert lines[0].startswith("step") and len(lines) == 8 and lines[3] == ""
    assert "of its step is products" in lines[4] and "the next loses" in lines[4]
    assert lines[5].startswith("with virtual ") and lines[5].endswith(" % longer")
    assert lines[6].startswith("left out: ") and "does not fit" in lines[6]


def test_explain_adds_the_parts_and_every_reason(cli: Any) -> None:
    plain, explained = told(cli), told(cli, "--explain")
    assert "parts of the best step" in explained and "tensor parallel" in explained
    assert "other reasons" in plain and "other reasons" not in explained


def test_several_counts_are_compared(cli: Any) -> None:
    told_lines = told(cli, "--chips 8,128,256 --price 2USD/h").splitlines()
    assert told_lines[0].startswith("chips") and "USD per million tokens" in told_lines[0]
    assert [line.split()[0] for line in told_lines[1:3]] == ["128", "256"]
    assert told_lines[3] == "none fits with chips 8"
    answers = record(cli, "--chips 128,256 --price 2USD/h")["answers"]
    assert [(answer["chips"], answer["dtype"]) for answer in answers] == [
        (128, "bf16"),
        (256, "bf16"),
    ]
    best = [answer["layouts"][0] for answer in answers]
    assert best[0]["seconds"] > best[1]["seconds"]
    # 2 USD an hour for each chip, over the tokens of a step.
    cost = best[1]["seconds"] * 256 * 2 / 3600 / 2**21
    assert best[1]["token_cost"] == pytest.approx(cost)


def test_the_front_has_no_layout_that_another_beats(cli: Any) -> None:
    found = record(cli, "--pareto")
    front = [(layout["seconds"], layout["bytes"]) for layout in found["front"]]
    assert front == sorted(front) and front[0][0] == found["layouts"][0]["seconds"]
    assert [held for _, held in front] == sorted((held for _, held in front), reverse=True)
    assert told(cli, "--pareto --top 2").splitlines()[2].split()[0] == f"{front[1][0]:.4g}"


def test_several_formats_are_compared(cli: Any) -> None:
    answers = record(cli, "--dtype bf16,fp8")["answers"]
    seconds = {answer["dtype"]: answer["layouts"][0]["seconds"] for answer in answers}
    assert seconds["fp8"] < seconds["bf16"]
    assert seconds["fp8"] == record(cli, "--dtype fp8")["layouts"][0]["seconds"]


def test_the_front_of_several_counts_is_one(cli: Any) -> None:
    found = record(cli, "--chips 128,256 --pareto")
    front = [
        (layout["seconds"], layout["bytes"], layout["seconds"] * layout["chips"])
        for layout in found["front"]
    ]
    assert front == sorted(front) and len(found["answers"]) == 2
    for one in front:
        better = [
            other
            for other in front
            if other != one and all(a <= b for a, b in zip(other, one, strict=True))
        ]
        assert not better
    lines = told(cli, "--chips 128,256 --pareto --top 3").splitlines()
    assert len(lines) == 4 and lines[1].split()[1] == f"{front[0][0]:.4g}"


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_the_best_is_told_in_the_words_of_a_framework(name: str, cli: Any) -> None:
    text = told(cli, f"--flags {name}")
    assert f"{FRAMEWORKS[name].repository} at {FRAMEWORKS[name].commit[:10]}" in text
    flags = record(cli, f"--flags {name}")["flags"]
    assert flags["framework"] == name and flags["text"] in text


def test_nothing_that_fits_is_an_answer(cli: Any) -> None:
    text = told(cli, "--chips 8 --batch-tokens 64Ki")
    assert text.startswith("no layout on 8 chips fits into 80 GB each; ")
    assert "chips are enough" in text and "left out" in text
    found = record(cli, "--chips 8 --batch-tokens 64Ki --flags megatron")
    assert found["layouts"] == [] and "flags" not in found


def test_what_no_run_on_file_has_is_named(cli: Any) -> None:
    text = told(cli, "--cp 64 --seq 2048")
    said = "context parallelism 64 (on file: 32), tokens of a sequence on a rank 32 (on file: "
    assert f"beyond any run on file: {said}" in text
    assert "beyond any run" not in told(cli, "--cp 1 --pp 8")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("--flags pytorch", "--flags is 'pytorch', expected one of megatron"),
        ("--top 0", "--top is 0"),
        ("--top 5000", "expected at most 1,000"),
        ("--price 0USD/h", "--price is 0USD/h"),
        ("--price cheap", "--price: 'cheap'"),
        ("--chips 256,", "--chips is"),
        ("--chips " + ",".join("1" * 17), "17 plans"),
        ("--dtype bf16,fp3", "--dtype is 'fp3'"),
        ("--tp 3", "does not make 256 chips"),
        ("--schedule interleaved --virtual 1", "needs --virtual"),
        ("--schedule zb-v --virtual 2", "leave out --virtual"),
        ("--batch-tokens 10000", "is no multiple of --seq"),
        # No memory would make these fit, and "on more chips" was no help.
        ("--ep 8", "--ep 8 divides experts, and the model has none"),
        ("--tp 128", "--tp 128 does not divide"),
        ("--pp 128 --tp 1", "--pp 128 is larger than --layers"),
        ("--chips 255 --seq 4099 --batch-tokens 4099", "no layout on 255 chips exists"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(more: str, said: str, cli: Any) -> None:
    outcome = cli(*with_options(ASKED.split(), more.split()))
    assert outcome.status == 2 and outcome.out == ""
    assert said in outcome.err and outcome.err.count("\n") == 1


def test_plans_for_several_places_of_the_states_stand_beside_each_other(cli: Any) -> None:
    few = "--chips 8 --batch-tokens 256Ki --seq 4096 --tp 8 --pp 1"
    text = told(cli, f"{few} --offload no,optimizer,parameters")
    assert text.startswith("offload") and "none fits with offload no" in text
    found = record(cli, f"{few} --offload optimizer,parameters")
    assert [one["offload"] for one in found["answers"]] == ["optimizer", "parameters"]
    assert "one does with --offload optimizer" in told(cli, few)
