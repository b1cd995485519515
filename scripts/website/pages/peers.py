"""How far off other predictions are, each with its source, beside ours on runs it did not see.

Only figures that were read: stated by a source, or worked out from a table in it.
"""

from __future__ import annotations

from typing import NamedTuple

from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.validation import error_sizes
from scripts.website.markup import Html, table
from scripts.website.pages.predicted import sound_lines
from scripts.website.pages.sources import cite

HEAD = ("Who predicts", "What", "On which runs", "#Runs", "#Median", "#Mean", "#Worst")
OURS = {"training_throughput": "steps of training", "inference": "serving"}


class Peer(NamedTuple):
    """A prediction of others: its source, what was predicted on which runs, and the errors in %.

    `worst` may be the bound that a source states. None where it does not say.
    """

    name: str
    source: str
    what: str
    runs: str
    measured: int | None
    median: float | None
    mean: float | None
    worst: float


# Calculon: `calculon llm-validation` at the commit of its source, the eight times of Table 5.
# SimuMax: docs/b200/b200_release_v1.2_summary.md. AIConfigurator and Vidur: the means of
# results_trainval/error_records.csv, which their makers did not take.
PEERS = (
    Peer(
        "Calculon",
        "calculon2024repository",
        "steps of training",
        "one paper, with factors set for its machine",
        *(8, 2.5, 3.65, 8.87),
    ),
    Peer(
        "Charon",
        "yang2026charon",
        "training and serving",
        "its authors' own, with operators profiled",
        *(None, None, None, 5.35),
    ),
    Peer(
        "SimuMax",
        "moorethreads2026simumax",
        "steps of training",
        "its authors' own on one node of B200, with kernels measured there",
        *(43, 5.6, 5.6, 13.5),
    ),
    Peer(
        "AIConfigurator",
        "inferencesim2026accuracy",
        "time between tokens",
        "vLLM on H100, by others, with kernels measured",
        *(24, 21.3, 21.1, 61.7),
    ),
    Peer(
        "AIConfigurator",
        "inferencesim2026accuracy",
        "time to the first token",
        "the same, under load",
        *(24, 652.6, 792.9, 2160.3),
    ),
    Peer(
        "Vidur",
        "inferencesim2026accuracy",
        "time between tokens",
        "vLLM on H100, by others, with kernels profiled",
        *(11, 4.0, 11.1, 29.4),
    ),
)


def peers(page: str) -> Html:
    """A line for each prediction of others, and ours on runs whose whole source was left out."""
    theirs = [_row(peer, page) for peer in PEERS]
    ours = [_ours(kind, title) for kind, title in OURS.items()]
    caption = "Errors that predictions of others were found to have"
    return table(HEAD, [*theirs, *ours], caption=caption, stacked=True)


def _row(one: Peer, page: str) -> tuple[str | Html, ...]:
    name = Html("{} {}").format(one.name, cite(one.source, page))
    count = "" if one.measured is None else str(one.measured)
    bound = "" if one.mean is not None else "under "
    errors = (_percent(one.median), _percent(one.mean), bound + _percent(one.worst))
    return (name, one.what, one.runs, count, *errors)


def _ours(kind: str, what: str) -> tuple[str, ...]:
    """Our errors on fitted rows that are sound, by fits that saw nothing of their source."""
    left_out = fitted_kinds()[kind].left_out
    ids = [line.case.row.id for line in sound_lines(kind, "fit")]
    sizes = error_sizes([left_out[name] for name in ids if name in left_out])
    errors = (_percent(100 * sizes[name]) for name in ("median", "mean", "worst"))
    sources = len({line.case.source for line in sound_lines(kind, "fit")})
    return ("flopbook", what, f"{sources} sources, each left out in turn", str(sizes["n"]), *errors)


def _percent(number: float | None) -> str:
    if number is None:
        return ""
    digits = 2 if number < 10 else 1
    return f"{number:,.{digits}f} %"
