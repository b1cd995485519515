"""Bad usage: exit status 2, never a traceback.

One line says what, where and how to mend it.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flopbook.formulas import formulas

H100 = ("--chip", "nvidia/h100-sxm")
MANY = ("training-time", "--model", "llama-3-8b", "--chip", "h100-sxm", "--chips", "8")
FLOPS = ("training-flops", "--params", "70B", "--tokens")
BUBBLE = ("bubble", "--stages", "8", "--microbatches", "32")

UNKNOWN = {
    "command": (("min-bach",), "unknown command 'min-bach'; nearest: min-batch"),
    "command near nothing": (("zzz",), "unknown command 'zzz'"),
    "option": (
        ("min-batch", "--chop", "x"),
        "^unknown option '--chop'; nearest: --chip, --help, --csv$",
    ),
    "option of the program": (
        ("--verbose",),
        "^unknown option '--verbose'; nearest: --version, --help$",
    ),
    "option cut short": (
        ("min-batch", "--ch", "h100-sxm"),
        "^unknown option '--ch'; nearest: --chip",
    ),
    "option of the program with a value": (("--version=3",), "^--version takes no value$"),
    "option of a command before it": (("--json", "bubble"), "^unknown option '--json'"),
    "option of another calculator": (
        ("bubble", "--chip", "h100-sxm"),
        "^bubble takes no --chip, an option of ridge-point, .* and \\d+ more$",
    ),
    "chip": (("min-batch", "--chip", "h100-smx"), "unknown chip 'h100-smx'; nearest: .*h100-sxm"),
    "chip outside the data": (("min-batch", "--chip", "../../etc/passwd"), "unknown chip"),
    "no chip": (("min-batch", "--chip", ""), "^--chip is empty$"),
    "model": (
        ("training-flops", "--model", "gpt-4-175b"),
        "unknown model 'gpt-4-175b'; nearest: gpt-3-175b",
    ),
    "dtype": (("min-batch", *H100, "--dtype", "bf61"), "unknown dtype 'bf61'; nearest: bf16"),
    "dtype that the chip lacks": (
        ("min-batch", *H100, "--dtype", "fp4"),
        "has no dense fp4 tensor peak; it has: ",
    ),
    "what to choose instead": (
        ("min-batch", "--chip", "v100-sxm2"),
        "fp16 dense; give --peak, or --compute-dtype fp16",
    ),
    "value that the model lacks": (
        ("ep-limit", *H100, "--model", "llama-3-8b"),
        "a dense model without experts; name a mixture of experts, or give --expert-d-ff",
    ),
    "sparsity": (("min-batch", *H100, "--sparsity", "sparse"), "unknown sparsity 'sparse'"),
    "schedule": ((*BUBBLE, "--schedule", "gpip"), "unknown --schedule 'gpip'; nearest: gpipe"),
    "schedule near nothing": (
        (*BUBBLE, "--schedule", "zzz"),
        "'zzz'; one of: gpipe, 1f1b, interleaved, zb-h1, .*, dualpipe-v$",
    ),
    "vendor": (("list", "nvidea"), "unknown vendor 'nvidea'; nearest: nvidia"),
    "entry": (("show", "h100-smx"), "unknown chip 'h100-smx'; nearest: "),
    "reference": (("cite", "williams2009rooflin"), "nearest: williams2009roofline"),
    "verdict": (("claims", "--verdict", "hold"), "unknown verdict 'hold'; nearest: holds"),
    "source of a claim": (
        ("claims", "--source", "slides2025scalin"),
        "unknown source 'slides2025scalin'; nearest: slides2025scaling",
    ),
    "topic of a claim": (("claims", "--topic", "memry"), "unknown topic 'memry'; nearest: memory"),
}

VALUES = {
    "zero": ((*FLOPS, "0"), "--tokens is 0, expected at least 1"),
    "negative": ((*FLOPS, "-5"), "--tokens is -5, expected at least 1"),
    "negative with a suffix": (
        (*FLOPS, "-15T"),
        "--tokens is -15000000000000, expected at least 1",
    ),
    "negative with another unit": ((*FLOPS, "-5GB"), "--tokens: '-5GB' is in byte, expected token"),
    "like an option": ((*FLOPS, "-x"), "--tokens: '-x' is not a quantity"),
    "huge": (
        (*FLOPS, "1e41"),
        "--tokens is 1e\\+41, which is not a plausible size; expected at most 1e\\+21 .unit token.",
    ),
    "beyond doubles": ((*FLOPS, "1e400"), "--tokens: '1e400' is too large"),
    "tiny": ((*FLOPS, "1e-41"), "--tokens is 1e-41, expected at least 1"),
    "below doubles": ((*FLOPS, "1e-400"), "--tokens is 0, expected at least 1"),
    "denormal": (
        ("fsdp-limit", "--peak", "1e-320FLOP/s", "--link-bandwidth", "1TB/s"),
        "--peak is .*, which is not a plausible size",
    ),
    "nan": ((*FLOPS, "nan"), "--tokens: 'nan' is not a quantity"),
    "inf": ((*FLOPS, "inf"), "--tokens: 'inf' is not a quantity"),
    "words": (
        (*FLOPS, "many"),
        "--tokens: 'many' is not a quantity; write a number such as 8192, 128k or 15T",
    ),
    "nothing": ((*FLOPS, ""), "^--tokens is empty$"),
    "bytes for a sequence": (
        ("kv-cache", "--model", "llama-3-8b", "--seq", "10GB"),
        "--seq: '10GB' is in byte, expected token; write for example 8192, 128k or 15T",
    ),
    "a share without its sign": (
        (
            "training-time",
            *["--model", "llama-3-8b", "--chip", "h100-sxm", "--chips", "8", "--mfu", "40"],
        ),
        "--mfu is 40, which is not a plausible size; expected at most 1; write 40%$",
    ),
    "thousands with commas": ((*FLOPS, "1,000"), "--tokens: '1,000' has a comma"),
    "two lines": ((*FLOPS, "1\n2"), "--tokens: "),
    "terminal codes": ((*FLOPS, "1\x1b[31m"), "--tokens: .*\\\\x1b"),
    "very long": ((*FLOPS, "x" * 100_000), "--tokens: 'xxx"),
    "unit of another kind": (
        (*FLOPS, "80GB"),
        "--tokens: '80GB' is in byte, expected token; write for example 8192, 128k or 15T",
    ),
    "amount for a rate": (
        ("min-batch", *H100, "--bandwidth", "80GB"),
        "--bandwidth: '80GB' is in byte, expected byte/s",
    ),
    "bytes for operations": (
        ("min-batch", *H100, "--peak", "3TB/s"),
        "--peak: '3TB/s' is in byte/s, expected FLOP/s",
    ),
    "chips for tokens": ((*FLOPS, "8chips"), "--tokens: '8chips' is in chip, expected token"),
    "unknown unit": ((*FLOPS, "80GX"), "--tokens: '80GX': unknown unit 'GX'"),
    "part of a stage": (
        ("bubble", "--stages", "1.5", "--microbatches", "8"),
        "--stages is 1.5, expected a whole number",
    ),
    "nearly whole": (
        ("bubble", "--stages", "8.0000001", "--microbatches", "8"),
        "--stages is 8.0000001.*, expected a whole number",
    ),
    "plain nan": (
        ("min-batch", *H100, "--d-model", "nan"),
        "--d-model: 'nan' is not a quantity; write a plain number$",
    ),
    "a peak without unit": (
        ("min-batch", "--peak", "989"),
        "^--peak: '989' has no unit; write for example 989TFLOP/s$",
    ),
    "a peak as vendors write it": (("min-batch", "--peak", "989TFLOPS"), "did you mean TFLOP/s\\?"),
    "no stage": (
        ("bubble", "--stages", "0", "--microbatches", "8"),
        "--stages is 0, expected at least 1",
    ),
}

COMBINATIONS = {
    "nothing given": (("min-batch",), "min-batch needs --peak or --chip"),
    "tokens missing": (
        ("training-flops", "--params", "70B"),
        "training-flops needs --tokens or --model",
    ),
    "microbatches missing": (("bubble", "--stages", "8"), "bubble needs --microbatches"),
    "value of an option missing": (("bubble", "--stages"), "^--stages needs a value$"),
    "another option for a value": (
        ("bubble", "--stages", "--json"),
        "^--stages needs a value, found --json; ",
    ),
    "value for a flag": ((*BUBBLE, "--json=yes"), "^--json takes no value$"),
    "argument too many": (
        (*BUBBLE, "extra"),
        "^unexpected argument 'extra'; bubble takes options only$",
    ),
    "second name": (
        ("show", "h100-sxm", "b200"),
        "^unexpected argument 'b200'; show takes one argument, NAME$",
    ),
    "name missing": (("show",), "^show needs NAME, for example: flopbook show h100-sxm$"),
    "more axes than there are": (
        ("fsdp-limit", "--chip", "google/tpu-v5p", "--axes", "4"),
        "--axes is 4, but google/tpu-v5p has 3",
    ),
    "axes on a switch": (
        ("fsdp-limit", *H100, "--axes", "2"),
        "--axes is 2, but nvidia/h100-sxm has 1",
    ),
    "a node": (
        ("min-batch", "--chip", "nvidia/dgx-h100"),
        "nvidia/dgx-h100 is a node, not a chip; name its chip: nvidia/h100-sxm",
    ),
    "a system": (
        ("fsdp-limit", "--chip", "nvidia/gb200-nvl72"),
        "is a system, not a chip; name its chip: nvidia/gb200",
    ),
    "chunks with gpipe": (
        (*BUBBLE, "--schedule", "gpipe", "--virtual", "2"),
        "use --schedule interleaved",
    ),
    "chunks without a schedule": ((*BUBBLE, "--virtual", "2"), "use --schedule interleaved"),
    "not a multiple": (
        ("bubble", "--schedule", "interleaved", "--stages", "8", "--microbatches", "12"),
        "a multiple of the stages",
    ),
    "too many visits": (
        ("fsdp-limit", *H100, "--experts", "8", "--experts-per-token", "9"),
        "more experts than there are",
    ),
    "format that the chip lacks": (
        ("decode", "--model", "llama-3-8b", "--seq", "8192", *H100, "--dtype", "nvfp4"),
        "has no dense nvfp4 tensor peak; it has: bf16 2:4, bf16 dense,",
    ),
    "unknown format of a tensor": (
        ("kv-cache", "--model", "llama-3-8b", "--seq", "8192", "--kv-dtype", "fp7"),
        "unknown kv-dtype 'fp7'",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), UNKNOWN.values(), ids=UNKNOWN)
def test_unknown_names(arguments: tuple[str, ...], message: str, fails: Any) -> None:
    assert re.search(message, fails(*arguments))


@pytest.mark.parametrize(("arguments", "message"), VALUES.values(), ids=VALUES)
def test_values_that_are_no_quantity(arguments: tuple[str, ...], message: str, fails: Any) -> None:
    text = fails(*arguments)
    assert re.search(message, text) and len(text) < 400


@pytest.mark.parametrize(("arguments", "message"), COMBINATIONS.values(), ids=COMBINATIONS)
def test_inputs_that_do_not_go_together(
    arguments: tuple[str, ...], message: str, fails: Any
) -> None:
    assert re.search(message, fails(*arguments))


@pytest.mark.parametrize("flag", ["--json", "--explain"])
def test_an_error_is_the_same_whatever_was_to_be_printed(flag: str, fails: Any) -> None:
    assert fails(*FLOPS, "80GB", flag) == fails(*FLOPS, "80GB")


words = st.one_of(
    st.sampled_from(
        [
            *formulas(),
            "list",
            "show",
            "cite",
            "compare",
            "peak",
            "where",
            "models",
            "claims",
            "--help",
            "--json",
            "--explain",
            "h100-sxm",
            "80GB",
            "--",
            "-h",
        ]
    ),
    st.sampled_from(
        [f"--{n.replace('_', '-')}" for f in formulas().values() for n in f.inputs]
        + ["--chip", "--model", "--dtype"]
    ),
    st.text(max_size=12),
)


@given(arguments=st.lists(words, max_size=6))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
def test_garbage_never_ends_in_a_traceback(arguments: list[str], cli: Any) -> None:
    outcome = cli(*arguments)
    assert outcome.status in (0, 2)
    if outcome.status == 2:
        assert (
            outcome.out == ""
            and outcome.err.startswith("flopbook: ")
            and outcome.err.count("\n") == 1
        )
