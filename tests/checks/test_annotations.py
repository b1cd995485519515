"""Annotations with and without a figure: told apart, counted, and printed by lint."""

from __future__ import annotations

import pytest

from flopbook.checks.annotations import FigureShare, figure_share, gives_figure, without_figure
from flopbook.checks.lint import annotation_share
from flopbook.data.library import references
from tests.support.samples import World, bib


@pytest.mark.parametrize(
    "annotation",
    [
        "Runs 1.3 times as fast as cuDNN on a B200.",
        "Reviews 598 references.",
        "Trains a model of 8B parameters on eight H100.",
        "Loses 5 \\% against Llama 2.",
        "Answers in half the time.",
        "Ten times the throughput of its rival.",
    ],
)
def test_a_quantity_in_digits_or_in_words_is_a_figure(annotation: str) -> None:
    assert gives_figure(annotation)


@pytest.mark.parametrize(
    "annotation",
    [
        "Faster than FlashAttention-2 on an H100, in FP8.",
        "The report on the models after Llama 3; read section 4 and Table 2 of it.",
        "What was thought in 2014 of kernels by hand on an RTX 4090.",
        "Two ideas on one page.",
    ],
)
def test_names_years_and_places_in_a_work_are_no_figures(annotation: str) -> None:
    assert not gives_figure(annotation)


def test_only_papers_are_counted() -> None:
    works = list(references().values())
    share = figure_share(works)
    papers = [work for work in works if work.kind == "paper"]
    assert share.total == len(papers)
    assert share.with_figure == len(papers) - len(without_figure(works))
    assert share.none_printed == sum(bool(work.nofigure) for work in papers)
    assert share.with_figure + share.none_printed + share.not_yet_read == share.total


def test_the_share_is_one_line() -> None:
    text = (
        "1,150 of 1,500 annotations of papers give a figure (76.7 %); "
        "250 were read and print none, 100 are not yet read"
    )
    assert str(FigureShare(1150, 250, 1500)) == text


def test_a_paper_that_prints_none_is_not_one_that_nobody_read(world: World) -> None:
    paper = {"type": None, "archiveprefix": "arXiv", "annote": "Sorts what others did."}
    read = bib("doe2026b", eprint="2601.01234", nofigure="2026-11-22", **paper)
    world.write("bibliography/more.bib", read + bib("doe2026c", eprint="2601.01235", **paper))
    assert annotation_share() == FigureShare(with_figure=0, none_printed=1, total=2)
    assert FigureShare(0, 1, 2).not_yet_read == 1


def test_a_library_that_cannot_be_read_has_no_share(world: World) -> None:
    world.write("bibliography/all.bib", "@misc{")
    assert annotation_share() is None
    paper = bib(type=None, eprint="2601.01234", annote="Half the time.")
    world.write("bibliography/all.bib", paper)
    assert annotation_share() == FigureShare(with_figure=1, none_printed=0, total=1)
