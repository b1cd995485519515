"""Makes the handbook as PDF and ePub from the built site, and links both on its handbook page.

They go to build/book/flopbook-handbook.pdf and .epub.

The site is built first when there is none or when a source is newer. Links to pages that are not in
the book lead to the published site where FLOPBOOK_SITE_URL names it. Exit status: 0 made, 1 the
site or the book has a fault, 2 bad usage or no browser.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from flopbook.data.files import write_made
from flopbook.errors import FlopbookError, reason_of
from scripts.ensure_browser import BrowserError, ensure_browser
from scripts.website.book.document import NAME
from scripts.website.book.parts import BookError
from scripts.website.build.exchange import alone
from scripts.website.build.steps import BuildSteps

ROOT = Path(__file__).resolve().parents[1]


def main(arguments: list[str] | None = None) -> int:
    """Make the book; print its pages, sizes and how long each step took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--site", type=Path, default=ROOT / "site", help="the built site (default: site/)"
    )
    parser.add_argument(
        "--out", type=Path, default=ROOT / "build" / "book", help="where the files go"
    )
    options = parser.parse_args(arguments)
    try:
        browser = ensure_browser()
        if options.site.absolute() == ROOT / "site" and stale(options.site):
            from scripts import build_site

            if build_site.main([]):
                return 1
        steps = BuildSteps(4)
        _make(options, browser, steps)
    except BrowserError as error:
        print(f"book: {error}", file=sys.stderr)
        return 2
    except (BookError, FlopbookError) as error:
        print(f"book: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"book: {error.filename or options.out}: {reason_of(error)}", file=sys.stderr)
        return 1
    print(steps.summary())
    return 0


def stale(site: Path) -> bool:
    """Whether there is no site, or a source that it is made from is newer."""
    from scripts.serve import snapshot

    page = site / "index.html"
    if not page.is_file():
        return True
    last_change = max(changed for _, changed in snapshot())
    return last_change > page.stat().st_mtime_ns


def _make(options: argparse.Namespace, browser: Path, steps: BuildSteps) -> None:
    from scripts.website.book import making
    from scripts.website.book.document import printed
    from scripts.website.book.publish import megabytes, publish

    with steps.step("read the site"):
        facts, parts = making.gathered(options.site)
        steps.detail(f"{len(parts)} parts, {sum(len(part.cited) for part in parts)} citations")
        html = printed(facts, parts)
    paper, reader = options.out / f"{NAME}.pdf", options.out / f"{NAME}.epub"
    with steps.step("write the ePub"):
        write_made(reader, making.reader(facts, parts))
        steps.detail(f"{megabytes(reader)}")
    del parts  # a hundred megabytes of trees, beside which the PDF would be made
    with steps.step("print the PDF"):
        content, pages = making.paper(html, browser)
        write_made(paper, content)
        steps.detail(f"{pages} pages, {megabytes(paper)}")
    with alone(ROOT / "build", print), steps.step("put both into the site"):
        publish([paper, reader], options.site)
    print(f"book: {paper}\nbook: {reader}")


if __name__ == "__main__":
    sys.exit(main())
