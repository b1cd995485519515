"""What a command is, and how its words are read.

Our own few lines instead of argparse: loading and setting up that takes longer than most answers,
it prints two lines for a mistake, and it takes a value such as -5GB for an option.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from flopbook.errors import FlopbookError, UnknownName, printable, shorten

HELP_FLAGS = ("-h", "--help")
END_OF_OPTIONS = "--"
HALF = 0.5  # of the letters of two options, beyond which one may be meant for the other
MOST_NAMED = 4  # of the commands that take an option, in a message
# Options of vLLM, Megatron, torchtitan, DeepSpeed and Hugging Face, and what people write for them,
# by ours.
ELSEWHERE = {
    theirs: ours
    for ours, names in {
        "acceptance": "accept acceptance-rate accept-rate",
        "answer-tokens": "osl output-len output-tokens max-tokens max-new-tokens",
        "batch": "batch-size bs max-num-seqs sequences global-batch-size gbs train-batch-size",
        "batch-tokens": "tokens-per-batch global-batch-tokens",
        "bytes": "size message-size nbytes msg-size",
        "chip": "gpu device hardware accelerator",
        "chips": "gpus devices num-gpus n-gpus gpu-count world-size num-chips",
        "cp": "context-parallel-size context-parallel-degree",
        "d-ff": "intermediate-size ffn-hidden-size ffn-dim",
        "d-model": "hidden-size hidden-dim",
        "dp": "data-parallel-size",
        "dtype": "precision quantization quant format torch-dtype",
        "ep": "expert-parallel-size expert-model-parallel-size",
        "experts": "num-experts n-experts n-routed-experts num-local-experts",
        "experts-per-token": "num-experts-per-tok top-k topk moe-router-topk",
        "flop": "flops compute budget",
        "heads": "num-attention-heads num-heads n-heads",
        "kv-dtype": "kv-cache-dtype",
        "kv-heads": "num-key-value-heads num-kv-heads n-kv-heads",
        "layers": "num-layers num-hidden-layers n-layers",
        "memory-share": "gpu-memory-utilization",
        "micro-batch": "micro-batch-size mbs per-device-train-batch-size",
        "mfu": "utilization utilisation",
        "microbatches": "gradient-accumulation-steps grad-accum num-microbatches "
        "num-micro-batches n-microbatches",
        "op": "operation collective",
        "params": "parameters num-params",
        "pp": "pipeline-parallel-size pipeline-model-parallel-size",
        "prompt-tokens": "isl input-len input-tokens prompt-len prompt-length",
        "rank": "lora-r lora-rank",
        "recompute": "gradient-checkpointing activation-checkpointing recompute-granularity "
        "recompute-activations activation-checkpoint",
        "seq": "sequence-length seq-len seq-length seqlen context-length max-model-len ctx",
        "tokens": "train-tokens num-tokens n-tokens dataset-tokens",
        "tp": "tensor-parallel-size tensor-model-parallel-size tensor-parallel",
        "virtual": "vpp virtual-pipeline-size virtual-stages num-model-chunks",
        "vocab": "vocab-size",
        "zero": "zero-stage",
    }.items()
    for theirs in names.split()
}
# Where an option is called something else by this program, too, or is no option here.
ALSO = {"pp": "stages", "pipeline-parallel-size": "stages", "stages": "pp", "isl": "seq"}
INSTEAD = {
    **dict.fromkeys(
        ("nodes", "num-nodes", "nnodes", "n-nodes", "servers"),
        "give all chips, as --chips 16 for two servers of 8",
    ),
    **dict.fromkeys(("fsdp", "full-shard", "fully-shard"), "FSDP is --zero 3"),
    "use-distributed-optimizer": "the distributed optimizer of Megatron is --zero 1",
    "load-in-4bit": "weights of 4 bits are --dtype int4, and QLoRA is --method qlora",
    "load-in-8bit": "weights of 8 bits are --dtype int8",
}


class UsageError(FlopbookError):
    """Words on the command line that do not make a command."""


class Option(NamedTuple):
    """An option: a flag, or with a metavar one that takes a value.

    `name` is the parameter that it fills.

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
    given as `chips`. `call` returns the exit status, or None for success. `taken_by` gives the
    other commands that take an option, for a message about one that this one lacks.
    """

    name: str
    call: Callable[..., int | None]
    options: Sequence[Option]
    short: str
    paragraphs: Sequence[str]
    example: str
    argument: str = ""
    taken_by: Callable[[str], Sequence[str]] | None = None


def parse(command: Command, arguments: Sequence[str]) -> dict[str, Any] | None:
    """The values of a command's parameters, or None where help was asked for.

    Help wins over other mistakes. Raises UsageError, also for an option that has two values and
    takes one.
    """
    options = {option.flag: option for option in command.options}
    values: dict[str, Any] = {
        option.name: None if option.metavar else False for option in command.options
    }
    words: list[str] = []
    wants_help = False
    remaining = iter(
        arguments
    )  # an option takes its value from here, and `--` all that is behind it
    for word in remaining:
        if word == END_OF_OPTIONS:
            break
        flag, equals, value = word.partition("=")
        option = options.get(flag)
        if word in HELP_FLAGS:
            wants_help = True
        elif equals and (flag == "--help" or (option and not option.metavar)):
            raise UsageError(f"{flag} takes no value")
        elif option is None:
            words.append(word)
        elif not option.metavar:
            values[option.name] = True
        else:
            _store(values, option, value if equals else _next_value(option, remaining, options))
    # Before words are looked at: whoever asks for help may not know the options yet.
    if wants_help:
        return None
    for word in words:
        if word[:1] == "-" and word != "-":  # a single hyphen is a value, for standard output
            raise _not_taken(command, word, {"--help", *options})
    return values | _arguments(command, [*words, *remaining])


def _store(values: dict[str, Any], option: Option, value: str) -> None:
    if option.many:
        values[option.name] = [*(values[option.name] or []), value]
    elif values[option.name] not in (None, value):
        both = f"{shorten(values[option.name])} and {shorten(value)}"
        raise UsageError(printable(f"{option.flag} has two values, {both}; give it once"))
    else:
        values[option.name] = value


def _next_value(option: Option, words: Iterator[str], flags: Iterable[str]) -> str:
    """The word behind an option; a number such as -5GB is one too, for our own check to judge."""
    value = next(words, None)
    if value is None:
        raise UsageError(f"{option.flag} needs a value")
    if value in (*flags, *HELP_FLAGS, END_OF_OPTIONS):
        raise UsageError(
            f"{option.flag} needs a value, found {value}; "
            f"write {option.flag}={value} if that is the value"
        )
    return value


def _arguments(command: Command, words: Sequence[str]) -> dict[str, Any]:
    """The arguments of a command by name, None for one that is left out."""
    names = command.argument.replace("[", " ").replace("]", " ").split()
    needed = command.argument.partition("[")[0].split()
    takes_many = names[-1:] == ["..."]
    if len(words) > len(names) and not takes_many:
        extra = printable(shorten(words[len(names)]))
        raise UsageError(f"unexpected argument '{extra}'; {command.name} takes {_count(command)}")
    if len(words) < len(needed):
        missing = needed[len(words)]
        if missing in needed[: len(words)]:
            missing = f"another {missing}"
        raise UsageError(f"{command.name} needs {missing}, for example: {command.example}")
    if takes_many:
        return {f"{names[0].lower()}s": list(words)}
    padded = [*words, *[None] * (len(names) - len(words))]
    return {name.lower(): word for name, word in zip(names, padded, strict=True)}


def _count(command: Command) -> str:
    """How many arguments a command takes, in words."""
    if not command.argument:
        return "options only"
    count = "at most two arguments" if " " in command.argument else "one argument"
    return f"{count}, {command.argument}"


def _not_taken(command: Command, word: str, known: Iterable[str]) -> FlopbookError:
    """The error for an option that a command lacks: who takes it, and the nearest that it has."""
    error = unknown_option(word, known)
    if not isinstance(error, UnknownName):  # it says what to write here
        return error
    flag = word.partition("=")[0]
    other_commands = command.taken_by(flag) if command.taken_by else ()
    if not other_commands:
        return error
    unnamed = (
        f" and {len(other_commands) - MOST_NAMED} more" if len(other_commands) > MOST_NAMED else ""
    )
    near = _alike(flag, error.near)
    hint = f"; nearest here: {', '.join(near)}" if near else ""
    takers = f"{', '.join(other_commands[:MOST_NAMED])}{unnamed}"
    return UsageError(f"{command.name} takes no {flag}, an option of {takers}{hint}")


def unknown_option(word: str, known: Iterable[str]) -> FlopbookError:
    """The error for a word that looks like an option and is none, with the nearest ones."""
    flag = word.partition("=")[0]
    if flag in known:
        return UsageError(f"{flag} takes no value")
    theirs = flag.removeprefix("--").replace("_", "-")
    for name in (ELSEWHERE.get(theirs), ALSO.get(theirs)):
        if name and f"--{name}" in known:
            return UsageError(f"unknown option '{flag}'; here it is --{name}")
    instead = INSTEAD.get(theirs, "")
    if instead and any(word in known for word in instead.split()):
        return UsageError(f"unknown option '{flag}'; {instead}")
    return UnknownName("option", flag, known)


def _alike(flag: str, known: Iterable[str]) -> list[str]:
    """The options that may be meant: two hyphens alone make no word like another."""
    from difflib import SequenceMatcher  # only for a mistake

    typed = flag.strip("-").lower()
    return [
        option for option in known if SequenceMatcher(None, typed, option.strip("-")).ratio() > HALF
    ]
