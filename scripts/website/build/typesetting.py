"""Numbers and units of running text as print writes them: 3.1 × 10²³ FLOP, 814 mm², 7,800 tokens/s.

A degree stays with its number: no line ends between TP and 8.

The command line writes `3.1e23`, which can be typed again; nobody reads that in a sentence. Code,
attributes, addresses and formulas are left alone. `typeset` of quantity.js does the same in forms.
"""

from __future__ import annotations

import html
import re

from flopbook.checks.rules.elements import FENCED

_SKIP = (
    r"(?P<skip>\A---\n.*?^---\n|"
    + FENCED
    + r"|(?<!`)(?P<ticks>`+)(?!`)[^\n]+?(?<!`)(?P=ticks)(?!`)"
    r"|<(?P<tag>pre|code|script|math|svg)\b.*?</(?P=tag)>"
    r"|<[a-zA-Z/!][^>]*>"
    r"|\]\([^)\n]*\))"
)
_POWER = r"(?<![\w.,])(?P<digits>\d+(?:\.\d+)?)e(?P<power>(?:\+|&#43;|-)?\d{1,3})(?![\w.]*\w)"
_AREA = r"(?<![\w-])(?P<length>[mc]?m)(?P<sides>[23])(?![\w-])"  # or a volume
_EACH = (
    r"(?P<amount>\d(?: (?:thousand|million|billion|trillion))?) "
    r"(?P<noun>token|byte)/(?P<each>s|param|token)\b"
)
_DEGREE = r"\b(?P<degree>TP|PP|CP|EP|DP|SP) (?=\d)"
_RULES = f"{_POWER}|{_AREA}|{_EACH}|{_DEGREE}"
_SHOWN = re.compile(_RULES)
_TEXT = re.compile(f"{_SKIP}|{_RULES}", re.DOTALL | re.MULTILINE)
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_ONE = re.compile(r"(?:^|[^\d.,])1$")


def typeset(text: str) -> str:
    """One value or a sentence without markup."""
    return _SHOWN.sub(_written, text)


def typeset_page(text: str) -> str:
    """A page of the content tree; what is not running text stays as it is."""
    return _TEXT.sub(lambda found: found[0] if found["skip"] else _written(found), text)


def _written(found: re.Match[str]) -> str:
    if found["power"]:
        power = html.unescape(found["power"]).removeprefix("+").translate(_RAISED)
        return f"10{power}" if found["digits"] == "1" else f"{found['digits']} × 10{power}"
    if found["length"]:
        return found["length"] + found["sides"].translate(_RAISED)
    if found["degree"]:
        return f"{found['degree']}\N{NO-BREAK SPACE}"
    before = found.string[max(0, found.start() - 1) : found.start("amount") + 1]
    noun = (
        found["noun"] if _ONE.search(before) and len(found["amount"]) == 1 else f"{found['noun']}s"
    )
    return f"{found['amount']} {noun}/{found['each']}"
