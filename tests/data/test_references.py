"""The BibTeX reader: what it decodes, how a reference is named, and the fast scan of tiers that
must equal the parse.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flopbook.data import library as library_
from flopbook.data import references as refs
from flopbook.data.bibtex_plain import plain_entries
from flopbook.data.library import source_tiers
from flopbook.data.reference import Reference
from flopbook.data.reference_rules import KINDS
from flopbook.errors import DataError, UnknownName
from flopbook.hardware.choice import TIERS
from tests.support.samples import SOURCE, World, assert_clean, bib, write

TOKENS = st.sampled_from(
    [
        "@article{",
        "a2020b",
        ",",
        "\n",
        "{",
        "}",
        '"',
        "title",
        "=",
        "author",
        "# ",
        "\\",
        "\\frac",
        "$",
        "~",
        "%",
        "@string{",
        "@comment{",
        "@preamble{",
        "and ",
        "A, B, C, D",
        "\x00",
        "\x1b",
        "é",
        "year",
        "2020",
        "(",
        ")",
        "month = jan,",
        "\\'",
        "\\begin{x}",
        "\\verb|",
        "--",
        "\\(",
        "^",
        "_",
        "&",
        "#",
        "\\input{/etc/passwd}",
    ]
)


def read_one(world: World, **changes: str | None) -> Reference:
    world.write("bibliography/all.bib", bib(**changes))
    return library_.references()[SOURCE]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(st.lists(TOKENS, max_size=30).map("".join), st.booleans())
def test_garbage_gives_references_or_a_data_error(tmp_path: Path, text: str, inside: bool) -> None:
    """Nothing but DataError leaves the reader, whether the garbage is the file or one title."""
    path = write(tmp_path / "x.bib", bib(title=text, author=text) if inside else text)
    try:
        for reference in refs.read_bib(path):
            assert isinstance(reference, Reference) and refs.csl(reference)["id"] == reference.key
    except DataError as error:
        assert_clean(error)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=80))
def test_garbage_bytes_give_references_or_a_data_error(tmp_path: Path, data: bytes) -> None:
    try:
        list(refs.read_bib(write(tmp_path / "x.bib", data)))
    except DataError as error:
        assert_clean(error)


FIELD = st.sampled_from(
    [
        "title = {A {tier = x} of it}",
        "year = 2026",
        'note = "tier"',
        "annote = {All\n  tier of memory\n tiers = many}",
        "  author = {Doe, Jane}",
        "keywords = {tier}",
        "mytier = {press}",
    ]
)


TIER = st.none() | st.builds(
    lambda name, tier, marks, gap: f"{name}{gap}={gap}{marks[0]}{tier}{marks[1]}",
    st.sampled_from(["tier", "Tier", "TIER", "  tier", "\ttier"]),
    st.sampled_from(TIERS),
    st.sampled_from(["{}", '""']),
    st.sampled_from(["", " ", "   "]),
)


ENTRY = st.tuples(
    st.lists(FIELD, max_size=4),
    TIER,
    st.randoms(use_true_random=False),
    st.sampled_from([",\n", ", "]),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(ENTRY, max_size=5))
def test_the_fast_scan_of_tiers_equals_the_parse(world: World, entries: list[Any]) -> None:
    """However an entry is laid out, the line scan sees the tier that pybtex sees."""
    text = "Free text: tier = {press}\n" if not entries else ""
    for number, (fields, tier, random, comma) in enumerate(entries):
        names = {field.split("=")[0].strip(): field for field in fields}
        parts = [*names.values(), *([tier] if tier else [])]
        random.shuffle(parts)
        close = random.choice([",\n}", "\n}", "}"])
        text += (
            f"@misc{{key{number}2026x,{random.choice([chr(10), ' '])}{comma.join(parts)}{close}\n"
        )
    path = world.root / world.write("bibliography/all.bib", text)
    parsed = {work.key: work.tier for work in refs.read_bib(path) if work.tier}
    scanned = source_tiers()
    assert {key: tier for key, tier in scanned.items() if key} == parsed


def test_the_fast_scan_equals_the_parse_of_our_bibliography() -> None:
    assert source_tiers() == {
        key: work.tier for key, work in library_.references().items() if work.tier
    }


def test_a_reference_is_decoded(world: World) -> None:
    work = read_one(
        world,
        author=r"M{\"u}ller, J{\"o}rg and {{Big Lab}} and van der Berg, Jan, Jr.",
        title=r"The {GPU} \& $O(n)$",
        month="mar",
        doi="10.1000/x_1",
        eprint="2205.14135",
        publisher="Acme Press",
        keywords="chips, links",
    )
    assert [p.full for p in work.people][:2] == ["Jörg Müller", "Big Lab"]
    assert [p.organisation for p in work.people] == [False, True, False]
    assert work.title == "The GPU & O(n)" and (work.year, work.month) == (2026, 3)
    assert work.venue == "Acme Press" and work.topics == ("chips", "links") and work.type == "misc"
    assert (
        work.bibtex == (world.root / "bibliography/all.bib").read_text().strip() and work.line == 1
    )
    record = refs.csl(work)
    assert record["issued"] == {"date-parts": [[2026, 3]]} and record["author"][1] == {
        "literal": "Big Lab"
    }
    assert record["DOI"] == "10.1000/x_1" and record["topics"] == ["chips", "links"]


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"kind": "article"}, "paper"),
        ({"kind": "inproceedings"}, "paper"),
        ({"kind": "incollection"}, "paper"),
        ({"kind": "book"}, "book"),
        ({"kind": "phdthesis"}, "thesis"),
        ({"kind": "mastersthesis"}, "thesis"),
        ({"kind": "techreport"}, "white paper"),
        ({"kind": "unpublished"}, "notes"),
        ({"kind": "misc", "eprint": "2205.14135"}, "paper"),
        ({"kind": "misc", "doi": "10.1000/x"}, "paper"),
        ({"kind": "online", "doi": "10.1000/x", "keywords": "models"}, "source"),
        ({"keywords": "accelerators-acme"}, "source"),
        ({"type": "Blog"}, "blog"),
        ({"type": "filing"}, "filing"),
        ({"kind": "techreport", "type": "source"}, "source"),
    ],
)
def test_what_a_reader_calls_it(world: World, changes: dict[str, Any], kind: str) -> None:
    """The field `type` decides, else the type of the entry; a web page without either only gives
    values.
    """
    work = read_one(world, **{"type": None, **changes})
    assert (
        work.kind == kind and work.is_work == (kind != "source") and refs.csl(work)["genre"] == kind
    )


def test_every_work_says_what_it_is_and_sources_stand_apart() -> None:
    """Hundreds of pages give values only; the works do not drown in them."""
    kinds = {work.kind for work in library_.references().values()}
    assert kinds <= set(KINDS) and {"paper", "blog", "source"} <= kinds
    for key in ("williams2009roofline", "he2022brrrr", "nvidia2022hopper", "austin2025scaling"):
        assert library_.reference(key).is_work
    for key in ("aiwiki2026h200", "nvidia2024h200sheet", "meta2024llama3card"):
        assert not library_.reference(key).is_work


@pytest.mark.parametrize(
    ("changes", "link"),
    [
        ({}, f"https://acme.example/{SOURCE}"),
        ({"url": None, "doi": "10.1000/x"}, "https://doi.org/10.1000/x"),
        ({"url": None, "eprint": "2205.14135v2"}, "https://arxiv.org/abs/2205.14135v2"),
        ({"url": None, "eprint": "cs/0102001"}, "https://arxiv.org/abs/cs/0102001"),
    ],
)
def test_where_to_read_it(world: World, changes: dict[str, Any], link: str) -> None:
    assert read_one(world, **changes).link == link


@pytest.mark.parametrize(
    ("author", "short", "authors"),
    [
        ("Doe, Jane", "Doe 2026", "Jane Doe"),
        ("Doe, Jane and Roe, Ann", "Doe and Roe 2026", "Jane Doe and Ann Roe"),
        ("Doe, Jane and Roe, Ann and Poe, Al", "Doe et al. 2026", "Jane Doe, Ann Roe and Al Poe"),
        ("A, B and C, D and E, F and G, H", "A et al. 2026", "B A and 3 others"),
    ],
)
def test_names_in_running_text(world: World, author: str, short: str, authors: str) -> None:
    work = read_one(world, author=author)
    assert (work.short, work.authors) == (short, authors)


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"saves 25\% of {GPU} hours", "saves 25% of GPU hours"),
        (r"gpu\_poor \& AT&T, \$5 a day, \#1", "gpu_poor & AT&T, $5 a day, #1"),
        (r"5\% of $x_1$", "5% of $x_1$"),
        (r"5\%--6\% for Nicol{\'a}s", "5%\N{EN DASH}6% for Nicolás"),
    ],
)
def test_escaped_signs_are_those_signs(latex: str, text: str) -> None:
    assert refs.decode(latex) == text


def test_an_unknown_key_offers_the_nearest(world: World) -> None:
    assert library_.reference(SOURCE).key == SOURCE
    with pytest.raises(UnknownName, match=f"unknown reference 'acme2026won'; nearest: {SOURCE}"):
        library_.reference("acme2026won")


def test_an_empty_bibliography_has_no_references(world: World) -> None:
    world.write("bibliography/all.bib", "")
    assert library_.references() == {} and source_tiers() == {}


def test_plain_files_are_read_as_pybtex_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of ours are plain, and nothing of them is read in another way."""
    paths = sorted(library_.library().bibliography.glob("*.bib"))
    taken = {path: list(refs.read_bib(path)) for path in paths}
    monkeypatch.setattr(refs, "plain_entries", lambda *_: None)
    assert taken == {path: list(refs.read_bib(path)) for path in paths}


NAMES = (
    *(
        "Dao, Tri",
        "van den Berg, Rianne",
        "{NVIDIA}",
        "Tri Dao",
        "Dao,",
        "Sutskever, Ilya and others",
        "",
    ),
    *("{Google DeepMind} and Dean, Jeff", "Smith, Jr, John", "de la Cruz, Ana Maria", "others"),
    *('{\\"O}zel, A. and Br{\\"u}ck, B.', "Quinonero-Candela, Joaquin~A.", "{A and B} AND C, D"),
)


@pytest.mark.parametrize("author", NAMES)
def test_plain_names_are_those_of_pybtex(
    author: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.bib"
    path.write_text(f"@misc{{key,\n  author = {{{author}}},\n  month = Mar,\n  year = 2024\n}}\n")
    (plain,) = refs.read_bib(path)
    monkeypatch.setattr(refs, "plain_entries", lambda *_: None)
    assert [plain] == list(refs.read_bib(path))


@pytest.mark.parametrize(
    "text",
    [
        '@string{acm = "ACM"}\n@misc{a, publisher = acm}\n',
        "@misc{a, title = {A} # { B}}\n",
        "@misc{a, title = {A}}\nA remark.\n",
        "@misc{a, title = {A}, crossref = {b}}\n\n@misc{b, year = 2020}\n",
        "@misc{a, title = {A}}\n\n@misc{A, title = {B}}\n",
        "@misc{a, author = {A, B, C, D, E}}\n",
        "@comment{a}\n@misc{b, title = {B}}\n",
    ],
)
def test_what_has_to_be_worked_out_is_left_to_pybtex(text: str) -> None:
    sources = ((key, source) for key, (_, source) in dict(refs._places(text)).items())
    assert plain_entries(text, sources) is None


@pytest.mark.parametrize(
    ("latex", "title"),
    [
        (
            "Self-attention Does Not Need {$O(n^2)$} Memory",
            "Self-attention Does Not Need O(n²) Memory",
        ),
        ("{A$^3$}: Accelerating Attention", "A³: Accelerating Attention"),
        (r"Serving on \$60 {GPUs} at \$5", "Serving on $60 GPUs at $5"),
        (r"A sum of $\sum_i x_i$", r"A sum of $\sum_i x_i$"),
    ],
)
def test_a_title_has_no_maths_that_letters_can_say(world: World, latex: str, title: str) -> None:
    assert read_one(world, title=latex).title == title
