"""What published runs say of FSDP with few tokens, and of FSDP and TP over several nodes."""

from __future__ import annotations

import pytest

from flopbook.data.measured_runs import run_files
from flopbook.data.runs import MeasuredRun
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from tests.support.rendering import READS_THE_HANDBOOK, rendered, text_of

pytestmark = READS_THE_HANDBOOK

SPLITS = "kempnerforge-check"
CARD = 25e9  # bytes per second of one HDR port, one way


def prose(chapter: str) -> str:
    return " ".join(rendered(f"handbook/{chapter}.md").replace("\xa0", " ").split())


def rows(source: str) -> dict[str, MeasuredRun]:
    return {row.id: row for row in run_files()[source].rows}


@pytest.mark.parametrize("number", [8, 9, 11, 13, 14])
def test_a_split_over_nodes_takes_its_tokens_in_its_step(number: int) -> None:
    row = rows(SPLITS)[f"kempner-{number}-tps"]
    degrees = row.parallelism
    assert degrees["tp"] * degrees["dp"] == row.hardware["n_chips"]
    sequences = degrees["dp"] * degrees["micro_batch_seqs"] * degrees["grad_accum"]
    assert sequences == degrees["global_batch_seqs"]
    tokens = sequences * row.model["seq_len_tokens"]
    rate = tokens / row.measured["step_time_s"]
    assert rate == pytest.approx(row.measured["tokens_per_s"], rel=0.005)


def test_the_width_of_a_split_follows_from_its_parameters() -> None:
    """The report gives 14.84B and a factor of 1.3; its code rounds up to multiples of 256."""
    model = rows(SPLITS)["kempner-8-tps"].model
    width, keys = model["d_model"], 2 * model["n_kv_heads"] * 128
    assert model["d_ff"] == -(-int(4 * width * (2 / 3) * 1.3) // 256) * 256
    layer = width * (2 * width + keys + 3 * model["d_ff"] + 2)
    whole = model["n_layers"] * layer + 2 * model["vocab_size"] * width + width
    assert whole == model["n_params"]
    assert round(whole / 1e9, 2) == 14.84


def test_with_few_tokens_a_step_of_fsdp_gets_no_shorter() -> None:
    """300 billion tokens take 74 days on 768 GPUs and on 1536."""
    found = rows("narayanan2021-t2")
    few, many = (found[f"narayanan21-t2-zero-3-174.6B-{gpus}gpu"] for gpus in (768, 1536))
    assert few.measured["days_for_300B_tokens"] == many.measured["days_for_300B_tokens"]
    step = 1536 * 2048 / 300e9 * many.measured["days_for_300B_tokens"] * 86400
    floor = step / (6 * many.model["n_params"] / (8 * CARD))
    text = prose("fsdp")
    assert "the second nothing" in text and "the run ends on the same day" in text
    assert f"the floor is {floor:.0f} times as high" in text
    assert chip("a100-sxm-80gb").peak("fp16") / (8 * CARD) < 2048  # so above the limit


def test_overlap_of_both_kinds_asks_for_a_quarter_of_the_batch() -> None:
    """The later edition of the book: 99 tokens for a width of 32,768 and 2550 FLOP/byte."""
    added = calculate(
        "mixed-limit", peak="4.59e14", link_bandwidth="9e10", axes=3, tensor_axes=1, d_ff=32768
    )
    assert float(added["tokens_per_chip"]) / 4 == pytest.approx(99, rel=0.01)
    text = text_of("mixed-parallelism")
    assert "edition of February 2025" in text and "asks for a quarter" in text
    assert "the longer one counts" in text


def test_half_the_chips_are_named_where_gathers_set_the_pace() -> None:
    text = text_of("mixed-parallelism")
    assert "half of them take no longer" not in text
    assert "half the chips finish a step in the same time" in text
