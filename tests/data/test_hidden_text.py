"""Texts that read as another text than they are: hidden characters, disguised words."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from flopbook.data.contributed_text import disguised_word, hidden_character, text_problems
from flopbook.data.files import confine
from flopbook.data.measured_runs import read_run_files
from flopbook.data.reference_rules import has_public_host, is_link
from flopbook.data.sheets import csv_safe
from flopbook.data.yaml_text import MAX_KEYS, parse_yaml
from flopbook.errors import DataError


@pytest.mark.parametrize(
    "mark",
    [
        "\u0600",
        "\u1680",
        "\ufff0",
        "\ufffc",
        "\U0001bca0",
        "\U00013430",
        "a\u0489\u0489\u0489\u0489",
    ],
)
def test_what_nobody_sees_is_hidden(mark: str) -> None:
    assert hidden_character(f"one{mark}two").startswith("the hidden character U+")


@pytest.mark.parametrize(
    "word",
    ["NVI\u0405DIA", "\u0410MD", "n\u03bfvidia", "\uff27\uff30\uff35", "\U0001d407100", "\u2164I"],
)
def test_a_word_of_several_scripts_is_disguised(word: str) -> None:
    assert "U+" in disguised_word(f"an {word} chip")


@pytest.mark.parametrize("text", ["µm, Δt and λ-bench", "Иванов", "Łukasz", "木", "3 × 10²³", "αβ"])
def test_other_letters_disguise_nothing(text: str) -> None:
    assert not disguised_word(text) and not hidden_character(text)


def test_names_of_values_are_looked_at_too() -> None:
    """A run may name fields of its own, which a table of the export shows."""
    document = parse_yaml('measured: {"<b>x</b>": 1, "a\\u200Bb": 2}\n', "a.yaml")
    assert [problem.rule for problem in text_problems(document, "a.yaml")] == [
        "markup",
        "control-character",
    ]


def test_a_host_is_written_as_browsers_send_it() -> None:
    assert is_link("https://arxiv.org/abs/1") and is_link("https://xn--rxiv-63d.org/")
    assert not is_link("https://\u0430rxiv.org/") and not is_link("https://a.org/\u0430")


@pytest.mark.parametrize(
    "mark", ["=", "+", "-", "@", "\t", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"]
)
def test_no_cell_of_a_table_begins_a_formula(mark: str) -> None:
    assert csv_safe(f"{mark}cmd|' /C calc'!A0") == f"'{mark}cmd|' /C calc'!A0"


@pytest.mark.parametrize("part", [";", "\t", "\n"])
def test_no_part_of_a_cell_begins_a_formula(part: str) -> None:
    """A spreadsheet of a country with decimal commas parts cells at semicolons."""
    assert csv_safe(f"a{part}=b{part}c") == f"a{part} =b{part}c"


def test_a_mapping_has_so_many_names_at_most() -> None:
    """Each unknown name was searched for among all known ones, and told in a line of its own."""
    text = "".join(f"a{number}: 1\n" for number in range(MAX_KEYS + 1))
    with pytest.raises(DataError, match=f"{MAX_KEYS + 1}:1: keys: found more than 1,000 names"):
        parse_yaml(text, "a.yaml")


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_runs_are_read_by_the_one_reader(kind: str, tmp_path: Path) -> None:
    """A pipe among the runs kept lint waiting for ever; a link to /dev/zero filled the memory."""
    confine(tmp_path)
    path = tmp_path / "runs.yaml"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    files, problems = read_run_files([path])
    assert not files and "read: found a " in str(problems[0])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("an H\u04401 chip", "U+0440 among the letters of 'H\u04401'"),
        ("by \u0410MD, of 2024", "U+0410 among the letters of '\u0410MD,'"),
        ("\uff21", "U+FF21 among the letters of '\uff21'"),
        ("plain", ""),
    ],
)
def test_the_disguised_word_is_told(text: str, told: str) -> None:
    assert disguised_word(text) == told


@pytest.mark.parametrize("value", [1, 2.5, None, True, "plain", "a=b", ""])
def test_other_cells_stay_as_they_are(value: object) -> None:
    assert csv_safe(value) == value


LONG = "a" * 63


@pytest.mark.parametrize(
    "address",
    [
        f"https://{LONG}.com/",
        "https://a_b.example.org:8080/x?y#z",
        "http://192.65.241.100/show/1",
        "https://xn--rxiv-63d.org",
        f"https://{'.'.join([LONG] * 3)}.{'a' * 61}/",
    ],
)
def test_a_host_is_a_name_or_a_public_address(address: str) -> None:
    assert is_link(address) and has_public_host(address)


@pytest.mark.parametrize(
    "address",
    [
        f"https://{LONG}a.com/",
        f"https://{'.'.join([LONG] * 4)}.com/",
        "https://a..org/",
        "https://.a.org/",
        "https://a.org./",
        "https://-a.org/",
        "https://a-.org/",
        "https://localhost/",
        "https://intranet/",
        "http://127.0.0.1/",
        "http://10.1.2.3/",
        "http://169.254.169.254/latest/meta-data",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f.0x1/",
        "http://0177.0.0.1/",
        "http://1.1.1.1.1/",
        "http://999.1.1.1/",
        "https://%6c.org/",
        "https://a%00.org/",
        "https://a*.org/",
    ],
)
def test_no_name_that_no_resolver_has_passes_for_a_link(address: str) -> None:
    """A label of more than 63 letters passed lint, and was asked for every week."""
    assert not has_public_host(address)
