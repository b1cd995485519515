"""Our sentences are ours.

None shares eight words in a row with the documents that the project grew from.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from flopbook.data.bibtex_text import read_entry
from flopbook.data.library import references
from scripts.seed_runs import BYTES, RUN, Runs, runs, words

ROOT = Path(__file__).resolve().parents[1]
HASHES = Path(__file__).with_name("seed_runs.bin")
PROSE = ("*.md", "docs/**/*.md", "accelerators/*.md", "bibliography/*.md", "calculators/*.md")
DATA = ("accelerators/**/*.yaml", "bibliography/**/*.yaml", "calculators/models/*.yaml")
CODE = ("calculators/flopbook/**/*.py", "calculators/notebooks/*.py", "scripts/**/*.py")
# What is printed by a source and marked as its words; titles and names are nobody's sentences.
QUOTED = ("quote", "title", "name", "address", "url", "website")
_PASSAGE = re.compile(r'"[^"\n]{0,400}"|“[^”]{0,400}”')
_TEMPLATE = re.compile(
    r"\{\{.*?\}\}|\{%.*?%\}|```.*?```|\$\$.*?\$\$", re.DOTALL
)  # expressions, code and formulas are no sentences


class Text(NamedTuple):
    """A passage of ours and where it begins."""

    file: str
    line: int
    text: str


def ours() -> Iterator[Text]:
    """Everything that we wrote for readers."""
    for item in references().values():
        for name in ("annote", "note"):
            yield Text(item.file, item.line, getattr(item, name))
    for path in paths(PROSE):
        text = path.read_text(encoding="utf-8")
        yield Text(
            label(path), 1, _TEMPLATE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
        )
    for path in paths(DATA):
        yield from data_texts(path)
    for path in paths(CODE):
        yield from code_texts(path)


def paths(patterns: tuple[str, ...]) -> list[Path]:
    return sorted(
        path for pattern in patterns for path in ROOT.glob(pattern) if ".venv" not in path.parts
    )


def label(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def data_texts(path: Path) -> Iterator[Text]:
    """The strings of a YAML file, less quotations and names."""

    def walk(node: yaml.Node, name: str) -> Iterator[Text]:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                yield from walk(value, key.value)
        elif isinstance(node, yaml.SequenceNode):
            for value in node.value:
                yield from walk(value, name)
        elif name not in QUOTED and " " in node.value:
            yield Text(label(path), node.start_mark.line + 1, node.value)

    yield from walk(yaml.compose(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader), "")


def code_texts(path: Path) -> Iterator[Text]:
    """Docstrings, and the longer strings that commands and pages print."""
    source = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and node.value.count(" ") >= RUN - 1
        ):
            yield Text(label(path), node.lineno, node.value)
    if "notebooks" in path.parts:
        comments = (line[1:] if line.startswith("#") else "" for line in source.split("\n"))
        yield Text(label(path), 1, "\n".join(comments))


def shared(text: Text, others: Runs, excepted: frozenset[bytes] = frozenset()) -> Iterator[str]:
    """Each run of a passage that others wrote, as file:line: words."""
    plain = _PASSAGE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text.text)
    found = words(plain)
    for digest, start in runs(found):
        if digest in others and digest not in excepted:
            line = text.line + plain.count("\n", 0, found[start].place)
            passage = " ".join(word.text for word in found[start : start + RUN])
            yield f"{text.file}:{line}: {passage}"


def titles() -> frozenset[bytes]:
    """Runs inside titles and lists of authors, which every list of works has to repeat."""
    texts = []
    for item in references().values():
        raw = read_entry(item.bibtex)
        texts += [item.title, item.venue, " ".join(person.full for person in item.people)]
        texts += [raw.texts.get("author", "")] if raw else []
    return frozenset(digest for text in texts for digest, _ in runs(words(text)))


def test_no_sentence_of_ours_is_theirs() -> None:
    """Facts and figures carry over, sentences do not: mend the line, in words of your own."""
    others, excepted = Runs(HASHES.read_bytes()), titles()
    assert [hit for text in ours() for hit in shared(text, others, excepted)] == []


def test_the_walk_sees_every_kind_of_text() -> None:
    files = {text.file for text in ours() if text.text}
    kinds = (
        "README.md",
        "docs/handbook/roofline.md",
        "bibliography/topics.yaml",
        "bibliography/claims/slides.yaml",
        "calculators/flopbook/formulas/rooflines.py",
        "accelerators/nvidia/h100-sxm.yaml",
    )
    assert set(kinds) <= files and any(name.endswith(".bib") for name in files)


def test_the_hashes_are_whole() -> None:
    data = HASHES.read_bytes()
    others = Runs(data)
    assert len(data) % BYTES == 0 and len(others) > 20_000 and len(data) < 300_000
    rows = [data[place : place + BYTES] for place in range(0, len(data), BYTES)]
    assert rows == sorted(set(rows)) and all(row in others for row in rows[::97])


PARTS = [
    "the",
    "chip",
    "has",
    "a",
    "wide",
    "bus",
    "that",
    "moves",
    "3.35",
    "TB/s",
    "of",
    "data;",
    "don't",
]
SENTENCE = st.lists(st.sampled_from(PARTS), min_size=8).filter(
    lambda parts: list(runs(words(" ".join(parts))))
)


@given(SENTENCE, st.integers(0, 40), st.sampled_from(["", ".", ",", " -", "\n", "!\n\n"]))
def test_a_copied_run_is_found_however_it_is_dressed(parts: list[str], cut: int, mark: str) -> None:
    """Capitals, punctuation, line ends and addresses do not hide it; seven words are free."""
    others = Runs(b"".join(sorted({digest for digest, _ in runs(words(" ".join(parts)))})))
    dressed = f"{mark} ".join(parts).title().replace("'T", "'t") + " https://acme.example/x"
    hits = list(shared(Text("f", 1, f"Something of ours.\n{dressed}"), others))
    assert hits and hits[0].startswith("f:")
    if mark != "\n" and not mark.endswith("\n"):
        assert hits[0].startswith("f:2: ")
    few = words(" ".join(parts))[: RUN - 1]
    assert not list(shared(Text("f", 1, " ".join(word.text for word in few)), others))
    quoted = '"' + " ".join(parts[:cut]) + '"'
    assert not list(shared(Text("f", 1, f"They say {quoted}."), others))


def test_a_formula_is_no_sentence() -> None:
    assert list(runs(words("Q 2 m = p n / p (m n) x 4"))) == [] and len(words("2 m p")) == 3


def test_titles_are_nobodys_sentences() -> None:
    title = "A Very Long Title of a Work on Chips and Their Links"
    others = Runs(b"".join(sorted(digest for digest, _ in runs(words(title)))))
    excepted = frozenset(digest for digest, _ in runs(words(title)))
    assert list(shared(Text("f", 1, title), others)) and not list(
        shared(Text("f", 1, title), others, excepted)
    )


def test_the_tool_writes_what_the_test_reads(tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("One two three, four five; six SEVEN eight nine.\n", encoding="utf-8")
    command = [sys.executable, "-m", "scripts.seed_runs"]
    done = subprocess.run(
        [*command, str(text), str(text)], cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode == 0 and len(done.stdout) == 2 * BYTES
    assert next(runs(words("one two three four five six seven eight")))[0] in Runs(done.stdout)


@pytest.mark.parametrize("arguments", [[], ["/no/such/file"]])
def test_the_tool_with_bad_usage(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "scripts.seed_runs", *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("\n") == 1
    assert done.stderr.startswith("seed_runs: ")
