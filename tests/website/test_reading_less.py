"""What a step reads of a cache of which attention reads a part: the formula and the calculator."""

from __future__ import annotations

import pytest

from flopbook.evaluation.calculator import calculate
from tests.website.test_exercise_answers import agrees, numbers_of
from tests.website.test_handbook_errors import text_of

LATENT, KEY, CHOSEN = 576, 128, 2048


def read(tokens: int) -> float:
    """Bytes of a layer at one byte for each number."""
    return KEY * tokens + LATENT * min(tokens, CHOSEN)


@pytest.mark.parametrize("tokens", [1024, 8192, 65_536])
def test_an_indexer_and_what_it_chooses_are_read(tokens: int) -> None:
    usual = {"chip": "h200-sxm", "dtype": "fp8", "tp": 1, "dp": 8, "ep": 8, "batch": 64}
    full, chosen = (
        calculate("decode", model=model, seq=tokens, **usual)["kv_seconds"]
        for model in ("deepseek-v3", "deepseek-v3.2")
    )
    assert chosen / full == pytest.approx(read(tokens) / (LATENT * tokens), rel=1e-6)
    assert r"128 \, S + 576 \min(S, 2048)" in text_of("inference")


def test_the_cache_grows_by_the_small_keys() -> None:
    plain, keyed = (
        calculate("kv-cache", model=model, seq=65_536, dtype="fp8")["bytes"]
        for model in ("deepseek-v3", "deepseek-v3.2")
    )
    assert keyed / plain == pytest.approx(1 + KEY / LATENT)


def test_the_exercise_on_an_indexer_follows_from_what_it_prints() -> None:
    half = LATENT * CHOSEN / (LATENT / 2 - KEY)
    assert read(round(half)) == pytest.approx(LATENT * half / 2, rel=1e-3)
    shown = numbers_of("inference", "A model with an indexer")
    least = 100 * KEY / LATENT
    for value in (half, 100 * read(131_072) / (LATENT * 131_072), least):
        assert agrees(value, shown)
