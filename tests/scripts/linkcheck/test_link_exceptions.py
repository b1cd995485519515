"""The exceptions file: what it accepts, where errors point, and when an entry is unused."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.linkcheck.exceptions import BadExceptions, LinkException, judge, load
from scripts.linkcheck.results import Result

REASON = "Answers 403 to programs; opened by hand."
UNTIL = "until: 2027-05-21"
DAY = datetime.date(2027, 5, 21)
ROOT = Path(__file__).resolve().parents[3]


def read(tmp_path: Path, text: str | bytes) -> list[LinkException]:
    path = tmp_path / "link_exceptions.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load(path, "link_exceptions.yaml")


def errors(tmp_path: Path, text: str | bytes) -> list[str]:
    with pytest.raises(BadExceptions) as raised:
        read(tmp_path, text)
    return raised.value.errors


def test_good_entries(tmp_path: Path) -> None:
    text = f"""# a comment
- url: https://a.test/x
  reason: {REASON}
  expect: 403
  {UNTIL}
- {{prefix: "https://b.test/", reason: "{REASON}", expect: timeout, {UNTIL}}}
"""
    assert read(tmp_path, text) == [
        LinkException(2, "https://a.test/x", False, REASON, "403", DAY),
        LinkException(6, "https://b.test/", True, REASON, "timeout", DAY),
    ]


@pytest.mark.parametrize("text", ["", "[]", "# nothing here\n"])
def test_nothing_is_an_empty_list(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text) == []


def test_a_missing_file_is_an_empty_list(tmp_path: Path) -> None:
    assert load(tmp_path / "none.yaml", "none.yaml") == []


def test_the_project_s_own_file_is_good() -> None:
    load(ROOT / "scripts" / "link_exceptions.yaml", "link_exceptions.yaml")


@pytest.mark.parametrize(
    ("entry", "place_and_rule"),
    [
        ("- {url: https://a.test/, expect: 403}", "1:3: reason"),
        ("- {url: https://a.test/, expect: 403, reason: ''}", "1:3: reason"),
        ("- {url: https://a.test/, expect: 403, reason: because}", "1:3: reason"),
        (f"- {{reason: {REASON}, expect: 403}}", "1:3: one-address"),
        (
            f"- {{url: https://a.test/, prefix: https://a.test/, reason: {REASON}, expect: 403}}",
            "1:3: one-address",
        ),
        (f"- {{url: a.test, reason: {REASON}, expect: 403}}", "1:3: url"),
        (f"- {{url: 'javascript:alert(1)', reason: {REASON}, expect: 403}}", "1:3: url"),
        (f"- {{url: 'https://a.test/#part', reason: {REASON}, expect: 403}}", "1:3: url"),
        (f"- {{prefix: 'https://', reason: {REASON}, expect: 403}}", "1:3: prefix"),
        (f"- {{prefix: 'https://a.test', reason: {REASON}, expect: 403}}", "1:3: prefix"),
        (f"- {{url: https://a.test/, reason: {REASON}}}", "1:3: expect"),
        (f"- {{url: https://a.test/, reason: {REASON}, expect: ok}}", "1:3: expect"),
        (f"- {{url: https://a.test/, reason: {REASON}, expect: 200}}", "1:3: expect"),
        (f"- {{url: https://a.test/, reason: {REASON}, expect: whatever}}", "1:3: expect"),
        (f"- {{url: https://a.test/, reason: {REASON}, expect: 403}}", "1:3: until"),
        (
            f"- {{url: https://a.test/, reason: {REASON}, expect: 403, until: 2027-02-30}}",
            "1:3: until",
        ),
        (
            f"- {{url: https://a.test/, reason: {REASON}, expect: 403, until: next year}}",
            "1:3: until",
        ),
        (
            f"- url: https://a.test/\n  reason: {REASON}\n  expect: 403\n  sine: 2026",
            "4:3: unknown-key",
        ),
        (
            f"- url: https://a.test/\n  url: https://b.test/\n  reason: {REASON}\n  expect: 403",
            "2:3: duplicate-key",
        ),
        (f"- url: https://a.test/\n  reason: {REASON}\n  expect: [403]", "3:11: text"),
        ("- https://a.test/", "1:3: entry"),
        ("url: https://a.test/", "1:1: not-a-list"),
        ("- [", "yaml"),
        ("- &a x\n- *a", "1:3: no-anchors"),
        ("- !!python/object:os.system x", "1:3: no-anchors"),
        ("- a\n---\n- b", "yaml"),
        (b"- \xff\xfe", "unreadable"),
        ("- " + "x" * 1_100_000, "too-large"),
    ],
)
def test_faults_are_named_with_their_place(
    tmp_path: Path, entry: str | bytes, place_and_rule: str
) -> None:
    messages = errors(tmp_path, entry)
    assert any(f"{place_and_rule}: " in line for line in messages), messages
    assert all(line.startswith("link_exceptions.yaml:") and "\n" not in line for line in messages)


def test_all_faults_at_once(tmp_path: Path) -> None:
    assert len(errors(tmp_path, "- {url: https://a.test/}\n- {prefix: x}\n- 3\n")) == 8


def test_twins(tmp_path: Path) -> None:
    entry = f"- {{url: https://a.test/, reason: {REASON}, expect: 403, {UNTIL}}}\n"
    assert errors(tmp_path, entry + entry) == [
        "link_exceptions.yaml:2:1: duplicate: "
        "https://a.test/ with expect 403 is already on line 1; keep one"
    ]


@settings(deadline=None)
@given(st.one_of(st.binary(), st.text(alphabet="-[]{}:&*!|>'\"# \n\tab0~?%@`,").map(str.encode)))
def test_garbage_is_a_named_fault(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    try:
        read(tmp_path_factory.mktemp("garbage"), raw)
    except BadExceptions as error:
        assert error.errors


def test_deep_nesting_is_a_named_fault(tmp_path: Path) -> None:
    errors(tmp_path, "[" * 200_000)


def entry(pattern: str, expect: str, *, is_prefix: bool = False) -> LinkException:
    return LinkException(1, pattern, is_prefix, REASON, expect)


OK = Result("https://a.test/ok", "ok", 200)
GONE = Result("https://a.test/gone", "http", 404)
WALL = Result("https://a.test/wall", "http", 403)
RESULTS = {result.url: result for result in (OK, GONE, WALL)}


def test_an_exception_excuses_the_failure_it_names() -> None:
    verdict = judge(RESULTS, [entry(WALL.url, "403")])
    assert [result for result, _ in verdict.excused] == [WALL]
    assert [result for result, _ in verdict.broken] == [GONE]
    assert verdict.unused == []


def test_a_class_excuses_all_its_statuses() -> None:
    verdict = judge(RESULTS, [entry("https://a.test/", "http", is_prefix=True)])
    assert verdict.broken == [] and len(verdict.excused) == 2


def test_another_failure_is_not_excused_but_explained() -> None:
    wrong = entry(GONE.url, "403")
    verdict = judge({GONE.url: GONE}, [wrong])
    assert verdict.broken == [(GONE, wrong)]
    assert verdict.unused == []


def test_two_entries_may_speak_of_one_host() -> None:
    entries = [
        entry("https://a.test/", "403", is_prefix=True),
        entry("https://a.test/", "404", is_prefix=True),
    ]
    assert judge(RESULTS, entries).broken == []


@pytest.mark.parametrize(
    ("unused", "why"),
    [
        (entry("https://b.test/", "403"), "no link matches it"),
        (entry("https://a.test/wal", "403"), "no link matches it"),
        (entry(OK.url, "403"), "its link works now"),
        (entry(OK.url, "403", is_prefix=True), "its link works now"),
    ],
)
def test_unused_entries(unused: LinkException, why: str) -> None:
    assert judge(RESULTS, [unused]).unused == [(unused, why)]


def test_a_prefix_whose_links_all_work_is_unused() -> None:
    prefix = entry("https://a.test/", "403", is_prefix=True)
    results = {url: Result(url, "ok", 200) for url in ("https://a.test/1", "https://a.test/2")}
    assert judge(results, [prefix]).unused == [(prefix, "all 2 links that match it work now")]


def test_a_partial_run_calls_nothing_unused() -> None:
    assert judge({}, [entry("https://b.test/", "403")], whole=False).unused == []


def test_an_entry_holds_until_its_day() -> None:
    """From the next day it excuses nothing and is itself a fault.

    So it is whether all links were checked or not.
    """
    own = LinkException(1, WALL.url, False, REASON, "403", DAY)
    assert judge({WALL.url: WALL}, [own], today=DAY).broken == []
    late = judge({WALL.url: WALL}, [own], today=DAY + datetime.timedelta(days=1), whole=False)
    assert late.broken == [(WALL, None)] and late.unused == [(own, "it held until 2027-05-21")]
