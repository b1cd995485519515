"""New works from arXiv.

Asked for politely, ranked by stated rules, and written for a person to judge.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flopbook.checks.lint import lint
from flopbook.contributing import metadata
from flopbook.contributing.metadata import Work
from flopbook.data.library import library, references, topics
from flopbook.data.reference import Person
from flopbook.data.works import on_file
from flopbook.errors import FlopbookError
from scripts import refresh_papers
from scripts.papers.queries import PAGE, Query, read_queries
from scripts.papers.ranking import author_counts, choose, rank
from tests.support.samples import World, bib, write
from tests.support.services import ATOM_ERROR, Reply, Services, atom, atom_entry

QUERIES = "categories: [cs.AR]\ntopics:\n  chips: [fast chip, bus]\n  links: [ring]\n"
TOPICS = (
    "topics:\n  - {id: chips, title: Chips, intro: What chips do., few: The sample has one work.}\n"
    "  - {id: links, title: Links, intro: What links do., few: The sample has none.}\n"
)
DAYS = ("--since", "2026-11-01", "--until", "2026-11-07")


@pytest.fixture
def refresh(
    world: World, services: Services, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., int]:
    """Runs the program on the small world, whose arXiv is on this machine."""
    monkeypatch.setattr(metadata, "ARXIV", services.url("api/query"))
    world.write("bibliography/topics.yaml", TOPICS)
    write(world.root / "queries.yaml", QUERIES)

    def run(*words: str) -> int:
        library().forget()
        folder = world.root
        fixed = ["--queries", f"{folder}/queries.yaml", "--state", f"{folder}/state.json"]
        fixed += ["--out", f"{folder}/bibliography/candidates.bib"]
        return refresh_papers.main([*DAYS, *fixed, *words], services.fetcher(pause_s=3.0))

    return run


def paper(number: int, title: str = "A Fast Chip", day: str = "2026-11-02", **changes: Any) -> str:
    return atom_entry(f"2611.{number:05}v1", title=title, published=f"{day}T01:00:00Z", **changes)


def written(world: World) -> str:
    path = world.bibliography / "candidates.bib"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def test_what_is_new_is_written_best_first(
    world: World, services: Services, refresh: Callable[..., int]
) -> None:
    feed = atom(
        paper(1, "A Bus"), paper(2, "A Fast Chip with a Bus"), paper(3, "Whales", summary="A ring.")
    )
    services.plays(
        "api/query", feed, atom(paper(4, "A Ring of Chips", summary="See github.com/acme."))
    )
    assert refresh() == 0
    text = written(world)
    assert [line for line in text.splitlines() if line.startswith("%")] == [
        "% 6: fast chip (title), bus (title)",
        "% 4: ring (title), code",
        "% 3: bus (title)",
    ]
    assert (
        text.count("annote = {}") == 3
        and text.count("keywords = {chips}") == 2
        and "summary" not in text
    )
    library().forget()
    assert {p.found.partition(" in ")[0] for p in lint() if "candidates" in p.file} == {"no annote"}
    world.write("bibliography/candidates.bib", text.replace("{}", "{Shows it; read it first.}"))
    assert [p.rule for p in lint() if "candidates" in p.file] == []


def test_arxiv_is_asked_politely(services: Services, refresh: Callable[..., int]) -> None:
    """One request each three seconds, newest first, with phrases in title and abstract."""
    services.plays("api/query", atom())
    assert refresh() == 0
    assert services.slept == [3.0] and len(services.asked) == 2
    _, asked = services.asked[0]
    phrases = '(ti:"fast chip" OR abs:"fast chip" OR ti:"bus" OR abs:"bus")'
    assert asked["search_query"] == f"{phrases} AND (cat:cs.AR)"
    assert (asked["start"], asked["max_results"]) == ("0", str(PAGE))
    assert (asked["sortBy"], asked["sortOrder"]) == ("submittedDate", "descending")


def test_pages_are_read_until_they_are_too_old(
    services: Services, refresh: Callable[..., int]
) -> None:
    full = atom(*(paper(number, "Whales") for number in range(PAGE)))
    old = atom(*(paper(number, "Whales", "2026-10-01") for number in range(PAGE)))
    services.plays("api/query", full, old, atom())
    assert refresh() == 0
    assert [asked["start"] for _, asked in services.asked] == ["0", str(PAGE), "0"]


def test_only_the_days_that_were_asked_for(
    world: World, services: Services, refresh: Callable[..., int]
) -> None:
    days = ("2026-10-31", "2026-11-01", "2026-11-07", "2026-11-08")
    services.plays("api/query", atom(*(paper(n, f"A Bus {n}", day) for n, day in enumerate(days))))
    assert refresh() == 0
    assert [f"2611.0000{n}" in written(world) for n in range(4)] == [False, True, True, False]


def test_what_is_known_is_dropped(
    world: World, services: Services, refresh: Callable[..., int]
) -> None:
    """By arXiv id, DOI and title, and what an earlier run wrote; two topics find one work once."""
    world.write(
        "bibliography/all.bib",
        bib(eprint="2611.00001v3", doi="10.1145/1.2", title="A {Bus} for All"),
    )
    chosen = [
        paper(1),
        paper(2, doi="10.1145/1.2"),
        paper(3, "A bus: for all"),
        paper(4, "A Bus in a Ring"),
    ]
    services.plays("api/query", atom(*chosen))
    assert refresh() == 0
    text = written(world)
    assert text.count("@misc") == 1 and "2611.00004" in text
    assert refresh() == 0 and written(world) == text


def test_candidates_are_added_to_what_is_there(
    world: World, services: Services, refresh: Callable[..., int]
) -> None:
    before = "% judged so far\n\n" + bib("roe2026old")
    world.write("bibliography/candidates.bib", before)
    services.plays("api/query", atom(paper(1), paper(2)))
    assert refresh("--most", "1") == 0
    assert written(world).startswith(before.rstrip("\n")) and written(world).count("\n@misc") == 2


FAILURES = {
    "busy": (Reply(429, headers={"Retry-After": "7200"}), "asks to wait 7200 s", 1),
    "server": (Reply(500), "fails (status 500)", 6),
    "cut": (Reply(body=atom(paper(1)), cut=9), "no whole answer", 6),
    "truncated": (atom(paper(1))[:-40], "no whole feed", 2),
    "rate": (b"Rate exceeded.", "asks for patience", 1),
    "error": (atom(ATOM_ERROR), "arXiv says: incorrect id", 2),
    "missing": (Reply(404), "status 404", 2),
}


@pytest.mark.parametrize(("reply", "says", "times"), FAILURES.values(), ids=FAILURES)
def test_a_failure_writes_nothing_and_is_said(
    world: World,
    services: Services,
    refresh: Callable[..., int],
    capsys: pytest.CaptureFixture[str],
    reply: Reply | bytes,
    says: str,
    times: int,
) -> None:
    """Where the next question would be turned away as well, it is not asked."""
    services.plays("api/query", reply)
    assert refresh() == 1 and written(world) == "" and len(services.asked) == times
    out, err = capsys.readouterr()
    assert "refresh_papers: chips: " in err and says in err
    assert (
        out == "refresh_papers: 2 of 2 topics are open; nothing was written; run it again later\n"
    )


def test_an_interrupted_run_goes_on_where_it_stopped(
    world: World, services: Services, refresh: Callable[..., int]
) -> None:
    services.plays(
        "api/query",
        atom(paper(1)),
        Reply(429, headers={"Retry-After": "999"}),
        atom(paper(2, "A Ring")),
    )
    assert refresh() == 1 and json.loads((world.root / "state.json").read_text())[
        "done"
    ].keys() == {"chips"}
    assert refresh() == 0 and len(services.asked) == 3
    assert "2611.00001" in written(world) and "2611.00002" in written(world)
    assert not (world.root / "state.json").exists()


def _state_of(asked: str, **changes: Any) -> str:
    """A state with one work, some fields of which are damaged."""
    people = [["Doe", "Jane", False]]
    work = {**Work(title="Chips", eprint="2611.1")._asdict(), "people": people, **changes}
    return json.dumps({"asked": asked, "done": {"chips": [work]}})


@pytest.mark.parametrize(
    "changes",
    [
        {"title": 5},
        {"summary": None},
        {"eprint": [1]},
        {"published": {}},
        {"year": "x"},
        {"people": [[1, 2, 3]]},
        {"people": [["a"]]},
        {"people": ["ab"]},
        {"venue": [1]},
        {"venue": ["a", "b", "c"]},
        {"more": [["a"]]},
        {"more": [1]},
        {"extra": 1},
    ],
)
def test_works_of_a_damaged_state_are_asked_for_again(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    """Some were taken for works, and ended the run in a traceback."""
    path = tmp_path / "state.json"
    path.write_text(_state_of("q", **changes), encoding="utf-8")
    assert refresh_papers._State(path, "q").done == {}
    path.write_text(_state_of("q"), encoding="utf-8")
    assert [work.title for work in refresh_papers._State(path, "q").done["chips"]] == ["Chips"]


@pytest.mark.parametrize(
    "damage", ["nonsense", "[]", '{"asked": 1}', '{"asked": "", "done": {"chips": [{}]}}']
)
def test_a_damaged_state_begins_anew(
    world: World, services: Services, refresh: Callable[..., int], damage: str
) -> None:
    write(world.root / "state.json", damage)
    services.plays("api/query", atom())
    assert refresh() == 0 and len(services.asked) == 2


def test_other_days_begin_anew(services: Services, refresh: Callable[..., int]) -> None:
    services.plays("api/query", atom(), Reply(429, headers={"Retry-After": "999"}), atom())
    assert refresh() == 1 and refresh("--since", "2026-11-02") == 0 and len(services.asked) == 4


def test_an_empty_week_writes_nothing(
    world: World, services: Services, refresh: Callable[..., int], capsys: Any
) -> None:
    services.plays("api/query", atom())
    assert refresh() == 0 and written(world) == ""
    assert capsys.readouterr().out.startswith(
        "0 works of 2026-11-01 to 2026-11-07, 0 of them written"
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--since", "yesterday"), "expected a day as YYYY-MM-DD"),
        (("--since", "2026-12-01"), "is after --until"),
        (("--most", "0"), "from 1 to 500"),
        (("--most", "many"), "from 1 to 500"),
        (("--nonsense",), "see --help"),
        (("--queries", "/no/such/file"), "needs categories"),
    ],
)
def test_bad_usage_is_one_line(
    services: Services, refresh: Callable[..., int], capsys: Any, words: tuple[str, ...], says: str
) -> None:
    assert refresh(*words) == 2 and services.asked == []
    err = capsys.readouterr().err
    assert says in err and err.startswith("refresh_papers: ") and err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[]", "needs categories"),
        ("a: [", "needs categories"),
        ("categories: [cs.AR]\n", "'topics'"),
        (QUERIES.replace("chips", "whales"), "unknown topic 'whales'"),
        (QUERIES.replace("ring", "'ring\" OR all:x'"), "no phrase or category"),
        (QUERIES.replace("cs.AR", "'cs.AR OR cat:x'"), "no phrase or category"),
        (QUERIES.replace("[ring]", "[]"), "has no phrases"),
        (QUERIES.replace("[ring]", "[12]"), "no phrase"),
    ],
)
def test_questions_that_cannot_be_asked(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(FlopbookError, match=says):
        read_queries(write(tmp_path / "q.yaml", text), ["chips", "links"])


def test_our_own_questions_can_be_asked() -> None:
    tree = {topic.id for top in topics() for topic in top.walk()}
    queries = read_queries(refresh_papers.ROOT / "scripts" / "paper_queries.yaml", tree)
    assert len(queries) >= 8 and all(len(query.address(0)) < 2000 for query in queries)
    assert isinstance(queries[0], Query)


DOE = Person("Doe", "Jane")


@pytest.mark.parametrize(
    ("title", "summary", "points"),
    [
        ("A Fast-Chip", "", 3),
        ("Fast chips", "", 0),
        ("A Bus", "a fast\n chip", 4),
        ("X", "bus, fast chip", 2),
        ("X", "Code is available at it.", 1),
        ("Bus", "https://github.com/a/b bus", 4),
    ],
)
def test_the_rank_follows_its_rules(title: str, summary: str, points: int) -> None:
    candidate = rank(Work(title, (DOE,), summary=summary), "chips", ("fast chip", "bus"), {})
    assert candidate.rank == points and len(candidate.reasons) >= (points > 0)


def test_known_authors_count_twice_at_most(world: World) -> None:
    world.write(
        "bibliography/all.bib",
        bib("a2026x") + bib("b2026y") + bib("c2026z", author="Doe, Jane and {Acme}"),
    )
    counts = author_counts(references().values())
    assert counts["janedoe"] == 3 and "acme" not in counts
    people = (DOE, Person("Roe", "Richard"), Person("Poe", "Al"))
    assert rank(Work("X", people), "chips", (), counts).rank == 2


def test_a_work_has_one_topic_the_one_where_it_ranks_highest(world: World) -> None:
    work = Work("A Bus in a Ring", (DOE,), 2026, eprint="2611.00001")
    ranked = [rank(work, "chips", ("bus",), {}), rank(work, "links", ("bus", "ring"), {})]
    assert [candidate.topic for candidate in choose(ranked, list(on_file().values()), 5)] == [
        "links"
    ]
    assert choose(ranked, list(on_file().values()), 0) == []
