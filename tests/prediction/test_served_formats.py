"""The words of a row for its formats, as what is read, kept and multiplied."""

from __future__ import annotations

from flopbook.data.measured_runs import run_files
from flopbook.prediction.machines import machine
from flopbook.prediction.served_formats import ServedFormat, served_format
from flopbook.prediction.serving import serving_of
from tests.support.cases import every


@every(
    "words, formats",
    [
        ("", (2.0, 2.0, "", False)),
        ("fp8", (1.0, 1.0, "fp8", False)),
        ("nvfp4", (0.5625, 1.0, "fp4", False)),
        ("int8 weights only", (1.0, 2.0, "", True)),
        ("int4", (0.5625, 2.0, "", True)),
        ("weight-only int4 (q4_k_m)", (0.6118, 2.0, "", True)),
        ("mxfp4 weights, bf16 cache", (0.5625, 2.0, "", True)),
        ("mxfp4 with mxfp8 activations", (0.5625, 1.0, "fp8", False)),
    ],
)
def test_what_a_row_names_is_read_kept_and_multiplied(
    words: str, formats: tuple[float, float, str, bool]
) -> None:
    assert served_format(words) == ServedFormat(*formats)


def test_gpt_oss_keeps_its_experts_in_four_bits_on_every_chip() -> None:
    """TensorRT-LLM multiplies them in bf16 on Hopper and in MXFP8 on Blackwell; no kernel of its
    fp8 column has weights of 8 bits.
    """
    rows = [row for row in run_files()["trtllm-1.1"].rows if row.model["name"].startswith("GPT-")]
    assert len(rows) == 44
    for row in rows:
        served, _ = serving_of(row)
        chip = machine(row.hardware["chip"])
        assert served.weight_bytes == 0.5625
        is_hopper = chip.generation == "hopper"
        assert served.peak == (chip.peak_16bit if is_hopper else chip.peak_8bit)
        assert served.cache_bytes == (2.0 if is_hopper else 1.0)
