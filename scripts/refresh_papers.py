"""Ask arXiv for new works by topic, and write those that the bibliography lacks, best first, for a
person to judge.

The questions are in `paper_queries.yaml`. arXiv asks for a pause of three seconds between requests;
a run that is interrupted, or that arXiv turns away, goes on where it stopped when it is started
again with the same days.

Exit status: 0 done; 1 some topics could not be asked, what was found is kept for the next run; 2
bad usage or input.
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from flopbook.contributing.fetching import Fetcher, FetchError
from flopbook.contributing.metadata import Work, from_atom
from flopbook.contributing.new_reference import entry_text, key_of
from flopbook.data.bibtex_text import pieces
from flopbook.data.library import topics
from flopbook.data.references import Person
from flopbook.data.works import on_file
from flopbook.errors import FlopbookError, printable
from scripts.papers.queries import PAGE, Query, read_queries
from scripts.papers.ranking import RULES, Candidate, author_counts, choose, rank

ROOT = Path(__file__).resolve().parent.parent
PAUSE_S = 3.0
MOST_PAGES = 5


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise FlopbookError(f"{message}; see --help")


def main(arguments: Sequence[str] | None = None, fetcher: Fetcher | None = None) -> int:
    """Ask, rank and write; `fetcher` is for tests, which talk to this machine only and do not wait."""
    try:
        options = _parse(arguments)
        return _run(options, fetcher or Fetcher(pause_s=PAUSE_S))
    except (FlopbookError, OSError) as error:
        print(f"refresh_papers: {printable(' '.join(str(error).split()))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nrefresh_papers: interrupted; the same command goes on from here", file=sys.stderr)
        return 130


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = _Parser(
        prog="refresh_papers", description=(__doc__ or "").split("\n\n")[0], epilog=f"Rank: {RULES}"
    )
    add = parser.add_argument
    today = datetime.date.today()
    add(
        "--since",
        type=_day,
        default=today - datetime.timedelta(days=7),
        help="first day of submission (a week ago)",
    )
    add("--until", type=_day, default=today, help="last day of submission (today)")
    add("--most", type=_count, default=20, metavar="N", help="how many works to write (20)")
    add(
        "--queries",
        type=Path,
        default=ROOT / "scripts" / "paper_queries.yaml",
        help="the questions",
    )
    add(
        "--out",
        type=Path,
        default=ROOT / "bibliography" / "candidates.bib",
        help="the file that is written",
    )
    add(
        "--state",
        type=Path,
        default=ROOT / ".cache" / "papers.json",
        help="where an unfinished run is kept",
    )
    options = parser.parse_args(arguments)
    if options.since > options.until:
        raise FlopbookError(f"--since {options.since} is after --until {options.until}")
    return options


def _day(text: str) -> datetime.date:
    try:
        return datetime.datetime.strptime(text, "%Y-%m-%d").date()
    except ValueError:
        raise argparse.ArgumentTypeError(f"found {text}, expected a day as YYYY-MM-DD") from None


def _count(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 500:
        raise argparse.ArgumentTypeError(f"found {text}, expected a whole number from 1 to 500")
    return int(text)


def _run(options: argparse.Namespace, fetcher: Fetcher) -> int:
    queries = read_queries(options.queries, [one.id for top in topics() for one in top.walk()])
    state = _State(
        options.state,
        f"{options.since} {options.until} {options.queries.read_text(encoding='utf-8')}",
    )
    fault = ""
    for query in queries:
        if query.topic in state.done:
            continue
        try:
            state.put(query.topic, _found(query, options, fetcher))
        except FetchError as error:
            fault = str(error)
            print(f"refresh_papers: {query.topic}: {printable(fault)}", file=sys.stderr)
            if error.kind in ("offline", "busy", "refused"):
                break  # the next question would be turned away as well
    if fault:
        count = len(queries) - len(state.done)
        print(
            f"refresh_papers: {count} of {len(queries)} topics are open; nothing was written; run it again later"
        )
        return 1
    there = on_file()
    authors = author_counts(there.values())
    ranked = [
        rank(work, q.topic, q.phrases, authors) for q in queries for work in state.done[q.topic]
    ]
    chosen = choose(ranked, list(there.values()), options.most)
    _write(options.out, chosen, set(there))
    state.clear()
    works = len({one.work.eprint for one in ranked})
    print(
        f"{works} works of {options.since} to {options.until}, {len(chosen)} of them written to {options.out.name}"
    )
    return 0


def _found(query: Query, options: argparse.Namespace, fetcher: Fetcher) -> list[Work]:
    """The works of a topic between two days, page by page until they are too old.

    Raises FetchError.
    """
    kept: list[Work] = []
    for page in range(MOST_PAGES):
        works = from_atom(fetcher.get(query.address(page * PAGE), "application/atom+xml").body)
        kept += [one for one in works if str(options.since) <= one.published <= str(options.until)]
        if len(works) < PAGE or works[-1].published < str(options.since):
            break
    return kept


class _State:
    """What an unfinished run has found; another question or other days begin anew."""

    def __init__(self, path: Path, asked: str) -> None:
        self._path, self._asked = path, asked
        self.done: dict[str, list[Work]] = {}
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            if document["asked"] == asked:
                self.done = {
                    topic: [_work(row) for row in rows] for topic, rows in document["done"].items()
                }
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self.done = {}  # a missing or damaged file costs a few requests

    def put(self, topic: str, works: list[Work]) -> None:
        """Keep the answer of a topic."""
        self.done[topic] = works
        rows = {name: [_row(one) for one in found] for name, found in self.done.items()}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_text(json.dumps({"asked": self._asked, "done": rows}), encoding="utf-8")

    def clear(self) -> None:
        """Forget it: the run is complete."""
        self._path.unlink(missing_ok=True)


def _row(work: Work) -> dict[str, Any]:
    return work._asdict() | {
        "people": [[one.family, one.given, one.organisation] for one in work.people]
    }


def _work(row: dict[str, Any]) -> Work:
    people = tuple(Person(*parts) for parts in row["people"])
    return Work(
        **row
        | {"people": people, "venue": tuple(row["venue"]), "more": tuple(map(tuple, row["more"]))}
    )


def _write(path: Path, chosen: Sequence[Candidate], taken: set[str]) -> None:
    """Add the candidates to the file, each under a line that says why it is there; what is in it
    stays.
    """
    if not chosen:
        return
    before = path.read_text(encoding="utf-8").rstrip("\n") if path.exists() else ""
    taken |= {key for key, _, _ in pieces(before)}
    blocks = [before] if before else []
    for one in chosen:
        key = key_of(one.work, taken)
        taken.add(key)
        blocks.append(
            f"% {one.rank}: {printable(', '.join(one.reasons))}\n{entry_text(key, one.work, one.topic)}"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
