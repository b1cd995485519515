"""Parts of decoding, prefill and serving on paper: a model of 1,000 weights, a chip of ten bytes a
second (pope2023efficiently, sections 3 and 4).
"""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.formulas import inference_parts as parts
from flopbook.formulas import requests
from flopbook.formulas.deployment import sequences_that_fit
from flopbook.formulas.prompts import reading_step, reading_work
from flopbook.quantities.ops import inf

near = pytest.approx


@pytest.mark.parametrize(
    ("given", "replicas", "degree"),
    [
        ({}, 1, 1),
        ({"tp": 4}, 1, 4),
        ({"tp": 4, "dp": 3}, 3, 4),
        ({"chips": 12}, 1, 12),
        ({"chips": 12, "tp": 4}, 3, 4),
        ({"chips": 12, "dp": 4}, 4, 3),
        ({"chips": 12, "ep": 4}, 4, 3),
        ({"ep": 4}, 4, 1),
        ({"ep": 4, "tp": 2}, 4, 2),
        ({"ep": 4, "tp": 2, "chips": 16}, 8, 2),
        ({"chips": 1, "tp": 1}, 1, 1),
    ],
)
def test_a_layout_is_filled_in(given: dict[str, float], replicas: float, degree: float) -> None:
    assert parts.layout(**given) == {"replicas": replicas, "degree": degree}


def test_bytes_of_a_sequence() -> None:
    found = parts.cache_of_a_sequence(
        kept=30, kept_on_chip=10, kept_state=5, kept_state_on_chip=3, bytes_per_kv=2,
        bytes_per_state=4,
    )  # fmt: skip
    assert found == {"sequence_bytes": 80, "sequence_states": 20, "sequence_on_chip": 32}


SIZES: dict[str, Any] = {"params": 1000, "d_model": 7, "vocab": 11}


@pytest.mark.parametrize(
    ("options", "lookup", "routed"),
    [
        ({"compute_params": 923}, 77, 0),
        ({"compute_params": 1000, "tied_embeddings": "yes"}, 0, 0),
        ({"compute_params": 1000, "d_model": inf}, 0, 0),
        ({"compute_params": 902, "positions": "learned", "context": 3}, 98, 0),
        ({"compute_params": 923, "positions": "learned"}, 77, 0),
        ({"compute_params": 923, "context": 3}, 77, 0),
        # 323 unmet are those of three of five experts.
        ({"compute_params": 600, "experts": 5, "experts_per_token": 2}, 77, 323 * 5 / 3),
        ({"compute_params": 600, "experts": 2, "experts_per_token": 1}, 77, 646),
        ({"compute_params": 950, "experts": 5, "experts_per_token": 2}, 77, 0),
        ({"compute_params": 100, "experts": 5, "experts_per_token": 4}, 77, 923),
    ],
)
def test_weights_of_routed_experts(options: dict[str, Any], lookup: float, routed: float) -> None:
    found = parts.routed_weights(**{**SIZES, **options})
    assert (found["lookup"], found["routed"]) == (lookup, near(routed))


READ: dict[str, Any] = {
    **{"params": 1000, "bandwidth": 10, "lookup": 100, "routed": 500, "step_tokens": 8},
    **{"replicas": 1, "degree": 1, "experts": 5, "experts_per_token": 2},
}


def test_weights_that_a_step_reads() -> None:
    """400 always; of the experts what eight tokens leave untouched, (3/5)^8, is not read."""
    assert parts.weights_read(**READ)["weight_seconds"] == near(2 * (400 + 500 * (1 - 0.6**8)) / 10)
    cut = parts.weights_read(**{**READ, "degree": 4, "bytes_per_param": 1})
    assert cut["weight_seconds"] == near((400 + 500 * (1 - 0.6**8)) / 4 / 10)
    spread = parts.weights_read(**{**READ, "replicas": 4, "ep": 2})
    assert spread["weight_seconds"] == near(2 * (400 + 500 * (1 - 0.6**4) / 2) / 10)


STEP: dict[str, Any] = {
    **{"compute_params": 600, "peak": 100, "bandwidth": 10, "step_tokens": 8, "replicas": 2},
    **{"degree": 3, "weight_seconds": 20, "read_on_chip": 5, "moved_state_on_chip": 1},
    **{"token_work": 300},
}


def test_a_step_is_products_and_then_attention() -> None:
    """9,600 operations at 600 a second; four sequences of 2 x 5 + 4 bytes; scores of 4,800."""
    found = parts.decoding_step(**STEP)
    assert found["compute_seconds"] == near(16)
    assert found["kv_seconds"] == near(4 * 14 / 10)
    assert (found["products"], found["attention"]) == (20, near(8))
    assert found["step"] == near(28)
    fast = parts.decoding_step(**{**STEP, "peak": 1000, "bytes_per_kv": 4, "bytes_per_state": 8})
    assert (fast["products"], fast["attention"]) == (20, near(4 * 28 / 10))
    slow = parts.decoding_step(**{**STEP, "peak": 10})
    assert slow["step"] == near(160 + 80)


def test_the_peak_that_is_enough() -> None:
    """Reading takes 20 + 5.6 s, a tenth more 28.16; 1,600 operations of a chip, and 800."""
    assert parts.decoding_step(**STEP)["enough_peak"] == near(800 / 8.16)
    few = parts.decoding_step(**{**STEP, "token_work": 3})
    assert few["enough_peak"] == near(1600 / 22.56)
    both = parts.decoding_step(**{**STEP, "token_work": 230})
    assert both["enough_peak"] == near((1600 + 8 * 230 * 2 / 6) / 28.16)


SENT: dict[str, Any] = {
    **{"layers": 10, "step_tokens": 8, "replicas": 2, "degree": 4, "d_model": 7},
    **{"link_bandwidth": 10, "bytes_per_activation": 2},
}


def sent(**options: Any) -> float:
    return float(parts.messages(**{**SENT, **options})["message_seconds"])


def test_two_all_reduces_of_a_layer() -> None:
    """Four tokens of 7 values in two bytes, twice but for a quarter that a chip has."""
    assert sent() == near(10 * 2 * 2 * 0.75 * 28 * 2 / 10)
    assert sent(degree=1) == sent(d_model=inf) == 0
    assert sent(link_bandwidth=inf) == 0
    assert sent(bytes_per_activation=1) == near(sent() / 2)


def test_all_reduces_beyond_a_domain() -> None:
    """Two domains of two chips: half of the tokens once more, divided over both chips of each."""
    near_part = 10 * 2 * 2 * 0.75 * 28 * 2
    far_part = 10 * 2 * 2 * 0.5 * 28 / 2 * 2
    found = sent(chips_per_node=2, scaleout_bandwidth=1)
    assert found == near(near_part / 10 + far_part)
    assert sent(chips_per_node=2) == near((near_part + far_part) / 10)
    assert sent(chips_per_node=4, scaleout_bandwidth=1) == near(near_part / 10)
    four = sent(chips_per_node=1, scaleout_bandwidth=1)
    assert four == near(near_part / 10 + 10 * 2 * 2 * 0.75 * 28 * 2)
    three = sent(chips_per_node=3, scaleout_bandwidth=1)
    assert three == near(near_part / 10 + 10 * 2 * 2 * 0.5 * 28 / 3 * 2)


def test_tokens_on_their_way_to_experts() -> None:
    """Three copies of a token's 7 values, in 1 + 2 bytes there and back, but for those at home."""
    experts = {"experts_per_token": 3, "bytes_per_dispatch": 1, "degree": 1, "replicas": 4, "ep": 2}
    copies = 3 * 2 * 7 * 3
    assert sent(**experts) == near(10 * copies / 2 / 10)
    assert sent(**experts, expert_layers=4) == near(4 * copies / 2 / 10)
    assert sent(**experts, expert_layers=99) == near(10 * copies / 2 / 10)
    assert sent(**{**experts, "ep": 1}) == 0
    far = {"chips_per_node": 2, "scaleout_bandwidth": 1}
    assert sent(**experts, **far) == near(10 * copies / 2 / 10)
    # Of four ranks in two domains half of the copies leave, and a quarter stays in the domain.
    wide = sent(**{**experts, "ep": 4}, **far)
    assert wide == near(10 * copies * (0.25 / 10 + 0.5))
    alone = sent(**experts, chips_per_node=1, scaleout_bandwidth=1)
    assert alone == near(10 * copies * 0.5)
    cut = sent(**{**experts, "degree": 2, "d_model": 7})
    assert cut == near(10 * (2 * 2 * 0.5 * 2 * 7 * 2 + copies / 2 / 2) / 10)


def test_a_tuned_engine_takes_longer() -> None:
    found = parts.expected_step(
        layers=10, step=8, message_seconds=3, bandwidth_share=0.8, layer_overhead=0.1
    )
    assert found["likely"] == near(10 + 1 + 3)
    assert parts.memory_room(memory=100, memory_share=0.9)["room"] == near(90)


FIT: dict[str, Any] = {
    **{"params": 1000, "routed": 0, "replicas": 1, "degree": 1, "cut_heads": 4, "sequences": 10},
    **{"sequence_bytes": 50, "sequence_states": 0, "sequence_on_chip": 50, "room": 700},
}


def fit(**options: Any) -> dict[str, Any]:
    return parts.fit(**{**FIT, **options})


def test_what_lies_on_a_chip() -> None:
    """2,000 bytes of weights and 500 of caches; of experts each rank has a part."""
    found = fit()
    assert (found["weight_bytes"], found["chip_bytes"], found["free"]) == (2000, 2500, -1800)
    cut = fit(degree=2, replicas=5, routed=400, ep=4, bytes_per_param=1)
    assert cut["weight_bytes"] == 600 / 2 + 400 / 8
    assert cut["chip_bytes"] == 350 + 10 * 50 / 5
    assert cut["free"] == 250


def least(weights: float, cache: float, room: float, heads: int, sequences: int) -> float:
    """Chips of a dense model whose part of weights and cache is in the room, by trial.

    Each replica holds all weights; a cache is cut up to the heads.
    """
    return min(
        (
            degree * replicas
            for replicas in range(1, sequences + 1)
            for degree in range(1, 60)
            if weights / degree + cache / replicas / min(degree, heads) <= room
        ),
        default=inf,
    )


@pytest.mark.parametrize("heads", [1, 2, 4, 8])
@pytest.mark.parametrize("room", [350, 700, 1000, 1900, 2500, 6000])
@pytest.mark.parametrize("each", [1, 50, 300])
def test_the_least_number_of_chips(heads: int, room: int, each: int) -> None:
    """A search finds no more, and no less than two thirds: wide replicas are tried at one width."""
    found = fit(cut_heads=heads, room=room, sequence_bytes=each)["fewest_chips"]
    tried = least(2000, 10 * each, room, heads, 10)
    assert 2 / 3 * found <= tried <= found
    if found <= heads or tried <= heads:
        assert found == tried


@pytest.mark.parametrize(
    ("options", "chips"),
    [
        ({}, 4),
        ({"room": 2500}, 1),
        ({"room": 2499}, 2),
        # One head: the cache stays whole on each of as many chips as hold the weights beside it.
        ({"cut_heads": 1}, 10),
        # Of 350 bytes a sequence takes 300: ten replicas of forty chips each.
        ({"cut_heads": 1, "room": 350, "sequence_bytes": 300}, 400),
        ({"cut_heads": 1, "sequences": 1, "sequence_on_chip": 50}, 4),
        ({"cut_heads": 1, "sequences": 1, "sequence_bytes": 699}, 2000),
        ({"cut_heads": 1, "sequences": 1, "sequence_bytes": 700}, inf),
        # States are cut over all chips, as weights are.
        ({"cut_heads": 1, "sequences": 1, "sequence_bytes": 699, "sequence_states": 699}, 4),
    ],
)
def test_chips_that_are_needed(options: dict[str, Any], chips: float) -> None:
    assert fit(**options)["fewest_chips"] == chips


FITS: dict[str, Any] = {
    **{"params": 1000, "memory": 3000, "sequence_on_chip": 60, "routed": 0, "replicas": 1},
    **{"degree": 1, "bytes_per_param": 2},
}


def test_sequences_beside_the_weights() -> None:
    """1,000 bytes are free: sixteen of sixty each."""
    found = sequences_that_fit(**FITS)
    assert (found["batch_fits"], found["batch_runs"], found["sequences"]) == (16, 16, 16)
    assert (found["room"], found["weights_of_chip"], found["step_tokens"]) == (3000, 2000, 16)
    asked = sequences_that_fit(**FITS, batch=5)
    assert (asked["batch_runs"], asked["step_tokens"], asked["sequences"]) == (5, 5, 5)
    many = sequences_that_fit(**FITS, batch=50)
    assert (many["batch_runs"], many["sequences"]) == (16, 50)
    four = sequences_that_fit(**{**FITS, "replicas": 4, "degree": 2, "routed": 500, "ep": 4})
    assert four["weights_of_chip"] == 500 + 125
    assert four["batch_fits"] == 4 * 39
    none = sequences_that_fit(**FITS, memory_share=0.5)
    assert (none["batch_fits"], none["step_tokens"], none["sequences"]) == (0, 1, 1)
    assert sequences_that_fit(**{**FITS, "replicas": 3}, memory_share=0.5)["sequences"] == 3
    exact = sequences_that_fit(**{**FITS, "memory": 2060})
    assert exact["batch_fits"] == 1


PROMPT: dict[str, Any] = {
    **{"params": 1000, "compute_params": 600, "seq": 40, "peak": 1000, "bandwidth": 10},
    **{"degree": 2, "lookup": 77, "routed": 500, "score_work": 3000, "sequence_on_chip": 80},
    **{"read_tokens": 10, "d_model": 7, "vocab": 11, "experts": 5, "experts_per_token": 2},
}


def prompt(**options: Any) -> float:
    return float(requests.prompt_time(**{**PROMPT, **options})["one_prompt"])


def test_a_prompt_is_read_by_one_replica() -> None:
    """The head, 77 weights, works on the last of ten tokens; 20 bytes of cache are written."""
    weights = 2 * (423 / 2 + 500 * (1 - 0.6**10) / 2) / 10
    scores = max(2 * 3000 / 2000, 80 / 4 / 10)
    assert prompt() == near(weights + scores)
    assert prompt(ep=2) == near(2 * (423 / 2 + 500 * (1 - 0.6**20) / 4) / 10 + scores)
    slow = prompt(peak=10)
    assert slow == near(2 * (10 * 523 + 77) / 20 + 2 * 3000 / 20)
    assert prompt(peak=10, vocab=0) == near(2 * 10 * 600 / 20 + 300)
    assert prompt(peak=10, d_model=inf) == near(2 * 10 * 600 / 20 + 300)
    assert prompt(peak=10, vocab=1) == near(2 * (10 * 593 + 7) / 20 + 300)
    assert prompt(peak=1e9) == near(weights + 2)


def test_a_tuned_engine_takes_longer_to_read() -> None:
    """Messages of a prompt are those of a step, in proportion to the tokens of a replica."""
    found = requests.expected_prompt(
        layers=10, one_prompt=4, read_tokens=30, message_seconds=2, step_tokens=8, replicas=4,
        prompt_share=0.5, layer_overhead=0.1,
    )  # fmt: skip
    assert found["likely_prompt"] == near(8 + 1 + 2 * 30 * 4 / 8)
    assert requests.prompt_is_read()["read_tokens"] == 1
    assert requests.prompt_is_read(prompt_tokens=7)["read_tokens"] == 7
    rule = requests.prompts_fit_the_context.function
    assert rule(40, 40) and rule(inf, 40) and not rule(41, 40)


READING: dict[str, Any] = {
    **{"compute_params": 600, "seq": 10, "peak": 100, "bandwidth": 10, "replicas": 2},
    **{"degree": 3, "score_work": 900, "sequence_on_chip": 80, "weight_seconds": 20},
    **{"batch": 4, "d_model": 7, "vocab": 11},
}


def test_prompts_are_products_and_then_attention() -> None:
    """Four prompts of ten tokens on six chips of 100 operations a second."""
    found = reading_step(**READING)
    assert found["prompt_arithmetic"] == near(2 * 4 * (10 * 523 + 77) / 600)
    assert found["prompt_attention"] == near(max(2 * 900 * 4 / 600, 4 * 80 / 20))
    assert found["prompt_products"] == near(2 * 4 * 5307 / 600)
    assert found["prompt_seconds"] == near(2 * 4 * 5307 / 600 + 16)
    slow = reading_step(**{**READING, "score_work": 9000, "weight_seconds": 200})
    assert (slow["prompt_products"], slow["prompt_attention"]) == (200, near(120))
    for open_head in ({"vocab": 0}, {"d_model": inf}):
        whole = reading_step(**{**READING, **open_head})
        assert whole["prompt_arithmetic"] == near(2 * 4 * 6000 / 600)
    one = reading_step(**{**READING, "vocab": 1})
    assert one["prompt_arithmetic"] == near(2 * 4 * (10 * 593 + 7) / 600)
    assert reading_work(seq=10, batch=4) == {"step_tokens": 40, "sequences": 4}
