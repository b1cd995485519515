"""A plan of serving as the terminal shows it."""

from __future__ import annotations

from collections.abc import Mapping

from flopbook.cli.layout import print_json
from flopbook.evaluation.answers import columns, counted
from flopbook.formulas.omissions import size_of
from flopbook.planning.serving import (
    LATE,
    SLOW,
    ServingLayout,
    ServingPlan,
    plan_serving,
)
from flopbook.planning.serving_flags import ENGINES
from flopbook.planning.serving_question import serving_question
from flopbook.prediction.asking_serving import published_format
from flopbook.prediction.options import word_option
from flopbook.quantities.formatting import format_quantity

HEAD = ("tokens/s", "80 % band", "each chip", "first token", "per token", "memory")
DEGREES = ("tp", "pp", "dp", "ep", "replicas", "sequences")
READERS = "prompts read by"
COST = "USD per million tokens"


def answer(options: Mapping[str, str | None], top: int, *, as_json: bool) -> None:
    """Print the plan that options ask for."""
    framework = word_option(options, "flags", tuple(ENGINES))
    serving_plan = plan_serving(serving_question(options), top)
    record = serving_plan.record()
    text = ""
    if framework and serving_plan.layouts:
        text = ENGINES[framework].options(serving_plan.question, serving_plan.layouts[0])
    if as_json:
        flag_record = {"flags": {"framework": framework, "text": text}} if text else {}
        print_json({**record, **flag_record})
        return
    print(_table(serving_plan) if serving_plan.layouts else _nothing(serving_plan))
    counts = ", ".join(f"{reason} {count:,}" for reason, count in serving_plan.infeasible.items())
    left = sum(serving_plan.infeasible.values())
    print(f"\nleft out: {left:,} of {serving_plan.considered:,}: {counts or 'nothing'}")
    narrow = published_format(options)
    if narrow:
        print(_narrower(serving_plan, narrow, options))
    if framework and text:
        print(f"each replica: {ENGINES[framework].command} {text}")


def _narrower(found: ServingPlan, narrow: str, options: Mapping[str, str | None]) -> str:
    """What weights as they are published would change, where 16 bits are counted."""
    words = f"note: the published checkpoint has its weights in {narrow}; with --dtype {narrow}"
    served = plan_serving(serving_question({**options, "dtype": narrow}), 1)
    if not served.layouts:
        return f"{words} nothing serves either"
    best = served.layouts[0].tokens_per_s
    pace = f"{words} the best writes {best:,.0f} tokens/s"
    return (
        f"{pace} ({size_of(best / found.layouts[0].tokens_per_s - 1)})" if found.layouts else pace
    )


def _table(found: ServingPlan) -> str:
    costs = (COST,) if found.question.price is not None else ()
    rows = [_row(found, layout) for layout in found.layouts]
    # Degrees that no listed layout uses are no columns.
    used = [any(_degrees(planned)[n] > 1 for planned in found.layouts) for n in range(len(DEGREES))]
    names = [name for name, is_used in zip(DEGREES, used, strict=True) if is_used]
    chosen = [
        (*row, *(f"{d:,}" for d, is_used in zip(_degrees(planned), used, strict=True) if is_used))
        for row, planned in zip(rows, found.layouts, strict=True)
    ]
    if not any(planned.prefill for planned in found.layouts):
        return columns(chosen, head=(*HEAD, *costs, *names))
    chosen = [(*row, _readers(planned)) for row, planned in zip(chosen, found.layouts, strict=True)]
    return columns(chosen, head=(*HEAD, *costs, *names, READERS))


def _degrees(layout: ServingLayout) -> tuple[int, ...]:
    return (*layout[:4], layout.replicas, layout.batch)


def _readers(layout: ServingLayout) -> str:
    """The replicas that read prompts, where they are others than those that write."""
    if layout.prefill is None:
        return "the same"
    sizes = [f"{n} {d}" for n, d in layout.prefill._asdict().items() if d > 1]
    return f"{layout.prefill_replicas:,} x {' '.join(sizes) or 'one chip'}"


def _row(found: ServingPlan, layout: ServingLayout) -> tuple[str, ...]:
    cost = found.question.token_cost(layout.tokens_per_s)
    return (
        f"{layout.tokens_per_s:,.0f}",
        f"{layout.low:,.0f} to {layout.high:,.0f}",
        f"{layout.tokens_per_s_per_chip:,.0f}",
        f"{1e3 * layout.first_token:.3g} ms",
        f"{1e3 * layout.per_token:.3g} ms",
        format_quantity(layout.bytes, "byte", digits=3),
        *(() if cost is None else (f"{1e6 * cost:.3g}",)),
    )


def _nothing(found: ServingPlan) -> str:
    """Why no replica serves: no room for the weights, or no pace within the limits."""
    question = found.question
    chips = counted(question.chips, "chip")
    if not set(found.infeasible) & {LATE, SLOW}:
        held = question.base.shape.parameters * question.base.weight_bytes
        count = -(-held // question.room)
        return (
            f"nothing on {chips} fits: weights of {format_quantity(held, 'byte', digits=3)} alone "
            f"need {count:,.0f} with {format_quantity(question.room, 'byte', digits=3)} each"
        )
    return f"nothing on {chips} keeps the limits of latency"
