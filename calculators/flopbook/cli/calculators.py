"""One command for each formula: its options come from its inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flopbook.cli.parser import Command, Option, UsageError
from flopbook.drawing.pictures import DRAWINGS, Drawing
from flopbook.evaluation.answers import answer, example
from flopbook.evaluation.calculator import Result, calculate, reads, takes
from flopbook.formulas.declaration import Formula, Input
from flopbook.quantities.units import BINARY

_SHARED = {
    "chip": ("CHIP", "Take peak, bandwidth and links from this chip (id, alias or device name)."),
    "model": ("MODEL", "Take parameters, tokens and experts from this model."),
    "config": ("FILE", "Take the shape from this config.json of a Hugging Face model instead."),
    "dtype": (
        "FORMAT",
        "Number format of the peak and of the weights: bf16 (default), fp8, fp32 ...",
    ),
    "sparsity": ("KIND", "dense (default) or 2:4; a sparse peak is used only when asked for."),
}
_AS_JSON = Option("--json", "as_json", "Print the answer as JSON, values in SI units.")
_EXPLAIN = Option(
    "--explain",
    "explain",
    "Show the steps with the numbers put in, the sources, and which input matters most.",
)
_BINARY = Option(
    "--binary", "binary", "Write bytes as KiB, MiB, GiB (powers of 1,024) instead of kB, MB, GB."
)
# What else may be asked of a calculator than its answer.
_ASKED = (
    Option("--solve", "solve", "Find this input, so that an output meets --target.", "NAME"),
    Option(
        "--target",
        "target",
        "What --solve shall reach, such as tokens=4M, seconds<=30days or bound=memory.",
        "OUTPUT=VALUE",
    ),
    Option(
        "--sweep",
        "sweep",
        "Compute at many values: batch=64:65536:log, mfu=0.3:0.6:lin:7, dp=1,2,4; may be repeated.",
        "NAME=VALUES",
        many=True,
    ),
    Option(
        "--outputs",
        "outputs",
        "Show these outputs of a sweep, or --explain what moves them: A,B.",
        "NAMES",
    ),
    Option("--csv", "csv", "Print the sweep as CSV, values in SI units."),
)
_PLOT = Option(
    "--plot", "plot", "Draw the sweep into this file (SVG), or with - in the terminal.", "FILE"
)


def command(formula: Formula) -> Command:
    """The command of a formula."""
    options = [_shared(name) for name in (*takes(formula), *reads(formula))]
    options += [_option(name, spec, formula) for name, spec in formula.inputs.items()]
    drawing = DRAWINGS.get(formula.id)
    more = (*_ASKED, *_drawn(drawing))

    def call(as_json: bool, explain: bool, binary: bool = False, **given: Any) -> None:
        token = BINARY.set(binary)
        try:
            answered(as_json, explain, given)
        finally:
            BINARY.reset(token)

    def answered(as_json: bool, explain: bool, given: dict[str, Any]) -> None:
        if as_json:
            refuse_binary("json")
        asked = {option.name: given.pop(option.name) for option in more}
        if any(value not in (None, False) for value in asked.values()):
            from flopbook.cli.asking import Asked, ask

            picture = bool(drawing and asked.pop(drawing.flag, False))
            return ask(formula, given, Asked(as_json, explain, picture=picture, **asked))
        if drawing and not drawing.flag and not (as_json or explain):
            from flopbook.cli.drawing import show as drawn

            return print(drawn(formula.id, given, False, None))
        show(calculate(formula.id, **given), as_json, explain)

    return Command(
        formula.id,
        call,
        (*options, *more, *_binary(formula), _AS_JSON, _EXPLAIN),
        formula.question,
        (formula.summary, formula.question),
        example(formula),
    )


def show(result: Result, as_json: bool, explain: bool, outputs: Sequence[str] = ()) -> None:
    """Print an answer as it was asked for; `outputs` are those of which an explanation says what
    moves them.
    """
    if as_json:
        from flopbook.cli.layout import print_json

        record = result.as_json()
        if explain:
            from flopbook.cli.explain import moved

            record["sensitivities"] = [found.as_json() for found in moved(result, outputs)]
        print_json(record)
    elif explain:
        from flopbook.cli.explain import explanation

        print(explanation(result, outputs))
    else:
        print(answer(result))


def _drawn(drawing: Drawing | None) -> list[Option]:
    """The options that draw: the picture of the calculator, to print it unless it always is, or
    else of a sweep.
    """
    if drawing is None:
        return [_PLOT]
    printing = [Option(f"--{drawing.flag}", drawing.flag, drawing.printing)] if drawing.flag else []
    return [
        *printing,
        Option("--plot", "plot", f"{drawing.writing} With --sweep, draw the sweep.", "FILE"),
    ]


def _binary(formula: Formula) -> tuple[Option, ...]:
    """The switch for binary prefixes, where an answer is an amount of bytes, or the memory of a
    chip goes in.
    """
    sizes = any(spec.unit.partition("/")[0] == "byte" for spec in formula.outputs.values())
    return (
        (_BINARY,)
        if sizes or any(spec.chip == "memory" for spec in formula.inputs.values())
        else ()
    )


def refuse_binary(flag: str) -> None:
    """Raise UsageError where bytes are to be written with binary prefixes into what has SI units."""
    if BINARY.get():
        raise UsageError(f"--binary writes text for people; --{flag} has SI units")


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
        for way in (
            "chip" if spec.chip else "",
            "model" if spec.model else "",
            "dtype" if spec.dtype else "",
        )
        if way
    ]
    origin = f"; from --{' or --'.join(ways)} if not given" if ways else ""
    metavar = spec.text or {"byte/s": "RATE", "FLOP/s": "RATE"}.get(spec.unit, "N")
    return Option(flag, name, f"{text}{origin}.", metavar)
