"""One command for each formula: its options come from its inputs."""

from __future__ import annotations

from typing import Any

from flopbook.calculator import calculate, reads, takes
from flopbook.cli.parser import Command, Option, UsageError
from flopbook.formula import Formula, Input
from flopbook.words import answer, example

_SHARED = {
    "chip": ("CHIP", "Take peak, bandwidth and links from this chip (id, alias or device name)."),
    "model": ("MODEL", "Take parameters, tokens and experts from this model."),
    "config": ("FILE", "Take the shape from this config.json of a Hugging Face model instead."),
    "dtype": ("FORMAT", "Number format of the peak and of the weights: bf16 (default), fp8, fp32 ..."),
    "sparsity": ("KIND", "dense (default) or 2:4; a sparse peak is used only when asked for."),
}
_AS_JSON = Option("--json", "as_json", "Print the answer as JSON, values in SI units.")
_EXPLAIN = Option("--explain", "explain", "Show the steps with the numbers put in, and the sources.")
_BINARY = Option("--binary", "binary", "Write bytes as KiB, MiB, GiB (powers of 1,024) instead of kB, MB, GB.")
# Calculators behind which there is a schedule to draw.
_DRAWN = {
    "bubble": (
        Option("--timeline", "timeline", "Run the schedule and print it: a line for each stage, a letter for a pass."),
        Option("--plot", "plot", "Run the schedule and draw it into this file (SVG).", "FILE"),
    )
}  # fmt: skip


def command(formula: Formula) -> Command:
    """The command of a formula."""
    options = [_shared(name) for name in (*takes(formula), *reads(formula))]
    options += [_option(name, spec, formula) for name, spec in formula.inputs.items()]

    def call(
        as_json: bool, explain: bool, binary: bool = False, timeline: bool = False, plot: str | None = None,
        **given: Any,
    ) -> None:  # fmt: skip
        if timeline or plot is not None:
            from flopbook.cli.timeline import show, write_plot

            if not (as_json or explain):
                return print(show(formula.id, given, timeline, plot))
            if timeline:
                raise UsageError("--timeline prints text of its own; leave out --json and --explain")
            write_plot(formula.id, given, str(plot))
        if binary and (as_json or explain):
            raise UsageError("--binary writes the plain answer; --json and --explain are in SI units")
        result = calculate(formula.id, **given)
        if as_json:
            from flopbook.cli.layout import print_json

            print_json(result.as_json())
        elif explain:
            from flopbook.cli.explain import explanation

            print(explanation(result))
        else:
            print(answer(result, binary=binary))

    return Command(
        formula.id,
        call,
        (*options, *_DRAWN.get(formula.id, ()), *_binary(formula), _AS_JSON, _EXPLAIN),
        formula.question,
        (formula.summary, formula.question),
        example(formula),
    )


def _binary(formula: Formula) -> tuple[Option, ...]:
    """The switch for binary prefixes, where an answer is an amount of bytes."""
    return (_BINARY,) if any(spec.unit == "byte" for spec in formula.outputs.values()) else ()


def _shared(name: str) -> Option:
    metavar, text = _SHARED[name]
    return Option(f"--{name}", name, text, metavar)


def _option(name: str, spec: Input, formula: Formula) -> Option:
    flag = "--" + name.replace("_", "-")
    text = spec.meaning[0].upper() + spec.meaning[1:]
    if spec.choices:
        text += f": {', '.join(spec.choices)}"
        default = formula.defaults.get(name)
        return Option(flag, name, f"{text}{f' (default {default})' if default else ''}.", "NAME")
    ways = [
        way
        for way in ("chip" if spec.chip else "", "model" if spec.model else "", "dtype" if spec.dtype else "")
        if way
    ]
    origin = f"; from --{' or --'.join(ways)} if not given" if ways else ""
    metavar = {"byte/s": "RATE", "FLOP/s": "RATE"}.get(spec.unit, "N")
    return Option(flag, name, f"{text}{origin}.", metavar)
