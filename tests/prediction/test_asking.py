"""A prediction as people ask for it: options in, one line for a mistake, parts and band out."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.cli.app import run
from flopbook.data.library import references
from flopbook.data.measured_runs import run_files
from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.calculator import calculate
from flopbook.planning.planner import plan
from flopbook.planning.question import question_of
from flopbook.prediction.asking import predict, prediction_of, run_of
from flopbook.prediction.asking_serving import predict_serving
from flopbook.prediction.bands import Adjustment
from flopbook.prediction.calibration import Calibration
from flopbook.prediction.known_runs import known_runs
from flopbook.prediction.named_models import asked_model
from flopbook.prediction.possible_layouts import possible
from tests.support.commands import without_numpy
from tests.support.huggingface_configs import SAME

ASKED = {
    "model": "llama-3-70b",
    "chip": "h100-sxm",
    "chips": "512",
    "batch_tokens": "4Mi",
    "seq": "8192",
    "tp": "8",
    "pp": "4",
    "micro_batch": "1",
    "zero": "1",
    "recompute": "selective",
    "stack": "megatron-core",
}


def test_parts_make_the_step_and_the_step_makes_the_throughput() -> None:
    prediction = predict(ASKED)
    assert prediction.low < prediction.seconds < prediction.high
    assert sum(prediction.parts.values()) == pytest.approx(prediction.seconds)
    tokens = 4 * 2**20
    assert prediction.tokens_per_second == pytest.approx(tokens / prediction.seconds / 512)
    assert 0.2 < prediction.mfu < 0.6
    assert prediction.inferred == ("network",)
    assert predict({**ASKED, "network": "ndr"}).inferred == ()


@pytest.mark.parametrize("open_ones", [(), ("tp", "pp", "zero", "recompute"), ("zero",)])
def test_one_prediction_does_without_numpy(open_ones: tuple[str, ...]) -> None:
    """To load it takes as long as all the rest; only reading the runs on file, once, needs it."""
    asked = {name: value for name, value in ASKED.items() if name not in open_ones}
    done = without_numpy("predict", asked)
    assert done.returncode == 0 and b"80 % band" in done.stdout


def test_what_was_not_asked_is_named() -> None:
    prediction = predict({name: ASKED[name] for name in ("model", "chip", "chips")})
    expected = {"micro-batch size", "gradient accumulation steps", "ZeRO stage", "recompute"}
    expected |= {"layout", "network", "software stack", "batch of a step"}
    assert expected == set(prediction.inferred)


def test_a_step_is_sized_in_tokens_or_in_sequences() -> None:
    """People count the global batch in sequences as often as in tokens."""
    in_sequences = {**ASKED, "batch_tokens": None, "batch": "512"}
    assert predict(in_sequences).record() == predict(ASKED).record()
    with pytest.raises(FlopbookError, match="both size the step; leave one out"):
        predict({**ASKED, "batch": "512"})


def test_the_layout_that_was_predicted_is_named() -> None:
    layout = predict({**ASKED, "micro_batch": "2"}).record()["layout"]
    assert (layout["tp"], layout["pp"], layout["dp"], layout["zero"]) == (8, 4, 16, 1)
    assert (layout["batch"], layout["seq"], layout["micro_batch"]) == (512, 8192, 2)
    assert layout["micro_batches"] * layout["micro_batch"] * layout["dp"] == layout["batch"]
    assert (layout["recompute"], layout["schedule"]) == ("selective", "1f1b")


def test_similar_runs_are_on_file_and_of_the_same_generation() -> None:
    rows = {row.id: row for file in run_files().values() for row in file.rows}
    count, similar, _ = found = predict(ASKED).similar
    alike = [row for row in known_runs("training_throughput") if row.generation == "hopper"]
    dense = [row for row in alike if row.precision == "bf16" and not row.is_mixture]
    assert len(similar) < count == sum(row.trained == 1 for row in dense)
    assert predict(ASKED).record()["similar_count"] == found.total
    assert all("H" in rows[one.id].hardware["chip"] for one in similar)
    assert all(references()[one.source].link == one.url for one in similar)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": None}, "--model is missing"),
        ({"chips": None}, "--chips is missing"),
        ({"tp": "7"}, "does not make 512 chips"),
        ({"dp": "3"}, "does not make 512 chips"),
        ({"tp": "0"}, "--tp is 0, expected a whole number of at least 1"),
        ({"chips": "1e308"}, r"--chips is 1e308, expected at most 1e\+30"),
        ({"chips": "1e16"}, "--chips is 1e16, expected at most 1,000,000,000,000,000"),
        ({"zero": "-1"}, "--zero is -1"),
        ({"hsdp": "3"}, "--hsdp 3 does not divide --dp 16 replicas"),
        ({"hsdp": "4", "zero": "0"}, "--hsdp 4 groups divide what ZeRO shards; give --zero 1 to 3"),
        ({"batch_tokens": "10000"}, r"is no multiple of --seq 8,192; use 8,192 \(1 sequence\)"),
        ({"batch_tokens": "4M"}, r"use 3,997,696 \(488 sequences\) or 4,194,304 \(512 seq"),
        # What no framework starts; each of these had a step time.
        ({"ep": "16"}, "--ep 16 divides experts, and the model has none"),
        ({"chips": "768", "tp": "3"}, "--tp 3 does not divide 64 attention heads; use 2 or 4"),
        ({"pp": "128", "tp": "1"}, "--pp 128 is larger than --layers 80"),
        ({"virtual": "32"}, "--virtual 32 on 4 stages are 128 chunks of 80 layers; use at most 20"),
        ({"virtual": "2", "batch_tokens": "768Ki"}, "multiple of the stages, not 6 for --pp 4"),
        ({"batch_tokens": None, "batch": "500"}, "over 16 replicas; use 496 or 512 sequences"),
        ({"batch_tokens": None, "batch": "8"}, "leaves some of 16 replicas without any; use 16"),
        ({"micro_batch": "3"}, "--micro-batch 3 does not divide the 32 sequences of each of 16"),
        ({"recompute": "some"}, "--recompute is 'some', expected one of none, selective, full"),
        ({"recompute_layers": "2"}, "--recompute-layers counts layers of --recompute full"),
        ({"recompute": "full", "recompute_layers": "0"}, "--recompute-layers is 0, expected"),
        ({"dtype": "fp3"}, "--dtype is 'fp3'"),
        ({"batch_tokens": "3 apples"}, "--batch-tokens: '3 apples': unknown unit"),
        ({"chips": "many"}, "--chips: 'many' is not"),
        ({"chips": "1e999"}, "--chips: '1e999' is too large"),
    ],
)
def test_a_mistake_is_one_line(change: dict[str, str | None], said: str) -> None:
    with pytest.raises(FlopbookError, match=said) as caught:
        predict({**ASKED, **change})
    assert "\n" not in str(caught.value)


def test_an_open_micro_batch_divides_the_sequences_of_a_replica() -> None:
    """Three sequences were once one micro-batch and a half of two."""
    run = predict({"model": "llama-3-8b", "chip": "h100-sxm", "chips": "64", "batch": "192"}).run
    assert (run.micro_batch, run.micro_batches, run.batch) == (1, 3, 192)


def test_chips_beyond_a_pod_are_slices() -> None:
    """A torus ends with its pod of 256; four of them were once timed as one."""
    asked = {"model": "llama-3-8b", "chip": "tpu-v5e", "chips": "1024", "batch": "1024"}
    found = predict(asked)
    assert found.run.slices == 4 and "slices of a torus" in found.inferred
    whole = prediction_of(found.run._replace(slices=1), "llama-3-8b", asked)
    assert found.seconds > whole.seconds
    assert predict({**asked, "chips": "256"}).run.slices == 1


def test_layouts_are_checked_where_no_memory_is_published() -> None:
    asked = {"model": "llama-3-8b", "chip": "nvidia/h100-sxm", "chips": "12", "tp": "3"}
    without = run_of(asked)
    without = without._replace(machine=without.machine._replace(memory=0.0))
    with pytest.raises(FlopbookError, match="does not divide 32 attention heads"):
        possible(asked_model(asked)[1], without, None, is_open=False)


@pytest.mark.parametrize("change", [{"model": "llama-3-71b"}, {"chip": "h1000"}, {"stack": "tita"}])
def test_an_unknown_name_offers_the_nearest(change: dict[str, str]) -> None:
    with pytest.raises(UnknownName):
        predict({**ASKED, **change, **({"stack": "nemmo"} if "stack" in change else {})})


def test_the_command_prints_what_json_has(capsys: pytest.CaptureFixture[str]) -> None:
    words = [f"--{name.replace('_', '-')}={value}" for name, value in ASKED.items()]
    assert run(["predict", *words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["prediction"]["seconds"] == pytest.approx(predict(ASKED).seconds)
    assert set(record) == {
        *("prediction", "parts", "memory", "layout", "inferred"),
        *("similar_runs", "similar_count"),
    }
    assert run(["predict", *words]) == 0
    text = capsys.readouterr().out
    assert "80 % band" in text and "products" in text and "a measured run like it" in text


@given(
    model=st.sampled_from(["llama-3-70b", "gpt-3-175b", "deepseek-v3", "mixtral-8x7b"]),
    tp=st.sampled_from([1, 2, 4, 8]),
    pp=st.sampled_from([1, 2, 4]),
    zero=st.integers(0, 3),
    micro_batch=st.sampled_from([1, 2]),
    recompute=st.sampled_from(["none", "selective", "full"]),
)
def test_memory_is_that_of_the_calculator_for_the_same_options(
    model: str, tp: int, pp: int, zero: int, micro_batch: int, recompute: str
) -> None:
    degrees = {"tp": tp, "pp": pp, "zero": zero, "micro_batch": micro_batch, "seq": 2048}
    words = {"model": model, "chip": "h100-sxm", "recompute": recompute}
    dp = 512 // (tp * pp)
    asked = {"chips": "512", "batch_tokens": str(2048 * 1024), "stack": "torchtitan", **words}
    memory = predict({**asked, **{name: str(degree) for name, degree in degrees.items()}}).memory
    more = {"dp": dp, "microbatches": 1024 / (dp * micro_batch), "fusion": "eager"}
    software = {"sequence_parallel": "yes", "attention": "flash", "dropout": "no"}
    answer = calculate("memory", **words, **degrees, **more, **software)
    assert memory is not None and memory.total == pytest.approx(answer["total"], rel=1e-12)
    assert memory.fits == (answer["free"] >= 0)
    assert sum(memory.parts.values()) == pytest.approx(memory.total, rel=1e-9)


def test_a_layout_that_does_not_fit_is_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["predict", "--model=llama-3-70b", "--chip=h100-sxm", "--chips=8", "--zero=1"]
    assert run([*words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["prediction"]["fits"] is False and record["prediction"]["bytes"] > 80e9
    assert run([*words, "--tp=8"]) == 0
    assert "does not fit" in capsys.readouterr().out


def test_what_is_left_open_is_chosen_to_fit() -> None:
    """An 8B on 64 H100 was told not to fit, since ZeRO-1 without recomputation was assumed."""
    asked = {"model": "llama-3-8b", "chip": "h100-sxm", "chips": "64", "batch_tokens": "4Mi"}
    asked |= {"seq": "8192", "tp": "1"}
    found = predict(asked)
    assert found.memory is not None and found.memory.fits and found.run.zero == 3
    assert {"ZeRO stage", "recompute"} <= set(found.inferred)
    explicit = {"zero": "3", "recompute": found.run.recompute, "micro_batch": "1"}
    assert predict({**asked, **explicit}).seconds == pytest.approx(found.seconds, rel=1e-12)
    for fixed in ({"zero": "1", "recompute": "none"}, {"zero": "0", "recompute": "selective"}):
        kept = predict({**asked, **fixed})
        assert kept.run.recompute == fixed["recompute"] and kept.run.zero == int(fixed["zero"])


LLAMA_405B = {
    "model": "llama-3-405b",
    "chip": "h100-sxm",
    "chips": "16384",
    "tp": "8",
    "pp": "16",
    "zero": "1",
    "seq": "8192",
    "batch_tokens": "16Mi",
    "stack": "megatron-core",
}


def test_no_more_layers_are_recomputed_than_the_memory_asks_for() -> None:
    """Llama 3 405B takes 94 GB without: two of the eight layers of a stage are enough."""
    found = predict(LLAMA_405B)
    assert found.run.recompute == "full" and found.run.recompute_layers == 2
    assert found.memory and found.memory.fits and "recompute" in found.inferred
    asked = {**LLAMA_405B, "recompute": "full"}
    fewer = predict({**asked, "recompute_layers": "1"}).memory
    assert fewer and not fewer.fits
    seconds = [predict({**asked, "recompute_layers": str(n)}).seconds for n in range(1, 9)]
    assert seconds == sorted(seconds)
    assert seconds[-1] == pytest.approx(predict(asked).seconds, rel=1e-12)
    assert seconds[1] == pytest.approx(found.seconds, rel=1e-12)


def test_what_would_fit_does() -> None:
    asked = {**ASKED, "zero": "0", "pp": "1", "recompute": "none"}
    found = predict(asked)
    assert found.memory is not None and not found.memory.fits and found.savings
    for words in found.savings:
        flags = words.split()
        pairs = zip(flags[::2], flags[1::2], strict=True)
        changes = {flag[2:].replace("-", "_"): value for flag, value in pairs}
        memory = predict({**asked, **changes}).memory
        assert memory is not None and memory.fits, words


@pytest.mark.parametrize("name", ["llama", "mixtral"])
def test_a_configuration_is_predicted_as_its_model(name: str, tmp_path: Path) -> None:
    config, model = SAME[name]
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    named = predict({**ASKED, "model": model})
    described = predict({**ASKED, "model": None, "config": str(path)})
    assert described.seconds == pytest.approx(named.seconds, rel=1e-3)
    assert described.memory and named.memory
    assert described.memory.total == pytest.approx(named.memory.total, rel=1e-3)
    planned = {**ASKED, "pp": None, "tp": None, "chips": "16"}
    best = plan(question_of({**planned, "model": model}), 1).layouts[0]
    same = plan(question_of({**planned, "model": None, "config": str(path)}), 1).layouts[0]
    assert same[:10] == best[:10]
    asked = {"chip": "h100-sxm", "chips": "8", "answer": "128", "batch": "8", "seq": "1024"}
    served = predict_serving({**asked, "config": str(path)}).throughput.value
    # A published total of parameters is rounded; that of a configuration is counted.
    known = predict_serving({**asked, "model": model}).throughput.value
    assert served == pytest.approx(known, rel=0.01)


def test_a_configuration_that_cannot_be_read_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "config.json"
    path.write_text("{", encoding="utf-8")
    words = ["predict", "--chip=h100-sxm", "--chips=8"]
    for more in (
        [f"--config={path}"],
        [f"--config={path}x"],
        [f"--config={path}", "--model=gpt-2"],
    ):
        assert run([*words, *more]) == 2
        assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("stack", ["megatron-core@0.20", "nemo@25.11", "fsdp2", "maxtext"])
def test_every_stack_that_trains_is_known_with_and_without_a_version(stack: str) -> None:
    found = predict({**ASKED, "stack": stack})
    assert found.run.stack == stack.partition("@")[0]
    # A container names its month; when any other version came out has to be assumed, and is said.
    assert (f"year of {stack}" in found.inferred) == (stack == "megatron-core@0.20")


def test_a_stack_that_serves_is_not_taken_for_training() -> None:
    with pytest.raises(FlopbookError, match="vllm serves and does not train; give --answer"):
        predict({**ASKED, "stack": "vllm@0.9"})


def test_without_a_stack_the_band_is_wider() -> None:
    named, unnamed = predict(ASKED), predict({**ASKED, "stack": None})
    assert unnamed.high / unnamed.seconds > named.high / named.seconds > 1


def test_energy_and_cost_are_those_of_the_time() -> None:
    """2 USD an hour for each of 512 chips, and their rated power with a share of the server."""
    found = predict({**ASKED, "price": "2USD/h", "tokens": "15T"})
    spent = found.spent
    assert spent.cost == pytest.approx(2 / 3600 * 512 * found.seconds)
    power = calculate("cluster-power", chip="h100-sxm", chips=512, pue=1)["watts"]
    assert spent.joules == pytest.approx(power * found.seconds)
    steps = math.ceil(15e12 / (4 * 2**20))
    assert spent.goodput is not None and 0.9 < spent.goodput < 1
    assert spent.run_seconds == pytest.approx(steps * found.seconds / spent.goodput)
    assert spent.run_cost == pytest.approx(2 / 3600 * 512 * (spent.run_seconds or 0))
    assert predict(ASKED).spent.cost is None


def test_a_cloud_has_a_price_and_two_prices_are_refused() -> None:
    cost = predict({**ASKED, "price_from": "aws"}).spent.cost
    assert cost is not None and cost > 0
    with pytest.raises(FlopbookError, match="two prices"):
        predict({**ASKED, "price_from": "aws", "price": "2USD/h"})


def test_calibration_moves_every_part_and_narrows_the_band() -> None:
    plain = predict(ASKED)
    moved = predict(
        ASKED, Calibration("training_throughput", 3, 1.25, 1.1, 0.2, 0.05, Adjustment(1.25, 1.1))
    )
    assert moved.seconds == pytest.approx(plain.seconds / 1.25)
    assert moved.parts == pytest.approx({name: part / 1.25 for name, part in plain.parts.items()})
    assert moved.high / moved.seconds == pytest.approx(1.1) and plain.high / plain.seconds > 1.1


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("tpu-8i", "fp8"), ("tpu-8t", "fp4")],
)
def test_no_utilisation_is_above_one(name: str, dtype: str) -> None:
    """Over the peak of 16 bits it was, where that of the format is several times as high."""
    asked = {"model": "llama-3-8b", "chip": name, "chips": "8", "dtype": dtype}
    step = {"seq": "8192", "batch_tokens": "64Ki", "recompute": "none", "stack": "megatron-core"}
    prediction = predict({**asked, **step})
    assert prediction.mfu <= prediction.hfu < 1 < prediction.mfu_16bit
    assert prediction.record()["prediction"]["mfu_16bit"] == prediction.mfu_16bit


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("a100-sxm-80gb", "fp8"), ("groqchip-1", "fp8"), ("h100-sxm", "fp4"), ("h800-sxm", "fp4")],
)
def test_a_chip_trains_in_the_formats_that_it_multiplies_in(name: str, dtype: str) -> None:
    """An A100 was given its int8 rate for fp8. The H800 prints none, but its generation has it."""
    with pytest.raises(FlopbookError, match=f"{name} has no {dtype} peak on record; train in"):
        predict({**ASKED, "chip": name, "dtype": dtype})
    assert predict({**ASKED, "chip": "h800-sxm", "dtype": "fp8"}).mfu < 1


def test_full_recomputation_counts_for_the_hardware_alone() -> None:
    full = predict({**ASKED, "recompute": "full"})
    assert full.hfu / full.mfu == pytest.approx(4 / 3, rel=0.02)
    assert predict(ASKED).hfu == predict(ASKED).mfu
