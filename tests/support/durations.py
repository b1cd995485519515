"""Which tests are long: `make check` leaves them out, `make test` runs them.

The list is made from a run of everything on an idle machine:

    make test PYTEST_ARGS=--junitxml=build/tests.xml
    .venv/bin/python -m tests.support.durations build/tests.xml
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

LIST = Path(__file__).with_name("long_tests.txt")
LONG_S = 1.0  # of all cases of a test together


def long_tests() -> frozenset[str]:
    """Tests of the list as FILE::NAME, without the cases."""
    return frozenset(LIST.read_text(encoding="utf-8").split())


def name_of(node: str) -> str:
    """The test of a case: `tests/a/test_b.py::test_c` of `tests/a/test_b.py::test_c[d]@group`."""
    return node.partition("[")[0].partition("@")[0]


def durations(report: Path) -> Counter[str]:
    """Seconds of each test in a report of pytest, all its cases together.

    Those that need the built site are left out: nothing but `make test` runs them.
    """
    seconds: Counter[str] = Counter()
    for case in ET.parse(report).iter("testcase"):
        file = case.attrib["classname"].replace(".", "/") + ".py"
        if not file.startswith("tests/website/site/"):
            seconds[name_of(f"{file}::{case.attrib['name']}")] += float(case.attrib["time"])
    return seconds


def main(arguments: list[str]) -> None:
    """Write the list anew from a report."""
    seconds = durations(Path(arguments[0]))
    names = sorted(test for test in seconds if seconds[test] > LONG_S)
    LIST.write_text("\n".join([*names, ""]), encoding="utf-8")
    print(f"{len(names)} of {len(seconds)} tests take more than {LONG_S:g} s")


if __name__ == "__main__":
    main(sys.argv[1:])
