"""The cover of the ePub: its title above a roofline.

A picture in pixels, for shelves that show no SVG.
"""

from __future__ import annotations

import io
from typing import Any

from scripts.website.book.document import Facts

SIZE = (12.0, 18.0)  # inches at a hundred pixels each


def cover(known: Facts) -> bytes:
    """A PNG of 1200 x 1800 pixels, without a date or the name of a program in it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # slow, and only the ePub needs it
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZE, dpi=100, facecolor="#1f4e79")
    canvas = FigureCanvasAgg(figure)
    name, _, subject = known.title.partition(": ")
    edition = f"Version {known.version}, sources read up to {known.read.isoformat()}"
    text: dict[str, Any] = {"color": "#ffffff", "ha": "left", "fontfamily": "DejaVu Sans"}
    figure.text(0.1, 0.82, name, fontsize=104, fontweight="bold", **text)
    figure.text(0.1, 0.765, subject, fontsize=46, **text)
    figure.text(0.1, 0.06, edition, fontsize=24, **text)
    axes = figure.add_axes((0.1, 0.16, 0.8, 0.5))
    axes.set_axis_off()
    line: dict[str, Any] = {"linewidth": 9, "solid_joinstyle": "round"}
    for ridge, colour in ((5.5, "#8ec5ff"), (7.0, "#bfe3cd"), (8.5, "#ffb454")):
        axes.plot((0, ridge, 14), (0, ridge, ridge), color=colour, **line)
        axes.plot((ridge,), (ridge,), marker="o", markersize=26, color=colour)
    stream = io.BytesIO()
    print_png: Any = canvas.print_png  # matplotlib gives it no types
    print_png(stream, metadata={"Software": None})  # without the name of a program
    return stream.getvalue()
