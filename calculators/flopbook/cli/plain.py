"""The commands that are no calculators: which there are, and how a function becomes one.

A module is imported when one of its commands is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from flopbook.cli.parser import Command, Option

# Name of the command -> its module in flopbook.cli, by section of the help.
SECTIONS = {
    "Data": {
        "list": "listing",
        "show": "commands",
        "compare": "listing",
        "peak": "devices",
        "models": "commands",
        "cite": "commands",
        "claims": "commands",
        "check": "factcheck",
        "export": "commands",
    },
    "Measured and predicted": {
        "predict": "prediction",
        "plan": "planning",
        "study": "studying",
        "validate": "prediction",
        "measure": "measuring",
    },
    "Contributing": {
        "where": "contributing",
        "new": "contributing",
        "lint": "checking",
        "diff": "changes",
        "stale": "changes",
        "audit": "auditing",
    },
}
PLAIN = {name: module for section in SECTIONS.values() for name, module in section.items()}
_AS_JSON = Option("--json", "as_json", "Print as JSON.")
_COMMANDS: dict[str, Command] = {}


def plain_command(name: str) -> Command:
    """The plain command of this name."""
    if name not in _COMMANDS:
        importlib.import_module(f"flopbook.cli.{PLAIN[name]}")
    return _COMMANDS[name]


def command(
    name: str, *options: Option, argument: str = ""
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function a command: its docstring is the help, the last paragraph the example."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        # `python -OO` strips docstrings; the command is there all the same.
        paragraphs = (function.__doc__ or "").split("\n\n")
        *text, example = (" ".join(paragraph.split()) for paragraph in paragraphs)
        _COMMANDS[name] = Command(
            name,
            function,
            (*options, _AS_JSON),
            _first_sentence(text),
            text,
            example.removeprefix("Example: "),
            argument,
        )
        return function

    return register


def _first_sentence(paragraphs: list[str]) -> str:
    """What the list of all commands says of one."""
    if not paragraphs:
        return ""
    return paragraphs[0].partition(". ")[0].rstrip(".") + "."
