"""What failures cost a long run, and how often it should save its state."""

from typing import Annotated, Any

from flopbook.formulas.conditions import rule
from flopbook.formulas.declaration import Constant, Input, Output, Step, formula, part
from flopbook.formulas.omissions import omission
from flopbook.quantities.ops import inf, maximum, minimum, sqrt, where

HOUR = Constant(3600.0, "s", "seconds in an hour")
# 54 days of 16,384 chips with 419 unexpected interruptions (llamateam2024herd, Section 3.3.4).
LLAMA_MTBF = Constant(50_677 * 3600.0, "s", "of a chip in the run of Llama 3 405B")
# 1,024 chips of a research cluster run 7.9 hours between failures (kokolis2025revisiting).
RESEARCH_MTBF = Constant(1024 * 7.9 * 3600.0, "s", "of a chip in the research clusters of Meta")
# Detection and diagnosis take less than 10 minutes on average (jiang2024megascale, Section 6.3).
MEGASCALE_RESTART = Constant(600.0, "s", "from a failure to the next step")
# Master weights and two moments of the optimizer, in fp32.
ADAM_STATE = 12.0
# A file system that sustains 2 TB/s for 16,384 chips (llamateam2024herd, Section 3.3.1).
LLAMA_STORAGE = 2e12 / 16384

_GROUP = "Failures and checkpoints"

ChipMtbf = Annotated[
    float,
    Input(
        "s",
        "M",
        "mean time between failures (MTBF) of one chip with its share of host, network and "
        "software; 0 for none",
        model="chip_mtbf",
        most=1e12,
        none=True,
        group=_GROUP,
    ),
]
Save = Annotated[
    float,
    Input(
        "s",
        "S",
        "time for which a checkpoint stops the run; default from state and storage",
        most=1e9,
        group=_GROUP,
    ),
]
Restart = Annotated[
    float,
    Input(
        "s",
        "R",
        "time from a failure to the first new step",
        most=1e9,
        none=True,
        group=_GROUP,
    ),
]
Interval = Annotated[
    float,
    Input("s", r"\tau", "time between checkpoints; default the best one", most=1e12, group=_GROUP),
]
StatePerParam = Annotated[
    float,
    Input("byte/param", "b_c", "checkpoint size per parameter", most=1e3, group=_GROUP),
]
Storage = Annotated[
    float,
    Input("byte/s", "w_c", "checkpoint write bandwidth per chip", most=1e15, group=_GROUP),
]
Chips = Annotated[
    float,
    Input("chip", "N", "chips of the run", least=1, whole=True, most=1e9),
]

FAILURE_SYMBOLS = {"stored": "N_c", "pause": "S'", "period": r"\tau'"}


@part
def saved_model(
    params: Annotated[
        float, Input("param", r"N_\text{param}", "parameters in a checkpoint", model="params")
    ] = inf,
) -> dict[str, Any]:
    """Parameters in a checkpoint, infinite where they are not given."""
    return {"stored": params}


@part
def checkpoint_pause(
    chips: Chips,
    stored: Step,
    save: Save = inf,
    state_per_param: StatePerParam = ADAM_STATE,
    storage: Storage = LLAMA_STORAGE,
) -> dict[str, Any]:
    """Time for which a checkpoint stops the run: given, or all chips write their share at once."""
    return {"pause": where(save < inf, save, state_per_param * stored / (storage * chips))}


@part
def time_lost(
    chips: Chips,
    pause: Step,
    chip_mtbf: ChipMtbf = LLAMA_MTBF,
    restart: Restart = MEGASCALE_RESTART,
    interval: Interval = inf,
) -> dict[str, Any]:
    """Shares of time lost to saving, to repeated steps and to restarts, at first order."""
    mtbf = where(chip_mtbf > 0, chip_mtbf, inf) / chips
    best_interval = sqrt(2 * mtbf * pause)
    period = where(interval < inf, interval, best_interval)
    saving = pause / period
    repeating = where(chip_mtbf > 0, period / 2 / where(chip_mtbf > 0, mtbf, HOUR), 0)
    restarting = restart / mtbf
    return {
        "mtbf": mtbf,
        "best_interval": best_interval,
        "saving": saving,
        "repeating": repeating,
        "restarting": restarting,
        "lost": minimum(saving + repeating + restarting, 1),
    }


@rule("the time of a checkpoint needs the model: give --params or --model, or the time with --save")
def checkpoint_has_a_time(save: float, params: float) -> bool:
    """Without parameters nobody knows what is written."""
    return (save < inf) | (params < inf)


@omission(
    "lost adds up three shares as if no failure hit the time that they take: with failures during "
    "saving, repeating and restarting it changes ({size})",
    of="lost",
)
def failures_in_lost_time(saving: float, repeating: float, restarting: float, lost: float) -> float:
    """Memoryless failures: an interval takes T (exp(y) - 1) exp(R / T), with y = (tau + S) / T.

    exp(y) - 1 is about y / (1 - y/2 + y^2/12), within a percent up to y = 1.3, and never below y.
    exp(x) is the limit of (1 + x/n)^n. Twice the share repeated is the interval over T.
    """
    period = 2 * repeating
    exposed = maximum(period * (1 + saving), 1e-12)
    near = minimum(exposed, 3)
    tries = maximum(exposed, near / (1 - near / 2 + near**2 / 12))
    waits = (1 + minimum(restarting, 64) / 4096) ** 4096
    kept = period / (tries * waits)
    # Next to nothing is lost where there are no failures.
    return where(lost > 1e-6, (1 - kept) / where(lost > 1e-6, lost, 1) - 1, 0)


@omission(
    "failures come at the rate of a large production run; at that of research clusters goodput "
    "changes ({size})",
    of="goodput",
)
def failure_rate(
    chips: float,
    chip_mtbf: float,
    saving: float,
    repeating: float,
    restarting: float,
    goodput: float,
) -> float:
    """More failures: restarts in proportion, saving and repeating by the root at the best interval.

    Only where nobody gave a rate.
    """
    more = where(chip_mtbf == LLAMA_MTBF, LLAMA_MTBF / RESEARCH_MTBF, 1)
    lost = (saving + repeating) * sqrt(more) + restarting * more
    return where(goodput > 0, (1 - minimum(lost, 1)) / where(goodput > 0, goodput, 1) - 1, 0)


@formula(
    "reliability",
    title="Reliability of a run",
    question="How often does a run fail, how often should it save, and what share of time is lost?",
    outputs={
        "mtbf": Output("s", "T", "mean time between failures of the run"),
        "failures_per_hour": Output("1", r"n_\text{hour}", "failures to expect in an hour"),
        "best_interval": Output(
            "s", r"\tau_\text{best}", "time between checkpoints at which least is lost (Young)"
        ),
        "saving": Output(
            "1", r"\ell_\text{save}", "time to save over the time between checkpoints"
        ),
        "repeating": Output(
            "1", r"\ell_\text{repeat}", "steps done again over the time between failures"
        ),
        "restarting": Output("1", r"\ell_\text{restart}", "restart over the time between failures"),
        "lost": Output("1", r"\ell", "share of time lost: these three together, at most 1"),
        "goodput": Output("1", "G", "share of time spent on steps that count"),
    },
    sources=(
        "young1974first",
        "daly2006higher",
        "llamateam2024herd",
        "jiang2024megascale",
        "kokolis2025revisiting",
    ),
    parts=(saved_model, checkpoint_pause, time_lost),
    symbols=FAILURE_SYMBOLS,
    rules=(checkpoint_has_a_time,),
    omissions=(failures_in_lost_time, failure_rate),
    asks=("model", "chips", "save", "restart"),
    examples=(
        {"model": "llama-3-405b", "chips": "16384", "save": "30s", "restart": "10min"},
        {"chip-mtbf": "2000days", "chips": "1024", "save": "2min", "interval": "1hour"},
    ),
)
def reliability(
    mtbf: Step,
    best_interval: Step,
    saving: Step,
    repeating: Step,
    restarting: Step,
    lost: Step,
) -> dict[str, Any]:
    """Time between failures of a run, the checkpoint interval that loses least, and the share of
    time lost.

    Derivation:
        In training every chip waits for all others, so one failure stops the run. N chips that fail
        independently, each once in a time M on average, stop it once in T = M / N. This M covers
        the chip with its share of all else that can stop the run.

        After a failure the run starts again from its last checkpoint. Saving takes S once in every
        interval: S over the interval is lost. A failure falls anywhere in the interval, so half of
        it is done again: half the interval over T is lost. The restart adds R / T. Saving and
        repeating together cost least where they cost the same, which is at the root of 2ST (Young).

        Defaults are published: M of the run of Llama 3 405B, R of MegaScale. S is the state, 12
        bytes for each parameter, at the write bandwidth of Meta's storage for each chip.

    Leaves out:
        - Failures while saving, repeating or restarting. The shares are first order and therefore
          too high: where this counts 7 percent of saving and repeating it is 6.9, where it counts
          20 it is 18.7. Each may pass 1 where failures come faster than restarts; their sum is
          capped at 1. [failures_in_lost_time]
        - How much the rate of failures differs between clusters: in research clusters of Meta six
          times as many came for each chip as in the run of Llama 3. [failure_rate]
        - Daly's refinement, which shortens the best interval by about two thirds of S, 2.3 percent
          at S / T = 1/400 and 7 at 1/50. [flat: the optimum is so flat that the refinement saves
          less than a thousandth of the time]
        - Saving in the background. [no size: give the time for which the chips wait]
        - Failures that come together, wrong results without an error, stragglers and planned
          interruptions. [no size: nobody publishes how often they come]
        - Chips that are missing until a spare is found. [no size: give it with the restart time]
    """
    return {
        "mtbf": mtbf,
        "failures_per_hour": HOUR / mtbf,
        "best_interval": best_interval,
        "saving": saving,
        "repeating": repeating,
        "restarting": restarting,
        "lost": lost,
        "goodput": 1 - lost,
    }
