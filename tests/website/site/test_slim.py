"""What is taken out of the built site: unused rules, white space, comments, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import material
import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from scripts.website.build.sheets import join_sheets, joined_text
from scripts.website.build.slim import slim, slim_page, slim_script, slim_style, used_words
from scripts.website.build.weigh import visit

WORDS = {"used", "used--more", "also", "--read", "data-md-color-scheme=slate"}


@pytest.mark.parametrize(
    ("css", "left"),
    [
        (".used{a:b}", ".used{a:b}"),
        (".gone{a:b}", ""),
        (".gone,.used{a:b}", ".used{a:b}"),
        (".used .gone{a:b}p{c:d}", "p{c:d}"),
        (".used:not(.gone){a:b}", ".used:not(.gone){a:b}"),
        (":is(.gone,.used) .also{a:b}", ":is(.gone,.used) .also{a:b}"),
        ("[data-md-color-scheme=slate] a{b:c}", "[data-md-color-scheme=slate] a{b:c}"),
        ("[data-md-color-scheme=lime]{a:b}", ""),
        ("@media print{.gone{a:b}}", ""),
        ("@media print{.gone{a:b}.used{c:d}}", "@media print{.used{c:d}}"),
        ("@keyframes x{0%{a:b}to{a:c}}", "@keyframes x{0%{a:b}to{a:c}}"),
        (":root{--read:1;--gone:2}", ":root{--read:1;}"),
        (".used--more:not(p)~q{a:b}", ".used--more:not(p)~q{a:b}"),
        (":root{--gone:url('data:image/svg+xml;x{y}')}.used{a:b}", ".used{a:b}"),
        (
            '@charset "UTF-8";.used:before{content:"}"}',
            '@charset "UTF-8";.used:before{content:"}"}',
        ),
        (".used{a:b}/* .x{ */", ".used{a:b}"),
    ],
)
def test_a_rule_stays_when_something_may_match_it(css: str, left: str) -> None:
    assert slim_style(css, WORDS) == left


@given(
    st.lists(
        st.sampled_from([".used{a:b}", ".gone{a:b}", "@media print{.also{c:d}}", "p>.used,q{e:f}"]),
        max_size=6,
    )
)
def test_rules_keep_their_order_and_a_second_time_changes_nothing(rules: list[str]) -> None:
    made = slim_style("".join(rules), WORDS)
    assert made == "".join(rule for rule in rules if "gone" not in rule)
    assert slim_style(made, WORDS) == made


def test_a_style_with_an_open_brace_is_refused() -> None:
    with pytest.raises(ValueError, match="left open"):
        slim_style(".used{a:b", WORDS)


def test_classes_of_pages_words_of_scripts_and_properties_of_styles_are_used() -> None:
    pages = ['<p class="a b" data-md-color-scheme="slate">', "p { color: var(--c) }"]
    assert {"a", "b", "--c", "d-e", "data-md-color-scheme=slate"} <= used_words(
        pages, ['x.classList.add("d-e")']
    )


def test_a_page_keeps_its_text_and_the_lines_of_its_code() -> None:
    page = (
        "<p>\n    one\n\n   two </p>\n  <pre>  a\n\n    b</pre>\n\n<script>  let x;\n  y</script>\n"
    )
    made = slim_page(page)
    assert made == "<p>\none\ntwo </p>\n<pre>  a\n\n    b</pre>\n<script>  let x;\n  y</script>\n"
    assert (
        BeautifulSoup(made, "html.parser").get_text().split()
        == BeautifulSoup(page, "html.parser").get_text().split()
    )


def test_no_page_asks_for_the_script_of_the_theme_and_all_for_one_style(site: Path) -> None:
    """Ours does its work at a tenth of the weight; the other generator keeps its own."""
    assert not list((site / "assets" / "javascripts").glob("bundle.*"))
    (style,) = (site / "assets" / "stylesheets").glob("site.*.css")
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert "/bundle." not in text, path
        assert text.count(f'assets/stylesheets/{style.name}"') == 1, path
        assert not re.search(r'href="[^"]*(?:/main\.\w+\.min|/look)\.css"', text), path


def test_sheets_are_joined_in_their_order_and_a_page_without_them_stops_the_build(
    tmp_path: Path,
) -> None:
    names = ("stylesheets/main.a1.min", "stylesheets/palette.b2.min", "flopbook/look")
    links = []
    for name in (*names, "flopbook/flopbook"):
        path = tmp_path / "assets" / f"{name}.css"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"/* {name} */", encoding="utf-8")
        links.append(f'<link rel="stylesheet" href="../assets/{name}.css">')
    page = tmp_path / "a" / "index.html"
    page.parent.mkdir()
    page.write_text("<head>{}</head>".format("\n".join(links)), encoding="utf-8")
    join_sheets(tmp_path)
    (joined,) = (tmp_path / "assets" / "stylesheets").glob("site.*.css")
    said = joined.read_text(encoding="utf-8")
    assert [said.index(name) for name in names] == sorted(said.index(name) for name in names)
    one = f'<link rel="stylesheet" href="../assets/stylesheets/{joined.name}">'
    assert page.read_text(encoding="utf-8") == f"<head>{one}</head>"
    page.write_text("<head>{}</head>".format("\n".join(links[::-1])), encoding="utf-8")
    with pytest.raises(ValueError, match="four sheets"):
        join_sheets(tmp_path)


def test_the_record_of_a_form_stays_the_same() -> None:
    page = '<div data-spec="{&quot;a&quot;: &quot;it&#39;s &amp;lt; b&quot;}"></div>'
    made = slim_page(page)
    read = lambda text: BeautifulSoup(text, "html.parser").div["data-spec"]  # noqa: E731
    assert read(made) == read(page) and len(made) < len(page)


def test_marks_of_markdown_are_themselves_again_and_marks_of_html_are_not() -> None:
    """Escaped for Markdown, they weigh five bytes each; in a script an entity is no entity."""
    script = '<script>"&#95;"</script>'
    page = f'<p title="a&#95;b &#34;">&#123;&#42;&#125; &#60;b&#62; &#38;amp;</p>{script}'
    made = slim_page(page)
    assert made == f'<p title="a_b &#34;">{{*}} &#60;b&#62; &#38;amp;</p>{script}'
    read = lambda text: BeautifulSoup(text, "html.parser").p  # noqa: E731
    assert read(made).text == read(page).text and read(made)["title"] == read(page)["title"]


def test_a_bracket_loses_what_a_browser_knows_of_it() -> None:
    """Also of a bar, which stretches over its letter only when told."""
    opening = '<mo stretchy="true" fence="true" form="prefix">(</mo>'
    bar = '<mo stretchy="true">¯</mo>'
    assert slim_page(f"<mrow>{opening}<mi>x</mi>{bar}</mrow>") == (
        f"<mrow><mo>(</mo><mi>x</mi>{bar}</mrow>"
    )


def test_cases_lose_what_a_browser_and_our_style_sheet_know_of_them() -> None:
    """The brace at their left stretches, and their columns begin at the left."""
    brace = '<mo stretchy="true" fence="true" form="prefix">{</mo>'
    cell = '<mtd columnalign="left"><mn>1</mn></mtd>'
    assert slim_page(f"<mrow>{brace}<mtable><mtr>{cell}</mtr></mtable></mrow>") == (
        "<mrow><mo>{</mo><mtable><mtr><mtd><mn>1</mn></mtd></mtr></mtable></mrow>"
    )


def test_a_script_loses_its_comments_and_keeps_its_texts() -> None:
    text = '// gone\n\n/** gone\n too */\nlet a = "// stays"; // goes\n  b();\n'
    assert slim_script(text) == 'let a = "// stays";\nb();\n'


def test_no_script_of_ours_has_text_over_several_lines() -> None:
    """Its indentation would be lost."""
    for path in (Path(__file__).resolve().parents[3] / "docs" / "assets").rglob("*.js"):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert line.count("`") % 2 == 0, f"{path.name}: {line}"


THEME = Path(material.__file__).parent / "templates" / "assets" / "stylesheets"
_FORMS_ARE_MADE = """() => [...document.querySelectorAll('.fb-calculator:not([data-waits])')].every(
    host => host.querySelector('form .fb-answer')?.childElementCount > 0)"""
_LOOKS = """() => [...document.querySelectorAll('body, body *')].map(one => {
  const style = getComputedStyle(one), box = one.getBoundingClientRect();
  const looks = ['display', 'position', 'color', 'backgroundColor', 'fontSize', 'fontWeight',
    'opacity', 'visibility', 'borderTopWidth', 'marginTop', 'paddingLeft', 'textDecorationLine',
    'overflowX'].map(name => style[name]);
  return [one.tagName, one.className.baseVal ?? one.className, box.width, box.height,
    ...looks].join(' ');
})"""


def _whole_theme(site: Path) -> str:
    """The sheets of a page, those of the theme as it has them."""
    folder = site / "assets" / "flopbook"
    theirs = [next(THEME.glob(f"{name}.*.css")) for name in ("main", "palette")]
    sheets = [*theirs, folder / "look.css", folder / "flopbook.css"]
    return joined_text([path.read_text(encoding="utf-8") for path in sheets])


def _looks(context: Any, base: str, page: str, style: str) -> list[str]:
    context.set_default_timeout(30_000)
    tab = context.new_page()
    if style:
        answer = {"body": style, "content_type": "text/css"}
        tab.route("**/stylesheets/*.css", lambda route: route.fulfill(**answer))
    found: list[str] = []
    visit(tab, base + page)
    # A form that is still being made has fewer elements.
    tab.wait_for_function(_FORMS_ARE_MADE)
    for scheme, width in (("light", 1280), ("dark", 390)):
        tab.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        tab.set_viewport_size({"width": width, "height": 800})
        tab.wait_for_timeout(300)
        found += tab.evaluate(_LOOKS)
    return found


@pytest.mark.browser
@pytest.mark.parametrize(
    "page", ["handbook/roofline/", "calculators/min-batch/", "notebooks/min-batch/", "404.html"]
)
def test_a_page_looks_as_it_does_with_the_whole_theme(
    surf: Any, base: str, site: Path, page: str
) -> None:
    """Every element keeps its size and computed style, light and dark, on a desk and a phone."""
    ours, whole = (surf(_looks, base, page, style) for style in ("", _whole_theme(site)))
    assert len(ours) > 200
    assert [pair for pair in zip(ours, whole, strict=True) if pair[0] != pair[1]][:5] == []


def test_the_theme_is_a_quarter_smaller_or_more(site: Path) -> None:
    for path in (site / "assets" / "stylesheets").glob("*.min.css"):
        assert path.stat().st_size < 0.75 * (THEME / path.name).stat().st_size, path.name
    assert not list((site / "assets").rglob("*.map"))


def test_a_property_that_only_a_dropped_rule_reads_goes_too(tmp_path: Path) -> None:
    css = tmp_path / "assets" / "theme.css"
    css.parent.mkdir()
    (tmp_path / "assets" / "flopbook").mkdir()
    css.write_text(":root{--icon:1;--kept:2}.gone{a:var(--icon)}.used{a:var(--kept)}", "utf-8")
    (tmp_path / "index.html").write_text('<p class="used">', encoding="utf-8")
    slim(tmp_path)
    assert css.read_text(encoding="utf-8") == ":root{--kept:2}.used{a:var(--kept)}"


def test_a_folder_without_pages_stays(tmp_path: Path) -> None:
    (tmp_path / "assets" / "flopbook").mkdir(parents=True)
    slim(tmp_path)
    assert not list(tmp_path.rglob("*.*"))
