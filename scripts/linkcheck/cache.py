"""Results of earlier runs, so that a second run asks only for what may have changed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from flopbook.data.files import read_text, write_text
from scripts.linkcheck.results import KINDS, Result

VERSION = 1
DAY_S = 86_400.0
# A page that answered will be there next week. "Not found" is kept for an hour, to spare hosts
# while links are mended. What may pass by itself (timeouts, 5xx, names that do not resolve) is
# asked again each time.
DEFAULT_AGES_S = {"ok": 7 * DAY_S, "http": 3600.0}
# What reading a file makes of it that is not there, was cut off, or holds something else.
_DAMAGED = (
    *(OSError, ValueError, KeyError, TypeError, AttributeError),
    *(OverflowError, RecursionError, MemoryError),
)


@dataclass
class Cache:
    """Results by address, in one JSON file.

    `ages_s`: how long a result of each kind is believed.
    """

    path: Path | None
    ages_s: dict[str, float] = field(default_factory=lambda: dict(DEFAULT_AGES_S))
    _entries: dict[str, tuple[float, Result]] = field(default_factory=dict)

    def load(self) -> None:
        """Read the file.

        A missing or damaged one is an empty one: all of it can be found out again.
        """
        try:
            document = json.loads(read_text(self.path)) if self.path else {}
            entries = document["results"] if document["version"] == VERSION else {}
            self._entries = {url: _entry(url, row) for url, row in entries.items()}
        except _DAMAGED:
            self._entries = {}

    def get(self, url: str, now: float) -> Result | None:
        """The result of an earlier run, if it is young enough."""
        checked, result = self._entries.get(url, (0.0, None))
        if result is None or not 0 <= now - checked < self.ages_s.get(result.kind, 0.0):
            return None
        return replace(result, cached=True)

    def put(self, results: Iterable[Result], now: float) -> None:
        """Remember results of this run; one that may not be kept drives out the older one."""
        for result in results:
            self._entries.pop(result.url, None)
            if self.ages_s.get(result.kind, 0.0) > 0 and not result.cached:
                self._entries[result.url] = (now, result)

    def save(self, now: float) -> None:
        """Write the file, whole or not at all. Raises FlopbookError."""
        if self.path is None:
            return
        rows = {
            url: {"checked": checked} | _row(result)
            for url, (checked, result) in sorted(self._entries.items())
            if self.get(url, now)
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_text(self.path, json.dumps({"version": VERSION, "results": rows}, indent=0))


def _row(result: Result) -> dict[str, object]:
    return {name: value for name, value in asdict(result).items() if name not in ("url", "cached")}


def _entry(url: str, row: dict[str, object]) -> tuple[float, Result]:
    checked, status = row["checked"], row["status"]
    if (
        row["kind"] not in KINDS
        or not isinstance(checked, int | float)
        or not isinstance(status, int | None)
    ):
        raise ValueError(f"damaged entry for {url}")
    kind, detail, final_url = str(row["kind"]), str(row["detail"]), str(row["final_url"])
    return float(checked), Result(url, kind, status, detail, final_url, moved=row["moved"] is True)
