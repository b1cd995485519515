"""The search finds what people expect among the first three, tried without a built site."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from scripts.website.build.search_cards import DOCS, introduced, words
from scripts.website.build.search_ranking import corrected, search
from scripts.website.build.search_text import atoms, is_near, stem
from tests.support.blind_questions import BLIND
from tests.support.cases import every
from tests.support.fresh_questions import FRESH
from tests.support.newcomer_questions import NEWCOMERS
from tests.support.practitioner_questions import PRACTITIONERS
from tests.support.questions import PLACES, QUESTIONS
from tests.support.searching import SEARCHES, cards
from tests.support.second_questions import SECOND
from tests.support.stranger_questions import STRANGERS
from tests.support.typed_questions import TYPED
from tests.support.visitor_questions import VISITORS
from tests.support.walked_questions import WALKED

pytestmark = SEARCHES

ASKED = {
    **QUESTIONS,
    **TYPED,
    **NEWCOMERS,
    **BLIND,
    **STRANGERS,
    **VISITORS,
    **FRESH,
    **PRACTITIONERS,
    **SECOND,
    **WALKED,
}
STEMS = (
    ("sharding", "sharded", "shards", "shard"),
    ("quantization", "quantisation", "quantized", "quantised"),
    ("pipelines", "pipelining", "pipeline"),
    ("batches", "batching", "batch"),
    ("fitting", "fits", "fit"),
    ("optimizers", "optimisers", "optimizer"),
    ("memories", "memory"),
    ("costs", "cost"),
)
NEAR = (
    ("pipeline", "pipline", True),
    ("pipeline", "piepline", True),
    ("cerebras", "cerebrass", True),
    ("roofline", "rooflime", True),
    ("roofline", "bottom", False),
    ("memory", "model", False),
)


@every("question", ASKED)
def test_a_question_finds_its_answer_among_the_first_three(question: str) -> None:
    found = [hit.location for hit in search(question, cards())[:PLACES]]
    assert any(place.startswith(ASKED[question]) for place in found), found


def test_a_notebook_is_found_by_its_title_and_by_what_it_runs_with() -> None:
    practicals = [row for row in cards().cards if row[2] == "notebooks"]
    assert len(practicals) > 15
    for location, title, _, text in practicals:
        found = [hit.location for hit in search(f"{title} notebook", cards())[:PLACES]]
        assert location in found and text.startswith("You will"), (title, found)


@every("option", ("--sequence-parallel", "tensor_parallel_degree", "reshard_after_forward"))
def test_an_option_is_found_on_the_page_that_tells_of_it(option: str) -> None:
    """Its words alone are those of half the chapters."""
    first = search(option, cards())[0].location
    assert option in (DOCS / f"{first.removesuffix('/')}.md").read_text(encoding="utf-8")


@every("question, model", (("llama 70b", "llama-3-70b"), ("qwen 32b", "qwen-3-32b")))
def test_a_model_without_its_generation_is_the_newest(question: str, model: str) -> None:
    (first, *_) = search(f"kv cache of {question}", cards())
    assert first.location == f"calculators/kv-cache/?model={model}"


COUNTS = (
    ("llama 70b on 64 h100 memory", "64"),
    ("llama 70b 8xh100", "8"),
    ("llama 70b on 8 x NVIDIA H100", "8"),
    ("train llama 3 70b on 1,024 H100s", "1024"),
    ("llama 70b h100 x16", "16"),
    ("llama 70b on 512 gpus", "512"),
    ("llama 70b on a single gpu", "1"),
)


@every("question, count", COUNTS)
def test_a_count_of_chips_is_carried_into_what_plans(question: str, count: str) -> None:
    places = [hit.location for hit in search(question, cards())]
    carried = [place for place in places if place.startswith(("planner/", "serve/"))]
    assert carried and all(f"&chips={count}" in place for place in carried)


@every("question", ("llama 3 h100", "llama 70b h100", "qwen 3 h100 memory", "0 h100", "gpt 3 a100"))
def test_what_is_no_count_of_chips_is_not_carried(question: str) -> None:
    assert not any("chips=" in hit.location for hit in search(question, cards()))


def test_every_calculator_takes_the_state_that_its_link_carries() -> None:
    """Its command takes the same names; what else it asks for is no matter of the search."""
    takes = cards().words["takes"]
    takers = [place for place in takes["chips"] if place.startswith("calculators/")]
    assert len(takers) > 10
    for place in takers:
        name = place.split("/")[1]
        options = {"model": "llama-3-70b", "chip": "h100-sxm", "chips": "64"}
        given = {key: value for key, value in options.items() if place in takes[key]}
        try:
            calculate(name, **given)
        except FlopbookError as error:
            assert "--chips" not in str(error) and "unknown" not in str(error), (name, error)


def test_what_a_work_is_known_for_finds_it() -> None:
    """Who asks for the inventor of a thing gets the work that introduced it, first."""
    for key, things in introduced().items():
        (first, *_) = search(f"who invented {things[0]}", cards())
        assert first.location.endswith(f"#{key}"), (key, first)


NICKNAMES = (
    ("vllm paper", "kwon2023efficient"),
    ("chinchilla paper", "hoffmann2022training"),
    ("megatron paper", "shoeybi2019megatron"),
)


@every("question, key", NICKNAMES)
def test_a_paper_is_found_by_its_nickname(question: str, key: str) -> None:
    """A nickname and nothing else names one work; with other words it asks for many."""
    assert search(question, cards())[0].location.endswith(f"#{key}")
    assert not search(f"{question}s on amd", cards())[0].location.endswith(f"#{key}")


@every("question", ("dataloader bottleneck", "loss spike", "nvlink sharp", "garbage collection"))
def test_what_no_title_says_is_found_in_a_chapter_that_speaks_of_it(question: str) -> None:
    found = [hit.location for hit in search(question, cards())[:PLACES]]
    assert any(place.startswith("handbook/") for place in found), found


DIES = {
    "GH100": "h100",
    "gh100 specs": "h100",
    "GA100": "a100",
    "GV100": "v100",
    "TU104": "t4",
    "AD102": "l40",
    "GB202": "rtx-5090",
    "Navi 31": "radeon-",
    "navi31": "radeon-",
}


@every("question", DIES)
def test_a_die_finds_the_chips_that_carry_it(question: str) -> None:
    found = [hit.location.split("/")[2] for hit in search(question, cards())[:PLACES]]
    assert any(product.startswith(DIES[question]) for product in found), found


SLIPS = (
    ("interconect", "interconnect"),
    ("bandwith", "bandwidth"),
    ("activaton", "activ"),
    ("pipelnie", "pipelin"),
    ("bandwidth", "bandwidth"),
    ("zzyzx", "zzyzx"),
    ("h200", "h200"),
)


@every("typed, meant", SLIPS)
def test_a_slip_stands_for_the_commonest_word_that_is_meant(typed: str, meant: str) -> None:
    assert corrected(typed, cards()) == meant


def test_a_slip_is_answered_as_the_word_itself() -> None:
    for slip, word in (("bandwith of h200", "bandwidth of h200"), ("colectives", "collectives")):
        assert search(slip, cards())[0].location == search(word, cards())[0].location


@every("option", ("max_num_seqs", "tensor_parallel_size", "gpu_memory_utilization"))
def test_an_option_may_be_typed_with_blanks(option: str) -> None:
    apart = {hit.location for hit in search(option.replace("_", " "), cards())[:PLACES]}
    assert apart & {hit.location for hit in search(option, cards())[:PLACES]}


def test_half_of_a_question_is_not_asked_for_where_nothing_has_it() -> None:
    """A word that only strangers have hid the page that answers the rest."""
    assert search("checkpoint zzyzx interval", cards())
    assert search("optimal checkpoint frequency", cards())


@every("question", ("llama 3 8b on one a100", "which chip is the one to buy"))
def test_a_word_of_any_question_names_no_chip(question: str) -> None:
    """MatX sells a chip that is called One."""
    assert "one" not in cards().chips
    assert not any("matx" in hit.location for hit in search(question, cards()))


def test_words_of_the_search_are_words() -> None:
    """YAML reads on and no as truth values where nothing quotes them."""
    for name in ("stop", "asks", "facts", "fillers", "lists", "opens", "serves", "units"):
        assert all(isinstance(word, str) for word in words()[name]), name


@every("question", ("transistor count b200", "b200 transistors"))
def test_a_figure_is_asked_for_in_singular_and_plural(question: str) -> None:
    assert search(question, cards())[0].location == "accelerators/nvidia/b200/"


@every("forms", STEMS)
def test_forms_of_a_word_are_one(forms: tuple[str, ...]) -> None:
    endings = words()["endings"]
    assert len({stem(form, endings) for form in forms}) == 1


@every("a, b, near", NEAR)
def test_one_slip_of_the_finger_is_forgiven(a: str, b: str, near: bool) -> None:
    assert is_near(a, b) is near
    assert is_near(b, a) is near


@pytest.mark.parametrize("question", ["fsdp", "H100 vs MI300X", "kv cache llama 70b"])
def test_case_blanks_and_marks_do_not_matter(question: str) -> None:
    plain = search(question, cards())
    for other in (question.upper(), f"  {question}? ", question.replace(" ", "  ")):
        assert search(other, cards()) == plain


@pytest.mark.parametrize("question", ["", " ", "?", "__proto__", "constructor", "<b>", "x" * 5000])
def test_a_hostile_question_finds_nothing_and_breaks_nothing(question: str) -> None:
    assert isinstance(search(question, cards()), list)


def test_any_words_are_answered() -> None:
    """Words drawn from the index in any order give hits in falling order of their score."""
    rng = random.Random("flopbook search")
    known = [token for token in cards().tokens if token[0] != "#"]
    for _ in range(40):
        hits = search(" ".join(rng.sample(known, rng.randint(1, 4))), cards())
        own = [hit.score for hit in hits if hit.kind != "comparison"]
        assert own == sorted(own, reverse=True)
        assert all(0 < hit.covered <= 1 + 1e-9 for hit in hits)


def test_every_card_has_a_kind_with_a_label() -> None:
    kinds = words()["kinds"]
    assert {row[2] for row in cards().cards} <= set(kinds)
    assert all(kind["label"] and kind["boost"] > 0 for kind in kinds.values())


def test_the_words_speak_of_pages_that_exist() -> None:
    locations = {row[0] for row in cards().cards}
    assert set(words()["pages"]) <= locations
    assert set(cards().models.values()) >= {"llama-3-70b", "deepseek-v3"}


def test_each_title_finds_its_own_page() -> None:
    """Who types the title of a chapter or a calculator finds it among the first three."""
    for location, title, kind, _ in cards().cards:
        if kind in ("handbook", "calculators", "vendors"):
            found = [hit.location.partition("?")[0] for hit in search(title, cards())[:PLACES]]
            assert location in found, (title, found)


def test_a_question_is_cut_where_nobody_reads_on() -> None:
    assert atoms("Zero-3, and 1.5 TB/s") == ["zero", "3", "and", "1.5", "tb", "s"]
    assert search("fsdp " * 500, cards())


def test_the_cards_are_the_same_bytes_whatever_the_order_of_sets() -> None:
    """Words of a card came in the order of a set, which a process draws anew."""
    program = "from scripts.website.build.search_cards import record; print(record())"
    printed = {
        subprocess.run(
            [sys.executable, "-c", program],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(printed) == 1


# What one asks -> a page that has to be among the first three; each was answered by others.
OWED = {
    "list of amd accelerators": "accelerators/amd/",
    "nvidia gpus": "accelerators/nvidia/",
    "google tpus": "accelerators/google/",
    "why is decoding slow": "handbook/inference/",
    "what is a gpu cluster made of": "handbook/networks/",
}


@pytest.mark.parametrize("question", OWED)
def test_plain_questions_find_what_they_ask_for(question: str) -> None:
    found = [hit.location for hit in search(question, cards())[:PLACES]]
    assert OWED[question] in found
