"""The layouts and the memory of the 70B run, counted by hand."""

from __future__ import annotations

import re

import pytest

from flopbook.evaluation.calculator import calculate
from scripts.website.figures import figure_of
from tests.support.rendering import READS_THE_HANDBOOK, rendered, text_of

pytestmark = READS_THE_HANDBOOK
PARAMS, LAYERS, WIDTH = 70_553_706_496, 80, 8192
ON_H100 = 4 * 2 * PARAMS * 8192 / 989.4e12  # four forward passes of one sequence for each chip
ON_V5P = 4 * 2 * PARAMS * 8192 / 459e12
NODE = 3 * 2 * PARAMS / (8 * 50e9)  # three copies of the weights through eight cards
EXCHANGED = 12 * LAYERS * 65536 * WIDTH * 2 * 7 / 8
COUNTED = {
    "H100: FSDP over all": (ON_H100, NODE, 0.0),
    "H100: TP 8, FSDP over 64 groups, one sequence at a time": (
        ON_H100,
        8 * NODE,
        EXCHANGED / 450e9,
    ),
    "H100: the same, eight sequences at a time": (ON_H100, NODE, EXCHANGED / 450e9),
    "v5p: FSDP over all": (ON_V5P, 6 * PARAMS / 600e9, 0.0),
    "v5p: TP 8, FSDP over 64 groups, eight sequences at a time": (
        ON_V5P,
        6 * PARAMS / 8 / 400e9,
        EXCHANGED / 200e9,
    ),
}


def cells(name: str) -> list[float]:
    """A row of the table, in seconds."""
    row = next(
        line for line in rendered("handbook/mixed-parallelism.md").splitlines() if name in line
    )
    plain = re.sub(r"<[^>]+>", "", row)
    found = re.findall(r"\| ([\d.,]+) (s|ms)(?= \|)", plain)
    return [float(number) * {"s": 1, "ms": 1e-3}[unit] for number, unit in found]


@pytest.mark.parametrize("name", COUNTED)
def test_a_layout_of_the_run_is_counted_before_it_is_predicted(name: str) -> None:
    """The arithmetic and exchanges, or the weights where those take longer."""
    arithmetic, weights, exchanges = COUNTED[name]
    step = max(arithmetic + exchanges, weights)
    *shown, predicted = cells(name)
    assert shown == pytest.approx([arithmetic, weights, exchanges, step], rel=0.06)
    assert predicted > step


@pytest.mark.parametrize("machine", ["H100", "v5p"])
def test_the_count_puts_layouts_in_the_order_of_the_prediction(machine: str) -> None:
    rows = [cells(name)[-2:] for name in COUNTED if name.startswith(machine)]
    assert [step for step, _ in sorted(rows)] == [
        step for step, _ in sorted(rows, key=lambda row: row[1])
    ]


def test_the_pictures_of_a_split_are_of_the_worked_example() -> None:
    """1,024 chips, 500,000 tokens, a gated width of 28,672: best and largest FSDP degree."""
    run = {"chip": "tpu-v5p", "d_ff": 1.5 * 28672, "chips": 1024, "axes": 3, "tensor_axes": 1}
    split = figure_of("fsdp-tensor-split", batch_tokens=500_000, **run)
    best = (500_000 / (1.5 * 28672) * 2 * 1024) ** 0.5
    assert f"degree of {best:.0f} of 1,024" in split.title
    largest = 2 * 500_000 / (459e12 / 200e9)
    assert f"up to FSDP degree {largest:.0f}<" in "".join(split.parts)
    ratio = figure_of("fsdp-tensor-ratio", **run)
    assert f"{4 * 2295**2 / (1.5 * 28672 * 2):.0f} tokens each, FSDP alone from 765" in ratio.title
    assert "1,024 chips" in figure_of("batch-time").title


def test_memory_of_the_70b_run_is_counted_from_its_shape() -> None:
    """Inputs of layers; 12 bytes an entry of the table, two rows a token; a layer 5 times."""
    found = calculate(
        "memory",
        model="llama-3-70b",
        seq=8192,
        dp=512,
        zero=3,
        recompute="full",
        attention="flash",
        dropout="no",
    )
    assert float(found["activations"]) == 2 * LAYERS * 8192 * WIDTH
    assert float(found["logits"]) == 8192 * (12 * 128256 + 2 * 2 * WIDTH)
    layer = (PARAMS - 2 * 128256 * WIDTH) / LAYERS
    tables = 2 * 2 * 128256 * WIDTH
    assert float(found["gathered"]) == pytest.approx(tables + 5 * 2 * layer, rel=1e-4)
    said = text_of("fsdp")
    assert "| On each GPU | How it is counted | Bytes |" in said
    assert "when all shards are in" not in said


def test_both_blocks_are_explained_before_the_degree_is_limited() -> None:
    """The limit of a whole layer counts the projections of attention."""
    said = text_of("tensor-parallelism")
    assert said.index("## Attention, cut by heads") < said.index("## Which TP degree?")
    port, peak = 450e9, 989.4e12
    exchange = 7 / 8 * 2 * 4096 * WIDTH / port
    of_feed_forward = 2 * 4096 * WIDTH * 2 * 28672 / 8 / peak
    of_attention = 2 * 4096 * WIDTH * (WIDTH + 2048) / 8 / peak
    assert of_feed_forward > exchange > of_attention
    row = next(
        line
        for line in rendered("handbook/tensor-parallelism.md").splitlines()
        if line.startswith("| attention | 3 exchanges")
    )
    left = re.sub(r"<[^>]+>", "", row).split("|")[5]
    assert f"{1e6 * (exchange - of_attention):.2f}" in left


def test_three_chips_hold_an_8b_with_its_loss_and_two_do_not() -> None:
    """States, activations with the loss, and the two tables, added up in the example."""
    total, width, vocab = 8_030_261_248, 4096, 128256
    at_loss = 32 * 8192 * width * 2 + 8192 * (12 * vocab + 2 * 2 * width)
    sums = [16 * total / chips + at_loss + 2 * 2 * vocab * width for chips in (2, 3)]
    assert sums[0] > 80e9 > sums[1]
    rows = rendered("handbook/transformers.md").splitlines()
    row = next(line for line in rows if line.strip().startswith("| sum |"))
    shown = re.findall(r"([\d.]+)\s?GB", re.sub(r"<[^>]+>", "", row))
    assert [float(number) * 1e9 for number in shown] == pytest.approx(sums, rel=1e-3)


def test_the_wait_of_a_bucket_is_named_and_given_for_both_clusters() -> None:
    said = text_of("data-parallelism")
    assert said.index("waits a time $\\tau$") < said.index("$m \\tau$")
    assert "(tau8 * 1e6)" in said and "(tau64 * 1e6)" in said


SPLITS = {(4, 1): 9745.8, (2, 2): 6495.0, (1, 4): 6283.8}  # tokens per second and GPU, published


@pytest.mark.parametrize(("sharded", "cut"), SPLITS)
def test_measured_splits_stand_beside_the_count_of_their_exchanges(sharded: int, cut: int) -> None:
    """Three of four passes have exchanges, each Y - 1 over the limit of the whole layer."""
    limit = (6 * 14_336 + 4 * 4_096 + 4 * 1_024) / 8 * 450e9 / 989.4e12
    counted = 1 + 3 / 4 * (cut - 1) / limit
    took = SPLITS[4, 1] / SPLITS[sharded, cut]
    row = next(
        line
        for line in rendered("handbook/mixed-parallelism.md").splitlines()
        if line.startswith(f"| {sharded} | {cut} |")
    )
    *_, shown, formula = (float(cell) for cell in re.findall(r"\| ([\d.]+)(?= \|)", row))
    assert (shown, formula) == pytest.approx((took, counted), abs=0.006)
    assert took >= counted


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_replicas_shorten_the_wait_below_the_limit_and_do_not_lower_it(share: float) -> None:
    """Times over the forward pass at the limit; the cards carry three passes, or two backward."""
    sharded = max(share, 1) + max(2 * share, 2)
    replicated = share + max(2 * share, 2)
    assert sharded - 3 * share == pytest.approx(1.5 * (replicated - 3 * share))
    assert replicated > 3 * share, "from the same batch on nothing is waited for"
    text = text_of("mixed-parallelism")
    assert "two passes instead of three" in text and "Keep replicas" not in text
