"""What the numbers of a chip mean: ridge points, tokens to be busy, the largest model that fits."""

from __future__ import annotations

from flopbook.data.accelerators import Entry
from flopbook.drawing.markup import escape, relative, table
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import DTYPE_BYTES, calculate
from flopbook.hardware.chip import Chip
from flopbook.hardware.choice import choose
from flopbook.quantities.units import format_quantity

# Bytes of a parameter and what is then stored with it.
FITS = {
    2: "bf16 weights alone, as for inference",
    10: "bf16 weights and two fp32 moments of Adam",
    16: "mixed-precision training: bf16 weights and gradients, fp32 master weights and two moments",
}


def meaning(entry: Entry, page: str) -> list[str]:
    """The section, or nothing for entries that are not chips or lack the values."""
    if not entry.computes:
        return []
    lines = [*_busy(entry, page), *_fits(entry)]
    if not lines:
        return []
    command = f"```sh\nflopbook min-batch --chip {entry.id}\n```"
    return ["\n## What it means\n", *lines, "\nIn a terminal:\n", command]


def _busy(entry: Entry, page: str) -> list[str]:
    """Ridge point and minimum batch of every number format with a matrix peak."""
    chip = Chip(entry)
    rows = []
    for dtype in DTYPE_BYTES:
        if not choose(chip.claims("peak", dtype=dtype, engine="tensor")):
            continue
        try:
            result = calculate("min-batch", chip=entry.id, dtype=dtype)
        except FlopbookError:  # only a sparse peak, or no bandwidth
            continue
        picked = chip.pick_peak(dtype)
        rows.append(
            (
                escape(dtype),
                escape(picked.claim.sparsity),
                escape(format_quantity(picked.value, picked.unit)),
                escape(f"{result['flop_per_byte']:,.0f}"),
                escape(f"{result['tokens']:,.0f}"),
            )
        )
    if not rows:
        return []
    head = ("Format", "Sparsity", "#Peak", "#Ridge point, FLOP/byte", "#Tokens to be compute-bound")
    words = (
        f"Below the ridge point the chip waits for its memory. The last column is the smallest batch for which a wide "
        f"matrix product is limited by arithmetic ([minimum batch]({relative(page, 'calculators/min-batch.md')})).\n"
    )
    return [words, table(head, rows, caption="Ridge points")]


def _fits(entry: Entry) -> list[str]:
    """The largest model that the memory holds, by bytes stored for each parameter."""
    try:
        fits = {
            size: calculate("max-params", chip=entry.id, bytes_per_param=size)["params"]
            for size in FITS
        }
    except FlopbookError:  # no memory is recorded
        return []
    rows = [
        (escape(f"{size} bytes"), escape(words), escape(format_quantity(fits[size], "param")))
        for size, words in FITS.items()
    ]
    return [
        "\n",
        table(
            ("Per parameter", "Which is", "#Largest model"),
            rows,
            caption="Largest model in its memory",
        ),
    ]
