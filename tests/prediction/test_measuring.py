"""Measuring is careful: medians after a warm-up, known rates found, rows that validate reads."""

from __future__ import annotations

import datetime
import importlib.util
import json
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from flopbook.cli.app import run
from flopbook.data.references import read_bib
from flopbook.data.runs import MeasuredRun, RunFile, RunSource
from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.calculator import calculate
from flopbook.prediction import backends, measuring
from flopbook.prediction.backends import OPERATIONS, Call, NumpyBackend, TorchBackend, backend
from flopbook.prediction.measuring import Measured, Order, Timing, measure, run_file, timed
from flopbook.prediction.own_runs import read_own_runs
from flopbook.prediction.validation import validate

TODAY = datetime.date(2026, 11, 22)


class Clock:
    """A clock that calls move: each takes as long as the next of some times."""

    def __init__(self, *seconds: float) -> None:
        self.now, self.seconds, self.calls = 0.0, seconds, 0

    def __call__(self) -> float:
        return self.now

    def call(self, count: int) -> None:
        for _ in range(count):
            self.now += self.seconds[self.calls % len(self.seconds)]
            self.calls += 1


@given(st.floats(1e-6, 1.0), st.integers(1, 9))
def test_a_call_of_constant_time_is_timed_exactly(seconds: float, samples: int) -> None:
    clock = Clock(seconds)
    found = timed(clock.call, samples, clock)
    assert found.seconds == pytest.approx(seconds, rel=1e-6)
    assert found.spread == pytest.approx(1, rel=1e-6)
    assert found.samples == samples
    # Short calls are done so often that a sample fills the time that a clock can tell.
    assert found.calls * seconds >= 0.5 * measuring.LEAST_SECONDS
    assert clock.calls == measuring.WARM_UP + 1 + samples * found.calls


def test_slow_first_calls_do_not_count() -> None:
    clock = Clock(*[9.0] * measuring.WARM_UP, *[1.0] * 1000)
    assert timed(clock.call, 5, clock).seconds == pytest.approx(1)


def test_one_interruption_does_not_move_the_median() -> None:
    clock = Clock(*[1.0] * (measuring.WARM_UP + 3), 50.0, *[1.0] * 1000)
    found = timed(clock.call, 9, clock)
    assert found.seconds == pytest.approx(1) and found.spread == pytest.approx(1)


class FakeMachine:
    """Eight H100 that reach a half of their peak, and what they were asked."""

    software, device, devices, is_accelerator = "Fake 1.0", "NVIDIA H100 80GB HBM3", 8, True
    formats = ("bf16", "fp32")

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []

    def _note(self, *what: Any) -> Call:
        self.asked.append(what)
        return lambda count: None

    def product(self, m: int, n: int, k: int, dtype: str) -> Call:
        return self._note("product", m, n, k, dtype)

    def copy(self, size: int) -> Call:
        return self._note("copy", size)

    def attention(self, heads: int, tokens: int, width: int, dtype: str) -> Call:
        return self._note("attention", heads, tokens, width, dtype)

    def collective(self, op: str, size: int) -> Call | None:
        return self._note("collective", op, size) if self.devices > 1 else None


@pytest.fixture
def a_millisecond(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything takes 1 ms."""
    monkeypatch.setattr(measuring, "timed", lambda call, samples: Timing(1e-3, 1.0, samples, 1))


def by_what(found: list[Measured]) -> dict[str, Measured]:
    return {one.what: one for one in found}


@pytest.mark.usefixtures("a_millisecond")
def test_rates_are_work_over_time_and_printed_ones_those_on_file() -> None:
    found = by_what(list(measure(FakeMachine(), Order(sides=(4096,), samples=3))))
    product = found["matmul bf16 4096x4096x4096"]
    assert product.value == pytest.approx(2 * 4096**3 / 1e-3)
    assert product.printed == pytest.approx(
        calculate("ridge-point", chip="h100-sxm").inputs["peak"].value
    )
    assert product.record()["share"] == pytest.approx(product.value / (product.printed or 1))
    copied = found["memory copy of 1024 MiB"]
    assert copied.value == pytest.approx(2 * 2**30 / 1e-3)
    assert copied.printed == pytest.approx(3.35e12, rel=0.01)
    attention = found["attention bf16 16 heads, 8192 tokens, causal"]
    assert attention.value == pytest.approx(4 * 16 * 128 * 8192 * 8193 / 2 / 1e-3)
    assert attention.rows == ()
    summed = found["all-reduce of 1048576 KiB over 8"]
    assert summed.value == pytest.approx(2 * 7 / 8 * 2**30 / 1e-3) and summed.printed is None


@pytest.mark.usefixtures("a_millisecond")
def test_what_is_ordered_is_measured_and_nothing_else() -> None:
    machine = FakeMachine()
    order = Order(what=("matmul",), formats=("bf16",), sides=(512, 1024))
    found = list(measure(machine, order))
    assert machine.asked == [
        ("product", 512, 512, 512, "bf16"),
        ("product", 1024, 1024, 1024, "bf16"),
    ]
    assert [len(one.rows) for one in found] == [1, 1]
    alone = FakeMachine()
    alone.devices = 1
    assert list(measure(alone, Order(what=("collective",)))) == []


def test_a_format_that_the_machine_lacks_is_refused() -> None:
    with pytest.raises(FlopbookError, match="measures bf16, fp32, not fp4"):
        list(measure(FakeMachine(), Order(formats=("fp4",))))


@pytest.mark.usefixtures("a_millisecond")
def test_rows_are_read_by_validate_and_marked_as_checks(tmp_path: Path) -> None:
    machine, order = FakeMachine(), Order(formats=("bf16",), sides=(4096, 8192))
    found = list(measure(machine, order))
    document = run_file(machine, order, found, TODAY)
    assert document["use"] == "check"
    path = tmp_path / "own.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    own = read_own_runs(path)
    assert not own.unread and not own.repeated
    record = validate([own.runs]).record()
    assert len(record["rows"]) == len([one for one in found if one.rows])
    assert all("predicted" in row for row in record["rows"])
    assert {row["kind"] for row in record["rows"]} == {"matmul_peak", "hbm_bandwidth", "collective"}
    measured = {row["id"]: row["measured"] for row in record["rows"]}
    for one in found:
        if one.rows and one.rows[0]["kind"] == "matmul_peak":
            assert measured[one.rows[0]["id"]] == pytest.approx(one.value)


def test_the_entry_is_one_that_the_bibliography_reads(tmp_path: Path) -> None:
    path = tmp_path / "own.bib"
    text = measuring.bibtex_entry(FakeMachine(), TODAY, "flopbook measure --output own.yaml")
    path.write_text(text, encoding="utf-8")
    (entry,) = read_bib(path)
    assert entry.key == measuring.bibtex_key(TODAY) and entry.year == 2026
    assert "NVIDIA H100 80GB HBM3" in entry.title


@pytest.mark.parametrize("dtype", ["fp32", "fp64"])
def test_numpy_multiplies_what_it_is_given(dtype: str) -> None:
    machine = NumpyBackend()
    machine.product(8, 4, 6, dtype)(3)
    machine.copy(4096)(2)
    machine.attention(2, 8, 4, dtype)(2)
    assert machine.collective("all-reduce", 1024) is None
    assert "NumPy" in machine.software and machine.device


def test_an_unknown_or_missing_framework_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownName, match="torch"):
        backend("troch")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(FlopbookError, match="PyTorch is not installed; pip install torch"):
        backend("torch")


def test_the_first_framework_that_is_installed_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"numpy": True}
    monkeypatch.setattr(importlib.util, "find_spec", there.get)
    assert isinstance(backend(), NumpyBackend)


class FakeTorch(types.ModuleType):
    """As much of PyTorch as is asked of it, on a processor, with a group of two ranks."""

    bfloat16, float16, float32 = "bfloat16", "float16", "float32"
    __version__ = "2.0"

    def __init__(self) -> None:
        super().__init__("torch")
        self.calls: list[str] = []
        self.cuda = types.SimpleNamespace(is_available=lambda: False)
        attend = self._note("attention")
        functional = types.SimpleNamespace(scaled_dot_product_attention=attend)
        self.nn = types.SimpleNamespace(functional=functional)
        self.distributed = types.SimpleNamespace(
            is_initialized=lambda: "group" in self.calls,
            init_process_group=lambda name: self.calls.append("group"),
            get_rank=lambda: 1,
            all_reduce=self._note("all-reduce"),
            all_gather_into_tensor=self._note("all-gather"),
            reduce_scatter_tensor=self._note("reduce-scatter"),
        )

    def _note(self, name: str) -> Any:
        return lambda *arrays, **options: self.calls.append(name)

    def manual_seed(self, seed: int) -> None:
        self.seed = seed

    def randn(self, shape: tuple[int, ...], device: str) -> Any:
        assert device == "cpu"
        return FakeTensor(shape, "float32", self.calls)

    def empty(self, shape: tuple[int, ...], device: str, dtype: str) -> Any:
        return FakeTensor(shape, dtype, self.calls)

    def empty_like(self, other: Any) -> Any:
        return other

    def mm(self, first: Any, second: Any, out: Any) -> None:
        assert (*first.shape[:1], *second.shape[1:]) == out.shape
        assert first.shape[1] == second.shape[0] and first.dtype == second.dtype == out.dtype
        self.calls.append(f"mm {out.dtype}")


class FakeTensor:
    """A shape and a format."""

    def __init__(self, shape: tuple[int, ...], dtype: str, calls: list[str]) -> None:
        self.shape, self.dtype, self.calls = shape, dtype, calls

    def to(self, dtype: str) -> FakeTensor:
        return FakeTensor(self.shape, dtype, self.calls)

    def copy_(self, other: Any) -> None:
        self.calls.append("copy")

    def chunk(self, count: int) -> list[FakeTensor]:
        return [FakeTensor((self.shape[0] // count,), self.dtype, self.calls)] * count

    def clone(self) -> FakeTensor:
        return self


@pytest.fixture
def torch(monkeypatch: pytest.MonkeyPatch) -> FakeTorch:
    module = FakeTorch()
    monkeypatch.setitem(sys.modules, "torch", module)
    monkeypatch.setitem(sys.modules, "torch.distributed", module.distributed)
    return module


def test_torch_is_asked_for_each_operation(
    torch: FakeTorch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    machine = TorchBackend()
    assert machine.devices == 2 and not machine.is_accelerator
    machine.product(8, 4, 6, "bf16")(2)
    machine.copy(4096)(1)
    machine.attention(2, 8, 4, "fp16")(1)
    for op in OPERATIONS:
        call = machine.collective(op, 4096)
        assert call is not None
        call(1)
    expected = ["mm bfloat16", "mm bfloat16", "copy", "attention", "group", *OPERATIONS]
    assert torch.calls == expected
    assert torch.seed == backends.SEED


def test_one_rank_has_no_collectives(torch: FakeTorch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert TorchBackend().collective("all-reduce", 4096) is None


@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="JAX is not installed")
def test_jax_multiplies_copies_and_attends() -> None:
    machine = backend("jax")
    machine.product(8, 4, 6, "bf16")(2)
    machine.copy(4096)(2)
    machine.attention(2, 8, 4, "fp32")(2)
    for op in OPERATIONS:
        call = machine.collective(op, 4096)
        assert (call is None) == (machine.devices < 2)
        if call is not None:
            call(1)


def test_the_command_writes_rows_and_entry(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.yaml"
    words = ["measure", "--backend=numpy", "--what=matmul,memory", "--dtype=fp32", "--m=32,64"]
    assert run([*words, "--repeat=2", f"--output={path}", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert [one["what"] for one in record["measured"]][:2] == [
        "matmul fp32 32x32x32",
        "matmul fp32 64x64x64",
    ]
    assert all(one["value"] > 0 and one["spread"] >= 1 for one in record["measured"])
    assert len(yaml.safe_load(path.read_text(encoding="utf-8"))["rows"]) == 4
    entry = path.with_suffix(".bib").read_text(encoding="utf-8")
    command = entry.partition("flopbook measure ")[2].partition("}")[0]
    assert sorted(command.split()) == sorted([*words[1:], "--repeat=2", "--output=mine.yaml"])
    assert run([*words, f"--output={path}"]) == 2
    assert "there already" in capsys.readouterr().err
    assert run([*words, "--repeat=2", "--chip=h100-sxm"]) == 0
    text = capsys.readouterr().out
    assert "of printed" in text and "spread" in text


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("", "'' is no name of a YAML file, such as mine.yaml"),
        ("mine.bib", "'mine.bib' is no name of a YAML file, such as mine.yaml"),
        ("there.yaml", "'there.bib' is there already; choose another name"),
        ("nowhere/mine.yaml", "'nowhere' is no folder; make it first"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_anything_is_measured(
    name: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Measuring takes minutes; and a bibliography of the same name is not replaced."""
    monkeypatch.chdir(tmp_path)
    Path("there.bib").write_text("kept", encoding="utf-8")
    monkeypatch.setattr(measuring, "measure", lambda machine, order: pytest.fail("measured"))
    assert run(["measure", "--backend=numpy", f"--output={name}"]) == 2
    assert capsys.readouterr().err == f"flopbook: {said}\n"
    assert [path.name for path in tmp_path.iterdir()] == ["there.bib"]
    assert Path("there.bib").read_text(encoding="utf-8") == "kept"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("--what=matmull", "matmul"),
        ("--repeat=0", "--repeat is 0"),
        ("--repeat=20000", "--repeat is 20,000"),
        ("--m=1.5", "--m is 1.5"),
        ("--m=many", "many"),
        ("--dtype=fp3", "not fp3"),
        ("--chip=h1000", "h100"),
        ("--backend=abacus", "unknown backend 'abacus'"),
    ],
)
def test_a_mistake_is_one_line(word: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    usual = [one for one in ("--backend=numpy", "--repeat=1") if one[:8] != word[:8]]
    assert run(["measure", *usual, word]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and said in err


@pytest.mark.usefixtures("a_millisecond")
@pytest.mark.parametrize(("word", "is_known"), [("fp32", False), ("fp64", False), ("int8", True)])
def test_products_in_formats_without_rows_are_refused(word: str, is_known: bool) -> None:
    (found,) = measure(FakeMachine(), Order(("matmul",), ("bf16",), (4096,)))
    (row,) = found.rows
    row = MeasuredRun(
        id="one",
        kind="matmul_peak",
        publication="own",
        where="",
        measured=row["measured"],
        hardware={"chip": "H100-SXM"},
        run={**row["run"], "precision": word},
    )
    (line,) = validate([RunFile({"own": RunSource()}, (row,))]).record()["rows"]
    assert ("predicted" in line) == is_known
    assert is_known or word in line["refused"]
