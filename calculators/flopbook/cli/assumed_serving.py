"""What a prediction of serving assumed where no option says it. Apart from training: NumPy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from flopbook.formulas.omissions import size_of
from flopbook.prediction.asking_serving import one_prompt, predict_serving, published_format
from flopbook.prediction.bands import SOFTWARE
from flopbook.prediction.stacks import SERVING_STACKS
from flopbook.quantities.units import format_quantity

if TYPE_CHECKING:
    from flopbook.prediction.asking_serving import ServingPrediction


def serving_notes(
    prediction: ServingPrediction, options: Mapping[str, str | None]
) -> Iterator[str]:
    """Formats, software and prompts that somebody may have thought otherwise."""
    narrow = published_format(options)
    if narrow:
        served = predict_serving({**options, "dtype": narrow})
        fits = ", and it fits" if served.fits > prediction.fits else ""
        held = format_quantity(served.bytes, "byte", digits=3)
        size = size_of(served.throughput.value / prediction.throughput.value - 1)
        yield (
            f"the published checkpoint has its weights in {narrow}: with --dtype {narrow} a chip "
            f"holds {held}{fits}; throughput changes ({size})"
        )
    if prediction.reads_together:
        alone = one_prompt(options)
        seconds = format_quantity(alone.first_token.value, "s", digits=3)
        yield (
            f"first token: {prediction.batch:,.0f} prompts are read at once, and all wait for the "
            f"last; one alone takes {seconds} (--batch 1)"
        )
    if SOFTWARE in prediction.inferred:
        engines = ", ".join(SERVING_STACKS)
        yield f"assumed: an engine of today (--stack); {engines} are predicted alike"
    others = [name for name in prediction.inferred if name != SOFTWARE]
    if others:
        yield f"assumed: {', '.join(others)}"
