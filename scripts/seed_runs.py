"""Write the hashes of all runs of eight words of some texts, so that a test finds copies of one.

The project grew from documents whose sentences are not ours. Their words are not kept here: a run
of eight words is normalised (lower case, no punctuation, no addresses) and hashed, and the hashes
lie sorted in one file.

    python -m scripts.seed_runs TEXT ... > tests/seed_runs.bin
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

RUN = 8
# At 40 bits, a million runs of ours would meet one of 30,000 others by chance with a probability of
# three in a hundred.
BYTES = 5

_ADDRESS = re.compile(r"https?://\S+|\bwww\.\S+")


class Word(NamedTuple):
    """A normalised word and where it begins in the text."""

    text: str
    place: int


def words(text: str) -> list[Word]:
    """The words of a text: lower case, without accents, punctuation, underscores and addresses."""
    text = _ADDRESS.sub(lambda match: " " * len(match[0]), text)
    text = re.sub(r"(?<=\w)['’](?=\w)", "_", text)  # don't is one word
    joined: list[Word] = []
    for match in re.finditer(r"\w+", text):
        plain = unicodedata.normalize("NFKD", match[0].lower())  # accents become marks of their own
        plain = "".join(letter for letter in plain if letter.isalnum())
        if plain:
            joined.append(Word(plain, match.start()))
    return joined


def runs(text_words: Sequence[Word]) -> Iterator[tuple[bytes, int]]:
    """The hash of each run of eight words, and the index of its first word, formulas left out."""
    for start in range(len(text_words) - RUN + 1):
        run = [word.text for word in text_words[start : start + RUN]]
        spoken = [text for text in run if len(text) > 1 and not text.isdigit()]
        if len(spoken) >= RUN // 2:
            yield hashlib.blake2b(" ".join(run).encode(), digest_size=BYTES).digest(), start


class Runs:
    """Sorted hashes, searched without unpacking them."""

    def __init__(self, data: bytes) -> None:
        self._all = [data[place : place + BYTES] for place in range(0, len(data), BYTES)]

    def __len__(self) -> int:
        return len(self._all)

    def __contains__(self, digest: bytes) -> bool:
        place = bisect_left(self._all, digest)
        return place < len(self._all) and self._all[place] == digest


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the hashes of the files named to standard output."""
    parser = argparse.ArgumentParser(
        prog="seed_runs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("texts", nargs="*", type=Path, metavar="TEXT", help="a file to hash")
    options = parser.parse_args(arguments)
    if not options.texts:
        print("seed_runs: give the texts; the hashes go to standard output", file=sys.stderr)
        return 2
    digests: set[bytes] = set()
    for path in options.texts:
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            print(f"seed_runs: {path}: {error.strerror or error}", file=sys.stderr)
            return 2
        digests.update(digest for digest, _ in runs(words(text)))
    sys.stdout.buffer.write(b"".join(sorted(digests)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
