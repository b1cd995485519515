"""What a newcomer comes for, by clicks on what a page shows: at most four from home, and right."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.quantities.units import format_quantity

pytestmark = pytest.mark.browser
MOST_CLICKS = 4
_PLANNED = ".fb-planner:not([aria-busy]) .fb-verdict"
_SHOWN = "a:visible, button:visible"


class Errand(NamedTuple):
    """What is clicked from home on, the place of the answer, and whether a text gives it."""

    clicks: tuple[str, ...]
    place: str
    is_right: Callable[[str], bool]


def _says(name: str, output: str, **options: str) -> str:
    """An output as a form writes it."""
    result = calculate(name, **options)
    return format_quantity(result[output], result.formula.outputs[output].unit)


def _fsdp(text: str) -> bool:
    """Within a node and across nodes, both in one answer."""
    inside, across = (
        _says("fsdp-limit", output, chip="h100-sxm", chips="8")
        for output in ("domain_tokens", "across_tokens")
    )
    return inside != across and inside in text and across in text


def _memory(text: str) -> bool:
    total = _says(
        "memory",
        "total",
        model="llama-3-70b",
        chip="h100-sxm",
        chips="64",
        zero="3",
        seq="8192",
        recompute="full",
    )
    return text.startswith(total) and "Fits: " in text and "80 GB of memory" in text


def _served(text: str) -> bool:
    """Both chips with tokens per second and cost: about as many tokens, and MI300X cheaper."""
    rates = [float(rate.replace(",", "")) for rate in re.findall(r"Fits: ([\d,]+) tokens/s", text)]
    costs = [float(cost) for cost in re.findall(r"([\d.]+) USD a million tokens", text)]
    both = "H100" in text.partition("MI300X")[0] and "MI300X" in text
    return both and len(rates) == len(costs) == 2 and costs[0] > costs[1]


def _trained(text: str) -> bool:
    return len(re.findall(r"Fits: .+? a step", text)) == len(re.findall("million USD", text)) == 2


def _all_reduce(text: str) -> bool:
    seconds = _says(
        "collective", "seconds", op="all-reduce", chips="64", bytes="1GB", chip="h100-sxm"
    )
    return text.startswith(seconds)


def _one_way(text: str) -> bool:
    return "900 GB/s" in text and "one way" in text and "1.8 TB/s, both ways added" in text


ERRANDS = {
    "smallest FSDP batch on H100, within a node and across": Errand(
        ("Calculate", "How small may a batch be with FSDP on H100?"), ".fb-answer", _fsdp
    ),
    "H100 or MI300X for serving a 70B": Errand(
        ("H100 and MI300X", "Serve on both"), ".fb-said", _served
    ),
    "memory of training a 70B on 64 H100": Errand(
        ("Calculate", "How much memory does training a 70B on 64 H100 take?"),
        ".fb-answer",
        _memory,
    ),
    "cheaper chip to train an 8B": Errand(
        ("Calculate", "Will a model train on these chips", "8B: 64 H100 against 64 MI300X"),
        ".fb-said",
        _trained,
    ),
    "DeepSeek-V3 on 8 H200": Errand(
        ("Calculate", "Will these chips serve a model", "DeepSeek-V3 on 8 H200"),
        ".fb-said",
        lambda text: text.startswith("Fits: "),
    ),
    "one-way bandwidth of the NVLink of a B200": Errand(
        ("Chips", "NVIDIA B200 SXM (HGX)"), ".fb-figures", _one_way
    ),
    "all-reduce of 1 GB over 64 GPUs": Errand(
        ("Calculate", "How long is an all-reduce of 1 GB over 64 H100?"),
        ".fb-answer",
        _all_reduce,
    ),
}


class Newcomer:
    """Somebody who knows no address: goes home, and clicks what can be seen there."""

    def __init__(self, context: Any, base: str) -> None:
        context.set_default_timeout(60_000)
        self.tab = context.new_page()
        self.tab.goto(base)
        self.clicks = 0

    def click(self, words: str) -> None:
        """Click the first link or button that shows these words."""
        self.clicks += 1
        self.tab.locator(_SHOWN).filter(has_text=words).first.click()
        self.tab.wait_for_load_state("networkidle")

    def read(self, place: str) -> str:
        """The text of the answer, when it is there."""
        self.tab.wait_for_selector(_PLANNED if place == ".fb-said" else f"{place} > *")
        text: str = self.tab.inner_text(place)
        return " ".join(text.split())


@pytest.mark.parametrize("errand", ERRANDS)
def test_a_newcomer_gets_the_answer_by_clicks(surf: Any, base: str, errand: str) -> None:
    job = ERRANDS[errand]

    def do(context: Any) -> tuple[int, str]:
        newcomer = Newcomer(context, base)
        for words in job.clicks:
            newcomer.click(words)
        return newcomer.clicks, newcomer.read(job.place)

    clicks, text = surf(do)
    assert clicks <= MOST_CLICKS
    assert job.is_right(text), text


def test_a_number_of_a_chip_leads_to_the_publication_that_has_it(surf: Any, base: str) -> None:
    """Chips, the chip, the source of the figure, the publication; there its address is outside."""

    def follow(context: Any) -> tuple[int, str, list[str]]:
        newcomer = Newcomer(context, base)
        newcomer.click("Chips")
        newcomer.click("NVIDIA H100 SXM5 80GB")
        newcomer.click("source of Memory bandwidth")
        newcomer.tab.locator("tr:target a, tr:has(:target) a").last.click()
        newcomer.tab.wait_for_load_state("networkidle")
        links = newcomer.tab.eval_on_selector_all(
            "article a[href^='http']", "links => links.map(link => link.href)"
        )
        return newcomer.clicks + 1, newcomer.tab.url, links

    clicks, url, links = surf(follow)
    assert clicks <= MOST_CLICKS
    assert "/references/" in url and urlsplit(url).fragment
    assert any("nvidia.com" in link for link in links)
