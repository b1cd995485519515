"""The commands: which there are, how they fail, what each calls.

Commands are made when they are asked for, so that looking up one chip does not pay for all of them.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence

import flopbook
from flopbook.cli.parser import Command, parse, unknown_option
from flopbook.cli.plain import PLAIN, SECTIONS, plain_command
from flopbook.cli.stopping import INTERRUPTED
from flopbook.errors import LONGEST_NAME, DataError, FlopbookError, UnknownName, printable, shorten
from flopbook.formulas import CATALOGUE, get_formula

_LONG = 2000  # characters of a line
_LONG_WORD = re.compile(r"\S{300,}")  # what was typed, said back in part


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit status; a user never sees a traceback."""
    return _guarded(lambda: _dispatch(list(arguments)))


def _dispatch(arguments: list[str]) -> int:
    """Options of the program itself, or the command that the first word names."""
    if arguments[:1] == ["--"]:
        arguments = arguments[1:]
    first, *words = arguments or ["--help"]
    if first in ("-h", "--help"):
        print(_program_help())
        return 0
    if first == "--version":
        print(f"flopbook, version {flopbook.__version__}")
        return 0
    if first == "--completion":
        print(_completion(words))
        return 0
    if first.startswith("-"):
        raise unknown_option(first, ("--version", "--completion", "--help"))
    if first == "help":  # as git and docker have it
        return _dispatch([*words[:1], "--help"])
    command = _command(first)
    values = parse(command, words)
    if values is None:
        from flopbook.cli.layout import help_text  # imports what no answer needs

        print(help_text(command))
        return 0
    # A check returns how it went; all other commands have printed and return nothing.
    return command.call(**values) or 0


def _completion(words: list[str]) -> str:
    from flopbook.cli.completion import completion

    commands = (_command(name) for name in (*CATALOGUE, *PLAIN))
    return completion(words[0] if words else "", commands)


def _command(name: str) -> Command:
    if name in PLAIN:
        return plain_command(name)
    if name not in CATALOGUE:
        from flopbook.cli.other_words import MEANT

        meant = MEANT.get(name.lower().replace("_", "-"))
        if meant:
            raise FlopbookError(f"unknown command '{name}'; here it is {meant}")
        raise UnknownName("command", name, [*CATALOGUE, *PLAIN])
    # Not for plain commands, which would load the calculators in vain.
    from flopbook.cli.calculators import command

    return command(get_formula(name))


def _program_help() -> str:
    from flopbook.cli.layout import HELP_ROW, page

    sections = {
        "Options": [
            ("--version", "Show the version."),
            ("--completion SHELL", "Print what bash, zsh or fish completes, for its start file."),
            HELP_ROW,
        ],
        "Calculators": _command_rows(CATALOGUE),
    }
    sections |= {title: _command_rows(commands) for title, commands in SECTIONS.items()}
    about = (
        "Parallelism and hardware for large language models, computed: every number has a source."
    )
    last = "Every command has --json; its options and an example: flopbook COMMAND --help"
    return page("flopbook COMMAND [OPTIONS] [ARGUMENT]", [about], sections, last)


def _command_rows(names: Mapping[str, str]) -> list[tuple[str, str]]:
    return [(name, _command(name).short) for name in names]


def _guarded(call: Callable[[], int]) -> int:
    """The exit status of a call, every failure as one message."""
    try:
        status = call()
        if sys.stdout is not None:
            sys.stdout.flush()
    except DataError as error:  # a line for each problem
        return _fail(str(error))
    except FlopbookError as error:
        return _fail(_one_line(str(error)))
    except KeyboardInterrupt as request:
        return _fail("stopped", getattr(request, "status", INTERRUPTED))
    except BrokenPipeError:  # the reader of a pipe has gone: nothing is wrong
        _drop_output()
        return 0
    except OSError as error:
        if error.filename is None:  # the output itself, a full disk for example
            _drop_output()
        name = shorten(error.filename or "system", LONGEST_NAME)
        return _fail(_one_line(f"{name}: {error.strerror or error}"))
    return status


def _drop_output() -> None:
    """Send what is left of a broken output to nowhere, so that the last flush cannot fail."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _one_line(message: str) -> str:
    return " ".join(message.split())


def _fail(message: str, status: int = 2) -> int:
    if sys.stderr is not None:  # print would take None for the standard output
        with contextlib.suppress(OSError):
            words = _LONG_WORD.sub(lambda word: shorten(word[0], LONGEST_NAME), message)
            lines = [
                line if len(line) < _LONG else shorten(line, _LONG) for line in words.split("\n")
            ]
            print(printable("flopbook: " + "\n".join(lines)), file=sys.stderr, flush=True)
    return status
