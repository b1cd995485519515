"""Writes what the check found about links that fail, with the address of an archived copy, for
pages to show.

Small differences matter: a link that works has no row, a row keeps its day while its status stays
the same, and what may pass by itself (a timeout, a busy or failing server) changes no row.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlencode

from flopbook.contributing.fetching import Fetcher, FetchError
from flopbook.data.link_status import LinkStatus
from scripts.linkcheck.results import Result

# The availability API: archive.org/help/wayback_api.php
AVAILABLE = "https://archive.org/wayback/available"
PASSING = frozenset(("server", "rate-limited", "timeout", "connect", "broken"))


def updated(
    before: Mapping[str, LinkStatus], results: Mapping[str, Result], day: str, *, whole: bool
) -> dict[str, LinkStatus]:
    """The rows after a check.

    `whole`: every link was checked, so a row without a result is of a link that is gone.
    """
    rows = {} if whole else dict(before)
    for url, result in results.items():
        old = before.get(url)
        if result.kind in PASSING:
            rows.update({url: old} if old else {})
            continue
        rows.pop(url, None)
        if not result.ok:
            status = str(result.status) if result.status is not None else result.kind
            same = old is not None and old.status == status
            rows[url] = old if same else LinkStatus(url, status, day, old.archive if old else "")
    return dict(sorted(rows.items()))


def with_archives(
    rows: Mapping[str, LinkStatus], fetcher: Fetcher
) -> tuple[dict[str, LinkStatus], list[str]]:
    """The rows, with copies of dead links that had none yet, and what went wrong with the archive."""
    found, faults = dict(rows), []
    for url, row in rows.items():
        if row.archive or not row.dead:
            continue
        try:
            copy = archived(url, fetcher)
        except FetchError as error:
            faults.append(f"{url}: {error}")
            if error.kind in ("offline", "busy"):
                break
        else:
            found[url] = row._replace(archive=copy)
    return found, faults


def archived(url: str, fetcher: Fetcher) -> str:
    """The address of a copy in the Internet Archive, empty for none. Raises FetchError."""
    answer = fetcher.get(f"{AVAILABLE}?{urlencode({'url': url})}", "application/json")
    try:
        closest = (json.loads(answer.body).get("archived_snapshots") or {}).get("closest") or {}
        copy = (
            str(closest.get("url", ""))
            if closest.get("available") and str(closest.get("status")) == "200"
            else ""
        )
    except (ValueError, AttributeError, RecursionError):
        raise FetchError("broken", "archive.org gives no record that can be read") from None
    copy = (
        copy.replace("http://", "https://", 1)
        if copy.startswith("http://web.archive.org/")
        else copy
    )
    return (
        copy
        if copy.startswith("https://web.archive.org/web/")
        and copy.isprintable()
        and " " not in copy
        else ""
    )


def as_json(rows: Iterable[LinkStatus]) -> str:
    """One line for each link, so that a difference has one line for each change."""
    texts = []
    for row in rows:
        fields = {"status": row.status, "checked": row.checked} | (
            {"archive": row.archive} if row.archive else {}
        )
        texts.append(
            f"{json.dumps(row.url, ensure_ascii=False)}: {json.dumps(fields, ensure_ascii=False)}"
        )
    return "{" + ",".join(f"\n{text}" for text in texts) + ("\n" if texts else "") + "}\n"


def write(path: Path, rows: Mapping[str, LinkStatus]) -> None:
    """Write the file beside its place and move it there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".link-status-")
    with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
        stream.write(as_json(rows.values()))
    os.chmod(name, 0o644)
    os.replace(name, path)
