"""The commands: which there are, how they fail, what each calls.

Commands are made when they are asked for, so that looking up one chip does not pay for all of them.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import flopbook
from flopbook.cli.parser import Command, parse, unknown_option
from flopbook.cli.plain import PLAIN, SECTIONS, plain_command
from flopbook.errors import DataError, FlopbookError, UnknownName, printable
from flopbook.formulas import CATALOGUE, get_formula


def run(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit status; a user never sees a traceback."""
    return _guarded(lambda: _dispatch(list(arguments)))


def _dispatch(arguments: list[str]) -> Any:
    """Options of the program itself, or the command that the first word names."""
    if arguments[:1] == ["--"]:
        arguments = arguments[1:]
    first, *rest = arguments or ["--help"]
    if first in ("-h", "--help"):
        return print(_program_help())
    if first == "--version":
        return print(f"flopbook, version {flopbook.__version__}")
    if first.startswith("-"):
        raise unknown_option(first, ("--version", "--help"))
    found = _command(first)
    values = parse(found, rest)
    if values is None:
        from flopbook.cli.layout import help_text

        return print(help_text(found))
    return found.call(**values)


def _command(name: str) -> Command:
    if name in PLAIN:
        return plain_command(name)
    if name not in CATALOGUE:
        raise UnknownName("command", name, [*CATALOGUE, *PLAIN])
    from flopbook.cli.calculators import command

    return command(get_formula(name))


def _program_help() -> str:
    from flopbook.cli.layout import HELP_ROW, page

    sections = {
        "Options": [("--version", "Show the version."), HELP_ROW],
        "Calculators": [(name, _command(name).short) for name in CATALOGUE],
    }
    sections |= {
        title: [(name, _command(name).short) for name in names] for title, names in SECTIONS.items()
    }
    about = (
        "Parallelism and hardware for large language models, computed: every number has a source."
    )
    last = "Every command has --json; its options and an example: flopbook COMMAND --help"
    return page("flopbook COMMAND [OPTIONS] [ARGUMENT]", [about], sections, last)


def _guarded(call: Callable[[], Any]) -> int:
    try:
        status = call()
        if sys.stdout is not None:
            sys.stdout.flush()
        return status if isinstance(status, int) else 0
    except DataError as error:
        return _fail(str(error), one_line=False)
    except FlopbookError as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return _fail("stopped")
    except BrokenPipeError:  # the reader of a pipe has gone: nothing is wrong
        _drop_output()
        return 0
    except OSError as error:
        if error.filename is None:  # the output itself, a full disk for example
            _drop_output()
        return _fail(f"{error.filename or 'system'}: {error.strerror or error}")


def _drop_output() -> None:
    """Send what is left of a broken output to nowhere, so that the interpreter's last flush cannot
    fail.
    """
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, one_line: bool = True) -> int:
    text = " ".join(message.split()) if one_line else message
    if sys.stderr is not None:  # print would take None for the standard output
        with contextlib.suppress(OSError):
            print(printable(f"flopbook: {text}"), file=sys.stderr, flush=True)
    return 2
