"""A checkout for what happens to a build, not to its pages: every step and file of data, few pages.

All that the small checkout takes for its pages is left out, so it builds in a third of the time.
Programs are changed: the content has only the text of docs/, and the site generator does not
load what converts notebooks. They are still run, each by a kernel of its own.
"""

from __future__ import annotations

import re
from pathlib import Path

from scripts.attack.checkout import small_checkout

# The sections are where the page for missing pages leads to.
_SECTIONS = (
    "accelerators/index",
    "calculators/index",
    "check",
    "handbook/index",
    "references/index",
)
_NAMES = ("index", "handbook/one", *_SECTIONS)
_NAVIGATION = "".join(("\nnav:\n", *(f"  - {name}: {name}.md\n" for name in _NAMES)))
_NOTEBOOKS = re.compile(r"^  - mkdocs-jupyter:\n(?:      .*\n)+", re.MULTILINE)
_GENERATED = '''

def from_data(notebooks: Collection[str], *, preview: bool = False) -> GeneratedPart:
    """What the theme asks for, and the tables that are published."""
    files = {name: made for name, made in _assets() if name.count("/") == 2}
    files |= {f"{API}{name}": made for name, made in tables.published()[0].items()}
    return GeneratedPart([], files, [])
'''
_CONTENT = '''

def generate(
    notebooks: dict[str, str],
    part: GeneratedPart | None = None,
    *,
    preview: bool = False,
    is_alone: bool = True,
) -> dict[str, bytes]:
    """The text of docs/, and what is made beside it."""
    tree = {page: text.encode() for page, text in _prose([], handbook.chapters(), {})}
    tree |= (part or from_data(notebooks, preview=preview)).files
    return tree | {twins.INDEX: twins.listing(tree).encode()}
'''
_PAGE = "---\ntitle: {0}\ndescription: What it is.\n{1}---\n\n# {0}\n\nText.\n\n## Part\n\nMore.\n"


def bare_checkout(folder: Path) -> Path:
    """Write the checkout into a folder that does not exist yet; the folder comes back."""
    small_checkout(folder)
    for page in (folder / "docs").rglob("*.md"):
        page.unlink()
    for name in _NAMES:
        order = "order: 1\n" if name == "handbook/one" else ""
        _write(folder / "docs" / f"{name}.md", _PAGE.format(name, order))
    build = folder / "scripts" / "website" / "build"
    for program, text in (("content.py", _CONTENT), ("generated.py", _GENERATED)):
        _write(build / program, (build / program).read_text(encoding="utf-8") + text)
    config = folder / "mkdocs.yml"
    text, count = _NOTEBOOKS.subn("", config.read_text(encoding="utf-8").partition("\nnav:\n")[0])
    assert count == 1, "mkdocs.yml names the plugin otherwise"
    _write(config, text + _NAVIGATION)
    return folder


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
