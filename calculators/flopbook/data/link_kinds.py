"""What software reaches on each kind of link, fitted to published sweeps of collectives.

The only reader of `accelerators/links.yaml`, which `python -m scripts.fit_links` writes from
`calculators/runs`; a test fits it once more. A kind is the name of a link as
entries of chips spell it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flopbook.data.library import library, per_library
from flopbook.errors import DataError, Problem, shorten, show_path

if TYPE_CHECKING:
    from flopbook.data.yaml_text import Node

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

    document, kinds, problems = read_yaml(path), {}, []
    rows = document.value.get("kinds") if isinstance(document.value, dict) else None
    if rows is None or not isinstance(rows.value, dict) or document.value.keys() != {"kinds"}:
        raise DataError([_problem(path, document, "no list of kinds, or more than it")])
    for name, row in rows.value.items():
        try:
            kinds[name] = _kind(name, row.plain())
        except (TypeError, KeyError, ValueError) as error:
            problems.append(_problem(path, row, f"{shorten(name, 40)} with {shorten(error)}"))
    if problems:
        raise DataError(problems)
    return kinds


# As entries spell links, in letters that no page and no terminal acts on.
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9 .+/-]{0,58}[A-Za-z0-9])?")
_FIELDS = {"startup", "ramp", "efficiency", "reduction_efficiency", "sources", "rows"}
_LEAST_S, _MOST_S = 1e-12, 1.0
_LEAST_SHARE = 0.001


def _kind(name: str, row: dict[str, Any]) -> LinkKind:
    """One kind. Raises TypeError, KeyError and ValueError that say what is wrong."""
    if not _NAME.fullmatch(name):
        raise ValueError("a name that is no name of a link")
    if not isinstance(row, dict) or row.keys() - _FIELDS:
        raise ValueError("other fields")
    sources = row["sources"]
    if not isinstance(sources, list) or not all(isinstance(key, str) for key in sources):
        raise TypeError("sources that are no list of keys")
    efficiency = _number(row, "efficiency", _LEAST_SHARE, 1.0)
    reduction = "reduction_efficiency"
    return LinkKind(
        name=name,
        startup=_number(row, "startup", _LEAST_S, _MOST_S),
        ramp=_number(row, "ramp", _LEAST_S, _MOST_S),
        efficiency=efficiency,
        reduction_efficiency=(
            _number(row, reduction, _LEAST_SHARE, 1.0) if reduction in row else efficiency
        ),
        sources=tuple(sources),
    )


def _number(row: dict[str, Any], name: str, least: float, most: float) -> float:
    number = row[name]
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise TypeError(f"{name} that is no number")
    if not least <= number <= most:
        raise ValueError(f"{name} {shorten(number, 20)}, which is not {least:g} to {most:g}")
    return float(number)


def _problem(path: Path, node: Node, observed: str) -> Problem:
    expected = "kinds: {name: {startup, ramp, efficiency, sources}}"
    mend = "python -m scripts.fit_links writes it"
    return Problem(show_path(path), node.line, node.column, "links", observed, expected, mend)


@per_library
def link_kinds() -> dict[str, LinkKind]:
    """All kinds of the library in use, by name. Raises DataError."""
    return read_link_kinds(library().accelerators / FILE)
