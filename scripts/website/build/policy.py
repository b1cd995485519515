"""What a page of the site may run: the scripts that are ours, and nothing else.

Each page says so to the browser in a Content-Security-Policy, and the build refuses a page that
holds anything that such a policy would have to stop. Ours are the files of the site, and the
scripts that our theme writes into its pages, known by their text.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from flopbook.checks.drawings import drawing_problems
from flopbook.checks.pictures import picture_fault
from flopbook.data.files import write_made
from scripts.website.build.beside import each
from scripts.website.tags import TAG, attributes_of

_TEMPLATES = Path(__file__).resolve().parents[1] / "theme" / "partials" / "javascripts"
# A script ends where a browser lets it end; the templates of the theme are cut up by the same rule.
_END_OF_SCRIPT = re.compile(r"</script(?=[\t\n\f\r />])", re.I)
_SCRIPT = re.compile(r"<script\b[^>]*>(.*?)</script>", re.S | re.I)
_TAG_INSIDE = re.compile(r"<[a-zA-Z/!?]")
# Elements that load or run something, or change what every address on a page means.
_REFUSED = frozenset(
    (
        *("iframe", "frame", "frameset", "object", "embed", "applet", "portal", "base"),
        *("animate", "set", "animatetransform", "animatemotion", "foreignobject"),
    )
)
_ADDRESSES = frozenset(
    ("href", "src", "action", "formaction", "xlink:href", "data", "poster", "srcset", "background")
)
_ACTIVE = re.compile(r"(?:javascript|vbscript|data|blob|file|filesystem):", re.I)
_UNSEEN = re.compile(r"[\x00-\x20\x7f-\xa0\u200b-\u200f\u2028-\u202f]")
_STYLE = re.compile(r"<style\b[^>]*>(.*?)(?:</style[\s/>]|\Z)", re.S | re.I)
# What a style of a picture never needs: other files, escapes, the end of its element.
_REACHING = re.compile(r"@import|url\s*\(|image-set|src\s*:|expression|\\|<", re.I)
_ATTRIBUTES_OF_SCRIPTS = frozenset(("src", "type", "id", "class"))
_STATED = ("x-ua-compatible", "content-security-policy")  # one policy more only forbids more
_RECORDS = ("application/json", "application/ld+json")  # types of script elements that hold data
_BLANK = re.compile(r"\{\{.*?\}\}")
_DIRECTIVES = (
    "default-src 'none'",
    "script-src 'self' {scripts}",
    "style-src 'self'{styles}",  # by hash those of pictures, which are whole files too
    "style-src-attr 'unsafe-inline'",  # pictures place their moving parts by a style of their own
    "img-src 'self' data:",  # icons of the theme's style sheets
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
)
_KINDS = frozenset(
    (
        *(".html", ".md", ".txt", ".ipynb", ".svg", ".png", ".css", ".js", ".json", ".csv"),
        *(".atom", ".xml", ".gz", ".bib", ".parquet", ".sqlite", ".pdf", ".epub"),
    )
)
_CHARSET = re.compile(r"<meta charset=[\"']?utf-8[\"']?\s*/?>", re.I)


class PolicyError(ValueError):
    """Pages hold something that may not run; the message has a line for each."""


def write_policies(site: Path, *, is_alone: bool = True) -> None:
    """Give every page its policy. Raises PolicyError for what no page may hold.

    Half of the pages and pictures is read on the second core, unless this is to work alone.
    """
    problems = [f"{name}: a file of a kind that no page leads to" for name in _strangers(site)]
    pages = sorted(site.rglob("*.html"))
    pictures = [*sorted(site.rglob("*.svg")), *sorted(site.rglob("*.png"))]
    for found in each(pages, functools.partial(_give_policy, site), is_alone=is_alone):
        problems += found
    for found in each(pictures, functools.partial(_picture_problems, site), is_alone=is_alone):
        problems += found
    if problems:
        raise PolicyError("\n".join(problems))


def _give_policy(site: Path, path: Path) -> list[str]:
    """Give a page its policy, or say what is wrong with it."""
    page = path.relative_to(site).as_posix()
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        return [f"{page}: {error}"]
    problems = list(page_problems(text, page, site))
    if not problems:
        write_made(path, with_policy(text))
    return problems


def _picture_problems(site: Path, path: Path) -> list[str]:
    name = path.relative_to(site).as_posix()
    if path.suffix == ".svg":
        return list(drawing_problems(path.read_bytes(), name))
    fault = picture_fault(path.read_bytes())
    return [f"{name}:1: {fault}"] if fault else []


def _strangers(site: Path) -> Iterator[str]:
    """Files of kinds that a browser might open as a page of its own, and that we never write."""
    for path in sorted(site.rglob("*")):
        if path.is_file() and path.suffix not in _KINDS:
            yield path.relative_to(site).as_posix()


def with_policy(text: str) -> str:
    """A page with its policy right behind the encoding; whatever stands below obeys it."""
    tags = list(_tags(text))
    inline = [tag.body for tag in tags if tag.is_script and _is_run_inline(tag.attributes)]
    styles = _STYLE.findall(_without_scripts(text, tags))
    directives = "; ".join(_DIRECTIVES)
    content = directives.format(scripts=_hashes(inline), styles=f" {_hashes(styles)}".rstrip())
    meta = f'<meta http-equiv="Content-Security-Policy" content="{content}">'
    charset = _CHARSET.search(text)
    if charset is None:
        raise PolicyError("a page does not begin with its encoding")
    return f"{text[: charset.end()]}{meta}{text[charset.end() :]}"


def _hashes(bodies: Iterable[str]) -> str:
    """What a policy calls texts by, each once."""
    digests = (hashlib.sha256(body.encode()).digest() for body in bodies)
    return " ".join(dict.fromkeys(f"'sha256-{base64.b64encode(d).decode()}'" for d in digests))


def page_problems(text: str, page: str, site: Path) -> Iterator[str]:
    """Each thing on a page that would run and is not ours, with its place."""
    # Comments and styles are looked into as well: browsers and we may differ on where they end.
    tags = list(_tags(text))
    for tag in tags:
        fault = _script_fault(tag, page, site) if tag.is_script else _tag_fault(*tag[:3])
        if fault:
            yield f"{page}:{_line(text, tag.start)}: {fault}"
    without_scripts = _without_scripts(text, tags)
    for match in _STYLE.finditer(without_scripts):
        if reaching := _REACHING.search(match[1]):
            line = _line(without_scripts, match.start())
            yield f"{page}:{line}: a style with {reaching[0]!r}"


class _PageTag(NamedTuple):
    """A tag: name, what stands in it, whether it ends; of a script also what follows it."""

    name: str
    inside: str
    ends: bool
    start: int
    end: int
    is_script: bool = False
    body: str = ""

    @property
    def attributes(self) -> dict[str, str]:
        return attributes_of(self.inside)


def _tags(text: str) -> Iterator[_PageTag]:
    """The tags that begin elements; what is in a script has none.

    Between tags nothing but a tag begins with `<` and a letter: text from data and prose has it
    escaped.
    """
    position = 0
    while match := TAG.search(text, position):
        tag = _PageTag(match[1].lower(), match[2], match[3] is not None, match.start(), match.end())
        position = tag.end
        if tag.name == "script" and tag.ends and (end := _END_OF_SCRIPT.search(text, position)):
            tag = tag._replace(is_script=True, body=text[position : end.start()])
            position = end.start()
        yield tag


def _without_scripts(text: str, tags: Iterable[_PageTag]) -> str:
    """A page with line feeds alone in its scripts, so that every line stays where it is."""
    pieces, position = [], 0
    for tag in tags:
        if tag.body:
            pieces += [text[position : tag.end], "\n" * tag.body.count("\n")]
            position = tag.end + len(tag.body)
    return "".join((*pieces, text[position:]))


def _line(text: str, start: int) -> int:
    return text.count("\n", 0, start) + 1


def _is_run_inline(attributes: dict[str, str]) -> bool:
    return "src" not in attributes and attributes.get("type") not in _RECORDS


def _script_fault(tag: _PageTag, page: str, site: Path) -> str:
    attributes, body = tag.attributes, tag.body
    if others := attributes.keys() - _ATTRIBUTES_OF_SCRIPTS:
        return f"a script with {', '.join(sorted(others))}"  # in a picture its address is a href
    if "src" in attributes and body.strip():
        return f"a script with an address and a text: {body[:60]!r}"
    if attributes.get("type") in _RECORDS:
        return "a record that ends its script element" if "<" in body else ""
    if _is_run_inline(attributes):
        is_known = any(script.fullmatch(body) for script in theme_scripts())
        return "" if is_known else f"a script that is not the theme's: {body[:60]!r}"
    folder = posixpath.dirname(page)
    path = attributes["src"].partition("?")[0]
    own = path.lstrip("/") if path.startswith("/") else posixpath.join(folder, path)
    target = posixpath.normpath(own)
    is_ours = target.startswith("assets/") and (site / target).is_file()
    return "" if is_ours else f"a script from {attributes['src']!r}"


@functools.lru_cache(maxsize=1 << 16)  # most tags of a page stand on other pages as well
def _tag_fault(name: str, inside: str, ends: bool) -> str:
    if not ends:
        return f"<{name} does not end"
    if _TAG_INSIDE.search(inside):  # a comment or a title may have ended before it
        return f"<{name}> has a tag in its attributes"
    if name in _REFUSED or name == "script":
        return f"<{name}> may not stand on a page"
    if "=" not in inside:
        return ""
    for attribute, value in attributes_of(inside).items():
        if attribute.startswith("on") or attribute in ("srcdoc", "ping"):
            return f"<{name}> has the handler {attribute}"
        if attribute == "style" and (reaching := _REACHING.search(value)):
            return f"<{name}> has a style with {reaching[0]!r}"
        if attribute == "http-equiv" and value.lower() not in _STATED:
            return f"<meta> sets {value}"
        if attribute in _ADDRESSES and _is_active(name, _UNSEEN.sub("", value)):
            return f"<{name}> leads to {value[:40]!r}"
    return ""


def _is_active(name: str, address: str) -> bool:
    """Whether an address runs or reads something; a picture inside of the page does neither."""
    is_picture = name in ("img", "image") and address.lower().startswith("data:image/")
    return bool(_ACTIVE.match(address)) and not is_picture


@functools.cache
def theme_scripts() -> tuple[re.Pattern[str], ...]:
    """What our theme writes into its pages, from its templates; an address may stand in it."""
    scripts: list[re.Pattern[str]] = []
    for path in sorted(_TEMPLATES.iterdir()):
        for body in _SCRIPT.findall(path.read_text(encoding="utf-8")):
            fixed = map(re.escape, _BLANK.split(body))
            scripts.append(re.compile(r"[\w./-]*".join(fixed)))
    return tuple(scripts)
