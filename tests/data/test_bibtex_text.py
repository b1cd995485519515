"""BibTeX as text: laid out anew it means what it meant, and nothing that people wrote is lost."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pybtex.database import parse_string

from flopbook.checks.fixes import fixed
from flopbook.data.bibtex_scan import headings, tiers
from flopbook.data.bibtex_text import KNOWN, LAST, ORDER, pieces, print_entry, read_entry
from flopbook.data.library import library, references
from tests.support.samples import bib

# Values in all the ways that people write them: braces in braces, accents, quotes, bare words,
# several lines.
TEXT = st.lists(
    st.sampled_from(
        [
            "a",
            "B c",
            "{GPU}",
            "{\\'e}",
            '{\\"u}',
            ", ",
            " = ",
            "@misc",
            "é",
            "50\\%",
            "\n   ",
            "#",
            "--",
        ]
    ),
    min_size=1,
    max_size=6,
).map("".join)
VALUE = st.one_of(
    TEXT.map(lambda text: "{" + text + "}"),
    TEXT.map(lambda text: '"' + text + '"'),
    st.sampled_from(["jan", "2026", "{}", '"{"}"', '{say "x"}']),
)
NAME = st.sampled_from([*ORDER, *LAST, "isbn13", "Mytier"])
BODY = st.dictionaries(NAME, VALUE, max_size=8)
SPACE = st.sampled_from(["", " ", "\n", "\n  ", "\t", "   "])


@st.composite
def entries(draw: st.DrawFn, key: str = "doe2026one") -> str:
    """An entry in somebody's own layout."""
    space = [draw(SPACE) for _ in range(4)]
    fields = [f"{space[0]}{name}{space[1]}={space[2]}{body}" for name, body in draw(BODY).items()]
    kind = draw(st.sampled_from(["misc", "Article", "INPROCEEDINGS"]))
    comma = draw(st.sampled_from(["", ","])) if fields else ""
    return f"@{kind}{{{key},{','.join(fields)}{comma}{space[3]}}}"


def parsed(text: str) -> dict[str, tuple]:
    """What pybtex reads: key -> type and fields. Names are texts here: not every text is one."""
    by_key = parse_string(text, "bibtex", person_fields=()).entries
    return {
        key: (entry.type, {name.lower(): content for name, content in entry.fields.items()})
        for key, entry in by_key.items()
    }


@example("@misc{doe2026one,author={, , , }}")
@given(entries())
def test_an_entry_laid_out_anew_means_the_same(text: str) -> None:
    entry = read_entry(text)
    assert entry is not None
    again = print_entry(entry)
    before, after = parsed(text), parsed(again)
    assert before == after
    once_more = read_entry(again)
    assert once_more is not None and print_entry(once_more) == again
    assert sorted(once_more.fields) == sorted(entry.fields)


COMMENT = st.sampled_from(["", "\n", "\n\n\n", "% why this one\n", "\nfree text\n\n"])


@given(st.lists(st.tuples(COMMENT, st.sampled_from("abcdefg")), max_size=5), st.data())
def test_a_file_laid_out_anew_means_the_same_and_keeps_its_comments(
    parts: list, data: st.DataObject
) -> None:
    """Parsed before equals parsed after, for any order, layout and comments; and it stays as it is
    from then on.
    """
    text = ""
    for number, (comment, letter) in enumerate(parts):
        text += f"{comment}{data.draw(entries(f'{letter}{number}2026x'))}\n"
    mended, _ = fixed(text, bibliography=True)
    before, after = parsed(text), parsed(mended)
    assert before == after
    for line in ("% why this one", "free text"):
        assert text.count(line) == mended.count(line)
    assert fixed(mended, bibliography=True) == (mended, [])
    # A value that has a line like the beginning of an entry keeps the file as it is.
    is_clear = len(re.findall(r"^\s*@", text, re.MULTILINE)) == len(parts)
    if is_clear and "%" not in text.replace("\\%", "") and "free" not in text:
        assert list(after) == sorted(before)


@given(st.text(alphabet='@misc{}=,"\n abc\\#%é()', max_size=60))
def test_any_text_comes_out_of_its_pieces(text: str) -> None:
    assert "".join(entry + behind for _, entry, behind in pieces(text)) == text
    read_entry(text)  # never raises


@pytest.mark.parametrize(
    "text",
    [
        "@misc{a2026b, title = {x} # {y}}",
        "@misc{a2026b, title = {x}, title = {y}}",
        "@misc{a2026b, title {x}}",
        "@string{x = {y}}",
        "@comment{a2026b, title = {x}}",
        "@misc{a2026b, title = {x}",
        "@misc{a2026b, % why\n}",
        "",
        "@misc(a2026b, title = {x})",
        "@misc{a2026b, title = }",
        "@misc{, title = 1}",
    ],
)
def test_what_cannot_be_told_apart_is_left_alone(text: str) -> None:
    assert read_entry(text) is None
    content = text + "\n"
    assert fixed(content, bibliography=True)[0].strip() == text.strip()


def test_text_behind_an_entry_stays_behind_it() -> None:
    text = "@misc{b2026x, title = {x}} rest\n@misc{a2026x}\n"
    assert read_entry(text) is None
    assert (
        fixed(text, bibliography=True)[0]
        == "@misc{b2026x,\n  title = {x}\n} rest\n@misc{a2026x\n}\n"
    )


def test_the_order_of_fields() -> None:
    entry = read_entry(
        '@MISC{doe2026x,annote={n},Zebra=1,keywords={k},Title="T",author={Doe, Jane},}'
    )
    assert entry is not None and entry.texts["title"] == "T"
    assert print_entry(entry) == (
        '@misc{doe2026x,\n  author = {Doe, Jane},\n  title = "T",\n  zebra = 1,\n'
        "  keywords = {k},\n  annote = {n}\n}"
    )


def test_an_entry_without_fields() -> None:
    entry = read_entry("@misc{doe2026x,}")
    assert entry is not None and print_entry(entry) == "@misc{doe2026x\n}"
    assert parsed("@misc{doe2026x,}") == parsed(print_entry(entry))


def test_a_sample_is_in_the_layout_of_the_house() -> None:
    entry = read_entry(bib().strip())
    assert entry is not None and print_entry(entry) + "\n" == bib()


def test_the_real_bibliography_is_read_as_pybtex_reads_it() -> None:
    """Field by field, our reading of the text equals the parser's, and laying it out changes no
    meaning.
    """
    for path in sorted(library().bibliography.glob("*.bib")):
        text = path.read_text(encoding="utf-8")
        mended, _ = fixed(text, bibliography=True)
        assert parsed(text) == parsed(mended), path.name
    for reference in references().values():
        entry = read_entry(reference.bibtex)
        assert entry is not None and entry.key == reference.key and set(entry.texts) <= KNOWN
        assert entry.texts.get("year") == str(reference.year)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("@misc{a,\n}", [("a", 0)]),
        ("@misc { a }", [("a", 0)]),
        ("  @misc{a, b = 1}", [("a", 2)]),
        ("@comment{a, b}\n@String{x = 1}\n", [("", 0), ("", 15)]),
        ("write to doe@misc{a,\n", []),
        ("@misc{a,\n  note = {@online{b,}},\n}\n@book{c,}", [("a", 0), ("c", 35)]),
    ],
)
def test_where_entries_begin(text: str, expected: list[tuple[str, int]]) -> None:
    """At the start of a line; what has no key still ends the entry before it."""
    assert [*headings(text)] == expected


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("tier = {press}", {"a": "press"}),
        ("year = 1, TIER={press}", {"a": "press"}),
        ("\ttier = {press}", {"a": "press"}),
        ("frontier = {press}", {}),
        ("note = {of tier = {press}}", {}),
    ],
)
def test_a_tier_is_a_field(field: str, expected: dict[str, str]) -> None:
    assert dict(tiers(f"@misc{{a,\n{field},\n}}\n")) == expected
    assert dict(tiers(f"@comment{{\n{field},\n}}\n")) == {}


def test_a_letter_that_grows_in_lower_case_moves_no_place() -> None:
    assert dict(tiers("% İİ\n@misc{a,\ntier = {press},\n}\n@misc{b, year = 1}")) == {"a": "press"}
