"""Find every http(s) address in data and prose, each with its file and line.

Only locations are needed here. Files are scanned, not validated: the package's readers do that and
say so in their own words. So BibTeX is read by a search for the fields that hold addresses, and
YAML that does not parse is read as plain text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote, urldefrag, urlsplit

import yaml

from flopbook.data.files import NotRead, confine, read_bytes, refuse_links

Found = Iterator[tuple[int, str]]  # offset in the text, address

_URL = re.compile(r"""(?<![A-Za-z0-9+.-])https?://[^\s\x00-\x20\x7f<>"'`\\^{}|]+""", re.IGNORECASE)
_TRAILING = ".,;:!?*_~&…’”»"
_CLOSING = {")": "(", "]": "["}

_BIB_ENTRY = re.compile(r"^[ \t]*@(\w+)\s*\{", re.MULTILINE)
_BIB_FIELD = re.compile(
    r"""\b(doi|eprint|archiveprefix|eprinttype)\s*=\s*(?:\{+\s*([^{}]*?)\s*\}+|"([^"]*)")""",
    re.IGNORECASE,
)
_BIB_ESCAPE = re.compile(r"\\([_%&#$~])")
_BIB_COMMENT = re.compile(r"^[ \t]*%.*$", re.MULTILINE)
_ARXIV_ID = re.compile(
    r"(?:arxiv:)?(\d{4}\.\d{4,5}(?:v\d+)?|[a-z-]+(?:\.[A-Z]{2})?/\d{7}(?:v\d+)?)", re.IGNORECASE
)
_DOI_PREFIX = re.compile(r"(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)

_FENCE = re.compile(r"^[ \t>]*(`{3,}|~{3,})")
_INLINE_CODE = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")
_HTML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True, order=True)
class Link:
    """One address as written in one place."""

    file: str
    line: int
    url: str

    @property
    def address(self) -> str:
        """The address that is asked for: without its fragment, which a client keeps to itself."""
        return urldefrag(self.url).url


def find_urls(text: str) -> Found:
    """Every http(s) address in plain text, without the punctuation around it.

    A template (`https://x/{id}`) is no address.
    """
    position = 0
    while match := _URL.search(text, position):
        url = _trim(match.group())
        # From the end of the trimmed address: "[a](https://a)[b](https://b)" has no space between.
        position = match.start() + max(len(url), 1)
        is_template = text[match.end() : match.end() + 1] == "{" and len(url) == len(match.group())
        if not is_template and _has_host(url):
            yield match.start(), url


def _trim(raw: str) -> str:
    """Drop what belongs to the sentence: closing punctuation, and brackets opened before."""
    depth = {"(": 0, "[": 0}
    for index, character in enumerate(raw):
        if character in depth:
            depth[character] += 1
        elif character in _CLOSING:
            depth[_CLOSING[character]] -= 1
            if depth[_CLOSING[character]] < 0:
                raw = raw[:index]
                break
    return raw.rstrip(_TRAILING)


def _has_host(url: str) -> bool:
    try:
        return any(character.isalnum() for character in urlsplit(url).netloc)
    except ValueError:
        # "https://[" and the like looks like a link to a reader: let the check say what is wrong.
        return True


def _blank(match: re.Match[str]) -> str:
    """Spaces in place of the match, so that offsets and lines stay as they are."""
    return re.sub(r"[^\n]", " ", match.group())


def scan_bibtex(text: str) -> Found:
    """Addresses of BibTeX entries: `doi` and `eprint` as links, and what any other field holds."""
    text = _BIB_COMMENT.sub(_blank, text)
    starts = [match.start() for match in _BIB_ENTRY.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        entry = text[start:end]
        if entry.lstrip().lower().startswith("@comment"):
            continue
        for offset, url in _identifier_urls(entry):
            yield start + offset, url
        written_out = _BIB_FIELD.sub(_blank, entry)  # a doi written as a link is not counted twice
        for offset, url in find_urls(_without_escapes(written_out)):
            yield start + offset, url


def _identifier_urls(entry: str) -> Found:
    """The addresses that the DOI and the arXiv id of one entry stand for."""
    fields = [
        (match.start(), match[1].lower(), _BIB_ESCAPE.sub(r"\1", match[2] or match[3] or ""))
        for match in _BIB_FIELD.finditer(entry)
    ]
    archives = [text for _, name, text in fields if name in ("archiveprefix", "eprinttype")]
    archive = archives[0].lower() if archives else "arxiv"
    for offset, name, text in fields:
        if url := _identifier_address(name, text, archive):
            yield offset, url


def _without_escapes(text: str) -> str:
    r"""`\_` and its like become one plain character; the length, so each line, stays the same."""
    if "\\" not in text:
        return text
    return re.sub(r"(\S*)\\([_%&#$~])(\S*)", _unescape_word, text)


def _unescape_word(match: re.Match[str]) -> str:
    word = _BIB_ESCAPE.sub(r"\1", match.group())
    return word + " " * (len(match.group()) - len(word))


def _identifier_address(name: str, text: str, archive: str) -> str | None:
    """The address that a DOI or an arXiv id stands for; None for a field that is neither."""
    if name == "doi" and text:
        return "https://doi.org/" + quote(_DOI_PREFIX.sub("", text), safe="/:;.()-_@!$&'*+,=~%")
    match = _ARXIV_ID.fullmatch(text)
    if name == "eprint" and archive == "arxiv" and match:
        return "https://arxiv.org/abs/" + match.group(1)
    return None


def scan_yaml(text: str) -> Found:
    """Addresses in the scalars of YAML data; comments are left out."""
    try:
        # Tokens, not values: an alias is one token, so a file of nested aliases costs no more than
        # its size.
        tokens = list(yaml.scan(text, Loader=yaml.CSafeLoader))
    except yaml.YAMLError:
        yield from find_urls(text)
        return
    for token in tokens:
        if not isinstance(token, yaml.ScalarToken) or "://" not in token.value:
            continue
        cursor = token.start_mark.index
        for _, url in find_urls(token.value):
            offset = text.find(url, cursor)
            if offset < 0:  # folded over two lines, or written with escapes
                yield token.start_mark.index, url
            else:
                cursor = offset + len(url)
                yield offset, url


def scan_markdown(text: str) -> Found:
    """Addresses in Markdown outside code and comments, where examples are that nobody clicks."""
    text = _HTML_COMMENT.sub(_blank, _blank_fences(text))
    return find_urls(_INLINE_CODE.sub(_blank, text))


def _blank_fences(text: str) -> str:
    """The text with spaces in place of fenced code."""
    lines: list[str] = []
    fence = ""  # the mark that opened the block we are in
    for line in text.splitlines(keepends=True):
        match = _FENCE.match(line)
        mark = match.group(1) if match else ""
        if not fence and not mark:
            lines.append(line)
            continue
        if not fence:
            fence = mark
        elif mark.startswith(fence) and line.strip(" \t>\r\n") == mark:
            fence = ""
        lines.append(re.sub(r"[^\n]", " ", line))
    return "".join(lines)


SOURCES: tuple[tuple[str, Callable[[str], Found]], ...] = (
    ("bibliography/**/*.bib", scan_bibtex),
    ("accelerators/**/*.y*ml", scan_yaml),
    ("bibliography/**/*.y*ml", scan_yaml),
    ("calculators/models/**/*.y*ml", scan_yaml),
    ("*.md", scan_markdown),
    ("docs/**/*.md", scan_markdown),
    ("accelerators/**/*.md", scan_markdown),
    ("bibliography/**/*.md", scan_markdown),
    ("calculators/**/*.md", scan_markdown),
    ("calculators/notebooks/**/*.py", find_urls),
)


def collect(root: Path) -> list[Link]:
    """All links of the project at `root`, sorted by file and line, none twice in one line."""
    confine(root)
    links: set[Link] = set()
    for pattern, scan in SOURCES:
        for path in _files(root, pattern):
            links.update(scan_file(root, path, scan))
    return sorted(links)


def _files(root: Path, pattern: str) -> Iterable[Path]:
    """Plain files only: a contributed symbolic link must not make us read a file from outside."""
    for path in root.glob(pattern):
        hidden = any(part.startswith(".") for part in path.relative_to(root).parts)
        if path.is_file() and not hidden and not _is_through_link(path):
            yield path


def _is_through_link(path: Path) -> bool:
    try:
        refuse_links(path)
    except NotRead:
        return True
    return False


def scan_file(root: Path, path: Path, scan: Callable[[str], Found]) -> Iterator[Link]:
    """The links of one file."""
    text = read_bytes(path).decode("utf-8", "replace")
    name = path.relative_to(root).as_posix()
    for offset, url in scan(text):
        yield Link(name, text.count("\n", 0, offset) + 1, url)


def by_address(links: Iterable[Link]) -> dict[str, list[Link]]:
    """The places of each address, so that each address is asked for once."""
    places: dict[str, list[Link]] = {}
    for link in links:
        places.setdefault(link.address, []).append(link)
    return places
