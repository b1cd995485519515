"""Whole decoders are measured: sizes of models, rows that validate reads, clear refusals."""

from __future__ import annotations

import importlib.util
import json
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from flopbook.architectures.shape import shape
from flopbook.cli.app import run
from flopbook.data.library import library
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.prediction import backends, measuring
from flopbook.prediction.backends import NumpyBackend, TorchBackend
from flopbook.prediction.decoders import WORK, Decoder, DecoderWork, decoder
from flopbook.prediction.measuring import Measured, Order, Timing, measure, run_file
from flopbook.prediction.measuring_decoders import DecoderOrder, rows, share, words
from flopbook.prediction.own_runs import read_own_runs
from flopbook.prediction.validation import validate
from tests.prediction.test_measuring import TODAY, FakeMachine

HAS_TORCH = importlib.util.find_spec("torch") is not None
SMALL = Decoder(2, 64, 128, 4, 2, 16, 100, tied=True)


class FakeDecoders(FakeMachine):
    """A machine that runs any decoder in no time and always takes 40 GB."""

    def decoder(self, sizes: Decoder, work: DecoderWork) -> Any:
        return self._note(work.kind, sizes, work)

    def peak_memory(self) -> float | None:
        return 40e9


def ordered(*work: DecoderWork, model: str = "llama-3.2-1b", layers: int | None = None) -> Order:
    return Order(
        what=(), samples=3, decoders=DecoderOrder(shape(model), decoder(shape(model), layers), work)
    )


def built() -> list[str]:
    """Models on file that can be measured."""
    found = []
    for name in library().model_ids:
        try:
            decoder(shape(name))
        except FlopbookError:
            continue
        found.append(name)
    return found


def test_the_sizes_of_a_decoder_give_the_parameters_of_its_model() -> None:
    """But for norms of queries and keys and the biases of a few, which are a thousandth at most."""
    names = built()
    assert len(names) > 25 and {"llama-3-8b", "llama-3.2-1b", "qwen-3-8b"} <= set(names)
    for name in names:
        counted = shape(name).pick("params").value
        assert decoder(shape(name)).params == pytest.approx(counted, rel=1e-3), name
    for exact in ("llama-3-8b", "llama-3.2-1b"):
        assert decoder(shape(exact)).params == shape(exact).pick("params").value


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("mixtral-8x7b", "has experts"),
        ("gemma-3-27b", "layers of several kinds"),
        ("gpt-2", "FFNs that are not gated"),
    ],
)
def test_a_model_that_cannot_be_built_is_refused(model: str, said: str) -> None:
    with pytest.raises(FlopbookError, match=said):
        decoder(shape(model))


@given(st.sampled_from(["llama-3-8b", "llama-3.2-1b"]), st.integers(1, 64), st.integers(1, 100_000))
def test_model_flop_are_those_of_the_calculator(name: str, sequences: int, tokens: int) -> None:
    """A step does what `training-flops` counts for as many tokens, causal attention halved."""
    work = DecoderWork("step", sequences, tokens)
    found = share(decoder(shape(name)), work, 1.0, None, None)
    result = calculate("training-flops", model=name, tokens=sequences * tokens, seq=tokens)
    assert found.rate == pytest.approx(result["flop_causal"], rel=1e-3)
    again = work._replace(recompute=True)
    assert share(decoder(shape(name)), again, 1.0, None, None) == found  # model FLOP, not hardware


def test_a_pass_over_a_prompt_asks_the_head_for_one_token_a_sequence() -> None:
    sizes = SMALL._replace(layers=1)
    step, prompt = (
        share(sizes, DecoderWork(kind, 2, 8), 1.0, 1.0, 2.0) for kind in ("step", "prefill")
    )
    head = 2 * sizes.vocab * sizes.d_model
    assert step.rate / 3 - prompt.rate == pytest.approx(head * (16 - 2))
    assert step.printed == prompt.printed == 1.0


def test_a_token_reads_weights_and_caches_once() -> None:
    one, four = (share(SMALL, DecoderWork("decode", n, 32), 2.0, 1.0, 5.0) for n in (1, 4))
    cache = 2 * 2 * 2 * 16 * 32 * 2
    assert one.rate * 2 == SMALL.params * 2 + cache
    assert four.rate * 2 == SMALL.params * 2 + 4 * cache
    assert (one.unit, one.printed) == ("byte/s", 5.0)
    untied = share(SMALL._replace(tied=False), DecoderWork("decode", 1, 32), 2.0, 1.0, 5.0)
    assert untied.rate == one.rate  # the embedding is looked up, the head is read


def test_rows_are_read_and_compared_with_the_prediction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measuring, "timed", lambda call, samples: Timing(0.5, 1.0, samples, 1))
    work = [
        DecoderWork("step", 4, 4096, recompute=True),
        DecoderWork("prefill", 1, 2048),
        DecoderWork("decode", 8, 512),
    ]
    machine, order = FakeDecoders(), ordered(*work)
    found = list(measure(machine, order))
    assert [asked[0] for asked in machine.asked] == ["step", "prefill", "decode"]
    assert found[0].what == "step of llama-3.2-1b, 4 x 4096 tokens, recomputed"
    path = tmp_path / "own.yaml"
    document = run_file(machine, order, found, TODAY)
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    own = read_own_runs(path)
    assert not own.unread and not own.repeated
    record = validate([own.runs]).record()
    assert [row["kind"] for row in record["rows"]] == [
        "training_throughput",
        "training_memory",
        "inference",
        "inference",
    ]
    assert all("predicted" in row for row in record["rows"])
    step, memory = document["rows"][:2]
    assert step["measured"]["tokens_per_s_per_chip"] == 4 * 4096 / 0.5
    assert step["run"]["recompute"] == "full" and "torch.compile" in step["run"]["software"]
    assert memory["measured"] == {"peak_memory_gb": 40.0}
    assert {row["hardware"]["n_chips"] for row in document["rows"]} == {1}


def test_a_model_that_was_cut_says_so() -> None:
    model = shape("llama-3-8b")
    order = DecoderOrder(model, decoder(model, 4), (DecoderWork("step", 1, 128),))
    (row,) = rows(order, order.work[0], 0.1, None, compiled=False)
    assert row["model"]["n_layers"] == 4 and row["model"]["name"] == "llama-3-8b with 4 layers"
    assert row["model"]["n_params"] == order.sizes.params < 2.1e9
    assert "software" not in row["run"]
    assert words(order._replace(sizes=decoder(model, 1)), order.work[0]).startswith(
        "step of llama-3-8b with 1 layer,"
    )
    with pytest.raises(FlopbookError, match="--layers is 33, but llama-3-8b has 32"):
        decoder(shape("llama-3-8b"), 33)


def test_weights_that_exceed_the_memory_are_refused_with_what_would_fit() -> None:
    with pytest.raises(FlopbookError, match=r"128 GB for its weights and their .* --layers \d+ w"):
        list(measure(FakeDecoders(), ordered(DecoderWork("step", 1, 128), model="llama-3-8b")))
    with pytest.raises(FlopbookError, match="141 GB for its weights, the chip has 80 GB"):
        list(measure(FakeDecoders(), ordered(DecoderWork("decode", 1, 128), model="llama-3-70b")))


@pytest.mark.parametrize("message", ["CUDA out of memory. Tried to allocate", "a device error"])
def test_memory_that_runs_out_is_said(message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(call: Any, samples: int) -> Timing:
        raise RuntimeError(message)

    monkeypatch.setattr(measuring, "timed", fail)
    said = "is out of memory; lower --layers" if "memory" in message else message
    with pytest.raises(RuntimeError if said == message else FlopbookError, match=said):
        list(measure(FakeDecoders(), ordered(DecoderWork("step", 64, 8192))))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--what=step", "--what step needs a model; give for example --model llama-3.2-1b"),
        ("--seq=128", "--seq says how to run a model; give --model"),
        ("--model=llama-3.2-1b --what=matmul --layers=1", "--layers says how to run a model"),
        ("--model=llama-3.2-1b --layers=17", "--layers is 17, but llama-3.2-1b has 16"),
        ("--model=llama-3.2-1b --recompute=some", "expected one of none, full"),
        ("--model=mixtral-8x7b", "has experts"),
        ("--model=llama-3.2-1b --layers=1 --backend=numpy", "measures no decoders"),
    ],
)
def test_bad_input_is_one_line(words: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["measure", *words.split()]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_the_command_times_every_size_that_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    machine = FakeDecoders()
    monkeypatch.setattr(backends, "backend", lambda name: machine)
    monkeypatch.setattr(measuring, "timed", lambda call, samples: Timing(0.02, 1.1, samples, 1))
    path = tmp_path / "mine.yaml"
    asked = "--model llama-3.2-1b --layers 2 --micro-batch 1,4 --seq 128,1k --recompute full"
    assert run(["measure", *asked.split(), f"--output={path}", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    sizes = [(work.kind, work.sequences, work.tokens) for _, _, work in machine.asked]
    assert sizes == [
        (kind, sequences, tokens)
        for kind in ("step", "prefill", "decode")
        for sequences in (1, 4)
        for tokens in (128, 1000)
    ]
    assert {work.recompute for kind, _, work in machine.asked if kind == "step"} == {True}
    assert not any(work.recompute for kind, _, work in machine.asked if kind != "step")
    assert {built.layers for _, built, _ in machine.asked} == {2}
    assert len(record["measured"]) == len(sizes)
    for one in record["measured"]:
        assert one["share"] == pytest.approx(one["value"] / one["printed"])
        assert one["seconds"] == 0.02 and one["unit"] in ("FLOP/s", "byte/s")
    own = read_own_runs(path)
    assert not own.unread and not own.repeated
    assert len(own.runs.rows) == len(sizes) + 4  # a step has a row of its memory besides
    assert run(["measure", *asked.split(), "--what=decode"]) == 0
    table = capsys.readouterr().out
    assert "decode of llama-3.2-1b with 2 layers, 4 x 128 cached" in table
    assert "of printed" in table and "20 ms" in table
    assert {one["memory"] for one in record["measured"]} == {machine.peak_memory()}
    heads, *lines = [line for line in table.splitlines() if "spread" in line or "decode" in line]
    assert heads.endswith("memory") and all(line.endswith("GB") for line in lines)


class FakeDevice:
    """As much of `torch.cuda` as counts memory."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def is_available(self) -> bool:
        return True

    def set_device(self, number: int) -> None:
        self.said.append(f"device {number}")

    def current_device(self) -> int:
        return 3

    def get_device_name(self) -> str:
        return "NVIDIA H100 80GB HBM3"

    def max_memory_allocated(self) -> int:
        self.said.append("asked")
        return 40_000_000_000

    def empty_cache(self) -> None:
        self.said.append("emptied")

    def reset_peak_memory_stats(self) -> None:
        self.said.append("reset")


def test_the_most_memory_is_asked_for_and_then_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    device, module = FakeDevice(), types.ModuleType("torch")
    given = {"cuda": device, "__version__": "2.0", "manual_seed": lambda seed: None}
    for name, value in given.items():
        monkeypatch.setattr(module, name, value, raising=False)
    monkeypatch.setitem(sys.modules, "torch", module)
    monkeypatch.setenv("LOCAL_RANK", "3")
    machine = TorchBackend()
    assert machine.is_accelerator and machine.device == "NVIDIA H100 80GB HBM3"
    assert machine.peak_memory() == 40e9
    assert device.said == ["device 3", "asked", "emptied", "reset"]
    monkeypatch.setattr(device, "is_available", lambda: False)
    monkeypatch.setattr(backends, "processor", lambda: "a processor")
    assert TorchBackend().peak_memory() is None


def test_frameworks_without_decoders_say_so() -> None:
    machine = NumpyBackend()
    assert machine.decoder(SMALL, DecoderWork("step", 1, 8)) is None
    assert machine.peak_memory() is None


@pytest.mark.skipif(not HAS_TORCH, reason="PyTorch is not installed")
def test_pytorch_runs_every_kind_of_work() -> None:
    from flopbook.prediction.torch_decoder import DecoderModel, decoder_call

    for tied in (True, False):
        sizes = SMALL._replace(tied=tied)
        model = DecoderModel(sizes, compiled=False)
        assert sum(weight.numel() for weight in model.parameters()) == sizes.params
    for kind in WORK:
        decoder_call(SMALL, DecoderWork(kind, 2, 16), "cpu", compiled=False)()
    again = DecoderWork("step", 2, 16, recompute=True)
    decoder_call(SMALL, again, "cpu", compiled=False)()
    logits = decoder_call(SMALL, DecoderWork("decode", 3, 16), "cpu", compiled=False)()
    assert tuple(logits.shape) == (3, 1, SMALL.vocab)
    logits = decoder_call(SMALL, DecoderWork("prefill", 3, 16), "cpu", compiled=False)()
    assert tuple(logits.shape) == (3, 1, SMALL.vocab)


@pytest.mark.skipif(not HAS_TORCH, reason="PyTorch is not installed")
def test_a_token_with_a_cache_is_the_last_of_the_prompt() -> None:
    """Decoding does the same arithmetic as the pass over the whole sequence."""
    import torch

    from flopbook.prediction.torch_decoder import DecoderModel, angles_of

    tokens = torch.randint(SMALL.vocab, (2, 9))
    model = DecoderModel(SMALL, compiled=False).eval()
    caches: list[tuple[Any, Any]] = []

    def keep(block: Any, given: tuple[Any, ...]) -> None:
        """The keys and values of the prompt, and room for one more."""
        x, angles = given[:2]
        keys, values = block.keys_and_values(block.attention_norm(x), angles)
        room = torch.zeros_like(keys[:, :, :1])
        caches.append((torch.cat([keys, room], 2), torch.cat([values, room], 2)))

    hooks = [block.register_forward_pre_hook(keep) for block in model.blocks]
    with torch.no_grad():
        model(tokens[:, :-1], angles_of(SMALL, torch.arange(8)))
        for hook in hooks:
            hook.remove()
        one = model(tokens[:, -1:], angles_of(SMALL, torch.tensor([8])), caches)
        whole = model(tokens, angles_of(SMALL, torch.arange(9)))
    assert torch.allclose(one, whole, atol=1e-5)


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_what_was_measured_before_an_error_is_printed_and_written(
    form: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    """A model that ran out of memory took the minutes of all measurements before it along."""
    row = {
        "id": "own-memory-copy-of-1-MiB",
        "kind": "hbm_bandwidth",
        "run": {"op": "copy"},
        "measured": {"memory_bandwidth_gb_per_s": 2.0},
    }
    copy = Measured("memory copy", Timing(1.0, 1.0, 1, 1), 2e9, "byte/s", None, (row,))

    def out_of_memory(*_: object) -> Iterator[Measured]:
        yield copy
        raise FlopbookError("step of llama-3-8b is out of memory")

    monkeypatch.setattr("flopbook.prediction.measuring.measure", out_of_memory)
    rows = tmp_path / "mine.yaml"
    assert run(["measure", "--backend", "numpy", "--output", str(rows), *form]) == 2
    printed = capsys.readouterr()
    assert "memory copy" in printed.out
    assert "step of llama-3-8b is out of memory" in printed.err
    assert "own-memory-copy-of-1-MiB" in rows.read_text(encoding="utf-8")
