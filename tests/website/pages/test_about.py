"""The page on how the project is kept has figures that are counted and the last audit's rates."""

from __future__ import annotations

import html
import re
from pathlib import Path

from flopbook.checks.audit import audits, pooled, rate_in_words
from flopbook.data.library import load_entries, references
from scripts.website.pages import changes
from scripts.website.pages.about import PAGE, about_page


def test_the_figures_are_those_of_the_data() -> None:
    text = about_page()
    entries = load_entries().values()
    claims = sum(len(entry.claims) for entry in entries)
    assert f"{len(entries):,} entries with {claims:,} values" in text
    assert f"{len(references()):,} papers" in text


def test_the_audit_stands_there_with_its_interval() -> None:
    shown = html.unescape(about_page())
    assert rate_in_words(pooled(audit.score for audit in audits()).wrong) in shown


def test_the_page_leads_on() -> None:
    links = re.findall(r"\]\(([^)]+)\)", about_page())
    assert {"errata.md", "pitfalls.md", "data.md", "contributing/index.md"} <= set(links)
    assert PAGE == "about.md" and changes.PAGE in links


def test_the_changes_of_all_releases_are_a_page() -> None:
    text = changes.changes_page()
    log = (Path(__file__).resolve().parents[3] / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^#+ (.+)$", text, re.M)[0] == "Changes" and "# Changelog" not in text
    assert re.findall(r"^## (.+)$", text, re.M) == re.findall(r"^## (.+)$", log, re.M)
