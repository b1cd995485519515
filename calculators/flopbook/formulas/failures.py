"""What failures cost a long run, and how often it should save its state."""

from typing import Annotated, Any

from flopbook.formulas.declaration import Constant, Input, Output, formula
from flopbook.formulas.omissions import omission
from flopbook.quantities.ops import inf, maximum, minimum, sqrt, where

HOUR = Constant(3600.0, "s", "seconds in an hour")


@omission(
    "lost adds up three shares as if no failure hit the time that they take: with failures during "
    "saving, repeating and restarting it changes ({size})",
    of="lost",
)
def failures_in_lost_time(
    mtbf: float, save: float, restart: float, interval: float, best_interval: float, lost: float
) -> float:
    """Memoryless failures: an interval takes T (exp(y) - 1) exp(R / T), with y = (tau + S) / T.

    exp(y) - 1 is about y / (1 - y/2 + y^2/12), within a percent up to y = 1.3, and never below y.
    exp(x) is the limit of (1 + x/n)^n.
    """
    period = where(interval < inf, interval, best_interval)
    exposed = (period + save) / mtbf
    near = minimum(exposed, 3)
    tries = maximum(exposed, near / (1 - near / 2 + near**2 / 12))
    waits = (1 + minimum(restart / mtbf, 64) / 4096) ** 4096
    kept = period / mtbf / (tries * waits)
    return (1 - kept) / lost - 1


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
        "saving": Output("1", r"\ell_\text{save}", "share of time lost to saving"),
        "repeating": Output(
            "1", r"\ell_\text{repeat}", "share lost to steps done again after a failure"
        ),
        "restarting": Output("1", r"\ell_\text{restart}", "share lost to restarts"),
        "lost": Output("1", r"\ell", "share of time lost in all"),
        "goodput": Output("1", "G", "share of time spent on steps that count"),
    },
    sources=("young1974first", "daly2006higher", "llamateam2024herd"),
    symbols={"period": r"\tau'"},
    omissions=(failures_in_lost_time,),
    examples=(
        {"model": "llama-3-405b", "chips": "16384", "save": "30s", "restart": "10min"},
        {"chip-mtbf": "2000days", "chips": "1024", "save": "2min", "interval": "1hour"},
    ),
)
def reliability(
    chips: Annotated[
        float,
        Input("chip", "N", "chips, any of which stops the run", least=1, whole=True, most=1e9),
    ],
    chip_mtbf: Annotated[
        float,
        Input(
            "s",
            "M",
            "mean time between failures of one chip with its share of host, network and software",
            model="chip_mtbf",
            most=1e12,
        ),
    ],
    save: Annotated[float, Input("s", "S", "time for which a checkpoint stops the run", most=1e9)],
    restart: Annotated[
        float,
        Input("s", "R", "time from a failure to the first new step", most=1e9, none=True),
    ] = 0.0,
    interval: Annotated[
        float, Input("s", r"\tau", "time between checkpoints; the best one if open", most=1e12)
    ] = inf,
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

    Leaves out:
        - Failures while saving, repeating or restarting. The shares are first order and therefore
          too high: where this counts 7 percent of saving and repeating it is 6.9, where it counts
          20 it is 18.7. They are capped at 1. [failures_in_lost_time]
        - Daly's refinement, which shortens the best interval by about two thirds of S, 2.3 percent
          at S / T = 1/400 and 7 at 1/50. [flat: the optimum is so flat that the refinement saves
          less than a thousandth of the time]
        - Saving in the background. [no size: give the time for which the chips wait]
        - Failures that come together, wrong results without an error, stragglers and planned
          interruptions. [no size: nobody publishes how often they come]
        - Chips that are missing until a spare is found. [no size: give it with the restart time]
    """
    mtbf = chip_mtbf / chips
    best_interval = sqrt(2 * mtbf * save)
    period = where(interval < inf, interval, best_interval)
    saving = save / period
    repeating = period / 2 / mtbf
    restarting = restart / mtbf
    lost = minimum(saving + repeating + restarting, 1)
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
