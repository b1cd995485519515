"""How a few runs of one machine move parameters that were fitted to the runs of many.

The errors of the runs are taken for a draw from a normal distribution: of moves of the parameters,
of a factor that all share, and of scatter. How far the machine lies from the fitted ones, whether
it has a factor of its own and how much its runs scatter is not known. So each answer on a grid is
tried, and counts by how likely it makes the errors.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from flopbook.prediction.arrays import Column

# How much wider than what the fitted runs leave open a machine's parameters may lie, as a variance.
WIDER = (0.0, 1.0, 4.0, 16.0, 64.0)
# How far a factor that all runs share may lie from 1, as a logarithm.
SHARED = (0.0, 0.1, 0.4)
# Scatter of the runs, as a logarithm: from that of repeats to that of rows nobody understands. Runs
# that agree to the last digit share a factor and nothing else.
SCATTERS = (1e-6, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32)


class OwnErrors(NamedTuple):
    """Logarithms of measured over predicted of some runs, and what moves the predictions.

    `slopes` has a row for each run: how much its prediction moves with the logarithm of each
    parameter. `speed` is 1 where it is a rate and -1 where it is a time. `open_moves` is the square
    root of the covariance of the parameters, a row for each.
    """

    errors: Column
    slopes: Column
    speed: Column
    open_moves: Column


class OwnMove(NamedTuple):
    """Logarithms by which parameters move, and all speeds beside; what is left of each error.

    `left` is the error of each run as the others predict it.
    """

    move: Column
    common: float
    left: Column


class _Guess(NamedTuple):
    """A guess at what makes the errors: what it moves, what it leaves, how likely it makes them.

    `without` is the likelihood of the other runs for each of the runs; all are logarithms.
    """

    moves: Column
    left: Column
    likelihood: float
    without: Column


def moved(own: OwnErrors) -> OwnMove:
    """The mean of what all guesses move."""
    guesses = [
        guess
        for wider in WIDER
        for common in SHARED
        for guess in _guesses(own, math.sqrt(wider), common)
    ]
    weights = _shares(np.array([guess.likelihood for guess in guesses]))
    moves: Column = weights @ np.array([guess.moves for guess in guesses])
    of_others = _shares(np.array([guess.without for guess in guesses]))
    left: Column = np.sum(of_others * np.array([guess.left for guess in guesses]), axis=0)
    return OwnMove(own.open_moves @ moves[:-1], float(moves[-1]), left)


def _shares(likelihoods: Column) -> Column:
    """How much each guess counts, from logarithms of its likelihood."""
    weights = np.exp(likelihoods - np.max(likelihoods, axis=0))
    shares: Column = weights / np.sum(weights, axis=0)
    return shares


def _guesses(own: OwnErrors, wider: float, common: float) -> list[_Guess]:
    """The guesses of all scatters, for one width of moves and one of the shared factor.

    A ridge regression of the errors on independent unknowns of unit size, by singular values.
    """
    count = len(own.errors)
    effects = np.hstack([wider * own.slopes @ own.open_moves, common * own.speed[:, None]])
    widths = np.append(np.full(len(own.open_moves), wider), common)
    left, sizes, right = np.linalg.svd(effects, full_matrices=False)
    along = left.T @ own.errors
    guesses = []
    for scatter in SCATTERS:
        spread = sizes**2 + scatter**2
        known = sizes**2 / spread
        rest = own.errors - left @ (known * along)
        # What a run adds to its own prediction is taken out again: so the others predict it.
        free = 1 - left**2 @ known
        determinant = np.sum(np.log(spread)) + (count - len(sizes)) * math.log(scatter**2)
        likelihood = -(own.errors @ rest / scatter**2 + determinant) / 2
        alone = rest / free
        of_run = -(alone * rest / scatter**2 + np.log(scatter**2 / free)) / 2
        guesses.append(
            _Guess(
                moves=widths * (right.T @ (sizes / spread * along)),
                left=alone,
                likelihood=float(likelihood),
                without=likelihood - of_run,
            )
        )
    return guesses
