"""Settings, symptoms, authors and part numbers are found, by Python and by the page alike."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scripts.website.build.search_cards import DOCS, record
from scripts.website.build.search_parts import ordered_as
from scripts.website.build.search_ranking import search
from scripts.website.build.search_settings import kindred, settings
from scripts.website.build.search_symptoms import symptoms
from tests.support.cases import every
from tests.support.engineer_questions import ENGINEERS
from tests.support.questions import PLACES
from tests.support.searching import SEARCHES, cards

pytestmark = SEARCHES

# What no chapter says: a size of run by which a table is found, and another word for waiting.
MISSED = {"scales badly from 64 to 512 gpus", "checkpoint saving blocks training"}
TABLE = """
# A chapter

## When it breaks {#broken}

| Symptom | Look at |
| --- | --- |
| slow on {{ 512 | unit("1") }} chips | the [network](networks.md), `NCCL_DEBUG` |

### Stuck

**It hangs.** Some rank is late ({{ cite("gu2026ccl") }}). Dump the stacks.
"""
_RANKED = """([script, cards, questions]) => {
  new Function(script)();
  const index = JSON.parse(cards);
  const shown = ({location, title, kind}) => [location, title, kind];
  return JSON.parse(questions).map((one) => flopbookSearch(one, index).map(shown));
}"""


def _first(question: str) -> list[str]:
    return [hit.location for hit in search(question, cards())[:PLACES]]


@every("question", [question for question in ENGINEERS if question not in MISSED])
def test_an_engineer_finds_the_answer_among_the_first_three(question: str) -> None:
    found = _first(question)
    assert any(place.startswith(ENGINEERS[question]) for place in found), found


def test_symptoms_are_read_from_tables_and_from_paragraphs() -> None:
    row, paragraph = symptoms(TABLE)
    assert row == ("Slow on 512 chips", "The network, NCCL_DEBUG", "broken")
    assert paragraph == ("It hangs", "Some rank is late.", "stuck")


def test_every_symptom_leads_to_a_section_of_its_chapter() -> None:
    listed = [row for row in cards().cards if row[2] == "symptoms"]
    assert len(listed) >= 28
    for location, title, _, causes in listed:
        page, _, anchor = location.partition("/#")
        headings = (DOCS / f"{page}.md").read_text(encoding="utf-8").lower()
        assert anchor.split("-")[0] in headings
        assert title and causes and not {"{", "|", "`"} & set(title + causes), (title, causes)


def test_a_symptom_does_not_hide_a_page_behind_its_own_chapter() -> None:
    """A chapter comes once, for itself or for its symptom."""
    found = [place.partition("#")[0] for place in _first("CUDA out of memory in the first step")]
    assert len(set(found)) == len(found)


@every(
    "question, parts",
    (
        ("num_microbatches", ["num", "microbatches"]),
        ("set --zero-stage 3", ["zero", "stage"]),
        ("all-to-all of pre-training", []),
    ),
)
def test_a_setting_is_told_from_words_with_hyphens(question: str, parts: list[str]) -> None:
    assert [said for said, _, _ in settings(question)] == ([parts] if parts else [])


def test_a_setting_of_another_framework_is_answered_by_those_that_say_as_much() -> None:
    tokens = ["=numppmicrobatches", "=maxnumseqs", "number"]
    assert kindred(["num", "microbatches"], tokens) == ["=numppmicrobatches"]
    assert kindred(["num", "seqs"], tokens) == []


def test_a_setting_that_no_page_names_leads_to_the_pages_about_settings() -> None:
    """Its first part is the name of a library, which says nothing of the site."""
    assert "handbook/from-plan-to-flags/" in _first("XYZQ_OVERLAP_THING")


@every("question", ("berkeley vllm", "stanford flash attention", "vaswani transformer google"))
def test_a_university_asks_for_the_work_that_the_rest_names(question: str) -> None:
    assert _first(question)[0].startswith("references/")


@every("entry_id", ("intel/gaudi-3-pcie", "nvidia/h100-sxm", "rebellions/atom-max"))
def test_part_numbers_and_offers_find_their_chip(entry_id: str) -> None:
    for name in ordered_as(entry_id):
        assert _first(name)[0] == f"accelerators/{entry_id}/", name


def test_a_part_of_a_part_number_is_no_word_of_its_chip() -> None:
    """NDR of ND128isr_NDR_GB200_v6 is a network, and that chip has not more of it than others."""
    assert "accelerators/nvidia/gb200-gpu/" not in _first("infiniband ndr 400")


@pytest.mark.browser
def test_the_page_ranks_these_as_python(surf: Any) -> None:
    script = (DOCS / "assets/flopbook/search/ranking.js").read_text(encoding="utf-8")
    questions = [*ENGINEERS, "XYZQ_OVERLAP_THING", "--zero-stage", "mfu formula", "mit license"]
    questions += ["berkeley", "nd96isr_h100_v5", "h100 vs mi300x", "max_num_seqs", "_ __a_b__ -- -"]

    def ranked(context: Any) -> Any:
        tab = context.new_page()
        tab.goto("about:blank")
        return tab.evaluate(_RANKED, [script, record(), json.dumps(questions)])

    for question, found in zip(questions, surf(ranked), strict=True):
        own = [[hit.location, hit.title, hit.kind] for hit in search(question, cards())]
        assert found == own, question
