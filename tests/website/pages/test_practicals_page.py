"""Practicals: what a notebook says of itself, its chapters, and names that are no notebook."""

from __future__ import annotations

import json
import re

import pytest

from scripts.website.pages.chapter import Chapter, chapter_of, framed
from scripts.website.pages.practicals import (
    Practical,
    closing,
    name_problems,
    practical_of,
    practicals_page,
)

HEAD = (
    "---\ntitle: Rooflines\ndescription: When a chip waits.\norder: 30\n"
    "practicals: [{}]\n---\n\n# Rooflines\n"
)
KNOWN = {
    name: Practical(name, title, f"You will see {name}.", executed)
    for name, title, executed in (
        ("intensity", "Intensity: how much?", True),
        ("min-batch", "Minimum *batch*", False),
        ("alone", "Alone", True),
    )
}
FIRST = Chapter("handbook/roofline.md", "Rooflines", "", 30, ("intensity", "min-batch"))
SECOND = Chapter("handbook/batch.md", "Batches & tokens", "", 70, ("min-batch",))


def notebook(*cells: tuple[str, str], **metadata: object) -> str:
    """A notebook as JSON."""
    made = [{"cell_type": kind, "source": source} for kind, source in cells]
    return json.dumps({"cells": made, "metadata": metadata})


def test_a_notebook_says_what_it_shows() -> None:
    """Its heading, the paragraph below it on one line, and that it was run."""
    text = (
        "# Dot product: what is done?\n\nYou will run\na program.\n\n"
        "To follow along: ...\n\n## Set up\n"
    )
    found = practical_of(
        "dot-product", notebook(("markdown", text), ("code", "1"), flopbook={"executed": True})
    )
    assert found == (
        "dot-product",
        "Dot product: what is done?",
        "You will run a program.",
        True,
        "",
    )
    assert found.page == "notebooks/dot-product.ipynb"


def test_a_notebook_that_says_little_is_listed_all_the_same() -> None:
    """Not run; opened by code; or without a heading."""
    assert practical_of("n", notebook(("code", "# not a heading"), ("markdown", "# T"))) == (
        "n",
        "T",
        "",
        False,
        "",
    )
    assert practical_of("n", notebook()).title == "n"


def test_a_chapter_names_its_practicals() -> None:
    named = chapter_of(HEAD.format("intensity, min-batch"), "handbook/roofline.md")
    assert named is not None and named.practicals == ("intensity", "min-batch")
    without = chapter_of(HEAD.replace("practicals: [{}]\n", ""), "handbook/roofline.md")
    assert without is not None and without.practicals == ()


@pytest.mark.parametrize(
    "names", ["", "intensity", "intensity, min-batch", " intensity ,min-batch "]
)
def test_names_of_notebooks_are_no_problem(names: str) -> None:
    assert name_problems(HEAD.format(names), "docs/handbook/roofline.md", KNOWN) == []
    assert name_problems("# No head\n\npracticals: [nothing]\n", "docs/index.md", KNOWN) == []


def test_an_unknown_name_is_told_with_its_place_and_what_is_near() -> None:
    """Each of them, in the line and column where it stands."""
    problems = name_problems(
        HEAD.format("intensty, min-batch, zzz"), "docs/handbook/roofline.md", KNOWN
    )
    assert [(one.line, one.column) for one in problems] == [(5, 14), (5, 35)]
    line = str(problems[0])
    assert line.startswith(
        "docs/handbook/roofline.md:5:14: practicals: found unknown practical 'intensty'; nearest: "
    )
    assert "intensity" in line and "\n" not in line
    source = HEAD.format("intensty, min-batch, zzz").splitlines()
    assert [
        source[one.line - 1][one.column - 1 :].split(",")[0].rstrip("]") for one in problems
    ] == ["intensty", "zzz"]


@pytest.mark.parametrize("written", ["intensity", "[intensity", "{intensity}", "[a/../b]", "[<b>]"])
def test_what_is_no_list_is_told(written: str) -> None:
    head = HEAD.replace("[{}]", written)
    (problem,) = name_problems(head, "docs/handbook/roofline.md", KNOWN)
    assert problem.line == 5 and written in problem.found and "[min-batch]" in problem.mend


def test_a_chapter_ends_with_its_practicals() -> None:
    """As one more item of its last list, before the BibTeX.

    A chapter without any ends as it was written.
    """
    line = closing(FIRST, KNOWN)
    assert line == (
        "- To run yourself: [Intensity: how much?](../notebooks/intensity.ipynb), "
        "[Minimum &#42;batch&#42;](../notebooks/min-batch.ipynb)."
    )
    text = framed("# R\n\n## Where to go on\n\n- A book.\n", FIRST, 1, 2, line)
    assert f"- A book.\n{line}\n\n" in text and text.index(line) < text.index(
        "BibTeX of this chapter"
    )
    assert closing(FIRST._replace(practicals=()), KNOWN) == ""
    assert framed("# R\n\nEnd.\n", FIRST, 1, 2) == framed("# R\n\nEnd.\n", FIRST, 1, 2, "")


def test_the_page_lists_every_practical_once_by_its_first_chapter() -> None:
    text = practicals_page(list(KNOWN.values()), [FIRST, SECOND])
    assert re.findall(r"^### \[.*\]\((.*)\)$", text, re.M) == [
        "intensity.ipynb",
        "min-batch.ipynb",
        "alone.ipynb",
    ]
    heads = re.findall(r"^## (.*)$", text, re.M)
    assert heads == ["[Rooflines](../handbook/roofline.md)", "Others"]
    for name, one in KNOWN.items():
        assert (
            f'<a href="{name}/{name}.ipynb" download>' in text.replace("&#45;", "-")
            and one.summary in text
        )


def test_the_page_says_times_and_further_chapters() -> None:
    text = practicals_page(list(KNOWN.values()), [FIRST, SECOND])
    items = {part.partition("]")[0]: part for part in text.split("### [")[1:]}
    assert (
        ">executed · " in items["Intensity: how much?"]
        and "also in" not in items["Intensity: how much?"]
    )
    batch = next(part for title, part in items.items() if title.startswith("Minimum"))
    assert (
        ">executed" not in batch
        and 'also in <a href="../handbook/batch/">Batches &amp; tokens</a>' in batch
    )


def test_the_page_says_what_a_practical_needs_and_whether_it_was_run() -> None:
    head = {"extra": "jax", "executed": True}
    one, other = (
        practical_of(name, notebook(("markdown", f"# {name}"), flopbook=head))
        for name in ("one", "other")
    )
    text = practicals_page([one, other._replace(executed=False)], [])
    first, second = text.split("### [")[1:]
    assert (
        '<p class="fb-note">executed · needs JAX · <a' in first
        and "not executed here · needs JAX · <a" in second
    )


def test_markup_in_a_title_is_text() -> None:
    bad = Practical("bad", "<script>alert(1)</script> [x](y)", "<img src=x onerror=y>", True)
    text = practicals_page([bad], [FIRST._replace(practicals=("bad",), title="<b>")])
    assert "<script" not in text and "<img" not in text and "<b>" not in text


def test_code_in_a_summary_is_code_and_nothing_in_it_is_markup() -> None:
    one = Practical("a", "A", "You will call `fully_shard`. <b>x</b>", True, "torch")
    text = practicals_page([one], [])
    assert "`fully_shard`" in text and "<b>" not in text
    assert "needs PyTorch" in text
