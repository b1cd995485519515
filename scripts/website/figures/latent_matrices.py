"""The matrices of latent attention one by one, with their shapes, and what a token caches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from flopbook.architectures.shape import shape
from scripts.website.figures.drawing import WIDTH, Figure, Sheet, arrow, key, labelled, path, words
from scripts.website.figures.plotted import FigureValue, Point
from scripts.website.figures.shapes import EDGE, SHEET

MODEL = "deepseek-v3"
_TALL, _STEP = 54.0, 68.0  # a matrix, and from one row to the next
# Left edges and widths of the columns: matrices down, narrow vectors, matrices up.
_COLUMNS = {
    WIDTH: ((34.0, 104.0), (160.0, 76.0), (258.0, 118.0)),
    SHEET: ((26.0, 98.0), (142.0, 68.0), (224.0, 110.0)),
}
_TOP = 10.0
_STUB = 10.0  # arrows from the stream
_BELOW = 18.0  # room for the line of what goes to the scores as it is


class WeightMatrix(NamedTuple):
    """A matrix by its name, with as many rows as numbers go in and columns as come out."""

    name: str
    rows: int
    columns: int

    @property
    def params(self) -> int:
        """Its weights."""
        return self.rows * self.columns

    @property
    def text(self) -> str:
        """Name, shape and weights on three lines."""
        return f"{self.name}\n{self.rows:,} × {self.columns:,}\n{self.params / 1e6:.3g} M"


def matrices() -> dict[str, WeightMatrix]:
    """The six matrices of a layer, in the order in which a token meets them."""
    size = {
        name: int(shape(MODEL).size(name))
        for name in ("d_model", "heads", "q_lora_rank", "kv_lora_rank")
    }
    wide, heads, narrow_q, narrow = size.values()
    part = {
        name: int(shape(MODEL).size(name))
        for name in ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
    }
    plain, turned, value = part.values()
    listed = (
        WeightMatrix("Q down", wide, narrow_q),
        WeightMatrix("Q up", narrow_q, heads * (plain + turned)),
        WeightMatrix("KV down", wide, narrow + turned),
        WeightMatrix("K up", narrow, heads * plain),
        WeightMatrix("V up", narrow, heads * value),
        WeightMatrix("O", heads * value, wide),
    )
    return {matrix.name: matrix for matrix in listed}


def cached() -> int:
    """Numbers that a token keeps in each layer: the latent vector and the part with its place."""
    return matrices()["KV down"].columns


def full() -> tuple[int, int]:
    """Weights and cached numbers of as many heads of the same widths without narrow vectors."""
    found = matrices()
    wide = found["O"].columns
    keys, of_values = found["Q up"].columns, found["V up"].columns
    return wide * (2 * keys + 2 * of_values), keys + of_values


def figure() -> Figure:
    """What comes in on the left, down to narrow vectors, up to the heads, and out through O."""
    found = matrices()
    weights, (plain_weights, plain_cached) = sum(one.params for one in found.values()), full()
    facts = "; ".join(one.text.replace("\n", ", ") for one in found.values())
    foot = _TOP + 3 * _STEP
    return Figure(
        f"Latent attention of DeepSeek-V3: {cached()} cached numbers where full heads keep "
        f"{plain_cached:,}",
        f"Of each matrix its rows, columns and weights: {facts}. The two matrices down write "
        f"vectors of {found['Q down'].columns:,} and {cached()} numbers.",
        f"Each blue box is a matmul with weights, {_short(weights)} in a layer; as many full heads "
        f"of the same widths would have {_short(plain_weights)}. Of the cached numbers "
        f"{found['K up'].rows} make keys and values, the other {cached() - found['K up'].rows} "
        "carry the position and go to the scores of all heads as they are. Norms on the narrow "
        "vectors are left out.",
        foot + 24 + _BELOW,
        tuple(_wide()),
        narrow=Sheet(SHEET, foot + _STEP + 26 + _BELOW, tuple(_phone())),
        readings=(*_readings(), FigureValue("a token", "cached numbers", cached())),
    )


def _readings() -> Iterator[FigureValue]:
    """Sides and weights of each matrix."""
    for one in matrices().values():
        yield FigureValue(one.name, "rows", one.rows)
        yield FigureValue(one.name, "columns", one.columns)
        yield FigureValue(one.name, "weights", one.params)


def _short(count: float) -> str:
    return f"{count / 1e6:.0f} M weights"


def _left_part(width: float) -> Iterator[str]:
    """From the stream to the heads: the columns that both sheets share."""
    found = matrices()
    (down, down_wide), (narrow, narrow_wide), (up, up_wide) = _COLUMNS[width]
    middle = _TOP + _STEP + _STEP / 2  # of the two rows that keys and values take

    def row(number: float) -> float:
        return _TOP + number * _STEP

    yield labelled((down, row(0), down_wide, _TALL), found["Q down"].text, "c0")
    yield labelled((down, middle, down_wide, _TALL), found["KV down"].text, "c0")
    query = f"{found['Q down'].columns:,}\nnumbers"
    kept = f"{found['K up'].rows} + {cached() - found['K up'].rows}\ncached"
    yield labelled((narrow, row(0) + 8, narrow_wide, _TALL - 16), query, "hollow")
    yield labelled((narrow, middle + 8, narrow_wide, _TALL - 16), kept, "c1")
    for number, name in enumerate(("Q up", "K up", "V up")):
        yield labelled((up, row(number), up_wide, _TALL), found[name].text, "c0")
    out, into = down + down_wide, narrow
    for y in (row(0) + _TALL / 2, middle + _TALL / 2):
        yield arrow((down - _STUB, y), (down, y))
        yield arrow((out, y), (into, y))
    end = narrow + narrow_wide
    yield arrow((end, row(0) + _TALL / 2), (up, row(0) + _TALL / 2))
    yield arrow((end, middle + _TALL / 2 - 6), (up, row(1) + _TALL / 2))
    yield arrow((end, middle + _TALL / 2 + 6), (up, row(2) + _TALL / 2))
    yield path([(down - _STUB, row(0) + _TALL / 2), (down - _STUB, middle + _TALL / 2)])
    yield words(2, (row(0) + middle + _TALL) / 2 + 4, "In", "start")


def _wide() -> Iterator[str]:
    yield from _left_part(WIDTH)
    _, _, (up, up_wide) = _COLUMNS[WIDTH]
    heads = (406.0, _TOP, 80.0, 2 * _STEP + _TALL)
    yield labelled(heads, _scores(), "c4")
    for number in range(3):
        y = _TOP + number * _STEP + _TALL / 2
        yield arrow((up + up_wide, y), (heads[0], y))
    y = _TOP + _STEP + _TALL / 2
    yield arrow((heads[0] + heads[2], y), (512, y))
    yield labelled((512, y - _TALL / 2, 104, _TALL), matrices()["O"].text, "c0")
    yield arrow((616, y), (638, y))
    yield from _as_they_are(WIDTH, heads[0] + heads[2] / 2, heads[1] + heads[3], up=True)
    yield from _legend((34.0, _TOP + 3 * _STEP + _BELOW))


def _phone() -> Iterator[str]:
    """The heads below the matrices, and a line down the side that leads there."""
    yield from _left_part(SHEET)
    _, _, (up, up_wide) = _COLUMNS[SHEET]
    side, end = up + up_wide, SHEET - EDGE
    top = _TOP + 3 * _STEP + _BELOW
    foot = top + _TALL / 2
    for number in range(3):
        y = _TOP + number * _STEP + _TALL / 2
        yield path([(side, y), (end, y)])
    yield path([(end, _TOP + _TALL / 2), (end, foot)])
    yield arrow((end, foot), (side, foot))
    yield labelled((up, top, up_wide, _TALL), _scores(), "c4")
    yield arrow((up, foot), (130, foot))
    yield labelled((26, top, 104, _TALL), matrices()["O"].text, "c0")
    yield arrow((26, foot), (4, foot))
    yield from _as_they_are(SHEET, up + up_wide / 2, top, up=False)
    yield from _legend((26.0, _TOP + 4 * _STEP + 6 + _BELOW))


def _as_they_are(width: float, end: float, edge: float, *, up: bool) -> Iterator[str]:
    """From the cached vector to an edge of the heads: the numbers that carry the position."""
    _, (narrow, narrow_wide), _ = _COLUMNS[width]
    start = narrow + narrow_wide / 2
    below = _TOP + 2 * _STEP + _TALL + (_BELOW if up else _BELOW / 2)
    foot = _TOP + 1.5 * _STEP + _TALL - 8  # of the cached vector
    yield path([(start, foot), (start, below), (end, below)])
    yield arrow((end, below), (end, edge))
    yield words(start - 5, (foot + below) / 2 + 4, str(cached() - matrices()["K up"].rows), "end")


def _scores() -> str:
    return f"{shape(MODEL).heads:.0f} heads:\nscores,\nmix"


def _legend(corner: Point) -> Iterator[str]:
    x, y = corner
    yield from key(x, y, "weights", "fb-c0")
    yield from key(x + 86, y, "cached", "fb-c1")
    yield from key(x + 168, y, "no weights", "fb-c4")
