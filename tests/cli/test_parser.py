"""How words become values: every way to write an option, and every way to get one wrong."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.cli.layout import help_text, page
from flopbook.cli.parser import Command, Option, UsageError, parse
from flopbook.errors import FlopbookError, UnknownName

OPTIONS = (
    Option("--tokens", "tokens", "Tokens to read.", "N"),
    Option("--batch-tokens", "batch_tokens", "Tokens in a batch, 100% of them.", "N"),
    Option("--json", "as_json", "Print as JSON."),
)
NOTHING = {"tokens": None, "batch_tokens": None, "as_json": False}


def made(argument: str = "", options: tuple[Option, ...] = OPTIONS) -> Command:
    """A command that does nothing."""
    return Command(
        "try",
        print,
        options,
        "Try.",
        ("Try it.", "Then try again."),
        "flopbook try --tokens 5",
        argument,
    )


READ: dict[str, tuple[list[str], dict[str, Any]]] = {
    "nothing": ([], {}),
    "two words": (["--tokens", "5"], {"tokens": "5"}),
    "one word": (["--tokens=5"], {"tokens": "5"}),
    "a name with hyphens": (["--batch-tokens", "5"], {"batch_tokens": "5"}),
    "a flag": (["--json"], {"as_json": True}),
    "a flag twice": (["--json", "--json"], {"as_json": True}),
    "the same value twice": (["--tokens", "5", "--tokens=5"], {"tokens": "5"}),
    "all at once": (
        ["--json", "--batch-tokens", "1", "--tokens", "2"],
        {"as_json": True, "batch_tokens": "1", "tokens": "2"},
    ),
    "a negative number": (["--tokens", "-5"], {"tokens": "-5"}),
    "a negative fraction": (["--tokens", "-.5"], {"tokens": "-.5"}),
    "a negative number with a unit": (["--tokens", "-5GB"], {"tokens": "-5GB"}),
    "a value like a short option": (["--tokens", "-x"], {"tokens": "-x"}),
    "a value like a long option": (["--tokens", "--chop"], {"tokens": "--chop"}),
    "a value that is an option, on purpose": (["--tokens=--json"], {"tokens": "--json"}),
    "a value that asks for help, on purpose": (["--tokens=-h"], {"tokens": "-h"}),
    "a minus alone": (["--tokens", "-"], {"tokens": "-"}),
    "an empty value": (["--tokens", ""], {"tokens": ""}),
    "an empty value in one word": (["--tokens="], {"tokens": ""}),
    "a value with an equals sign": (["--tokens=a=b"], {"tokens": "a=b"}),
    "a value with a space": (["--tokens", "5 GB"], {"tokens": "5 GB"}),
    "a value that names a file": (["--tokens", "@/etc/passwd"], {"tokens": "@/etc/passwd"}),
    "the end of the options": (["--json", "--"], {"as_json": True}),
}

WRONG = {
    "unknown option": (
        ["--tokns", "5"],
        "unknown option '--tokns'; nearest: --tokens, --batch-tokens, --json",
    ),
    "unknown option with a value": (
        ["--tokns=5"],
        "unknown option '--tokns'; nearest: --tokens, --batch-tokens, --json",
    ),
    "short of an option": (
        ["--tok", "5"],
        "unknown option '--tok'; nearest: --tokens, --json, --batch-tokens",
    ),
    "short of a flag": (["--js"], "unknown option '--js'; nearest: --json, --tokens, --help"),
    "one hyphen": (["-json"], "unknown option '-json'; nearest: --json, --tokens"),
    "a letter": (["-x"], "unknown option '-x'; one of: --batch-tokens, --help, --json, --tokens"),
    "letters that begin as help does": (["-hx"], "unknown option '-hx'; nearest: --help"),
    "a negative number alone": (
        ["-5"],
        "unknown option '-5'; one of: --batch-tokens, --help, --json, --tokens",
    ),
    "two values": (
        ["--tokens", "5", "--tokens=6"],
        "--tokens has two values, 5 and 6; give it once",
    ),
    "an option of another program": (
        ["--batch-toks", "1", "--gpus", "8"],
        "unknown option '--batch-toks'; nearest: --batch-tokens, --tokens",
    ),
    "no value": (["--tokens"], "--tokens needs a value"),
    "no value behind another": (["--json", "--tokens"], "--tokens needs a value"),
    "an option for a value": (
        ["--tokens", "--json"],
        "--tokens needs a value, found --json; write --tokens=--json if that is the value",
    ),
    "help for a value": (
        ["--tokens", "-h"],
        "--tokens needs a value, found -h; write --tokens=-h if that is the value",
    ),
    "the end for a value": (
        ["--tokens", "--", "5"],
        "--tokens needs a value, found --; write --tokens=-- if that is the value",
    ),
    "a flag with a value": (["--json=5"], "--json takes no value"),
    "a flag with an empty value": (["--json="], "--json takes no value"),
    "help with a value": (["--help=5"], "--help takes no value"),
    "a word too many": (["5"], "unexpected argument '5'; try takes options only"),
    "a word too many behind the end": (
        ["--", "--json"],
        "unexpected argument '--json'; try takes options only",
    ),
    "an empty word": ([""], "unexpected argument ''; try takes options only"),
    "terminal codes": (["\x1b[31m"], "unexpected argument '\\x1b[31m'; try takes options only"),
}


@pytest.mark.parametrize(("words", "values"), READ.values(), ids=READ)
def test_every_way_to_write_an_option(words: list[str], values: dict[str, Any]) -> None:
    assert parse(made(), words) == NOTHING | values


@pytest.mark.parametrize(("words", "message"), WRONG.values(), ids=WRONG)
def test_every_way_to_get_one_wrong(words: list[str], message: str) -> None:
    with pytest.raises(FlopbookError) as caught:
        parse(made(), words)
    assert str(caught.value) == message
    assert isinstance(caught.value, UnknownName if message.startswith("unknown") else UsageError)


@pytest.mark.parametrize(
    "words",
    [
        ["here", "--json", "--tokens", "5"],
        ["--json", "here", "--tokens", "5"],
        ["--json", "--tokens=5", "--", "here"],
    ],
    ids=["before", "between", "behind"],
)
@pytest.mark.parametrize("argument", ["NAME", "[NAME]"])
def test_an_argument_stands_anywhere_among_the_options(words: list[str], argument: str) -> None:
    assert parse(made(argument), words) == {
        "tokens": "5",
        "batch_tokens": None,
        "as_json": True,
        "name": "here",
    }


def test_an_argument_may_look_like_an_option_behind_the_end_of_options() -> None:
    assert parse(made("NAME"), ["--", "--json"]) == {**NOTHING, "name": "--json"}
    assert parse(made("NAME"), ["-"]) == {**NOTHING, "name": "-"}


def test_an_argument_in_brackets_may_be_left_out() -> None:
    assert parse(made("[NAME]"), ["--json"]) == {**NOTHING, "as_json": True, "name": None}
    with pytest.raises(UsageError, match=r"^try needs NAME, for example: flopbook try --tokens 5$"):
        parse(made("NAME"), ["--json"])


def test_a_second_argument_is_refused() -> None:
    for argument in ("NAME", "[NAME]"):
        with pytest.raises(
            UsageError, match=r"^unexpected argument 'there'; try takes one argument, "
        ):
            parse(made(argument), ["here", "there", "everywhere"])


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (["one"], {"name": "one", "dtype": None}),
        (["one", "two"], {"name": "one", "dtype": "two"}),
        (
            ["--json", "one", "--tokens", "5", "two"],
            {"name": "one", "dtype": "two", "as_json": True, "tokens": "5"},
        ),
        (["--", "--json", "-h"], {"name": "--json", "dtype": "-h"}),
        (["one", ""], {"name": "one", "dtype": ""}),
    ],
    ids=str,
)
def test_two_arguments_of_which_one_may_be_left_out(
    words: list[str], values: dict[str, Any]
) -> None:
    assert parse(made("NAME [DTYPE]"), words) == NOTHING | values


def test_two_arguments_and_no_more() -> None:
    with pytest.raises(
        UsageError,
        match=r"^unexpected argument 'c'; try takes at most two arguments, NAME \[DTYPE\]$",
    ):
        parse(made("NAME [DTYPE]"), ["a", "b", "c"])
    for words, missing in ((["--json"], "WHAT"), (["chip"], "ID")):
        with pytest.raises(
            UsageError, match=f"^try needs {missing}, for example: flopbook try --tokens 5$"
        ):
            parse(made("WHAT ID"), words)


@pytest.mark.parametrize("count", [2, 3, 9])
def test_two_arguments_or_more_come_as_a_list(count: int) -> None:
    chips = [f"chip-{n}" for n in range(count)]
    for words in (
        ["--json", *chips],
        [*chips, "--json"],
        [chips[0], "--json", *chips[1:]],
        ["--json", "--", *chips],
    ):
        assert parse(made("CHIP CHIP [CHIP ...]"), words) == {
            **NOTHING,
            "as_json": True,
            "chips": chips,
        }


@pytest.mark.parametrize(
    ("words", "message"), [([], "try needs CHIP, "), (["one"], "try needs another CHIP, ")], ids=str
)
def test_one_argument_is_not_two(words: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=f"^{message}for example: flopbook try --tokens 5$"):
        parse(made("CHIP CHIP [CHIP ...]"), words)


@pytest.mark.parametrize(
    "words",
    [["-h"], ["--help"], ["--tokens", "5", "-h"], ["--chop", "--help"], ["too", "many", "-h"]],
    ids=" ".join,
)
def test_help_wins_over_what_else_is_there(words: list[str]) -> None:
    assert parse(made(), words) is None


def test_help_behind_the_end_of_options_is_a_word() -> None:
    assert parse(made("NAME"), ["--", "-h"]) == {**NOTHING, "name": "-h"}


@given(value=st.text(max_size=20))
def test_any_value_arrives_as_it_was_written(value: str) -> None:
    assert parse(made(), [f"--tokens={value}"]) == {**NOTHING, "tokens": value}
    if value not in ("-h", "--", "--help", *(option.flag for option in OPTIONS)):
        assert parse(made(), ["--json", "--tokens", value]) == {
            **NOTHING,
            "as_json": True,
            "tokens": value,
        }


@given(
    words=st.lists(
        st.one_of(
            st.sampled_from(["--tokens", "--json", "--", "-h", "--tokens=1"]), st.text(max_size=4)
        )
    )
)
def test_any_words_are_read_or_refused_in_a_short_line(words: list[str]) -> None:
    try:
        values = parse(made("[NAME]"), words)
    except FlopbookError as error:
        assert str(error).isprintable() and len(str(error)) < 400
    else:
        assert values is None or set(values) == {*NOTHING, "name"}


def test_help_shows_usage_options_and_example(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert help_text(made("[NAME]")).splitlines() == [
        "Usage: flopbook try [OPTIONS] [NAME]",
        "",
        "  Try it.",
        "",
        "  Then try again.",
        "",
        "Options:",
        "  --tokens N        Tokens to read.",
        "  --batch-tokens N  Tokens in a batch, 100% of them.",
        "  --json            Print as JSON.",
        "  -h, --help        Show this help.",
        "",
        "  Example: flopbook try --tokens 5",
    ]


@pytest.mark.parametrize("columns", ["0", "1", "70", "80", "500"])
def test_help_fits_the_terminal_and_keeps_names_whole(
    columns: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    name = "--a-name-that-is-longer-than-the-column-of-names"
    text = "Words about --batch-tokens and does-not-hold, " * 9
    lines = page("flopbook", [text], {"Options": [(name, text), ("-h", text)]}, "end").splitlines()
    assert f"  {name}" in lines and lines[-1] == "  end"
    assert (
        sum(line.count("--batch-tokens") for line in lines)
        == sum(line.count("does-not-hold") for line in lines)
        == 27
    )
    allowed = {"0": 78, "1": 60, "70": 68, "80": 78, "500": 108}[columns]
    assert max(len(line) for line in lines if name not in line) <= allowed


def loaded(*words: str) -> set[str]:
    """The modules that a command has loaded when it is done, in a process of its own."""
    code = (
        "import sys; from flopbook.cli.app import run; run(sys.argv[1:]); "
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *words], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def test_a_command_loads_what_it_needs_and_no_more() -> None:
    words = ("bubble", "--stages", "8", "--microbatches", "32")
    calculator = loaded(*words, "--json")
    assert "flopbook.cli.calculators" in calculator
    assert not calculator & {
        "argparse",
        "click",
        "difflib",
        "gettext",
        "shutil",
        "textwrap",
        "flopbook.cli.commands",
        "flopbook.cli.explain",
    }
    assert not loaded(*words) & {"flopbook.cli.layout", "json", "datetime", "yaml"}
    assert "flopbook.cli.calculators" not in loaded("models")


def test_the_peak_of_a_device_loads_least() -> None:
    peak = loaded("peak", "NVIDIA H100 80GB HBM3")
    unwanted = {
        "flopbook.evaluation.calculator",
        "flopbook.formulas.declaration",
        "flopbook.data.references",
        "flopbook.export.records",
        "difflib",
    }
    assert "flopbook.hardware.devices" in peak and not peak & unwanted
    assert "flopbook.cli.commands" not in peak and "flopbook.cli.listing" not in peak


@pytest.mark.parametrize("name", ["where", "stale"])
def test_other_plain_commands_leave_the_bibliography_alone(name: str) -> None:
    words = {"where": ("where", "h100-sxm"), "stale": ("stale",)}[name]
    assert not loaded(*words) & {"pybtex", "flopbook.data.references", "numpy", "jinja2"}


def test_asking_for_one_calculator_makes_no_other(
    cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from flopbook.cli import calculators

    asked: list[str] = []
    command = calculators.command
    monkeypatch.setattr(
        calculators, "command", lambda formula: asked.append(formula.id) or command(formula)
    )
    assert cli("bubble", "--stages", "8", "--microbatches", "32").status == 0
    assert asked == ["bubble"]
