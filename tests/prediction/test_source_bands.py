"""Bands are made from sources that were left out, and hold sources that nobody has seen yet."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.data.measured_runs import run_files
from flopbook.prediction.bands import BAND_OF_STRANGERS, band_of
from flopbook.prediction.catalogue import MODELS
from flopbook.prediction.fits import cases_of
from flopbook.prediction.fitted import Fitted, fitted_kinds
from flopbook.prediction.serving import LOADED, SHOWN, STATIC
from scripts.fit_bands import LeftOut, covered, trait_bands, widening

NINTH_DECILE = 1.2816  # of the normal distribution


def left_out(*groups: list[float]) -> LeftOut:
    """Sizes of errors by group, as logarithms."""
    names = tuple(f"source {place}" for place, group in enumerate(groups) for _ in group)
    return LeftOut(names, np.expm1(np.array([size for group in groups for size in group])))


@pytest.mark.parametrize(
    ("groups", "quantile"), [(1, 3.078), (2, 1.886), (3, 1.638), (6, 1.440), (27, 1.314)]
)
def test_few_sources_widen_a_band_as_student_has_it(groups: int, quantile: float) -> None:
    """Student's t at 90 percent from printed tables, over the normal distribution's."""
    assert widening(groups) == pytest.approx(quantile / NINTH_DECILE, rel=1e-3)


def test_a_group_counts_as_much_as_another_however_many_rows_it_has() -> None:
    few = left_out([0.1] * 5, [0.2] * 5, [0.3] * 5)
    many = left_out([0.1] * 50, [0.2] * 5, [0.3] * 5)
    assert few.band == many.band == pytest.approx(math.exp(0.3 * widening(3)), abs=1e-4)


GROUPS = st.lists(st.lists(st.floats(0, 2), min_size=1, max_size=9), min_size=1, max_size=9)


@given(GROUPS)
def test_a_band_holds_four_fifths_of_what_it_is_made_from(groups: list[list[float]]) -> None:
    factor = left_out(*groups).band
    held = [np.mean(np.exp(rows) <= factor + 1e-4) for rows in groups]
    assert factor >= 1 and np.mean(held) >= 0.8 - 1e-9


@pytest.mark.parametrize("is_heavy", [False, True])
@pytest.mark.parametrize("sources", [3, 6, 27])
def test_a_band_holds_sources_that_nobody_has_seen(sources: int, is_heavy: bool) -> None:
    """Sources that lie off as far as their rows scatter; with heavy tails as with light ones."""
    rng = np.random.default_rng(1)

    def draw(count: int) -> np.ndarray:
        return rng.standard_t(3, count) if is_heavy else rng.standard_normal(count)

    def source() -> list[float]:
        return list(np.abs(0.1 * (draw(1) + draw(int(rng.integers(2, 25))))))

    held = []
    for _ in range(300):
        factor = left_out(*(source() for _ in range(sources))).band
        held += [np.mean(np.exp(source()) <= factor) for _ in range(5)]
    assert 0.78 <= np.mean(held) <= 0.88


@given(GROUPS, st.floats(0, 1))
def test_sources_of_other_kinds_never_narrow_a_band(
    groups: list[list[float]], apart: float
) -> None:
    own = left_out(*groups)
    assert own.band <= own.band_beside(apart) <= own.band_beside(2 * apart)


def test_few_sources_that_agree_are_believed_less_than_many() -> None:
    few, many = (left_out(*[[0.05]] * count) for count in (3, 30))
    assert few.band_beside(0.15) > 1.5 * few.band - 0.5 > many.band
    assert few.band_beside(0.15) > many.band_beside(0.15) > many.band


def test_one_source_holds_in_the_middle_with_others_beside_it() -> None:
    """Kinds whose sources lie as far apart as each other: bands of three hold what they promise."""
    rng = np.random.default_rng(3)
    held = []
    for _ in range(400):
        drawn = np.abs(0.15 * rng.standard_normal(8))
        factor = left_out(*([size] for size in drawn[:3])).band_beside(0.15 * NINTH_DECILE)
        held.append(np.mean(np.exp(drawn[3:]) <= factor))
    assert 0.8 <= np.mean(held) <= 0.9


def test_a_quantity_that_no_sound_row_has_gets_the_band_of_all_its_rows() -> None:
    """How many sequences a loaded server holds is in no row, so that none of them is complete."""
    known = fitted_kinds()["inference"]
    loaded, fixed = (SHOWN[task] for task in (LOADED, STATIC))
    assert loaded.quantity == fixed.quantity and loaded.band
    assert known.bands[loaded.band] > known.bands[fixed.quantity]


def test_without_sources_nothing_is_out_of_the_question() -> None:
    assert LeftOut((), np.array([])).band == math.inf


def test_traits_with_values_enough_have_a_band() -> None:
    chips, formats = left_out([0.1] * 5, [0.2] * 5, [0.3] * 5), left_out([0.5] * 5, [0.1] * 5)
    bands = trait_bands({"chip": chips, "format": formats}, usual=1.1)
    assert bands["unlike in chip"] == chips.band and "unlike in format" not in bands
    assert bands[BAND_OF_STRANGERS] == pytest.approx(1.1 * chips.band, abs=1e-4)
    assert trait_bands({"format": formats}) == {}


def test_a_left_out_source_is_held_by_the_bands_of_the_others() -> None:
    """A source that lies far off widens the band of the others and not its own."""
    model = MODELS["p2p_bandwidth"]
    cases = cases_of(model, run_files().values(), use="fit").cases
    errors = LeftOut(tuple(case.row.id for case in cases), np.expm1(np.array([0.01, 0.01, 0.5])))

    def bands(chosen: Any) -> dict[str, Any]:
        return {"bands": {"": errors.where(chosen).band}, "seen": {}, "usual_strangeness": 0}

    assert covered(model, cases, errors, bands) == {"rows": 3, "held": 2}


def test_a_quantity_of_few_runs_has_the_band_of_its_kind() -> None:
    known = Fitted({}, {"": 1.2, "decode": 1.1, BAND_OF_STRANGERS: 3.0}, {}, {}, {}, {})
    assert band_of(known, "decode") == 1.1 and band_of(known, "prefill") == 1.2
