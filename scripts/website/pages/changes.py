"""What changed from release to release: the changelog as a page."""

from __future__ import annotations

from pathlib import Path

from flopbook.data.files import read_text
from scripts.website.markup import Markdown, front_matter, page_text, relative, trusted

PAGE = "changes.md"
_CHANGELOG = Path(__file__).resolve().parents[3] / "CHANGELOG.md"


def changes_page() -> str:
    """The releases of CHANGELOG.md, below a heading and a way to the feed of single values."""
    _, first, releases = read_text(_CHANGELOG).partition("\n## ")
    about = "What was added, changed and corrected in flopbook, release by release."
    feed = Markdown(
        "What you will notice on the site, on the command line and in the data, release by "
        "release. Every value that was added, withdrawn or corrected is in the [feed of "
        "changes]({}).\n"
    ).format(relative(PAGE, "data.md"))
    blocks = [front_matter("Changes", about), Markdown("# Changes\n"), feed]
    return page_text([*blocks, trusted(first.lstrip("\n") + releases)])
