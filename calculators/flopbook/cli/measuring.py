"""`measure`: what the machine at hand reaches, as rows of runs of one's own."""

from __future__ import annotations

import datetime
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from flopbook.cli.layout import print_json
from flopbook.cli.parser import Option
from flopbook.cli.plain import command
from flopbook.data.files import write_text
from flopbook.errors import FlopbookError, UnknownName, printable, shorten
from flopbook.evaluation.answers import columns
from flopbook.quantities.units import format_quantity

if TYPE_CHECKING:
    from flopbook.prediction.backends import Backend
    from flopbook.prediction.measuring import Measured, Order

MOST_SAMPLES, MOST_SIDE = 10_000, 2**17
_OPTIONS = (
    Option("--backend", "backend", "torch, jax or numpy; the first that is installed.", "NAME"),
    Option("--what", "what", "matmul,memory,attention,collective; all if open.", "NAMES"),
    Option("--dtype", "dtype", "Formats of products, such as bf16,fp32.", "FORMATS"),
    Option("--m", "m", "Sides of square products, such as 4096,8192.", "COUNTS"),
    Option("--repeat", "repeat", "Samples of each, of which the median counts; 20.", "COUNT"),
    Option("--chip", "chip", "The chip, where the framework's name is not on file.", "CHIP"),
    Option("--output", "output", "Write rows of runs, and a BibTeX entry beside.", "FILE"),
)


@command("measure", *_OPTIONS)
def measure_command(
    backend: str | None, output: str | None, as_json: bool, **options: str | None
) -> None:
    """Measure matrix products, memory, attention and collectives on this machine.
    Compares with what is printed for the chip, and writes rows that --calibrate reads.

    Times are medians after a warm-up, values are random. Under torchrun, collectives run over all
    ranks; JAX takes its local devices. Nothing that is measured here is ever fitted.

    Example: flopbook measure --what matmul,memory --repeat 5
    """
    from flopbook.prediction.backends import backend as chosen
    from flopbook.prediction.measuring import measure

    order = _order(options)
    if output is not None and Path(output).exists():
        raise FlopbookError(f"'{printable(shorten(output))}' is there already; choose another name")
    machine = chosen(backend)
    found = list(measure(machine, order))
    if output is not None:
        _write(Path(output), machine, order, found)
    if as_json:
        record = {"device": machine.device, "software": machine.software}
        print_json({**record, "measured": [one.record() for one in found]})
        return
    print(f"{machine.device}, {machine.software}")
    head = ("what", "reached", "of printed", "time", "spread")
    print(columns([_line(one) for one in found], head=head))
    if machine.devices < 2 and "collective" in order.what:
        print("note: one device: no collectives; start with torchrun for several")
    if output is not None:
        print(f"wrote {printable(output)} and its .bib; flopbook validate {printable(output)}")


def _order(options: dict[str, str | None]) -> Order:
    """What to measure. Raises FlopbookError for what cannot be measured."""
    from flopbook.prediction.asking import count_option
    from flopbook.prediction.measuring import SAMPLES, WHAT, Order

    what = _words(options["what"]) or WHAT
    for name in what:
        if name not in WHAT:
            raise UnknownName("measurement", name, WHAT)
    samples = count_option(options, "repeat") or SAMPLES
    sides = tuple(count_option({"m": word}, "m") or 0 for word in _words(options["m"]))
    for flag, most, numbers in (("repeat", MOST_SAMPLES, (samples,)), ("m", MOST_SIDE, sides)):
        if max(numbers, default=0) > most:
            raise FlopbookError(f"--{flag} is {max(numbers):,}, expected at most {most:,}")
    return Order(what, _words(options["dtype"]), sides, samples, options["chip"])


def _words(text: str | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in (text or "").split(",") if word.strip())


def _line(one: Measured) -> tuple[str, ...]:
    share = f"{100 * one.value / one.printed:.0f} %" if one.printed else ""
    return (
        one.what,
        format_quantity(one.value, one.unit, digits=3),
        share,
        format_quantity(one.timing.seconds, "s", digits=3),
        f"{100 * (one.timing.spread - 1):.0f} %",
    )


def _write(path: Path, machine: Backend, order: Order, found: Sequence[Measured]) -> None:
    import yaml

    from flopbook.prediction.measuring import bibtex_entry, run_file

    today = datetime.datetime.now(datetime.UTC).date()
    document = run_file(machine, order, found, today)
    said = shlex.join(["flopbook", "measure", "--output", path.name])
    write_text(path, yaml.safe_dump(document, sort_keys=False))
    write_text(path.with_suffix(".bib"), bibtex_entry(machine, today, said))
