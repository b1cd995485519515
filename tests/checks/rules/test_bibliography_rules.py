"""The rules of references and topics: an example that breaks each, one that keeps it."""

from __future__ import annotations

import datetime
from typing import Any

import pytest

from flopbook.checks import lint as checker
from flopbook.checks.rules.addresses import faults
from flopbook.checks.rules.people import names
from flopbook.checks.rules.years import submission
from flopbook.data.bibtex_text import KNOWN, folded
from flopbook.data.library import references
from flopbook.errors import DataError, Problem
from tests.support.samples import SOURCE, TOPICS, World, assert_clean, bib

PAPER = {"url": None, "urldate": None, "tier": None, "archiveprefix": "arXiv"}
URL = "https://acme.example/"


def found(rule: str) -> list[Problem]:
    """What one rule finds, in messages that say what, where and how to mend it."""
    problems = [problem for problem in checker.lint() if problem.rule == rule]
    if problems:
        assert_clean(DataError(problems))
    return problems


# rule -> rows of: what breaks it, what the message says, what keeps it
EXAMPLES: dict[str, list[tuple[dict[str, Any], str, dict[str, Any]]]] = {
    "fields": [
        (
            {"kind": "article"},
            "@article doe2026b without one, expected a journal",
            {"journal": "Acta"},
        ),
        ({"kind": "inproceedings"}, "expected a booktitle", {"booktitle": "Proceedings"}),
        ({"kind": "incollection"}, "expected a booktitle", {"booktitle": "Handbook"}),
        ({"kind": "book"}, "expected a publisher", {"publisher": "Acme Press"}),
        ({"kind": "phdthesis"}, "expected a school", {"school": "Acme University"}),
        (
            {"kind": "mastersthesis", "institution": "Acme"},
            "expected a school",
            {"school": "Acme University"},
        ),
        (
            {"kind": "techreport"},
            "expected a institution or howpublished",
            {"howpublished": "Acme"},
        ),
        ({"kind": "article", "journal": ""}, "expected a journal", {"journal": "Acta"}),
        ({"anote": "Typed wrong."}, "field 'anote'", {"anote": None}),
        ({"keyword": "chips"}, "such as keywords", {"keyword": None}),
        ({"month": "Sept 3"}, "", {"month": "sep"}),
        (
            {"month": "13"},
            "month '13' in doe2026b, expected jan to dec, or 1 to 12",
            {"month": "12"},
        ),
        ({"month": "spring"}, "month 'spring'", {"month": "april"}),
        ({"eprint": "2605.00001"}, "expected archiveprefix = {arXiv}", {"archiveprefix": "arXiv"}),
    ],
    "author": [
        (
            {"author": "Jane Doe"},
            "'Jane Doe' in author, expected 'Family, Given'",
            {"author": "Doe, Jane"},
        ),
        ({"author": "NVIDIA"}, "'NVIDIA' in author", {"author": "{NVIDIA}"}),
        ({"author": "Doe, Jane and Roe"}, "'Roe' in author", {"author": "Doe, Jane and Roe, R."}),
        (
            {"author": "Doe, Jane and {Acme et al.}"},
            "list every author",
            {"author": "Doe, Jane and {Acme}"},
        ),
        (
            {"author": "DOE, Jane and Roe, Al"},
            "'Jane DOE'",
            {"author": "Doe, Jane and Roe, Al and Wu, AJ"},
        ),
        ({"author": "Doe, Jane 1"}, "expected a name", {"author": "Doe, Jane and {21ic}"}),
        ({"author": "Doe, jane@acme.example"}, "expected a name", {"author": "Doe, Jane"}),
        ({"editor": "Roe Al"}, "'Roe Al' in editor", {"editor": "Roe, Al"}),
    ],
    "year": [
        (
            {"year": "2019", "key": "doe2019b", "eprint": "2205.14135"},
            "year 2019 of arXiv 2205.14135",
            {"year": "2024", "key": "doe2024b"},
        ),
        (
            {"year": "2000", "key": "doe2000b", "eprint": "cs/0102001"},
            "expected 2001 or later",
            {"year": "2001", "key": "doe2001b"},
        ),
        (
            {"eprint": "2213.14135"},
            "an id that begins with year and month",
            {"eprint": "2212.14135"},
        ),
        (
            {"key": "doe2025b"},
            "key 'doe2025b', expected 2026 after the author's name",
            {"year": "2025"},
        ),
        ({"year": "3026", "key": "doe3026b"}, "year 3026", {"year": "2026", "key": "doe2026b"}),
        (
            {"kind": "article", "journal": "Acta", "key": "roe2026b"},
            "begins with the first author, Jane Doe",
            {"key": "doe2026b"},
        ),
        ({"eprint": "2605.00001", "key": "roe2026b"}, "rename the key", {"key": "doe2026b"}),
    ],
    "address": [
        (
            {"url": f"{URL}?utm_source=x&id=1"},
            "'utm_source' in url of doe2026b",
            {"url": f"{URL}?id=1"},
        ),
        (
            {"url": f"{URL}?id=1&amp;fbclid=x"},
            "no parameters that track readers",
            {"url": f"{URL}?id=1&b"},
        ),
        ({"url": f"{URL}#utm_medium=feed"}, "'utm_medium'", {"url": f"{URL}#part-2"}),
        (
            {"url": f"{URL}a;jsessionid=0A1B?x=1"},
            "no session of a single reader",
            {"url": f"{URL}a;v=2"},
        ),
        ({"code": f"{URL}?PHPSESSID=1"}, "'PHPSESSID' in code", {"code": URL}),
        ({"url": "https://bit.ly/3xYz"}, "the address that the short one leads to", {"url": URL}),
        ({"url": "https://me:word@acme.example/"}, "a user name", {"url": URL}),
        ({"url": "https://arxiv.org/abs/2605.00001"}, "expected the id in eprint", {"url": URL}),
        (
            {"url": "http://www.arxiv.org/pdf/2605.00001v2.pdf"},
            "the id in eprint",
            {"url": "https://arxiv.org/"},
        ),
        (
            {"url": "https://dx.doi.org/10.1000/1"},
            "expected the DOI in doi",
            {"url": "https://www.doi.org/"},
        ),
        (
            {"doi": "10.48550/arXiv.2605.00001"},
            "which arXiv gives to every paper",
            {"doi": "10.1000/1"},
        ),
    ],
    "venue": [
        (
            {"type": None, "eprint": "2605.00001"},
            "no venue in doe2026b, expected a venue, or preprint = {YYYY-MM-DD}",
            {"preprint": "2026-11-23"},
        ),
        (
            {"type": None, "eprint": "2605.00001"},
            "look for where it appeared",
            {"kind": "inproceedings", "booktitle": "Proceedings"},
        ),
        (
            {"type": None, "eprint": "2605.00001", "preprint": "2026-02-30"},
            "preprint '2026-02-30'",
            {"preprint": "2026-02-28"},
        ),
        (
            {
                "kind": "article",
                "journal": "Acta",
                "eprint": "2605.00001",
                "preprint": "2026-11-23",
            },
            "it has appeared: drop preprint",
            {"preprint": None},
        ),
        ({"preprint": "2026-11-23"}, "preprint without eprint", {"preprint": None}),
        (
            {
                "type": None,
                "eprint": "2605.00001",
                "preprint": "2026-11-23",
                "doi": "10.1145/3676536.3676747",
            },
            "only published works have a doi of a publisher",
            {"doi": "10.5281/zenodo.1234567"},
        ),
        ({"eprint": "2605.00001"}, "", {"year": "2026"}),  # a source of values has no venue
    ],
    "latex": [
        ({"title": r"The \unknowncommand{x} of it"}, "in title", {"title": r"The \emph{x} of it"}),
        ({"title": "An $a_{i}$ and {a {b}"}, "", {"title": "An $a_{i}$ and {a {b}}"}),
        ({"author": r"Doe, J\ana"}, "in author", {"author": r"Doe, J\'ana"}),
        (
            {"annote": "A loose ` accent ^x here."},
            "'^' in annote",
            {"annote": "Up 25\\% and 50%: a_b."},
        ),
        ({"note": "CafÃ© in the wrong table"}, "in note", {"note": "Café and {\\'e}t{\\'e}"}),
        ({"howpublished": "a\u0301 loose"}, "'\\u0301'", {"howpublished": "á loose"}),
    ],
}
ROWS = [(rule, *row) for rule, rows in EXAMPLES.items() for row in rows]


def write(world: World, changes: dict[str, Any]) -> None:
    fields = {
        "key": "doe2026b",
        **(PAPER if "eprint" in changes and "archive" not in str(changes) else {}),
        **changes,
    }
    world.write("bibliography/more.bib", bib(**fields))


@pytest.mark.parametrize(
    ("rule", "bad", "says", "mended"), ROWS, ids=[f"{r[0]}-{n}" for n, r in enumerate(ROWS)]
)
def test_a_rule_finds_its_example_and_keeps_quiet_otherwise(
    world: World, rule: str, bad: dict[str, Any], says: str, mended: dict[str, Any]
) -> None:
    bad = {"archiveprefix": None, **bad} if says == "expected archiveprefix = {arXiv}" else bad
    write(world, bad)
    problems = checker.lint()
    if says:
        assert [(p.rule, p.file, p.line) for p in problems] == [(rule, "bibliography/more.bib", 1)]
        assert says in str(problems[0])
        assert_clean(DataError(problems))
    write(world, {**bad, **mended})
    assert [str(problem) for problem in checker.lint()] == []


@pytest.mark.parametrize(
    "text",
    [
        *(r"\input{/etc/passwd} Why", r"\input/etc/passwd Why", r"$\input{/etc/passwd}$ Why"),
        *(r"$^^5cinput{/etc/passwd}$ Why", r"\include{x} Why", r"\title{A} Why", r"Why\today"),
        *(r"\href{javascript:alert(1)}{Why}", r"$\href{javascript:alert(1)}{x}$", r"\vspace{1m} a"),
        *(r"$\csname input\endcsname$ Why", r"$\def\x{y}$ Why", r"\includegraphics{x} Why"),
    ],
)
def test_a_reference_tells_tex_nothing(text: str, world: World) -> None:
    """`\\input` decodes to nothing, so no page showed it, and the published BibTeX read a file."""
    world.write("bibliography/all.bib", bib(title=text))
    assert {"latex", "markup"} & {problem.rule for problem in checker.lint()}


@pytest.mark.parametrize(
    "text", [r"$\mathcal{O}(n \log n)$ sorts", r"Beginning {\L}et \'e", "50\\%"]
)
def test_a_reference_may_have_formulas_and_accents(text: str, world: World) -> None:
    world.write("bibliography/all.bib", bib(title=text))
    assert "latex" not in {problem.rule for problem in checker.lint()}


def test_a_preamble_is_refused(world: World) -> None:
    text = '@preamble{"\\input{/etc/passwd}"}\n'
    world.write("bibliography/all.bib", text + bib())
    (problem, *_) = checker.lint()
    assert "a preamble, which TeX would run" in str(problem)


def test_a_month_in_words_with_a_day_is_read_by_its_first_letters(world: World) -> None:
    write(world, {"month": "Sept 3"})
    assert references()["doe2026b"].month == 9


def test_pages_go_by_their_outlet(world: World) -> None:
    """A page of a magazine is found under the magazine, whoever signed it."""
    write(world, {"kind": "online", "key": "acmenews2026b"})
    assert checker.lint() == []


@pytest.mark.parametrize(
    ("key", "author"),
    [
        ("muller2026b", 'M{\\"u}ller, Karl'),
        ("vandenberg2026b", "van den Berg, Jan"),
        ("oneil2026b", "O'Neil, Al"),
        ("sogaard2026b", "S{\\o}gaard, A."),
        ("nvidia2026b", "{NVIDIA Corporation}"),
        ("berg2026b", "van den Berg, J"),
        ("li-wei2026b", "Li-Wei, A."),
        ("cmu2026b", "{CMU}"),
    ],
)
def test_keys_are_names_in_plain_letters(world: World, key: str, author: str) -> None:
    write(world, {"kind": "article", "journal": "Acta", "key": key, "author": author})
    assert checker.lint() == []


@pytest.mark.parametrize(
    ("eprint", "month"),
    [
        ("2205.14135", (2022, 5)),
        ("2205.14135v2", (2022, 5)),
        ("cs/0102001", (2001, 2)),
        ("hep-th/9901001", (1999, 1)),
        ("math.GT/0309136", (2003, 9)),
        ("0704.0001", (2007, 4)),
        ("10.1000/x", None),
        ("", None),
    ],
)
def test_when_an_arxiv_id_was_given(eprint: str, month: tuple[int, int] | None) -> None:
    assert submission(eprint) == month


def test_letters_of_keys() -> None:
    assert [folded(name) for name in ("Müller", "Łukasz", "d'Été", "O’Neil-Ng", "Straße")] == [
        "muller",
        "lukasz",
        "dete",
        "oneilng",
        "strasse",
    ]


def test_names_are_cut_outside_braces() -> None:
    assert names("A, B and {C and D} and E, F\n  and G, {H and I}") == [
        "A, B",
        "{C and D}",
        "E, F",
        "G, {H and I}",
    ]
    assert names("") == []


@pytest.mark.parametrize("address", ["", "https://[", "nonsense", "https://a.example/;=&?=&#"])
def test_what_is_no_address_is_for_another_rule(address: str) -> None:
    assert list(faults(address)) == []


def test_a_topic_needs_three_works_or_a_reason(world: World) -> None:
    world.write("bibliography/topics.yaml", TOPICS.replace(", few: The sample has no works.", ""))
    (problem,) = found("thin")
    assert str(problem).startswith(
        "bibliography/topics.yaml:2:"
    ) and "found 0 works on 'chips'" in str(problem)
    world.write("bibliography/more.bib", "".join(bib(f"doe2026{n}") for n in "bcd"))
    assert len(found("thin")) == 1, "a source of values is no work"
    world.write("bibliography/more.bib", "".join(bib(f"doe2026{n}", type="paper") for n in "bcd"))
    assert checker.lint() == []
    world.write("bibliography/topics.yaml", TOPICS)
    (problem,) = found("thin")
    assert "'few' at 'chips' with 3 works" in problem.found and "remove it" in problem.mend


def test_works_of_the_children_count_once(world: World) -> None:
    child = "children: [{id: links, title: Links, intro: What links do.}]"
    world.write("bibliography/topics.yaml", TOPICS.replace("few: The sample has no works.", child))
    world.write(
        "bibliography/more.bib",
        bib("doe2026b", type="blog", keywords="links, chips")
        + bib("doe2026c", type="blog", keywords="links")
        + bib("doe2026d", keywords="links"),
    )
    assert [problem.found for problem in found("thin")] == [
        "2 works on 'chips'",
        "2 works on 'links'",
    ]


def test_no_rule_of_references_hides_the_others(world: World) -> None:
    write(
        world,
        {"author": "Jane Doe", "month": "13", "url": "https://bit.ly/x", "title": "A \\strange{x}"},
    )
    assert sorted(p.rule for p in checker.lint()) == ["address", "author", "fields", "latex"]


def test_two_values_for_one_field_are_told(world: World) -> None:
    world.write("bibliography/more.bib", bib("doe2026b", title="{A} # {B}"))
    world.write(
        "bibliography/more.bib", bib("doe2026b").replace("{The work doe2026b}", "{A} # {B}")
    )
    assert [problem.found for problem in found("fields")] == [
        "doe2026b with fields that cannot be told apart"
    ]


def test_the_template_of_the_readme_uses_known_fields() -> None:
    assert {
        "author",
        "booktitle",
        "eprint",
        "code",
        "keywords",
        "annote",
        "urldate",
        "tier",
        "howpublished",
    } <= KNOWN
    assert datetime.date.today().year >= 2026 and SOURCE.startswith("acme2026")
