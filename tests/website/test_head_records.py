"""What heads tell programs, without a built site: records of schema.org, feeds, titles of cards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flopbook.data.library import glossary
from scripts.website.build import heads
from scripts.website.build.heads import HOME, LICENCE, card_files, head_of
from scripts.website.markup import front_matter
from scripts.website.pages.accelerators import entry_page


def record(page: str, folder: Path, title: str = "T", words: str = "What it is.") -> dict[str, Any]:
    """The record of a page, empty for none."""
    text = head_of(page, title, words, folder).record
    return json.loads(text) if text else {}


@pytest.mark.parametrize("page", ["handbook/fsdp.md", "handbook/index.md", "calculators/memory.md"])
def test_chapters_and_calculators_are_articles(page: str, tmp_path: Path) -> None:
    assert record(page, tmp_path, "FSDP", "Shards.") == {
        "@context": "https://schema.org",
        "@type": "TechArticle",
        "headline": "FSDP",
        "description": "Shards.",
        "license": LICENCE,
    }


@pytest.mark.parametrize(
    "page",
    [
        *("data.md", "models.md", "accelerators/index.md", "reached.md", "claims.md"),
        entry_page("nvidia/h100-sxm"),
    ],
)
def test_data_pages_are_data_sets_that_anybody_may_use(page: str, tmp_path: Path) -> None:
    """With a description of the length that searches for data sets ask for, where it can be had."""
    found = record(page, tmp_path, "Models", "w" * 60)
    assert (found["@type"], found["license"]) == ("Dataset", LICENCE)
    assert found["isAccessibleForFree"] is True and found["name"] == "flopbook: Models"
    assert found["description"] == "w" * 60
    assert record(page, tmp_path, "Models", "short")["description"] == "Models. short"
    assert ("distribution" in found) == (page == "data.md")


def test_files_of_the_data_have_their_types(tmp_path: Path) -> None:
    files = record("data.md", tmp_path)["distribution"]
    kinds = {file["contentUrl"]: file["encodingFormat"] for file in files}
    assert kinds["../api/v1/flopbook.sqlite"] == "application/vnd.sqlite3"
    assert all(kind for kind in kinds.values()) and len(kinds) == len(files) >= 4


def test_the_glossary_is_a_set_of_all_its_terms(tmp_path: Path) -> None:
    found = record("glossary.md", tmp_path)
    assert found["@type"] == "DefinedTermSet"
    terms = {term["@id"]: term for term in found["hasDefinedTerm"]}
    assert set(terms) == {f"#{term.id}" for term in glossary()}
    for term in terms.values():
        assert term["@type"] == "DefinedTerm" and term["name"] and term["description"]


@pytest.mark.parametrize(
    "page",
    [
        *(HOME, "check.md", "references/roofline.md", "notebooks/x.ipynb"),
        *("accelerators/nvidia/index.md", "accelerators/trends.md"),
    ],
)
def test_other_pages_have_no_record(page: str, tmp_path: Path) -> None:
    assert record(page, tmp_path) == {}


def test_feeds_are_named_where_they_are(tmp_path: Path) -> None:
    """The feed of changes only where the history was there to make it from."""
    works = tmp_path / "references" / "feeds" / "works.atom"
    works.parent.mkdir(parents=True)
    works.touch()
    assert head_of(HOME, "t", "d", tmp_path).feeds == (
        ("references/feeds/works.atom", "flopbook: works"),
    )
    changes = tmp_path / "api" / "v1" / "changes.atom"
    changes.parent.mkdir(parents=True)
    changes.touch()
    for page in (HOME, "data.md", "errata.md", "references/index.md"):
        assert len(head_of(page, "t", "d", tmp_path).feeds) == 2
    assert head_of("handbook/fsdp.md", "t", "d", tmp_path).feeds == ()


def test_the_card_of_a_chip_says_what_it_is_and_its_first_figures() -> None:
    """Without its name again, which is the title; a year is no key figure of a picture."""
    page = entry_page("nvidia/h100-sxm")
    text = str(front_matter("NVIDIA H100", "NVIDIA H100: a GPU."))
    drawn: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(heads, "picture", lambda card, _: drawn.append(card))
        card_files({page: text})
    (card,) = drawn
    assert (card.kind, card.title) == ("Chip", "NVIDIA H100")
    assert not card.words.startswith("NVIDIA H100:")
    labels = [number.label for number in card.numbers]
    assert labels[:4] == ["Peak", "Memory", "Bandwidth", "Link, one way"]
    assert card.numbers[0].words == "989.4 TFLOP/s" and card.numbers[0].ramp == "flop"
    assert {number.ramp for number in card.numbers[1:4]} == {"byte"} and "Year" not in labels


def test_what_is_asked_like_a_calculator_has_a_picture_like_one() -> None:
    """A shared plan showed the picture of the first page."""
    drawn: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(heads, "picture", lambda card, _: drawn.append(card))
        text = str(front_matter("Will it train?", "Pick a model."))
        files = card_files(dict.fromkeys(("planner.md", "serve.md", "check.md", "errata.md"), text))
    assert list(files) == [f"assets/cards/{name}.png" for name in ("planner", "serve", "check")]
    assert {(card.kind, card.title) for card in drawn} == {("Calculator", "Will it train?")}


def test_a_page_without_front_matter_has_an_empty_card() -> None:
    drawn: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(heads, "picture", lambda card, _: drawn.append(card))
        card_files({HOME: "# Title only\n"})
    assert [(card.title, card.words, card.numbers) for card in drawn] == [("", "", ())]
