"""Every page template in a real browser.

Whole, light, reachable for everyone, and readable without JavaScript.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import pytest

from flopbook.evaluation.answers import said
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import SECTIONS, formulas
from scripts.website.build.extras import extra_of
from scripts.website.build.handbook import chapters
from scripts.website.build.notebooks import sources
from scripts.website.build.weigh import TEMPLATES, loaded, weight


class _Facts(HTMLParser):
    """What every page must have: one h1, a title, a description; unique ids; names of pictures."""

    def __init__(self) -> None:
        super().__init__()
        self.heads, self.title, self.description = 0, "", ""
        self.ids: list[str] = []
        self.unnamed: list[str] = []
        self._in_title = self._svg = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._svg = self._svg or tag == "svg"
        self.heads += tag == "h1"
        self._in_title = tag == "title" and not self._svg
        if tag == "meta" and given.get("name") == "description":
            self.description = given.get("content") or ""
        if given.get("id"):
            self.ids.append(str(given["id"]))
        if tag == "img" and not given.get("alt"):
            self.unnamed.append(str(given.get("src")))

    def handle_endtag(self, tag: str) -> None:
        self._in_title = self._in_title and tag != "title"
        self._svg = self._svg and tag != "svg"

    def handle_data(self, data: str) -> None:
        self.title += data if self._in_title else ""


def facts(path: Path) -> _Facts:
    found = _Facts()
    found.feed(path.read_text(encoding="utf-8"))
    return found


def file_of(site: Path, page: str) -> Path:
    return site / page if page.endswith(".html") else site / page / "index.html"


def test_every_page_has_a_heading_a_title_and_a_description(site: Path) -> None:
    seen: dict[str, str] = {}
    for path in sorted(site.rglob("*.html")):
        name, found = path.relative_to(site).as_posix(), facts(path)
        assert found.heads == 1, name
        assert found.title.strip(), name
        assert found.description.strip(), name
        assert len(found.ids) == len(set(found.ids)), (
            name,
            [i for i in found.ids if found.ids.count(i) > 1][:3],
        )
        assert not found.unnamed, (name, found.unnamed)
        if name != "404.html":
            assert seen.setdefault(found.title, name) == name, (
                f"{name} and {seen[found.title]} have one title"
            )


def test_the_templates_are_there_and_no_calculator_is_forgotten(site: Path) -> None:
    """Each template exists, and so does the page of each calculator and notebook."""
    pages = [f"calculators/{name}/" for name in formulas()] + [
        f"notebooks/{path.stem}/" for path in sources()
    ]
    for page in [*TEMPLATES, *pages]:
        assert file_of(site, page).is_file(), page


def test_notebook_pages_say_whether_they_were_executed(site: Path) -> None:
    """All are but those whose extra is not installed, and these say so."""
    for path in sources():
        page = (site / "notebooks" / path.stem / "index.html").read_text(encoding="utf-8")
        executed = "a notebook that was executed when the site was built" in page
        assert executed != ("Not executed." in page), path.stem
        assert executed == ('class="fb-output"' in page), path.stem
        assert executed or extra_of(path), path.stem


def test_no_page_carries_what_the_notebook_plugin_writes(site: Path) -> None:
    for path in (site / "notebooks").glob("*/index.html"):
        text = path.read_text(encoding="utf-8")
        assert "clipboard-copy" not in text and "jp-" not in text and "base64" not in text, path
        assert text.count("<style") == 0
        source = f"{path.parent.name}.ipynb"
        assert f'href="{source}" download' in text and (path.parent / source).is_file()
        cells = nbformat.read(path.parent / source, as_version=4).cells
        if "Not executed." not in text:
            assert "all checks passed" in cells[-1].outputs[-1]["text"], (
                "what is downloaded has been executed"
            )
        assert not [
            o for cell in cells for o in cell.get("outputs", ()) if o.get("name") == "stderr"
        ], path


def test_practicals_and_chapters_lead_to_each_other(site: Path) -> None:
    """The page of practicals has every notebook with whether it was run, and its file.

    So do chapter and notebook, both ways.
    """
    page = (site / "notebooks/index.html").read_text(encoding="utf-8")
    for path in sources():
        name = path.stem
        assert f'href="{name}/"' in page and f'href="{name}/{name}.ipynb" download' in page, name
    assert len(re.findall(r"executed ·|not executed here", page)) == len(sources())
    for one in chapters():
        text = file_of(site, one.page.removesuffix(".md") + "/").read_text(encoding="utf-8")
        for name in one.practicals:
            assert f'href="../../notebooks/{name}/"' in text, (one.page, name)
            back = (site / "notebooks" / name / "index.html").read_text(encoding="utf-8")
            assert f'href="../../{one.page.removesuffix(".md")}/"' in back, (one.page, name)


def test_values_sources_formulas_and_bibtex_are_in_the_html(site: Path) -> None:
    """Without JavaScript nothing is missing but the forms."""
    chip = (site / "accelerators/nvidia/h100-sxm/index.html").read_text(encoding="utf-8")
    assert "989.4 TFLOP/s" in chip and 'role="tooltip"' in chip and "read 2026-" in chip
    assert (
        "@"
        in (site / "references/roofline/index.html")
        .read_text(encoding="utf-8")
        .partition("fb-bibtex")[2][:60]
    )
    for name, formula in formulas().items():
        text = (site / f"calculators/{name}/index.html").read_text(encoding="utf-8")
        assert text.count('display="block"') >= (len(formula.outputs) if formula.printed else 0), (
            name
        )
        assert 'class="fb-calculator"' in text, name
        options = {key.replace("-", "_"): value for key, value in formula.examples[0].items()}
        first = next(iter(calculate(name, **options).items()))
        shown = first[1] if formula.outputs[first[0]].table else [first[1]]
        assert all(said(one, formula.outputs[first[0]].unit) in text for one in shown), name


@pytest.mark.browser
def test_the_dark_scheme_is_dark(surf: Any, base: str) -> None:
    """The scan in both schemes would prove nothing if the page did not follow the system."""
    seen = [surf(_background, base, color_scheme=scheme) for scheme in ("light", "dark")]
    assert seen == ["rgb(252, 251, 248)", "rgb(18, 21, 26)"]


def _background(context: Any, base: str) -> str:
    tab = context.new_page()
    tab.goto(base)
    return tab.evaluate("getComputedStyle(document.body).backgroundColor")


@pytest.mark.browser
def test_the_weight_counts_what_a_page_loads(surf: Any, base: str, site: Path) -> None:
    """Style, scripts, data and late pictures are among the requests.

    The whole is more than the page alone.
    """
    asked = surf(loaded, base, "notebooks/bubble/")
    kinds = {url.rpartition(".")[2] for url in asked}
    assert {"css", "js", "svg"} <= kinds
    assert weight(site, base, asked) > weight(site, base, asked[:1]) > 0


def test_weighing_refuses_another_host(site: Path) -> None:
    with pytest.raises(ValueError, match="another host"):
        weight(site, "http://127.0.0.1:1/", ["http://127.0.0.2:1/x.js"])


def _plain(context: Any, base: str) -> tuple[str, str]:
    tab = context.new_page()
    tab.goto(base + "calculators/min-batch/")
    form = tab.inner_text(".fb-calculator")
    tab.goto(base + "accelerators/nvidia/h100-sxm/")
    tab.focus(".fb-rates .fb-value")
    return form, tab.evaluate(
        "getComputedStyle(document.activeElement.nextElementSibling).visibility"
    )


@pytest.mark.browser
def test_without_javascript_the_example_and_the_sources_are_shown(surf: Any, base: str) -> None:
    form, visibility = surf(_plain, base, java_script_enabled=False)
    assert "295.3 tokens" in form and "JavaScript is off" in form and visibility == "visible"


@pytest.mark.browser
def test_no_dead_field_is_shown_where_scripts_are_off(surf: Any, base: str) -> None:
    """The pages that plan and check give the command instead, with its answer."""

    def read(context: Any) -> dict[str, tuple[int, str]]:
        tab = context.new_page()
        shown = {}
        for page in ("planner/", "serve/", "check/"):
            tab.goto(base + page)
            fields = tab.locator("article :is(input, select, .fb-scenarios)")
            dead = sum(one.is_visible() for one in fields.all())
            shown[page] = (dead, tab.inner_text(":is(.fb-said, .fb-check-number)"))
        return shown

    for page, (dead, words) in surf(read, java_script_enabled=False).items():
        assert dead == 0 and "JavaScript is off" in words, page
        assert words.startswith("Example: flopbook"), page


def test_the_print_style_hides_what_paper_cannot_use(site: Path) -> None:
    style = (site / "assets/flopbook/flopbook.css").read_text(encoding="utf-8")
    assert re.search(r"@media print \{.*?\.fb-buttons.*?display: none", style, re.DOTALL)


def test_every_page_shows_its_tab_and_the_way_to_it(site: Path) -> None:
    """Five tabs on each page, one of them marked on all but the first and the missing page."""
    for path in sorted(site.rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        tabs = re.search(r'<ul class="fb-tabline">(.*?)</ul>', text, re.S)
        assert tabs and tabs[1].count("<li>") == 5, path
        name = path.relative_to(site).as_posix()
        expected = 0 if name in ("index.html", "404.html") else 1
        assert tabs[1].count('aria-current="true"') == expected, name
        is_deep = name.count("/") > 1 and not name.startswith("contributing/")
        assert ('class="fb-trail"' in text) >= is_deep, name


def test_the_way_to_a_calculator_names_its_group(site: Path) -> None:
    """Also to the first of a group; the link leads to the heading of the group."""
    listed = (site / "calculators/index.html").read_text(encoding="utf-8")
    for group, names in SECTIONS.items():
        for name in names:
            text = (site / f"calculators/{name}/index.html").read_text(encoding="utf-8")
            way = re.search(r'<nav class="?fb-trail.*?</nav>', text, re.S)
            steps = re.findall(r'href="?\.\./#([^">]*)"?>([^<]*)</a>', way[0]) if way else []
            assert [title for _, title in steps] == [group], name
            assert re.search(rf'<h2 id="?{steps[0][0]}\b', listed), name


def test_wide_pages_have_their_siblings_above_them(site: Path) -> None:
    """They leave the room of the column beside them to their tables."""
    for page, count in (("accelerators/", 6), ("compare/", 6), ("references/works/", 6)):
        text = (site / page / "index.html").read_text(encoding="utf-8")
        above = re.search(r'<nav class="?fb-above.*?</nav>', text, re.S)
        assert above and above[0].count("<li>") == count, page
        assert above[0].count("aria-current") == 1, page
    assert "fb-above" not in (site / "models" / "index.md").read_text(encoding="utf-8")
    assert "fb-above" not in (site / "index.html").read_text(encoding="utf-8")


def test_siblings_stand_beside_what_the_navigation_does_not_list(site: Path) -> None:
    for page in ("accelerators/nvidia/h100-sxm/", "accelerators/nvidia/", "references/roofline/"):
        text = (site / page / "index.html").read_text(encoding="utf-8")
        assert text.count('class="fb-siblings"') == 1, page
    chapter = (site / "handbook/fsdp/index.html").read_text(encoding="utf-8")
    assert 'class="fb-siblings"' not in chapter and "FSDP and ZeRO" in chapter
