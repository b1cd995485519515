"""`flopbook predict` in a terminal: the layout it assumed, and options of the other question."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flopbook.cli.assumed import row_notes
from flopbook.prediction.asking import predict

TRAINING = "predict --model llama-3-70b --chip h100-sxm --chips 64"
SERVING = "predict --model llama-3-70b --chip h100-sxm --chips 8 --answer 256"
SMALL = "predict --model llama-3.2-1b --chip h100-sxm"


def layout_line(text: str) -> str:
    return next(line for line in text.splitlines() if line.startswith("layout"))


def test_the_layout_is_part_of_the_answer(cli: Any) -> None:
    line = layout_line(cli(*f"{TRAINING} --tp 8 --pp 2 --virtual 5 --batch 512".split()).out)
    assert "TP 8, PP 2 with 5 chunks, DP 4" in line
    assert "512 sequences of 4,096 tokens a step" in line


def test_what_is_recomputed_is_part_of_the_layout(cli: Any) -> None:
    words = "--recompute full --recompute-layers 1 --zero 3 --hsdp 2 --batch 64"
    line = layout_line(cli(*f"{TRAINING} {words}".split()).out)
    assert "DP 64 with FSDP (ZeRO-3) in 2 groups" in line
    assert line.endswith("recompute full in 1 layer of a stage")


def test_one_chip_is_a_layout(cli: Any) -> None:
    out = cli(*f"{SMALL} --chips 1 --batch 8".split()).out
    assert "one chip" in layout_line(out)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (f"{SERVING} --ep 8", "--ep is of training; leave it out with --answer"),
        (f"{SERVING} --micro-batch 2", "--micro-batch is of training"),
        (f"{SERVING} --batch-tokens 1Mi", "--batch-tokens is of training"),
        (f"{TRAINING} --batch 8 --batch-tokens 1Mi", "both size the step; leave one out"),
        (f"{TRAINING} --batch 0", "--batch is 0, expected a whole number of at least 1"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(words: str, said: str, cli: Any) -> None:
    outcome = cli(*words.split())
    assert outcome.status == 2 and outcome.out == ""
    assert said in outcome.err and outcome.err.count("\n") == 1


def test_a_plan_takes_the_sequences_of_a_step(cli: Any) -> None:
    plan = TRAINING.replace("predict", "plan")
    in_sequences = cli(*f"{plan} --batch 512 --json".split())
    in_tokens = cli(*f"{plan} --batch-tokens 2Mi --json".split())
    assert in_sequences.status == 0 and in_sequences.out == in_tokens.out
    inferred = json.loads(cli(*plan.split(), "--json").out)["inferred"]
    assert inferred[0].startswith("1,024 sequences of 4,096 tokens a step")


def test_a_faster_layout_is_part_of_the_answer(cli: Any) -> None:
    words = "predict --model qwen-3-30b-a3b --chip h100-sxm --chips 64 --batch-tokens 4Mi --dp 64"
    line = next(
        line for line in cli(*words.split()).out.splitlines() if line.startswith("a faster layout")
    )
    options = line[line.index("with ") + 5 :]
    named = json.loads(cli(*words.split(), "--json").out)["faster"]
    assert f"{named['seconds']:.3g} s" in line and f"--ep {named['layout']['ep']}" in options
    assert "--ep " in options
    record = json.loads(cli(*words.split(), *options.split(), "--json").out)
    assert f"{record['prediction']['seconds']:.3g} s" in line
    again = cli(*words.split(), *options.split(), "--tp", "1", "--pp", "1").out
    assert "a faster layout" not in again


def test_chips_that_no_layout_divides_stay_idle(cli: Any) -> None:
    """61 is prime and 96 sequences are no multiple of it: 48 chips run, as fast as they would."""
    words = "predict --model llama-3-8b --chip h100-sxm --chips 61 --batch 96 --seq 4096"
    out = cli(*words.split()).out
    assert out.startswith("runs on 48 of 61 chips: no layout of all of them divides 96 sequences")
    assert "idle: 13 (21 %)" in out and "cannot run" not in out
    alone = cli(*words.replace("61", "48").split()).out
    assert out.splitlines()[1:] == alone.splitlines()
    record = json.loads(cli(*words.split(), "--json").out)
    assert record["idle_chips"] == 13 and record["prediction"]["fits"]
    whole = json.loads(cli(*words.replace("61", "64").split(), "--json").out)
    assert "idle_chips" not in whole
    assert "use 61 or 122 sequences" in cli(*words.split(), "--dp", "61").err


def test_a_stage_of_zero_alone_leaves_the_degrees_to_the_search(cli: Any) -> None:
    """It said that 96 sequences do not divide over 64 replicas, beside a layout that runs."""
    words = "predict --model llama-3-8b --chip h100-sxm --chips 64 --batch 96 --seq 4096 --zero 3"
    record = json.loads(cli(*words.split(), "--json").out)
    assert record["layout"]["zero"] == 3 and record["prediction"]["fits"]
    assert 96 % record["layout"]["dp"] == 0 and "idle_chips" not in record


def test_where_no_number_of_chips_can_run_the_next_that_can_is_named(cli: Any) -> None:
    words = "predict --model llama-3-405b --chip h100-sxm --chips 127 --batch 1024 --seq 4096"
    refused = cli(*words.split())
    assert (refused.status, refused.out) == (2, "")
    assert refused.err == (
        "flopbook: no layout of 1,024 sequences on 127 chips divides and fits, some of them idle "
        "or not; use 128 chips\n"
    )
    assert cli(*words.replace("127", "128").split()).status == 0


def test_a_row_that_leaves_nothing_open_has_no_note_of_it() -> None:
    """It said that nothing was assumed, in a note."""
    prediction = predict({"model": "llama-3-8b", "chip": "h100-sxm", "chips": "8"})
    assert list(row_notes(prediction._replace(inferred=()))) == []
    assert list(row_notes(prediction._replace(inferred=("network",)))) != []


def test_each_open_thing_has_a_size(cli: Any) -> None:
    notes = [
        line
        for line in cli(*f"{TRAINING} --zero 3".split()).out.splitlines()
        if line.startswith("note: assumed")
    ]
    sized = [note for note in notes if " %" in note]
    assert len(sized) == len(notes) - 1  # but for the layout, which a line of its own sizes


def test_a_batch_that_does_not_fit_is_told_by_how_much(cli: Any) -> None:
    words = "predict --model llama-3-70b --chip h100-sxm --chips 8 --tp 4 --answer 512"
    record = json.loads(cli(*f"{words} --batch 4096 --json".split()).out)["prediction"]
    assert not record["fits"] and record["over"] == record["bytes"] - 80e9
    largest = int(record["largest_batch"])
    said = cli(*f"{words} --batch 4096".split()).out
    assert f"GB over; largest batch {largest:,}" in said
    for batch, fits in ((largest, True), (largest + 2, False)):  # one more for each replica
        answer = json.loads(cli(*f"{words} --batch {batch} --json".split()).out)["prediction"]
        assert answer["fits"] is fits and ("over" in answer) is not fits


def test_weights_narrower_than_16_bits_are_named(cli: Any) -> None:
    words = "--model deepseek-v3 --chip h200-sxm --chips 8 --answer 512"
    said = cli(*f"predict {words} --batch 8".split()).out
    assert "does not fit: " in said and "--dtype fp8" in said and "and it fits" in said
    assert "--dtype fp8" not in cli(*f"predict {words} --batch 8 --dtype fp8".split()).out
    planned = cli(*f"plan --serve {words}".split()).out
    best = json.loads(cli(*f"plan --serve {words} --dtype fp8 --json".split()).out)["layouts"][0]
    assert "nothing on 8 chips fits" in planned and f"{best['tokens_per_s']:,.0f}" in planned


def test_prompts_that_are_read_together_are_told_apart_from_one(cli: Any) -> None:
    alone = json.loads(cli(*f"{SERVING} --batch 1 --json".split()).out)["prediction"]
    said = cli(*f"{SERVING} --batch 16".split()).out
    assert f"{1e3 * alone['first_token']['seconds']:.3g} ms (--batch 1)" in said


def test_serving_takes_the_chips_of_its_degree(cli: Any) -> None:
    words = "predict --model llama-3-8b --chip h100-sxm --answer 64 --json"
    one, two = (json.loads(cli(*words.split(), *more).out) for more in ([], ["--tp", "2"]))
    assert two["prediction"]["bytes"] < one["prediction"]["bytes"]
