"""One command for each formula: its options come from its inputs."""

from __future__ import annotations

from typing import Any

from flopbook.calculator import calculate, reads, takes
from flopbook.cli.parser import Command, Option, UsageError
from flopbook.formula import Formula, Input
from flopbook.pages.pictures import DRAWINGS, Drawing
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


def command(formula: Formula) -> Command:
    """The command of a formula."""
    options = [_shared(name) for name in (*takes(formula), *reads(formula))]
    options += [_option(name, spec, formula) for name, spec in formula.inputs.items()]

    drawing = DRAWINGS.get(formula.id)

    def call(as_json: bool, explain: bool, binary: bool = False, plot: str | None = None, **given: Any) -> None:
        asked = drawing is not None and given.pop(drawing.flag, False)
        alone = not (as_json or explain)
        if asked and not alone:
            raise UsageError(f"--{drawing.flag} prints text of its own; leave out --json and --explain")
        if binary and not alone:
            raise UsageError("--binary writes the plain answer; --json and --explain are in SI units")
        if drawing and alone and (asked or plot is not None or not drawing.flag):
            from flopbook.cli.drawing import show

            return print(show(formula.id, given, bool(asked), plot, binary))
        result = calculate(formula.id, **given)
        if plot is not None:
            from flopbook.cli.drawing import write_plot

            write_plot(formula.id, given, plot)
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
        (*options, *_drawn(drawing), *_binary(formula), _AS_JSON, _EXPLAIN),
        formula.question,
        (formula.summary, formula.question),
        example(formula),
    )


def _drawn(drawing: Drawing | None) -> list[Option]:
    """The options of a calculator that has a picture: to print it, unless it always is, and to write it."""
    if drawing is None:
        return []
    printing = [Option(f"--{drawing.flag}", drawing.flag, drawing.printing)] if drawing.flag else []
    return [*printing, Option("--plot", "plot", drawing.writing, "FILE")]


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
    metavar = spec.text or {"byte/s": "RATE", "FLOP/s": "RATE"}.get(spec.unit, "N")
    return Option(flag, name, f"{text}{origin}.", metavar)
