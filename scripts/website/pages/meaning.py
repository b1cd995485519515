"""What the numbers of a chip mean: ridge points, tokens to be busy, the largest model that fits."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

from flopbook.data.accelerators import Entry
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import Chip
from flopbook.hardware.choice import choose
from flopbook.quantities.dtypes import WIDTHS
from flopbook.quantities.units import format_quantity
from scripts.website.markup import Html, Markdown, code_block, relative, table

# Bytes of a parameter and what is then stored with it.
FITS = {
    2: "16-bit weights alone, as for inference",
    10: "16-bit weights and two fp32 moments of Adam",
    16: (
        "mixed-precision training: 16-bit weights and gradients, fp32 master weights and two "
        "moments"
    ),
}
# In which format the calculators answer: the one that they take by themselves, else another.
_FORMATS = ("bf16", "fp16", "fp8", "int8", "mxfp8", "fp4", "nvfp4")
_DENSE_CAPTION = "Ridge points at dense rates"
_OPEN = "not said to be dense"
# Below it a whole number is off by more than a twentieth.
_WHOLE_FROM = 10


def meaning(entry: Entry, page: str) -> list[Html]:
    """The section, or nothing for entries that are not chips or lack the values."""
    if not entry.computes:
        return []
    chip = Chip(entry)
    rows = [row for dtype in WIDTHS if (row := _ridge_row(chip, dtype))]
    models = _largest_models(entry)
    if not rows and not models:
        return []
    return [
        Markdown("\n## What it means\n"),
        *(_ridge_points(rows, page) if rows else []),
        *models,
        Markdown("\nIn a terminal:\n"),
        code_block(_command(entry, is_bounded=bool(rows)), "sh"),
    ]


def computed_in(entry: Entry) -> str:
    """The format in which calculators answer for a chip, by its rule; empty where none does."""
    chip = Chip(entry)
    for dtype in _FORMATS:
        with contextlib.suppress(FlopbookError):  # no peak in it
            chip.pick_peak(dtype)
            return dtype
    return ""


def _command(entry: Entry, *, is_bounded: bool) -> str:
    """A command that answers for this chip: not every one has the peak that is asked for first."""
    dtype = computed_in(entry)
    if not dtype or not is_bounded:
        return f"flopbook max-params --chip {entry.id} --bytes-per-param 2"
    option = "" if dtype == "bf16" else f" --dtype {dtype}"
    return f"flopbook min-batch --chip {entry.id}{option}"


def _ridge_points(rows: Sequence[tuple[str, ...]], page: str) -> list[Html]:
    """Ridge point and minimum batch of every number format with a matrix peak."""
    # A head that begins with # is a column of numbers.
    head = ("Format", "#Peak", "#Ridge point, FLOP/byte", "#Tokens to be compute-bound")
    words = Markdown(
        "Below the ridge point the chip waits for its memory. The last column is the smallest "
        "batch for which a wide matrix product is limited by arithmetic ([minimum batch]({})).\n"
    ).format(relative(page, "calculators/min-batch.md"))
    caption = "Ridge points" if any(_OPEN in row[0] for row in rows) else _DENSE_CAPTION
    return [words, table(head, rows, caption=caption, stacked=True)]


def _ridge_row(chip: Chip, dtype: str) -> tuple[str, ...] | None:
    """A number format's row; None where the chip has no peak in it, or no bandwidth."""
    if not choose(chip.claims("peak", dtype=dtype, engine="tensor")):
        return None
    try:
        # The rule of int4 multiplies in bf16; the row is of the peak that it shows.
        result = calculate("min-batch", chip=chip.id, dtype=dtype, compute_dtype=dtype)
    except FlopbookError:  # only a sparse peak, or no bandwidth
        return None
    picked = chip.pick_peak(dtype)
    return (
        dtype if picked.claim.sparsity == "dense" else f"{dtype}, {_OPEN}",
        format_quantity(picked.value, picked.unit),
        ridge_words(result["flop_per_byte"]),
        ridge_words(result["tokens"]),
    )


def ridge_words(value: float) -> str:
    """A ridge point or a batch: whole, and below ten with the digit that a whole one would lose."""
    return f"{value:,.0f}" if value >= _WHOLE_FROM else f"{value:.2g}"


def _largest_models(entry: Entry) -> list[Html]:
    """The largest model that the memory holds, by bytes stored for each parameter."""
    try:
        rows = [
            (f"{size} bytes", words, format_quantity(_most_params(entry, size), "param"))
            for size, words in FITS.items()
        ]
    except FlopbookError:  # no memory is recorded
        return []
    head = ("Per parameter", "Which is", "#Largest model")
    return [Html("\n"), table(head, rows, caption="Largest model in its memory", stacked=True)]


def _most_params(entry: Entry, bytes_per_param: int) -> float:
    params: float = calculate("max-params", chip=entry.id, bytes_per_param=bytes_per_param)[
        "params"
    ]
    return params
