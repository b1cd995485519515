"""Bad input to every calculator.

One clear line that names the option or the chip, exit status 2, never a traceback.
"""

from __future__ import annotations

import json
import math
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from flopbook.cli.app import run
from flopbook.data.library import load_entries
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate, takes
from flopbook.formulas import formulas, get_formula, printed
from flopbook.formulas.declaration import Formula
from flopbook.hardware.chip import chip
from tests.support import byexample

every_calculator = pytest.mark.parametrize("name", formulas())
every_formula = pytest.mark.parametrize("name", printed())
# What is typed, and what the line says of it.
NO_NUMBER = {
    "-1": "expected",
    "nan": "is not a quantity",
    "inf": "is not a quantity",
    "1e999": "too large to be a quantity",
    "1e41": "not a plausible size",
    "many": "is not a quantity",
    "": "is empty",
    "-5X": "unknown unit",
    "5 5": "unit",
    "0x10": "unit",
    "1,5": "has a comma",
    "٣": "is not a quantity",
}


# Option -> the one that goes without it: devices are counted, or multiplied from the degrees.
INSTEAD = {"dp": "chips"}


def words(formula: Formula, **changes: str) -> list[str]:
    """The first example as a command line, with some options changed."""
    example = {key.replace("-", "_"): value for key, value in formula.examples[0].items()}
    dropped = {INSTEAD[key] for key in changes if key in INSTEAD and formula.id == "memory"}
    given = {key: value for key, value in example.items() if key not in dropped} | changes
    return [formula.id, *(f"--{key.replace('_', '-')}={value}" for key, value in given.items())]


def refusal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert run(arguments) == 2, arguments
    printed_ = capsys.readouterr()
    assert (
        printed_.out == ""
        and printed_.err.startswith("flopbook: ")
        and printed_.err.count("\n") == 1
    )
    assert printed_.err.strip().isprintable() and "Traceback" not in printed_.err
    return printed_.err.removeprefix("flopbook: ").strip()


@every_calculator
def test_what_is_no_size_is_refused_by_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Negative, not finite, beyond doubles, absurd, words, nothing, commas.

    The line begins with the option.
    """
    formula = get_formula(name)
    for key in (key for key, spec in formula.inputs.items() if spec.is_number):
        for value, said in NO_NUMBER.items():
            message = refusal(words(formula, **{key: value}), capsys)
            assert message.startswith(f"--{key.replace('_', '-')}") and len(message) < 300, message
            assert said in message or (value == "1e41" and "has no unit" in message), message


@every_calculator
def test_zero_is_refused_unless_it_stands_for_none(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    formula = get_formula(name)
    for key, spec in formula.inputs.items():
        if spec.is_number and not spec.none:
            message = refusal(words(formula, **{key: "0"}), capsys)
            assert message.startswith(f"--{key.replace('_', '-')} is 0, expected ")


@every_calculator
def test_a_part_of_a_whole_is_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    formula = get_formula(name)
    for key, spec in formula.inputs.items():
        if spec.whole:
            message = refusal(words(formula, **{key: "2.5"}), capsys)
            assert (
                f"--{key.replace('_', '-')} is 2.5, expected a whole number" in message
                or "at most" in message
            )


@every_calculator
def test_a_word_that_is_none_of_the_choices_is_refused(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    formula = get_formula(name)
    for key, spec in formula.inputs.items():
        if spec.choices:
            message = refusal(words(formula, **{key: "sideways"}), capsys)
            assert message.startswith(f"unknown --{key.replace('_', '-')} 'sideways'; ")
    for key in {"dtype", "sparsity"} & set(takes(formula)):
        assert refusal(words(formula, **{key: "sideways"}), capsys).startswith(
            f"unknown {key} 'sideways'"
        )


@every_calculator
def test_what_is_missing_is_named_with_every_way_to_give_it(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    formula = get_formula(name)
    needed = [key for key in formula.inputs if key not in formula.defaults]
    message, _, line = refusal([name], capsys).partition("; for example: flopbook ")
    assert message.startswith(f"{name} needs --") and needed
    assert line.split()[0] == name and run(shlex.split(line)) == 0
    first = next(key for key in needed if f"--{key.replace('_', '-')} " in f"{message} ")
    spec = formula.inputs[first]
    for way, has in (("chip", spec.chip), ("model", spec.model)):
        assert (f"--{way} " in f"{message} ") == bool(has)


def _says(template: str, message: str) -> bool:
    """Whether a message is that of a rule, with some values in place of its braces."""
    pattern = re.sub(r"\\{.*?\\}", ".+", re.escape(template))
    return re.fullmatch(pattern, message) is not None


@every_calculator
def test_a_value_that_a_chip_does_not_have_says_how_to_give_it(name: str) -> None:
    """Every chip of the data.

    An answer, or a line with the chip, what is not published, and the option for it.
    """
    formula = get_formula(name)
    if "chip" not in takes(formula):
        return
    example = next((e for e in formula.examples if "chip" in e), formula.examples[0])
    given = {key.replace("-", "_"): value for key, value in example.items()}
    supplied = [key for key, spec in formula.inputs.items() if spec.chip]
    given = {key: value for key, value in given.items() if key not in supplied}
    for one, entry in load_entries().items():
        if not entry.computes:
            continue
        try:
            calculate(name, **{**given, "chip": one})
        except FlopbookError as error:
            message = str(error)
            if any(_says(rule.message, message) for rule in formula.rules):
                continue  # the chip has all that is asked for; its network does not fit the example
            assert message.startswith(one) and "; give --" in message, message
            option = message.rpartition("; give --")[2].partition(",")[0]
            assert option.replace("-", "_") in supplied, message


def test_a_missing_link_bandwidth_names_the_chip_and_the_option(fails: Any) -> None:
    message = fails("fsdp-limit", "--chip", "apple/m1-max", "--peak", "1PFLOP/s")
    assert message == (
        "apple/m1-max: how its scale-up links are laid out (torus axes or a switch) "
        "is not recorded; give --axes"
    )


def test_by_hand_every_missing_value_can_be_given(cli: Any) -> None:
    """One after the other, as the lines ask for them, until there is an answer."""
    amounts = {
        "--peak": "1PFLOP/s",
        "--link-bandwidth": "50GB/s",
        "--axes": "1",
        "--links-per-axis": "1",
        "--chips-per-node": "8",
        "--topology": "switch",
    }
    arguments = ["fsdp-limit", "--chip", "apple/m1-max"]
    for _ in range(len(amounts) + 1):
        outcome = cli(*arguments)
        if outcome.status == 0:
            break
        option = outcome.err.strip().rpartition("give ")[2].partition(",")[0]
        arguments += [option, amounts.pop(option)]
    assert outcome.status == 0 and not outcome.err


@every_formula
def test_nothing_overflows_between_the_bounds(name: str) -> None:
    """Every number at its least and at its most, alone and all together.

    An answer or a refusal, and no nan.
    """
    formula = get_formula(name)
    base = {**formula.defaults, **byexample.inputs(name)}
    ends: list[dict[str, Any]] = []
    for pick in ("low", "high"):
        edge = {
            key: (spec.least or 1e-40) if pick == "low" else spec.most
            for key, spec in formula.inputs.items()
            if spec.is_number
        }
        ends += [{**base, **edge}, *({**base, key: value} for key, value in edge.items())]
    for given in ends:
        try:
            out = formula(**given)
        except FlopbookError as error:
            assert str(error)
            continue
        assert not [
            key for key, value in out.items() if isinstance(value, float) and math.isnan(value)
        ], given


CONFIGS = {
    "unknown": ({"model_type": "perceiver", "architectures": ["PerceiverModel"]}, "perceiver"),
    "no type": ({"hidden_size": 64}, "model_type"),
    "a list": ([1, 2], "config"),
    "a number": (5, "config"),
}


@pytest.mark.parametrize("name", [n for n, f in formulas().items() if "model" in takes(f)])
@pytest.mark.parametrize(("config", "said"), CONFIGS.values(), ids=CONFIGS)
def test_a_config_of_an_unknown_architecture_is_refused(
    name: str, config: Any, said: str, tmp_path: Path, fails: Any
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    message = fails(name, "--config", str(path))
    assert said in message and "config.json" in message


def test_a_config_that_is_no_file(tmp_path: Path, fails: Any) -> None:
    assert "config.json" in fails("params", "--config", str(tmp_path / "config.json"))
    broken = tmp_path / "broken.json"
    broken.write_text("{", encoding="utf-8")
    assert "broken.json" in fails("params", "--config", str(broken))


MORE_THAN_THERE_IS = {
    "stages": (
        ("memory", "--model", "llama-3-8b", "--seq", "8192", "--pp", "33"),
        "a stage would have no layer",
    ),
    "experts": (
        ("fsdp-limit", "--chip", "h100-sxm", "--experts", "8", "--experts-per-token", "9"),
        "more experts",
    ),
    "sides that do not divide": (
        (
            "collective",
            "--bytes",
            "1GB",
            "--chips",
            "60",
            "--topology",
            "torus",
            "--axes",
            "2",
            "--side-x",
            "7",
            "--link-bandwidth",
            "50GB/s",
        ),
        "side",
    ),
    "nodes that do not divide": (
        (
            "collective",
            "--chip",
            "h100-sxm",
            "--bytes",
            "1GB",
            "--chips",
            "12",
            "--topology",
            "two-level",
            "--scaleout-bandwidth",
            "50GB/s",
        ),
        "multiple",
    ),
    "expert parallelism": (
        ("memory", "--model", "mixtral-8x7b", "--seq", "4096", "--ep", "8"),
        "--ep 8 does not divide --dp 1 x --cp 1",
    ),
    "context parallelism": (
        ("memory", "--model", "llama-3-8b", "--seq", "8191", "--cp", "2"),
        "--cp 2 does not divide --seq 8191; use 1 or 8191",
    ),
    "tensor parallelism": (
        ("kv-cache", "--model", "llama-3-8b", "--seq", "8192", "--tp", "0"),
        "--tp is 0",
    ),
    "micro-batches": (
        ("bubble", "--schedule", "interleaved", "--stages", "8", "--microbatches", "9"),
        "multiple",
    ),
}


@pytest.mark.parametrize(("arguments", "said"), MORE_THAN_THERE_IS.values(), ids=MORE_THAN_THERE_IS)
def test_what_does_not_divide_or_fit_is_refused(
    arguments: tuple[str, ...], said: str, fails: Any
) -> None:
    assert said in fails(*arguments)


def test_the_lookup_itself_names_no_option(capsys: pytest.CaptureFixture[str]) -> None:
    """Options belong to commands; a page or a notebook that asks for the value has none."""
    with pytest.raises(FlopbookError) as caught:
        chip("apple/m1-max").scaleup_bandwidth()
    assert "--" not in str(caught.value)
