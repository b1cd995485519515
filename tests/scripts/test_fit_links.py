"""The fit of links to published sweeps, and how near the calculator comes to them."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest

from flopbook.data.library import library, reference_keys
from flopbook.data.link_kinds import FILE
from scripts import fit_links
from scripts.bench.collective_rows import Row, computed, read_rows
from scripts.bench.collectives import CLOSE, collectives, factor
from scripts.fit_links import Point, fitted, loss, point, predicted

ROWS = [row for row in read_rows() if isinstance(row, Row)]


def test_the_file_is_what_the_rows_give() -> None:
    """The constants are fitted once more, to the letter."""
    assert fit_links.text() == (library().accelerators / FILE).read_text(encoding="utf-8")


def test_the_fit_sees_what_the_calculator_computes() -> None:
    """With the constants of the file, both give the same time for every row."""
    constants = {"startup": 2e-5, "ramp": 3e-6, "efficiency": 0.7, "reduction_efficiency": 0.6}
    for row in ROWS[::7]:
        seconds = computed(row, **constants)["seconds"]
        assert predicted(tuple(constants.values()), point(row)) == pytest.approx(seconds)


def test_the_fit_finds_constants_that_made_the_times() -> None:
    constants = (2e-5, 4e-6, 0.75, 0.65)
    points = [
        Point(10.0**n, 2e-6, in_switch, predicted(constants, Point(10.0**n, 2e-6, in_switch, 1)))
        for n in range(-8, 0)
        for in_switch in (False, True)
    ]
    fit = fitted(points)
    assert fit == pytest.approx(constants, rel=0.02)
    assert loss(fit, points) <= loss(constants, points) * 1.01


def test_published_sweeps_are_met() -> None:
    """From 32 KiB to 4 GiB: half within 1.3 times; before, a quarter was, and the median was 2.1.

    Sources disagree by 84 percent at 1 MiB, so that not all can be met.
    """
    held = [factor(row) for row in ROWS if 2**15 <= row.options["bytes"] <= 2**32]
    close = sum(error <= CLOSE for error in held)
    assert len(held) > 60 and close / len(held) > 0.85
    assert statistics.median(held) < 1.1 and max(held) < 3.2


def test_every_row_has_a_source_and_a_chip_of_ours() -> None:
    assert {row.source for row in ROWS} <= reference_keys()
    assert len({row.id for row in ROWS}) == len(ROWS)
    # Slides give a bus bandwidth without the size of the array.
    unusable = dict(row for row in read_rows() if not isinstance(row, Row))
    assert all(name.startswith("gtc-") and "message_bytes" in why for name, why in unusable.items())
    assert all(row.seconds > 0 for row in ROWS)


def test_the_measurement_prints_a_line_for_each_kind(tmp_path: Path) -> None:
    lines = [counted.line() for counted in collectives(1)]
    assert any("NVLink 4, h200-sxm" in line and "median 1.0" in line for line in lines)
    assert any("collectives, all" in line for line in lines)
    rows = tmp_path / "rows.yaml"
    rows.write_text(
        "rows:\n"
        "- {id: a, kind: collective, hardware: {chip: B200-SXM, n_chips: 8}, run: {op: alltoall},"
        " measured: {message_bytes: 1048576, time_us: 60.0}, source: {key: x}}\n"
        "- {id: b, kind: collective, hardware: {chip: nobody, n_chips: 8}, run: {op: all_reduce},"
        " measured: {message_bytes: 1048576, time_us: 60.0}, source: {key: x}}\n"
        "- {id: c, kind: inference}\n",
        encoding="utf-8",
    )
    own = [counted.line() for counted in collectives(1, rows)]
    assert "not computed" in own[-1] and own[-1].rstrip().endswith("1")
    # Benchmarks name the buffer of one chip, the calculator that of all.
    row = next(candidate for candidate in read_rows(rows) if isinstance(candidate, Row))
    assert row.options["bytes"] == 8 * 2**20 and row.options["op"] == "all-to-all"
