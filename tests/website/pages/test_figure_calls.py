"""The call in the menu of a figure is the one that draws it.

Whoever copies it into a page gets the same picture.
"""

from __future__ import annotations

import functools
import html
import re
from pathlib import Path

import pytest

from scripts.website.figures import CODE, called, figure_markup, figure_sources
from scripts.website.pages.living import _SCENES
from scripts.website.pages.prose import ProseError, render
from tests.support.rendering import READS_THE_HANDBOOK, rendered

pytestmark = READS_THE_HANDBOOK
ROOT = Path(__file__).resolve().parents[3]
HANDBOOK = sorted(
    path for path in (ROOT / "docs" / "handbook").glob("*.md") if path.stem != "index"
)
_FIGURE = re.compile(r'<figure class="fb-figure[^"]*" id="fig-.*?</figure>', re.S)
_SCENE = re.compile(r'^<figure class="fb-figure fb-alive" id="fig-living-(\w+)" data-scene="\1"')
_CALL = re.compile(r"<li><code>(.*?)</code></li></ul></details>")
_CODE = re.compile(r'href="\.\./\.\./([^"]+)"[^>]*>Code of this figure<')


@functools.cache  # three tests read the figures of each chapter
def frames(path: Path) -> list[str]:
    """The framed pictures of a rendered chapter, as they stand on the page."""
    return _FIGURE.findall(rendered(f"handbook/{path.name}"))


def figures(path: Path) -> list[str]:
    """Those of them with files and code: a picture that a reader moves has neither."""
    return [frame for frame in frames(path) if not _SCENE.search(frame)]


@pytest.mark.parametrize("path", HANDBOOK, ids=lambda path: path.stem)
def test_the_call_of_a_menu_draws_the_same(path: Path) -> None:
    """Read as a page of prose would read it, with its numbers as plain SI values."""
    for shown in figures(path):
        call = _CALL.search(shown)
        assert call is not None, shown[-300:]
        again = render(f"{{{{ {html.unescape(call[1])} }}}}", f"handbook/{path.name}", "page.md")
        assert _without_ids(again) == _without_ids(shown), call[1]


def _without_ids(markup: str) -> str:
    """A number may be written in another way in the name of a figure's place."""
    return re.sub(r'(id|aria-labelledby|data-figure|href)="[^"]*"', "", markup)


@pytest.mark.parametrize("path", HANDBOOK, ids=lambda path: path.stem)
def test_the_code_of_a_figure_is_published(path: Path) -> None:
    """The link leads to a file that the site has, and that defines what the call names."""
    published = figure_sources()
    for shown in figures(path):
        link = _CODE.search(shown)
        assert link is not None and link[1].startswith(CODE) and link[1] in published
        assert re.search(r"^def figure\(", published[link[1]], re.M)


def test_a_picture_that_readers_move_says_by_its_name_what_draws_it() -> None:
    """It has no menu, for there is no file of what moves; each scene stands in one chapter."""
    scenes = [(path, frame) for path in HANDBOOK for frame in frames(path) if _SCENE.search(frame)]
    for path, frame in scenes:
        found = _SCENE.search(frame)
        assert found is not None and "fb-menu" not in frame
        again = render(f'{{{{ living("{found[1]}") }}}}', f"handbook/{path.name}", "page.md")
        assert frame in again, path.name
    names = [frame.partition('data-scene="')[2].partition('"')[0] for _, frame in scenes]
    assert sorted(names) == sorted(_SCENES)


def test_every_chapter_has_a_figure_of_its_own() -> None:
    """And no figure stands twice on one page."""
    for path in HANDBOOK:
        places = [re.search(r'id="([^"]+)"', one) for one in frames(path)]
        names = [place[1] for place in places if place]
        assert names and len(names) == len(set(names)), path.name


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, 'figure("x")'),
        ({"moving": True}, 'figure("x", moving=true)'),
        ({"op": 'a "b"'}, 'figure("x", op="a \\"b\\"")'),
        ({"chips": 64, "d_ff": 30000.0}, 'figure("x", chips=64, d_ff=30000)'),
        ({"memory": 8e10, "share": 0.25}, 'figure("x", memory=80e9, share=0.25)'),
        ({"counts": (1, 4)}, 'figure("x", counts=[1, 4])'),
    ],
)
def test_a_call_is_written_as_prose_writes_it(options: dict[str, object], expected: str) -> None:
    """Words in double quotes, numbers plain, truth in lower case."""
    assert called("x", **options) == expected


def test_a_call_in_a_menu_is_no_markup() -> None:
    """Quotes and brackets of an option are escaped.

    An option that no figure takes never gets there.
    """
    markup = figure_markup("torus-slice", "handbook/page.md", shapes="4x4x4; 16x16")
    assert html.unescape(_CALL.findall(markup)[0]) == 'figure("torus-slice", shapes="4x4x4; 16x16")'
    with pytest.raises(ProseError, match="no_such"):
        render('{{ figure("torus-slice", no_such=1) }}', "handbook/page.md", "page.md")
