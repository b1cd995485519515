"""A new entry: its key, its file, its text, and its place among the others."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.checks.fixes import fixed
from flopbook.contributing.metadata import Work
from flopbook.contributing.new_reference import (
    NEW_FILE,
    entry_text,
    insert,
    key_of,
    known_as,
    latex,
    pick_file,
    title_text,
)
from flopbook.data.bibtex_text import read_entry
from flopbook.data.identifiers import identify
from flopbook.data.reference import Person, Reference
from flopbook.data.references import decode, read_bib
from flopbook.data.works import find_work, on_file
from flopbook.errors import FlopbookError, UnknownName
from tests.support.samples import SOURCE, World, bib, write

DOE = Person("Doe", "Jane")
WORK = Work(
    "The Bus of a {Chip} & its GPU-to-GPU Links", (DOE, Person("Acme Team", "", True)), 2026, 11
)


@pytest.mark.parametrize(
    ("work", "taken", "key"),
    [
        (WORK, (), "doe2026bus"),
        (WORK, ("doe2026bus",), "doe2026chip"),
        (WORK._replace(title="On the Of"), (), "doe2026on"),
        (WORK._replace(title="2048"), (), "doe20262048"),
        (WORK._replace(title=""), (), "doe2026work"),
        (WORK._replace(title="Bus"), ("doe2026bus",), "doe2026busb"),
        (WORK._replace(people=(Person("van den Berg", "Jan"),)), (), "vandenberg2026bus"),
        (WORK._replace(people=(Person("Müller", "K."),)), (), "muller2026bus"),
        (WORK._replace(people=(Person("NVIDIA Corporation", "", True),)), (), "nvidia2026bus"),
        (WORK._replace(people=(Person("21ic", "", True),)), (), "x21ic2026bus"),
        (WORK._replace(people=(), url="https://blog.acme.example/a"), (), "acme2026bus"),
        (WORK._replace(people=()), (), "x2026bus"),
    ],
)
def test_keys(work: Work, taken: tuple[str, ...], key: str) -> None:
    assert key_of(work, taken) == key


@given(st.text(max_size=40), st.text(max_size=20), st.integers(1900, 2100))
def test_a_key_has_its_form_and_is_free(title: str, family: str, year: int) -> None:
    work = Work(title, (Person(family, "J."),) if family else (), year)
    taken: set[str] = set()
    for _ in range(4):
        key = key_of(work, taken)
        assert (
            key not in taken
            and str(year) in key
            and key.isascii()
            and key[0].isalpha()
            and key == key.lower()
        )
        taken.add(key)


# What services send: plain Unicode, and now and then LaTeX.
TITLE = st.lists(
    st.sampled_from(
        [
            "GPU",
            "a",
            "of",
            "é",
            "H100's",
            "50%",
            "A&B",
            "x_y",
            "#1",
            "$O(n)$",
            "$5",
            "~",
            "^",
            "{",
            "}",
            "C++",
            "(LLMs)",
            "GPT-3:",
            "{FP8}",
            "vLLM,",
            "“Big”",
        ]
    ),
    min_size=1,
    max_size=6,
).map(" ".join)


@given(TITLE)
def test_a_title_comes_back_as_it_was(title: str) -> None:
    """What we write decodes to what the service said, braces aside, and is one whole entry."""
    text = entry_text("doe2026x", WORK._replace(title=title))
    entry = read_entry(text)
    assert entry is not None
    assert decode(title_text(title)) == " ".join(title.replace("{", "").replace("}", "").split())
    assert fixed(text + "\n", bibliography=True)[0] == text + "\n"


def test_the_text_of_an_entry(tmp_path: Path) -> None:
    work = WORK._replace(
        type="inproceedings",
        venue=("booktitle", "Acme & Co"),
        more=(("pages", "1--2"),),
        doi="10.1145/1.2",
        eprint="2611.00001",
    )
    text = entry_text("doe2026bus", work, "chips")
    assert (
        text
        == """\
@inproceedings{doe2026bus,
  author = {Doe, Jane and {Acme Team}},
  title = {The Bus of a {Chip} \\& its {GPU-to-GPU} Links},
  booktitle = {Acme \\& Co},
  pages = {1--2},
  year = {2026},
  month = nov,
  doi = {10.1145/1.2},
  eprint = {2611.00001},
  archiveprefix = {arXiv},
  keywords = {chips},
  annote = {}
}"""
    )
    (reference,) = read_bib(write(tmp_path / "x.bib", text))
    assert (reference.title, reference.people, reference.month) == (
        "The Bus of a Chip & its GPU-to-GPU Links",
        (DOE, Person("Acme Team", "", True)),
        11,
    )


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a & b", r"a \& b"),
        (r"a \& b", r"a \& b"),
        ("$x_1$ and x_1", r"$x_1$ and x\_1"),
        ("{a", "a"),
        ("}{", ""),
        ("5$", r"5\$"),
        ("a~b^c", r"a{\textasciitilde}b^c"),
    ],
)
def test_what_latex_would_take_for_a_command(text: str, written: str) -> None:
    assert latex(text) == written


def items(**files: list[dict[str, Any]]) -> list[Reference]:
    """References of some files, with what matters for the choice of a file."""
    with tempfile.TemporaryDirectory() as folder:
        (sample,) = read_bib(write(Path(folder) / "x.bib", bib(url=None, title="T")))
    return [
        replace(sample, key=f"{name}{n}", file=f"bibliography/{name}.bib", **fields)
        for name, rows in files.items()
        for n, fields in enumerate(rows)
    ]


FILES = items(
    kernels=[{"title": "Fast kernels on a bus", "topics": ("kernels", "links")}] * 3,
    linksbib=[
        {"title": "Slow links and rings", "topics": ("links",)},
        {"title": "Rings", "topics": ("links",)},
    ],
    webpages=[{"title": "A page", "url": "https://blog.acme.example/1"}, {"title": "Fast things"}],
)


@pytest.mark.parametrize(
    ("work", "topic", "file"),
    [
        (WORK, "links", "linksbib.bib"),
        (WORK, "kernels", "kernels.bib"),
        (WORK, "nothing", NEW_FILE),
        (Work("Ring exchange on links"), None, "linksbib.bib"),
        (Work("Kernels for chips"), None, "kernels.bib"),
        (Work("Kernels", url="https://www.blog.acme.example/2"), None, "webpages.bib"),
        (Work("Kernels", url="https://other.example/2"), None, "kernels.bib"),
        (Work("Whales"), None, NEW_FILE),
        (Work(), None, NEW_FILE),
    ],
)
def test_the_file_is_the_one_with_its_like(work: Work, topic: str | None, file: str) -> None:
    assert pick_file(work, topic, FILES) == file


@pytest.mark.parametrize(
    ("text", "work"),
    [
        ("2611.00001v3", Work()),
        ("10.1145/1.2", Work()),
        ("https://acme.example/other", Work(eprint="2611.00001")),
        ("https://acme.example/other", Work(doi="10.1145/1.2")),
        ("https://acme.example/x", Work(title="the: WORK!")),
        ("https://acme.example/acme2026one", Work()),
    ],
)
def test_a_work_that_is_there(world: World, text: str, work: Work) -> None:
    fields = {
        "eprint": "2611.00001v1",
        "doi": "10.1145/1.2",
        "title": "The {Work}",
        "code": "https://github.com/Acme/Work",
    }
    world.write("bibliography/all.bib", bib(**fields))
    twin = known_as(identify(text), work, on_file().values())  # type: ignore[arg-type]
    assert twin is not None and twin.key == SOURCE
    for address in ("2611.00002", "https://github.com/acme/work"):
        assert known_as(identify(address), Work(title="Another"), on_file().values()) is None  # type: ignore[arg-type]
    assert find_work("https://github.com/acme/work").key == SOURCE


def test_an_unfinished_or_broken_neighbour_hides_nothing(world: World) -> None:
    world.write("bibliography/a.bib", bib("doe2026a", annote=None, keywords=None))
    world.write("bibliography/b.bib", "@misc{broken,")
    assert set(on_file()) == {SOURCE, "doe2026a"}


@given(st.lists(st.sampled_from("abcdefg"), unique=True, min_size=1), st.sampled_from("abcdefg"))
def test_an_entry_finds_its_place(
    tmp_path_factory: pytest.TempPathFactory, letters: list[str], new: str
) -> None:
    """In the order of the keys, with every other entry and comment as it was."""
    path = tmp_path_factory.mktemp("bib") / "x.bib"
    old = sorted(set(letters) - {new})
    head = "% about this file\n\n"
    path.write_text(head + "\n".join(bib(f"{letter}2026x") for letter in old), encoding="utf-8")
    insert(path, f"{new}2026x", bib(f"{new}2026x").strip())
    text = path.read_text(encoding="utf-8")
    assert text == head + "\n".join(bib(f"{letter}2026x") for letter in sorted({*old, new}))
    assert fixed(text, bibliography=True)[1] == [] and list(path.parent.iterdir()) == [path]


def test_a_new_file_and_one_that_is_no_text(tmp_path: Path) -> None:
    insert(tmp_path / "new.bib", SOURCE, bib().strip())
    assert (tmp_path / "new.bib").read_text(encoding="utf-8") == bib()
    path = write(tmp_path / "x.bib", b"\xff")
    with pytest.raises(FlopbookError, match="not UTF-8"):
        insert(path, SOURCE, bib())
    assert path.read_bytes() == b"\xff"


@pytest.mark.parametrize(
    "text",
    [
        SOURCE,
        "2611.00001",
        "10.1145/1.2",
        f"https://acme.example/{SOURCE}",
        "quick links",
        "LINKS",
        "chip-to-chip",
        "chip to",
    ],
)
def test_a_work_is_found_by_what_people_know(world: World, text: str) -> None:
    title = "Quick {Chip-to-Chip} Links"
    world.write(
        "bibliography/all.bib",
        bib(title=title, eprint="2611.00001", doi="10.1145/1.2") + bib("doe2026b"),
    )
    assert find_work(text).key == SOURCE


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "2611.99999",
            "no work of the bibliography is 2611.99999; flopbook new reference 2611.99999",
        ),
        ("work", f"2 titles have 'work': {SOURCE}, doe2026b"),
        ("whales", "unknown reference 'whales'"),
        ("", "unknown"),
        ("---", "unknown reference"),
        ("doe2026c", "nearest: doe2026b"),
    ],
)
def test_a_work_that_cannot_be_found(world: World, text: str, says: str) -> None:
    world.write("bibliography/more.bib", bib("doe2026b"))
    with pytest.raises((FlopbookError, UnknownName), match=says):
        find_work(text)
