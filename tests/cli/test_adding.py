"""`new reference` and `cite`: against services that answer, fail, lie and are not there."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from flopbook.checks.lint import lint
from flopbook.cli import adding, contributing
from flopbook.contributing import metadata
from flopbook.data.library import library, references
from tests.support.samples import SOURCE, World, bib
from tests.support.services import (
    ATOM_ERROR,
    ForbiddenListener,
    Reply,
    Services,
    atom,
    atom_entry,
    csl,
)

NEW = ("new", "reference")


@pytest.fixture
def tree(world: World, services: Services, monkeypatch: pytest.MonkeyPatch) -> World:
    """The small world, taken for a checkout, with the services on this machine."""
    for module in (contributing, adding):
        monkeypatch.setattr(
            module, "repository_path", lambda path: path.relative_to(world.root).as_posix()
        )
    monkeypatch.setattr(contributing, "checkout", lambda: world.root)
    monkeypatch.setattr(adding, "fetcher", services.fetcher)
    monkeypatch.setattr(metadata, "ARXIV", services.url("api/query"))
    monkeypatch.setattr(metadata, "DOI", services.url("doi/"))
    services.plays("api/query", atom(atom_entry()))
    services.plays("doi/10.1145/1234.5678", csl())
    return world


def bibliography(tree: World) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in tree.bibliography.glob("*.bib")}


@pytest.mark.parametrize(
    "text",
    ["2611.00001", "2611.00001v2", "arXiv:2611.00001", "https://arxiv.org/pdf/2611.00001v1.pdf"],
)
def test_a_paper_of_arxiv(tree: World, cli: Callable[..., Any], text: str) -> None:
    outcome = cli(*NEW, text, "--topic", "chips")
    assert (outcome.status, outcome.err) == (0, "")
    assert outcome.out.splitlines() == [
        "doe2026chips is written to bibliography/all.bib",
        "1. fill in annote in bibliography/all.bib: annote is one or two sentences of your own",
        "2. flopbook lint bibliography/all.bib",
    ]
    library().forget()
    problems = lint()
    assert [(p.rule, p.found) for p in problems if "doe" in p.found] == [
        ("missing", "no annote in doe2026chips")
    ]
    assert (
        "title = {Chips that Compute at 90\\% of Peak with {BF16}}" in bibliography(tree)["all.bib"]
    )


def test_the_rest_is_for_a_person_and_then_it_passes(tree: World, cli: Callable[..., Any]) -> None:
    cli(*NEW, "2611.00001", "--topic", "chips")
    text = bibliography(tree)["all.bib"].replace(
        "annote = {}", "annote = {Shows it; read it first.}"
    )
    tree.write("bibliography/all.bib", text)
    assert [str(problem) for problem in lint()] == []
    assert references()["doe2026chips"].people[1].family == "van Beethoven"


def test_a_doi(tree: World, cli: Callable[..., Any]) -> None:
    record = json.loads(cli(*NEW, "https://dl.acm.org/doi/10.1145/1234.5678", "--json").out)
    assert (record["key"], record["file"], record["written"]) == (
        "doe2024work",
        "bibliography/all.bib",
        True,
    )
    assert record["skeleton"] is False and record["reason"] == "" and record["next"]
    assert (
        record["text"] in bibliography(tree)["all.bib"]
        and "booktitle = {Proceedings" in record["text"]
    )


def test_a_page(tree: World, services: Services, cli: Callable[..., Any]) -> None:
    url = services.plays("page", b"<title>How Buses Work</title>")
    out = cli(*NEW, url, "--dry-run").out
    assert (
        "title = {How Buses Work}" in out and f"url = {{{url}}}" in out and "urldate = {20" in out
    )
    assert out.startswith("@online{") and "author = {}" in out and "keywords = {}" in out


@pytest.mark.parametrize(
    "text",
    [
        "2205.14135v9",
        "https://doi.org/10.1145/x.y",
        f"http://www.acme.example/{SOURCE}/",
        "2611.00001",
    ],
)
def test_what_is_there_already(tree: World, fails: Callable[..., str], text: str) -> None:
    """By arXiv id, DOI and address before a service is asked, and by the title that it gives."""
    changes = {
        "eprint": "2205.14135",
        "doi": "10.1145/X.Y",
        "title": "Chips that compute at 90\\% of peak, with {BF16}",
    }
    tree.write("bibliography/all.bib", bib(**changes))
    before = bibliography(tree)
    assert fails(*NEW, text) == (
        f"it is there already: {SOURCE} in bibliography/all.bib:1; flopbook cite {SOURCE}"
    )
    assert bibliography(tree) == before


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        (
            (Reply(429, headers={"Retry-After": "7200"}),),
            "is busy (status 429) and asks to wait 7200 s",
        ),
        ((Reply(500),), "fails (status 500)"),
        ((atom(atom_entry())[:300],), "gives no whole feed"),
        ((Reply(body=atom(atom_entry()), cut=20),), "gave no whole answer"),
        ((b"Rate exceeded.",), "asks for patience"),
    ],
)
def test_a_service_that_fails_leaves_a_skeleton(
    tree: World, services: Services, cli: Callable[..., Any], replies: tuple, reason: str
) -> None:
    services.plays("api/query", *replies)
    outcome = cli(*NEW, "2611.00001", "--topic", "chips")
    assert (
        outcome.status == 0
        and reason in outcome.out.splitlines()[0]
        and "this is a skeleton" in outcome.out
    )
    assert "eprint = {2611.00001}" in bibliography(tree)["all.bib"]
    library().forget()
    assert {p.found.partition(" in ")[0] for p in lint() if "x20" in p.found} == {
        "no title",
        "no author",
        "no year",
        "no annote",
    }
    assert "it is there already" in cli(*NEW, "2611.00001").err


def test_without_a_network(
    tree: World, services: Services, cli: Callable[..., Any], monkeypatch: Any
) -> None:
    monkeypatch.setattr(metadata, "ARXIV", "http://export.test/api/query")
    outcome = cli(*NEW, "2611.00001")
    assert outcome.status == 0 and "note: no connection to export.test" in outcome.out
    monkeypatch.setattr(adding, "fetcher", None)
    record = json.loads(cli(*NEW, "10.1145/1234.5678", "--offline", "--json").out)
    assert record["skeleton"] is True and "--offline" in record["reason"] and services.asked == []


@pytest.mark.parametrize(
    ("replies", "says"),
    [
        ((atom(),), "arXiv has no paper 2611.00001"),
        ((atom(ATOM_ERROR),), "arXiv says: incorrect id format"),
        ((Reply(404),), "answers with status 404"),
    ],
)
def test_an_id_that_names_nothing(
    tree: World, services: Services, fails: Callable[..., str], replies: tuple, says: str
) -> None:
    services.plays("api/query", *replies)
    before = bibliography(tree)
    assert says in fails(*NEW, "2611.00001") and bibliography(tree) == before


def test_a_redirect_to_the_forbidden_host(
    tree: World, services: Services, fails: Callable[..., str], forbidden: ForbiddenListener
) -> None:
    url = services.plays("page", Reply(302, headers={"Location": forbidden.url}))
    before = bibliography(tree)
    for text in (url, forbidden.url):
        assert "is not called: host 127.0.0.2" in fails(*NEW, text)
    assert bibliography(tree) == before


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("flash attention",), "'flash attention' is no arXiv id, DOI or http address"),
        (("",), "'' is no arXiv id"),
        (("ftp://acme.example/",), "is no arXiv id"),
        (("2611.00001", "--topic", "chip"), "unknown topic 'chip'; nearest: chips"),
        (("2611.00001", "--name", "x"), "--name is for new chip, not for new reference"),
        ((), "new needs ID"),
        (("\x1b[31m",), "is no arXiv id"),
    ],
)
def test_what_is_refused(
    tree: World, services: Services, fails: Callable[..., str], words: tuple, says: str
) -> None:
    assert says in fails(*NEW, *words) and services.asked == []


@pytest.mark.parametrize("flag", ["--offline", "--topic=chips"])
def test_options_of_a_reference_are_for_references(
    tree: World, fails: Callable[..., str], flag: str
) -> None:
    assert "is for new reference, not for new vendor" in fails("new", "vendor", "bolt", flag)


def test_an_installed_package_prints_only(
    tree: World, fails: Any, cli: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr(contributing, "checkout", lambda: None)
    assert "clone the repository" in fails(*NEW, "2611.00001")
    before = bibliography(tree)
    assert (
        cli(*NEW, "2611.00001", "--dry-run").out.startswith("@misc{doe2026chips,")
        and bibliography(tree) == before
    )


def test_a_title_cannot_drive_the_terminal_or_the_file(
    tree: World, services: Services, cli: Any
) -> None:
    services.plays(
        "doi/10.1145/1234.5678", csl(title="A \u202e\x1b[31m} red\n@misc{evil2026x, title = {x}}")
    )
    outcome = cli(*NEW, "10.1145/1234.5678", "--topic", "chips")
    assert outcome.status == 0 and "\x1b" not in outcome.out + bibliography(tree)["all.bib"]
    assert bibliography(tree)["all.bib"].count("\n@") == 1


@pytest.mark.parametrize(
    "words", [(SOURCE,), (f"https://acme.example/{SOURCE}",), ("the", "work", "acme2026one")]
)
def test_cite_by_what_people_know(
    world: World, cli: Callable[..., Any], words: tuple[str, ...]
) -> None:
    assert json.loads(cli("cite", *words, "--json").out)["id"] == SOURCE
    assert cli("cite", *words, "--bibtex").out.strip() == bib().strip()


def test_cite_what_is_not_there(world: World, fails: Callable[..., str]) -> None:
    assert "flopbook new reference 2611.00001" in fails("cite", "2611.00001")
    assert fails("cite", "whales") == "unknown reference 'whales'; one of: acme2026one"
