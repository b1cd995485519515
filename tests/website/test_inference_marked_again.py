"""What a strict reading of the chapter on inference found wrong or unfinished, each recomputed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from tests.support.rendering import READS_THE_HANDBOOK, rendered, text_of

CHAPTER = Path(__file__).parents[2] / "docs/handbook/inference.md"
LONG, GPUS = 8192, 8


def _plain() -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", rendered("handbook/inference.md")))


def _read(model: str, bytes_each: float = 2) -> float:
    """Bytes of weights that a step reads: all but the table of input embeddings."""
    config = shape(model)
    return float(bytes_each * (config.params - config.vocab * config.d_model))


def test_a_block_is_cut_by_the_two_widths_and_not_by_inputs_and_outputs() -> None:
    """The second matrix has the hidden width as its inputs: cut in X by inputs it would not fit."""
    rng = np.random.default_rng(0)
    model_width, hidden, across, down = 8, 24, 2, 4
    into, out = rng.normal(size=(model_width, hidden)), rng.normal(size=(hidden, model_width))
    pieces_in = [np.hsplit(row, down) for row in np.vsplit(into, across)]
    pieces_out = [np.hsplit(row, across) for row in np.vsplit(out, down)]
    token = rng.normal(size=model_width)
    parts = np.split(token, across)
    hidden_parts = [sum(parts[x] @ pieces_in[x][y] for x in range(across)) for y in range(down)]
    outputs = [sum(hidden_parts[y] @ pieces_out[y][x] for y in range(down)) for x in range(across)]
    assert np.allclose(np.concatenate(outputs), token @ into @ out)
    source = CHAPTER.read_text(encoding="utf-8")
    assert "  X: parts of the width of the model\n" in source
    assert "its inputs into $X$ parts and its outputs into $Y$" not in source


@READS_THE_HANDBOOK
@pytest.mark.parametrize("model", ["llama-3-70b", "llama-3-8b"])
def test_the_border_to_caches_counts_what_a_step_reads(model: str) -> None:
    """The text has 420,000 tokens for 70B; the exercise had 430,626, with the embedding table."""
    cache = float(calculate("kv-cache", model=model, seq=1)["bytes_per_token"])
    assert f"{_read(model) / cache:,.0f} tokens" in _plain()


@READS_THE_HANDBOOK
def test_half_a_byte_doubles_the_pace_of_one_user_and_a_second_server_does_not() -> None:
    h100, config = chip("h100-sxm"), shape("llama-3-70b")
    cache = float(calculate("kv-cache", model="llama-3-70b", seq=LONG)["bytes"])

    def token(bytes_each: float, chips: int) -> float:
        found = calculate(
            "collective", chip="h100-sxm", chips=chips, bytes=2 * config.d_model, op="all-reduce"
        )
        rate = h100.memory_bandwidth()
        read = _read("llama-3-70b", bytes_each) / (chips * rate) + cache / (GPUS * rate)
        return float(read + 2 * config.layers * found["seconds"])

    first, second, narrow = token(2, 8), token(2, 16), token(0.5, 8)
    assert first / second < 1.5 < 2 < first / narrow
    text = _plain()
    assert f"makes a token {16 * second / (8 * first):.1f} times as expensive" in text
    assert f"a token takes {1e3 * narrow:.1f} ms, {first / narrow:.1f} times the pace" in text


@READS_THE_HANDBOOK
def test_an_int4_weight_of_gpt_fast_has_its_share_of_a_scale_and_a_zero_point() -> None:
    """quantize.py of pytorch-labs/gpt-fast packs both in bf16, a pair for each group."""
    size = 0.5 + 2 * 2 / 32
    assert f"so a weight takes {size:g} bytes" in _plain()


@READS_THE_HANDBOOK
@pytest.mark.parametrize(("name", "chips"), [("tpu-v5p", 8), ("tpu-v6e", 8), ("tpu-v5e", 16)])
def test_a_row_of_a_slice_says_what_its_hour_is_worth(name: str, chips: int) -> None:
    run = {"model": "llama-3-70b", "seq": LONG}
    rate = float(calculate("serving", chip=f"google/{name}", tp=chips, **run)["tokens_per_s"])
    server = float(calculate("serving", chip="h100-sxm", tp=GPUS, **run)["tokens_per_s"])
    worth = f"{rate / chips / (server / GPUS):.2f}".rstrip("0")
    link = f'/accelerators/google/{name}/"'
    row = next(
        line
        for line in rendered("handbook/inference.md").splitlines()
        if line.startswith(f"| {chips} × ") and link in line
    )
    assert row.rstrip(" |").endswith(f"| {worth}")


def test_terms_come_before_their_use() -> None:
    """Sliding windows and pages are said in half a sentence where they first come up."""
    text = text_of("inference")
    window = text.index("sliding window a token looks back no further")
    assert window < text.index("A sliding window does so by rule")
    assert "blocks of neighbouring tokens" in text
    assert "its probability $q$ of every token of the vocabulary" in text
