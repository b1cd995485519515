"""What each piece of the predicted step is worth: errors with pieces added one by one, or left out.

`python -m scripts.fit_ablation` fits the throughput of training again for each set of pieces,
scores rows of clusters that the fit has not seen, prints the errors and writes them beside the
fitted parameters. A piece is left out by dropping its parts of the step, by holding its parameters
at the value at which they do nothing, or by hiding from the prediction what a row says about it.
"""

from __future__ import annotations

import argparse
import functools
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from flopbook.data.files import write_text
from flopbook.data.measured_runs import run_files
from flopbook.prediction.arrays import Column
from flopbook.prediction.fits import FOLDS, cases_of, left_out_errors
from flopbook.prediction.fitted import FILE as FITTED
from flopbook.prediction.layouts import Layouts, RunLayout
from flopbook.prediction.models import Case, Parameters, PredictionModel
from flopbook.prediction.named_models import MODEL_SHAPE
from flopbook.prediction.parameters import PRIORS
from flopbook.prediction.stacks import OTHER
from flopbook.prediction.step_time import StepParts, step_parts
from flopbook.prediction.training import MODEL

FILE = FITTED.with_name("ablation.json")
# So small that what it halves is never halved.
NOTHING = 1e-12
# Parts of a step that are not work of a micro-batch: they follow from it, or come once a step.
_FOLLOWING = ("bubble", "straggling")
_ONCE = ("gradients", "optimizer")


def _unchanged(run: RunLayout) -> RunLayout:
    return run


def _without_recompute(run: RunLayout) -> RunLayout:
    return run._replace(recompute="none")


def _without_stack(run: RunLayout) -> RunLayout:
    return run._replace(stack=OTHER)


class AblationPiece(NamedTuple):
    """A piece of the prediction and how to do without it.

    `drops` are parts of the step, `held` parameters with the value at which they do nothing, `tied`
    parameters that take the value of another, `change` hides what a run says.
    """

    name: str
    label: str
    drops: tuple[str, ...] = ()
    held: Mapping[str, float] = {}
    tied: Mapping[str, str] = {}
    change: Callable[[RunLayout], RunLayout] = _unchanged


def _named(start: str) -> tuple[str, ...]:
    return tuple(name for name in PRIORS if name.startswith(start))


# From the bare roofline, the arithmetic of the weights at the printed peak, to the whole.
PIECES = (
    AblationPiece(
        "share", "one share of the peak for all", held=dict.fromkeys(_named("matrix"), 1.0)
    ),
    AblationPiece(
        "chips",
        "shares by chip generation and format",
        held=dict.fromkeys(("fp8", "framework_fp8", "row_scales", "fp4", "power_capped"), 1.0)
        | dict.fromkeys(_named("matrix_"), 1.0),
        tied=dict.fromkeys(set(_named("attention_")) - {"attention_first"}, "attention_other"),
    ),
    AblationPiece("attention", "attention", drops=("attention",)),
    AblationPiece("recompute", "recomputation", change=_without_recompute),
    AblationPiece(
        "shapes",
        "shapes of the products",
        held={"half_tokens": NOTHING, "half_width": NOTHING, "misaligned": 1.0},
    ),
    AblationPiece("memory", "memory-bound work", drops=("elementwise", "optimizer")),
    AblationPiece("launches", "kernel launches", drops=("launches",)),
    AblationPiece("tensor", "tensor-parallel sums", drops=("tensor_parallel",)),
    AblationPiece("sharding", "gathers and gradient sums", drops=("gathers", "gradients")),
    AblationPiece(
        "messages",
        "messages of rings, experts and stages",
        drops=("context_parallel", "expert_parallel", "pipeline_sends"),
    ),
    AblationPiece(
        "experts",
        "expert penalties",
        held={
            "expert_cost": 1.0,
            "imbalance": NOTHING,
            "half_expert_tokens": NOTHING,
            "expert_launch": NOTHING,
            "expert_kernels": NOTHING,
        },
    ),
    AblationPiece("bubble", "the pipeline bubble", drops=("bubble",)),
    AblationPiece(
        "software",
        "the software stack",
        held=dict.fromkeys(_named("stack_"), 1.0),
        change=_without_stack,
    ),
    AblationPiece("stragglers", "stragglers", drops=("straggling",)),
)
# Without it the other shares would have nothing to be shares of.
NOT_ALONE = ("share",)
BARE = "the printed peak alone"


def without(missing: Sequence[AblationPiece]) -> PredictionModel:
    """The model of training throughput without some of its pieces."""
    held = {name: value for piece in missing for name, value in piece.held.items()}
    tied = {
        name: source_name
        for piece in missing
        for name, source_name in piece.tied.items()
        if name != source_name
    }
    dropped = {name for piece in missing for name in piece.drops}

    def arrange(runs: Sequence[RunLayout]) -> Layouts:
        changes = [piece.change for piece in missing]
        return Layouts(
            [functools.reduce(lambda run, change: change(run), changes, run) for run in runs]
        )

    def predict(runs: Layouts, p: Parameters) -> Column:
        parameters = {**p, **held}
        parameters |= {
            name: parameters[source_name] for name, source_name in tied.items() if name not in held
        }
        batch = runs["micro_batch"] * runs["micro_batches"] * runs["dp"]
        seconds = kept_seconds(step_parts(runs, parameters), dropped)
        return batch * runs["tokens"] / seconds / runs["chips"]

    free = {name: prior for name, prior in PRIORS.items() if name not in {*held, *tied}}
    return MODEL._replace(priors=free, predict=predict, arrange=arrange)


def kept_seconds(parts: StepParts, dropped: set[str]) -> Column:
    """Seconds of a step without some parts; bubble and stragglers shrink with what remains."""
    seconds = parts._asdict()
    work = [name for name in seconds if name not in (*_FOLLOWING, *_ONCE)]
    kept = _sum(seconds[name] for name in work if name not in dropped)
    once = _sum(seconds[name] for name in _ONCE if name not in dropped)
    bubble = seconds["bubble"] * kept / _sum(seconds[name] for name in work)
    step = kept + once + (0 if "bubble" in dropped else bubble)
    others_seconds = _sum(part for name, part in seconds.items() if name != "straggling")
    slower = 0 if "straggling" in dropped else seconds["straggling"] / others_seconds
    slowed: Column = step * (1 + slower)
    return slowed


def _sum(columns: Any) -> Any:
    return functools.reduce(np.add, columns, 0.0)


def fitted_cases() -> tuple[Case, ...]:
    """The rows that the parameters are fitted to, as `scripts.fit` takes them."""
    readable = cases_of(MODEL, run_files().values(), use="fit").cases
    return tuple(case for case in readable if MODEL_SHAPE not in case.inferred)


def errors_of(model: PredictionModel, cases: Sequence[Case]) -> dict[str, float]:
    """Median, mean and 90th percentile of the size of errors of sound rows, clusters left out."""
    errors = left_out_errors(model, cases, lambda case: case.cluster, FOLDS)
    sizes = np.abs(errors[np.array([case.is_sound for case in cases])])
    statistics = {
        "median": np.median(sizes),
        "mean": np.mean(sizes),
        "p90": np.quantile(sizes, 0.9),
    }
    return {name: round(float(value), 4) for name, value in statistics.items()}


def ablation(cases: Sequence[Case]) -> dict[str, Any]:
    """The errors as pieces are added in their order, and with each left out of the whole."""
    added = [{"name": "bare", "label": BARE, **errors_of(without(PIECES), cases)}]
    for place, piece in enumerate(PIECES):
        model = without(PIECES[place + 1 :])
        added.append({"name": piece.name, "label": piece.label, **errors_of(model, cases)})
        _say("with", added[-1])
    left_out = []
    for piece in PIECES:
        if piece.name in NOT_ALONE:
            continue
        errors = errors_of(without([piece]), cases)
        left_out.append({"name": piece.name, "label": piece.label, **errors})
        _say("without", left_out[-1])
    sound = sum(case.is_sound for case in cases)
    return {"rows": sound, "parameters": len(PRIORS), "added": added, "left_out": left_out}


def _say(word: str, line: Mapping[str, Any]) -> None:
    sizes = ", ".join(f"{name} {100 * line[name]:.1f} %" for name in ("median", "mean", "p90"))
    print(f"{word} {line['label']}: {sizes}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit all sets of pieces and write their errors."""
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    write_text(FILE, json.dumps(ablation(fitted_cases()), indent=1) + "\n")
    print(f"wrote {FILE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
