"""How good each source is, read without parsing the bibliography.

Choosing a value needs one field of each BibTeX entry, so every command needs it. A line scan reads
it in milliseconds; a test holds the scan equal to the parse by pybtex.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

from flopbook import bibliography as _bibliography

BIBLIOGRAPHY = Path(_bibliography.__file__).parent

_TIER = re.compile(rb"""tier[ \t]*=[ \t]*[{"]([a-z]*)["}][ \t]*(?=[,}\r\n])""")
_START = re.compile(rb"@\w+\s*[{]\s*([^,\s]+)\s*,")


@functools.cache
def source_tiers(root: Path = BIBLIOGRAPHY) -> dict[str, str]:
    """The tier of every source that has one: key -> vendor, submission, secondary, press or
    community.
    """
    tiers: dict[str, str] = {}
    for path in sorted(root.glob("*.bib")):
        data = path.read_bytes()
        lower = (
            data.lower()
        )  # field names may be in capitals; ASCII only, so that places stay the same
        for match in _TIER.finditer(lower):
            if lower[: match.start()].rstrip(b" \t")[-1:] in (b"\n", b","):
                key = _key_before(data, match.start())
                if key:
                    tiers.setdefault(key, match[1].decode())
    return tiers


def _key_before(data: bytes, place: int) -> str:
    """The key of the entry that a field at this place belongs to: the last one that starts a line
    before it.
    """
    while (start := data.rfind(b"@", 0, place)) >= 0:
        if start == 0 or data[start - 1 : start] == b"\n" or data[:start] == b"\xef\xbb\xbf":
            found = _START.match(data, start)
            return found[1].decode("utf-8", "replace") if found else ""
        place = start
    return ""
