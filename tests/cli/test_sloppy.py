"""Command lines as people type them in a hurry: one line that says what to write instead."""

from __future__ import annotations

import json
from typing import Any

import pytest

from flopbook.cli.app import run
from flopbook.cli.other_words import MEANT, MFU
from flopbook.cli.parser import ELSEWHERE
from flopbook.cli.plain import PLAIN
from flopbook.evaluation.calculator import calculate
from flopbook.evaluation.request import option_names
from flopbook.formulas import CATALOGUE, formulas

LLAMA = "--model llama-3-8b"
ON_H100 = f"decode {LLAMA} --chip h100-sxm --seq 4096"
TRAINED = f"training-time {LLAMA} --chip h100-sxm --chips 8"
SUMMED = "collective --op all-reduce --chips 8 --bytes 1GB"
REFUSED = {
    f"kv-cache {LLAMA} --seq 1k --seq 2k": "--seq has two values, 1k and 2k; give it once",
    "kv-cache --modle llama-3-8b --seq 1k": "unknown option '--modle'; nearest: --model",
    f"kv-cache {LLAMA} --sequence-length 1k": "'--sequence-length'; here it is --seq",
    f"kv-cache {LLAMA} --max_model_len 1k": "'--max_model_len'; here it is --seq",
    f"kv-cache {LLAMA} --seq": "--seq needs a value",
    f"kv-cache {LLAMA}": "kv-cache needs --seq",
    "kv-cache --seq 4096": "kv-cache needs --layers or --model",
    "kv-cache llama-3-8b --seq 4096": "kv-cache takes options only",
    f"kv-cache {LLAMA} --seq 4096GB": "is in byte, expected token",
    f"kv-cache {LLAMA} --seq 4,096": "write thousands without a mark",
    f"kv-cache {LLAMA} --seq 4096.5": "expected a whole number",
    f"kv-cache {LLAMA} --seq 4096 --dtype fp7": "unknown dtype 'fp7'; nearest: fp8",
    f"{ON_H100} --tp 3": "--tp 3 does not divide 32 attention heads; use 2 or 4",
    f"{ON_H100} --chips 8 --tp 16": "--chips 8 is not a multiple of --tp 16; use 16",
    f"{ON_H100} --gpus 8": "unknown option '--gpus'; here it is --chips",
    f"{ON_H100} --tensor-parallel-size 8": "here it is --tp",
    f"{ON_H100} --gpu-memory-utilization 0.9": "here it is --memory-share",
    f"{ON_H100} --kv-cache-dtype fp8": "here it is --kv-dtype",
    f"{ON_H100} --dtype fp4": "give --peak, or --compute-dtype bf16",
    f"decode {LLAMA} --chip v100-sxm2 --seq 1k": "give --peak, or --compute-dtype fp16",
    f"decode {LLAMA} --chip h100sxm --seq 4096": "unknown chip 'h100sxm'; nearest: h100-sxm",
    f"decode {LLAMA} --seq 4096": "decode needs --bandwidth or --chip",
    f"kv-cache {LLAMA} --isl 1k": "'--isl'; here it is --seq",
    "memory --fsdp": "unknown option '--fsdp'; FSDP is --zero 3",
    "kv-cache --fsdp": "unknown option '--fsdp'; nearest",
    "collective --nodes 2": "give all chips, as --chips 16 for two servers of 8",
    "collective --size 1GB": "here it is --bytes",
    "bubble --pp 8": "unknown option '--pp'; here it is --stages",
    "scaling-law --flops 1e24": "here it is --flop",
    "predict --global-batch-size 512": "here it is --batch",
    "fine-tuning --lora-r 16": "here it is --rank",
    f"memory {LLAMA} --recompute-granularity full": "here it is --recompute",
    f"memory {LLAMA} --chips 2x8 --seq 8192": "--chips: '2x8' is a product; write 16",
    f"memory {LLAMA} --chip 8xH100 --seq 8192": "name one, h100-sxm, and give --chips 8",
    f"memory {LLAMA} --chip h100:8 --seq 8192": "name one, h100-sxm, and give --chips 8",
    "attention-traffic --chip h100": "and 17 more\n",
    f"{TRAINED} --tokens 1T": "share of the peak reached); flopbook predict estimates it",
    "show llama-3-70b": "llama-3-70b is a model: flopbook params --model llama-3-70b",
    "predict --model llama-3-8b --chip h100-sxm --chips 64 --seq 8192 --batch 64 --tp 3 --pp 2": (
        "--tp 3 --pp 2 does not make 64 chips"
    ),
    "help kvcache": "unknown command 'kvcache'; nearest: kv-cache",
    "collective --op allreduce --chip h100-sxm --chips 8 --bytes 1GB": "nearest: all-reduce",
    f"{SUMMED} --link-bandwidth 400": "'400' has no unit; write for example 400GB/s",
    f"{SUMMED} --link-bandwidth 400Gb": "write 400Gbit/s",
    f"{SUMMED} --link-bandwidth 400gbps": "did you mean Gbps, GBps?",
    f"memory {LLAMA} --seq 8192 --zero 4 --dp 8": "expected at most 3",
    f"memory {LLAMA} --seq 8192 --zero 3 --chips 12 --tp 8": "use 8 or 16",
    f"memory {LLAMA} --seq 8192 --recompute yes": "one of: selective, none, full",
    f"memory {LLAMA} --seq 8192 --precision bf16": "here it is --dtype",
    f"{TRAINED} --mfu 40": "expected at most 1; write 40%",
    f"{TRAINED} --mfu 40% --tokens 15TB": "is in byte, expected token",
    f"{TRAINED} --mfu 40% --price 2.5USD": "write 2.5USD/h",
    "kv-cache --model llama-3-8b --seq 8k,128k": "for several write --sweep seq=8k,128k",
    "kv-cache --model llama-3-8b --seq 8192,16384": "for several write --sweep seq=8192,16384",
    "kv-cache --model llama-3-8b --seq 15,000": "'15,000' has a comma; write thousands without",
    f"{TRAINED} --mfu 0,4": "decimals with a point",
    f"{TRAINED} --mfu 40% --price 2": "no unit; write for example 2USD/h",
    f"{TRAINED} --mfu 40% --price 2EUR/h": "unknown unit 'EUR/h' (expected 2USD/h)",
    "training-flops --params 8B": "training-flops needs --tokens",
    "training-flops --params 8 B --tokens 1T": "unexpected argument 'B'",
    f"fine-tuning {LLAMA} --method dora --seq 2048": "unknown --method 'dora'; nearest: lora",
    f"fine-tuning {LLAMA} --method full --seq 1k --trained-layers 4": (
        "--trained-layers 4 counts with --method frozen only, not full"
    ),
    f"fine-tuning {LLAMA} --method lora --seq 2048 --rank 0": "--rank is 0, expected at least 1",
    "ep-limit --model llama-3-8b --chip h100-sxm": "a dense model without experts",
    "max-params --memory 80": "--memory: '80' has no unit; write for example 80GB",
    "scaling-law --flop 1e24FLOP/s": "is in FLOP/s, expected FLOP",
    "bubble --stages 8 --microbatches 30 --schedule interleaved --virtual 2": "use 24 or 32",
    "shard --array bf16[255,2048] --layout A[I_X,J] --mesh X=4": "does not divide into 4 blocks",
    f"predict {LLAMA} --chip h100-sxm --chips 8 --price 2": "no unit; write for example 2USD/h",
    f"plan {LLAMA} --chip h100-sxm --chips 8 --price 2": "write for example 2USD/h",
    f"plan {LLAMA} --chip h100-sxm --chips 8 --max-bytes 40": "write for example 40GB",
    f"predict {LLAMA} --chip h100-sxm --chips 16 --network 400": "write for example 400Gb/s",
    f"{ON_H100} --dtype awq": "unknown dtype 'awq'; nothing is near it; write int4",
    "ttft --model llama-3-8b": "unknown command 'ttft'; here it is prefill",
    "all_reduce": "here it is collective",
    "mfu": "with the tokens that all chips together take in a second",
    f"prefill {LLAMA} --seq 1k --chip h100-sxm --sparsity sparse": "write 2:4",
    "kvcache --model llama-3-8b": "unknown command 'kvcache'; nearest: kv-cache",
    "params --config /nonexistent/config.json": "give the config.json of a model",
}


@pytest.mark.parametrize(("line", "said"), REFUSED.items(), ids=REFUSED)
def test_a_slip_is_told_in_one_line(
    line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(line.split()) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("\n") == 1
    assert said in printed.err


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("bfloat16", "bf16"),
        ("Float16", "fp16"),
        ("half", "fp16"),
        ("float32", "fp32"),
        ("float8_e4m3fn", "fp8"),
        ("FP8_E5M2", "fp8"),
    ],
)
def test_formats_have_the_names_of_frameworks(theirs: str, ours: str) -> None:
    asked: dict[str, Any] = {"model": "llama-3-8b", "seq": 8192}
    for option in ("dtype", "kv_dtype"):
        wanted = calculate("kv-cache", **asked, **{option: ours})
        assert calculate("kv-cache", **asked, **{option: theirs}).as_json() == wanted.as_json()


@pytest.mark.parametrize("name", ["H100 80GB", "h100_80gb", " NVIDIA H100 80GB HBM3 "])
def test_a_chip_may_be_written_with_spaces(name: str) -> None:
    result = calculate("ridge-point", chip=name)
    assert result.inputs["chip"].value == "nvidia/h100-sxm"


def test_a_calculator_has_its_name_in_python_too() -> None:
    by_id, by_name = (
        calculate(name, model="llama-3-8b", seq=8192) for name in ("kv-cache", "kv_cache")
    )
    assert by_id.as_json() == by_name.as_json()


def test_other_words_lead_to_commands_that_are_there(cli: Any) -> None:
    commands = {*CATALOGUE, *PLAIN}
    assert not set(MEANT) & commands
    assert {meant for theirs, meant in MEANT.items() if theirs not in ("mfu", "hfu")} <= commands


def test_the_utilisation_of_a_log_line_is_tokens_over_the_peak(cli: Any) -> None:
    answer = json.loads(cli(*MFU.split(), "--json").out)
    flop = calculate("training-flops", model="llama-3-8b", tokens=3.58e6, seq=8192)["flop_causal"]
    assert answer["inputs"]["mfu"]["value"] == pytest.approx(flop / (512 * 989.4e12))


def test_help_is_a_command_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    for asked, plain in (("help", "--help"), ("help kv-cache", "kv-cache --help")):
        printed = []
        for line in (asked, plain):
            assert run(line.split()) == 0
            printed.append(capsys.readouterr().out)
        assert printed[0] == printed[1]


def test_work_is_given_in_days_of_a_petaflop() -> None:
    days, flop = (calculate("scaling-law", flop=text) for text in ("3640PF-days", "3.14496e23FLOP"))
    assert days["params"] == pytest.approx(flop["params"])
    singular = calculate("scaling-law", flop="1PF-day", fit="kaplan2020")
    assert singular["params"] == pytest.approx(1.3e9)


def test_what_others_call_an_option_leads_to_ours() -> None:
    """Each of our names is an option of some calculator, and none of theirs is one of any."""
    every = {
        name.replace("_", "-") for formula in formulas().values() for name in option_names(formula)
    }
    assert set(ELSEWHERE.values()) <= every
    assert not set(ELSEWHERE) & every
