"""Writes which links fail, with the address of an archived copy, for pages to show.

Small differences matter: a link that works has no row, a row keeps its day while its status stays
the same, and what may pass by itself (a timeout, a busy or failing server) changes no row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlencode

from flopbook.contributing.fetching import Fetcher, FetchError
from flopbook.data.files import write_text
from flopbook.data.link_status import ARCHIVE, LinkStatus
from flopbook.data.reference_rules import is_link
from scripts.linkcheck.results import Result

# The availability API: archive.org/help/wayback_api.php
AVAILABLE = "https://archive.org/wayback/available"
_LONGEST_COPY = 2000  # characters of an address
PASSING = frozenset(("server", "rate-limited", "timeout", "connect", "broken"))


def updated(
    before: Mapping[str, LinkStatus], results: Mapping[str, Result], day: str, *, whole: bool
) -> dict[str, LinkStatus]:
    """The rows after a check.

    `whole`: every link was checked, so a row without a result is of a link that is gone.
    """
    rows = {} if whole else dict(before)
    for url, result in results.items():
        row = _row(url, result, before.get(url), day)
        if row is None:
            rows.pop(url, None)
        else:
            rows[url] = row
    return dict(sorted(rows.items()))


def _row(url: str, result: Result, old: LinkStatus | None, day: str) -> LinkStatus | None:
    """The row of a link after a check, None for a link that works."""
    if result.kind in PASSING:
        return old
    if result.ok:
        return None
    status = result.kind if result.status is None else str(result.status)
    if old is not None and old.status == status:
        return old
    return LinkStatus(url, status, day, old.archive if old else "")


def with_archives(
    rows: Mapping[str, LinkStatus], fetcher: Fetcher
) -> tuple[dict[str, LinkStatus], list[str]]:
    """The rows, with copies of dead links that had none yet, and the faults of the archive."""
    completed, faults = dict(rows), []
    for url, row in rows.items():
        if row.archive or not row.dead:
            continue
        try:
            completed[url] = row._replace(archive=archived(url, fetcher))
        except FetchError as error:
            faults.append(f"{url}: {error}")
            if error.kind in ("offline", "busy"):
                break  # the next link would be turned away as well
    return completed, faults


def archived(url: str, fetcher: Fetcher) -> str:
    """The address of a copy in the Internet Archive, empty for none. Raises FetchError."""
    answer = fetcher.get(f"{AVAILABLE}?{urlencode({'url': url})}", "application/json")
    try:
        snapshots = json.loads(answer.body).get("archived_snapshots") or {}
        closest = snapshots.get("closest") or {}
        usable = closest.get("available") and str(closest.get("status")) == "200"
        copy = str(closest.get("url", "")) if usable else ""
    except (ValueError, AttributeError, RecursionError):
        raise FetchError("broken", "archive.org gives no record that can be read") from None
    if copy.startswith("http://web.archive.org/"):  # as the service writes its own addresses
        copy = copy.replace("http://", "https://", 1)
    # Nothing that the reader of the file would refuse, with all other rows.
    usable = copy.startswith(ARCHIVE) and len(copy) <= _LONGEST_COPY and is_link(copy)
    return copy if usable else ""


def as_json(rows: Iterable[LinkStatus]) -> str:
    """One line for each link, so that a difference has one line for each change."""
    lines = []
    for row in rows:
        fields = {"status": row.status, "checked": row.checked}
        if row.archive:
            fields["archive"] = row.archive
        url = json.dumps(row.url, ensure_ascii=False)
        lines.append(f"{url}: {json.dumps(fields, ensure_ascii=False)}")
    if not lines:
        return "{}\n"
    return "{\n" + ",\n".join(lines) + "\n}\n"


def write(path: Path, rows: Mapping[str, LinkStatus]) -> None:
    """Write the file, whole or not at all. Raises FlopbookError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, as_json(rows.values()))
