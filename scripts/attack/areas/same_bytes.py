"""Builds of one checkout on different days, in different folders, zones and languages.

Notebooks are run anew in each; every published file has the same bytes.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from scripts.attack.campaign import Attempt, Campaign
from scripts.attack.checkout import build, small_checkout

NAME = "same-bytes"
_OTHERS = 6  # beside the first; all are equal where each equals the first
# Python runs this before anything else: the clock of all its programs is so many days ahead.
_CLOCK = """
import datetime as _d, os as _os, time as _t

_AHEAD = 86400 * float(_os.environ["DAYS_AHEAD"])
_real = _t.time
_t.time = lambda: _real() + _AHEAD
_t.time_ns = lambda: int(_t.time() * 1e9)
for _name in ("gmtime", "localtime"):
    def _moved(seconds=None, _call=getattr(_t, _name)):
        return _call(_t.time() if seconds is None else seconds)
    setattr(_t, _name, _moved)

class _Kind(type):
    def __instancecheck__(cls, one):
        return isinstance(one, cls.__mro__[1])

class date(_d.date, metaclass=_Kind):
    @classmethod
    def today(cls):
        return _d.datetime.fromtimestamp(_t.time()).date()

class datetime(_d.datetime, metaclass=_Kind):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(_t.time(), tz)
    @classmethod
    def utcnow(cls):
        return cls.utcfromtimestamp(_t.time())
    today = now

_d.date, _d.datetime = date, datetime
"""
_ZONES = ("UTC", "Pacific/Kiritimati", "America/St_Johns", "Asia/Kathmandu")
_LANGUAGES = ("C", "C.UTF-8", "POSIX", "en_US.UTF-8", "tr_TR.UTF-8")


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """Builds of the small checkout."""
    yield from attacked(campaign, small_checkout, _OTHERS)


def attacked(
    campaign: Campaign, checkout: Callable[[Path], Path], others: int
) -> Iterator[Attempt]:
    """Builds of a checkout that share nothing but the sources, each compared with the first."""
    # Never built itself, and copied now: what is edited while the first is built is in none.
    source = checkout(campaign.folder / "source")
    first = campaign.folder / "first"
    shutil.copytree(source, first)
    first_fault = _built_anywhere(campaign, first)
    for number in range(campaign.count(others)):
        other = campaign.folder / f"a much {number}" / "deeper folder"
        shutil.copytree(source, other)
        faults = (first_fault, _built_anywhere(campaign, other))
        fault = "; ".join(filter(None, faults)) or difference(first / "site", other / "site")
        yield Attempt(f"the first and build {number}", fault)
        shutil.rmtree(other.parent)


def _built_anywhere(campaign: Campaign, folder: Path) -> str:
    """Build on some day, in some zone and language; what was wrong."""
    (folder / "sitecustomize.py").write_text(_CLOCK, encoding="utf-8")
    variables = _surroundings(campaign)
    done = build(folder, "--jobs", str(campaign.rng.randint(1, 4)), **variables)
    return f"{variables}: {done.stderr[-500:]}" if done.returncode else ""


def _surroundings(campaign: Campaign) -> dict[str, str]:
    language = campaign.rng.choice(_LANGUAGES)
    return {
        "DAYS_AHEAD": str(campaign.rng.randint(0, 4000)),
        "TZ": campaign.rng.choice(_ZONES),
        "LC_ALL": language,
        "LANG": language,
        "COLUMNS": str(campaign.rng.randint(20, 200)),
        "PYTHONHASHSEED": str(campaign.rng.randint(0, 1000)),
    }


def difference(one: Path, other: Path) -> str:
    """The files in which two folders differ; empty where they are equal."""
    left, right = (_contents(folder) for folder in (one, other))
    names = sorted(name for name in left | right if left.get(name) != right.get(name))
    return f"{len(names)} files differ: {', '.join(names[:8])}" if names else ""


def _contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
