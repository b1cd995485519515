"""A plan of serving as the terminal shows it."""

from __future__ import annotations

from collections.abc import Mapping

from flopbook.cli.layout import print_json
from flopbook.evaluation.answers import columns, counted
from flopbook.planning.serving import (
    ServingLayout,
    ServingPlan,
    plan_serving,
    serving_question,
    vllm_flags,
)
from flopbook.prediction.asking import word_option
from flopbook.quantities.formatting import format_quantity

HEAD = ("tokens/s", "80 % band", "each chip", "first token", "per token", "memory")
DEGREES = ("tp", "replicas", "sequences")
COST = "USD per million tokens"


def answer(options: Mapping[str, str | None], top: int, *, as_json: bool) -> None:
    """Print the plan that options ask for."""
    framework = word_option(options, "flags", ("vllm",))
    found = plan_serving(serving_question(options), top)
    record = found.record()
    if as_json:
        flags = vllm_flags(found.question, found.layouts[0]) if found.layouts else ""
        more = {"flags": {"framework": framework, "text": flags}} if framework and flags else {}
        print_json({**record, **more})
        return
    print(_table(found) if found.layouts else _nothing(found))
    said = ", ".join(f"{reason} {count:,}" for reason, count in found.infeasible.items())
    left = sum(found.infeasible.values())
    print(f"\nleft out: {left:,} of {found.considered:,}: {said or 'nothing'}")
    if framework and found.layouts:
        print(f"each replica: vllm serve {vllm_flags(found.question, found.layouts[0])}")


def _table(found: ServingPlan) -> str:
    costs = (COST,) if found.question.price is not None else ()
    rows = [_row(found, layout) for layout in found.layouts]
    return columns(rows, head=(*HEAD, *costs, *DEGREES))


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
        *(f"{number:,}" for number in (layout.tp, layout.replicas, layout.batch)),
    )


def _nothing(found: ServingPlan) -> str:
    """Why no replica serves: no room for the weights, or no pace within the limits."""
    question = found.question
    chips = counted(question.chips, "chip")
    if set(found.infeasible) <= {"does not fit", "heads do not divide"}:
        held = question.base.shape.parameters * question.base.weight_bytes
        count = -(-held // question.room)
        return (
            f"nothing on {chips} fits: weights of {format_quantity(held, 'byte', digits=3)} alone "
            f"need {count:,.0f} with {format_quantity(question.room, 'byte', digits=3)} each"
        )
    return f"nothing on {chips} keeps the limits of latency"
