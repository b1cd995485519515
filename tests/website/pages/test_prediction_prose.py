"""What chapters say of a prediction is what the prediction says."""

from __future__ import annotations

import html
import math
import statistics

import pytest

from flopbook.errors import FlopbookError, UnknownName
from flopbook.prediction import asking
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.parameters import PRIORS
from flopbook.prediction.validation import Comparison
from flopbook.quantities.units import percent
from scripts.website.figures import figure_of
from scripts.website.measured.ablation import ablation
from scripts.website.pages.planned import terminal
from scripts.website.pages.predicted import CHECK, FIT, sound_lines
from scripts.website.pages.prediction_prose import (
    GROUPS,
    KIND,
    PredictionProse,
    middle_lines,
)

ASKED = {"model": "llama-3-70b", "chip": "h100-sxm", "chips": 512}
PROSE = PredictionProse()


def test_a_predicted_step_in_prose_is_that_of_the_command() -> None:
    found = asking.predict({name: str(option) for name, option in ASKED.items()})
    step = PROSE(**ASKED)
    assert (step["seconds"], step["low"], step["mfu"]) == (found.seconds, found.low, found.mfu)
    assert step["seconds"].unit == "s" and step["mfu"].unit == "1"
    assert step.part(*found.parts) == pytest.approx(found.seconds)
    assert step.inferred() == ", ".join(found.inferred)
    assert step.parts().count("<tr>") >= 5 or step.parts().count("|") > 10
    for ask in (lambda: step["second"], lambda: step.part("bubbles"), lambda: PROSE.fitted("x")):
        with pytest.raises(UnknownName):
            ask()


def test_counts_and_errors_are_those_of_the_files() -> None:
    assert PROSE.count() == f"{len(PRIORS)}" and PROSE.rows() == f"{ablation().rows}"
    assert PROSE.whole("median") == round(100 * ablation().added[-1].median)
    assert PROSE.added("bare") > PROSE.added("share") > PROSE.whole("median")
    means = [PROSE.worst_error(place) for place in range(3)]
    assert means == sorted(means, reverse=True)
    medians = [line.median for line in ablation().left_out]
    costliest = [PROSE.worst_error(place, "median") for place in range(3)]
    assert costliest == [round(100 * size) for size in sorted(medians, reverse=True)[:3]]
    assert means[0] == max(PROSE.without(line.name) for line in ablation().left_out)
    assert PROSE.band() == fitted_kinds()[KIND].bands["throughput"]
    assert PROSE.aged() == fitted_kinds()[KIND].years["throughput"] >= 1
    assert 0 < PROSE.quartile(0) < PROSE.quartile(1) < 100


def test_a_table_of_parameters_has_priors_with_their_range() -> None:
    text = str(PROSE.parameters("matrix_hopper", "half_tokens"))
    prior = PRIORS["matrix_hopper"]
    assert prior.meaning in text and "RIDGE" not in text and "200 FLOP/byte" in text
    assert f"{prior.start * math.exp(prior.spread):.2g}" in text


def test_groups_share_out_all_rows_in_pairs() -> None:
    for use in (FIT, CHECK):
        lines = sound_lines(KIND, use)
        sizes = [sum(map(told, lines)) for told in GROUPS.values()]
        assert all(sum(pair) == len(lines) for pair in zip(sizes[::2], sizes[1::2], strict=True))
    assert str(PROSE.groups()).count("%") >= 3 * len(GROUPS)


def test_a_published_run_is_shown_as_it_was_measured() -> None:
    line = sound_lines(KIND, CHECK)[0]
    run = PROSE.row(line.case.row.id)
    assert run.measured == line.case.measured and run.error == round(100 * line.error)
    assert run.chips == line.case.row.hardware["n_chips"]
    with pytest.raises(UnknownName):
        PROSE.row("no-such-run")


def test_a_run_that_was_measured_in_seconds_says_seconds() -> None:
    """A decoding step is a time; read as a rate it would be a hundredth of a token per second."""
    step = PROSE.row("gptfast-llama-2-7b-bf16-tp1").measured
    assert "ms" in str(step) and "token" not in str(step)
    assert 1 / step == pytest.approx(104.9, rel=0.01)
    assert "token" in str(PROSE.row("trt11-llama-3-70b-h100-tp2-1000-1000").measured)


def test_the_picture_has_a_mark_for_each_error_on_both_sheets() -> None:
    drawn = figure_of("prediction-ablation")
    marks = 2 * (len(ablation().added) + len(ablation().left_out))
    assert "".join(drawn.parts).count("<circle") == marks
    assert drawn.narrow is not None and "".join(drawn.narrow.parts).count("<circle") == marks
    assert all(line.label in drawn.description for line in ablation().added)


def test_what_a_terminal_prints_can_end_early() -> None:
    line = "flopbook predict --model llama-3-8b --chip h100-sxm --chips 64"
    short = terminal(line, until="parts of the step")
    assert "throughput" in short and "products" not in short and "..." in short
    assert "products" in terminal(line)
    with pytest.raises(FlopbookError, match="prints no line"):
        terminal(line, until="parts of the sky")


def test_the_run_in_the_middle_of_a_publication_is_not_picked_for_its_error() -> None:
    """As many of its runs are nearer as are farther, and none of them was fitted."""
    unseen = sound_lines(KIND, CHECK)
    for line in middle_lines():
        errors = [abs(x.error) for x in unseen if x.case.row.publication == publication_of(line)]
        nearer = sum(error < abs(line.error) for error in errors)
        farther = sum(error > abs(line.error) for error in errors)
        assert len(errors) >= 5 and abs(nearer - farther) <= 1 + errors.count(abs(line.error))
        assert percent(line.error, signed=True) in html.unescape(PROSE.middle())
    assert len({publication_of(line) for line in middle_lines()}) == len(middle_lines()) >= 5


def publication_of(line: Comparison) -> str:
    return line.case.row.publication


def test_publications_differ_about_as_much_as_their_runs() -> None:
    errors: dict[str, list[float]] = {}
    for line in sound_lines(KIND, CHECK):
        errors.setdefault(publication_of(line), []).append(math.log1p(line.error))
    several = [found for found in errors.values() if len(found) >= 5]
    within = statistics.median(map(statistics.pstdev, several))
    between = statistics.pstdev(map(statistics.mean, several))
    assert between == pytest.approx(within, rel=0.4)
