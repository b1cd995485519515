"""Several chips or models at once: the same answers as one by one, side by side."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.evaluation.calculator import calculate
from flopbook.evaluation.request import option_names
from flopbook.evaluation.several import answer_each, comparison
from flopbook.formulas import formulas, get_formula

every_formula = pytest.mark.parametrize("name", formulas())
CHIP_IDS = [
    "nvidia/h100-sxm",
    "nvidia/b200",
    "amd/mi300x",
    "google/tpu-v5p",
    "nvidia/a100-sxm-80gb",
]
CHIPS = "nvidia/h100-sxm,amd/mi300x"
MODELS = "llama-3-8b,llama-3-70b"


def answers(run: Any) -> list[Any]:
    assert run.status == 0, run.err
    record = json.loads(run.out)
    assert list(record) == ["answers"]
    return list(record["answers"])


def test_json_lists_what_each_alone_answers(cli: Any) -> None:
    """The contract of `--json` for several chips or models at once."""
    alone = [calculate("min-batch", chip=chip).as_json() for chip in CHIPS.split(",")]
    assert answers(cli("min-batch", "--chip", CHIPS, "--json")) == alone


def test_chips_and_models_are_all_combined_in_order(cli: Any) -> None:
    found = answers(
        cli("decode", "--chip", CHIPS, "--model", MODELS, "--seq", "8Ki", "--batch", "8", "--json")
    )
    named = [(one["inputs"]["chip"]["value"], one["inputs"]["model"]["value"]) for one in found]
    assert named == [(chip, model) for chip in CHIPS.split(",") for model in MODELS.split(",")]


def test_the_table_has_a_column_for_each(cli: Any) -> None:
    lines = cli("min-batch", "--chip", "h100-sxm, mi300x").out.splitlines()
    assert lines[0].split() == ["nvidia/h100-sxm", "amd/mi300x"]
    (tokens,) = [line for line in lines if line.startswith("tokens ")]
    assert tokens.split("  ")[0] == "tokens" and "295.3 tokens" in tokens and "246.7" in tokens
    assert any(line.split()[:1] == ["peak"] and "1.307 PFLOP/s" in line for line in lines)
    # What all have in common is said once.
    assert [line for line in lines if line.startswith("note:")] == [
        "note: tokens_exact needs --d-model and --d-ff"
    ]


def test_what_does_not_vary_is_an_input_like_others(cli: Any) -> None:
    out = cli("decode", "--chip", "h100-sxm", "--model", MODELS, "--seq", "1k", "--tp", "8").out
    head, *lines = out.splitlines()
    assert head.split() == MODELS.split(",")
    assert any(line.split()[:2] == ["chip", "nvidia/h100-sxm"] for line in lines)


def test_notes_name_those_that_they_are_of() -> None:
    chips = {"chip": "google/tpu-v5p,nvidia/h100-sxm", "batch_tokens": "16M"}
    text = comparison(answer_each(get_formula("fsdp-limit"), chips))
    links = [line for line in text.splitlines() if "of 2 links" in line]
    assert links and all(line.startswith("note: google/tpu-v5p: ") for line in links)


def test_each_is_explained_in_turn(cli: Any) -> None:
    out = cli("min-batch", "--chip", CHIPS, "--explain").out
    assert out.count("\nSteps\n") == 2
    record = answers(cli("min-batch", "--chip", CHIPS, "--explain", "--json"))
    assert all("sensitivities" in one for one in record)


def test_a_calculator_that_draws_roofs_takes_them_together(cli: Any) -> None:
    record = json.loads(cli("roofline", "--chip", "h100-sxm,mi300x", "--json").out)
    assert record["calculator"] == "roofline"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("min-batch", "--chips", "8"), r"min-batch takes no --chips, an option of "),
        (("min-batch", "--chips=8"), r"takes no --chips, an option of .* and \d+ more; nearest"),
        (("bubble", "--price", "2USD/h"), "an option of training-time"),
        (("bubble", "--bananas"), "unknown option '--bananas'"),
        (("min-batch", "--chip-s"), "unknown option '--chip-s'; nearest: --chip"),
    ],
)
def test_an_option_of_others_is_said_to_be_theirs(
    words: tuple[str, ...], says: str, cli: Any
) -> None:
    """`--chips` means something to most calculators; one that has no use for it says who has."""
    run = cli(*words)
    assert run.status == 2 and not run.out and run.err.count("\n") == 1
    assert re.search(says, run.err), run.err


@every_formula
def test_chips_are_taken_or_refused_with_a_reason(name: str, cli: Any) -> None:
    run = cli(*([name, "--chips", "8"]))
    takes = "chips" in option_names(get_formula(name))
    assert takes != (f"{name} takes no --chips" in run.err)


@given(st.lists(st.sampled_from(CHIP_IDS), min_size=2, max_size=4, unique=True))
def test_each_column_is_the_answer_alone(chips: list[str]) -> None:
    """Whatever chips are named, each answer is the one that the chip alone gives."""
    together = answer_each(get_formula("ridge-point"), {"chip": ", ".join(chips)})
    for name, result in zip(chips, together, strict=True):
        alone = calculate("ridge-point", chip=name)
        assert dict(result) == dict(alone) and result.notes == alone.notes
    head, *rows = comparison(together).splitlines()
    assert head.split() == chips
    assert [row.split()[0] for row in rows if not row.startswith((" ", "note"))] == [
        *get_formula("ridge-point").outputs,
        "from",
    ]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--chip", "h100-sxm,"), "--chip 'h100-sxm,' has an empty name; write A,B"),
        (("--chip", ",h100-sxm"), "has an empty name"),
        (("--chip", "h100-sxm,h100-sxm"), "--chip names h100-sxm twice"),
        (("--chip", "h100-sxm,h100-smx"), "h100-smx: unknown chip 'h100-smx'; nearest:"),
        (("--chip", "h100-sxm,mi250x", "--dtype", "fp8"), "mi250x: amd/mi250x has no dense fp8"),
        (
            ("--chip", CHIPS, "--sweep", "bandwidth=1TB/s,2TB/s"),
            "--sweep asks one chip and one model at a time; name one of each",
        ),
        (("--chip", CHIPS, "--solve", "peak", "--target", "tokens=100"), "--solve asks one chip"),
        (("--chip", CHIPS, "--csv"), "--csv asks one chip"),
    ],
)
def test_a_list_that_cannot_be_read_is_one_line(
    words: tuple[str, ...], says: str, cli: Any
) -> None:
    run = cli("min-batch", *words)
    assert run.status == 2 and not run.out
    assert says in run.err and run.err.count("\n") == 1


def test_inputs_that_one_lacks_are_left_blank_in_its_column() -> None:
    """A mixture of experts has inputs that a dense model has not."""
    models = {"model": "llama-3-8b,qwen-3-30b-a3b", "tokens": "1T", "seq": "4Ki"}
    results = answer_each(get_formula("training-flops"), models)
    _, *lines = comparison(results).splitlines()
    named = {line.split()[0] for line in lines if line.startswith("  ")}
    assert named == {name for one in results for name in one.inputs} - {"model"}
    notes = [line for line in lines if line.startswith("note: qwen-3-30b-a3b: ")]
    assert notes and not any(line.startswith("note: llama-3-8b: ") for line in lines)


def test_a_model_alone_is_what_it_is_among_others() -> None:
    for result in answer_each(get_formula("kv-cache"), {"model": MODELS, "seq": "1k"}):
        assert result.inputs["model"].value in MODELS.split(",")
        assert result["bytes"] == result["bytes_per_token"] * 1000
