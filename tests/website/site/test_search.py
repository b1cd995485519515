"""The site's search finds what people look for, and costs nothing before it is used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flopbook.data.library import entry_ids, model_ids, references
from flopbook.formulas import CATALOGUE
from scripts.bench import pages as benchpages
from scripts.website.build.search_cards import index
from scripts.website.build.search_ranking import search
from scripts.website.build.searching import LONGEST, documents, write_search
from scripts.website.build.weigh import loaded
from tests.support.blind_questions import BLIND
from tests.support.fresh_questions import FRESH
from tests.support.newcomer_questions import NEWCOMERS
from tests.support.practitioner_questions import PRACTITIONERS
from tests.support.questions import QUESTIONS
from tests.support.second_questions import SECOND
from tests.support.stranger_questions import STRANGERS
from tests.support.typed_questions import TYPED
from tests.support.visitor_questions import VISITORS

# What is typed -> where one of the first places must lead: terms, chips, works, calculators,
# models, vendors, people.
FIRST = {
    "roofline": "handbook/roofline/",
    "all-gather": "handbook/sharded-matrices/",
    "reduce-scatter": "handbook/fsdp/",
    "arithmetic intensity": "calculators/arithmetic-intensity/",
    "tensor parallelism": "handbook/tensor-parallelism/",
    "pipeline bubble": "calculators/bubble/",
    "expert parallelism": "handbook/expert-and-context-parallelism/",
    "critical batch size": "handbook/batch/",
    "systolic array": "handbook/accelerators/",
    "ridge point": "calculators/ridge-point/",
    "speculative decoding": "calculators/speculative-decoding/",
    "ZeRO": "references/sharded-data-parallelism/",
    "H100": "accelerators/nvidia/h100-sxm/",
    "h100-sxm": "accelerators/nvidia/h100-sxm/",
    "TPU v5p": "accelerators/google/tpu-v5p/",
    "MI300X": "accelerators/amd/mi300x/",
    "B200": "accelerators/nvidia/b200/",
    "GB200": "accelerators/nvidia/gb200-nvl72/",
    "Trainium2": "accelerators/aws/trainium2/",
    "Cerebras": "accelerators/cerebras/",
    "NVIDIA": "accelerators/nvidia/",
    "attention is all you need": "references/introduction/#vaswani2017attention",
    "Vaswani": "references/introduction/#vaswani2017attention",
    "Williams roofline": "references/roofline/#williams2009roofline",
    "GPipe": "references/pipeline-parallelism/#huang2019gpipe",
    "Hoffmann 2022": "references/scaling-laws/#hoffmann2022training",
    "min-batch": "calculators/min-batch/",
    "minimum batch": "calculators/min-batch/",
    "KV cache": "calculators/kv-cache/",
    "training time": "calculators/training-time/",
    "cluster power": "calculators/cluster-power/",
    "collective": "calculators/collective/",
    "DeepSeek-V3": "models/#deepseek-v3",
    "Chinchilla": "models/#chinchilla-70b",
}
PLACES = 5
_SHOWN = """count => [...document.querySelectorAll(".md-search-result__item")]
  .slice(0, count).flatMap((item) =>
  [...item.querySelectorAll(":scope > .md-search-result__link")].map((link) => link.href))"""


def _type(tab: Any, text: str) -> None:
    """Type as people do: the theme listens to keys. Results of the last words may still stand."""
    field = tab.locator(".md-search__input")
    field.fill("")
    field.press("Backspace")
    field.fill(text[:-1])
    field.press(text[-1])
    tab.wait_for_function(
        "/\\d|^No/.test(document.querySelector('.md-search-result__meta').textContent.trim())"
    )


def _ask(tab: Any, text: str) -> None:
    """Type, and wait until the results are those of these words."""
    _type(tab, text)
    tab.wait_for_timeout(150)


def _asked(context: Any, address: str, text: str) -> Any:
    """A page whose search was opened by its key and has answered."""
    context.set_default_timeout(30_000)
    tab = context.new_page()
    tab.goto(address)
    tab.keyboard.press("s")
    _ask(tab, text)
    return tab


def _searched(context: Any, base: str) -> dict[str, list[str]]:
    context.set_default_timeout(30_000)
    tab = context.new_page()
    tab.goto(base + "handbook/batch/")
    tab.keyboard.press("/")
    found: dict[str, list[str]] = {}
    for text, wanted in FIRST.items():
        _type(tab, text)
        for _ in range(200):  # the answer to the last question may still stand there
            found[text] = [
                link.removeprefix(base).partition("?")[0] + _anchor(link)
                for link in tab.evaluate(_SHOWN, PLACES)
            ]
            if any(link.startswith(wanted) for link in found[text]):
                break
            tab.wait_for_timeout(50)
    return found


def _anchor(link: str) -> str:
    return "#" + link.partition("#")[2] if "?" in link and "#" in link else ""


@pytest.mark.browser
def test_terms_chips_works_and_calculators_are_among_the_first(surf: Any, base: str) -> None:
    found = surf(_searched, base)
    missed = {
        text: found[text]
        for text, wanted in FIRST.items()
        if not any(x.startswith(wanted) for x in found[text])
    }
    assert not missed


_RANKED = """async ([base, questions]) => {
  const script = await (await fetch(base + "assets/flopbook/search/ranking.js")).text();
  new Function(script)();
  const cards = await (await fetch(base + "search/cards.json")).json();
  const shown = ({location, title, kind}) => [location, title, kind];
  const ask = (question) => globalThis.flopbookSearch(question, cards).map(shown);
  return JSON.parse(questions).map(ask);
}"""


@pytest.mark.browser
def test_the_page_ranks_as_python(surf: Any, base: str) -> None:
    questions = [
        *QUESTIONS,
        *TYPED,
        *NEWCOMERS,
        *BLIND,
        *STRANGERS,
        *VISITORS,
        *FRESH,
        *PRACTITIONERS,
        *SECOND,
        "train llama 70b on 1,024 H100s",
        "llama 70b h100 x16",
        "llama 70b on 8 x NVIDIA H100",
        "llama 70b on a single gpu",
        "gpt 3 a100",
        "bandwith of h200",
        "activaton memory",
        *FIRST,
        "x",
        "of the",
        "__proto__",
        "zeor 3",
        "pipline",
    ]

    def ask(context: Any) -> list[Any]:
        tab = context.new_page()
        tab.goto(base + "404.html")
        found: list[Any] = tab.evaluate(_RANKED, [base, json.dumps(questions)])
        return found

    cards = index()
    expected = [[list(hit[:3]) for hit in search(question, cards)] for question in questions]
    assert surf(ask) == expected


@pytest.mark.browser
def test_questions_lead_to_calculators_and_comparisons(surf: Any, base: str) -> None:
    """The first result, as the page shows it, with its label."""
    questions = {
        "how much memory to train 70b": ("calculators/memory/?model=llama-3-70b", "Calculator"),
        "H100 vs MI300X": ("compare/h100-sxm-vs-mi300x/", "Comparison"),
        "zero-3": ("handbook/fsdp/", "Chapter"),
    }

    def ask(context: Any) -> dict[str, tuple[str, str]]:
        context.set_default_timeout(30_000)
        tab = context.new_page()
        tab.goto(base + "handbook/batch/")
        tab.keyboard.press("/")
        found = {}
        for question, (place, _) in questions.items():
            _type(tab, question)
            tab.wait_for_selector(f".md-search-result__item:first-child > a[href*='{place}']")
            label = tab.inner_text(".md-search-result__item .md-tag >> nth=0")
            found[question] = (tab.evaluate(_SHOWN, 1)[0].removeprefix(base), label)
        return found

    found = surf(ask)
    for question, (place, label) in questions.items():
        assert found[question][0].startswith(place) and found[question][1] == label, found


@pytest.mark.browser
def test_a_word_with_its_hyphen_finds_what_the_word_does(surf: Any, base: str) -> None:
    """On the way to "zero-3" the theme looked for any word at all: seven seconds, 625 documents.

    Asked on the page for what is missing, whose search had no address to load from.
    """

    def counts(context: Any) -> list[str]:
        tab = _asked(context, base + "404.html", "zero")
        shown = [tab.inner_text(".md-search-result__meta")]
        _ask(tab, "zero-")
        return [*shown, tab.inner_text(".md-search-result__meta")]

    plain, hyphened = surf(counts)
    assert plain == hyphened and "matching" in plain


@pytest.mark.browser
def test_a_result_opens_its_calculator_with_what_the_question_names(surf: Any, base: str) -> None:
    def follow(context: Any) -> list[str]:
        tab = _asked(context, base, "llama 70b on 64 h100 memory")
        tab.click('.md-search-result__link[href*="calculators/memory/"]')
        tab.wait_for_selector(".fb-answer > *")
        labels = ("Model", "Chip", "Number of chips")
        return [tab.get_by_label(label, exact=True).first.input_value() for label in labels]

    assert surf(follow) == ["llama-3-70b", "nvidia/h100-sxm", "64"]


@pytest.mark.browser
def test_a_result_leads_to_its_place(surf: Any, base: str) -> None:
    def follow(context: Any) -> tuple[str, bool]:
        tab = _asked(context, base, "GPipe")
        tab.click('.md-search-result__link[href*="huang2019gpipe"]')
        tab.wait_for_load_state()
        place = tab.locator("#huang2019gpipe")
        return tab.url.partition("#")[2], place.bounding_box()["y"] < 400

    assert surf(follow) == ("huang2019gpipe", True)


@pytest.mark.browser
def test_nothing_is_loaded_before_somebody_searches_and_what_finds_nothing_says_so(
    surf: Any, base: str
) -> None:
    before = surf(loaded, base, "handbook/batch/")
    assert not [url for url in before if "documents.json" in url or "workers/" in url]

    def nothing(context: Any) -> str:
        context.set_default_timeout(30_000)
        tab = context.new_page()
        tab.goto(base)
        tab.keyboard.press("/")
        tab.wait_for_selector(".md-search-result__meta:has-text('Type to start')")
        empty = tab.inner_text(".md-search-result__meta")
        _ask(tab, "zzyzx")
        return f"{empty} / {tab.inner_text('.md-search-result__meta')}"

    assert surf(nothing) == "Type to start searching / No matching documents"


@pytest.mark.browser
def test_without_javascript_there_is_no_search_that_does_nothing(surf: Any, base: str) -> None:
    def shown(context: Any) -> bool:
        tab = context.new_page()
        tab.goto(base)
        return tab.locator(".md-search__input").is_visible()

    assert surf(shown, java_script_enabled=False) is False


def test_every_work_chip_model_calculator_and_chapter_has_a_document(site: Path) -> None:
    places = {one["location"] for one in _index(site)}
    wanted = [f"accelerators/{name}/" for name in entry_ids()] + [
        f"calculators/{name}/" for name in CATALOGUE
    ]
    wanted += [f"models/#{name}" for name in model_ids()]
    assert set(wanted) <= places
    keys = {place.partition("#")[2] for place in places if place.startswith("references/")}
    assert {key for key, item in references().items() if item.is_work} <= keys


def test_every_document_leads_to_a_place_that_exists(site: Path) -> None:
    pages: dict[str, str] = {}
    for one in _index(site):
        page, _, anchor = one["location"].partition("#")
        text = pages.setdefault(page, (site / page / "index.html").read_text(encoding="utf-8"))
        assert not anchor or f'id="{anchor}"' in text, one["location"]
        assert one["title"].strip() and len(one["text"]) <= LONGEST


def _index(site: Path) -> list[dict[str, Any]]:
    return json.loads((site / "search" / "documents.json").read_text(encoding="utf-8"))


@pytest.mark.browser
def test_the_measure_asks_the_search(site: Path) -> None:
    first, later, documents = benchpages.search(site, 1)
    assert len(first.times) == 1 and len(later.times) == len(benchpages.QUESTIONS) - 1
    assert min(first.times + later.times) > 0 and documents.size < 900_000


def _unanswered(context: Any, _: str) -> str:
    tab = context.new_page()
    tab.set_content("<p class=md-search-result__meta></p><input class=md-search__input>")
    with pytest.raises(Exception, match="no answer") as refused:
        benchpages.asked(tab, "roofline", 0.05)
    return str(refused.value)


def test_the_measure_does_not_wait_for_ever(surf: Any, base: str) -> None:
    assert 'no answer to "roofline"' in surf(_unanswered, base)


@pytest.mark.browser
def test_who_types_before_the_scripts_have_come_is_answered(surf: Any, base: str) -> None:
    """A field that had the focus already never got the event that starts the search.

    The best pages come before the texts of all pages, and stay where they are when these come.
    """

    def early(context: Any) -> list[Any]:
        context.set_default_timeout(30_000)
        tab = context.new_page()
        scripts: list[Any] = []
        texts: list[Any] = []
        tab.route("**/flopbook/shell.js*", lambda route: scripts.append(route))
        context.route("**/search/documents.json", lambda route: texts.append(route))
        tab.goto(base, wait_until="commit")
        tab.focus(".md-search__input")
        tab.keyboard.type("roofline")
        while not scripts:
            tab.wait_for_timeout(20)
        scripts[0].continue_()
        tab.wait_for_selector(".md-search-result__item h1:has-text('Roofline')")
        told = tab.inner_text(".md-search-result__meta")
        tab.keyboard.press("ArrowDown")
        first = tab.evaluate("document.activeElement.href")
        texts[0].continue_()
        tab.wait_for_selector(".md-search-result__meta:has-text('matching documents')")
        stays = tab.evaluate("document.activeElement.href") == first
        return [tab.input_value(".md-search__input"), told, stays]

    assert surf(early) == ["roofline", "Searching ...", True]


@pytest.mark.browser
def test_a_search_that_cannot_be_loaded_says_so_and_tries_again(surf: Any, base: str) -> None:
    def failing(context: Any) -> str:
        context.set_default_timeout(30_000)
        tab = context.new_page()
        context.route("**/search/documents.json", lambda route: route.abort())
        tab.goto(base)
        tab.focus(".md-search__input")
        tab.keyboard.type("roofline")
        tab.wait_for_selector("[role=status]:has-text('could not be loaded')")
        context.unroute("**/search/documents.json")
        tab.keyboard.type("s")
        tab.wait_for_selector(".md-search-result__meta:has-text('matching documents')")
        return tab.inner_text(".md-search-result__meta")

    assert "matching" in surf(failing)


def test_what_is_alike_on_all_pages_is_left_out() -> None:
    found = [
        {
            "location": "calculators/min-batch/",
            "title": "M",
            "text": "a b",
        },
        {"location": "calculators/min-batch/#cite", "title": "Cite", "text": "x"},
        {"location": "accelerators/nvidia/h100-sxm/#values", "title": "Values", "text": "x"},
        {"location": "handbook/batch/#exercises", "title": "Exercises", "text": "a &lt; b"},
    ]
    made = documents(found)
    assert [one["text"] for one in made[:2]] == ["min-batch a b", "a &lt; b"]


def test_a_page_without_its_search_stops_the_build(tmp_path: Path) -> None:
    (tmp_path / "search").mkdir()
    (tmp_path / "search" / "search_index.json").write_text(
        '{"config": {}, "docs": []}', encoding="utf-8"
    )
    (tmp_path / "index.html").write_text("<p>", encoding="utf-8")
    with pytest.raises(ValueError, match="where its search is"):
        write_search(tmp_path)
