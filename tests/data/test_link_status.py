"""The reader of link status: what pages ask for, and a file that is broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from flopbook.checks.lint import lint
from flopbook.data.library import link_status, link_statuses
from flopbook.data.link_status import FILE, LinkStatus, read_link_statuses
from flopbook.errors import DataError
from tests.support.samples import World, assert_clean, write

URL = "https://acme.example/gone"
COPY = "https://web.archive.org/web/20240101000000/https://acme.example/gone"
ROW = f'"{URL}": {{"status": "404", "checked": "2026-11-21", "archive": "{COPY}"}}'


def test_a_link_that_fails_has_a_status(world: World) -> None:
    world.write(
        f"bibliography/{FILE}",
        f'{{{ROW}, "https://acme.example/wall": {{"status": "403", "checked": "x"}}}}',
    )
    assert link_status(URL) == LinkStatus(URL, "404", "2026-11-21", COPY)
    assert (
        link_status(f"{URL}#part") == link_status(URL)
        and link_status("https://acme.example/") is None
    )
    statuses = link_statuses()
    assert statuses[URL].dead and not statuses["https://acme.example/wall"].dead


def test_without_a_file_nothing_was_checked(world: World) -> None:
    assert link_status(URL) is None and link_statuses() == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "[1]",
        "{",
        '{"a": 1}',
        '{"https://a/": {"status": "404"}}',
        "[" * 100_000,
        b"\xff",
        '{"https://a/": {"status": 404, "checked": "x"}}',
        '{"javascript:x": {"status": "404", "checked": "x"}}',
        '{"https://a/": {"status": "404", "checked": "x", "archive": "javascript:x"}}',
        '{"https://a/": {"status": "404", "checked": "x", "extra": "y"}}',
    ],
)
def test_a_broken_file_is_one_line(tmp_path: Path, text: str | bytes) -> None:
    write(tmp_path / FILE, text)
    if text == "[]":
        return
    with pytest.raises(DataError) as caught:
        read_link_statuses(tmp_path / FILE)
    assert_clean(caught.value)
    assert "scripts.check_links --write-status" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nonsense", "JSONDecodeError"),
        (f"{{{ROW}}}".replace("2026-11-21", "yesterday"), "checked 'yesterday' of https"),
        (f"{{{ROW}}}".replace("2026", "2999"), "a day that has been"),
    ],
)
def test_lint_reads_the_file_too(world: World, text: str, says: str) -> None:
    world.write(f"bibliography/{FILE}", f"{{{ROW}}}")
    assert lint() == []
    world.write(f"bibliography/{FILE}", text)
    (problem,) = lint()
    assert (
        problem.file == f"bibliography/{FILE}"
        and problem.rule == "link-status"
        and says in str(problem)
    )


def test_the_projects_own_file_is_read() -> None:
    assert all(row.url == url for url, row in link_statuses().items())
