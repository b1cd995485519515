"""What a page says of itself to those who share it, and what stands where there is no page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

pytestmark = pytest.mark.site
PAGES = (
    "handbook/fsdp/",
    "calculators/memory/",
    "accelerators/nvidia/h100-sxm/",
    "references/roofline/",
    "check/",
)


def soup_of(site: Path, page: str) -> BeautifulSoup:
    path = site / page / "index.html" if not page.endswith(".html") else site / page
    return BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")


def head_of(site: Path, page: str) -> dict[str, str]:
    found = soup_of(site, page).select("meta[property], meta[name]")
    return {str(m.get("property") or m.get("name")): str(m.get("content", "")) for m in found}


@pytest.mark.parametrize("page", PAGES)
def test_a_shared_page_has_a_title_and_a_description(page: str, site: Path) -> None:
    head = head_of(site, page)
    assert head["og:title"] and head["og:site_name"] == "flopbook"
    assert head["og:description"] == head["description"]
    assert head["og:type"] == ("article" if page.startswith("handbook/") else "website")
    assert head["twitter:card"] == "summary"


@pytest.mark.parametrize("page", PAGES[:2])
def test_chapters_and_calculators_are_articles_for_machines(page: str, site: Path) -> None:
    script = soup_of(site, page).select_one('script[type="application/ld+json"]')
    assert script is not None
    record = json.loads(script.get_text())
    assert record["@type"] == "TechArticle" and record["headline"]
    assert record["description"] == head_of(site, page)["description"]


def test_where_there_is_no_page_the_reader_can_go_on(site: Path) -> None:
    soup = soup_of(site, "404.html")
    main = soup.select_one("article")
    assert main is not None and "no page at this address" in main.get_text()
    links = [str(link["href"]) for link in main.select("a[href]")]
    assert len(links) == 5
    assert all((site / link.lstrip("/") / "index.html").is_file() for link in links)
