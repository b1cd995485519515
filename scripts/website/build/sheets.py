"""The style sheets that every page has, as one file.

A browser paints nothing before it has all sheets of a page, and over an ordinary connection each
file more may cost a round trip. The sheets stay where they are as well: they are the site's
content, and the theme's are what a test compares the whole with.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from flopbook.data.files import write_made

FOLDER = "assets/stylesheets"
# Names of the theme's sheets end in a hash. The group is the way to the top of the site.
_NAMES = (
    r"assets/stylesheets/main\.\w+\.min\.css",
    r"assets/stylesheets/palette\.\w+\.min\.css",
    r"assets/flopbook/look\.css",
    r"assets/flopbook/flopbook\.css",
)
_HREF = re.compile(r'href="([^"]*?)(assets/[^"]+)"')
_LINKS = re.compile(r"\s*".join(rf'<link rel="stylesheet" href="[^"]*?{name}">' for name in _NAMES))
_HASH = 8  # digits in the name of the file, which changes when a sheet does


def join_sheets(site: Path) -> None:
    """Let every page link one sheet in the place of four.

    Raises ValueError for a page that does not link them one after the other.
    """
    joined = ""
    for path in sorted(site.rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        links = _LINKS.search(text)
        if links is None:
            raise ValueError(f"{path}: the page does not link the four sheets in their order")
        hrefs = _HREF.findall(links[0])
        joined = joined or _written(site, [name for _, name in hrefs])
        joined_link = f'<link rel="stylesheet" href="{hrefs[0][0]}{joined}">'
        write_made(path, f"{text[: links.start()]}{joined_link}{text[links.end() :]}")


def _written(site: Path, names: list[str]) -> str:
    """Write the sheets of these names into one; its path in the site."""
    sheet = joined_text([(site / name).read_text(encoding="utf-8") for name in names])
    digest = hashlib.sha256(sheet.encode()).hexdigest()[:_HASH]
    path = f"{FOLDER}/site.{digest}.css"
    write_made(site / path, sheet)
    return path


def joined_text(sheets: list[str]) -> str:
    """Sheets one after the other; none of ours or the theme's names a file by a relative path."""
    return "\n".join(sheets)
