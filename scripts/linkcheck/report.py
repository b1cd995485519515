"""What the run found, as text for people and as JSON."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TextIO

from flopbook.errors import shorten
from scripts.linkcheck.collect import Link
from scripts.linkcheck.exceptions import LinkException, Verdict
from scripts.linkcheck.results import Result

_LONGEST_TARGET = 200  # characters of an address that a server names


@dataclass(frozen=True)
class Report:
    """Everything that is printed at the end."""

    places: Mapping[str, list[Link]]
    results: Mapping[str, Result]
    verdict: Verdict
    exceptions_file: str

    @property
    def problems(self) -> int:
        """Broken links and unused exceptions."""
        return len(self.verdict.broken) + len(self.verdict.unused)


def printable(text: str) -> str:
    """Text from a server or a contributor, safe to print on a terminal."""
    return "".join(character if character.isprintable() else "?" for character in text)


def as_text(report: Report) -> str:
    """A line for each broken link in each place, for each unused exception, and for the sum."""
    lines = [*_broken_lines(report), *_moved_lines(report)]
    for entry, why in report.verdict.unused:
        place = f"{report.exceptions_file}:{entry.line}"
        lines.append(f"{place}: unused-exception: {entry.pattern}: {why}; remove the entry")
    lines.append(_sum(report))
    return "".join(f"{printable(line)}\n" for line in lines)


def _broken_lines(report: Report) -> list[str]:
    """One line for each place of each broken link, in the order of the places."""
    broken = []
    for result, entry in report.verdict.broken:
        broken += [(link, result, entry) for link in report.places[result.url]]
    broken.sort(key=lambda row: row[0])
    return [_broken_line(*row) for row in broken]


def _moved_lines(report: Report) -> Iterator[str]:
    """One line for each address that leads elsewhere for good, at the first of its places."""
    for url in sorted(url for url, result in report.results.items() if result.moved):
        first = min(report.places[url])
        target = shorten(report.results[url].final_url, _LONGEST_TARGET)
        advice = f"moved for good to {target} (works; bring it up to date)"
        yield f"{first.file}:{first.line}: moved: {url}: {advice}"


def _broken_line(link: Link, result: Result, entry: LinkException | None) -> str:
    expected = f" (the exception on line {entry.line} expects {entry.expect})" if entry else ""
    fault = f"{result.kind}: {result.detail}{expected}"
    return f"{link.file}:{link.line}: broken-link: {link.url}: {fault}"


def _sum(report: Report) -> str:
    fine = [result for result in report.results.values() if result.ok]
    places = sum(len(links) for links in report.places.values())
    return (
        f"links: {len(report.results)} addresses in {places} places: {len(fine)} work"
        f" ({sum(result.cached for result in fine)} known from an earlier run,"
        f" {sum(result.moved for result in fine)} moved), {len(report.verdict.excused)} excused,"
        f" {len(report.verdict.broken)} broken; {len(report.verdict.unused)} unused exceptions"
    )


def as_json(report: Report) -> str:
    """The same for programs: each address with places, result and the line of its exception."""
    excused = {result.url: entry.line for result, entry in report.verdict.excused}
    links = [
        asdict(result)
        | {"ok": result.ok, "exception_line": excused.get(url)}
        | {"places": [asdict(link) for link in report.places[url]]}
        for url, result in sorted(report.results.items())
    ]
    unused = [
        {"line": entry.line, "pattern": entry.pattern, "why": why}
        for entry, why in report.verdict.unused
    ]
    summary = {
        "addresses": len(links),
        "broken": len(report.verdict.broken),
        "excused": len(excused),
        "unused_exceptions": len(unused),
    }
    return (
        json.dumps({"summary": summary, "links": links, "unused_exceptions": unused}, indent=1)
        + "\n"
    )


class Progress:
    """One line that counts: rewritten in place on a terminal, every tenth of the way in a log."""

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self._total = total
        self._stream = stream or sys.stderr
        self._lock = threading.Lock()
        self._done = self._failed = 0

    def add(self, result: Result) -> None:
        """Count one more result; safe from several threads."""
        with self._lock:
            self._done += 1
            self._failed += not result.ok
            text = f"checking links: {self._done} of {self._total}, {self._failed} failing"
            if self._stream.isatty():
                end = "\n" if self._done == self._total else ""
                print(f"\r{text}", end=end, file=self._stream, flush=True)
            elif self._done == self._total or self._done % max(1, self._total // 10) == 0:
                print(text, file=self._stream, flush=True)
