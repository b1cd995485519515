"""Check the links inside the built site, and find what a page would request from another host.

`check_built_site` runs on every build, so it has about two seconds for 500 pages. It reads tags
with one regular expression (linear time: no pattern can back-track) instead of `html.parser`, which
takes several times as long.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

from scripts.website.tags import INSIDE, attributes_of

BROKEN = "broken"
OTHER_HOST = "other-host"

# Each alternative may also end where the text ends: a tag that is never closed is then read once,
# not often.
_TOKEN = re.compile(
    r"<!--.*?(?:-->|\Z)"
    rf"|<(?P<raw>script|style|textarea|title)(?=[\s/>])(?P<raw_attributes>{INSIDE})(?:>|\Z)"
    r"(?P<body>.*?)(?:</(?P=raw)(?=[\s/>])|\Z)"
    rf"|<(?P<tag>[a-z][^\t\n\f\r />]*+)(?P<attributes>{INSIDE})(?:>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_CSS_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_CSS_LINK = re.compile(
    r"""@import\s+(?:"(?P<a>[^"]*+)"|'(?P<b>[^']*+)')"""
    r"""|\burl\(\s*(?:"(?P<c>[^"]*+)"|'(?P<d>[^']*+)'|(?P<e>[^"')\s]++))""",
    re.IGNORECASE,
)
_REFRESH = re.compile(r"""\burl\s*=\s*['"]?([^'"]+)""", re.IGNORECASE)
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_SRCSET_ITEM = re.compile(r"[\s,]*+(\S+?)(?:,+(?=\s|$)|(?=\s)[^,]*,?|$)")

# A browser requests these as the page loads; all other links wait for a click.
_ICON_RELS = {"icon", "apple-touch-icon", "mask-icon", "manifest"}
_HINT_RELS = {"preload", "modulepreload", "prefetch", "preconnect", "dns-prefetch", "prerender"}
_LOADING_RELS = {"stylesheet"} | _ICON_RELS | _HINT_RELS
_LOADING_HREF_TAGS = {"use", "image", "feimage", "script", "mpath", "pattern"}
_LOADING_ATTRIBUTES = {"src", "poster", "background"}
_HARMLESS_SCHEMES = {"http", "https", "mailto", "tel"}
_INTERESTING = re.compile(
    r"href|src|id|name|style|data|poster|content|action|background", re.IGNORECASE
)


@dataclass(frozen=True, order=True)
class LinkProblem:
    """One fault: page and line in the built site, the link as written, and what is wrong.

    `kind` is BROKEN or OTHER_HOST.
    """

    page: str
    line: int
    link: str
    what: str
    kind: str = BROKEN

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: {self.kind}: {self.link}: {self.what}"


@dataclass
class _Document:
    """What one file offers and asks for."""

    ids: set[str] = field(default_factory=set)
    # (link, is it loaded with the page?) -> first offset
    links: dict[tuple[str, bool], int] = field(default_factory=dict)
    base: str = ""


@dataclass(frozen=True)
class _Tag:
    ids: tuple[str, ...]
    links: tuple[tuple[str, bool], ...]
    base: str = ""


@dataclass(frozen=True)
class _Site:
    root: Path
    prefix: str  # path under which the site is served, "/" or "/flopbook/"
    origin: str  # "https://host" if known: absolute links to it are links inside the site
    files: frozenset[str]
    folders: frozenset[str]
    documents: dict[str, _Document]


def check_built_site(site_dir: Path, base: str = "/") -> list[LinkProblem]:
    """All problems of the links inside a built site, sorted by page and line.

    `base` is the path the site is served under (`/flopbook/`) or its whole address. Checked are
    links in HTML, SVG and CSS: the file must exist, a fragment must be an id or name in it (a
    fragment with `=` is state for a script of the page), and links of the root's 404.html must not
    be relative, for it is shown at any address. Anything that a page would request from another
    host as it loads is a problem of its own kind; a plain link to another host is none. What a
    script requests cannot be seen here: a browser test has to watch that.
    """
    site = _read_site(site_dir, base)
    problems: list[LinkProblem] = []
    for page, document in site.documents.items():
        text: str | None = None  # read again only where there is a fault to be placed
        for (link, loads), offset in document.links.items():
            fault = _fault(site, page, link, loads)
            if fault is None:
                continue
            if text is None:
                text = _read(site.root / page)
            reason, kind = fault
            line = text.count("\n", 0, offset) + 1
            problems.append(LinkProblem(page, line, link, reason, kind))
    return sorted(problems)


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def _read_site(site_dir: Path, base: str) -> _Site:
    files: set[str] = set()
    folders: set[str] = set()
    for folder, _, names in os.walk(site_dir):
        place = Path(folder).relative_to(site_dir)
        files.update((place / name).as_posix() for name in names)
        if names:  # a folder without files is no place that a link can lead to
            folders.update(path.as_posix() for path in (place, *place.parents))
    documents = {}
    for name in sorted(files):
        suffix = name.rpartition(".")[2].lower()
        if suffix in ("html", "htm", "svg"):
            documents[name] = _scan_html(_read(site_dir / name))
        elif suffix == "css":
            documents[name] = _scan_css(_read(site_dir / name))
    address = urlsplit(base)
    origin = f"{address.scheme}://{address.netloc}" if address.netloc else ""
    path = address.path.strip("/")
    prefix = f"/{path}/" if path else "/"
    return _Site(site_dir, prefix, origin, frozenset(files), frozenset(folders), documents)


def _scan_css(text: str) -> _Document:
    """A style sheet has links and no anchors; a browser loads all of them."""
    return _Document(links={(link, True): offset for offset, link in _css_links(text)})


def _scan_html(text: str) -> _Document:
    document = _Document()
    for match in _TOKEN.finditer(text):
        raw, raw_attributes, body, tag, attributes = match.groups()
        name = (tag or raw or "").lower()  # neither in a comment
        parsed = _parse_tag(name, attributes or raw_attributes or "") if name else None
        if parsed:
            document.ids.update(parsed.ids)
            document.base = document.base or parsed.base
            for key in parsed.links:
                document.links.setdefault(key, match.start())
        if name == "style" and raw:
            for offset, link in _css_links(body):
                document.links.setdefault((link, True), match.start("body") + offset)
    return document


# Pages of one site repeat their navigation and their markup: most tags have been seen before.
@lru_cache(maxsize=50_000)
def _parse_tag(tag: str, text: str) -> _Tag | None:
    """The ids and links of one tag; None if it has neither."""
    if not _INTERESTING.search(text):
        return None
    attributes = attributes_of(text)
    ids = [attributes["id"]] if "id" in attributes else []
    if tag == "a" and "name" in attributes:
        ids.append(attributes["name"])
    if tag == "base":
        return _Tag(tuple(ids), (), attributes.get("href", "").strip())
    links = tuple((link.strip(), loads) for link, loads in _links_of(tag, attributes))
    return _Tag(tuple(ids), links) if ids or links else None


def _links_of(tag: str, attributes: dict[str, str]) -> Iterator[tuple[str, bool]]:
    """The links of one tag, each with whether a browser requests it as the page loads."""
    for name, text in attributes.items():
        if name in ("href", "xlink:href"):
            yield text, _href_loads(tag, attributes)
        elif name in _LOADING_ATTRIBUTES or (tag == "object" and name == "data"):
            yield text, True
        elif name in ("srcset", "imagesrcset"):
            yield from ((link, True) for link in _srcset(text))
        elif name == "style" and "url(" in text.lower():
            yield from ((link, True) for _, link in _css_links(text))
        elif name == "content" and attributes.get("http-equiv", "").lower() == "refresh":
            yield from ((match.group(1), True) for match in _REFRESH.finditer(text))
        elif name in ("action", "formaction"):
            yield text, False


def _href_loads(tag: str, attributes: dict[str, str]) -> bool:
    """Whether a browser requests the href of this tag as the page loads."""
    if tag == "link":
        rels = attributes.get("rel", "").lower().split()
        return not _LOADING_RELS.isdisjoint(rels)
    return tag in _LOADING_HREF_TAGS


def _srcset(value: str) -> list[str]:
    return [match.group(1) for match in _SRCSET_ITEM.finditer(value.strip())]


def _css_links(text: str) -> Iterator[tuple[int, str]]:
    text = _CSS_COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    for match in _CSS_LINK.finditer(text):
        link = next(group for group in match.groups() if group is not None)
        if not link.startswith("#"):  # a gradient or filter of the page that uses the style
            yield match.start(), link


def _fault(site: _Site, page: str, link: str, loads: bool) -> tuple[str, str] | None:
    """What is wrong with a link, and the class of the fault; None if nothing is."""
    if link.startswith("//"):
        link = f"https:{link}"
    if site.origin and (link + "/").startswith(site.origin + "/"):
        link = link[len(site.origin) :] or "/"
    scheme = _SCHEME.match(link)
    if scheme:
        return _fault_of_scheme(scheme.group(1).lower(), link, loads)
    path, _, fragment = link.partition("#")
    path = path.partition("?")[0]
    base = site.documents[page].base
    if page == "404.html" and path and not path.startswith("/") and not base.startswith("/"):
        return "a relative link in 404.html, which is shown at any address; expected /...", BROKEN
    target, what = _target(site, page, base, path)
    if target is None:
        return what, BROKEN
    return _fault_of_fragment(site, target, fragment)


def _fault_of_scheme(scheme: str, link: str, loads: bool) -> tuple[str, str] | None:
    if loads and scheme == "data":
        return None
    if loads:
        reason = "the page requests this from another host as it loads; expected a file of the site"
        return reason, OTHER_HOST
    # The theme writes its share button as javascript:void(0).
    if scheme in _HARMLESS_SCHEMES or link == "javascript:void(0)":
        return None
    expected = "http, https, mailto, tel or a page of the site"
    return f"a link with the scheme {scheme}; expected {expected}", BROKEN


def _target(site: _Site, page: str, base: str, path: str) -> tuple[str | None, str]:
    """The file that a path leads to, or None and why there is none."""
    if not path and not base:
        return page, ""
    start = site.prefix + page
    if base:
        start = posixpath.join(posixpath.dirname(start), urlsplit(base).path)
    elif quick := _quick_target(site, page.rpartition("/")[0], path):
        return quick, ""
    joined = posixpath.join(posixpath.dirname(start), unquote(path))
    if ".." in joined and _climbs_out(joined):
        return None, "leads out of the site"
    clean = posixpath.normpath(joined)
    if not (clean + "/").startswith(site.prefix):
        return None, f"leads out of the site, which is served under {site.prefix}"
    name = clean[len(site.prefix) :]
    if name in site.files and not joined.endswith("/"):
        return name, ""
    index = f"{name}/index.html" if name else "index.html"
    if index in site.files:
        return index, ""
    if (name or ".") in site.folders:
        return None, "the folder has no index.html"
    return None, "no such file in the site"


def _quick_target(site: _Site, folder: str, path: str) -> str | None:
    """The file of a link such as `../../x/`, as nearly all are; None for any other form."""
    while path.startswith("../"):
        if not folder:
            return None
        folder = folder.rpartition("/")[0]
        path = path[3:]
    name = f"{folder}/{path}" if folder else path
    if not name or name.endswith("/"):
        name += "index.html"
    return name if name in site.files else None


def _climbs_out(path: str) -> bool:
    """Whether `..` goes above the root on the way, on which browsers and servers disagree."""
    depth = 0
    for step in path.split("/"):
        if step == "..":
            depth -= 1
        elif step not in ("", "."):
            depth += 1
        if depth < 0:
            return True
    return False


def _fault_of_fragment(site: _Site, target: str, fragment: str) -> tuple[str, str] | None:
    document = site.documents.get(target)
    if not fragment or document is None or target.endswith(".css") or fragment == "top":
        return None
    if fragment in document.ids or unquote(fragment) in document.ids:
        return None
    if "=" in fragment or fragment.startswith(":~:"):
        return None
    return f"no element with the id {fragment} in {target}", BROKEN
