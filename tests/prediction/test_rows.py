"""Rows become runs: what a row gives is used, what it leaves open is inferred and said."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.data.measured_runs import run_files
from flopbook.data.runs import MeasuredRun, RunFile, RunSource
from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.calculator import calculate
from flopbook.prediction.bands import BAND_OF_STRANGERS, widest_band
from flopbook.prediction.catalogue import MODELS
from flopbook.prediction.conventions import HARDWARE, USUAL, flop_per_token
from flopbook.prediction.fits import cases_of
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.layouts import training_run
from flopbook.prediction.machines import machine, memory_rate, package_named
from flopbook.prediction.named_models import MODEL_SHAPE, with_shape
from flopbook.prediction.rates import read_product
from flopbook.prediction.software_words import precision_named
from flopbook.prediction.stacks import STACKS, chosen_stack, stack_named
from flopbook.prediction.transformers import transformer
from tests.prediction.test_step_time import LLAMA, MIXTURE, row


@pytest.mark.parametrize(
    ("name", "chip", "generation"),
    [
        ("H100-SXM-80GB", "nvidia/h100-sxm", "hopper"),
        ("A100-SXM-80GB (330 W power limit)", "nvidia/a100-sxm-80gb", "ampere"),
        ("GB200-NVL72", "nvidia/gb200-gpu", "blackwell"),
        ("TPU v5p", "google/tpu-v5p", "tpu"),
        ("MI300X", "amd/mi300x", "cdna"),
        ("Gaudi3", "intel/gaudi-3", "gaudi"),
    ],
)
def test_a_machine_is_the_chip_inside_what_is_named(name: str, chip: str, generation: str) -> None:
    found = machine(name)
    assert (found.chip, found.generation) == (chip, generation)
    assert found.peak_16bit <= found.peak_8bit <= found.peak_4bit
    assert found.memory_bandwidth > 1e11 and found.link_bandwidth > 1e9


def test_an_unknown_chip_offers_the_nearest() -> None:
    with pytest.raises(UnknownName, match="h100"):
        machine("H1000-SXM")


def test_every_chip_of_our_rows_is_an_entry_and_of_fitted_rows_a_machine() -> None:
    """Makers such as Apple print no matrix rate; their rows are there to be looked at."""
    rows = [row for file in run_files().values() for row in file.rows]
    assert all(package_named(row.hardware["chip"]).id for row in rows)
    names = {row.hardware["chip"] for row in rows if row.use == "fit"}
    assert all(machine(name).peak_16bit > 0 for name in names)
    with pytest.raises(FlopbookError, match="no published dense peak"):
        machine("M2 Ultra")


@pytest.mark.parametrize(
    ("text", "stack"),
    [
        ("NeMo container 25.11", "nemo"),
        ("torchtitan (Primus), no torch.compile", "torchtitan"),
        ("Megatron-LM", "megatron-core"),
        ("bigscience-prequel", "deepspeed"),
        ("something new", "other"),
    ],
)
def test_words_tell_the_stack(text: str, stack: str) -> None:
    assert stack_named(text) == stack and stack in STACKS


def test_a_stack_is_chosen_by_name_and_version() -> None:
    assert chosen_stack("MaxText@2026.01") == "maxtext"
    assert chosen_stack("megatron-lm") == "megatron-core"
    with pytest.raises(UnknownName, match="torchtitan"):
        chosen_stack("torchtaitan")


@pytest.mark.parametrize(
    ("word", "precision"),
    [
        ("bf16", "bf16"),
        ("FP8-MX", "fp8"),
        ("float8 rowwise", "fp8"),
        ("NVFP4", "fp4"),
        ("", "bf16"),
    ],
)
def test_words_tell_the_format(word: str, precision: str) -> None:
    assert precision_named(word) == precision


def test_what_a_row_gives_is_not_inferred() -> None:
    run = training_run(row(zero_stage=1), 2025)
    assert run.inferred == () and run.batch == 64 and run.micro_batches == 8


@pytest.mark.parametrize(
    ("left_out", "said"),
    [
        ("micro_batch_seqs", "micro-batch size"),
        ("zero_stage", "ZeRO stage"),
    ],
)
def test_what_a_row_leaves_open_is_inferred_and_said(left_out: str, said: str) -> None:
    whole = row(zero_stage=1)
    degrees = {name: size for name, size in whole.parallelism.items() if name != left_out}
    assert said in training_run(whole._replace(parallelism=degrees), 2025).inferred
    silent = {name: word for name, word in whole.run.items() if name != "recompute"}
    assert "recompute" in training_run(whole._replace(run=silent), 2025).inferred


def test_a_row_without_a_shape_is_refused() -> None:
    with pytest.raises(FlopbookError, match="layers or the model width"):
        training_run(row(model={"name": "Mystery"}), 2025)


def test_a_prediction_sees_nothing_of_what_was_measured() -> None:
    """The inputs of a case are the same whatever its row measured."""
    model = MODELS["training_throughput"]
    files = list(run_files().values())
    for case in cases_of(model, files).cases[::17]:
        results = {name: 2 * value for name, value in case.row.measured.items()}
        source = next(file for file in files if case.source in file.sources)
        again = model.read(case.row._replace(measured=results), source.sources[case.source])
        assert again.inputs == case.inputs and again.measured != case.measured


def counted(model: dict[str, Any]) -> float:
    """Parameters of a model by hand: attention, feed-forward, two embeddings."""
    width, layers = model["d_model"], model["n_layers"]
    head = width / model["n_heads"]
    attention = 2 * width * head * (model["n_heads"] + model["n_kv_heads"])
    return layers * (attention + 3 * width * model["d_ff"]) + 2 * model["vocab_size"] * width


def test_weights_are_those_of_the_shape() -> None:
    shape = transformer(LLAMA)
    assert shape.parameters == counted(LLAMA)
    assert shape.layer_weights + 2 * shape.embedding == counted(LLAMA)


def test_a_token_visits_some_experts_and_memory_holds_all() -> None:
    shape = transformer(MIXTURE)
    assert shape.ffn_weights == 3 * 8192 * 14336 * 2
    assert shape.parameters > 2 * (shape.layer_weights + shape.embedding)


def test_latent_attention_counts_its_compressed_projections() -> None:
    """DeepSeek-V3, Section 4.2: 671 billion parameters, of which 37 billion compute."""
    sizes = {
        "n_layers": 61,
        "d_model": 7168,
        "n_heads": 128,
        "d_ff": 18432,
        "moe_d_ff": 2048,
        "n_experts": 256,
        "experts_per_token": 8,
        "n_shared_experts": 1,
        "n_dense_layers": 3,
        "vocab_size": 129280,
        "q_lora_rank": 1536,
        "kv_lora_rank": 512,
        "qk_nope_head_dim": 128,
        "qk_rope_head_dim": 64,
        "v_head_dim": 128,
    }
    shape = transformer(sizes)
    assert shape.parameters == pytest.approx(671e9, rel=0.01)
    assert shape.layer_weights + shape.embedding == pytest.approx(37e9, rel=0.02)


@pytest.mark.parametrize("name", ["qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"])
def test_latent_attention_without_its_widths_is_refused(name: str) -> None:
    widths = {"qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128}
    sizes = {**LLAMA, "kv_lora_rank": 512, **widths}
    assert transformer(sizes).score_width == LLAMA["n_heads"] * (128 + 64 + 128) / 2
    del sizes[name]
    with pytest.raises(FlopbookError, match=f"kv_lora_rank is given, but not {name}"):
        transformer(sizes)


def test_weights_are_those_of_the_calculator() -> None:
    """One count of parameters for all: the formula `params`, norms and router aside."""
    for sizes in (LLAMA, MIXTURE):
        shape = transformer(sizes)
        more = {"experts": 8, "experts_per_token": 2, "expert_d_ff": 14336}
        answer = calculate(
            "params",
            **{"layers": 80, "d_model": 8192, "heads": 64, "kv_heads": 8, "d_ff": 28672},
            **{"vocab": 128256, "ffn_kind": "gated"},
            **(more if "n_experts" in sizes else {}),
        ).outputs
        assert shape.attention_weights * 80 == pytest.approx(answer["attention"])
        visited = answer["ffn"] - answer["total"] + answer["active"]
        assert shape.ffn_weights * 80 == pytest.approx(visited)
        parts = answer["attention"] + answer["ffn"] + answer["embedding"]
        assert shape.parameters == pytest.approx(parts)


def test_a_missing_gate_is_inferred_from_the_parameters() -> None:
    plain = {**LLAMA, "n_params": counted(LLAMA) - 80 * 8192 * 28672}
    del plain["gated_ffn"]
    assert transformer(plain).ffn_weights == 2 * 8192 * 28672
    gated = {**plain, "n_params": counted(LLAMA)}
    assert transformer(gated).ffn_weights == 3 * 8192 * 28672


def test_conventions_differ_by_what_they_count() -> None:
    shape = transformer(LLAMA)
    scores = shape.layers * shape.score_width * shape.tokens
    full = flop_per_token(shape, USUAL)
    assert full == 6 * (shape.layer_weights + shape.embedding) + 12 * scores
    assert full - flop_per_token(shape, "causal_attention_no_input_embedding") == 6 * scores
    everything = flop_per_token(shape, "full_attention_all_params")
    assert everything - full == pytest.approx(6 * shape.embedding)
    recomputed = flop_per_token(shape, HARDWARE) - full
    assert recomputed == pytest.approx(2 * shape.layer_weights + 4 * scores)
    assert flop_per_token(shape, "six_n", active=7e10) == 6 * 7e10


@pytest.mark.parametrize(
    "name", ["Llama-3-70B", "LLAMA_3.70B", "meta-llama/Llama-3.1-70B-Instruct"]
)
def test_a_known_model_without_its_shape_has_the_one_on_file(name: str) -> None:
    named = row(model={"name": name, "seq_len_tokens": 8192})._replace(
        measured={"tokens_per_s_per_chip": 800.0}
    )
    files = [RunFile({"acme": RunSource(year=2025)}, (named,))]
    (case,) = cases_of(MODELS["training_throughput"], files).cases
    assert "model shape" in case.inferred
    shape = case.inputs.shape
    assert (shape.layers, shape.d_model, shape.ffn_width) == (80, 8192, 28672)


def test_what_a_row_says_of_its_model_counts_before_the_name() -> None:
    said, is_named = with_shape(row(model={"name": "llama-3-70b", "n_layers": 40}))
    assert is_named and said.model["n_layers"] == 40 and said.model["d_model"] == 8192
    assert with_shape(row(model=LLAMA)) == (row(model=LLAMA), False)
    mystery = row(model={"name": "Mystery-9000B"})
    assert with_shape(mystery) == (mystery, False)


def test_sizes_that_come_from_a_name_are_never_fitted() -> None:
    """An entry of a model may change; the fit rests on what sources print."""
    files = [file for file in run_files().values() if any(row.use == "fit" for row in file.rows)]
    for kind, model in MODELS.items():
        named = {
            case.row.id
            for case in cases_of(model, files, use="fit").cases
            if MODEL_SHAPE in case.inferred
        }
        assert not named & set(fitted_kinds()[kind].residuals)
        assert named or kind != "training_throughput"


def test_the_rate_of_a_memory_needs_no_matrix_rate() -> None:
    with pytest.raises(FlopbookError, match="no published dense peak"):
        machine("amd/mi60")
    assert memory_rate("amd/mi60") > 1e11
    model = MODELS["hbm_bandwidth"]
    assert not cases_of(model, run_files().values()).refused


def test_products_unlike_the_fitted_ones_have_a_wider_band() -> None:
    """Of the formats only one was fitted often, and of the chips."""
    known = fitted_kinds()["matmul_peak"]
    base = widest_band(known, ["matmul rate"], {"chip": "tpu", "format": "16 bits"})
    strange = widest_band(known, ["matmul rate"], {"chip": "blackwell", "format": "4.5 bits"})
    assert base == known.bands["matmul rate"] < strange == known.bands[BAND_OF_STRANGERS]


@pytest.mark.parametrize(
    ("chip", "precision", "peak"),
    [("MI100", "fp16", 184.6e12), ("MI100", "bf16", 92.3e12), ("MI210", "fp16", 181e12)],
)
def test_a_product_runs_at_the_rate_of_its_own_format(
    chip: str, precision: str, peak: float
) -> None:
    """An MI100 multiplies fp16 at twice the rate of bf16; later chips do not tell them apart."""
    product = MeasuredRun("one", "matmul_peak", "acme", "Table 1", {"matmul_tflops_per_s": 100})
    run = {"precision": precision, "matmul_shape_mxnxk": "4096x4096x4096"}
    case = read_product(product._replace(hardware={"chip": chip}, run=run), RunSource("acme2026"))
    assert case.inputs.peak == pytest.approx(peak, rel=1e-3)
