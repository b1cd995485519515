"""The four calculators in a terminal: JSON by the contract, the text for people, the working."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from flopbook.evaluation.answers import said
from flopbook.evaluation.calculator import calculate
from flopbook.evaluation.results import DEFAULT
from flopbook.formulas import formulas, get_formula
from flopbook.formulas.description import LAYER_KINDS
from tests.support import byexample, inferring, network_inputs

COMMANDS: dict[str, list[str]] = {
    "training-flops": ["--model", "llama-3-70b", "--seq", "8192", "--recompute", "full"],
    "min-batch": [
        "--chip",
        "nvidia/h100-sxm",
        "--dtype",
        "bf16",
        "--d-model",
        "8192",
        "--d-ff",
        "28672",
    ],
    "bubble": [
        "--schedule",
        "interleaved",
        "--stages",
        "8",
        "--microbatches",
        "32",
        "--virtual",
        "4",
    ],
    "params": [
        "--layers",
        "32",
        "--d-model",
        "4096",
        "--heads",
        "32",
        "--d-ff",
        "14336",
        "--vocab",
        "128256",
    ],
    **inferring.COMMANDS,
    **network_inputs.COMMANDS,
    "training-time": [
        "--model",
        "llama-3-405b",
        "--chip",
        "nvidia/h100-sxm",
        "--price",
        "2USD/h",
        "--carbon",
        "385g/kWh",
        "--chips",
        "16384",
        "--mfu",
        "0.4",
    ],
    "shard": ["--array", "bf16[256,2048]", "--layout", "A[I_XY, J]", "--mesh", "X=4,Y=8,Z=2"],
    "sharded-matmul": [
        "--product",
        "A[I, J_X] * B[J_X, K] -> C[I, K]",
        "--dims",
        "I=2048,J=8192,K=8192",
        "--mesh",
        "X=4",
        "--chip",
        "google/tpu-v5p",
    ],
    "scaling-law": ["--flop", "5.76e23", "--fit", "besiroglu2024"],
    "max-params": ["--chip", "nvidia/h100-sxm", "--bytes-per-param", "16"],
    "memory": [
        "--model",
        "llama-3-70b",
        "--chip",
        "nvidia/h100-sxm",
        "--seq",
        "8192",
        "--tp",
        "8",
        "--zero",
        "1",
    ],
}
OUTPUTS = {
    "training-flops": {"flop": "FLOP", "pf_days": "PF-day"},
    "min-batch": {"tokens": "token", "tokens_exact": "token"},
    "fsdp-limit": {"tokens_per_chip": "token", "max_chips": "chip"},
    "bubble": {"fraction": "1"},
    "params": {"total": "param", "active": "param"},
    **inferring.OUTPUTS,
    **network_inputs.OUTPUTS,
    "training-time": {
        "seconds": "s",
        "days": "day",
        "chip_hours": "chip-hour",
        "cost": "USD",
        "joules": "J",
    },
    "shard": {"bytes_per_device": "byte", "bytes_total": "byte", "copies": "1"},
    "sharded-matmul": {"case": "1", "collectives": "1", "seconds": "s"},
    "scaling-law": {"params": "param", "tokens": "token", "loss": "1"},
    "max-params": {"params": "param"},
    "memory": {
        "total": "byte",
        "weights": "byte",
        "gradients": "byte",
        "optimizer": "byte",
        "activations": "byte",
    },
}

for name in byexample.others(COMMANDS, printed_only=False):
    COMMANDS[name], OUTPUTS[name] = byexample.words(name), byexample.units(name)

every_command = pytest.mark.parametrize("name", COMMANDS)


def options(arguments: list[str]) -> dict[str, str]:
    """Command line options as Python parameters."""
    return {
        k[2:].replace("-", "_"): v for k, v in zip(arguments[::2], arguments[1::2], strict=True)
    }


def test_there_is_a_command_for_every_formula() -> None:
    assert set(COMMANDS) == set(formulas())


# What calculators add that know the memory of a chip; all but the first where it is too small.
FIT = {"fits", "over", "largest_batch", "smallest_chips", "fits_with"}


@every_command
def test_json_is_the_contract(name: str, cli: Any) -> None:
    outcome = cli(name, *COMMANDS[name], "--json")
    assert (outcome.status, outcome.err) == (0, "")
    record = json.loads(outcome.out)
    assert (
        set(record) - FIT == {"calculator", "inputs", "outputs", "notes", "sources"}
        and record["calculator"] == name
    )
    assert {n: record["outputs"][n]["unit"] for n in OUTPUTS[name]} == OUTPUTS[name]
    assert not (set(record) & FIT) or record["fits"] is not ("over" in record)
    for item in record["inputs"].values():
        assert {"value", "unit"} <= set(item) <= {"value", "unit", "source"}
    assert set(options(COMMANDS[name])) <= set(record["inputs"])
    assert all(isinstance(text, str) and text for text in (*record["notes"], *record["sources"]))


@every_command
def test_command_line_and_python_give_the_same_answer(name: str, cli: Any) -> None:
    record = json.loads(cli(name, *COMMANDS[name], "--json").out)
    assert record == calculate(name, **options(COMMANDS[name])).as_json()


@every_command
def test_the_text_shows_outputs_and_inputs(name: str, cli: Any) -> None:
    outcome = cli(name, *COMMANDS[name])
    result = calculate(name, **options(COMMANDS[name]))
    assert (outcome.status, outcome.err) == (0, "")
    for key, value in result.items():
        spec = result.formula.outputs[key]
        if spec.table:
            assert all(said(one, spec.unit) in outcome.out for one in value if one is not None)
            continue
        shown = said(value, spec.unit)
        assert re.search(rf"^{key} +{re.escape(shown)} ", outcome.out, re.M)
    inputs = outcome.out.partition("\nfrom\n")[2]
    for key, used in result.inputs.items():
        taken = result.formula.inputs.get(key)
        is_idle = taken and taken.group == LAYER_KINDS and used.origin == DEFAULT
        assert bool(re.search(rf"^  {key} ", inputs, re.M)) == (not is_idle), key
    assert not any(line != line.rstrip() for line in outcome.out.splitlines())


@every_command
def test_explain_shows_steps_numbers_units_and_sources(name: str, cli: Any) -> None:
    outcome = cli(name, *COMMANDS[name], "--explain")
    assert outcome.status == 0
    result = calculate(name, **options(COMMANDS[name]))
    for heading in ("Inputs", "Steps", "Leaves out", "Sources"):
        assert f"\n{heading}\n" in outcome.out
    for key, value in result.items():
        shown = said(value, result.formula.outputs[key].unit)
        steps = outcome.out.partition("\nSteps")[2].partition("\nLeaves out\n")[0]
        assert f"= {shown}\n" in steps.partition(f"\n  {key} ")[2], key
    for key in result.sources:
        assert re.search(rf"^  {key}: .+ \(\d{{4}}\)\. https?://", outcome.out, re.M)
    for item in result.inputs.values():
        if item.source:
            assert f"{item.source} ({item.place})" in outcome.out


def test_explain_puts_the_numbers_in(cli: Any) -> None:
    out = cli("min-batch", "--peak", "1PFLOP/s", "--bandwidth", "4TB/s", "--explain").out
    assert (
        "flop_per_byte = peak / bandwidth" in out
        and "= 1 PFLOP/s / 4 TB/s" in out
        and "= 250 FLOP/byte" in out
    )
    assert "tokens_exact needs --d-model and --d-ff" in out and "slack" not in out


def test_an_open_output_says_so(cli: Any) -> None:
    outcome = cli("min-batch", "--peak", "1PFLOP/s", "--bandwidth", "4TB/s")
    assert re.search(r"^tokens_exact +n/a ", outcome.out, re.M)
    assert "note: tokens_exact needs --d-model and --d-ff" in outcome.out


def test_a_sparse_peak_is_announced(cli: Any) -> None:
    outcome = cli("min-batch", "--chip", "nvidia/h100-sxm", "--sparsity", "2:4")
    assert "note: sparse peak (2:4)" in outcome.out and re.search(r"sparsity +2:4", outcome.out)


QUANTITIES = [
    ("--tokens", "15T", 15e12),
    ("--tokens", "1.5e13", 1.5e13),
    ("--params", "70B", 70e9),
    ("--params", "7e10", 7e10),
    ("--bandwidth", "3.35TB/s", 3.35e12),
    ("--bandwidth", "400Gbit/s", 50e9),
    ("--bandwidth", "80GB/s", 80e9),
    ("--bandwidth", "80GiB/s", 80 * 2**30),
    ("--peak", "989TFLOP/s", 989e12),
    ("--peak", "1.979 PFLOP/s", 1.979e15),
    ("--batch-tokens", "16M", 16e6),
    ("--link-bandwidth", "90 GB/s", 90e9),
]


@pytest.mark.parametrize(("option", "text", "value"), QUANTITIES)
def test_quantities_as_people_write_them(option: str, text: str, value: float, cli: Any) -> None:
    bases = {
        "training-flops": {"--params": "1B", "--tokens": "1B"},
        "ridge-point": {"--peak": "1PFLOP/s", "--bandwidth": "1TB/s"},
        "fsdp-limit": {
            "--peak": "1PFLOP/s",
            "--link-bandwidth": "1GB/s",
            "--axes": "1",
            "--batch-tokens": "1M",
        },
    }
    name = next(
        n
        for n in formulas()
        if n in bases and option[2:].replace("-", "_") in get_formula(n).inputs
    )
    arguments = [word for pair in {**bases[name], option: text}.items() for word in pair]
    outcome = cli(name, *arguments, "--json")
    assert json.loads(outcome.out)["inputs"][option[2:].replace("-", "_")][
        "value"
    ] == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    "alias", ["h100-sxm", "nvidia/h100-sxm", "NVIDIA/H100-SXM", "NVIDIA H100 80GB HBM3"]
)
def test_a_chip_answers_to_all_of_its_names(alias: str, cli: Any) -> None:
    record = json.loads(cli("min-batch", "--chip", alias, "--json").out)
    assert record["inputs"]["chip"]["value"] == "nvidia/h100-sxm"


def test_bytes_with_binary_prefixes(cli: Any) -> None:
    """The switch changes what is printed and nothing else, and only answers in bytes have it."""
    call = ["kv-cache", "--model", "llama-2-7b", "--seq", "2048"]
    plain, binary = cli(*call), cli(*call, "--binary")
    assert "bytes            1.074 GB" in plain.out and "bytes            1 GiB" in binary.out
    assert "bytes_per_token  512 KiB/token" in binary.out
    assert (
        "(1 GiB)" not in cli(*call, "--explain").out
        and "= 1 GiB" in cli(*call, "--binary", "--explain").out
    )
    assert "--binary" not in cli("training-flops", "--help").out
    assert "memory           80 GiB" in cli("max-params", "--memory", "80GiB", "--binary").out
    assert cli(*call).out == plain.out, "the switch ends with its command"


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        (["--sweep", "batch=1,2"], "2 GiB"),
        (["--sweep", "batch=1,2", "--plot", "-", "--outputs", "bytes"], "| 2 GiB"),
        (["--solve", "batch", "--target", "bytes<=3GB"], "note: 3 gives bytes 3 GiB"),
    ],
)
def test_binary_prefixes_in_sweeps_and_solutions(more: list[str], shown: str, cli: Any) -> None:
    assert shown in cli("kv-cache", "--model", "llama-2-7b", "--seq", "2048", "--binary", *more).out


@pytest.mark.parametrize(
    "more",
    [["--json"], ["--sweep", "batch=1,2", "--csv"], ["--sweep", "batch=1,2", "--plot", "a.svg"]],
)
def test_what_has_si_units_refuses_binary_prefixes(
    more: list[str], cli: Any, tmp_path: Any, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = cli("kv-cache", "--model", "llama-2-7b", "--seq", "2048", "--binary", *more)
    assert (
        refused.status == 2
        and "SI units" in refused.err
        and not refused.out
        and not list(tmp_path.iterdir())
    )


@pytest.mark.parametrize(
    "call",
    [
        ["bubble", "--stages", "4", "--microbatches", "8"],
        ["roofline", "--chip", "h100-sxm"],
        ["shard", "--array", "bf16[8,8]", "--layout", "A[I_X, J]", "--mesh", "X=4"],
    ],
)
def test_a_picture_of_its_own_is_printed_with_a_dash_for_the_file(
    call: list[str], cli: Any
) -> None:
    printed = cli(*call, "--plot", "-")
    again = cli(*call, "--timeline") if call[0] == "bubble" else cli(*call)
    assert printed.status == 0 and printed.out == again.out and not printed.err
    assert cli(*call, "--plot", "-", "--json").status == 2


@pytest.mark.parametrize(
    "text", ["900GB/s both ways", "900GB/s both", "450GB/s", "450 GB/s one-way"]
)
def test_a_link_may_say_its_direction(text: str, cli: Any) -> None:
    out = cli("collective", "--bytes", "1GB", "--chips", "8", "--link-bandwidth", text).out
    assert re.search(r"link_bandwidth +450 GB/s", out)


@pytest.mark.parametrize(
    "arguments",
    [
        ["collective", "--bytes", "1GB both ways", "--chips", "8", "--link-bandwidth", "450GB/s"],
        ["min-batch", "--peak", "1PFLOP/s", "--bandwidth", "3TB/s both ways"],
        ["collective", "--bytes", "1GB", "--chips", "8", "--link-bandwidth", "fast both ways"],
    ],
)
def test_only_links_have_a_direction(arguments: list[str], cli: Any) -> None:
    refused = cli(*arguments)
    assert refused.status == 2 and not refused.out and refused.err.count("\n") == 1


@every_command
def test_help_names_every_option_with_its_meaning(name: str, cli: Any) -> None:
    outcome = cli(name, "--help")
    assert outcome.status == 0
    words = " ".join(outcome.out.split())
    for key, spec in get_formula(name).inputs.items():
        assert f"--{key.replace('_', '-')}" in words and spec.meaning.partition(" ")[2] in words


def test_what_does_not_exist_is_not_called_unlimited(cli: Any) -> None:
    """Kaplan's fit gives no loss here, and one chip no bus bandwidth; neither is infinite."""
    loss = cli("scaling-law", "--flop", "1e24", "--sweep", "fit=kaplan2020,besiroglu2024").out
    alone = cli("collective", "--bytes", "1GB", "--chips", "1", "--link-bandwidth", "1GB/s").out
    assert (
        "bus_bandwidth      none" in alone and "unlimited" not in loss + alone and " none " in loss
    )
