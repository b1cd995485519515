"""Takes pictures of every template of the site for reviewers: light, dark, and on a phone.

Needs a built site. Writes NAME-light.png, NAME-dark.png and NAME-phone.png into build/screenshots/,
and prints what a reviewer would otherwise have to look for: errors of the console and pages that
are wider than the screen. Exit status: 0 all is well, 1 a page has such a problem, 2 bad usage.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from scripts.ensure_browser import BrowserError, ensure_browser
from scripts.website.build.reviewed import chosen, parsed, template_parser
from scripts.website.build.weigh import LAUNCH, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[1]
_SETTLED_MS = 400  # for what a script draws when the page is there
_WAIT_UNTIL: Literal["load", "networkidle"] = "networkidle"
_TALLEST = 6000  # pixels of a picture of a whole page


class Look(NamedTuple):
    """How a page is looked at: width and height of the window, and the colour scheme."""

    name: str
    width: int
    height: int
    scheme: str


LOOKS = (
    Look("light", 1440, 900, "light"),
    Look("dark", 1440, 900, "dark"),
    Look("phone", 390, 844, "light"),
)


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = template_parser(__doc__)
    parser.add_argument(
        "--out", type=Path, default=ROOT / "build" / "screenshots", help="build/screenshots/"
    )
    parser.add_argument("--whole", action="store_true", help="the whole page, not one screen of it")
    options = parsed(parser, arguments)
    return options


def main(arguments: list[str] | None = None) -> int:
    """Take the pictures; print a line for each, with what is wrong on it."""
    options = _parse(arguments)
    try:
        browser = ensure_browser()
    except BrowserError as error:
        print(error, file=sys.stderr)
        return 2
    problems = 0
    for line in take(options.site, chosen(options.templates), options.out, browser, options.whole):
        print(line)
        problems += ": " in line
    return 1 if problems else 0


def take(
    site: Path, pages: dict[str, str], out: Path, executable: Path, whole: bool
) -> Iterator[str]:
    """Write the pictures of these pages; a line for each, with its problems behind a colon."""
    from playwright.sync_api import sync_playwright

    out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright, served(site) as base:
        browser = playwright.chromium.launch(executable_path=str(executable), args=list(LAUNCH))
        for name, page in pages.items():
            for look in LOOKS:
                path = out / f"{name}-{look.name}.png"
                problems = picture(browser, base + page, look, path, whole)
                yield f"{path.name}: {'; '.join(problems)}" if problems else path.name
        browser.close()


def picture(browser: Browser, address: str, look: Look, path: Path, whole: bool) -> list[str]:
    """Write the picture of one page in one look; what is wrong on the page."""
    problems: list[str] = []
    context = browser.new_context(
        viewport={"width": look.width, "height": look.height},
        color_scheme="dark" if look.scheme == "dark" else "light",
        reduced_motion="reduce",
        has_touch=look.name == "phone",
    )
    tab = context.new_page()
    tab.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    tab.on("pageerror", lambda error: problems.append(str(error)))
    answer = tab.goto(address, wait_until=_WAIT_UNTIL)
    if answer is None or not answer.ok:
        problems.append(f"no page at {address}")
    tab.wait_for_timeout(_SETTLED_MS)
    over = int(tab.evaluate("document.documentElement.scrollWidth - innerWidth"))
    if over > 0:
        problems.append(f"{over} pixels wider than the screen")
    _save(tab, look, path, whole)
    context.close()
    return problems


def _save(tab: Page, look: Look, path: Path, whole: bool) -> None:
    """One screen, or the page down to where a picture of it can no longer be looked at."""
    height = look.height
    if whole:
        height = min(int(tab.evaluate("document.documentElement.scrollHeight")), _TALLEST)
        tab.set_viewport_size({"width": look.width, "height": height})
        tab.wait_for_timeout(_SETTLED_MS)
    tab.screenshot(path=path)


if __name__ == "__main__":
    sys.exit(main())
