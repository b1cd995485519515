"""The measured curve of a server: its points are runs on file, and what is said of it holds."""

from __future__ import annotations

import itertools

import pytest

from flopbook.data.measured_runs import run_files
from flopbook.errors import FlopbookError
from scripts.website.figures.serving_measured import FILE, LOADS, RUN, ServedLoad, figure, served
from scripts.website.pages.published import published
from tests.support.cases import every

LONG_ANSWERS = LOADS[1]


@every("load", LOADS)
def test_a_load_is_one_mix_of_lengths_with_more_and_more_at_once(load: ServedLoad) -> None:
    rows = {row.id: row for row in run_files()[FILE].rows}
    runs = [rows[RUN + name] for name in load.runs]
    assert [run.at_once for run in served(load)] == sorted(run.at_once for run in served(load))
    for place, run in enumerate(served(load)):
        assert f"at most {run.at_once} at once" in runs[place].note
        assert runs[place].hardware["n_chips"] == 8
    lengths = [(run.run["input_len_tokens"], run.run["output_len_tokens"]) for run in runs]
    for one, other in itertools.pairwise(lengths):
        assert one == pytest.approx(other, rel=0.25)


@every("load", LOADS)
def test_more_at_once_write_more_and_wait_longer(load: ServedLoad) -> None:
    runs = served(load)
    assert [run.rate for run in runs] == sorted(run.rate for run in runs)
    assert [run.pace for run in runs] == sorted(run.pace for run in runs)


def test_the_title_says_the_ratios_of_long_answers() -> None:
    one, _, many = served(LONG_ANSWERS)
    title = figure().title
    assert f"{many.rate / one.rate:.0f} times the tokens" in title
    assert f"{many.pace / one.pace:.1f} times as long" in title


def test_the_pace_bends_as_experts_are_visited() -> None:
    """A line through the ends passes below the middle: a mixture reads more from the first on."""
    one, some, many = served(LONG_ANSWERS)
    share = (some.at_once - one.at_once) / (many.at_once - one.at_once)
    assert some.pace > 1.1 * (one.pace + share * (many.pace - one.pace))


def test_littles_law_gives_the_requests_inside() -> None:
    """The answer of the exercise is the batch that the row states by another way."""
    run = published(RUN + "496-509-16")
    stay = float(run.first()) + 508 * float(run.pace())
    assert float(run.rate) / 509 * stay == pytest.approx(14, abs=0.2)


def test_a_run_without_waits_is_named() -> None:
    name = "mlperf61-nvidia-gb300-nvl72-gb300-288gb-aarch64x72-trt-dsr1-server"
    with pytest.raises(FlopbookError, match=f"run {name} has no ms_per_token"):
        published(name).pace()
