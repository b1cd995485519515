"""What software reaches on each kind of link, fitted to published sweeps of collectives.

The only reader of `accelerators/links.yaml`, which `python -m scripts.fit_links` writes from
`calculators/runs`; a test fits it once more. A kind is the name of a link as
entries of chips spell it.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from flopbook.data.library import library, per_library
from flopbook.errors import DataError, Problem, shorten, show_path

FILE = "links.yaml"


class LinkKind(NamedTuple):
    """Constants of a kind of link.

    `startup` (s) launches a collective; `ramp` (s) is the time in which its pipeline fills;
    `efficiency` is the share of the printed rate that large messages reach, `reduction_efficiency`
    the same where the switch adds up (infinite: no such sweep). `sources` are those of the sweeps.
    """

    name: str
    startup: float
    ramp: float
    efficiency: float
    reduction_efficiency: float
    sources: tuple[str, ...]


def read_link_kinds(path: Path) -> dict[str, LinkKind]:
    """All kinds by name. Raises DataError; a missing file means that nothing was measured."""
    if not path.is_file():
        return {}
    from flopbook.data.yaml_text import read_yaml  # which takes longer to load than to ask

    rows = read_yaml(path).plain()
    try:
        return {name: _kind(name, row) for name, row in rows["kinds"].items()}
    except (TypeError, AttributeError, KeyError, ValueError) as error:
        raise DataError([_problem(path, shorten(f"{type(error).__name__}: {error}"))]) from None


def _kind(name: str, row: dict[str, float]) -> LinkKind:
    efficiency = float(row["efficiency"])
    return LinkKind(
        name=name,
        startup=float(row["startup"]),
        ramp=float(row["ramp"]),
        efficiency=efficiency,
        reduction_efficiency=float(row.get("reduction_efficiency", efficiency)),
        sources=tuple(str(key) for key in row["sources"]),  # type: ignore[attr-defined]  # a list
    )


def _problem(path: Path, observed: str) -> Problem:
    expected = "kinds: {name: {startup, ramp, efficiency, sources}}"
    mend = "python -m scripts.fit_links writes it"
    return Problem(show_path(path), 1, 1, "links", observed, expected, mend)


@per_library
def link_kinds() -> dict[str, LinkKind]:
    """All kinds of the library in use, by name. Raises DataError."""
    return read_link_kinds(library().accelerators / FILE)
