"""A plan as the terminal shows it: a table, why the best wins, what was left out."""

from __future__ import annotations

import math
from collections.abc import Sequence

from flopbook.cli.assumed import OPEN_SOFTWARE, network_note
from flopbook.evaluation.answers import columns, counted
from flopbook.planning.comparing import Choice, best_of_each, joint_front
from flopbook.planning.evidence import beyond_measured
from flopbook.planning.exclusions import TOO_SLOW
from flopbook.planning.explaining import (
    listed,
    loss_of_the_next,
    offload_that_fits,
    other_chunks,
    parts_of_layout,
    reasons,
    run_with,
    smallest_count,
)
from flopbook.planning.flags import FRAMEWORKS, flags_for
from flopbook.planning.planner import PlannedLayout, RunPlan, plan
from flopbook.planning.question import Question
from flopbook.planning.recomputing import recomputed_in_part
from flopbook.prediction.bands import SOFTWARE
from flopbook.prediction.networks import NETWORK
from flopbook.quantities.formatting import format_quantity
from flopbook.quantities.units import percent

MOST_REASONS = 4
DEGREES = ("tp", "pp", "virtual", "cp", "ep", "dp", "zero", "micro-batch", "recompute")
TIMES = ("step", "80 % band", "MFU", "memory")
COST = "USD per million tokens"


def answer(found: RunPlan, top: int, *, is_explained: bool) -> str:
    """The plan for one count of chips."""
    most = len(found.infeasible) if is_explained else MOST_REASONS
    if not found.layouts:
        return "\n".join((nothing_fits(found), left_out(found, most), *_assumed(found)))
    rows = (found.front or listed(found))[:top]
    lines = [table(found, rows), "", why(found), *_chunks(found), *_in_part(found)]
    lines.append(left_out(found, most))
    if is_explained:
        lines += ["", parts(found)]
    return "\n".join((*lines, *_assumed(found), *_beyond(found)))


def table(found: RunPlan, layouts: Sequence[PlannedLayout]) -> str:
    """A line for each layout."""
    costs = (COST,) if found.question.price is not None else ()
    rows = [(*_times(found, layout), *_degrees(layout)) for layout in layouts]
    return columns(rows, head=(*TIMES, *costs, *DEGREES))


def side_by_side(plans: Sequence[RunPlan]) -> str:
    """The best layout of each plan, and the plans in which none fits."""
    lines = [_choices(plans, best_of_each(plans))]
    empty = [" ".join(_asked(plans, run_plan)) for run_plan in plans if not run_plan.layouts]
    names = " and ".join(_differing(plans))
    return "\n".join([*lines, f"none fits with {names} {', '.join(empty)}"] if empty else lines)


def joint(plans: Sequence[RunPlan], top: int) -> str:
    """The layouts of any plan that no other beats in time, memory and cost."""
    return _choices(plans, joint_front(plans)[:top])


def _choices(plans: Sequence[RunPlan], choices: Sequence[Choice]) -> str:
    costs = (COST,) if plans[0].question.price is not None else ()
    rows = [
        (*_asked(plans, choice.plan), *_times(choice.plan, choice.layout), *_degrees(choice.layout))
        for choice in choices
    ]
    return columns(rows, head=(*_differing(plans), *TIMES, *costs, *DEGREES))


def _differing(plans: Sequence[RunPlan]) -> list[str]:
    """What some plans differ in: chips, dtype, offload; chips where they are all alike."""
    asked = [_words(run_plan) for run_plan in plans]
    return [name for name in asked[0] if len({each[name] for each in asked}) > 1] or ["chips"]


def _asked(plans: Sequence[RunPlan], found: RunPlan) -> list[str]:
    words = _words(found)
    return [words[name] for name in _differing(plans)]


def _words(found: RunPlan) -> dict[str, str]:
    question = found.question
    return {
        "chips": f"{question.chips:,}",
        "dtype": question.dtype,
        "offload": question.run.offload,
    }


def why(found: RunPlan) -> str:
    """One sentence: what the best spends its time on, what the next loses, whether memory binds."""
    best = found.layouts[0]
    part, seconds = next(iter(parts_of_layout(found.question, best).items()))
    sentence = f"best: {percent(seconds / best.seconds)} of its step is {_named(part)}"
    loss = loss_of_the_next(found)
    if loss:
        longer = 100 * loss.seconds / best.seconds
        sentence += f"; the next loses {longer:.1f} %, most of it in {_named(loss.part)}"
    if found.too_large:
        faster, held = found.too_large, format_quantity(found.too_large.bytes, "byte", digits=3)
        sentence += (
            f"; memory binds: with {held} a step of {faster.seconds:.4g} s would be possible"
        )
    return sentence


def _chunks(found: RunPlan) -> list[str]:
    """The other numbers of chunks with which the best division is nearly as fast."""
    near = other_chunks(found, found.layouts[0])
    if not near:
        return []
    *first, last = map(str, near)
    counts = f"{', '.join(first)} or {last}" if first else last
    most = "at most " if first else ""
    return [f"with virtual {counts} the best is {most}{percent(max(near.values()), 1)} longer"]


def _in_part(found: RunPlan) -> list[str]:
    """The layout that is faster than the best where a stage recomputes some of its layers."""
    part = recomputed_in_part(found)
    if part is None:
        return []
    one, best = part.layout, found.layouts[0]
    shorter = 100 * (1 - part.seconds / best.seconds)
    degrees = f"tp {one.tp} pp {one.pp} virtual {one.virtual} cp {one.cp} ep {one.ep}"
    return [
        f"some layers: {part.seconds:.4g} s, {shorter:.1f} % less, with {degrees} zero {one.zero} "
        f"micro-batch {one.micro_batch} --recompute full --recompute-layers {part.layers}"
    ]


def nothing_fits(found: RunPlan) -> str:
    """How many chips would be enough."""
    question = found.question
    chips = counted(question.chips, "chip")
    if TOO_SLOW in found.infeasible:
        longest = format_quantity(question.most_seconds, "s", digits=3)
        sentence = f"no layout on {chips} that fits takes at most {longest}{_fastest(question)}"
        count = smallest_count(question)
        return f"{sentence}; {count:,} chips are enough" if count else sentence
    room = format_quantity(question.room, "byte", digits=3)
    sentence = f"no layout on {chips} fits into {room} each"
    count = smallest_count(question)
    place = offload_that_fits(question)
    sentence += f"; one does with --offload {place}" if place else ""
    return f"{sentence}; {count:,} chips are enough" if count else f"{sentence}, nor on more chips"


def _fastest(question: Question) -> str:
    """What the fastest layout takes where no step is too long."""
    layouts = plan(question._replace(most_seconds=math.inf), 1).layouts
    return f": the fastest takes {layouts[0].seconds:.4g} s" if layouts else ""


def left_out(found: RunPlan, most: int) -> str:
    """How many layouts were left out, and for which reasons."""
    left = sum(found.infeasible.values())
    counts = ", ".join(f"{reason} {count:,}" for reason, count in reasons(found.infeasible, most))
    return f"left out: {left:,} of {found.considered:,} layouts: {counts}"


def parts(found: RunPlan) -> str:
    """The parts of the best step, the longest first."""
    best = found.layouts[0]
    rows = [
        (_named(part), f"{seconds:.3g} s", percent(seconds / best.seconds, 1))
        for part, seconds in parts_of_layout(found.question, best).items()
        if seconds > 0
    ]
    return "parts of the best step\n" + columns(rows, indent="  ")


def in_words_of(framework: str, found: RunPlan) -> str:
    """The best layout as a framework takes it, with what it cannot do."""
    framework_entry = FRAMEWORKS[framework]
    flags = flags_for(framework, found.question, found.layouts[0])
    lines = [f"{framework_entry.repository} at {framework_entry.commit[:10]}", f"  {flags.text}"]
    lines += [f"note: not a flag of {framework}: {lack}" for lack in flags.lacks]
    return "\n".join(lines)


def _times(found: RunPlan, layout: PlannedLayout) -> tuple[str, ...]:
    cost = found.question.token_cost(layout.seconds)
    return (
        f"{layout.seconds:.4g} s",
        f"{layout.low:.3g} to {layout.high:.3g} s",
        percent(layout.mfu, 1),
        format_quantity(layout.bytes, "byte", digits=3),
        *(() if cost is None else (f"{1e6 * cost:.3g}",)),
    )


def _degrees(layout: PlannedLayout) -> tuple[str, ...]:
    is_plain = layout.schedule in ("1f1b", "interleaved")
    chunks = f"{layout.virtual}" if is_plain else layout.schedule
    groups = f" in {layout.hsdp}" if layout.hsdp > 1 else ""
    return (
        f"{layout.tp}",
        f"{layout.pp}",
        chunks,
        *(f"{degree}" for degree in (layout.cp, layout.ep, layout.dp)),
        f"{layout.zero}{groups}",
        f"{layout.micro_batch}",
        layout.recompute,
    )


def _named(part: str) -> str:
    return part.replace("_", " ")


def _assumed(found: RunPlan) -> list[str]:
    """What nobody asked for: the size of a step, the network, the software."""
    question = found.question
    sizes = [name for name in question.inferred if name != SOFTWARE]
    notes = [f"note: assumed: {', '.join(sizes)}"] if sizes else []
    if found.layouts and NETWORK in question.run.inferred:
        notes.append(f"note: {network_note(run_with(question, found.layouts[0]))}")
    if SOFTWARE in question.inferred:
        notes.append(f"note: {OPEN_SOFTWARE}; flopbook predict says what a stack changes")
    return notes


def _beyond(found: RunPlan) -> list[str]:
    """Where the best layout lies outside what was measured."""
    beyond = beyond_measured(found.question, found.layouts[0])
    excesses = [
        f"{excess.what} {excess.size:,.0f} (on file: {excess.on_file:,.0f})" for excess in beyond
    ]
    return [f"note: beyond any run on file: {', '.join(excesses)}"] if excesses else []
