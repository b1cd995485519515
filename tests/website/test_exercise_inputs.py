"""What an exercise asks for can be worked out from what it prints.

Each question here once left a number to another chapter or to its own answer.
"""

from __future__ import annotations

import math

import pytest

from tests.website.test_exercise_answers import agrees, exercises_of, numbers_of

ASKED = [
    ("roofline", "A dot product of a billion", (133.8,)),
    ("transformers", "At which sequence length is full", (405.9, 126, 128)),
    ("fsdp", "On how many chips, at least", (405.9,)),
    ("tensor-parallelism", "Which TP degree does the feed-forward", (989.4, 450, 53248)),
    ("tensor-parallelism", "Llama 3 70B generates text for", (141.1, 3.35, 14.66, 80)),
    ("mixed-parallelism", "What is $X_", (256, 28672, 2199)),
    ("fsdp", "A node has eight", (2.25, 900, 50)),
    ("networks", "An expert group of", (64, 16, 900, 50)),
    ("pipeline-parallelism", "The run of the worked example moves", (2048, 8, 512)),
    ("why-compute", "You expect 5 trillion tokens", (98, 1.8, 4.5, 11)),
    ("why-compute", "A model of 70", (70, 15, 16, 8192, 200000, 30)),
    ("computer", "A core has a cycle", (0.25, 4, 2, 8)),
    ("accelerators", "All-to-all on a closed", (4, 100)),
    ("sharded-matrices", "Two axes at once", (8192, 459, 100)),
    ("context-parallelism", "Latents travel", (576, 32832, 50, 989.4, 128, 192)),
]
WRITTEN = 16 * 8192 * 200_000
ANSWERED = [
    ("why-compute", "A model of 70", (WRITTEN, 7.6, 7.6 * 70e9 * WRITTEN, 6.3e24, 45e12)),
    ("computer", "A core has a cycle", (4 * 2, 2 * 8, 0.25e-9 / 16, 8 * 16 / 0.25e-9)),
    ("accelerators", "All-to-all on a closed", (32 * 100e9, 100e9, 200e9)),
    (
        "sharded-matrices",
        "Two axes at once",
        (8192**2 / 2, 8192**2 * 0.375 / 200e9, 8192**2 * 0.75 / 200e9, 8192**3 / 8 / 459e12),
    ),
    (
        "context-parallelism",
        "Latents travel",
        (576 * 989.4e12 / (128 * 320 * 50e9), 32832 * 989.4e12 / (128 * 320 * 50e9)),
    ),
]


@pytest.mark.parametrize(("chapter", "opening", "inputs"), ASKED)
def test_a_question_prints_what_its_answer_starts_from(
    chapter: str, opening: str, inputs: tuple[float, ...]
) -> None:
    found = [text for text in exercises_of(chapter).values() if text.startswith(opening)]
    question = found[0].partition("??? success")[0].replace(",", "")
    for number in inputs:
        assert f"{number:g}" in question, (number, question)


@pytest.mark.parametrize(("chapter", "opening", "values"), ANSWERED)
def test_an_answer_follows_from_what_its_question_prints(
    chapter: str, opening: str, values: tuple[float, ...]
) -> None:
    shown = numbers_of(chapter, opening)
    for value in values:
        assert agrees(value, shown), (value, sorted(shown))


def test_the_length_where_attention_equals_the_rest_follows_from_the_question() -> None:
    """N = 2 L H d T."""
    shown = numbers_of("transformers", "At which sequence length is full")
    assert agrees(405.9e9 / (2 * 126 * 128 * 128), shown)


def test_a_split_at_one_switch_follows_from_the_question() -> None:
    """The square root of B N over 1.5 F, and 4 alpha squared over 1.5 F."""
    shown = numbers_of("mixed-parallelism", "What is $X_")
    assert agrees(math.sqrt(1e6 * 256 / (1.5 * 28672)), shown)
    assert agrees(4 * 2199**2 / (1.5 * 28672), shown)


def smaller(part: int) -> tuple[float, float, float, float]:
    """Parameters, tokens, training compute and break-even tokens at a part of the best size.

    From the constants, the budget and the formulas that the chapter prints, in plain Python.
    """
    floor, few, short, by_size, by_text = 1.8172, 482.01, 2085.43, 0.3478, 0.3658
    product = 1024 * 30 * 86400 * 989.4e12 * 0.4 / 6
    best = (by_size * few / (by_text * short)) ** (1 / (by_size + by_text))
    best *= product ** (by_text / (by_size + by_text))
    loss = floor + few / best**by_size + short / (product / best) ** by_text
    params = best / part
    left = loss - floor - few / params**by_size
    if left <= 0:
        return params, math.inf, math.inf, math.inf
    tokens = (short / left) ** (1 / by_text)
    more = params * tokens - product
    pays = 3 * more / (best - params) if part > 1 else 0.0
    return params, tokens, params * tokens / product, pays


def test_smaller_models_cost_more_training_and_then_none_is_possible() -> None:
    """The table of the chapter, and its wall at an eighth of the size."""
    rows = [smaller(part) for part in (2, 3, 4)]
    assert [round(row[2], 2) for row in rows] == [1.26, 2.09, 4.47]
    assert [float(f"{row[1]:.2g}") for row in rows] == [4.5e12, 11e12, 32e12]
    assert [float(f"{row[3]:.2g}") for row in rows] == [2.8e12, 8.8e12, 25e12]
    assert smaller(8)[1] == math.inf


def test_at_five_trillion_tokens_in_use_half_the_size_is_cheapest() -> None:
    shown = numbers_of("why-compute", "You expect 5 trillion tokens")
    params, tokens = smaller(1)[:2]
    bills = [6 * params * tokens + 2 * params * 5e12]
    for part in (2, 3):
        size, text = smaller(part)[:2]
        bills.append(6 * size * text + 2 * size * 5e12)
    assert min(bills) == bills[1]
    assert all(agrees(bill, shown, 0.03) for bill in bills)


def test_chunks_save_most_of_a_bubble_with_few_micro_batches() -> None:
    """32 replicas of 64 chips, 16 micro-batches for each."""
    shown = numbers_of("pipeline-parallelism", "The run of the worked example moves")
    batches = 512 / (2048 / 64)
    assert agrees(100 * 7 / (batches + 7), shown)
    assert agrees(100 * 1.4 / (batches + 1.4), shown)


def test_cards_of_a_node_together_have_to_be_as_fast_as_one_port() -> None:
    shown = numbers_of("fsdp", "A node has eight")
    peak, inside, card = 2.25e15, 900e9, 50e9
    for value in (peak / inside, peak / (8 * card), inside / 8):
        assert agrees(value, shown, 0.001)


def test_an_exchange_over_nodes_waits_for_what_leaves_them() -> None:
    """63 parts of 64 through a port of the rack, 56 through a card of the node."""
    shown = numbers_of("networks", "An expert group of")
    rack, nodes = 16e6 * 63 / 64 / 900e9, 16e6 * 56 / 64 / 50e9
    assert agrees(rack, shown, 0.001) and agrees(nodes, shown, 0.001)
    assert round(nodes / rack) == 16
