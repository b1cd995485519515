"""The look of our plots in matplotlib: every notebook of the project uses it, and yours can too.

`use_style()` once, then draw, then `show("what the figure shows")`. matplotlib is not among the
package's requirements; it is imported when one of the two is called.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

# No colour of text reads well on white and on a dark page alike, so every figure brings its own
# white card.
INK, QUIET = "#333333", "#d0d0d0"
COLOURS = ("#0068a8", "#c04a00", "#007a5a", "#a02c78", "#5b4ab5", "#8a6100")


def use_style() -> None:
    """Set the look of all figures that are drawn from here on."""
    import matplotlib.pyplot as plt
    from cycler import cycler

    plt.rcParams.update(
        {
            "figure.figsize": (7.2, 4.4),
            "figure.facecolor": "white",
            "figure.constrained_layout.use": True,
            "savefig.facecolor": "white",
            "axes.facecolor": "white",
            "axes.edgecolor": INK,
            "axes.labelcolor": INK,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "axes.axisbelow": True,
            "axes.prop_cycle": cycler(color=COLOURS),
            "grid.color": QUIET,
            "grid.linewidth": 0.6,
            "text.color": INK,
            "xtick.color": INK,
            "ytick.color": INK,
            "legend.frameon": False,
            "font.sans-serif": ["DejaVu Sans", "Verdana"],
            "font.size": 10,
            "svg.fonttype": "none",
            "svg.hashsalt": "flopbook",
        }
    )


def show(title: str) -> None:
    """Show the figure: as SVG with its title in a notebook, in a window from a plain script.

    Where nothing can be shown, as in a test, nothing happens.
    """
    import matplotlib.pyplot as plt

    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None:
        # The library has no types, and its checked form would need a stub for this one call.
        backend: Any = importlib.import_module("matplotlib_inline.backend_inline")
        backend.set_matplotlib_formats("svg", metadata={"Title": title, "Date": None})
    if plt.get_backend().lower() != "agg":
        plt.show()
