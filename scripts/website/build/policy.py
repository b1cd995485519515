"""What a page of the site may run: the scripts that are ours, and nothing else.

Each page says so to the browser in a Content-Security-Policy, and the build refuses a page that
holds anything that such a policy would have to stop. Ours are the files of the site, and the
scripts that our theme writes into its pages, known by their text.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import posixpath
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from flopbook.checks.drawings import drawing_problems
from flopbook.checks.pictures import picture_fault
from flopbook.data.files import write_made

_TEMPLATES = Path(__file__).resolve().parents[1] / "theme" / "partials" / "javascripts"
# Between tags nothing but a tag begins with `<` and a letter: text from data and prose has it
# escaped. An attribute's value may hold anything but its own quotation mark.
_TAG = re.compile(r"<([a-zA-Z][^\s/>]*)(?:((?:[^>\"']|\"[^\"]*\"|'[^']*')*)>)?")
_ATTRIBUTE = re.compile(r"([^\s=\"'/>]+)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s\"'>]+))?")
_SCRIPT = re.compile(r"(<script\b(?:[^>\"']|\"[^\"]*\"|'[^']*')*>)(.*?)</script>", re.S | re.I)
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
_STYLE = re.compile(r"<style\b[^>]*>(.*?)</style>", re.S | re.I)
# What a style of a picture never needs: other files, escapes, the end of its element.
_REACHING = re.compile(r"@import|url\s*\(|image-set|src\s*:|expression|\\|<", re.I)
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


def write_policies(site: Path) -> None:
    """Give every page its policy. Raises PolicyError for what no page may hold."""
    problems = [f"{name}: a file of a kind that no page leads to" for name in _strangers(site)]
    for path in sorted(site.rglob("*.html")):
        page = path.relative_to(site).as_posix()
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            problems.append(f"{page}: {error}")
            continue
        found = list(page_problems(text, page, site))
        problems += found
        if not found:
            write_made(path, with_policy(text))
    for path in sorted(site.rglob("*.svg")):
        name = path.relative_to(site).as_posix()
        problems += drawing_problems(path.read_bytes(), name)
    for path in sorted(site.rglob("*.png")):
        if fault := picture_fault(path.read_bytes()):
            problems.append(f"{path.relative_to(site).as_posix()}:1: {fault}")
    if problems:
        raise PolicyError("\n".join(problems))


def _strangers(site: Path) -> Iterator[str]:
    """Files of kinds that a browser might open as a page of its own, and that we never write."""
    for path in sorted(site.rglob("*")):
        if path.is_file() and path.suffix not in _KINDS:
            yield path.relative_to(site).as_posix()


def with_policy(text: str) -> str:
    """A page with its policy right behind the encoding; whatever stands below obeys it."""
    inline = [body for tag, body in _SCRIPT.findall(text) if _is_run_inline(_attributes(tag))]
    styles = _STYLE.findall(_SCRIPT.sub("", text))
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
    for match in _SCRIPT.finditer(text):
        if fault := _script_fault(_attributes(match[1]), match[2], page, site):
            yield f"{page}:{_line(text, match.start())}: {fault}"
    for match in _STYLE.finditer(text):
        if reaching := _REACHING.search(match[1]):
            yield f"{page}:{_line(text, match.start())}: a style with {reaching[0]!r}"
    # Comments and styles are looked into as well: browsers and we may differ on where they end.
    without_scripts = _SCRIPT.sub(_emptied, text)
    for match in _TAG.finditer(without_scripts):
        if fault := _tag_fault(match[1].lower(), match[2]):
            yield f"{page}:{_line(without_scripts, match.start())}: {fault}"


def _emptied(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _line(text: str, start: int) -> int:
    return text.count("\n", 0, start) + 1


def _attributes(tag: str) -> dict[str, str]:
    """Name -> value of the attributes of a tag; the first of a name counts, as in a browser."""
    inside = re.sub(r"^<[a-zA-Z][^\s/>]*|>$", "", tag)
    attributes: dict[str, str] = {}
    for name, value in _ATTRIBUTE.findall(inside):
        bare = value[1:-1] if value[:1] in "\"'" and value else value
        attributes.setdefault(name.lower(), html.unescape(bare))
    return attributes


def _is_run_inline(attributes: dict[str, str]) -> bool:
    return "src" not in attributes and attributes.get("type") not in _RECORDS


def _script_fault(attributes: dict[str, str], body: str, page: str, site: Path) -> str:
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
def _tag_fault(name: str, inside: str | None) -> str:
    if inside is None:
        return f"<{name} does not end"
    if name in _REFUSED or name == "script":
        return f"<{name}> may not stand on a page"
    if "=" not in inside:
        return ""
    for attribute, value in _attributes(inside).items():
        if attribute.startswith("on") or attribute == "srcdoc":
            return f"<{name}> has the handler {attribute}"
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
        for _, body in _SCRIPT.findall(path.read_text(encoding="utf-8")):
            fixed = map(re.escape, _BLANK.split(body))
            scripts.append(re.compile(r"[\w./-]*".join(fixed)))
    return tuple(scripts)
