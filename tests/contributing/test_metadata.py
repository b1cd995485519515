"""What services say of a work, read into one record; nonsense gives one line."""

from __future__ import annotations

import json
import time
from contextlib import nullcontext
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.contributing import metadata
from flopbook.contributing.fetching import FetchError
from flopbook.contributing.metadata import from_atom, from_csl, from_page, look_up, person
from flopbook.data.identifiers import identify
from flopbook.data.reference import Person
from tests.support.services import ATOM_ERROR, Reply, Services, atom, atom_entry, csl


def test_a_feed_of_arxiv() -> None:
    """Names, dates and lines as arXiv prints them.

    The version is dropped, the day is that of the first version.
    """
    (work,) = from_atom(atom(atom_entry(doi="10.1145/1.2")))
    assert work.title == "Chips that Compute at 90% of Peak with BF16"
    assert work.people == (Person("Doe", "Jane Q."), Person("van Beethoven", "Ludwig"))
    assert (work.year, work.month, work.eprint, work.doi) == (2026, 11, "2611.00001", "10.1145/1.2")
    assert (work.type, work.published, work.category, work.summary) == (
        "misc",
        "2026-11-02",
        "cs.AR",
        "We build a chip.",
    )


def test_an_old_id_keeps_its_archive() -> None:
    assert from_atom(atom(atom_entry("cs/0102001v1")))[0].eprint == "cs/0102001"


def test_an_empty_feed_has_no_works() -> None:
    assert from_atom(atom()) == []


@pytest.mark.parametrize(
    ("data", "kind", "says"),
    [
        (atom(atom_entry())[:200], "broken", "no whole feed"),
        (b"", "broken", "no whole feed"),
        (b"Rate exceeded.", "busy", "asks for patience"),
        (b"<html></html>", "broken", "no feed"),
        (atom(ATOM_ERROR), "missing", "arXiv says: incorrect id format for 1234.5"),
        (
            b'<?xml version="1.0"?><!DOCTYPE f [<!ENTITY a "x">]><feed>&a;</feed>',
            "broken",
            "no feed",
        ),
        (b'<?xml version="1.0" encoding="nonsense"?><feed/>', "broken", "no feed"),
        (atom(atom_entry()).decode().encode("utf-16"), "broken", "no whole feed"),
        (
            '<!DOCTYPE f [<!ENTITY a "x">]><feed>&a;</feed>'.encode("utf-16"),
            "broken",
            "no whole feed",
        ),
        (atom("<entry></entry>"), "missing", "arXiv says: nothing"),
    ],
)
def test_what_is_no_feed(data: bytes, kind: str, says: str) -> None:
    with pytest.raises(FetchError, match=says) as caught:
        from_atom(data)
    assert caught.value.kind == kind


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {},
            {
                "type": "inproceedings",
                "venue": ("booktitle", "Proceedings of the Acme Conference"),
                "month": 3,
            },
        ),
        (
            {"type": "journal-article"},
            {"type": "article", "venue": ("journal", "Proceedings of the Acme Conference")},
        ),
        (
            {"type": "article-journal", "volume": 7, "issue": "2"},
            {"more": (("volume", "7"), ("number", "2"), ("pages", "1-12"))},
        ),
        (
            {"type": "book", "publisher": "Acme Press"},
            {"type": "book", "venue": ("publisher", "Acme Press")},
        ),
        (
            {"type": "dissertation", "publisher": "Acme"},
            {"type": "phdthesis", "venue": ("school", "Acme")},
        ),
        ({"type": "posted-content"}, {"type": "misc"}),
        ({"type": None}, {"type": "misc"}),
        ({"title": ["First", "Second"]}, {"title": "First"}),
        ({"issued": {"date-parts": [[None]]}}, {"year": None}),
        ({"issued": {"date-parts": [[2024, 13]]}}, {"year": 2024, "month": None}),
        ({"issued": None}, {"year": None}),
        ({"issued": {"date-parts": [[-5]]}}, {"year": None}),
        ({"issued": {"date-parts": [[1e300, 3]]}}, {"year": None, "month": None}),
        ({"issued": {"date-parts": "2024"}}, {"year": None}),
        (
            {"author": [{"family": "A", "given": "B"}] * 20_000},
            {"people": (Person("A", "B"),) * 5000},
        ),
        ({"title": "a < b, c > d <i>e</i>"}, {"title": "a < b, c > d e"}),
        ({"author": None}, {"people": ()}),
        ({"author": [{"family": "Acme"}]}, {"people": (Person("Acme", "", True),)}),
        ({"container-title": []}, {"venue": ("", "")}),
    ],
)
def test_a_record_of_a_doi(changes: dict[str, Any], expected: dict[str, Any]) -> None:
    work = from_csl(csl(**changes))
    assert {name: getattr(work, name) for name in expected} == expected
    if not changes:
        assert (
            work.title == "A Work on Links & Chips"
            and work.year == 2024
            and work.doi == "10.1145/1234.5678"
        )
        assert work.people[1:] == (Person("Müller", "Karl"), Person("Acme Team", "", True))


@pytest.mark.parametrize("year", ["1e999", "-1e999", "NaN", '"2024a"', "[]", "{}"])
def test_a_year_that_is_no_number_is_one_line(year: str) -> None:
    """Infinity ended `flopbook new reference` in a traceback."""
    record = f'{{"title": "x", "issued": {{"date-parts": [[{year}, 1]]}}}}'
    with pytest.raises(FetchError, match="cannot be read") if year not in "[]{}" else nullcontext():
        from_csl(record.encode())


def test_titles_of_tags_that_never_end_take_no_time() -> None:
    """Each `<` was followed to the end: 8 MB took hours."""
    begun = time.process_time()
    work = from_csl(
        json.dumps({"title": "<a" * 2_000_000, "author": [{"family": "<b" * 10**6}]}).encode()
    )
    assert time.process_time() - begun < 5 and len(work.title) <= 10_000


def test_a_feed_holds_no_more_than_anyone_asks_for() -> None:
    assert len(from_atom(atom(*[atom_entry()] * 1500))) == metadata.MOST_ENTRIES
    (work,) = from_atom(atom(atom_entry(summary="x" * 100_000)))
    assert len(work.summary) <= 10_000


def test_crossrefs_own_wrapping() -> None:
    wrapped = json.dumps(
        {"status": "ok", "message": json.loads(csl(title=["In a Message"]))}
    ).encode()
    assert from_csl(wrapped).title == "In a Message"


@pytest.mark.parametrize("page", ["<![" * 9, "<!a[" * 9, "<title>A</title><![x", "<!["])
def test_a_declaration_that_no_page_has_is_read_over(page: str) -> None:
    """The parser of the standard library ended in an AssertionError."""
    assert from_page(page, "https://a.example/").title in ("A", "")


@given(
    st.one_of(
        st.binary(max_size=60),
        st.recursive(
            st.none() | st.integers() | st.text(max_size=5),
            lambda inside: (
                st.lists(inside, max_size=3)
                | st.dictionaries(
                    st.sampled_from(["title", "author", "issued", "date-parts", "family", "type"]),
                    inside,
                )
            ),
        ).map(lambda value: json.dumps(value).encode()),
    )
)
def test_any_answer_is_a_work_or_one_line(data: bytes) -> None:
    for read in (from_csl, from_atom):
        try:
            read(data)
        except FetchError as error:
            assert "\n" not in str(error)


PAGE = """<!doctype html><html><head><title> A Page
  &amp; more | Acme </title><meta property="og:site_name" content="Acme Blog">
<meta name="author" content="Jane Doe and Al Roe">
<meta property="article:published_time" content="2026-03-04T00:00Z">
</head><body><title>not this</title></body>"""


def test_the_head_of_a_page() -> None:
    work = from_page(PAGE, "https://acme.example/a")
    assert (work.title, work.type, work.venue) == (
        "A Page & more | Acme",
        "online",
        ("howpublished", "Acme Blog"),
    )
    assert (work.year, work.month, work.url) == (2026, 3, "https://acme.example/a")
    assert work.people == (Person("Doe", "Jane"), Person("Roe", "Al"))


def test_the_head_of_a_paper() -> None:
    fields = {
        "citation_title": "On Links",
        "citation_conference_title": "AcmeConf",
        "citation_doi": "doi:10.1145/1.2",
        "citation_publication_date": "2024/7/1",
        "citation_arxiv_id": "2407.00001v1",
    }
    meta = "".join(f'<meta name="{name}" content="{content}">' for name, content in fields.items())
    authors = ("Doe, Jane", "Roe, Al")
    names = "".join(f'<meta name="citation_author" content="{author}">' for author in authors)
    work = from_page(meta + names, "https://acme.example/a")
    assert (work.title, work.type, work.venue) == (
        "On Links",
        "inproceedings",
        ("booktitle", "AcmeConf"),
    )
    assert (work.doi, work.eprint, work.year, work.month) == ("10.1145/1.2", "2407.00001", 2024, 7)
    assert work.people == (Person("Doe", "Jane"), Person("Roe", "Al"))
    journal = from_page(
        meta + '<meta name="citation_journal_title" content="Acta">', "https://acme.example/a"
    )
    assert (journal.type, journal.venue) == ("article", ("journal", "Acta"))


@given(
    st.text(max_size=200) | st.text("<title>meta name=\"author\" content='x'&#0;/!-", max_size=200)
)
def test_any_page_is_read(page: str) -> None:
    assert from_page(page, "https://acme.example/").url == "https://acme.example/"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Tri Dao", Person("Dao", "Tri")),
        ("Daniel Y. Fu", Person("Fu", "Daniel Y.")),
        ("Doe, Jane", Person("Doe", "Jane")),
        ("Jan van den Berg", Person("van den Berg", "Jan")),
        ("Karl Roe Jr.", Person("Roe Jr.", "Karl")),
        ("DeepSeek-AI", Person("DeepSeek-AI", "", True)),
        ("Gemma Team", Person("Gemma Team", "", True)),
        ("Juan de la Cruz", Person("de la Cruz", "Juan")),
        ("  Ann\n  Lee ", Person("Lee", "Ann")),
        ("Van Nguyen", Person("Nguyen", "Van")),
    ],
)
def test_names(name: str, expected: Person) -> None:
    assert person(name) == expected


@pytest.fixture
def played(services: Services, monkeypatch: pytest.MonkeyPatch) -> Services:
    monkeypatch.setattr(metadata, "ARXIV", services.url("api/query"))
    monkeypatch.setattr(metadata, "DOI", services.url("doi/"))
    return services


def test_looking_up(played: Services) -> None:
    played.plays("api/query", atom(atom_entry()))
    played.plays("doi/10.1145/1.2", Reply(302, headers={"Location": "/record"}))
    played.plays("record", csl())
    page = played.plays("page", PAGE.encode())
    for text, title in (
        ("2611.00001v2", "Chips that"),
        ("10.1145/1.2", "A Work on"),
        (page, "A Page"),
    ):
        identifier = identify(text)
        assert identifier is not None and look_up(identifier, played.fetcher()).title.startswith(
            title
        )
    assert played.asked[0] == ("/api/query", {"id_list": "2611.00001v2", "max_results": "1"})
    assert played.inner.accepted[2] == "application/vnd.citationstyles.csl+json"


def test_an_id_that_nobody_has(played: Services) -> None:
    played.plays("api/query", atom())
    with pytest.raises(FetchError, match=r"arXiv has no paper 2611\.99999") as caught:
        look_up(identify("2611.99999"), played.fetcher())  # type: ignore[arg-type]
    assert caught.value.kind == "missing"
