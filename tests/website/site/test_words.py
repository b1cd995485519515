"""The text of the built site: no marks of a program, no slips, no words of the first edition."""

from __future__ import annotations

import html
import re
from pathlib import Path

_DROPPED = re.compile(r"<(script|style|pre|code|math|svg|noscript|select)\b.*?</\1>", re.S)
_RUNNING = re.compile(r"</?(?:a|span|em|strong|b|i|abbr|sup|sub)\b[^>]*>")
_TAG = re.compile(r"<[^>]+>")
_ARTICLE = re.compile(r"<article.*</article>", re.S)
FAULTS = {
    "a literal backtick": re.compile(r"`"),
    "a power of ten as programs write it": re.compile(r"(?<![\w.])\d(?:\.\d+)?e[+-]?\d{1,3}\b"),
    "a square without its exponent": re.compile(r"(?<![\w-])[mc]?m2(?![\w-])"),
    "a word twice": re.compile(r"\b([a-z]{3,}) \1\b"),
    "one of many": re.compile(r"(?<![\d.,])\b1 (?:chips|tokens|sequences|works|claims|times as)\b"),
    "a word that is gone": re.compile(r"what you type here|heads if open|something unsaid"),
    "a value that is none": re.compile(r"\bundefined\b|\{\{"),
}
# A title as its authors wrote it, and a stage whose number stands before a verb.
TITLES = ("Hungry Hungry", "stage 1 works on")


def texts_of(page: str) -> str:
    """What a reader sees of a page; code and formulas are a mark."""
    found = _ARTICLE.search(page)
    shown = _DROPPED.sub("¤", found[0] if found else page)
    return html.unescape(_TAG.sub("\n", _RUNNING.sub("", shown)))


def test_the_text_of_every_page_reads_as_print(site: Path) -> None:
    faults = []
    for path in sorted(site.rglob("index.html")):
        if {"notebooks", "contributing"} & set(path.parts):  # output and text of programs
            continue
        text = texts_of(path.read_text(encoding="utf-8"))
        for fault, pattern in FAULTS.items():
            for found in pattern.finditer(text):
                around = text[max(0, found.start() - 40) : found.end() + 40]
                is_quoted = fault == "a literal backtick" and "accelerators" in path.parts
                if not is_quoted and not any(title in around for title in TITLES):
                    faults.append((path.parent.relative_to(site).as_posix(), fault, around))
    assert faults == []
