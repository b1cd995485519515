"""Data files that are broken by chance: lint says what is wrong, a line each, within seconds.

Bytes are lost, lines change places, texts and sizes are hostile, entries contain each other, and
files are links, pipes, folders or far too large.
"""

from __future__ import annotations

import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from flopbook.checks.lint import lint
from flopbook.data.files import confine
from flopbook.data.library import Library, using
from flopbook.errors import Problem
from scripts.attack.broken import broken
from scripts.attack.campaign import Attempt, Campaign
from scripts.attack.checkout import small_checkout
from scripts.attack.shell import SECRET

NAME = "data"
_FILES = 200
_CACHE = "FLOPBOOK_CACHE"
_LONGEST_S = 10.0  # of processor time for the whole library
_LONGEST_LINE = 700
_PATTERNS = (
    *("accelerators/*/*.yaml", "calculators/models/*.yaml", "bibliography/*.bib"),
    *("bibliography/*.yaml", "accelerators/*.yaml"),
)
_HUGE = 60_000_000


class _Field:
    """The library under attack: sound at first, one file at a time broken and mended."""

    def __init__(self, folder: Path) -> None:
        self.root = small_checkout(folder / "checkout")
        self.secret = folder / "secret"
        self.secret.write_text(f"{SECRET}\n", encoding="utf-8")
        confine(self.root)
        self.files = sorted(path for each in _PATTERNS for path in self.root.glob(each))

    def problems(self) -> tuple[list[Problem], float]:
        begun = time.process_time()
        with using(Library(self.root)):
            return lint(), time.process_time() - begun


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """One file after the other, each put back afterwards."""
    with kept_in(campaign.folder / "kept"):
        yield from _attempts(campaign, _Field(campaign.folder))


@contextmanager
def kept_in(folder: Path) -> Iterator[None]:
    """Keep what is read in a folder of the attack, away from what people have kept."""
    before = os.environ.get(_CACHE)
    os.environ[_CACHE] = str(folder)
    try:
        yield
    finally:
        del os.environ[_CACHE]
        os.environ.update({} if before is None else {_CACHE: before})


def _attempts(campaign: Campaign, field: _Field) -> Iterator[Attempt]:
    before, _ = field.problems()
    for _ in range(campaign.count(_FILES)):
        path, rng = campaign.rng.choice(field.files), campaign.rng
        way = rng.choice(_WAYS)
        content = path.read_bytes()
        try:
            way(path, rng, field)
            yield Attempt(f"{way.__name__} of {path.name}", _fault(field))
        finally:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            path.unlink(missing_ok=True)
            path.write_bytes(content)
    after, _ = field.problems()
    yield Attempt("the library afterwards", "" if before == after else "is not as it was")


def _fault(field: _Field) -> str:
    try:
        problems, seconds = field.problems()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if seconds > _LONGEST_S:
        return f"took {seconds:.1f} s"
    for line in map(str, problems):
        if not line.isprintable() or len(line) > _LONGEST_LINE or SECRET in line:
            return f"says {line!r}"
    return ""


def _a_broken_file(path: Path, rng: random.Random, _: _Field) -> None:
    path.write_bytes(broken(path.read_bytes(), rng)[1])


def _a_circle(path: Path, rng: random.Random, field: _Field) -> None:
    """An entry that contains, or varies, itself or another that does the same."""
    if path.suffix == ".bib":
        return
    own = path.relative_to(field.root).with_suffix("").as_posix().partition("/")[2]
    line = rng.choice((f"contains: [{{ref: {own}, count: 2}}]", f"variant_of: {own}"))
    path.write_text(f"{path.read_text(encoding='utf-8')}\n{line}\n", encoding="utf-8")


def _too_large(path: Path, rng: random.Random, _: _Field) -> None:
    with path.open("ab") as file:
        file.truncate(rng.choice((2_000_000, _HUGE)))


def _a_link(path: Path, rng: random.Random, field: _Field) -> None:
    path.unlink()
    path.symlink_to(rng.choice((field.secret, Path("/dev/zero"), path, field.root)))


def _a_pipe(path: Path, _: random.Random, __: _Field) -> None:
    path.unlink()
    os.mkfifo(path)


def _a_folder(path: Path, _: random.Random, __: _Field) -> None:
    path.unlink()
    path.mkdir()


# Half of the files lose or get bytes, lines and sizes; the others are other things altogether.
_WAYS: tuple[Callable[[Path, random.Random, _Field], None], ...] = (
    *([_a_broken_file] * 6),
    *(_a_circle, _too_large, _a_link, _a_pipe, _a_folder),
)
