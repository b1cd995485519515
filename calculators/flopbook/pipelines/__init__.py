"""Pipeline schedules, pass by pass: which stage does what in which order, and how long that takes.

The closed forms of `flopbook.formulas.pipeline` say the same in one line; a test holds both equal.
`plan` lists the passes of each stage, `simulate` times them.
"""

from __future__ import annotations

from flopbook.pipelines.plans import Plan, StagePass, plan
from flopbook.pipelines.simulation import Run, Times, simulate

__all__ = ["Plan", "Run", "StagePass", "Times", "plan", "simulate"]
