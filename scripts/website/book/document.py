"""The parts joined into one document: title page, contents, sections, and running heads."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

import yaml
from bs4 import Tag

import flopbook
from flopbook.data.library import references
from flopbook.data.repository import repository_address
from scripts.website.book.parts import BookPart
from scripts.website.pages.sources import MONTHS

HERE = Path(__file__).resolve().parent
NAME = "flopbook-handbook"


class Facts(NamedTuple):
    """What stands on the title page."""

    title: str
    subtitle: str
    author: str
    rights: str
    version: str
    read: date
    site_url: str = ""
    repository: str = ""


def facts(config: Path, site_url: str) -> Facts:
    """The facts of this book: from the site's configuration, the package and the references."""
    site = yaml.safe_load(config.read_text(encoding="utf-8"))
    return Facts(
        title=f"{site['site_name']}: the handbook",
        subtitle=site["site_description"],
        author=site["site_author"],
        rights=site["copyright"],
        version=flopbook.__version__,
        read=date.fromisoformat(max(work.urldate for work in references().values())),
        site_url=site_url,
        repository=repository_address(),
    )


def style(name: str) -> str:
    """A file that stands beside this one."""
    return (HERE / name).read_text(encoding="utf-8")


def title_page(known: Facts) -> str:
    """The title page as HTML, without its section."""
    name, _, subject = known.title.partition(": ")
    day = f"{known.read.day} {MONTHS[known.read.month - 1]} {known.read.year}"
    lines = [f"Version {known.version}, sources read up to {day}", known.author, known.rights]
    imprint = "".join(f"<p>{html.escape(line)}</p>\n" for line in lines)
    for label, url in (("Site", known.site_url), ("Source", known.repository)):
        if url:
            address = html.escape(url)
            imprint += f'<p>{label}: <a href="{address}">{address}</a></p>\n'
    return (
        f'<p class="title">{html.escape(name)}</p>\n'
        f'<p class="subtitle">{html.escape(subject)}</p>\n'
        f'<p class="about">{html.escape(known.subtitle)}</p>\n<div class="facts">\n{imprint}</div>'
    )


def contents(parts: Sequence[BookPart]) -> str:
    """The contents with an empty place for each page number."""
    lines = "".join(f"<li>{_line(part.slug, part.name)}{_sections(part)}</li>" for part in parts)
    return f"<h1>Contents</h1>\n<ol>{lines}</ol>"


def _sections(part: BookPart) -> str:
    """The sections of a chapter as a list; nothing for other parts."""
    lines = "".join(f"<li>{_line(anchor, title)}</li>" for anchor, title in part.listed_sections())
    return f"<ol>{lines}</ol>" if lines else ""


def _line(anchor: str, title: str) -> str:
    words = f'<span class="words">{html.escape(title)}</span>'
    return f'<a href="#{anchor}">{words}<span class="page" data-to="{anchor}"></span></a>'


def markup(body: Tag) -> str:
    """The inside of a part as HTML that is well-formed XML too."""
    return body.decode_contents(formatter="minimal").strip()


def printed(known: Facts, parts: Sequence[BookPart]) -> str:
    """The whole book as one HTML document for the printer, with all that it needs inside it."""
    sections = "\n".join(map(_section, parts))
    heads = "\n".join(
        f"@page {_page(part)} {{ @top-right {{ content: {_quoted(part.name)}; }} }}"
        for part in parts
    )
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{html.escape(known.title)}</title>
<meta name="author" content="{html.escape(known.author)}">
<style>{style("book.css")}\n{style("print.css")}\n{heads}
@page {{ @top-left {{ content: {_quoted(known.title)}; }} }}</style></head>
<body>
<section class="title-page">{title_page(known)}</section>
<nav class="contents" id="contents">{contents(parts)}</nav>
{sections}
</body></html>
"""


def _section(part: BookPart) -> str:
    """A part on pages of its own name, which carry its running head."""
    opening = f'<section class="part" id="{part.slug}" style="page: {_page(part)}">'
    return f"{opening}\n{markup(part.body)}\n</section>"


def _page(part: BookPart) -> str:
    return f"p-{part.slug}"


def _quoted(text: str) -> str:
    """A text as a string of CSS; it may not end the style element that it stands in."""
    return json.dumps(text, ensure_ascii=False).replace("<", "\\3c ")
