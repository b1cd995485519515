"""What the page on planning shows: commands with what they print today, and published layouts."""

from __future__ import annotations

import contextlib
import io
import shlex

from flopbook.cli.app import run
from flopbook.errors import FlopbookError
from flopbook.planning.planner import PlannedLayout
from flopbook.quantities.units import percent
from scripts.website.markup import Html, code_block, table
from scripts.website.measured.published_layouts import PUBLISHED, PublishedLayout, compared
from scripts.website.pages.sources import cite

HEAD = ("Run", "Layout", "#Slower than the best layout then", "#Slower than the best today", "Best")


def terminal(line: str, until: str = "", since: str = "") -> Html:
    """A command line with what it prints, run when the page is made.

    What follows a line that begins with `until` is left out, and what precedes one that begins with
    `since`. Raises FlopbookError.
    """
    words = shlex.split(line)
    if words[:1] != ["flopbook"]:
        raise FlopbookError(f"'{line}' is no command of flopbook")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        status = run(words[1:])
    if status:
        raise FlopbookError(f"'{line}' ends with status {status}")
    text = printed.getvalue()
    if until:
        kept, mark, _ = text.partition(f"\n{until}")
        if not mark:
            raise FlopbookError(f"'{line}' prints no line that begins with '{until}'")
        text = f"{kept.rstrip()}\n..."
    if since:
        _, mark, rest = text.partition(f"\n{since}")
        if not mark:
            raise FlopbookError(f"'{line}' prints no line that begins with '{since}'")
        text = f"...\n{since}{rest}"
    return code_block(f"$ {line}\n{text.rstrip()}", "console")


def published_layouts(page: str) -> Html:
    """A row for each published layout: how much slower it is predicted than the best."""
    rows = [_row(page, layout) for layout in PUBLISHED.values()]
    caption = "Published layouts and the best predicted ones"
    return table(HEAD, rows, caption=caption, stacked=True)


def _row(page: str, one: PublishedLayout) -> tuple[str, ...]:
    then, now = compared(one, as_of_its_time=True), compared(one, as_of_its_time=False)
    run_name = Html("{}, {} chips {}").format(
        one.asked["model"], f"{int(one.asked['chips']):,}", cite(one.source, page)
    )
    return (
        run_name,
        " ".join(f"{name.upper()} {size}" for name, size in one.layout.items()),
        percent(then.slower, 1),
        percent(now.slower, 1),
        _words(now.best),
    )


def _words(layout: PlannedLayout) -> str:
    """The degrees of a layout that are more than one."""
    degrees = {name: getattr(layout, name) for name in ("tp", "pp", "cp", "ep", "dp")}
    return " ".join(f"{name.upper()} {size}" for name, size in degrees.items() if size > 1)
