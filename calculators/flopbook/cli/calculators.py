"""One command for each formula: its options come from its inputs."""

from __future__ import annotations

from typing import Any

from flopbook.cli.answering import refuse_binary, show, show_each
from flopbook.cli.parser import Command, Option, UsageError
from flopbook.drawing.pictures import DRAWINGS, Drawing
from flopbook.errors import FlopbookError
from flopbook.evaluation.answers import example
from flopbook.evaluation.calculator import (
    asks_prices,
    calculate,
    divides_chips,
    reads,
    takes,
    tensors,
)
from flopbook.evaluation.request import flag, option_names
from flopbook.evaluation.several import answer_each, names_several
from flopbook.formulas.declaration import Formula, Input
from flopbook.quantities.units import BINARY

# What is looked up by name, in place of inputs: the word that help shows, and the text.
_LOOKUPS = {
    "chip": (
        "CHIP",
        "Chip (id, alias or device name) that supplies peak, bandwidth and links; A,B compares.",
    ),
    "model": ("MODEL", "Model that supplies parameters, shape and tokens; A,B compares."),
    "config": ("FILE", "config.json of a Hugging Face model, in place of --model."),
    "dtype": (
        "FORMAT",
        "Number format: bf16 (default), fp8, int4 ...; a rule says which tensors it holds for.",
    ),
    "weight_dtype": ("FORMAT", "Number format of the weights, in place of the rule for --dtype."),
    "compute_dtype": ("FORMAT", "Number format that products run at the peak rate of."),
    "kv_dtype": ("FORMAT", "Number format of the KV cache."),
    "activation_dtype": ("FORMAT", "Number format of activations."),
    "grad_dtype": ("FORMAT", "Number format of gradients."),
    "optimizer_dtype": ("FORMAT", "Number format of the optimizer state."),
    "dispatch_dtype": ("FORMAT", "Number format in which tokens are sent to experts."),
    "price_from": (
        "CLOUD",
        "Cloud whose list price on record is used, in place of --price: aws, aws:us-east-1, or "
        "the lowest of all: lowest.",
    ),
    "chips": ("N", "Number of chips; what the other degrees leave of them is data parallel."),
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
_ASKING = (
    Option("--solve", "solve", "Find this input, so that an output meets --target.", "NAME"),
    Option(
        "--target",
        "target",
        "Target of --solve, such as tokens=4M, seconds<=30days or bound=memory.",
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
_METAVARS = {"byte/s": "RATE", "FLOP/s": "RATE"}  # by unit; a number is N
_PLOT = Option(
    "--plot", "plot", "Draw the sweep into this file (SVG), or with - in the terminal.", "FILE"
)


def command(formula: Formula) -> Command:
    """The command of a formula."""
    named = (*takes(formula), *tensors(formula), *reads(formula), *asks_prices(formula))
    inputs = [_input_option(name, spec, formula) for name, spec in formula.inputs.items()]
    values = [*map(_lookup_option, (*named, *divides_chips(formula))), *inputs]
    drawing = DRAWINGS.get(formula.id)
    asking = (*_ASKING, *_drawing_options(drawing))

    def call(as_json: bool, explain: bool, binary: bool = False, **given: Any) -> None:
        # A context variable, not a parameter: quantities are written in many places below.
        token = BINARY.set(binary)
        try:
            if as_json:
                refuse_binary("json")
            asked = {option.name: given.pop(option.name) for option in asking}
            _answer(formula, given, asked, as_json, explain)
        except FlopbookError as error:
            # Who gives nothing at all does not know yet what there is to give.
            is_bare = all(value in (None, False) for value in given.values())
            if not (is_bare and str(error).startswith(f"{formula.id} needs ")):
                raise
            raise FlopbookError(f"{error}; for example: {example(formula)}") from None
        finally:
            BINARY.reset(token)

    return Command(
        formula.id,
        call,
        (
            *_questions_first(values, formula.asks),
            *asking,
            *_binary_options(formula),
            _AS_JSON,
            _EXPLAIN,
        ),
        formula.question,
        (formula.summary, formula.question),
        example(formula),
        taken_by=_taken_by,
    )


def _questions_first(options: list[Option], asks: tuple[str, ...]) -> list[Option]:
    """The options of a calculator, those that its form asks before all others."""
    place = {name: number for number, name in enumerate(asks)}
    return sorted(options, key=lambda option: place.get(option.name, len(asks)))


def _taken_by(option_flag: str) -> list[str]:
    """The calculators that have this option."""
    from flopbook.formulas import formulas  # loads all of them, for a mistake only

    return [
        formula.id
        for formula in formulas().values()
        if option_flag in map(flag, option_names(formula))
    ]


def _answer(
    formula: Formula, given: dict[str, Any], asked: dict[str, Any], as_json: bool, explain: bool
) -> None:
    """Print the answer, or what else was asked for. Raises FlopbookError."""
    drawing = DRAWINGS.get(formula.id)
    # None and False are options that were not given; an empty text was.
    chosen = [name for name, value in asked.items() if value not in (None, False)]
    if names_several(formula, given):
        if chosen:
            flags = f"--{chosen[0]}"
            raise UsageError(f"{flags} asks one chip and one model at a time; name one of each")
        show_each(answer_each(formula, given), as_json, explain)
    elif chosen:
        from flopbook.cli.asking import Asked, ask  # solving and sweeping take long to import

        picture = bool(drawing and asked.pop(drawing.flag, False))
        ask(formula, given, Asked(as_json, explain, picture=picture, **asked))
    elif drawing and not drawing.flag and not (as_json or explain):
        from flopbook.cli.drawing import answer_with_picture

        print(answer_with_picture(formula.id, given, False, None))
    else:
        show(calculate(formula.id, **given), as_json, explain)


def _drawing_options(drawing: Drawing | None) -> list[Option]:
    """The options that draw the picture of a calculator, or else a sweep.

    One prints the picture, unless it is always printed.
    """
    if drawing is None:
        return [_PLOT]
    plot = Option("--plot", "plot", f"{drawing.writing} With --sweep, draw the sweep.", "FILE")
    if not drawing.flag:
        return [plot]
    return [Option(f"--{drawing.flag}", drawing.flag, drawing.printing), plot]


def _binary_options(formula: Formula) -> tuple[Option, ...]:
    """The switch for binary prefixes, where bytes come out or the memory of a chip goes in."""
    has_sizes = any(spec.unit.partition("/")[0] == "byte" for spec in formula.outputs.values())
    takes_memory = any(spec.chip == "memory" for spec in formula.inputs.values())
    return (_BINARY,) if has_sizes or takes_memory else ()


def _lookup_option(name: str) -> Option:
    metavar, text = _LOOKUPS[name]
    return Option(f"--{name.replace('_', '-')}", name, text, metavar)


def _input_option(name: str, spec: Input, formula: Formula) -> Option:
    flag = "--" + name.replace("_", "-")
    # str.capitalize would make the rest lower-case, "KV" and "FLOP" included.
    text = spec.meaning[0].upper() + spec.meaning[1:]
    if spec.choices:
        text += f": {', '.join(spec.choices)}"
        default = formula.defaults.get(name)
        if default:
            text += f" (default {default})"
        return Option(flag, name, f"{text}.", "NAME")
    lookups = {"chip": spec.chip, "model": spec.model, "dtype": spec.dtype}
    flags = [f"--{option}" for option, field in lookups.items() if field]
    if flags:
        text += f"; from {' or '.join(flags)} if not given"
    return Option(flag, name, f"{text}.", spec.text or _METAVARS.get(spec.unit, "N"))
