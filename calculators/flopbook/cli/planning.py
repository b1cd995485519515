"""Which layout trains a model fastest on a machine: plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flopbook.cli.layout import print_json
from flopbook.cli.parser import Option
from flopbook.cli.plain import command
from flopbook.errors import FlopbookError
from flopbook.evaluation.answers import columns, counted
from flopbook.quantities.formatting import format_quantity

if TYPE_CHECKING:
    from flopbook.planning.planner import PlannedLayout, RunPlan

MOST_REASONS = 4
MOST_LISTED = 1000
_OPTIONS = (
    Option("--model", "model", "The model, such as llama-3-70b.", "NAME"),
    Option("--chip", "chip", "The chip or system, such as h100-sxm.", "NAME"),
    Option("--chips", "chips", "Chips that train.", "COUNT"),
    Option("--batch-tokens", "batch_tokens", "Tokens of a step, such as 4Mi.", "COUNT"),
    Option("--seq", "seq", "Tokens of a sequence; 4,096 if open.", "COUNT"),
    Option("--dtype", "dtype", "Format of matrix products: bf16, fp16, fp8, fp4.", "FORMAT"),
    Option("--stack", "stack", "Software, such as nemo@25.11 or torchtitan.", "NAME[@VERSION]"),
    Option("--tp", "tp", "Search this tensor-parallel degree alone.", "COUNT"),
    Option("--pp", "pp", "This number of pipeline stages alone.", "COUNT"),
    Option("--cp", "cp", "This context-parallel degree alone.", "COUNT"),
    Option("--ep", "ep", "This expert-parallel degree alone.", "COUNT"),
    Option("--dp", "dp", "This data-parallel degree alone.", "COUNT"),
    Option("--virtual", "virtual", "This number of model chunks on a stage alone.", "COUNT"),
    Option("--schedule", "schedule", "This pipeline schedule alone.", "WORD"),
    Option("--zero", "zero", "This ZeRO stage alone, 0 to 3; 3 is FSDP.", "STAGE"),
    Option("--micro-batch", "micro_batch", "This micro-batch alone, in sequences.", "COUNT"),
    Option("--recompute", "recompute", "This alone: none, selective, full.", "WORD"),
    Option("--max-bytes", "max_bytes", "Memory of each chip that a layout may take.", "SIZE"),
    Option("--max-seconds", "max_seconds", "Longest step.", "TIME"),
    Option("--top", "top", "Layouts to list; 10 if open.", "COUNT"),
    Option("--explain", "explain", "Print the parts of the best step, and all reasons."),
)
_HEAD = (
    "step",
    "80 % band",
    "MFU",
    "memory",
    "tp",
    "pp",
    "virtual",
    "cp",
    "ep",
    "dp",
    "ZeRO",
    "micro-batch",
    "recompute",
)


@command("plan", *_OPTIONS)
def plan_command(explain: bool, as_json: bool, **options: str | None) -> None:
    """Find the fastest layouts of a training run, out of all that exist and fit.
    Degrees that are given are kept, all others are searched.

    Times are those of flopbook predict for the same options, memory that of flopbook memory. With
    no layout that fits, the answer is the number of chips on which one does.

    Example: flopbook plan --model llama-3-70b --chip h100-sxm --chips 512 --batch-tokens 4Mi
    """
    from flopbook.planning.planner import DEFAULT_TOP, plan
    from flopbook.planning.question import question_of
    from flopbook.prediction.asking import count_option

    top = count_option(options, "top") or DEFAULT_TOP
    if top > MOST_LISTED:
        raise FlopbookError(f"--top is {top:,}, expected at most {MOST_LISTED:,}")
    question = question_of(options)
    found = plan(question, max(top, 2))
    if as_json:
        print_json({**found.record(), "layouts": found.record()["layouts"][:top]})
        return
    if found.layouts:
        print(columns([_row(layout) for layout in found.layouts[:top]], head=_HEAD))
        print("\n" + _why(found))
    else:
        print(_nothing_fits(found))
    print(_left_out(found, len(found.infeasible) if explain else MOST_REASONS))
    if explain and found.layouts:
        print("\n" + _parts(found))
    if "software stack" in question.run.inferred:
        print("note: inferred: software stack")


def _row(layout: PlannedLayout) -> tuple[str, ...]:
    interleaved = f"{layout.virtual}" if layout.schedule == "interleaved" else layout.schedule
    return (
        f"{layout.seconds:.4g} s",
        f"{layout.low:.3g} to {layout.high:.3g} s",
        f"{100 * layout.mfu:.1f} %",
        format_quantity(layout.bytes, "byte", digits=3),
        *(f"{degree}" for degree in (layout.tp, layout.pp)),
        interleaved if layout.pp > 1 else "",
        *(f"{degree}" for degree in (layout.cp, layout.ep, layout.dp, layout.zero)),
        f"{layout.micro_batch}",
        layout.recompute,
    )


def _why(found: RunPlan) -> str:
    """One sentence: what the best spends its time on, what the next loses, whether memory binds."""
    from flopbook.planning.explaining import loss_of_the_next, parts_of_layout

    best = found.layouts[0]
    part, seconds = next(iter(parts_of_layout(found.question, best).items()))
    said = f"best: {_named(part)} take {100 * seconds / best.seconds:.0f} % of its step"
    loss = loss_of_the_next(found)
    if loss:
        longer = 100 * loss.seconds / best.seconds
        said += f"; the next loses {longer:.1f} %, most of it in {_named(loss.part)}"
    if found.too_large:
        faster, held = found.too_large, format_quantity(found.too_large.bytes, "byte", digits=3)
        said += f"; memory binds: with {held} a step of {faster.seconds:.4g} s were possible"
    return said


def _named(part: str) -> str:
    return part.replace("_", " ")


def _nothing_fits(found: RunPlan) -> str:
    from flopbook.planning.explaining import smallest_count

    question = found.question
    room = format_quantity(question.room, "byte", digits=3)
    said = f"no layout on {counted(question.chips, 'chip')} fits into {room} each"
    count = smallest_count(question)
    return f"{said}; {count:,} chips are enough" if count else f"{said}, nor on more chips"


def _left_out(found: RunPlan, most: int) -> str:
    from flopbook.planning.explaining import reasons

    left = sum(found.infeasible.values())
    said = ", ".join(f"{reason} {count:,}" for reason, count in reasons(found.infeasible, most))
    return f"left out: {left:,} of {found.considered:,} layouts: {said}"


def _parts(found: RunPlan) -> str:
    from flopbook.planning.explaining import parts_of_layout

    best = found.layouts[0]
    rows = [
        (_named(part), f"{seconds:.3g} s", f"{100 * seconds / best.seconds:.1f} %")
        for part, seconds in parts_of_layout(found.question, best).items()
        if seconds > 0
    ]
    return "parts of the best step\n" + columns(rows, indent="  ")
