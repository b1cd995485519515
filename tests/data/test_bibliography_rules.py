"""What the bibliography refuses: broken BibTeX, references and topics against the rules, and the
same work twice.
"""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.data import library as library_
from flopbook.errors import DataError, Problem
from tests.support.samples import SOURCE, TOPICS, World, assert_clean, bib, place


def problems_of(world: World, text: str | bytes, *more: str) -> list[Problem]:
    """The problems of one or more .bib files."""
    world.write("bibliography/all.bib", text)
    for number, addition in enumerate(more):
        world.write(f"bibliography/more{number}.bib", addition)
    with pytest.raises(DataError) as caught:
        library_.references()
    assert_clean(caught.value)
    return list(caught.value.problems)


@pytest.mark.parametrize(
    ("text", "line", "rule", "says"),
    [
        (
            bib() + "@misc{b2020c,\n  title = {open\n",
            13,
            "bibtex",
            "check braces, commas and quotes",
        ),
        (bib() + "@misc{b2020c\n  title = {x}\n}\n", 12, "layout", "expected '@type{key,'"),
        (bib() + "@misc{b2020c,\n  title = \n}\n", None, "bibtex", "well-formed BibTeX"),
        (bib() + "@misc{b2020c,\n  title = undefined_macro\n}\n", None, "bibtex", "undefined"),
        (bib() + "\n" + bib(title="Other", url="https://b.example/"), 13, "bibtex", SOURCE),
        (bib(author="A, B, C, D"), None, "bibtex", "A, B, C, D"),
        (bib(title="{" * 2000 + "}" * 2000), None, "", ""),
        (bib(title=r"\begin{x} \'\input{/etc/passwd}"), 1, "latex", "LaTeX that cannot be read"),
        (b"@misc{a2020b, title = {caf\xe9}}", 1, "read", "a readable file in UTF-8"),
    ],
)
def test_broken_bibtex_has_a_place(
    world: World, text: str | bytes, line: int | None, rule: str, says: str
) -> None:
    problem = problems_of(world, text)[0]
    assert problem.file == "bibliography/all.bib"
    assert (
        (line is None or problem.line == line)
        and rule in ("", problem.rule)
        and says in str(problem)
    )


def test_a_very_large_file_is_not_read(world: World) -> None:
    with (world.root / "bibliography" / "all.bib").open("wb") as file:
        file.truncate(10_000_000)
    with pytest.raises(
        DataError,
        match=r"all\.bib:1:1: size: found 10,000,000 bytes, expected at most 5,000,000 bytes",
    ):
        library_.references()


@pytest.mark.parametrize(
    ("changes", "rule", "says"),
    [
        ({"author": None}, "missing", "no author"),
        ({"title": None}, "missing", "no title"),
        ({"year": None}, "missing", "no year"),
        ({"year": "MMXX"}, "missing", "no year"),
        ({"annote": None}, "missing", "no annote"),
        ({"keywords": None}, "missing", "no keywords"),
        ({"url": None}, "missing", "no doi, eprint or url"),
        (
            {"url": "javascript:alert(1)"},
            "link",
            "url 'javascript:alert(1)', expected an http or https address",
        ),
        ({"url": "ftp://acme.example/"}, "link", "an http or https address"),
        ({"url": "https:///x"}, "link", "an http or https address"),
        ({"url": "https://[::1/"}, "link", "an http or https address"),
        ({"url": "https://a.example:99999/"}, "link", "an http or https address"),
        ({"url": "https://a.example:/"}, "link", "an http or https address"),
        ({"url": f"https://a.example/{'x' * 2000}"}, "length", "url of 2,018 characters"),
        ({"title": "x" * 501}, "length", "title of 501 characters in acme2026one"),
        ({"author": " and ".join(["Doe, Jane"] * 5001)}, "length", "5,001 authors"),
        ({"key": f"a2026{'a' * 100}"}, "length", "key of 105 characters in a2026aa"),
        ({"url": 'https://a.example/"onclick=x'}, "link", "an http or https address"),
        ({"code": "javascript:alert(1)"}, "link", "code 'javascript:alert(1)'"),
        ({"doi": "https://doi.org/10.1000/x"}, "link", "expected a plain doi without address"),
        ({"doi": "javascript:x"}, "link", "doi 'javascript:x'"),
        ({"eprint": "arXiv:1"}, "link", "eprint 'arXiv:1'"),
        (
            {"title": "A <script>alert(1)</script>"},
            "markup",
            "'<script>alert(1)</script>' in title",
        ),
        ({"author": "<script>alert(1)</script>, Jane"}, "markup", "in author"),
        ({"title": "[A](java{}script:alert(1))"}, "markup", "'javascript:alert(1))' in title"),
        ({"pages": "1--<b>"}, "markup", "'<b>"),
        ({"volume": "&#60;b>"}, "markup", "'&#60;b>"),
        ({"annote": "See <b>this</b>."}, "markup", "'<b>this</b>.' in annote"),
        ({"annote": "word " * 61}, "annote", "found 61 words"),
        ({"note": "\x1b[31mred"}, "control-character", "the hidden character U+001B"),
        ({"author": "Doe, Jane and others"}, "author", "list every author"),
        ({"tier": "vendr"}, "tier", "found 'vendr', expected one of vendor, submission"),
        ({"urldate": "2026-13-40"}, "date", "urldate '2026-13-40', expected YYYY-MM-DD"),
        ({"urldate": "2026-02-30"}, "date", "write the date of reading"),
        (
            {"type": "tweet"},
            "kind",
            "found type 'tweet' in acme2026one, expected one of paper, thesis",
        ),
        ({"type": None}, "kind", "no type in acme2026one, a web page on 'chips'"),
        ({"type": None, "kind": "online"}, "kind", "say what it is"),
        ({"kind": "tweet"}, "type", "found @tweet, expected one of article"),
        ({"key": "Acme:2026"}, "key", "found 'Acme:2026', expected authorYEARword"),
    ],
)
def test_rules_of_one_reference(
    world: World, changes: dict[str, Any], rule: str, says: str
) -> None:
    problems = problems_of(world, "\n" + bib(**changes))
    assert [(p.rule, p.line) for p in problems] == [(rule, 2)] and says in str(problems[0])


def test_the_problems_of_all_files_come_at_once(world: World) -> None:
    bad = bib("b2020c", author=None, url="javascript:x", tier="none")
    problems = problems_of(world, bib("broken2020x")[:-4], bad, bib("Bad Key"))
    assert {(p.file, p.rule) for p in problems} == {
        ("bibliography/all.bib", "bibtex"),
        ("bibliography/more0.bib", "missing"),
        ("bibliography/more0.bib", "link"),
        ("bibliography/more0.bib", "tier"),
        ("bibliography/more1.bib", "bibtex"),
    }


def test_an_entry_that_does_not_start_its_line_is_refused(world: World) -> None:
    """The scan of tiers and the BibTeX that pages show both rest on it."""
    text = bib() + "  " + bib("b2020c")
    (problem,) = problems_of(world, text)
    assert problem.rule == "layout" and problem.line == place(text, "@misc{b2020c")[0]


@pytest.mark.parametrize(
    ("one", "other", "says"),
    [
        ({"doi": "10.1000/AbC"}, {"doi": "10.1000/abc"}, "DOI '10.1000/abc'"),
        ({"eprint": "2205.14135v1"}, {"eprint": "2205.14135v3"}, "arXiv id '2205.14135'"),
        (
            {"title": "Flash-Attention: {IO}"},
            {"title": "flash attention - io"},
            "title 'flashattentionio'",
        ),
    ],
)
@pytest.mark.parametrize("two_files", [True, False])
def test_the_same_work_twice(
    world: World, one: dict, other: dict, says: str, two_files: bool
) -> None:
    """Duplicates are found by DOI, by arXiv id without version and by normalised title, across
    files.
    """
    texts = [bib("a2020b", **one), bib("b2020c", **other)]
    (problem,) = problems_of(world, *texts) if two_files else problems_of(world, "\n".join(texts))
    assert (
        problem.rule == "duplicate" and says in problem.found and problem.mend == "it is a2020b too"
    )
    file, line = (
        ("more0.bib", 1) if two_files else ("all.bib", place("\n".join(texts), "@misc{b2020c")[0])
    )
    assert (problem.file, problem.line) == (f"bibliography/{file}", line)


def test_the_same_key_in_two_files(world: World) -> None:
    namesake = bib(title="Something else", url="https://b.example/")
    (problem,) = problems_of(world, bib(), namesake)
    assert str(problem) == (
        f"bibliography/more0.bib:1:1: duplicate: found key '{SOURCE}', expected each key once; "
        "it is in bibliography/all.bib too"
    )


@pytest.mark.parametrize(
    ("text", "rule", "says"),
    [
        (TOPICS + "  - {id: chips, title: Again, intro: x}\n", "duplicate", "topic 'chips'"),
        (TOPICS.replace("id: chips", "id: Big Chips"), "pattern", "lower case with hyphens"),
        (TOPICS.replace(", intro: What chips do.", ""), "missing", "no 'intro'"),
        (TOPICS.replace("What chips", "<b>What</b>"), "markup", "<b>What</b>"),
        (TOPICS.replace("title", "titel"), "unknown", "expected 'title'"),
        ("topics: []\n", "minItems", "a list of 0"),
        ("topics:\n  - &a {id: x}\n", "anchors", "each value written out"),
    ],
)
def test_bad_topics(world: World, text: str, rule: str, says: str) -> None:
    world.write("bibliography/topics.yaml", text)
    with pytest.raises(DataError) as caught:
        library_.topics()
    assert_clean(caught.value)
    assert any(p.rule == rule and says in str(p) and p.line > 0 for p in caught.value.problems)


@pytest.mark.parametrize(
    ("intro", "fine"),
    [
        ("It has {{ chip('one').memory() }} and $10^{12}$ of it.", True),
        ("A <b>bold</b> claim.", False),
        ("See {% include 'x' %}.", False),
        ("See [it](javascript:alert).", False),
    ],
)
def test_introductions_hold_expressions_and_no_markup(world: World, intro: str, fine: bool) -> None:
    world.write(
        "bibliography/topics.yaml",
        f"topics:\n  - id: chips\n    title: Chips\n    intro: >-\n      {intro}\n",
    )
    if fine:
        assert library_.topics()[0].intro == intro and library_.topics()[0].line == 4
        world.write(
            "bibliography/topics.yaml", TOPICS.replace("title: Chips", "title: 'A {{ chip }}'")
        )
    with pytest.raises(DataError, match="markup: found"):
        library_.topics()


def test_topics_are_three_deep_at_most(world: World) -> None:
    def tree(depth: int) -> str:
        inside = f", children: [{tree(depth - 1)}]" if depth > 1 else ""
        return f"{{id: t{depth}, title: T, intro: I{inside}}}"

    world.write("bibliography/topics.yaml", f"topics:\n  - {tree(3)}\n")
    assert [t.id for top in library_.topics() for t in top.walk()] == ["t3", "t2", "t1"]
    world.write("bibliography/topics.yaml", f"topics:\n  - {tree(4)}\n")
    with pytest.raises(
        DataError, match=r"topics.yaml:2:\d+: depth: found a fourth level, expected at most three"
    ):
        library_.topics()
