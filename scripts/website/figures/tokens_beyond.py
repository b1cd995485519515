"""The smallest batch per chip of FSDP, inside the fast network and over several of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity, percent
from scripts.website.figures.drawing import WIDTH, Figure, box, key, path, words
from scripts.website.figures.plotted import FigureValue

CHIPS = ("tpu-v5p", "a100-sxm-80gb", "h100-sxm", "mi300x", "b200", "gb200-gpu")
NAMED = ("h100-sxm", "b200")  # the two that the title compares
SEQUENCE = 8192.0  # tokens of the sequence that each chip has in the run of the handbook
_LEFT, _RIGHT, _TOP, _ROW, _BAR = 204.0, 88.0, 44.0, 46.0, 15.0


class ChipLimits(NamedTuple):
    """Tokens that hide the gathers of a chip: in its domain, and beyond it if there is a beyond."""

    name: str
    inside: float
    beyond: float | None


def limits_of(name: str) -> ChipLimits:
    """Both limits of a chip in bf16; a pod of TPUs has no beyond that a job of this size meets."""
    found = calculate("fsdp-limit", chip=name)
    device = chip(name)
    has_torus = name.startswith("tpu")
    beyond = None if has_torus else float(found["across_tokens"])
    return ChipLimits(device.name, float(found["domain_tokens"]), beyond)


def grown(name: str) -> float:
    """How many times as many tokens a chip needs beyond its domain."""
    limits = limits_of(name)
    return (limits.beyond or limits.inside) / limits.inside


def figure() -> Figure:
    """Two bars for a chip, and a line at one sequence."""
    rows = [limits_of(name) for name in CHIPS]
    longest = max(SEQUENCE, *(row.beyond or row.inside for row in rows))
    scale = (WIDTH - _LEFT - _RIGHT) / longest
    bottom = _TOP + _ROW * len(rows)
    limit = _LEFT + SEQUENCE * scale
    shapes = [
        *key(_LEFT, 4, "inside the fast network", "fb-c0"),
        *key(_LEFT + 180, 4, "over several of them", "fb-c1"),
        path([(limit, _TOP - 8), (limit, bottom - 6)], "fb-dashed"),
        words(limit, _TOP - 12, f"one sequence, {SEQUENCE:,.0f}", kind="fb-small"),
    ]
    facts = []
    for number, row in enumerate(rows):
        shapes += _bars(row, _TOP + _ROW * number, scale)
        text = f"{row.name}: {format_quantity(row.inside, 'token')} inside"
        beyond = row.beyond
        facts.append(f"{text}, {format_quantity(beyond, 'token')} beyond" if beyond else text)
    few, many = (grown(name) for name in NAMED)
    return Figure(
        f"Past its node an H100 needs {percent(few - 1)} more tokens to hide the gathers, a "
        f"B200 {many:.3g} times as many",
        f"{'; '.join(facts)}. The line is one sequence of {SEQUENCE:,.0f} tokens.",
        "Smallest batch per chip for FSDP in bf16, from printed peaks and links, with the "
        "network cards that the usual server has. All cards of a node work on one gather, so "
        "leaving it costs little as long as cards grow with the chips; B200 more than doubled "
        "the arithmetic behind the cards of H100.",
        bottom + 4,
        tuple(shapes),
        readings=tuple(
            FigureValue(row.name, place, tokens, "token")
            for row in rows
            for place, tokens in (("inside", row.inside), ("beyond", row.beyond))
            if tokens is not None
        ),
    )


def _bars(row: ChipLimits, top: float, scale: float) -> Iterator[str]:
    yield words(_LEFT - 10, top + 15, row.name, "end")
    for number, (tokens, kind) in enumerate(((row.inside, "fb-c0"), (row.beyond, "fb-c1"))):
        if tokens is None:
            continue
        y, text = top + number * (_BAR + 2), format_quantity(tokens, "token")
        yield box(_LEFT, y, tokens * scale, _BAR, kind, f"{row.name}: {text}")
        yield words(_LEFT + tokens * scale + 6, y + 12, text, "start", "fb-small")
