"""What the weekly check leaves behind: a row for each link that fails, and small differences."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.contributing.guard import Guard
from flopbook.data.link_status import FILE, LinkStatus, read_link_statuses
from scripts import check_links
from scripts.linkcheck import status
from scripts.linkcheck.results import KINDS, Result
from scripts.linkcheck.status import PASSING, archived, as_json, updated, with_archives
from tests.support.linkserver import FakeClock, LinkServer
from tests.support.services import Reply, Services

URL = "https://acme.example/a"
COPY = "https://web.archive.org/web/20240101000000/https://acme.example/a"
OLD = LinkStatus(URL, "404", "2026-01-01", COPY)
DAY = "2026-11-21"


def result(kind: str, code: int | None = None, url: str = URL) -> dict[str, Result]:
    return {url: Result(url, kind, code)}


@pytest.mark.parametrize(
    ("before", "found", "after"),
    [
        ({}, result("ok", 200), None),
        ({}, result("http", 404), LinkStatus(URL, "404", DAY)),
        ({}, result("dns"), LinkStatus(URL, "dns", DAY)),
        ({URL: OLD}, result("ok", 200), None),
        ({URL: OLD}, result("http", 404), OLD),
        ({URL: OLD}, result("http", 410), LinkStatus(URL, "410", DAY, COPY)),
        ({}, result("timeout"), None),
        ({URL: OLD}, result("timeout"), OLD),
        ({URL: OLD}, result("server", 500), OLD),
        ({URL: OLD}, {}, None),
    ],
)
def test_a_row_changes_only_with_its_link(
    before: dict, found: dict[str, Result], after: LinkStatus | None
) -> None:
    assert updated(before, found, DAY, whole=True).get(URL) == after


def test_a_check_of_some_links_leaves_the_other_rows() -> None:
    unchecked = "https://acme.example/b"
    rows = updated({URL: OLD}, result("http", 404, unchecked), DAY, whole=False)
    assert list(rows) == [URL, unchecked] and rows[URL] == OLD


RESULTS = st.dictionaries(
    st.sampled_from([f"https://acme.example/{letter}" for letter in "abcd"]),
    st.tuples(st.sampled_from(sorted(KINDS)), st.sampled_from([None, 403, 404])),
)


@given(RESULTS, RESULTS)
def test_a_second_check_with_the_same_result_changes_nothing(first: dict, second: dict) -> None:
    """The file is the same byte for byte on any day, and is read back as it was written."""
    before = updated(
        {}, {url: Result(url, *row) for url, row in first.items()}, "2026-01-01", whole=True
    )
    results = {url: Result(url, *row) for url, row in second.items()}
    once = updated(before, results, DAY, whole=True)
    again = updated(once, results, "2026-12-31", whole=True)
    assert as_json(again.values()) == as_json(once.values())
    assert {url: row["status"] for url, row in json.loads(as_json(once.values())).items()} == {
        url: row.status for url, row in once.items()
    }
    assert not any(results[url].ok for url in once if url in results)
    assert all(url in before for url in once if results[url].kind in PASSING)


def available(**changes: object) -> bytes:
    """What the availability API gives (archive.org/help/wayback_api.php)."""
    closest = {"available": True, "status": "200", "timestamp": "20240101000000", **changes}
    closest.setdefault("url", COPY.replace("https://web", "http://web", 1))
    return json.dumps({"url": URL, "archived_snapshots": {"closest": closest}}).encode()


@pytest.fixture
def archive(services: Services, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    monkeypatch.setattr(status, "AVAILABLE", services.url("wayback/available"))

    def asks(*replies: Reply | bytes) -> str:
        services.plays("wayback/available", *replies)
        return archived(URL, services.fetcher())

    return asks


@pytest.mark.parametrize(
    ("body", "copy"),
    [
        (available(), COPY),
        (b'{"archived_snapshots": {}}', ""),
        (available(status="404"), ""),
        (b"{}", ""),
        (available(available=False), ""),
        (available(url="https://evil.example/"), ""),
        (available(url="javascript:x"), ""),
        (available(url="http://web.archive.org/web/1/a b"), ""),
        (available(url=f"https://web.archive.org/web/1/{'a' * 2000}"), ""),
        (available(url='https://web.archive.org/web/1/"><script>'), ""),
        (b'{"archived_snapshots": null}', ""),
    ],
)
def test_the_archive_is_asked(
    archive: Callable[..., str], services: Services, body: bytes, copy: str
) -> None:
    assert archive(body) == copy
    assert services.asked == [("/wayback/available", {"url": URL})]


def test_an_archive_that_is_busy_is_asked_again(
    archive: Callable[..., str], services: Services
) -> None:
    assert archive(
        Reply(429, headers={"Retry-After": "5"}), available()
    ) == COPY and services.slept == [5.0]


@pytest.mark.parametrize(
    "reply", [Reply(500), b"nonsense", b"[]", Reply(body=available(), cut=9), Reply(429)]
)
def test_an_archive_that_fails_leaves_the_row(
    archive: Callable[..., str], services: Services, reply: Reply | bytes
) -> None:
    services.plays("wayback/available", reply)
    rows = {URL: LinkStatus(URL, "404", DAY)}
    completed, faults = with_archives(rows, services.fetcher())
    assert completed == rows and len(faults) == 1 and faults[0].startswith(f"{URL}: ")


def test_only_dead_links_without_a_copy_are_looked_up(
    archive: Callable[..., str], services: Services
) -> None:
    services.plays("wayback/available", available())
    asked = [
        ("https://a.test/", "404", ""),
        ("https://b.test/", "403", ""),
        ("https://c.test/", "404", COPY),
    ]
    rows = {url: LinkStatus(url, code, DAY, copy) for url, code, copy in asked}
    done, faults = with_archives(rows, services.fetcher())
    assert [query["url"] for _, query in services.asked] == ["https://a.test/"] and faults == []
    assert done["https://a.test/"].archive == COPY and done["https://b.test/"].archive == ""


@pytest.fixture
def tree(
    tmp_path: Path, server: LinkServer, services: Services, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A project with a link that works, one that is gone and one that does not like programs."""
    for name in (
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
    ):
        monkeypatch.delenv(name, raising=False)
    text = "\n".join(server.url(path) for path in ("ok", "missing", "status/403", "down"))
    (tmp_path / "README.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr(status, "AVAILABLE", services.url("wayback/available"))
    services.plays(
        "wayback/available", available(url=f"http://web.archive.org/web/1/{server.url('missing')}")
    )
    return tmp_path


def check(
    tree: Path, server: LinkServer, services: Services, *options: str
) -> dict[str, LinkStatus]:
    ports = frozenset({("127.0.0.1", server.port), ("127.0.0.1", services.port)})
    arguments = ["--root", str(tree), "--no-cache", "--delay", "0", "--write-status", *options]
    assert (
        check_links.main(arguments, Guard(allow=ports, resolve=lambda host: [host]), FakeClock())
        == 1
    )
    return read_link_statuses(tree / "bibliography" / FILE)


def test_the_command_writes_what_fails(tree: Path, server: LinkServer, services: Services) -> None:
    rows = check(tree, server, services)
    gone = server.url("missing")
    copy = f"https://web.archive.org/web/1/{gone}"
    assert list(rows.values()) == [
        LinkStatus(gone, "404", "2001-09-09", copy),
        LinkStatus(server.url("status/403"), "403", "2001-09-09"),
    ]
    text = (tree / check_links.STATUS).read_text(encoding="utf-8")
    assert (
        text.count("\n") == 4
        and text.startswith(f'{{\n"{gone}": {{"status": "404"')
        and len(services.asked) == 1
    )
    assert check(tree, server, services) == rows and len(services.asked) == 1
    assert (tree / check_links.STATUS).read_text(encoding="utf-8") == text
    assert sorted(path.name for path in (tree / "bibliography").iterdir()) == ["link-status.json"]


def test_a_check_of_some_links_keeps_the_rest(
    tree: Path, server: LinkServer, services: Services
) -> None:
    check(tree, server, services)
    assert len(check(tree, server, services, "--only", "403")) == 2
    (tree / "README.md").write_text(server.url("down"), encoding="utf-8")
    assert check(tree, server, services) == {}


def test_an_archive_that_fails_is_said(
    tree: Path, server: LinkServer, services: Services, capsys: pytest.CaptureFixture[str]
) -> None:
    services.plays("wayback/available", Reply(500))
    assert check(tree, server, services)[server.url("missing")].archive == ""
    assert "check_links: no archived copy looked up: " in capsys.readouterr().err


def test_a_broken_status_file_is_one_line(
    tree: Path, server: LinkServer, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "bibliography").mkdir()
    (tree / check_links.STATUS).write_text("nonsense", encoding="utf-8")
    arguments = ["--root", str(tree), "--no-cache", "--delay", "0", "--write-status"]
    assert check_links.main(arguments, server.guard(), FakeClock()) == 2
    err = capsys.readouterr().err.splitlines()[-1]
    assert (
        "link-status: found JSONDecodeError" in err
        and (tree / check_links.STATUS).read_text() == "nonsense"
    )
