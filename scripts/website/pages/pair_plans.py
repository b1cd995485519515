"""What plans say of two chips: how fast eight of each serve a model, and the planners with both."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.data.library import per_library
from flopbook.planning.serving import plan_serving
from flopbook.prediction import serving
from flopbook.prediction.known_runs import known_runs
from flopbook.prediction.machines import machine
from scripts.website.markup import Html, attribute, link
from scripts.website.pages import planner, planner_data, serving_data, serving_planner
from scripts.website.pages.planner_words import million_tokens, rounded
from scripts.website.pages.sources import html_link

_SERVES = (
    "Eight of each are predicted to generate {first_rate} tokens/s of Llama 3 70B in bf16 on "
    "{first} and {other_rate} on {other}, each in its best layout{cost}. Four of five "
    "measured runs lie within a factor of {band} of such a prediction."
)
_COSTS = "; at the lowest list prices a million tokens cost {first_usd} and {other_usd}"
_EIGHT = 8


def buttons(page: str, ids: tuple[str, str]) -> Iterator[Html]:
    """Both planners with both chips, where they can be asked for."""
    if not set(ids) <= set(planner_data.chips()):
        return
    questions = (("Serve on both", serving_planner), ("Train on both", planner))
    for words, asked in questions:
        address = Html("{}?chip={}&amp;other={}").format(
            html_link(page, asked.PAGE), *map(attribute, ids)
        )
        yield link(words, address, "fb-act")


def serving_of(ids: tuple[str, str], names: tuple[str, str]) -> Iterator[str]:
    """What eight of each write of a model that everyone knows, and at what cost."""
    if not set(ids) <= set(planner_data.chips()):
        return
    first_rate, other_rate = (_served_rate(name) for name in ids)
    if first_rate is None or other_rate is None:
        return
    first_price, other_price = (planner_data.price_record(name) for name in ids)
    cost = ""
    if first_price and other_price:
        cost = _COSTS.format(
            first_usd=million_tokens(first_price, _EIGHT, first_rate),
            other_usd=million_tokens(other_price, _EIGHT, other_rate),
        )
    first, second = names
    yield _SERVES.format(
        first=first,
        other=second,
        first_rate=rounded(first_rate, "1"),
        other_rate=rounded(other_rate, "1"),
        cost=cost,
        band=f"{max(serving_data.band(chip=name) for name in ids):.2g}",
    )


@per_library
def _served_rate(chip_id: str) -> float | None:
    """Tokens/s of the best plan of eight chips.

    None where none fits, and where no run on chips of the generation is on file to judge by.
    """
    if machine(chip_id).generation not in _served_generations():
        return None
    asked = serving_data.usual_question("llama-3-70b", chip_id, _EIGHT)
    layouts = plan_serving(asked, 1).layouts
    return layouts[0].tokens_per_s if layouts else None


@per_library
def _served_generations() -> frozenset[str]:
    """The generations of chips of which an inference run is on file."""
    return frozenset(run.generation for run in known_runs(serving.MODEL.kind)) - {"other"}
