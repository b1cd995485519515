"""Parts of the page of what people reach: a row in words, sentences on a chip, points, lines."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from flopbook.data.library import reference
from flopbook.data.runs import MeasuredRun, RunSource
from flopbook.export.records import RUN_COLUMNS, run_rows
from flopbook.prediction.reached import Rate, Reached, reached_runs
from scripts.website.figures import reached_points
from scripts.website.figures.reached_rows import LineOfRuns, row_chart
from scripts.website.markup import Sortable
from scripts.website.pages import reached

KEY = "narayanan2021efficient"


def a_run(
    share: float | None = 0.5,
    value: float | None = 1234.5,
    rate: dict[str, Any] | None = None,
    form: str = "bf16",
    **fields: Any,
) -> Reached:
    """A run on eight H100 of a model that we do not have."""
    row = MeasuredRun(
        id="one",
        kind="training_throughput",
        publication="acme",
        where="Table 1",
        measured={},
        model={"name": "Mystery-7B"},
        hardware={"chip": "H100-SXM-80GB", "n_chips": 8},
    )
    return Reached(
        row._replace(**fields),
        RunSource(KEY, year=2025),
        "nvidia/h100-sxm",
        "",
        form,
        2025.7,
        Rate(value, "token/s", share, "computed")._replace(**(rate or {})),
    )


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"parallelism": {"tp": 8, "pp": 4, "dp": 1}}, "TP 8, PP 4"),
        ({"parallelism": {"tp": 1, "zero_stage": 3, "cp": 2, "ep": 16}}, "CP 2, EP 16, ZeRO 3"),
        ({"model": {"name": "M", "seq_len_tokens": 8192}}, "seq 8,192"),
        ({"parallelism": {"global_batch_seqs": 1536}}, "batch 1,536"),
        ({"run": {"batch_seqs": 64}}, "batch 64"),
        ({"run": {"input_len_tokens": 2048, "output_len_tokens": 128}}, "2,048 in, 128 out"),
        ({"run": {"input_len_tokens": 1024}}, "1,024 in, 0 out"),
        ({"run": {"phase": "Offline", "software": "TensorRT"}}, "Offline, TensorRT"),
        ({"measured": {"message_bytes": 2**20}}, "1.049 MB"),
        ({}, ""),
    ],
)
def test_a_configuration_is_a_line_of_words(fields: dict[str, Any], words: str) -> None:
    shown = str(reached._configuration(a_run(**fields)))
    assert shown == words


@pytest.mark.parametrize(
    ("fields", "badges"),
    [
        ({}, []),
        ({"complete": False}, ["configuration incomplete"]),
        ({"flags": ("above_printed_peak",)}, ["above printed peak"]),
        ({"rate": {"lacks": "the format is not given"}}, ["the format is not given"]),
        (
            {"complete": False, "flags": ("approximate",), "rate": {"lacks": "no tokens"}},
            ["no tokens", "approximate"],
        ),
    ],
)
def test_a_doubt_is_a_mark_beside_the_configuration(
    fields: dict[str, Any], badges: list[str]
) -> None:
    """What is missing for a computation says more than that something is missing."""
    shown = str(reached._configuration(a_run(**fields)))
    assert re.findall(r'fb-badge">([^<]*)<', shown) == badges


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "Mystery-7B"),
        ({"model": {}, "kind": "collective", "run": {"op": "all_reduce"}}, "all-reduce"),
        (
            {"model": {}, "kind": "matmul_peak", "run": {"matmul_shape_mxnxk": "8x8x8"}},
            "8 × 8 × 8",
        ),
        (
            {"model": {}, "kind": "matmul_peak", "run": {"matmul_shape_mxkxn": "8x4x2"}},
            "8 × 4 × 2",
        ),
        ({"model": {}, "kind": "hbm_bandwidth", "run": {"benchmark": "copy"}}, "copy"),
        ({"model": {}, "kind": "p2p_bandwidth"}, "link bandwidth"),
    ],
)
def test_what_ran_is_a_model_or_an_operation(fields: dict[str, Any], words: str) -> None:
    assert reached.what(a_run(**fields).row) == words


@pytest.mark.parametrize(
    ("share", "basis", "shown"),
    [
        (0.4321, "computed", "43.2 %"),
        (0.4321, "converted", "43.2 %"),
        (0.5, "as printed", "50.0 % <small>as printed</small>"),
        (0.38, "6ND", "38.0 % <small>6ND</small>"),
    ],
)
def test_a_share_says_when_it_is_of_another_count(share: float, basis: str, shown: str) -> None:
    cell = reached._share(a_run(share, rate={"basis": basis}))
    assert isinstance(cell, Sortable) and str(cell.content) == shown and cell.key == share


def test_a_cell_without_a_value_is_a_dash_that_sorts_last() -> None:
    """A cell that has nothing to sort by has no key, so that the script leaves it at the end."""
    run = a_run(None, None, hardware={"chip": "H100-SXM-80GB"})
    cells = (reached._share(run), reached._rate(run), reached._number(None))
    for cell in cells:
        assert not isinstance(cell, Sortable) and "fb-none" in cell


def test_keys_have_the_digits_that_order_them_and_no_more() -> None:
    cell = reached._rate(a_run(value=123456.789))
    assert isinstance(cell, Sortable) and cell.key == 123500
    cell = reached._share(a_run(0.123456))
    assert isinstance(cell, Sortable) and cell.key == 0.1235


@pytest.mark.parametrize(
    ("chip", "name"),
    [
        ("google/tpu-v5p", "TPU v5p"),
        ("amd/mi300x", "AMD MI300X"),
        ("nvidia/gb300-gpu", "NVIDIA GB300"),
        ("nvidia/v100-pcie", "NVIDIA V100 PCIe"),
        ("nvidia/rtx-6000-ada", "NVIDIA RTX 6000 Ada"),
    ],
)
def test_a_chip_has_a_short_name(chip: str, name: str) -> None:
    assert reached.short_name(chip) == name


def test_no_two_chips_with_runs_share_their_short_name() -> None:
    chips = {run.chip for run in reached.shown_runs()}
    names = {reached.short_name(chip) for chip in chips}
    assert len(names) == len(chips)


@pytest.mark.parametrize(
    ("shares", "sentence"),
    [
        ((), None),
        ((0.36, 0.362, 0.358), "3 published training runs all reach an MFU of 36 %."),
        ((0.4,), "The one training run on record reaches an MFU of 40 %."),
        (
            (0.2, 0.5, 0.3),
            "3 published training runs reach an MFU of 20 to 50 %, with a median of 30 %.",
        ),
    ],
)
def test_training_on_a_chip_is_a_sentence(shares: tuple[float, ...], sentence: str | None) -> None:
    said = reached._trained([a_run(share) for share in shares])
    assert (said if said is None else str(said)) == sentence


def test_serving_on_a_chip_is_counted() -> None:
    runs = [a_run(kind="inference"), a_run(kind="inference"), a_run()]
    assert "2 published inference runs" in str(reached._served(runs))
    assert "1 published inference run is" in str(reached._served(runs[:1]))
    assert reached._served([a_run()]) is None


def test_what_limits_a_device_stands_beside_its_rate() -> None:
    """956 TFLOP/s of one of the two devices of a TPU7x are not 41 % of the chip."""
    runs = [run for run in reached.shown_runs() if run.chip == "google/tpu-v7x"]
    halves = [run for run in runs if "one of 2" in run.row.hardware["chip"]]
    assert halves
    for run in halves:
        assert "one of 2 devices per chip" in reached._configuration(run)
        assert "one of 2 devices per chip" in reached._beside(run)[5]


def test_printed_is_what_the_share_is_of() -> None:
    run = a_run(0.8, 8e14, rate={"unit": "FLOP/s"}, kind="matmul_peak", model={})
    kind, form, printed, shown, ratio, how, source = reached._beside(run)
    assert (kind, form, printed, shown, ratio) == (
        "matmul",
        "bf16",
        "1,000 TFLOP/s",
        "800 TFLOP/s",
        "80 %",
    )
    assert how == "matmul" and reference(KEY).link in str(source)


def test_a_rate_without_anything_printed_has_no_ratio() -> None:
    run = a_run(None, 8e14, rate={"unit": "FLOP/s"}, kind="matmul_peak", model={})
    assert reached._beside(run)[2] == "-" == reached._beside(run)[4]


# Points and lines of the pictures.


@pytest.mark.parametrize(
    ("form", "number"),
    [("bf16", 0), ("fp16", 0), ("", 0), ("fp8", 1), ("int8", 1), ("fp4", 2), ("tf32", 0)],
)
def test_a_format_has_its_mark(form: str, number: int) -> None:
    assert reached_points.mark_number(a_run(form=form)) == number


@pytest.mark.parametrize(
    ("fields", "hollow"),
    [({}, False), ({"flags": ("approximate",)}, True), ({"complete": False}, True)],
)
def test_a_doubted_point_is_hollow(fields: dict[str, Any], hollow: bool) -> None:
    assert ("fb-open" in reached_points.point(a_run(**fields), (1, 2))) is hollow


def test_a_point_says_what_it_is() -> None:
    drawn = reached_points.point(a_run(0.456), (11.2, 20))
    assert "<title>Mystery-7B, 8 x NVIDIA H100 SXM5 80GB, bf16: 46 %</title>" in drawn
    assert 'transform="translate(11 20) scale(.7)"' in drawn
    assert drawn.startswith('<a href="http') and drawn.endswith("</a>")


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_legend_explains_the_marks_that_are_there(count: int) -> None:
    drawn = "".join(reached_points.legend(10, 20, count))
    assert drawn.count("<path") == count and "hollow: incomplete or doubted" in drawn
    for number, (name, _) in enumerate(reached_points.MARKS):
        assert (f">{name}<" in drawn) is (number < count)


def test_a_line_of_points_stands_on_a_scale_from_zero_to_a_hundred() -> None:
    lines = [
        LineOfRuns("first", [a_run(0.0), a_run(0.5), a_run(1.0)], 0.5),
        LineOfRuns("second", [a_run(1.4)], 1.0),
    ]
    shapes, height = row_chart(lines, "percent")
    drawn = html.unescape("".join(shapes))
    places = [float(x) for x in re.findall(r"translate\(([\d.]+) [\d.]+\) scale", drawn)]
    left, middle, right, above = places
    assert middle - left == pytest.approx(right - middle)
    assert above == right  # what is above the scale stands at its end
    assert "first (3)" in drawn and "second (1)" in drawn and ">percent<" in drawn
    assert height == row_chart(lines * 2, "percent")[1] - 2 * 22


# The same runs as data.


def test_flat_rows_are_the_runs_of_the_page() -> None:
    rows = {row["id"]: row for row in run_rows()}
    runs = reached_runs()
    assert len(rows) == len(runs)
    for run in runs:
        row = rows[run.row.id]
        assert set(row) == set(RUN_COLUMNS)
        assert (row["value"], row["share"], row["basis"]) == (
            run.rate.value,
            run.rate.share,
            run.rate.basis,
        )
        assert row["chip_id"] == run.chip and row["model_id"] == run.model
        assert row["locator"] == run.row.where
        assert row["url"].startswith("https://") or reference(run.source.source).record
        assert row["chips"] == run.row.hardware.get("n_chips")
        assert row["use"] in ("fit", "check") and row["complete"] is run.row.complete
