"""Where the predicted time of a training step goes, for several layouts of one run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from flopbook.errors import UnknownName
from flopbook.prediction.asking import predict
from flopbook.quantities.units import format_quantity, percent, two_digits
from scripts.website.figures.drawing import WIDTH, Figure, box, words
from scripts.website.figures.plotted import FigureValue

# What a profile shows as one kind, and the parts of a prediction that belong to it. The first
# three keep the compute stream busy.
KINDS: Mapping[str, tuple[str, ...]] = {
    "products": ("products", "experts", "head"),
    "attention": ("attention",),
    "memory-bound": ("elementwise", "optimizer"),
    "messages": (
        "tensor_parallel",
        "context_parallel",
        "expert_parallel",
        "pipeline_sends",
        "gathers",
        "gradients",
    ),
    "waiting": ("bubble", "offload", "straggling", "launches"),
}
RUN = {
    "model": "llama-3-70b",
    "chip": "h100-sxm",
    "chips": "512",
    "seq": "8192",
    "batch_tokens": "4Mi",
    "stack": "megatron-core",
    "micro_batch": "1",
}
LAYOUTS: Mapping[str, Mapping[str, str]] = {
    "as planned": {"tp": "4", "pp": "8", "virtual": "10", "zero": "1", "recompute": "none"},
    "not interleaved": {"tp": "4", "pp": "8", "virtual": "1", "zero": "1", "recompute": "none"},
    "recomputed": {"tp": "4", "pp": "8", "virtual": "10", "zero": "1", "recompute": "full"},
    "TP 16, over two nodes": {"tp": "16", "pp": "2", "virtual": "1", "zero": "1"},
}
# The layouts that the chapter on configurations opens with.
CHOICE: Mapping[str, Mapping[str, str]] = {
    "TP 4, PP 8 in chunks": LAYOUTS["as planned"],
    "the same, no chunks": LAYOUTS["not interleaved"],
    "TP 8, PP 16": {"tp": "8", "pp": "16", "virtual": "1", "zero": "1", "recompute": "full"},
    "TP 8, FSDP": {"tp": "8", "pp": "1", "zero": "3", "recompute": "full"},
}
SMALL = {**RUN, "model": "llama-3-8b", "chips": "64", "zero": "3", "recompute": "none"} | {
    "stack": "nemo"
}
FORMATS: Mapping[str, Mapping[str, str]] = {
    "H100, bf16": {"chip": "h100-sxm", "dtype": "bf16"},
    "H100, fp8": {"chip": "h100-sxm", "dtype": "fp8"},
    "B200, bf16": {"chip": "nvidia/b200", "dtype": "bf16"},
    "B200, fp8": {"chip": "nvidia/b200", "dtype": "fp8"},
    "B200, fp4": {"chip": "nvidia/b200", "dtype": "fp4"},
}
# Blue is arithmetic, orange is bytes; where nothing runs a bar is hollow.
_FILLS = {"products": "c0", "attention": "c8", "messages": "c1", "memory-bound": "c6"}
_HOLLOW = "hollow"
_AGAIN = " again"
_LEFT, _RIGHT, _TOP, _ROW, _BAR = 150.0, 80.0, 40.0, 38.0, 24.0


class Budget(NamedTuple):
    """A layout's name, the seconds of its step, and the seconds of each kind.

    Full recomputation adds a fourth pass over the layers to the three of training.
    """

    name: str
    seconds: float
    kinds: Mapping[str, float]
    again: float = 0.0  # of the products, seconds of those that full recomputation repeats


def budgets(of: str = "layouts") -> list[Budget]:
    """The step of each layout, of those to choose from, or of each format, by kind.

    Recomputation is within products and attention. Raises UnknownName.
    """
    runs = {"layouts": (RUN, LAYOUTS), "choice": (RUN, CHOICE), "formats": (SMALL, FORMATS)}
    if of not in runs:
        raise UnknownName("budget", of, tuple(runs))
    run, kinds_of_run = runs[of]
    listed = []
    for name, options in kinds_of_run.items():
        step = predict({**run, **options})
        kinds = {
            kind: sum(step.parts.get(part, 0.0) for part in parts) for kind, parts in KINDS.items()
        }
        layers = step.parts.get("products", 0.0) + step.parts.get("experts", 0.0)
        again = layers / 4 if options.get("recompute") == "full" else 0.0
        listed.append(Budget(name, step.seconds, kinds, again))
    return listed


def figure(of: str = "layouts") -> Figure:
    """A bar for each layout or format, on one scale of seconds."""
    rows = budgets(of)
    scale = (WIDTH - _LEFT - _RIGHT) / max(row.seconds for row in rows)
    shapes = [*_legend()]
    for number, row in enumerate(rows):
        shapes += _bar(row, _TOP + number * _ROW, scale)
    facts = "; ".join(
        f"{row.name} {format_quantity(row.seconds, 's')}: "
        + ", ".join(f"{kind} {percent(time / row.seconds)}" for kind, time in row.kinds.items())
        for row in rows
    )
    title, caption = _SAID[of](rows)
    return Figure(
        title,
        f"Seconds of a step. {facts}.",
        caption,
        _TOP + len(rows) * _ROW + 4,
        tuple(shapes),
        readings=tuple(
            FigureValue(row.name, kind, seconds, "s")
            for row in rows
            for kind, seconds in row.kinds.items()
        ),
    )


def _of_layouts(rows: Sequence[Budget]) -> tuple[str, str]:
    planned = rows[0]
    share = planned.kinds["products"] / planned.seconds
    return (
        f"Matrix products are {percent(share)} of the planned step; the rest has four causes",
        "Llama 3 70B on 512 H100, 4 Mi tokens a step, sequences of 8,192, as predicted for "
        "Megatron Core. Each layout wastes its time in another way: without interleaving the "
        "stages wait, recomputation adds products, and TP over two nodes adds messages.",
    )


def _of_choice(rows: Sequence[Budget]) -> tuple[str, str]:
    best, worst = rows[0], rows[-1]
    more = {kind: worst.kinds[kind] - best.kinds[kind] for kind in KINDS}
    most = max(more, key=more.__getitem__)
    share = more[most] / (worst.seconds - best.seconds)
    return (
        f"All four fit, and the last takes {worst.seconds / best.seconds:.1f} times as long as the "
        f"first; {percent(share)} of the difference is in {most}",
        "The four layouts of the table above; products are the matmuls, and waiting has the bubble "
        "in it. Without chunks the stages wait. The third and the fourth recompute: the second "
        "piece of their products. The third does so although its memory is nearly empty, and its "
        "TP 8 sends more than twice as much. The fourth gathers all weights for every micro-batch.",
    )


def _of_formats(rows: Sequence[Budget]) -> tuple[str, str]:
    wide, narrow, *_ = rows
    third, _, last = rows[2:]
    return (
        f"fp8 is expected to make this step {wide.seconds / narrow.seconds:.2f} times as fast on "
        f"H100, fp4 {third.seconds / last.seconds:.2f} times on B200",
        "Llama 3 8B on 64 GPUs with FSDP, 4 Mi tokens a step, sequences of 8,192, as predicted for "
        "NeMo. The shares of the gain that recipes keep are fitted to published runs. Only "
        "products shrink, and not by the ratio of the peaks; attention and messages stay.",
    )


_SAID = {"layouts": _of_layouts, "choice": _of_choice, "formats": _of_formats}


def _legend() -> Iterator[str]:
    x = 8.0
    for kind in KINDS:
        yield box(x, 8, 12, 12, f"fb-{_FILLS.get(kind, _HOLLOW)}")
        yield words(x + 17, 18, kind, anchor="start", kind="fb-small")
        x += 34 + 6.6 * len(kind)


def _bar(row: Budget, top: float, scale: float) -> Iterator[str]:
    """The name of a layout, its parts from left to right, and the seconds of its step."""
    yield words(_LEFT - 8, top + _BAR - 7, row.name, anchor="end")
    x = _LEFT
    for kind, seconds in _pieces(row):
        width, share = seconds * scale, percent(seconds / row.seconds)
        tip = f"{row.name}, {kind}: {format_quantity(seconds, 's')}, {share}"
        fill = _FILLS.get(kind.removesuffix(_AGAIN), _HOLLOW)
        yield box(x, top, width, _BAR, f"fb-{fill}", tip)
        if width > 29:
            place = x + width / 2, top + _BAR - 8
            ink = "" if fill == _HOLLOW else f" fb-on{fill[1:]}"
            yield words(*place, share, kind=f"fb-small{ink}")
        x += width
    yield words(x + 6, top + _BAR - 7, two_digits(row.seconds, "s"), anchor="start")


def _pieces(row: Budget) -> Iterator[tuple[str, float]]:
    """The kinds of a step, with the products that are computed again beside those computed once."""
    for kind, seconds in row.kinds.items():
        if kind == "products" and row.again:
            yield kind, seconds - row.again
            yield kind + _AGAIN, row.again
        else:
            yield kind, seconds
