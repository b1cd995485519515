"""`--sweep` in a terminal: a table, CSV, JSON, a picture in a file and in letters."""

from __future__ import annotations

import csv
import io
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.evaluation.sweeping import sweep
from flopbook.formulas import formulas, get_formula

BASE = ("min-batch", "--chip", "h100-sxm")
RATES = (*BASE, "--sweep", "bandwidth=1TB/s:8TB/s:log")
TIME = (
    "training-time",
    "--params",
    "8B",
    "--tokens",
    "15T",
    "--peak",
    "1PFLOP/s",
    "--chips",
    "1024",
    "--chip-mtbf",
    "0",
)


def test_a_table_has_a_row_for_each_point_and_what_was_held_below(cli: Any) -> None:
    lines = cli(*RATES, "--d-model", "8192", "--d-ff", "28672").out.splitlines()
    assert lines[0].split() == ["bandwidth", "tokens", "tokens_exact", "flop_per_byte"]
    assert [line.split()[0] for line in lines[1:5]] == ["1", "2", "4", "8"]
    below = "\n".join(lines[5:])
    assert "nvidia/h100-sxm" in below and "peak" in below and "\n  bandwidth" not in below


def test_what_does_not_change_is_said_once(cli: Any) -> None:
    out = cli(*TIME, "--mfu", "0.4", "--sweep", "price=1USD/h,2USD/h").out
    assert "the same at every point: seconds 20.35 days" in out and out.splitlines()[0].split() == [
        "price",
        "cost",
    ]
    chosen = cli(
        *TIME, "--mfu", "0.4", "--sweep", "price=1USD/h,2USD/h", "--outputs", "days,cost"
    ).out
    assert chosen.splitlines()[0].split() == ["price", "days", "cost"] and "the same" not in chosen


def test_a_refused_point_shows_why_in_its_row(cli: Any) -> None:
    outcome = cli(*TIME, "--sweep", "mfu=0.5,1.5")
    lines = outcome.out.splitlines()
    assert outcome.status == 0 and lines[0].split()[-1] == "refused"
    assert lines[2].split()[:3] == ["1.5", "-", "-"] and lines[2].endswith("expected at most 1")
    assert "1 point of 2 refused" in lines


def test_two_sweeps_are_a_grid(cli: Any) -> None:
    out = cli("min-batch", "--sweep", "chip=h100-sxm,tpu-v5p", "--sweep", "dtype=bf16,fp8").out
    rows = [line.split()[:2] for line in out.splitlines()[1:5]]
    assert rows == [
        ["h100-sxm", "bf16"],
        ["h100-sxm", "fp8"],
        ["tpu-v5p", "bf16"],
        ["tpu-v5p", "fp8"],
    ]


def test_json_is_what_python_gives(cli: Any) -> None:
    record = json.loads(cli(*RATES, "--json").out)
    assert (
        record == sweep("min-batch", chip="h100-sxm", bandwidth=[1e12, 2e12, 4e12, 8e12]).as_json()
    )
    few = json.loads(cli(*RATES, "--json", "--outputs", "tokens").out)
    assert list(few["outputs"]) == ["tokens"]


def test_csv_has_si_values_in_full(cli: Any) -> None:
    rows = list(csv.DictReader(io.StringIO(cli(*TIME, "--sweep", "mfu=0.3,1.5", "--csv").out)))
    assert list(rows[0]) == ["mfu", *get_formula("training-time").outputs, "refused"]
    run = {"params": 8e9, "tokens": 15e12, "peak": 1e15, "chips": 1024, "chip_mtbf": 0}
    exact = calculate("training-time", **run, mfu=0.3)["seconds"]
    assert float(rows[0]["seconds"]) == exact and rows[0]["cost"] == "" and rows[0]["refused"] == ""
    assert rows[1]["seconds"] == "" and "at most 1" in rows[1]["refused"]


def test_a_picture_into_a_file(cli: Any, tmp_path: Path) -> None:
    path = tmp_path / "one.svg"
    outcome = cli(*RATES, "--plot", str(path))
    assert outcome.out.splitlines()[-1] == f"wrote {path}" and path.read_text().startswith("<svg ")
    assert cli(*RATES, "--plot", str(path), "--json").out == cli(*RATES, "--json").out
    assert [item.name for item in tmp_path.iterdir()] == ["one.svg"]
    bubble = ("bubble", "--stages", "8", "--sweep", "microbatches=8:64:log", "--plot", str(path))
    assert (
        cli(*bubble).status == 0 and "Pipeline bubble: fraction by microbatches" in path.read_text()
    )


def test_a_picture_in_the_terminal(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for columns in (20, 60, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = cli(*RATES, "--plot", "-").out.splitlines()
        assert lines[0] == "Minimum batch: tokens by bandwidth" and "123.7 tokens" in lines[1]
        assert ("logarithmic" in lines[1]) == (columns == 200)
        places = [line.index("*") for line in lines[2:6]]
        assert places == sorted(places, reverse=True), "twice the bandwidth, half the tokens"
        assert max(map(len, lines)) <= max(columns, 60)
    steps = {b - a for a, b in itertools.pairwise(places)}
    assert max(steps) - min(steps) <= 1, "even steps on a logarithmic scale"


def test_several_lines_in_the_terminal_have_letters(cli: Any) -> None:
    out = cli(
        "min-batch",
        "--peak",
        "1PFLOP/s",
        "--sweep",
        "bandwidth=1TB/s:8TB/s:log",
        "--sweep",
        "bytes-per-param=1,2",
        "--plot",
        "-",
    ).out
    assert (
        out.splitlines()[-1]
        == "a bytes_per_param 1 byte/param, b bytes_per_param 2 byte/param, + several"
    )
    long = cli(
        "min-batch", "--peak", "1PFLOP/s", "--sweep", "bandwidth=1TB/s:8TB/s:log:500", "--plot", "-"
    ).out
    assert "of 500 points are shown" in long and len(long.splitlines()) < 60


FAILURES: dict[str, tuple[tuple[str, ...], str]] = {
    "csv alone": ((*BASE, "--csv"), "--csv shows a sweep: give --sweep NAME=VALUES as well"),
    "plot alone": (
        (*BASE, "--plot", "a.svg"),
        "--plot shows a sweep: give --sweep NAME=VALUES as well",
    ),
    "outputs alone": ((*BASE, "--outputs", "tokens"), "--outputs shows a sweep"),
    "two forms": ((*RATES, "--csv", "--json"), "--csv and --json do not go together"),
    "two texts": ((*RATES, "--csv", "--plot", "-"), "--plot - prints text of its own"),
    "two questions": (
        (*RATES, "--solve", "peak", "--target", "tokens=1"),
        "--sweep and --solve do not go together",
    ),
    "explain": ((*RATES, "--explain"), "--sweep and --explain do not go together"),
    "swept and given": (
        (*RATES, "--bandwidth", "1TB/s"),
        "--bandwidth is given and swept: leave one of the two out",
    ),
    "swept twice": (
        (*RATES, "--sweep", "bandwidth=1TB/s,2TB/s"),
        "--sweep bandwidth is given twice",
    ),
    "no values": (
        (*BASE, "--sweep", "bandwidth="),
        "--sweep is 'bandwidth=', expected NAME=LOW:HIGH",
    ),
    "no such input": ((*BASE, "--sweep", "bandwith=1,2"), "unknown option of min-batch 'bandwith'"),
    "no such chip": (
        ("min-batch", "--sweep", "chip=h101,h102"),
        "no point of the sweep has an answer: unknown",
    ),
    "no such output": (
        (*RATES, "--outputs", "tokns"),
        "unknown output of min-batch 'tokns'; nearest: tokens",
    ),
    "no output": ((*RATES, "--outputs", ""), "unknown output of min-batch ''"),
    "no svg": ((*RATES, "--plot", "one.png"), "--plot writes SVG: 'one.png' does not end in .svg"),
    "no folder": ((*RATES, "--plot", "no/where.svg"), "--plot: there is no folder 'no'"),
    "control": (("min-batch", "--sweep", "chip=\x1b[2J"), "no point of the sweep has an answer"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_mistakes_are_one_line(case: str, fails: Any) -> None:
    words, message = FAILURES[case]
    assert message in fails(*words)


@pytest.mark.parametrize("name", formulas())
def test_every_calculator_can_be_swept(name: str, cli: Any) -> None:
    """Over the first number of its first example, twice."""
    formula = get_formula(name)
    options = dict(formula.examples[0])
    specs = {one: formula.inputs.get(one.replace("-", "_")) for one in options}
    key = next((one for one, spec in specs.items() if spec is not None and spec.is_number), None)
    if key is None:
        return
    value = options.pop(key)
    words = [word for one, text in options.items() for word in (f"--{one}", text)]
    outcome = cli(name, *words, "--sweep", f"{key}={value},{value}")
    lines = [line for line in outcome.out.splitlines() if not line.startswith("does not fit")]
    assert outcome.status == 0 and lines[0].startswith(key.replace("-", "_"))
    assert "--sweep NAME=VALUES" in " ".join(cli(name, "--help").out.split())


def test_nothing_of_this_is_loaded_by_a_plain_answer(process: Any) -> None:
    done = process(
        "bubble", "--stages", "8", "--microbatches", "32", env={"PYTHONPROFILEIMPORTTIME": "1"}
    )
    assert "flopbook.cli.calculators" in done.stderr
    for module in (
        "numpy",
        "flopbook.evaluation.sweeping",
        "flopbook.evaluation.solving.solver",
        "flopbook.cli.asking",
        "flopbook.drawing.curves",
        "matplotlib",
    ):
        assert module not in done.stderr
    swept = process(*RATES, env={"PYTHONPROFILEIMPORTTIME": "1"})
    assert "flopbook.evaluation.sweeping" in swept.stderr and "matplotlib" not in swept.stderr


@pytest.mark.parametrize("name", formulas())
def test_every_input_of_every_first_example_can_be_swept(name: str, cli: Any) -> None:
    """Text, CSV and JSON of a sweep over one value, for every kind of input and output."""
    example = get_formula(name).examples[0]
    for key, value in example.items():
        rest = [
            word
            for other, given in example.items()
            if other != key
            for word in (f"--{other}", given)
        ]
        for form in ([], ["--json"], ["--csv"]):
            twice = f"{value};{value}" if set(",=") & set(value) else f"{value},{value}"
            done = cli(name, *rest, "--sweep", f"{key}={twice}", *form)
            assert done.status == 0 and done.out and not done.err, (key, form, done.err)


def test_a_sweep_of_rooflines_is_a_table_of_their_columns(cli: Any) -> None:
    call = ("roofline", "--kernels", "gemm 512x512x512", "--sweep", "chip=h100-sxm,b200")
    out = cli(*call, "--outputs", "kernel,bound").out
    assert "b200" in out and out.count("gemm 512x512x512") == 3
