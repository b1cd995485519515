"""The YAML reader: places, YAML 1.2 scalars, and one clear error for every file that is not plain
data.
"""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.data.files import MAX_YAML_BYTES
from flopbook.data.yaml_text import (
    MAX_DEPTH,
    Node,
    named_children,
    parse_yaml,
    read_yaml,
)
from flopbook.errors import DataError
from tests.support.samples import assert_clean, write

WORDS = st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), max_size=12)
SCALARS = st.none() | st.booleans() | st.integers(-(10**12), 10**12) | WORDS
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
TREES = st.recursive(
    SCALARS | NUMBERS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
)
TOKENS = st.sampled_from(
    [
        "a",
        ": ",
        "\n",
        "- ",
        "  ",
        "{",
        "}",
        "[",
        "]",
        "&x ",
        "*x",
        "!!python/object:os.system ",
        "? ",
        "|",
        "> ",
        '"',
        "'",
        "\t",
        "#",
        "---\n",
        "...",
        "%YAML 1.2\n",
        "2:4",
        "1e999",
        "1_",
        "0x1",
        "\x00",
        "\x85",
        "\ufeff",
        "\ud800",
        "\x1b",
        "~",
        "<<: ",
        "2026-13-40",
        "é",
        "1.",
        "@",
        "`",
        "%",
        "\u202e",
    ]
)


def refusal(text: str) -> tuple[int, int, str]:
    """Line, column and rule of the one problem of a text."""
    with pytest.raises(DataError) as caught:
        parse_yaml(text, "f.yaml")
    assert_clean(caught.value)
    (problem,) = caught.value.problems
    assert problem.file == "f.yaml"
    return problem.line, problem.column, problem.rule


@given(TREES)
def test_json_is_read_as_the_value_it_writes(tree: object) -> None:
    """JSON is YAML: any tree of values comes back as it was written."""
    assert parse_yaml(json.dumps(tree, ensure_ascii=False), "f.yaml").plain() == tree


@given(st.lists(TOKENS, max_size=30).map("".join) | st.text(max_size=60))
def test_garbage_text_gives_values_or_a_data_error(text: str) -> None:
    """Nothing but DataError leaves the reader, and each of its problems is one printable line."""
    try:
        parse_yaml(text, "f.yaml").plain()
    except DataError as error:
        assert_clean(error)


@given(st.binary(max_size=80))
def test_garbage_bytes_give_values_or_a_data_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = write(tmp_path_factory.getbasetemp() / "garbage.yaml", data)
    try:
        read_yaml(path).plain()
    except DataError as error:
        assert_clean(error)


@given(
    st.lists(st.sampled_from(["one", "two: 2", "[a, b]", "{k: v}"]), min_size=1, max_size=8),
    st.integers(0, 6),
)
def test_every_node_knows_its_place(items: list[str], indent: int) -> None:
    """Line and column count from 1, as editors do."""
    text = "list:\n" + "".join(f"{' ' * indent}- {element}\n" for element in items)
    nodes = parse_yaml(text, "f.yaml").value["list"].value
    assert [(n.line, n.column) for n in nodes] == [(i + 2, indent + 3) for i in range(len(items))]


def test_keys_and_children_have_places() -> None:
    root = parse_yaml("a: 1\nb:\n  - x\n", "f.yaml")
    assert root.key_marks == {"a": (1, 1), "b": (2, 1)}
    assert [(key, child.plain()) for key, child in named_children(root)] == [("a", 1), ("b", ["x"])]
    assert [key for key, _ in named_children(root.value["b"])] == [""]
    assert list(named_children(root.value["a"])) == []
    assert root.get("a") == 1 and root.get("none") is None and Node(3, 1, 1).get("a") is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2:4", "2:4"),
        ("4:1", "4:1"),
        ("12:30:45", "12:30:45"),
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("off", "off"),
        ("N", "N"),
        ("1e15", 1e15),
        ("1E3", 1e3),
        ("1.5e-3", 1.5e-3),
        (".5", 0.5),
        ("1.", 1.0),
        ("80.0e+9", 8e10),
        ("0x10", "0x10"),
        ("0o7", "0o7"),
        ("010", 10),
        ("1_000", "1_000"),
        ("+3", 3),
        ("-3", -3),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("inf", "inf"),
        ("nan", "nan"),
        ("1e999", float("inf")),
        ("~", None),
        ("null", None),
        ("", None),
        ("true", True),
        ("False", False),
        ("=", "="),
        ("<<", "<<"),
        ("2026-11-21", datetime.date(2026, 11, 21)),
        ("2026-13-40", "2026-13-40"),
        ("2026-02-30", "2026-02-30"),
        ("2026-11-21T10:00:00", "2026-11-21T10:00:00"),
        ('"2026-11-21"', "2026-11-21"),
        ('"80"', "80"),
        ("'no'", "no"),
        ('"null"', "null"),
        ("1.2.3", "1.2.3"),
        ("9" * 60, "9" * 60),
        ("٣", "٣"),
        ("²", "²"),
        ("fp8", "fp8"),
        ("1e", "1e"),
        ("80GB", "80GB"),
        ("NVLink 4", "NVLink 4"),
    ],
)
def test_scalars_follow_yaml_1_2(text: str, value: object) -> None:
    """YAML 1.1 would make `2:4` the number 124 and `no` a boolean; here text stays text."""
    read = parse_yaml(f"[{text}]" if text else "a:", "f.yaml").plain()
    scalar = read[0] if text else read["a"]
    assert scalar == value and type(scalar) is type(value)


@pytest.mark.parametrize(
    ("text", "line", "column", "rule"),
    [
        ("a: 1\nb: 2\na: 3", 3, 1, "duplicate-key"),
        ("x:\n  - {k: 1, k: 2}", 2, 12, "duplicate-key"),
        ("a: 1\nb: &anchor 2", 2, 4, "anchors"),
        ("a: *anchor", 1, 4, "anchors"),
        ("a: !!python/object/apply:os.system [ls]", 1, 4, "tags"),
        ("a: 1\nb: !!str 3", 2, 4, "tags"),
        ("b: !own 3", 1, 4, "tags"),
        ("? [a, b]\n: 1", 1, 3, "keys"),
        ("a: 1\n---\nb: 2", 2, 1, "documents"),
        ("", 1, 1, "empty"),
        ("# only a comment\n", 1, 1, "empty"),
        ("a: 1\n\tb: 2", 2, 1, "yaml"),
        ("a: [1, 2\nb: 3", 2, 2, "yaml"),
        ("a:\n  - {b: 1\nc: 2", 3, 2, "yaml"),
        ('a: "unfinished', 1, 15, "yaml"),
        ("a: b: c", 1, 5, "yaml"),
        ("a: 1\n b: 2", 2, 3, "yaml"),
        ("a: 1\nb: @x", 2, 4, "yaml"),
        ("a: 1\nb: \x00", 2, 4, "yaml"),
        ("a: 1\nbc: x\x07", 2, 6, "yaml"),
        ("a: \x9b31m", 1, 4, "yaml"),
    ],
)
def test_what_is_not_plain_data_is_refused_at_its_place(
    text: str, line: int, column: int, rule: str
) -> None:
    assert refusal(text) == (line, column, rule)


def test_billion_laughs_end_at_the_first_anchor() -> None:
    """Nine levels of ten aliases would be a thousand million values."""
    bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{name}: &{name} [{','.join([f'*{below}'] * 10)}]\n"
        for below, name in zip("abcdefgh", "bcdefghi", strict=True)
    )
    assert refusal(bomb) == (1, 4, "anchors")


def test_nesting_ends_at_the_limit() -> None:
    assert parse_yaml("[" * MAX_DEPTH + "]" * MAX_DEPTH, "f.yaml").value is not None
    assert refusal("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1)) == (1, MAX_DEPTH + 1, "depth")
    assert refusal("[" * 200_000)[2] == "depth"
    assert refusal("{a: " * 200_000)[2] == "depth"


def test_a_file_of_ten_megabytes_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "big.yaml"
    with path.open("wb") as file:
        file.truncate(10_000_000)
    monkeypatch.setattr(Path, "read_text", lambda *_, **__: pytest.fail("it was read"))
    with pytest.raises(
        DataError, match="size: found 10,000,000 bytes, expected at most 1,000,000; split the file"
    ):
        read_yaml(path)


def test_long_text_is_refused() -> None:
    assert refusal("#" * (MAX_YAML_BYTES + 1)) == (1, 1, "size")


def test_bytes_that_are_not_utf8_have_a_place(tmp_path: Path) -> None:
    path = write(tmp_path / "latin.yaml", b"a: 1\nname: caf\xe9\n")
    with pytest.raises(
        DataError, match=r"latin.yaml:2:10: encoding: found byte 0xe9, expected UTF-8 text"
    ):
        read_yaml(path)


def test_a_byte_order_mark_is_no_content(tmp_path: Path) -> None:
    assert read_yaml(write(tmp_path / "bom.yaml", "\ufeffa: 1\n")).plain() == {"a": 1}


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_what_cannot_be_read_is_a_data_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(
        DataError, match=r":1:1: read: found .*expected a readable file; check the path"
    ) as caught:
        read_yaml(tmp_path / name)
    assert_clean(caught.value)


def test_a_message_cannot_drive_the_terminal() -> None:
    """Keys and tags go into messages; escape sequences among them are shown, not sent."""
    with pytest.raises(DataError) as caught:
        parse_yaml('"\\e[31mred\\n": 1\n"\\e[31mred\\n": 2', "f.yaml")
    assert_clean(caught.value)
    assert "\\x1b[31mred" in str(caught.value)
