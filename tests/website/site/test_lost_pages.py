"""An address without a page leads on to the nearest ones, whatever somebody wrote into it."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

pytestmark = pytest.mark.browser
_LINKS = "() => [...document.querySelectorAll('.fb-lost a')].map((link) => link.href)"
# What was asked for, and a page that has to be among those that are offered.
LOST = (
    ("accelerators/nvidia/h100/", "accelerators/nvidia/h100-sxm/"),
    ("chips/amd/mi300x", "accelerators/amd/mi300x/"),
    ("handbook/roofline.html", "handbook/roofline/"),
    ("handbok/rooflines/", "handbook/roofline/"),
    ("calculators/min_batch", "calculators/min-batch/"),
    ("calculators/kv_cache/index.html", "calculators/kv-cache/"),
    ("chapters/fsdp/", "handbook/fsdp/"),
    ("papers/flash-attention/", "references/attention-kernels/#dao2022flashattention"),
    ("handbook/roofline/x", "handbook/roofline/"),
    ("glosary/", "glossary/"),
    ("roofline", "handbook/roofline/"),
)
HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "javascript:alert(1)",
    "//example.com/h100",
    "__proto__/constructor",
    "%E0%A4%A",
    "x" * 3000,
    "{{7*7}}/h100'\"><script>alert(1)</script>",
)


def offered(surf: Any, base: str, addresses: list[str]) -> list[list[str]]:
    def ask(context: Any) -> list[list[str]]:
        found = []
        for address in addresses:
            tab = context.new_page()
            tab.goto(base + address)
            tab.wait_for_load_state("networkidle")
            found.append(tab.evaluate(_LINKS))
            tab.close()
        return found

    links: list[list[str]] = surf(ask)
    return links


def test_the_nearest_pages_are_offered(surf: Any, base: str) -> None:
    found = offered(surf, base, [address for address, _ in LOST])
    misses = [
        (address, links)
        for (address, wanted), links in zip(LOST, found, strict=True)
        if not any(link.removeprefix(base).startswith(wanted) for link in links)
    ]
    assert misses == []
    assert all(len(links) <= 5 for links in found)


def test_a_hostile_address_is_only_a_question(surf: Any, base: str) -> None:
    """Nothing of it becomes an element or a link; every link leads to a page of the site."""
    addresses = [quote(text, safe="%/") for text in HOSTILE]
    for links in offered(surf, base, [f"gone/{address}" for address in addresses]):
        assert all(link.startswith(base) for link in links)


def test_the_page_itself_and_one_without_scripts_offer_nothing(surf: Any, base: str) -> None:
    assert offered(surf, base, ["404.html"]) == [[]]

    def plain(context: Any) -> tuple[int, int]:
        tab = context.new_page()
        tab.goto(f"{base}accelerators/nvidia/h100/")
        return tab.locator(".fb-lost *").count(), tab.locator("article li a").count()

    assert surf(plain, java_script_enabled=False) == (0, 5)


def test_the_list_stands_above_the_ways_on(surf: Any, base: str) -> None:
    def order(context: Any) -> bool:
        tab = context.new_page()
        tab.goto(base + LOST[0][0])
        tab.wait_for_selector(".fb-lost a")
        before: bool = tab.evaluate(
            "() => Boolean(document.querySelector('.fb-lost a').compareDocumentPosition("
            "document.querySelector('.fb-lost ~ ul a')) & 4)"
        )
        return before

    assert surf(order)
