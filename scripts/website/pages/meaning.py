"""What the numbers of a chip mean: ridge points, tokens to be busy, the largest model that fits."""

from __future__ import annotations

from flopbook.data.accelerators import Entry
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import Chip
from flopbook.hardware.choice import choose
from flopbook.quantities.dtypes import DTYPE_BYTES
from flopbook.quantities.units import format_quantity
from scripts.website.markup import Html, Markdown, code_block, relative, table

# Bytes of a parameter and what is then stored with it.
FITS = {
    2: "bf16 weights alone, as for inference",
    10: "bf16 weights and two fp32 moments of Adam",
    16: "mixed-precision training: bf16 weights and gradients, fp32 master weights and two moments",
}


def meaning(entry: Entry, page: str) -> list[Html]:
    """The section, or nothing for entries that are not chips or lack the values."""
    if not entry.computes:
        return []
    tables = [*_ridge_points(entry, page), *_largest_models(entry)]
    if not tables:
        return []
    return [
        Markdown("\n## What it means\n"),
        *tables,
        Markdown("\nIn a terminal:\n"),
        code_block(f"flopbook min-batch --chip {entry.id}", "sh"),
    ]


def _ridge_points(entry: Entry, page: str) -> list[Html]:
    """Ridge point and minimum batch of every number format with a matrix peak."""
    chip = Chip(entry)
    rows = [row for dtype in DTYPE_BYTES if (row := _ridge_row(chip, dtype))]
    if not rows:
        return []
    # A head that begins with # is a column of numbers.
    head = ("Format", "#Peak", "#Ridge point, FLOP/byte", "#Tokens to be compute-bound")
    words = Markdown(
        "Below the ridge point the chip waits for its memory. The last column is the smallest "
        "batch for which a wide matrix product is limited by arithmetic ([minimum batch]({})).\n"
    ).format(relative(page, "calculators/min-batch.md"))
    return [words, table(head, rows, caption="Ridge points at dense rates", stacked=True)]


def _ridge_row(chip: Chip, dtype: str) -> tuple[str, ...] | None:
    """A number format's row; None where the chip has no peak in it, or no bandwidth."""
    if not choose(chip.claims("peak", dtype=dtype, engine="tensor")):
        return None
    try:
        result = calculate("min-batch", chip=chip.id, dtype=dtype)
    except FlopbookError:  # only a sparse peak, or no bandwidth
        return None
    picked = chip.pick_peak(dtype)
    return (
        dtype if picked.claim.sparsity == "dense" else f"{dtype}, not said to be dense",
        format_quantity(picked.value, picked.unit),
        f"{result['flop_per_byte']:,.0f}",
        f"{result['tokens']:,.0f}",
    )


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
