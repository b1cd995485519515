"""What is predicted of a run, and how far predictions are off: predict, validate."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flopbook.cli.layout import print_json
from flopbook.cli.parser import Option
from flopbook.cli.plain import command
from flopbook.cli.validated_rows import MOST_REASONS, lines_of, refusals_of, share_cell
from flopbook.errors import FlopbookError, UnknownName, printable, shorten
from flopbook.evaluation.answers import columns, counted
from flopbook.quantities.units import format_quantity, percent

if TYPE_CHECKING:
    from flopbook.data.runs import RunFile
    from flopbook.prediction.calibration import Calibration
    from flopbook.prediction.own_runs import OwnRuns
    from flopbook.prediction.predicted import Prediction
    from flopbook.prediction.similar import SimilarRuns
    from flopbook.prediction.spending import Spending

_ROWS = Option("--rows", "all_rows", "Print a line for every row, the worst first.")
LONGEST_KIND = 60  # of a kind or a group, in characters
_BY = Option("--by", "by", "Errors by chip, format, experts, source or use too.", "WORD")
_CALIBRATE = Option(
    "--calibrate", "calibrate", "Three or more runs of your own, to calibrate on.", "FILE"
)
# What predict takes of training alone; flopbook plan --serve divides the chips of a server.
_OF_TRAINING = (
    *("batch_tokens", "pp", "cp", "ep", "dp", "virtual", "schedule", "zero", "hsdp"),
    *("micro_batch", "recompute", "recompute_layers", "offload", "offload_activations", "tokens"),
    "network",
)
# What a run on file says itself.
_OF_RUN = ("model", "config", "chip", "chips", "batch", "seq", "tp", "dtype", "stack", "answer")
_PREDICT_OPTIONS = (
    Option("--model", "model", "The model, such as llama-3-70b.", "NAME"),
    Option("--config", "config", "Its Hugging Face config.json, in place of --model.", "FILE"),
    Option("--run", "run", "A row of a file of runs, in place of model and layout.", "FILE[:ROW]"),
    Option("--chip", "chip", "The chip or system, such as h100-sxm.", "NAME"),
    Option("--chips", "chips", "Chips that train.", "COUNT"),
    Option("--batch-tokens", "batch_tokens", "Tokens of a step, such as 4Mi.", "COUNT"),
    Option("--batch", "batch", "Sequences of a step; with --answer: served at once.", "COUNT"),
    Option("--seq", "seq", "Tokens of a sequence; 4,096 if open.", "COUNT"),
    Option("--tp", "tp", "Tensor-parallel degree.", "COUNT"),
    Option("--pp", "pp", "Pipeline stages.", "COUNT"),
    Option("--cp", "cp", "Context-parallel degree.", "COUNT"),
    Option("--ep", "ep", "Expert-parallel degree.", "COUNT"),
    Option("--dp", "dp", "Data-parallel degree; what is left of the chips if open.", "COUNT"),
    Option("--virtual", "virtual", "Model chunks on each pipeline stage.", "COUNT"),
    Option("--schedule", "schedule", "Pipeline schedule, such as 1f1b or zb-v.", "WORD"),
    Option("--zero", "zero", "ZeRO stage, 0 to 3; 3 is FSDP.", "STAGE"),
    Option("--hsdp", "hsdp", "HSDP groups, each of which holds all that ZeRO divides.", "COUNT"),
    Option("--micro-batch", "micro_batch", "Sequences of a micro-batch.", "COUNT"),
    Option("--recompute", "recompute", "What is recomputed: none, selective, full.", "WORD"),
    Option("--recompute-layers", "recompute_layers", "Of a stage; all with full if open.", "COUNT"),
    Option("--offload", "offload", "On the host: optimizer, gradients or parameters.", "WORD"),
    Option("--offload-activations", "offload_activations", "On the host too: yes or no.", "WORD"),
    Option("--dtype", "dtype", "Format of matrix products: bf16, fp16, fp8, fp4.", "FORMAT"),
    Option("--stack", "stack", "Software, such as nemo@25.11 or torchtitan.", "NAME[@VERSION]"),
    Option("--network", "network", "A card for each chip: ndr, 400gbe, or 400Gb/s.", "NAME"),
    Option("--answer", "answer", "Tokens of an answer: predicts serving, not training.", "COUNT"),
    Option("--tokens", "tokens", "Tokens of the whole run, such as 15T.", "COUNT"),
    Option("--price", "price", "Price of a chip, such as 2USD/h.", "RATE"),
    Option(
        "--price-from", "price_from", "Cloud whose list price counts: aws, ..., lowest.", "CLOUD"
    ),
    _CALIBRATE,
)


@command("predict", *_PREDICT_OPTIONS)
def predict_command(
    as_json: bool, calibrate: str | None, run: str | None, **options: str | None
) -> None:
    """Predict the step time and the memory of a training run, in parts and with an 80 % band.
    Without degrees the run gets the fastest layout that a short search finds. What else is left
    open is inferred by stated rules; the answer names all of it.

    The parameters are fitted on published runs; flopbook validate says how well. The memory is what
    flopbook memory says of the same layout. Energy is that of chips at their rated power. With
    --answer it is serving that is predicted: --seq is then the length of prompts. With --run the
    layout is that of a row, as flopbook validate predicts it.

    Example: flopbook predict --model llama-3-70b --chip h100-sxm --chips 512 --batch-tokens 4Mi
    """
    from flopbook.cli.assumed import faster_rows, row_notes, training_notes, what_runs
    from flopbook.cli.layout_words import words_of_layout
    from flopbook.prediction.asking import predict
    from flopbook.prediction.options import refuse

    if run is None and options["answer"]:
        refuse(options, _OF_TRAINING, "is of training; leave it out with --answer")
        _print_serving(options, calibrate, as_json=as_json)
        return
    calibration = _calibration("training_throughput", calibrate)
    prediction = _of_run(run, options, calibration) if run else predict(options, calibration)
    if as_json:
        print_json(prediction.record())
        return
    if prediction.idle:  # notes are of the chips that run
        options["chips"] = str(int(prediction.run.chips))
    rows = [
        ("step", f"{prediction.seconds:.3g} s", _band(prediction)),
        ("throughput", f"{prediction.tokens_per_second:,.0f} token/s/chip", ""),
        ("MFU", percent(prediction.mfu, 1), _conventions(prediction)),
        *_memory_rows(prediction),
        *_spent_rows(prediction.spent),
        ("layout", *words_of_layout(prediction.layout())),
        *([] if run else faster_rows(prediction, options)),
    ]
    stopped = "" if run else what_runs(prediction)
    if stopped:
        print(stopped)
    print(columns(rows))
    print(f"\nparts of the step\n{_shares(prediction.parts, 's')}")
    if prediction.memory:
        print("\nparts of the memory")
        print(_shares(prediction.memory.parts, "byte"))
    print()
    if prediction.savings:
        print(f"note: it would fit with {' or '.join(prediction.savings)}")
    if prediction.calibration:
        print(_calibrated(prediction.calibration))
    if prediction.interleaving:
        stages, waits = prediction.run.pp, prediction.parts["bubble"]
        print(f"note: {prediction.interleaving.told(stages, waits, prediction.seconds)}")
    notes = row_notes(prediction) if run else training_notes(prediction, options)
    _print_notes(notes, prediction.similar)


def _of_run(
    run: str, options: Mapping[str, str | None], calibration: Calibration | None
) -> Prediction:
    """The prediction for a row of a file. Raises FlopbookError for options that the row has."""
    from flopbook.prediction.asked_rows import predict_row
    from flopbook.prediction.options import refuse

    of_layout = (name for name in _OF_TRAINING if name != "tokens")
    refuse(options, (*_OF_RUN, *of_layout), "is said by the row; leave it out with --run")
    return predict_row(run, options, calibration)


def _print_serving(
    options: Mapping[str, str | None], calibrate: str | None, *, as_json: bool
) -> None:
    """What serving reaches: times, throughput, and whether the batch fits."""
    from flopbook.cli.assumed_serving import serving_notes
    from flopbook.prediction.asking_serving import predict_serving

    prediction = predict_serving(options, _calibration("inference", calibrate))
    if as_json:
        print_json(prediction.record())
        return
    served = prediction.serving
    load = counted(max(int(prediction.batch), 1), "sequence")
    place = f"at once on {counted(int(served.chips), 'chip')}, TP {served.tp:.0f}"
    values = (
        ("first token", prediction.first_token, "s"),
        ("each token", prediction.token, "s"),
        ("throughput", prediction.throughput, "token/s"),
    )
    rows = [
        (title, format_quantity(one.value, unit, digits=3), _between(one.low, one.high, unit))
        for title, one, unit in values
    ]
    room = format_quantity(prediction.serving.machine.memory, "byte", digits=3)
    verdict = prediction.fit.text or f"fits into {room}"
    rows.append(("memory of a chip", format_quantity(prediction.bytes, "byte", digits=3), verdict))
    if prediction.cost_per_million is not None:
        rows.append(("cost of a million tokens", f"{prediction.cost_per_million:.3g} USD", ""))
    print(columns([*rows, ("batch", load, place)]))
    print()
    _print_notes(serving_notes(prediction, options), prediction.similar)


def _between(low: float, high: float, unit: str) -> str:
    ends = (format_quantity(end, unit, digits=3) for end in (low, high))
    return "80 % band " + " to ".join(ends)


def _print_notes(notes: Iterable[str], similar: SimilarRuns) -> None:
    for note in notes:
        print(f"note: {note}")
    if similar.nearest:
        count = counted(similar.total, "measured run")
        print(f"note: {count} on file of its {similar.shared}; the nearest follow")
    else:
        print("note: measured runs like it: none on file")
    for run in similar.nearest:
        print(f"note: a measured run like it: {run.id}, {run.url or run.source}")


def _calibration(kind: str, name: str | None) -> Calibration | None:
    if name is None:
        return None
    from flopbook.prediction.calibration import calibrated

    (own,) = _given_runs([name])
    return calibrated(kind, [own.whole()])


def _conventions(prediction: Prediction) -> str:
    """What the MFU counts as work, and over which peak; publications divide by either."""
    width = {"fp8": "8", "fp4": "4"}.get(prediction.run.precision, "16")
    words = f"full attention, over the {width}-bit peak"
    if width == "16":
        return words
    return f"{words}; over the 16-bit one {percent(prediction.mfu_16bit, 1)}"


def _memory_rows(prediction: Prediction) -> list[tuple[str, str, str]]:
    memory = prediction.memory
    if memory is None:
        from flopbook.cli.assumed import why_no_memory

        return [("memory", "n/a", why_no_memory(prediction))]
    room = format_quantity(abs(memory.room - memory.total), "byte", digits=3)
    verdict = f"fits, {room} are free" if memory.fits else f"does not fit: {room} too much"
    return [("memory", format_quantity(memory.total, "byte", digits=3), verdict)]


def _spent_rows(spent: Spending) -> list[tuple[str, str, str]]:
    """Energy, cost and goodput of a step and of the run, as far as they are known."""
    units = {
        "joules": ("energy of a step", "J"),
        "cost": ("cost of a step", "USD"),
        "goodput": ("goodput", "1"),
        "run_seconds": ("whole run", "s"),
        "run_joules": ("energy of the run", "J"),
        "run_cost": ("cost of the run", "USD"),
    }
    record = spent.record()
    return [
        (title, format_quantity(record[name], unit, digits=3), "")
        for name, (title, unit) in units.items()
        if name in record
    ]


def _band(prediction: Prediction) -> str:
    return f"80 % band {prediction.low:.3g} to {prediction.high:.3g} s"


def _shares(parts: Mapping[str, float], unit: str) -> str:
    """Parts that are there, the largest first, with the share of each."""
    total = sum(parts.values())
    rows = [
        (
            name.replace("_", " "),
            format_quantity(size, unit, digits=3),
            percent(size / total, 1),
        )
        for name, size in sorted(parts.items(), key=lambda part: -part[1])
        if size > 0
    ]
    return columns(rows, indent="  ")


@command("validate", _ROWS, _BY, _CALIBRATE, argument="[FILE ...]")
def validate_command(
    files: Sequence[str], all_rows: bool, as_json: bool, calibrate: str | None, by: str | None
) -> int:
    """Hold predictions against measured runs, and print how far off they are.
    FILE has runs in the layout of calculators/runs/; without one all runs on file count.

    Errors are predicted over measured, less one, on rows whose configuration is complete as well
    as on those where a rule filled in what is missing. The rows on file are those that the
    parameters were fitted on: their errors flatter. Bands are measured on runs that were left out;
    a second table says how many of those they hold, beside the 95 % interval of four fifths.
    With --calibrate, each kind of which that file has three or more rows is calibrated on them.
    A row of FILE that cannot be read is refused with its place; the exit status is then 2. Without
    FILE the status is 1 where a kind of rows is further off than its gate allows.

    Example: flopbook validate --rows
    """
    from flopbook.prediction.left_out import left_out_coverage
    from flopbook.prediction.validation import GROUPINGS, grouped, validate

    if by is not None and by not in GROUPINGS:
        raise UnknownName("grouping", by, GROUPINGS)
    own_files = _given_runs(files)
    unread = [row for own in own_files for row in own.unread]
    by_kind = _calibrations(calibrate)
    adjusted = {kind: calibration.adjustment for kind, calibration in by_kind.items()}
    validation = validate(_run_files(own_files), unread, adjusted)
    record = validation.record()
    if by is not None:
        record["groups"] = grouped(validation, by)
    if not files:
        record["left_out"] = [one.record() for one in left_out_coverage()]
    if by_kind:
        record["calibration"] = {kind: one.record() for kind, one in by_kind.items()}
    if as_json:
        print_json(record)
    else:
        _print_tables(record)
        if all_rows:
            print("\n" + lines_of(validation))
        if validation.refused:
            print("\n" + refusals_of(validation))
        _print_remarks(by_kind.values(), own_files)
    problems = [str(problem) for row in unread for problem in row.problems]
    failed = () if files else validation.failed_gates()
    for line in (*problems, *failed):
        print(printable(f"flopbook: {line}"), file=sys.stderr)
    if problems:
        return 2
    return 1 if failed else 0


def _print_tables(record: Mapping[str, Any]) -> None:
    """Errors by kind, and by groups where they were asked for."""
    print(_table(record["kinds"]))
    for kind, groups in record.get("groups", {}).items():
        print("\n" + _table(groups, kind))
    if record.get("left_out"):
        print("\n" + _left_out(record["left_out"]))


def _print_remarks(found: Iterable[Calibration], given: Iterable[OwnRuns]) -> None:
    for calibration in found:
        print("\n" + _calibrated(calibration))
    repeated = [name for own in given for name in own.repeated]
    if repeated:
        print(f"\nnote: ids of more than one row: {', '.join(repeated[:MOST_REASONS])}")


def _calibrations(name: str | None) -> dict[str, Calibration]:
    """By kind, what the runs of a file say about predictions. Raises FlopbookError."""
    from flopbook.prediction.calibration import LEAST_ROWS, calibrations

    if name is None:
        return {}
    (own,) = _given_runs([name])
    by_kind = calibrations([own.whole()])
    if not by_kind:
        raise FlopbookError(
            f"--calibrate needs {LEAST_ROWS} or more rows of one kind that can be predicted; "
            f"{printable(Path(name).name)} has fewer of every kind"
        )
    return by_kind


def _calibrated(calibration: Calibration) -> str:
    """By how much some runs moved the predictions of a kind, and narrowed its band."""
    return (
        f"calibrated {calibration.kind} on {counted(calibration.rows, 'run')}: "
        f"x {calibration.factor:.3f}, 80 % band x or / {calibration.band:.3f}; each run from the "
        f"others: median error {percent(calibration.error_before, 1)} before, "
        f"{percent(calibration.error_after, 1)} after"
    )


def _given_runs(names: Sequence[str]) -> list[OwnRuns]:
    """The files that are named. Raises FlopbookError or DataError."""
    from flopbook.prediction.own_runs import read_own_runs

    return [read_own_runs(_existing(name)) for name in names]


def _run_files(given: Sequence[OwnRuns]) -> list[RunFile]:
    """The files that were given, or all on file. Raises DataError."""
    from flopbook.data.measured_runs import run_files

    return [own.runs for own in given] or list(run_files().values())


def _existing(name: str) -> Path:
    path = Path(name)
    if not path.is_file():
        raise FlopbookError(f"no file '{printable(shorten(name))}'; give a file of measured runs")
    return path


def _table(kinds: Mapping[str, Mapping[str, Any]], title: str = "kind") -> str:
    """A line for each kind: how many rows, how large the errors, and how often the band held."""
    head = (title, "rows", "median", "mean", "p90", "bias", "in the band", "refused")
    rows = []
    for kind, summary in kinds.items():
        sizes = ("median", "mean", "p90", "bias", "coverage")
        errors = [share_cell(summary[name]) for name in sizes]
        shown = printable(shorten(kind, LONGEST_KIND))  # a group has the name of a file's own
        rows.append((shown, f"{summary['n']}", *errors, f"{summary.get('refused', '')}"))
    return columns(rows, head=head)


def _left_out(lines: Sequence[Mapping[str, Any]]) -> str:
    """How often bands held fitted rows that a fit had not seen, by what was left out of it."""
    head = ("kind", "left out of the fit", "rows", "in the band", "80 % is")
    rows = []
    for line in lines:
        span = " to ".join(map(percent, line["expected"]))
        group = f"each {line['left_out']}"
        rows.append((line["kind"], group, f"{line['n']}", share_cell(line["coverage"]), span))
    return columns(rows, head=head)
