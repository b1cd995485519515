"""What a site generator complains about, out of all that it prints: a line for each, with its file.

A generator prints its progress, warnings that it repeats, and the Python frames of its own failure.
Whoever edits a page needs the name of the page and the reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from flopbook.data.files import read_text

MOST_SHOWN = 12
_LAST_LINES = 5
# Colours, and the columns of the lists of Rich.
_DECORATION = re.compile(r"\x1b\[[0-9;]*m")
_LEVEL = re.compile(r"(?:\[[^\]]*\]\s*)?(?:WARNING|ERROR|CRITICAL|Error|Warning)\s*(?:-|:)\s*(.+)")
_FILE = re.compile(r"(?:Doc file|Document|A reference to|File|Page) '([^']+)'[:,]?\s*(.*)")
_LINK = re.compile(r"contains a link '([^']+)'")
_FAILURE = re.compile(
    r"(?:[\w.]+\.)?(\w*(?:Error|Exception|Interrupt|Failure|NotFound))\b(?:: (.*))?"
)
_FRAME = re.compile(r'\s*File "([^"]+)", line (\d+)')
_SUMMARY = re.compile(r"Aborted with \d+ |Build failed")


def complaints(output: str, docs: Path | None = None) -> list[str]:
    """File and reason of each complaint; the last lines where none is found.

    A link that a page of `docs` has as it stands is named with its line there.
    """
    lines = [_DECORATION.sub("", line).rstrip() for line in output.splitlines()]
    chosen = list(dict.fromkeys((*_warnings(lines, docs), *_failure(lines))))
    if not chosen:
        chosen = [line for line in lines if line.strip()][-_LAST_LINES:]
    unprinted = len(chosen) - MOST_SHOWN
    return [*chosen[:MOST_SHOWN], *([f"and {unprinted} more"] if unprinted > 0 else ())]


def _warnings(lines: Sequence[str], docs: Path | None) -> Iterator[str]:
    for line in lines:
        match = _LEVEL.match(line.strip())
        if match is None or _SUMMARY.match(match[1]):
            continue
        named = _FILE.match(match[1])
        yield f"{_place(named[1], named[2], docs)}: {named[2]}" if named else match[1]


def _place(page: str, reason: str, docs: Path | None) -> str:
    """The source of a page and the first line with the link that a reason names; else the page."""
    link = _LINK.search(reason)
    if docs is None or link is None or not (docs / page).is_file():
        return page
    for number, line in enumerate(read_text(docs / page).split("\n"), 1):
        if f"]({link[1]})" in line:
            return f"{docs.name}/{page}:{number}"
    return page


def _failure(lines: Sequence[str]) -> Iterator[str]:
    """The exception that ended the generator, with the last place that it names."""
    if not any(line.startswith("Traceback") for line in lines):
        return
    reason, place = "", ""
    for line in lines:
        if frame := _FRAME.match(line):
            place = f"{frame[1]}:{frame[2]}: "
        elif failure := _FAILURE.fullmatch(line):
            reason = f"{failure[1]}: {failure[2]}" if failure[2] else failure[1]
    if reason:
        yield f"{place}{reason}"
