"""What a command is, and how its words are read. Every mistake is one line: argparse's own would be
two.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

from flopbook.errors import FlopbookError, UnknownName, printable, shorten


class UsageError(FlopbookError):
    """Words on the command line that do not make a command."""


class Option(NamedTuple):
    """An option: a flag, or with a metavar one that takes a value. `name` is the parameter it
    fills.

    One with `many` may be given several times, and fills a list.
    """

    flag: str
    name: str
    text: str
    metavar: str = ""
    many: bool = False


class Command(NamedTuple):
    """A command. `argument` names its arguments as help shows them, in order, empty for none.

    `NAME [DTYPE]` has a second one that may be left out; `CHIP CHIP [CHIP ...]` has two or more,
    given as `chips`.
    """

    name: str
    call: Callable[..., Any]
    options: Sequence[Option]
    short: str
    paragraphs: Sequence[str]
    example: str
    argument: str = ""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(printable(shorten(message, 200)))


def parse(command: Command, arguments: Sequence[str]) -> dict[str, Any] | None:
    """The values of a command's parameters, or None where help was asked for.

    Help wins over other mistakes. An option given twice counts as given last, unless it may be.
    Raises UsageError.
    """
    valued = {option.flag for option in command.options if option.metavar}
    flags = {"--help", *(option.flag for option in command.options if not option.metavar)}
    words, literal = _joined(arguments, valued, flags)
    values, rest = _parser(command).parse_known_args(words)
    given = vars(values)
    if given.pop("help"):
        return None
    for word in rest:
        if word[:1] == "-" and word != "-":
            raise unknown_option(word, valued | flags)
    return given | _argument(command, [*rest, *literal])


def _parser(command: Command) -> _Parser:
    # A formatter is made for every option; without a width each would import shutil to ask the
    # terminal.
    parser = _Parser(
        prog=f"flopbook {command.name}",
        add_help=False,
        allow_abbrev=False,
        formatter_class=lambda prog: argparse.HelpFormatter(prog, width=80),
    )
    parser.add_argument("--help", action="store_true")
    for option in command.options:
        if option.metavar:
            parser.add_argument(
                option.flag, dest=option.name, action="append" if option.many else "store"
            )
        else:
            parser.add_argument(option.flag, dest=option.name, action="store_true")
    return parser


def _joined(
    arguments: Sequence[str], valued: set[str], flags: set[str]
) -> tuple[list[str], list[str]]:
    """The words with every value joined to its option, and those after `--`, which are never
    options.

    argparse takes a word such as -5GB for an option; joined as --tokens=-5GB it is a value, for our
    own check to judge.
    """
    words: list[str] = []
    rest = iter(arguments)
    for word in rest:
        if word == "--":
            return words, list(rest)
        if word == "-h":  # argparse would read -hx as -h -x
            word = "--help"
        if word in valued:
            value = next(rest, None)
            if value is None or value in valued or value in flags or value in ("-h", "--"):
                found = (
                    ""
                    if value is None
                    else f", found {value}; write {word}={value} if that is the value"
                )
                raise UsageError(f"{word} needs a value{found}")
            word = f"{word}={value}"
        elif (flag := word.partition("=")[0]) != word and flag in flags:
            raise UsageError(f"{flag} takes no value")
        words.append(word)
    return words, []


def _argument(command: Command, words: Sequence[str]) -> dict[str, Any]:
    """The arguments of a command. argparse would not find one that may be left out behind an
    option.
    """
    names = command.argument.replace("[", " ").replace("]", " ").split()
    needed = command.argument.partition("[")[0].split()
    many = names[-1:] == ["..."]
    if len(words) > len(names) and not many:
        count = (
            "options only",
            f"one argument, {command.argument}",
            f"at most two arguments, {command.argument}",
        )
        extra = printable(shorten(words[len(names)]))
        raise UsageError(
            f"unexpected argument '{extra}'; {command.name} takes {count[min(len(names), 2)]}"
        )
    if len(words) < len(needed):
        more = "another " if needed[len(words)] in needed[: len(words)] else ""
        raise UsageError(
            f"{command.name} needs {more}{needed[len(words)]}, for example: {command.example}"
        )
    if many:
        return {f"{names[0].lower()}s": list(words)}
    return {
        name.lower(): word
        for name, word in zip(names, [*words, *[None] * len(names)], strict=False)
    }


def unknown_option(word: str, known: Iterable[str]) -> FlopbookError:
    """The error for a word that looks like an option and is none, with the nearest ones."""
    flag = word.partition("=")[0]
    if flag in known:
        return UsageError(f"{flag} takes no value")
    return UnknownName("option", flag, known)
