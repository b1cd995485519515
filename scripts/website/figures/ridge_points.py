"""Ridge points of chips in dense bf16, which are minimum batches, and what sparse peaks give."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.drawing.scales import Scale
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from scripts.website.figures.drawing import Figure, Sheet, box, words
from scripts.website.figures.narrow import WIDTH as PHONE
from scripts.website.figures.plotted import FigureValue

_CHIPS = (
    "nvidia/a100-sxm-80gb",
    "nvidia/h100-sxm",
    "nvidia/h200-sxm",
    "nvidia/b200",
    "amd/mi300x",
    "google/tpu-v5e",
    "google/tpu-v5p",
    "google/tpu-v6e",
)
_LEFT, _ROW = 170, 28


def figure() -> Figure:
    """A bar for each chip; an outline where a data sheet prints a sparse peak too."""
    facts, shapes = _bars(Scale(0, 800, _LEFT, 610, log=False))
    _, narrow = _bars(Scale(0, 800, 120, PHONE - 14, log=False))
    height = 8 + len(_CHIPS) * _ROW + 40
    return Figure(
        f"Chips need {min(facts.values()):,.0f} to {max(facts.values()):,.0f} tokens to be busy",
        f"Bars of tokens: {'; '.join(f'{name} {tokens:,.0f}' for name, tokens in facts.items())}. "
        "Outlines show what a peak for 2:4 sparse matrices would give.",
        "Ridge points in dense bf16, which are minimum batches in tokens. The outline is what "
        "comes out if the sparse peak of the data sheet is divided by mistake.",
        height,
        tuple(shapes),
        narrow=Sheet(PHONE, height, tuple(narrow)),
        readings=tuple(_readings()),
    )


def _readings() -> Iterator[FigureValue]:
    """The tokens of every chip, with its dense and, if there is one, its sparse peak."""
    for name in _CHIPS:
        for sparsity in ("dense", "2:4"):
            tokens = _tokens(name, sparsity)
            if tokens is not None:
                yield FigureValue(chip(name).name, f"with its {sparsity} peak", tokens, "token")


def _bars(x: Scale) -> tuple[dict[str, float], list[str]]:
    """Tokens by the short name of each chip, and their bars on this scale."""
    shapes, facts = [], {}
    for number, name in enumerate(_CHIPS):
        top = 8 + number * _ROW
        dense = _tokens(name, "dense")
        sparse = _tokens(name, "2:4")
        assert dense is not None, name
        label = chip(name).name.partition(" (")[0]
        for maker in ("NVIDIA ", "AMD ", "Google Cloud "):
            label = label.removeprefix(maker)
        shapes.append(words(x.start - 8, top + 15, label, "end"))
        if sparse:
            tip = f"{label} with the sparse peak: {sparse:,.0f}"
            shapes.append(box(x.start, top, x.at(sparse) - x.start, 20, "fb-hollow", tip))
        shapes.append(
            box(x.start, top, x.at(dense) - x.start, 20, "fb-c0", f"{label}: {dense:,.0f}")
        )
        shapes.append(words(x.at(dense) - 6, top + 14, f"{dense:,.0f}", "end", "fb-on0"))
        facts[label] = dense
    bottom = 8 + len(_CHIPS) * _ROW
    shapes += [words(x.at(tick), bottom + 14, f"{tick:g}") for tick in range(0, 801, 200)]
    shapes.append(words((x.start + x.end) / 2, bottom + 32, "tokens"))
    return facts, shapes


def _tokens(name: str, sparsity: str) -> float | None:
    try:
        return float(calculate("min-batch", chip=name, sparsity=sparsity)["tokens"])
    except FlopbookError:  # it has no such peak
        return None
