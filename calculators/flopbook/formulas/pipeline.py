"""What a pipeline of stages loses while it fills and drains, for eight schedules."""

from typing import Annotated, Any

from flopbook.formulas.conditions import rule
from flopbook.formulas.declaration import Input, Output, Step, StepWord, formula, part
from flopbook.formulas.omissions import omission
from flopbook.quantities.ops import inf, minimum, where

SCHEDULES = ("gpipe", "1f1b", "interleaved", "zb-h1", "zb-h2", "zb-v", "dualpipe", "dualpipe-v")
SPLIT = ("zb-h1", "zb-h2", "zb-v")
SHIFTED = ("zb-h2", "zb-v")  # stages start and end one after another
FOLDED = ("dualpipe", "dualpipe-v")
AS_FORWARD = " (default: same as forward)"
LONGEST_PASS = 1e6  # seconds: beyond that a time is a slip of the keyboard

Stages = Annotated[
    float, Input("1", "K", "pipeline stages, one per device", least=1, whole=True, most=1e6)
]
MicroBatches = Annotated[
    float,
    Input(
        "1",
        "M",
        "micro-batches per step (gradient accumulation steps)",
        least=1,
        whole=True,
        most=1e6,
    ),
]
Schedule = Annotated[str, Input("1", r"\text{schedule}", "pipeline schedule", choices=SCHEDULES)]
VirtualStages = Annotated[
    float,
    Input("1", "V", "model chunks per device (virtual stages)", least=1, whole=True, most=1e6),
]
ForwardTime = Annotated[
    float, Input("s", r"t_\text{F}", "forward pass of a stage", most=LONGEST_PASS)
]
# Zero stands for "not given": a time itself is above zero.
BackwardInputTime = Annotated[
    float, Input("s", r"t_\text{B}", "backward pass for the inputs" + AS_FORWARD, most=LONGEST_PASS)
]
BackwardWeightTime = Annotated[
    float,
    Input("s", r"t_\text{W}", "backward pass for the weights" + AS_FORWARD, most=LONGEST_PASS),
]


@rule("virtual stages belong to the interleaved schedule; use --schedule interleaved")
def virtual_stages_are_interleaved(schedule: str, virtual: float) -> bool:
    """In every other schedule a stage is one chunk of the model."""
    return (schedule == "interleaved") | (virtual == 1)


# In the rules below an open number of micro-batches, which `memory` allows, fits any schedule.
@rule(
    "the interleaved schedule needs a number of micro-batches that is a multiple of the stages, "
    "not {microbatches} for --stages {stages}; use {microbatches:multiple of stages}"
)
def interleaved_rounds_are_full(schedule: str, microbatches: float, stages: float) -> bool:
    """The schedule takes as many micro-batches through each chunk as there are stages."""
    counted = where(microbatches < inf, microbatches, stages)
    return (schedule != "interleaved") | (counted % stages == 0)


@rule(
    "dualpipe needs an even number of stages, not --stages {stages}: "
    "each device holds one from either end"
)
def dualpipe_stages_are_paired(schedule: str, stages: float) -> bool:
    """No device is left with one stage."""
    return (schedule != "dualpipe") | (stages % 2 == 0)


@rule(
    "dualpipe needs an even number of micro-batches, not --microbatches {microbatches}: "
    "half of them enter at either end"
)
def dualpipe_microbatches_are_paired(schedule: str, microbatches: float) -> bool:
    """Both directions carry equally many micro-batches."""
    counted = where(microbatches < inf, microbatches, 2)
    return (schedule != "dualpipe") | (counted % 2 == 0)


@rule(
    "dualpipe and dualpipe-v need at least twice as many micro-batches as stages, "
    "not --microbatches {microbatches} for --stages {stages}"
)
def folded_pipelines_fill(schedule: str, microbatches: float, stages: float) -> bool:
    """Both folded schedules ask for it."""
    return (schedule not in FOLDED) | (microbatches >= 2 * stages)


# What a schedule asks of its shape: without it, no such schedule exists.
SHAPES = (
    virtual_stages_are_interleaved,
    interleaved_rounds_are_full,
    dualpipe_stages_are_paired,
    dualpipe_microbatches_are_paired,
    folded_pipelines_fill,
)


@rule(
    "the closed form of zb-v needs at least 2 x stages - 1 micro-batches, "
    "not --microbatches {microbatches} for --stages {stages}; "
    "see --timeline for the schedule itself"
)
def zb_v_fills(schedule: str, microbatches: float, stages: float) -> bool:
    """The closed form holds from there on."""
    return (schedule != "zb-v") | (microbatches >= 2 * stages - 1)


# In the rules below a backward pass of 0 was not given, and takes as long as a forward pass.
@rule(
    "the closed form of this schedule needs --backward-weight no longer than --forward and "
    "--backward-input; see --timeline for the schedule itself"
)
def weights_fill_the_bubble(
    schedule: str, forward: float, backward_input: float, backward_weight: float
) -> bool:
    """Passes for the weights fill the bubble, so they have to fit into it."""
    back_inputs = where(backward_input > 0, backward_input, forward)
    back_weights = where(backward_weight > 0, backward_weight, forward)
    weights_are_short = (back_weights <= forward) & (back_weights <= back_inputs)
    return (schedule not in SPLIT) | weights_are_short


@rule(
    "the closed form of zb-v needs --forward no longer than --backward-input; "
    "see --timeline for the schedule itself"
)
def zb_v_forward_is_short(schedule: str, forward: float, backward_input: float) -> bool:
    """The closed form of ZB-V holds for such passes only."""
    back_inputs = where(backward_input > 0, backward_input, forward)
    return (schedule != "zb-v") | (forward <= back_inputs)


@rule(
    "the closed form of dualpipe and dualpipe-v needs --forward equal to --backward-input, and "
    "--backward-weight no longer; see --timeline for the schedule itself"
)
def folded_passes_match(
    schedule: str, forward: float, backward_input: float, backward_weight: float
) -> bool:
    """The closed form of the folded schedules holds for such passes only."""
    back_inputs = where(backward_input > 0, backward_input, forward)
    back_weights = where(backward_weight > 0, backward_weight, forward)
    return (schedule not in FOLDED) | ((forward == back_inputs) & (back_weights <= forward))


# What the closed form asks beyond that. The schedule itself still runs: --timeline shows it and
# what it loses.
CLOSED = (zb_v_fills, weights_fill_the_bubble, zb_v_forward_is_short, folded_passes_match)


@part
def in_flight(
    stages: Step, microbatches: Step, schedule: StepWord, virtual: Step
) -> dict[str, Any]:
    """Peak number of micro-batches whose activations the first stage keeps in memory (1).

    Counted in whole stages, so a chunk of two counts half. The first stage is the worst case for
    every schedule here; a simulation of the passes gives the same counts.
    """
    chunks = virtual if schedule == "interleaved" else 1
    # What the schedule allows; with fewer micro-batches, all of them are in flight at once.
    warm = {
        "zb-h2": stages * 2 - 1,
        "dualpipe": stages + 1,
        "dualpipe-v": stages + 0.5,
    }.get(schedule, where(chunks > 1, stages + (stages - 1) / chunks, stages))
    return {
        "chunks": chunks,
        "peak_microbatches": microbatches if schedule == "gpipe" else minimum(warm, microbatches),
    }


@omission(
    "{schedule} hides the bubble behind the next step: a step that waits for the norm of all "
    "gradients takes longer ({size})",
    of="total_seconds",
)
def waits_for_the_norm(schedule: str, stages: float, forward: float, total_seconds: float) -> float:
    """Stages start and end one after another, up to K - 1 passes apart."""
    return where(schedule in SHIFTED, (stages - 1) * forward / total_seconds, 0)


@formula(
    "bubble",
    title="Pipeline bubble",
    question="For what share of its time is a pipeline stage idle?",
    outputs={
        "fraction": Output("1", r"f", "bubble fraction: idle share of a step"),
        "overhead": Output("1", r"o", "bubble overhead: idle over useful time"),
        "ideal_seconds": Output(
            "s", r"T_\text{ideal}", "useful time of a stage; a forward pass takes 1 s if not given"
        ),
        "total_seconds": Output("s", r"T", "time of a stage, first pass to last"),
        "peak_microbatches": Output("1", r"a", "peak number of micro-batches in flight on a stage"),
    },
    sources=(
        "huang2019gpipe",
        "narayanan2021efficient",
        "qi2024zero",
        "qi2024pipeline",
        "deepseek2025dualpipe",
    ),
    symbols={
        "idle": r"i",
        "work": r"u",
        "chunks": "v",
        "warm": "h",
        "back_inputs": "b",
        "back_weights": "w",
        "delayed": "d",
        "split": "i_s",
        "folded": "i_f",
    },
    omissions=(waits_for_the_norm,),
    asks=("schedule", "stages", "microbatches"),
    examples=(
        {"schedule": "1f1b", "stages": "8", "microbatches": "32"},
        {"schedule": "interleaved", "stages": "8", "microbatches": "32", "virtual": "4"},
        {
            "schedule": "zb-h1",
            "stages": "8",
            "microbatches": "32",
            "forward": "10ms",
            "backward-input": "11ms",
            "backward-weight": "8ms",
        },
    ),
    rules=SHAPES + CLOSED,
    parts=(in_flight,),
)
def bubble(
    stages: Stages,
    microbatches: MicroBatches,
    chunks: Step,
    peak_microbatches: Step,
    schedule: Schedule = "1f1b",
    virtual: VirtualStages = 1.0,
    forward: ForwardTime = 1.0,
    backward_input: BackwardInputTime = 0.0,
    backward_weight: BackwardWeightTime = 0.0,
) -> dict[str, Any]:
    """Share of a training step in which a pipeline stage waits, for eight schedules.

    Derivation:
        The first micro-batch reaches the last of K stages after K - 1 passes, and as long again is
        lost at the end while the pipeline drains: of the time of M + K - 1 micro-batches, a stage
        works for M. 1F1B has the same bubble as GPipe, but starts each backward pass as soon as it
        can, so a stage holds at most K micro-batches. With V chunks on each stage (interleaved)
        filling and draining are V times shorter, for V times the messages.

        A backward pass is two: one for the inputs (B), on which the stage before waits, and one for
        the weights (W), on which nobody waits. ZB-H1 puts W where a stage would wait, ZB-H2 twice
        as often and in almost twice the memory. In ZB-V the way through the model goes down the
        stages and up again, and the wait is B - W. In DualPipe micro-batches enter at both ends and
        K/2 - 1 waits are left; DualPipe-V folds that onto half the devices.

    Leaves out:
        - The wait for the norm of the gradients in ZB-H2 and ZB-V, whose stages start and end one
          after another. [waits_for_the_norm]
        - The time of the messages between stages. [no size: it needs the size of activations and
          the links; each hop adds its message to the bubble twice]
        - Unequal stages (embedding and head), and the optimizer step. [no size: give the times of
          the slowest stage]
        - Messages that DualPipe hides behind the other direction; here two passes at once take the
          sum of their times. [no size: it depends on the messages]
        - Batches that overlap, without a bubble but with stale weights. [no size: another way to
          train]
    """
    back_inputs = where(backward_input > 0, backward_input, forward)
    back_weights = where(backward_weight > 0, backward_weight, forward)
    work = microbatches * (forward + back_inputs + back_weights)
    delayed = minimum((stages - 1) * 2 if schedule == "zb-h2" else stages - 1, microbatches - 1)
    split = (stages - 1) * (forward + back_inputs) - delayed * back_weights
    folded = forward + back_inputs * 2 - back_weights
    idle = {
        "zb-h1": split,
        "zb-h2": split,
        "zb-v": (stages - 1) * (back_inputs - back_weights),
        "dualpipe": (stages / 2 - 1) * folded,
        "dualpipe-v": (stages - 1) * folded / 2,
    }.get(schedule, (stages - 1) * (forward + back_inputs + back_weights) / chunks)
    return {
        "fraction": idle / (work + idle),
        "overhead": idle / work,
        "ideal_seconds": work,
        "total_seconds": work + idle,
        "peak_microbatches": peak_microbatches,
    }
