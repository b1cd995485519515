"""The picture of a page that others show when it is shared: 1200 by 630 pixels, drawn by a build.

Each has what kind of page it is, its title, one sentence, and its key figures where it has some, in
the colours of the site: blue is arithmetic, orange is bytes. A colour is a ramp of sixteen steps
from paper, so that letters are smooth and a picture weighs a few kB. The same page gives the same
bytes; what was drawn before is taken from a folder of earlier builds.
"""

from __future__ import annotations

import functools
import hashlib
import io
import textwrap
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from flopbook.data.files import write_made

FOLDER = "assets/cards/"
WIDTH, HEIGHT = 1200, 630
_EDGE = 72
_STEPS = 16  # of a ramp from paper to a colour
_PAPER = (252, 251, 248)
_RAMPS = {"ink": (27, 31, 36), "muted": (83, 92, 104), "flop": (29, 95, 168), "byte": (168, 75, 10)}
_MOST_FIGURES = 4
_FOOT = "flopbook: every number has a source, every formula runs"
_TITLE_SIZES = (66, 56, 48, 40)
_NUMBER_SIZES = (76, 68, 60, 54, 48, 44, 40, 36, 32, 28, 24)
_SMOOTH = 4  # a line is drawn so many times as large, and made smaller, for smooth edges
_TITLE_LINES, _WORDS_LINES = 2, 3
_ONE_LINE = 142 + 80  # where a title of one line ends
_FORM = 3  # of the drawing; another one makes earlier pictures stale


class CardNumber(NamedTuple):
    """A key figure on a card: what it is, its value in words, and the ramp of its colour.

    `share` is the length of the bar below it, of the longest that stands for the same quantity.
    """

    label: str
    words: str
    ramp: str = "ink"
    share: float = 0.0


class SharingCard(NamedTuple):
    """What a picture says: kind of page, title, one sentence, key figures."""

    kind: str
    title: str
    words: str
    numbers: tuple[CardNumber, ...] = ()


def card_file(page: str) -> str:
    """The content path of the picture of a page."""
    return f"{FOLDER}{page.rpartition('.')[0].removesuffix('/index').replace('/', '-')}.png"


def picture(card: SharingCard, kept: Path | None = None) -> bytes:
    """The picture as PNG; `kept` is a folder of those that earlier builds drew."""
    if kept is None:
        return _drawn(card)
    versions = (_FORM, version("pillow"), version("numpy"))
    name = hashlib.sha256(repr((versions, card)).encode()).hexdigest()[:32]
    path = kept / f"{name}.png"
    if path.is_file():
        return path.read_bytes()
    drawing = _drawn(card)
    write_made(path, drawing)  # a killed build leaves no half of a picture for the next
    return drawing


def _drawn(card: SharingCard) -> bytes:
    sheet = _Sheet()
    sheet.mark()
    sheet.text((_EDGE + 92, 74), card.kind, 30, "muted")
    bottom = sheet.title(card.title)
    is_full = bool(card.numbers) and bottom > _ONE_LINE
    most = _WORDS_LINES - is_full
    lines = textwrap.wrap(card.words, 62, max_lines=most, placeholder=" ...")
    for number, line in enumerate(lines):
        sheet.text((_EDGE, bottom + 18 + 42 * number), line, 30, "muted")
    if card.numbers:
        sheet.numbers(card.numbers[:_MOST_FIGURES])
    else:
        sheet.roofline()
    sheet.text((_EDGE, HEIGHT - 58), _FOOT, 22, "muted")
    return sheet.png()


class _Sheet:
    """The pixels of a picture: numbers of colours in the palette."""

    def __init__(self) -> None:
        self.pixels = np.zeros((HEIGHT, WIDTH), np.uint8)

    def mark(self) -> None:
        """The mark of the site: a roofline, orange where it rises and blue where it is flat."""
        self._lines(((4, 46), (38, 7), (76, 7)), 11, (_EDGE - 4, 64))

    def roofline(self) -> None:
        """The same, large, where a page has no figure of its own."""
        self._lines(((8, 92), (250, 12), (560, 12)), 9, (WIDTH - _EDGE - 560, 456))

    def _lines(
        self, points: tuple[tuple[int, int], ...], width: int, place: tuple[int, int]
    ) -> None:
        """A rising and a flat line in the colours of bytes and of arithmetic."""
        size = (points[-1][0] + 2 * width, points[0][1] + 2 * width)
        first, ridge, last = (tuple(_SMOOTH * n for n in point) for point in points)
        for ramp, line in (("byte", (first, ridge)), ("flop", (ridge, last))):
            mask = Image.new("L", (_SMOOTH * size[0], _SMOOTH * size[1]))
            ImageDraw.Draw(mask).line(line, fill=255, width=_SMOOTH * width)
            self._put(mask.resize(size, Image.Resampling.LANCZOS), place, ramp)

    def text(
        self, place: tuple[int, int], text: str, size: int, ramp: str, bold: bool = False
    ) -> None:
        """A line of text from its upper left corner."""
        font = _font(size, bold)
        mask = Image.new("L", (int(font.getlength(text)) + 4, round(1.3 * size)))
        ImageDraw.Draw(mask).text((0, 0), text, fill=255, font=font)
        self._put(mask, place, ramp)

    def _put(self, mask: Image.Image, place: tuple[int, int], ramp: str) -> None:
        """Colour what a mask covers, in as many steps as its ramp has."""
        left, top = place
        shares = np.asarray(mask)[: HEIGHT - top, : WIDTH - _EDGE // 2 - left] // _STEPS
        under = self.pixels[top : top + shares.shape[0], left : left + shares.shape[1]]
        under[shares > 0] = shares[shares > 0] + list(_RAMPS).index(ramp) * _STEPS

    def title(self, title: str) -> int:
        """The title, as large as two lines of it allow; where it ends."""
        fitting = ((size, _lines(title, _font(size, True))) for size in _TITLE_SIZES)
        size, lines = next(
            (candidate for candidate in fitting if len(candidate[1]) <= _TITLE_LINES),
            (_TITLE_SIZES[-1], _lines(title, _font(_TITLE_SIZES[-1], True))),
        )
        step = round(size * 1.2)
        for number, line in enumerate(lines[: _TITLE_LINES + 1]):
            self.text((_EDGE, 142 + step * number), line, size, "ink", bold=True)
        return 142 + step * min(len(lines), _TITLE_LINES + 1)

    def numbers(self, numbers: tuple[CardNumber, ...]) -> None:
        """Key figures side by side, above the foot: the unit small behind the number."""
        width = (WIDTH - 2 * _EDGE) // len(numbers)
        size = min(_fitting(number.words, width - 24) for number in numbers)
        for place, number in enumerate(numbers):
            left = _EDGE + place * width
            value, _, unit = number.words.partition(" ")
            self.text((left, 488 - size), value, size, number.ramp, bold=True)
            behind = left + int(_font(size, True).getlength(value)) + 10
            self.text((behind, 488 - round(0.63 * size)), unit, round(0.6 * size), number.ramp)
            self.text((left, 500), number.label, 24, "muted")
            if number.share:
                self._bar((left, 538), round(number.share * (width - 24)), number.ramp)

    def _bar(self, place: tuple[int, int], length: int, ramp: str) -> None:
        """A bar as long as its value, beside others of the same quantity."""
        self._put(Image.new("L", (max(length, 2), 10), 255), place, ramp)

    def png(self) -> bytes:
        """The pixels with their palette."""
        image = Image.fromarray(self.pixels, "P")
        image.putpalette(list(_palette()))
        out = io.BytesIO()
        image.save(out, "PNG", compress_level=4)
        return out.getvalue()


def _palette() -> Iterator[int]:
    """Each ramp from paper to its colour, in even steps."""
    for colour in _RAMPS.values():
        for step in range(_STEPS):
            for paper, full in zip(_PAPER, colour, strict=True):
                yield paper + round((full - paper) * step / (_STEPS - 1))


@functools.cache
def _font(size: int, bold: bool) -> ImageFont.FreeTypeFont:
    """A face that comes with matplotlib: the same letters on every machine."""
    from matplotlib import get_data_path

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    path = Path(get_data_path()) / "fonts" / "ttf" / name
    return ImageFont.truetype(path, size, layout_engine=ImageFont.Layout.BASIC)


def _lines(text: str, font: ImageFont.FreeTypeFont) -> list[str]:
    """A text in lines that are as wide as a card, broken at words."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and font.getlength(longer) > WIDTH - 2 * _EDGE:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _fitting(words: str, width: int) -> int:
    """The largest size at which a number with its unit is as wide as this at most."""
    value, _, unit = words.partition(" ")

    def taken(size: int) -> float:
        return (
            _font(size, True).getlength(value)
            + 10
            + _font(round(0.6 * size), False).getlength(unit)
        )

    return next((size for size in _NUMBER_SIZES if taken(size) <= width), _NUMBER_SIZES[-1])
