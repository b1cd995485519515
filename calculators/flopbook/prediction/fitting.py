"""Fits parameters to measured runs: a robust loss on the logarithm of the error, with priors."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flopbook.prediction.arrays import Column

# Beyond this error a run counts by its size, not its square: an outlier pulls, but does not rule.
ROBUST = 0.10
STEP = 1e-4  # of a logarithm, for the derivative
MOST_ROUNDS = 60
PRECISE = 1e-7
# Gives the logarithm of each prediction from the logarithms of the parameters; of several points,
# one a row, the predictions of each in a row.
Predictor = Callable[[Column], Column]
Places = NDArray[np.int_]


class Together(NamedTuple):
    """Runs that may lie off together: the place of each run's group, and how far, a logarithm."""

    groups: Places
    spread: float


class Objective:
    """What is fitted: predictions, the measured values, how much each counts, and the priors.

    Groups of runs that may lie off together have a factor each, which is found with the parameters
    and forgotten: a difference between groups then teaches less than one within a group.
    """

    def __init__(
        self,
        predict: Predictor,
        measured: Column,
        weights: Column,
        start: Column,
        spread: Column,
        together: Together | None = None,
    ) -> None:
        self.predict, self.measured, self.weights = predict, np.log(measured), weights
        self.count = len(start)
        self.groups = together.groups if together else None
        count = int(together.groups.max()) + 1 if together else 0
        common: Column = np.full(count, together.spread if together else 1.0)
        self.start = np.concatenate([np.log(start), np.zeros(count)])
        self.spread = np.concatenate([spread, common])

    def errors(self, point: Column) -> Column:
        """Logarithm of predicted over measured."""
        predicted: Column = self.predict(point[None, : self.count])[0]
        if self.groups is not None:
            predicted = predicted + point[self.count :][self.groups]
        return predicted - self.measured

    def loss(self, point: Column) -> float:
        """The robust loss of all errors, and the distance of the parameters from their priors."""
        size = np.abs(self.errors(point)) / ROBUST
        robust = np.where(size < 1, size * size, 2 * size - 1)
        moved = (point - self.start) / self.spread
        return float(np.sum(self.weights * robust) + np.sum(moved * moved))

    def slopes(self, point: Column) -> Column:
        """The derivative of each error by each parameter."""
        physical = point[: self.count]
        beside = self.predict(np.vstack([physical, physical + STEP * np.eye(self.count)]))
        slopes: Column = (beside[1:] - beside[0]).T / STEP
        if self.groups is None:
            return slopes
        members = np.arange(len(point) - self.count) == self.groups[:, None]
        return np.hstack([slopes, members.astype(float)])

    def bowl(self, point: Column) -> tuple[Column, Column]:
        """Half the second derivative of the loss, and half the first."""
        errors, slopes = self.errors(point), self.slopes(point)
        size = np.abs(errors) / ROBUST
        # An error beyond the robust bound counts with its size instead of its square.
        counted = self.weights / np.maximum(size, 1) / ROBUST**2
        pull = 1 / self.spread**2
        curvature = (slopes * counted[:, None]).T @ slopes + np.diag(pull)
        slope = (slopes * counted[:, None]).T @ errors + pull * (point - self.start)
        return curvature, slope


class Optimum(NamedTuple):
    """The parameters that fit best, as logarithms, and the covariance that the runs leave them.

    The loss is minus twice a log-likelihood, so that the covariance is the inverse of half its
    second derivative. What groups have in common is averaged over.
    """

    point: Column
    covariance: Column


def optimum(problem: Objective) -> Optimum:
    """The parameters that fit best, and how surely."""
    point = _least(problem)
    curvature, _ = problem.bowl(point)
    count = problem.count
    covariance: Column = np.linalg.inv(curvature)[:count, :count].astype(np.float64)
    return Optimum(point[:count], covariance)


def fit(problem: Objective) -> Column:
    """The parameters that fit best."""
    return _least(problem)[: problem.count]


def _least(problem: Objective) -> Column:
    """Where the loss is least, by damped Gauss-Newton steps from the priors."""
    point, damping = problem.start.copy(), 1.0
    loss = problem.loss(point)
    for _ in range(MOST_ROUNDS):
        curvature, slope = problem.bowl(point)
        point, smaller, damping = _improved(problem, point, loss, curvature, slope, damping)
        if loss - smaller < PRECISE * loss:
            break
        loss = smaller
    return point


def _improved(
    problem: Objective,
    point: Column,
    loss: float,
    curvature: Column,
    slope: Column,
    damping: float,
) -> tuple[Column, float, float]:
    """A point of smaller loss, its loss, and the next damping; the same point if there is none."""
    for _ in range(10):
        damped = curvature + damping * np.diag(np.diag(curvature))
        candidate = point - np.linalg.solve(damped, slope)
        smaller = problem.loss(candidate)
        if smaller < loss:
            return candidate, smaller, max(damping / 3, 1e-6)
        damping = min(4 * damping, 1e12)
    return point, loss, damping
