"""What a page says of itself to those who share it, and what stands where there is no page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

pytestmark = pytest.mark.site
PAGES = (
    "",
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
    title = soup_of(site, page).title
    assert title is not None and title.get_text() == f"{head['og:title']} - flopbook"
    assert head["og:site_name"] == "flopbook"
    assert head["og:description"] == head["description"]
    assert head["og:type"] == ("article" if page.startswith("handbook/") else "website")
    assert head["twitter:card"] == "summary_large_image"
    assert (site / page / head["og:image"]).resolve().read_bytes()[:4] == b"\x89PNG"


def test_pages_of_each_kind_have_a_picture_of_their_own(site: Path) -> None:
    """A chip, a chapter, a calculator and a comparison; all others that of the site."""
    own = ("accelerators/nvidia/h100-sxm/", "handbook/fsdp/", "calculators/memory/")
    for page in (*own, "compare/h100-sxm-vs-mi300x/"):
        name = page.strip("/").replace("/", "-")
        assert head_of(site, page)["og:image"].endswith(f"assets/cards/{name}.png")
    assert head_of(site, "references/roofline/")["og:image"].endswith("assets/cards/index.png")


def test_data_pages_are_data_sets_and_the_glossary_is_a_set_of_terms(site: Path) -> None:
    """Each term with its anchor on the page; the files of the data are there."""
    for page in ("data/", "models/", "reached/", "accelerators/nvidia/h100-sxm/"):
        record = _record(site, page)
        assert record["@type"] == "Dataset" and len(record["description"]) >= 50
        for file in record.get("distribution", ()):
            assert (site / page / file["contentUrl"]).resolve().is_file()
    terms = _record(site, "glossary/")["hasDefinedTerm"]
    anchors = {str(tag["id"]) for tag in soup_of(site, "glossary/").select("[id]")}
    assert len(terms) > 100 and all(term["@id"][1:] in anchors for term in terms)


def test_feeds_are_announced_where_they_belong(site: Path) -> None:
    for page in ("", "data/", "errata/"):
        links = soup_of(site, page).select('link[type="application/atom+xml"]')
        assert links and all(
            (site / page / str(link["href"])).resolve().is_file() for link in links
        )


def _record(site: Path, page: str) -> Any:
    script = soup_of(site, page).select_one('script[type="application/ld+json"]')
    assert script is not None, page
    return json.loads(script.get_text())


@pytest.mark.parametrize("page", PAGES[1:3])
def test_chapters_and_calculators_are_articles_for_machines(page: str, site: Path) -> None:
    script = soup_of(site, page).select_one('script[type="application/ld+json"]')
    assert script is not None
    record = json.loads(script.get_text())
    assert record["@type"] == "TechArticle"
    assert record["headline"] == head_of(site, page)["og:title"]
    assert record["description"] == head_of(site, page)["description"]


def test_where_there_is_no_page_the_reader_can_go_on(site: Path) -> None:
    soup = soup_of(site, "404.html")
    main = soup.select_one("article")
    assert main is not None and "no page at this address" in main.get_text()
    links = [str(link["href"]) for link in main.select("a[href]")]
    assert len(links) == 5
    assert all((site / link.lstrip("/") / "index.html").is_file() for link in links)
