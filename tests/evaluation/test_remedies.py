"""What the first line of an answer proposes is taken as it is written, and then it fits."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from flopbook.evaluation.calculator import calculate
from flopbook.evaluation.results import Result
from tests.support.cases import every


def taken(name: str, options: dict[str, Any], remedy: str) -> Result:
    """The answer after the proposed options were added to those that were given."""
    words = remedy.split()
    pairs = zip(words[::2], words[1::2], strict=True)
    changes = {flag.removeprefix("--").replace("-", "_"): value for flag, value in pairs}
    return calculate(name, **{**options, **changes})


@every(
    "options, remedy",
    [
        # Data parallelism alone holds all states eight times: sharding comes first.
        ({"model": "llama-3-70b", "chips": 64, "seq": 8192}, "--zero 3 --recompute full"),
        ({"model": "llama-3-70b", "chips": 256, "tp": 8, "pp": 4, "seq": 8192}, "--zero 1"),
        # 18 bytes for each of 70.6 billion weights are 1.3 TB: 16 chips have 1.28 TB.
        (
            {"model": "llama-3-70b", "chips": 16, "seq": 8192},
            "--zero 3 --recompute full --chips 32",
        ),
        # 204 GB of logits: neither recomputation nor a loss in chunks is enough alone.
        (
            {"model": "llama-3-8b", "chips": 8, "zero": 3, "seq": 131_072},
            "--recompute full --loss-chunks 8 --tp 8",
        ),
    ],
)
def test_training_is_told_what_people_do(options: dict[str, Any], remedy: str) -> None:
    fit = calculate("memory", chip="h100-sxm", **options).fit
    assert fit is not None and not fit.fits and fit.remedy == remedy


@settings(max_examples=20)
@given(
    st.sampled_from(["llama-3-8b", "llama-3-70b", "mixtral-8x7b", "qwen-3-30b-a3b", "gpt-3-175b"]),
    st.sampled_from([{}, {"dp": 1}, {"chips": 8}, {"chips": 64, "tp": 4}, {"chips": 64, "pp": 4}]),
    st.sampled_from([0, 1, 3]),
    st.sampled_from([2048, 32_768, 1_048_576]),
)
def test_a_remedy_for_training_fits_on_the_chips_that_it_names(
    model: str, layout: dict[str, Any], zero: int, seq: int
) -> None:
    options = {"model": model, "chip": "h100-sxm", "zero": zero, "seq": seq, **layout}
    before = calculate("memory", **options)
    assert before.fit is not None
    if not before.fit.remedy:
        return
    after = taken("memory", options, before.fit.remedy)
    assert before["free"] < 0 <= after["free"]
    if "--chips" not in before.fit.remedy and "chips" in layout:
        assert after.inputs["chips"].value == layout["chips"]


@every("method", ["full", "lora", "qlora"])
def test_fine_tuning_is_told_so_too(method: str) -> None:
    options = {"model": "llama-3-70b", "method": method, "chip": "l40s", "seq": 8192}
    fit = calculate("fine-tuning", **options).fit
    assert fit is not None and not fit.fits and fit.remedy
    assert taken("fine-tuning", options, fit.remedy)["free"] >= 0
