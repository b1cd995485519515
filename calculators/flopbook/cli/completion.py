"""What a shell completes of `flopbook`: commands, their options, names of models and chips."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from flopbook.cli.parser import Command
from flopbook.data.library import entry_ids, model_ids
from flopbook.errors import UnknownName

# Where the name of a command is followed by a chip or a model without an option before it.
_CHIPS = ("show", "compare", "peak")


class Words(NamedTuple):
    """All that is completed: commands with their options, and the names after an option."""

    commands: Mapping[str, Command]
    names: Mapping[str, Sequence[str]]


def completion(shell: str, commands: Iterable[Command]) -> str:
    """The script that a shell reads. Raises UnknownName for a shell that we have none for."""
    if shell not in _SCRIPTS:
        raise UnknownName("shell", shell, tuple(_SCRIPTS))
    chips = [entry_id.partition("/")[2] for entry_id in entry_ids()]
    names = {"--model": model_ids(), "--chip": sorted(set(chips))}
    return _SCRIPTS[shell](Words({each.name: each for each in commands}, names))


def _flags(command: Command) -> list[str]:
    return [*(option.flag for option in command.options), "--help"]


def _bash(words: Words) -> str:
    """A function in plain bash: no other program is asked while somebody types."""
    commands = " ".join(words.commands)
    options = "\n".join(
        f'    {name}) words="{" ".join(_flags(command))}" ;;'
        for name, command in words.commands.items()
    )
    named = "\n".join(
        f'    {flag}) words="{" ".join(names)}" ;;' for flag, names in words.names.items()
    )
    chips = " ".join(words.names["--chip"])
    return f"""\
_flopbook() {{
  local words current="${{COMP_WORDS[COMP_CWORD]}}" before="${{COMP_WORDS[COMP_CWORD-1]}}"
  case "${{COMP_WORDS[1]}}" in
{options}
    *) words="" ;;
  esac
  [ "$COMP_CWORD" -eq 1 ] && words="{commands} --help --version"
  case "$before" in
{named}
    {"|".join(_CHIPS)}) words="{chips}" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _flopbook flopbook"""


def _zsh(words: Words) -> str:
    return f"autoload -U +X compinit bashcompinit && compinit -u && bashcompinit\n{_bash(words)}"


def _fish(words: Words) -> str:
    lines = [
        f"complete -c flopbook -n __fish_use_subcommand -a {name} -d {_quoted(command.short)}"
        for name, command in words.commands.items()
    ]
    for name, command in words.commands.items():
        for option in command.options:
            taken = f" -x -a {_quoted(' '.join(words.names.get(option.flag, ())))}"
            lines.append(
                f"complete -c flopbook -n '__fish_seen_subcommand_from {name}'"
                f" -l {option.flag.removeprefix('--')} -d {_quoted(option.text)}"
                f"{taken if option.metavar else ''}"
            )
    return "\n".join(lines)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


_SCRIPTS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
