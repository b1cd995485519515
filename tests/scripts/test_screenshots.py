"""Pictures of templates: three looks of each, with what is wrong on a page."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from scripts import screenshots
from scripts.ensure_browser import ensure_browser
from scripts.screenshots import LOOKS, take
from scripts.website.build.reviewed import TEMPLATES

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>t</title>
<link rel="icon" href="data:,">
<style>@media (prefers-color-scheme: dark) {{ body {{ background: #123 }} }}</style>
<body>{}</body></html>"""


def _site(folder: Path, **pages: str) -> Path:
    """A site with pages of these bodies; the first page is empty."""
    for name, body in {"": "", **pages}.items():
        path = folder / name / "index.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(PAGE.format(body), encoding="utf-8")
    (folder / "404.html").write_text(PAGE.format("none"), encoding="utf-8")
    return folder


def _size(path: Path) -> tuple[int, int]:
    head = path.read_bytes()[:24]
    assert head[:4] == b"\x89PNG"
    width, height = struct.unpack(">II", head[16:])
    return width, height


@pytest.mark.browser
def test_three_looks_of_each_page_with_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Light and dark in a window, a phone; errors, width and missing pages are said."""
    # Nothing here is drawn by a script, or loads anything later.
    monkeypatch.setattr(screenshots, "_SETTLED_MS", 0)
    monkeypatch.setattr(screenshots, "_WAIT_UNTIL", "load")
    site = _site(
        tmp_path / "site",
        wide='<div style="width: 900px">x</div>',
        loud="<script>console.error('it broke')</script>",
    )
    pages = {"home": "", "wide": "wide/", "loud": "loud/", "gone": "gone/"}
    lines = list(take(site, pages, tmp_path / "out", ensure_browser(), False))
    assert len(lines) == 3 * len(pages)
    assert lines[:3] == ["home-light.png", "home-dark.png", "home-phone.png"]
    by_name = {line.partition(":")[0]: line for line in lines}
    assert ": " not in by_name["wide-light.png"]
    assert "pixels wider than the screen" in by_name["wide-phone.png"]
    assert all("it broke" in by_name[f"loud-{look.name}.png"] for look in LOOKS)
    assert "no page at" in by_name["gone-dark.png"]
    for look in LOOKS:
        assert _size(tmp_path / "out" / f"home-{look.name}.png") == (look.width, look.height)
    light, dark = (
        (tmp_path / "out" / f"home-{name}.png").read_bytes() for name in ("light", "dark")
    )
    assert light != dark
    full_pages = list(take(site, {"wide": "wide/"}, tmp_path / "whole", ensure_browser(), True))
    assert len(full_pages) == 3 and _size(tmp_path / "whole" / "wide-light.png")[0] == 1440


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["hoem"], "no template hoem"),
        (["--site", "nowhere"], "make site"),
        (["--x"], "unrecognized"),
    ],
)
def test_bad_usage_is_said_and_ends_with_two(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = [] if "--site" in arguments else ["--site", str(_site(tmp_path))]
    with pytest.raises(SystemExit) as ended:
        screenshots.main([*arguments, *site])
    assert ended.value.code == 2 and said in capsys.readouterr().err


@pytest.mark.parametrize(("problem", "status"), [("", 0), (": it broke", 1)])
def test_the_status_says_whether_a_page_has_a_problem(
    problem: str,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked: list[dict[str, str]] = []

    def told(_site: Path, pages: dict[str, str], *_: object) -> list[str]:
        asked.append(pages)
        return [f"home-light.png{problem}"]

    monkeypatch.setattr(screenshots, "take", told)
    monkeypatch.setattr(screenshots, "ensure_browser", lambda: Path("browser"))
    assert screenshots.main(["--site", str(_site(tmp_path)), "home", "chip"]) == status
    assert asked == [{"home": "", "chip": TEMPLATES["chip"]}]
    assert capsys.readouterr().out == f"home-light.png{problem}\n"


def test_the_looks_are_those_that_reviewers_ask_for() -> None:
    assert [(look.name, look.width, look.scheme) for look in LOOKS] == [
        ("light", 1440, "light"),
        ("dark", 1440, "dark"),
        ("phone", 390, "light"),
    ]
