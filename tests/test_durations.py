"""What `make check` leaves out because it is long, and how the list is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import durations
from tests.support.durations import LIST, long_tests, main, name_of

ROOT = Path(__file__).resolve().parents[1]
REPORT = """<testsuites><testsuite>
<testcase classname="tests.cli.test_a" name="test_b[one]" time="0.6"/>
<testcase classname="tests.cli.test_a" name="test_b[two[0]]" time="0.6"/>
<testcase classname="tests.cli.test_a" name="test_c@tests/cli/test_a.py" time="0.6"/>
<testcase classname="tests.cli.test_a" name="test_c@tests/cli/test_a.py" time="0.3"/>
<testcase classname="tests.website.site.test_d" name="test_e" time="9"/>
</testsuite></testsuites>"""


def test_cases_count_together_and_tests_of_the_site_do_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(durations, "LIST", tmp_path / "list.txt")
    (tmp_path / "report.xml").write_text(REPORT, encoding="utf-8")
    main([str(tmp_path / "report.xml")])
    assert durations.long_tests() == {"tests/cli/test_a.py::test_b"}
    assert "1 of 2 tests" in capsys.readouterr().out


def test_the_list_has_not_aged() -> None:
    """A test may be renamed without it; where a tenth is gone, the list is made anew."""
    gone = [test for test in long_tests() if not _exists(test)]
    assert len(gone) <= len(long_tests()) / 10, f"make {LIST.name} anew; gone: {gone}"


def _exists(test: str) -> bool:
    file, _, name = test.partition("::")
    path = ROOT / file
    return path.is_file() and f"def {name}(" in path.read_text(encoding="utf-8")


def test_a_long_test_is_marked(request: pytest.FixtureRequest) -> None:
    """Every item of this session that is on the list has the mark, and no other."""
    items = request.session.items
    marked = {name_of(item.nodeid) for item in items if item.get_closest_marker("long")}
    assert marked == {name_of(item.nodeid) for item in items} & long_tests()


def test_a_worker_takes_groups_of_tests(request: pytest.FixtureRequest) -> None:
    """What tests share is made once: a worker takes a file as a whole.

    pytest-xdist writes the group behind the name, and does without a word nothing of the kind with
    a pytest that it does not know.
    """
    if not hasattr(request.config, "workerinput"):
        pytest.skip("one process runs all tests")
    assert request.node.nodeid.endswith("@tests/test_durations.py")
