"""The look of our plots.

Readable colours, what a notebook gets to see, and nothing imported before it is needed.
"""

from __future__ import annotations

import subprocess
import sys
import types

import matplotlib
import pytest

from flopbook.drawing import plotting

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb, as WCAG 2 defines it."""
    channels = [int(colour[n : n + 2], 16) / 255 for n in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colour", [plotting.INK, *plotting.COLOURS])
def test_lines_and_words_are_readable_on_white(colour: str) -> None:
    """A contrast of 4.5 to 1, which WCAG 2 asks of text: labels have these colours too."""
    assert 1.05 / (luminance(colour) + 0.05) >= 4.5


def test_the_style_gives_every_figure_a_white_card_and_our_colours() -> None:
    with matplotlib.rc_context():
        plotting.use_style()
        figure, ax = plt.subplots()
        lines = [ax.plot([0, 1])[0].get_color() for _ in plotting.COLOURS]
        assert figure.get_facecolor() == (1, 1, 1, 1) and lines == list(plotting.COLOURS)
        assert plt.rcParams["svg.fonttype"] == "none", (
            "text stays text: it can be searched and read aloud"
        )
        plt.close(figure)


def test_it_is_the_same_picture_every_time(tmp_path) -> None:
    """Ids inside the SVG do not come from chance."""
    with matplotlib.rc_context():
        plotting.use_style()
        for name in ("a.svg", "b.svg"):
            figure, ax = plt.subplots()
            ax.plot([1, 2, 3])
            figure.savefig(tmp_path / name, metadata={"Date": None})
            plt.close(figure)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()


def test_a_notebook_gets_svg_with_its_title(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {}
    backend = types.ModuleType("matplotlib_inline.backend_inline")
    backend.set_matplotlib_formats = lambda form, metadata: options.update(form=form, **metadata)
    monkeypatch.setitem(sys.modules, "matplotlib_inline", types.ModuleType("matplotlib_inline"))
    monkeypatch.setitem(sys.modules, "matplotlib_inline.backend_inline", backend)
    ipython = types.ModuleType("IPython")
    ipython.get_ipython = object
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    plotting.show("What the figure shows")
    assert options == {"form": "svg", "Title": "What the figure shows", "Date": None}


def test_outside_a_notebook_a_window_opens_and_under_test_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """IPython may be installed and even loaded: what counts is whether it runs this program."""
    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.append(True))
    plotting.show("Nothing to be seen")
    assert not shown
    monkeypatch.setattr(plt, "get_backend", lambda: "QtAgg")
    plotting.show("A window")
    assert shown == [True]


def test_matplotlib_is_imported_only_when_it_is_used() -> None:
    code = "import sys, flopbook.drawing.plotting; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
