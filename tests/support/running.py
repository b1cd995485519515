"""Runs a notebook as a plain script and looks at its figures.

Also a program, for the Python of another environment.
"""

from __future__ import annotations

import runpy
import sys
import warnings
from pathlib import Path
from unittest import mock

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def run_and_look(path: Path) -> None:
    """Run a notebook; raises AssertionError when it draws nothing or a figure cannot be read."""
    with matplotlib.rc_context(), mock.patch.dict("os.environ"), warnings.catch_warnings():
        warnings.simplefilter("error")  # a reader should not have to wonder about them
        plt.close("all")
        try:
            runpy.run_path(str(path), run_name="__main__")
            figures = [plt.figure(number) for number in plt.get_fignums()]
            assert figures, "no figure was drawn"
            for figure in figures:
                assert_labelled(figure)
        finally:
            plt.close("all")


def assert_labelled(figure: plt.Figure) -> None:
    """Every panel has a label on its y axis, and the lowest one on its x axis."""
    assert all(ax.get_ylabel() for ax in figure.axes)
    assert figure.axes[-1].get_xlabel()
    assert figure.get_facecolor() == (1, 1, 1, 1), (
        "text is dark: the figure needs its white card on a dark page"
    )


if __name__ == "__main__":
    run_and_look(Path(sys.argv[1]))
