"""The cache: what is believed for how long; a damaged file costs no more than asking again."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.linkcheck.cache import DAY_S, Cache
from scripts.linkcheck.results import KINDS, Result

NOW = 1_000_000_000.0
OK = Result("https://a.test/", "ok", 200, "200 OK", "https://b.test/", moved=True)


def stored(path: Path, *results: Result) -> Cache:
    cache = Cache(path)
    cache.put(results, NOW)
    cache.save(NOW)
    again = Cache(path)
    again.load()
    return again


def test_a_good_link_is_believed_for_a_week(tmp_path: Path) -> None:
    cache = stored(tmp_path / ".cache" / "links.json", OK)
    kept = cache.get(OK.url, NOW + 7 * DAY_S - 1)
    assert kept is not None and kept.cached and kept.ok
    assert (kept.status, kept.detail, kept.final_url, kept.moved) == (
        200,
        "200 OK",
        "https://b.test/",
        True,
    )
    assert cache.get(OK.url, NOW + 7 * DAY_S) is None


def test_not_found_is_believed_for_an_hour(tmp_path: Path) -> None:
    cache = stored(tmp_path / "links.json", Result("https://a.test/", "http", 404))
    assert cache.get("https://a.test/", NOW + 3599) is not None
    assert cache.get("https://a.test/", NOW + 3600) is None


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"ok", "http"}))
def test_what_may_pass_by_itself_is_not_kept(tmp_path: Path, kind: str) -> None:
    assert (
        stored(tmp_path / "links.json", Result("https://a.test/", kind)).get("https://a.test/", NOW)
        is None
    )


def test_a_later_failure_drives_out_the_good_result(tmp_path: Path) -> None:
    cache = stored(tmp_path / "links.json", OK)
    cache.put([Result(OK.url, "timeout")], NOW + 1)
    assert cache.get(OK.url, NOW + 2) is None


def test_a_clock_set_back_makes_nothing_young(tmp_path: Path) -> None:
    assert stored(tmp_path / "links.json", OK).get(OK.url, NOW - 10) is None


def test_old_entries_leave_the_file(tmp_path: Path) -> None:
    cache = stored(tmp_path / "links.json", OK)
    cache.save(NOW + 8 * DAY_S)
    assert json.loads((tmp_path / "links.json").read_text())["results"] == {}
    assert [path.name for path in tmp_path.iterdir()] == ["links.json"]


@settings(deadline=None)
@given(
    st.one_of(
        st.text(),
        st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.lists(inner)).map(
            json.dumps
        ),
    )
)
def test_a_damaged_file_is_an_empty_one(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    path = tmp_path_factory.mktemp("cache") / "links.json"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    cache = Cache(path)
    cache.load()
    assert cache.get("https://a.test/", NOW) is None


@pytest.mark.parametrize(
    "row",
    [
        *({}, {"kind": "fine"}, {"kind": "ok", "checked": "now", "status": 200}, None, []),
        {**asdict(OK), "checked": 10**400},
        {**asdict(OK), "checked": NOW, "status": "200"},
    ],
)
def test_damaged_rows(tmp_path: Path, row: object) -> None:
    path = tmp_path / "links.json"
    path.write_text(json.dumps({"version": 1, "results": {"https://a.test/": row}}))
    cache = Cache(path)
    cache.load()
    assert cache.get("https://a.test/", NOW) is None


def test_no_cache_writes_nothing(tmp_path: Path) -> None:
    cache = Cache(None)
    cache.load()
    cache.put([OK], NOW)
    cache.save(NOW)
    assert list(tmp_path.iterdir()) == []
