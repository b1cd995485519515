"""`measure`: what the machine at hand reaches, as rows of runs of one's own."""

from __future__ import annotations

import datetime
import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from flopbook.cli.layout import print_json
from flopbook.cli.parser import Option
from flopbook.cli.plain import command
from flopbook.data.files import write_text
from flopbook.errors import FlopbookError, UnknownName, printable, shorten
from flopbook.evaluation.answers import columns
from flopbook.quantities.units import format_quantity, percent

if TYPE_CHECKING:
    from flopbook.prediction.backends import Backend
    from flopbook.prediction.measuring import Measured, Order
    from flopbook.prediction.measuring_decoders import DecoderOrder

MOST_SAMPLES, MOST_SIDE = 10_000, 2**17
DEFAULT_TOKENS = 4096
MODEL_EXAMPLE = "--model llama-3.2-1b"
_OPTIONS = (
    Option("--backend", "backend", "torch, jax or numpy; the first that is installed.", "NAME"),
    Option(
        "--what",
        "what",
        "matmul,memory,attention,collective; of --model step,prefill,decode.",
        "NAMES",
    ),
    Option("--dtype", "dtype", "Formats of products, such as bf16,fp32.", "FORMATS"),
    Option("--m", "m", "Sides of square products, such as 4096,8192.", "COUNTS"),
    Option("--model", "model", "A dense model, to time its steps, prompts and tokens.", "MODEL"),
    Option("--layers", "layers", "Its first layers only, where all would not fit.", "COUNT"),
    Option("--micro-batch", "micro_batch", "Sequences at once, such as 1,4,16; 1.", "COUNTS"),
    Option("--seq", "seq", "Tokens of a sequence, or held by the cache; 4096.", "COUNTS"),
    Option("--recompute", "recompute", "none or full, in training steps; none.", "WORD"),
    Option("--repeat", "repeat", "Samples of each, of which the median counts; 20.", "COUNT"),
    Option("--chip", "chip", "The chip, where the framework's name is not on file.", "CHIP"),
    Option("--output", "output", "Write rows of runs, and a BibTeX entry beside.", "FILE"),
)


@command("measure", *_OPTIONS)
def measure_command(
    backend: str | None, output: str | None, as_json: bool, **options: str | None
) -> None:
    """Measure products, memory, attention, collectives, or a whole model on this machine.
    Compares with what is printed for the chip, and writes rows that --calibrate reads.

    With --model, times training steps, prompts and tokens of a dense decoder written in plain
    PyTorch: matrices in bf16, fused attention, compiled blocks on a GPU, AdamW on fp32 weights.

    Times are medians after a warm-up, values are random. Under torchrun, collectives run over all
    ranks; JAX takes its local devices. Nothing that is measured here is ever fitted.

    Example: flopbook measure --what matmul,memory --repeat 5
    """
    from flopbook.prediction.backends import backend as chosen
    from flopbook.prediction.measuring import measure

    order = _order(options)
    if output is not None:
        _check_output(Path(output))
    machine = chosen(backend)
    measurements, failure = _finished(measure(machine, order))
    if output is not None:
        asked = {"backend": backend, **options, "output": Path(output).name}
        _write(Path(output), _command_line(asked), machine, order, measurements)
    if as_json:
        record = {"device": machine.device, "software": machine.software}
        print_json({**record, "measured": [measurement.record() for measurement in measurements]})
    else:
        _print_table(machine, order, measurements, output)
    if failure is not None:
        raise failure


def _finished(
    measurements: Iterable[Measured],
) -> tuple[list[Measured], FlopbookError | None]:
    """What was measured, and the error that ended it early. Raises the error of the first."""
    finished: list[Measured] = []
    try:
        for measurement in measurements:
            finished.append(measurement)
    except FlopbookError as error:
        if not finished:
            raise
        return finished, error
    return finished, None


def _print_table(
    machine: Backend, order: Order, measurements: Sequence[Measured], output: str | None
) -> None:
    print(f"{machine.device}, {machine.software}")
    head: tuple[str, ...] = ("what", "reached", "of printed", "time", "spread")
    lines = [_line(measurement) for measurement in measurements]
    if any(measurement.memory for measurement in measurements):
        head = (*head, "memory")
        lines = [
            (*line, _bytes(measurement.memory))
            for line, measurement in zip(lines, measurements, strict=True)
        ]
    print(columns(lines, head=head))
    if machine.devices < 2 and "collective" in order.what:
        print("note: one device: no collectives; start with torchrun for several")
    if output is not None:
        print(f"wrote {printable(output)} and its .bib; flopbook validate {printable(output)}")


def _check_output(path: Path) -> None:
    """Raise FlopbookError where the rows or their entry could not be written in the end."""
    if path.suffix not in (".yaml", ".yml"):
        name = path if path.name else ""
        raise FlopbookError(f"{_quoted(name)} is no name of a YAML file, such as mine.yaml")
    if not path.parent.is_dir():
        raise FlopbookError(f"{_quoted(path.parent)} is no folder; make it first")
    for taken in (path, path.with_suffix(".bib")):
        if taken.exists():
            raise FlopbookError(f"{_quoted(taken)} is there already; choose another name")


def _quoted(path: Path | str) -> str:
    return f"'{printable(shorten(str(path)))}'"


def _order(options: dict[str, str | None]) -> Order:
    """What to measure. Raises FlopbookError for what cannot be measured."""
    from flopbook.prediction.decoders import WORK
    from flopbook.prediction.measuring import SAMPLES, WHAT, Order
    from flopbook.prediction.options import count_option

    kinds = _words(options["what"]) or (WORK if options["model"] else WHAT)
    for name in kinds:
        if name not in WHAT + WORK:
            raise UnknownName("measurement", name, WHAT + WORK)
    samples = count_option(options, "repeat") or SAMPLES
    sides = _counts(options, "m")
    for flag, most, numbers in (("repeat", MOST_SAMPLES, (samples,)), ("m", MOST_SIDE, sides)):
        if max(numbers, default=0) > most:
            raise FlopbookError(f"--{flag} is {max(numbers):,}, expected at most {most:,}")
    parts = tuple(name for name in kinds if name in WHAT)
    decoders = _decoders(options, tuple(name for name in kinds if name in WORK))
    return Order(parts, _words(options["dtype"]), sides, samples, options["chip"], decoders)


def _decoders(options: dict[str, str | None], kinds: tuple[str, ...]) -> DecoderOrder | None:
    """The model to time and on what. Raises FlopbookError for a model that cannot be built."""
    from flopbook.architectures.shape import shape
    from flopbook.prediction.decoders import DecoderWork, decoder
    from flopbook.prediction.measuring_decoders import DecoderOrder
    from flopbook.prediction.options import count_option, flag_of, word_option

    recompute = word_option(options, "recompute", ("none", "full"))
    for name in ("layers", "micro_batch", "seq", "recompute"):
        if options[name] and not kinds:
            raise FlopbookError(f"{flag_of(name)} says how to run a model; give --model")
    if not kinds:
        return None
    if not options["model"]:
        raise FlopbookError(f"--what {kinds[0]} needs a model; give for example {MODEL_EXAMPLE}")
    work = tuple(
        DecoderWork(kind, sequences, tokens, recompute == "full" and kind == "step")
        for kind in kinds
        for sequences in _counts(options, "micro_batch") or (1,)
        for tokens in _counts(options, "seq") or (DEFAULT_TOKENS,)
    )
    model = shape(options["model"])
    return DecoderOrder(model, decoder(model, count_option(options, "layers")), work)


def _counts(options: dict[str, str | None], name: str) -> tuple[int, ...]:
    """The whole numbers of an option that takes several."""
    from flopbook.prediction.options import count_option

    return tuple(count_option({name: word}, name) or 0 for word in _words(options[name]))


def _words(text: str | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in (text or "").split(",") if word.strip())


def _line(one: Measured) -> tuple[str, ...]:
    share = percent(one.value / one.printed) if one.printed else ""
    return (
        one.what,
        format_quantity(one.value, one.unit, digits=3),
        share,
        format_quantity(one.timing.seconds, "s", digits=3),
        percent(one.timing.spread - 1),
    )


def _bytes(memory: float | None) -> str:
    return format_quantity(memory, "byte", digits=3) if memory else ""


def _command_line(options: Mapping[str, str | None]) -> str:
    """The command with all of its options, so that anyone can measure the same again."""
    from flopbook.prediction.options import flag_of

    flags = [f"{flag_of(name)}={word}" for name, word in options.items() if word]
    return shlex.join(["flopbook", "measure", *flags])


def _write(
    path: Path, command_line: str, machine: Backend, order: Order, found: Sequence[Measured]
) -> None:
    import yaml

    from flopbook.prediction.measuring import bibtex_entry, run_file

    today = datetime.datetime.now(datetime.UTC).date()
    document = run_file(machine, order, found, today)
    write_text(path, yaml.safe_dump(document, sort_keys=False))
    write_text(path.with_suffix(".bib"), bibtex_entry(machine, today, command_line))
