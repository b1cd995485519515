"""Ask arXiv for new works by topic; write those that the bibliography lacks, for a person to judge.

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
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from flopbook.contributing.fetching import Fetcher, FetchError
from flopbook.contributing.metadata import Work, from_atom
from flopbook.contributing.new_reference import entry_text, key_of
from flopbook.data.bibtex_text import pieces
from flopbook.data.files import MAX_BIB_BYTES, read_text, write_text
from flopbook.data.library import topics
from flopbook.data.reference import Person
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
    """Ask, rank and write; tests pass a `fetcher` that talks to this machine and does not wait."""
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
    a_week_ago = today - datetime.timedelta(days=7)
    queries = ROOT / "scripts" / "paper_queries.yaml"
    out = ROOT / "bibliography" / "candidates.bib"
    state = ROOT / ".cache" / "papers.json"
    add("--since", type=_day, default=a_week_ago, help="first day of submission (a week ago)")
    add("--until", type=_day, default=today, help="last day of submission (today)")
    add("--most", type=_count, default=20, metavar="N", help="how many works to write (20)")
    add("--queries", type=Path, default=queries, help="the questions")
    add("--out", type=Path, default=out, help="the file that is written")
    add("--state", type=Path, default=state, help="where an unfinished run is kept")
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
    topic_ids = [topic.id for root in topics() for topic in root.walk()]
    queries = read_queries(options.queries, topic_ids)
    questions = read_text(options.queries)
    state = _State(options.state, f"{options.since} {options.until} {questions}")
    if not _ask(queries, state, options, fetcher):
        open_topics = len(queries) - len(state.done)
        print(
            f"refresh_papers: {open_topics} of {len(queries)} topics are open; "
            "nothing was written; run it again later"
        )
        return 1
    references = on_file()
    authors = author_counts(references.values())
    ranked = [
        rank(work, query.topic, query.phrases, authors)
        for query in queries
        for work in state.done[query.topic]
    ]
    chosen = choose(ranked, list(references.values()), options.most)
    _write(options.out, chosen, set(references))
    state.clear()
    works = len({candidate.work.eprint for candidate in ranked})
    print(
        f"{works} works of {options.since} to {options.until}, "
        f"{len(chosen)} of them written to {options.out.name}"
    )
    return 0


def _ask(
    queries: Iterable[Query], state: _State, options: argparse.Namespace, fetcher: Fetcher
) -> bool:
    """Ask for each topic that is open; whether all of them were answered."""
    answered = True
    for query in queries:
        if query.topic in state.done:
            continue
        try:
            state.put(query.topic, _works(query, options, fetcher))
        except FetchError as error:
            answered = False
            print(f"refresh_papers: {query.topic}: {printable(str(error))}", file=sys.stderr)
            if error.kind in ("offline", "busy", "refused"):
                break  # the next question would be turned away as well
    return answered


def _works(query: Query, options: argparse.Namespace, fetcher: Fetcher) -> list[Work]:
    """The works of a topic between two days, page by page until they are too old.

    Raises FetchError.
    """
    first, last = str(options.since), str(options.until)
    works: list[Work] = []
    for page in range(MOST_PAGES):
        answer = fetcher.get(query.address(page * PAGE), "application/atom+xml")
        found = from_atom(answer.body)
        works += [work for work in found if first <= work.published <= last]
        if len(found) < PAGE or found[-1].published < first:
            break
    return works


class _State:
    """What an unfinished run has found; another question or other days begin anew."""

    def __init__(self, path: Path, asked: str) -> None:
        self._path, self._asked = path, asked
        try:
            self.done = self._read()
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            self.done = {}  # a missing or damaged file costs a few requests

    def _read(self) -> dict[str, list[Work]]:
        document = json.loads(read_text(self._path))
        if document["asked"] != self._asked:
            return {}
        return {topic: [_work(row) for row in rows] for topic, rows in document["done"].items()}

    def put(self, topic: str, works: list[Work]) -> None:
        """Keep the answer of a topic."""
        self.done[topic] = works
        rows = {name: list(map(_row, kept)) for name, kept in self.done.items()}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        write_text(self._path, json.dumps({"asked": self._asked, "done": rows}))

    def clear(self) -> None:
        """Forget it: the run is complete."""
        self._path.unlink(missing_ok=True)


def _row(work: Work) -> dict[str, Any]:
    """A work as JSON can hold it."""
    people = [[author.family, author.given, author.organisation] for author in work.people]
    return work._asdict() | {"people": people}


_TEXTS = ("title", "type", "doi", "eprint", "url", "summary", "category", "published")


def _work(row: dict[str, Any]) -> Work:
    """A work of a row; lists of JSON become tuples again. Raises ValueError for a damaged one."""
    people = tuple(
        Person(_text(family), _text(given), organisation is True)
        for family, given, organisation in row["people"]
    )
    field, venue = map(_text, row["venue"])
    details = tuple((_text(name), _text(detail)) for name, detail in row["more"])
    work = Work(**row | {"people": people, "venue": (field, venue), "more": details})
    for name in _TEXTS:
        _text(getattr(work, name))
    if not isinstance(work.year, int | None) or not isinstance(work.month, int | None):
        raise ValueError("no date")
    return work


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("no text")
    return value


def _write(path: Path, chosen: Sequence[Candidate], taken: set[str]) -> None:
    """Add the candidates to the file, each under a line that says why; what is in it stays."""
    if not chosen:
        return
    before = read_text(path, MAX_BIB_BYTES).rstrip("\n") if path.exists() else ""
    taken |= {key for key, _, _ in pieces(before)}
    blocks = [before] if before else []
    for candidate in chosen:
        key = key_of(candidate.work, taken)
        taken.add(key)
        reasons = printable(", ".join(candidate.reasons))
        entry = entry_text(key, candidate.work, candidate.topic)
        blocks.append(f"% {candidate.rank}: {reasons}\n{entry}")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, "\n\n".join(blocks) + "\n")


if __name__ == "__main__":
    sys.exit(main())
