"""The cover of the ePub: its title above a roofline.

A picture in pixels, for shelves that show no SVG.
"""

from __future__ import annotations

import io

from scripts.website.book.document import Facts

SIZE = (12.0, 18.0)  # inches at a hundred pixels each


def cover(known: Facts) -> bytes:
    """A PNG of 1200 x 1800 pixels, without a date or the name of a program in it."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=SIZE, dpi=100, facecolor="#1f4e79")
    canvas = FigureCanvasAgg(figure)
    name, _, rest = known.title.partition(": ")
    text = {"color": "#ffffff", "ha": "left", "fontfamily": "DejaVu Sans"}
    figure.text(0.1, 0.82, name, fontsize=104, fontweight="bold", **text)
    figure.text(0.1, 0.765, rest, fontsize=46, **text)
    figure.text(
        0.1,
        0.06,
        f"Version {known.version}, sources read up to {known.read.isoformat()}",
        fontsize=24,
        **text,
    )
    axes = figure.add_axes((0.1, 0.16, 0.8, 0.5))
    axes.set_axis_off()
    for height, colour in ((5.5, "#8ec5ff"), (7.0, "#bfe3cd"), (8.5, "#ffb454")):
        axes.plot(
            (0, height, 14), (0, height, height), color=colour, linewidth=9, solid_joinstyle="round"
        )
        axes.plot((height,), (height,), marker="o", markersize=26, color=colour)
    stream = io.BytesIO()
    canvas.print_png(stream, metadata={"Software": None})
    return stream.getvalue()
