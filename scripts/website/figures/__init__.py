"""The pictures of the handbook: one module each, found by name, drawn from data or formulas.

`{{ figure("number-formats") }}` in prose asks the module `number_formats` for its `figure()`, which
may take options, and sets it into the frame of all figures (`panel.py`): what it says above it,
what it shows and where its values are from below, and a menu with its files and its code.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import json
import pkgutil
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path
from typing import Any

from flopbook.drawing import rooflines
from flopbook.drawing.markup import slug
from flopbook.errors import FlopbookError, UnknownName
from scripts.website.figures.drawing import Figure
from scripts.website.figures.origins import SourceLine, source_line
from scripts.website.figures.panel import FigurePlace, files_of, panel

# Where the site keeps the code of the figures; as text, for the generator takes a `.py` for a
# notebook.
CODE = "assets/figures/"
_TOOLS = (
    "drawing",
    "chart",
    "folded",
    "folded_panels",
    "folded_rows",
    "shapes",
    "narrow",
    "origins",
    "panel",
    "plotted",
    "standalone",
    "scatter",
    "reached_points",
    "reached_rows",
)  # modules that other figures are drawn with


def figure_names() -> tuple[str, ...]:
    """The names of all figures, in order: a new module is a new figure."""
    modules = {module.name for module in pkgutil.iter_modules(__path__)}
    return tuple(sorted(name.replace("_", "-") for name in modules.difference(_TOOLS)))


def figure_of(name: str, **options: Any) -> Figure:
    """The figure of this name, drawn.

    Raises UnknownName, and FlopbookError for options that it does not take.
    """
    if name not in figure_names():
        raise UnknownName("figure", name, figure_names())
    draw: Callable[..., Figure] = importlib.import_module(f"{__name__}.{_module(name)}").figure
    try:
        inspect.signature(draw).bind(**options)
    except TypeError as error:
        raise FlopbookError(f"figure {name}: {error}") from None
    return draw(**options)


def figure_markup(name: str, page: str, **options: Any) -> str:
    """The figure as a block of HTML for a page of prose. Raises as `figure_of` does."""
    record = json.dumps([name, options], default=float, separators=(",", ":"))
    drawn = drawn_of(record)
    anchor = slug(" ".join(("fig", name, *map(_named, options.values()))))
    module = _module(name)
    place = FigurePlace(page, anchor, module, called(name, **options), record)
    return str(panel(drawn, place, _source_of(record).markup(page)))


@functools.lru_cache(maxsize=1024)
def drawn_of(record: str) -> Figure:
    """The figure of a record: its name and its options as JSON. Raises as `figure_of` does."""
    name, options = json.loads(record)
    return figure_of(name, **options)


def figure_files(pages: Iterable[str]) -> dict[str, str]:
    """Content path -> text: picture and values of the figures of some pages."""
    return files_of(pages, drawn_of, lambda record: _source_of(record).text)


def _source_of(record: str) -> SourceLine:
    """What the values of a figure are from."""
    name, _ = json.loads(record)
    return source_line(Path(__file__).parent / f"{_module(name)}.py", drawn_of(record).source)


def called(name: str, **options: Any) -> str:
    """The expression that draws a figure, as prose writes it; numbers as plain SI values."""
    arguments = [f"{key}={_plain(option)}" for key, option in options.items()]
    return f"figure({', '.join([json.dumps(name), *arguments])})"


def _plain(option: Any) -> str:
    """An option as prose writes it; a number with a unit is a float, as 80e9."""
    if not isinstance(option, float):
        return json.dumps(option)
    text = f"{float(option):g}"
    if "e" not in text:
        return text
    return Decimal(text).to_eng_string().lower().replace("e+", "e")


def _named(option: Any) -> str:
    """An option as a part of an address."""
    return _plain(option) if isinstance(option, float) else str(option)


def figure_sources() -> dict[str, str]:
    """Content path -> text of the code of every figure."""
    folder = Path(__file__).parent
    paths = [folder / f"{_module(name)}.py" for name in (*figure_names(), *_TOOLS)]
    paths.append(Path(rooflines.__file__))  # the picture that chips share with the handbook
    return {f"{CODE}{path.stem}.py.txt": path.read_text(encoding="utf-8") for path in paths}


def _module(name: str) -> str:
    return name.replace("-", "_")
