"""How long a training run takes, and what it costs in money, energy and carbon."""

from typing import Annotated, Any

from flopbook.formulas.declaration import Constant, Input, Output, Step, formula, part
from flopbook.formulas.failures import (
    FAILURE_SYMBOLS,
    LLAMA_MTBF,
    MEGASCALE_RESTART,
    RESEARCH_MTBF,
    checkpoint_pause,
    time_lost,
)
from flopbook.formulas.layer_inputs import LAYER_RULES, LAYER_SYMBOLS
from flopbook.formulas.omissions import omission
from flopbook.formulas.training_compute import (
    ATTENTION_SYMBOLS,
    CAUSAL_ATTENTION,
    FLOP_PER_WEIGHT_AGAIN,
    FLOP_PER_WEIGHT_TRAINED,
    Params,
    Tokens,
)
from flopbook.formulas.unsized_attention import attention_without_sequences
from flopbook.quantities.ops import ceil, inf, maximum, minimum, sqrt, where

HOUR = Constant(3600.0, "s", "seconds in an hour")
DAY = Constant(86400.0, "s/day", "seconds in a day")
MEASURED_LOAD = Constant(0.76, "1", "measured over rated power of an H100 server in training")


def _rate(unit: str, symbol: str, meaning: str) -> Input:
    """A price or a weight that has no default: what depends on it is left open without it."""
    return Input(unit, symbol, meaning, most=1e6)


_SERVERS = "Servers and site"


@part
def checkpoint_size(
    params: Params,
    total_params: Annotated[
        float,
        Input(
            "param",
            r"N_\text{total}",
            "parameters in a checkpoint; default those that are computed with",
            model="params",
            least=1,
            most=1e18,
            group="Failures and checkpoints",
        ),
    ] = inf,
) -> dict[str, Any]:
    """Parameters in a checkpoint: of a mixture of experts all of them."""
    return {"stored": where(total_params < inf, total_params, params)}


@omission(
    "scores behind the causal mask are not counted: at a utilisation that counts them, as many "
    "published ones do, the run takes longer ({size})",
    of="seconds",
)
def masked_scores(params: float, tokens: float, flop: float, counts: str) -> float:
    """As many scores once more as those that are counted."""
    layers = {"mfu": 1}.get(counts, 4 / 3) * FLOP_PER_WEIGHT_TRAINED * params * tokens
    return maximum(1 - layers / flop, 0)


@omission(
    "failures and checkpoints are left out: at the rate of a large production run it takes longer "
    "({size})",
    of="seconds",
)
def failures_not_counted(chips: float, chip_mtbf: float) -> float:
    """Restarts alone, at the published rate and time of a restart."""
    lost = minimum(chips * MEGASCALE_RESTART / LLAMA_MTBF, 0.99)
    return where(chip_mtbf > 0, 0, lost / (1 - lost))


@omission(
    "failures come at the rate of Llama 3 405B: at that of research clusters the run takes longer "
    "({size})",
    of="seconds",
)
def failure_rate_of_runs(chips: float, chip_mtbf: float, restart: float, goodput: float) -> float:
    """More failures: restarts in proportion, saving and repeating by the root at the best interval.

    Only where nobody gave a rate.
    """
    more = where(chip_mtbf == LLAMA_MTBF, LLAMA_MTBF / RESEARCH_MTBF, 1)
    restarting = minimum(chips * restart / where(chip_mtbf > 0, chip_mtbf, inf), 1 - goodput)
    lost = (1 - goodput - restarting) * sqrt(more) + restarting * more
    # Beyond a hundred times as long a run never ends.
    left = where(goodput > 0, maximum(1 - lost, goodput / 100), 1)
    return where(goodput > 0, goodput / left - 1, 0)


@omission(
    "power is the rating of the server: an H100 server was measured at 76 % of it in training, "
    "which --load 0.76 counts ({size})",
    of="joules",
)
def power_below_the_rating(load: float) -> float:
    """Highest loads reached 76 to 82 percent of the rating (newkirk2025power)."""
    return where(load < 1, 0, MEASURED_LOAD - 1)


@formula(
    "training-time",
    title="Training time",
    question="How long does a training run take, and what does it cost?",
    outputs={
        "seconds": Output(
            "s",
            "t",
            "time of the run, failures included",
            absent="never ends: failures come faster than restarts",
        ),
        "days": Output("day", r"t_\text{day}", "time of the run in days", absent="never ends"),
        "flop": Output("FLOP", "W", "arithmetic of the run"),
        "goodput": Output("1", "G", "share of time spent on steps that count"),
        "billed_chips": Output("chip", r"X_\text{node}", "chips of whole nodes, which are billed"),
        "chip_hours": Output(
            "chip-hour", r"h", "hours of all chips that train", absent="never ends"
        ),
        "joules": Output(
            "J",
            "E",
            "energy of the run, power usage effectiveness included",
            needs=("power",),
            absent="never ends",
        ),
        "cost": Output(
            "USD", "c", "price of the billed chips", needs=("price",), absent="never ends"
        ),
        "co2": Output(
            "kg",
            r"m_{\text{CO}_2}",
            "carbon dioxide of the energy",
            needs=("power", "carbon"),
            absent="never ends",
        ),
    },
    sources=(
        "kaplan2020scaling",
        "narayanan2021efficient",
        "touvron2023llama",
        "llamateam2024herd",
        "jiang2024megascale",
        "newkirk2025power",
    ),
    parts=(*CAUSAL_ATTENTION, checkpoint_size, checkpoint_pause, time_lost),
    symbols={
        **LAYER_SYMBOLS,
        **ATTENTION_SYMBOLS,
        **FAILURE_SYMBOLS,
        "whole": r"\tau_w",
        "again": "k_0",
        "work": "k",
        "rate": "C",
        "busy": "t_0",
        "mtbf": "T_f",
        "best_interval": r"\tau_\text{best}",
        "saving": r"\ell_s",
        "repeating": r"\ell_r",
        "restarting": r"\ell_R",
        "lost": r"\ell",
    },
    rules=LAYER_RULES,
    omissions=(
        attention_without_sequences,
        masked_scores,
        failures_not_counted,
        failure_rate_of_runs,
        power_below_the_rating,
    ),
    asks=("model", "tokens", "chip", "chips", "mfu"),
    examples=(
        {
            "model": "llama-3-405b",
            "seq": "8192",
            "chip": "h100-sxm",
            "chips": "16384",
            "mfu": "0.4",
        },
        {
            "params": "65.2B",
            "tokens": "1.4T",
            "chip": "a100-sxm-80gb",
            "chips": "2048",
            "mfu": "0.477",
            "power": "400W",
            "pue": "1.1",
            "carbon": "385g/kWh",
            "price": "2USD/h",
        },
    ),
)
def training_time(
    params: Params,
    tokens: Tokens,
    causal_scores: Step,
    lost: Step,
    peak: Annotated[
        float,
        Input(
            "FLOP/s",
            r"\pi",
            "peak rate of the compute format",
            chip="peak",
            dtype="compute",
            most=1e24,
        ),
    ],
    chips: Annotated[float, Input("chip", "X", "chips that train", least=1, whole=True, most=1e9)],
    mfu: Annotated[
        float, Input("1", "u", "model FLOP utilisation (MFU): share of the peak reached", most=1)
    ],
    counts: Annotated[
        str,
        Input(
            "1",
            r"\text{counts}",
            "utilisation: of the model (MFU), or of the hardware with all layers recomputed (HFU)",
            choices=("mfu", "hfu"),
        ),
    ] = "mfu",
    chips_per_node: Annotated[
        float,
        Input(
            "chip",
            "g",
            "chips in a node, billed whole",
            chip="node_chips",
            least=1,
            whole=True,
            most=1e6,
            group=_SERVERS,
        ),
    ] = 1.0,
    power: Annotated[
        float,
        Input(
            "W",
            "P",
            "power of a chip with its share of the server",
            chip="server_power",
            most=1e6,
            group=_SERVERS,
        ),
    ] = inf,
    load: Annotated[
        float,
        Input("1", r"\lambda", "average power over rated power", most=1, group=_SERVERS),
    ] = 1.0,
    pue: Annotated[
        float,
        Input(
            "1",
            r"\phi",
            "power usage effectiveness (PUE): power of the site over that of its servers",
            least=1,
            most=10,
            group=_SERVERS,
        ),
    ] = 1.1,
    price: Annotated[
        float, _rate("USD/s", r"p_\text{chip}", "price of a chip, such as 2USD/h")
    ] = inf,
    carbon: Annotated[
        float, _rate("kg/J", r"\kappa_E", "carbon dioxide of the electricity, such as 385g/kWh")
    ] = inf,
) -> dict[str, Any]:
    """Time, energy and cost of a training run, with failures, whole nodes and the power of servers.

    Derivation:
        Training takes 6 operations for each parameter and token, and the scores of causal
        attention, layer by layer, where the length of the sequences is known. X chips do X
        times their peak times the utilisation in a second. A utilisation of the hardware (HFU) also
        counts the forward pass that full recomputation does again, a third more.

        Failures take their share of the time: saving, repeating and restarting, as in the
        reliability of a run. Nodes are billed whole. Energy is the power of the servers times the
        time, multiplied by the power usage effectiveness of the site, 1.1 unless you give another.
        Carbon dioxide is energy times what a kilowatt-hour emits where the site stands.

    Leaves out:
        - Attention, unless the sequences are given. [attention_without_sequences]
        - Scores behind the causal mask, which some published utilisations count. [masked_scores]
        - Failures and checkpoints, if the time between failures is 0. A utilisation that was
          computed from the whole time of a run has them in it already. [failures_not_counted]
        - How much the rate of failures differs between clusters. [failure_rate_of_runs]
        - The draw of servers below their rating. [power_below_the_rating]
        - Switches between servers and storage. [no size: data sheets of servers do not have them;
          give the power with them]
        - Evaluation, failed runs and experiments before the run. [no size: each project has its
          own; count their tokens too]
        - The making of the chips. [no size: makers do not publish it for a chip]
    """
    again = FLOP_PER_WEIGHT_AGAIN if counts == "hfu" else 0
    work = (FLOP_PER_WEIGHT_TRAINED + again) / FLOP_PER_WEIGHT_TRAINED
    flop = work * (FLOP_PER_WEIGHT_TRAINED * params * tokens + causal_scores)
    rate = chips * peak * mfu
    busy = flop / rate
    goodput = 1 - lost
    seconds = where(goodput > 0, busy / where(goodput > 0, goodput, 1), inf)
    billed_chips = ceil(chips / chips_per_node) * chips_per_node
    joules = billed_chips * power * load * pue * seconds
    return {
        "seconds": seconds,
        "days": seconds / DAY,
        "flop": flop,
        "goodput": goodput,
        "billed_chips": billed_chips,
        "chip_hours": chips * seconds / HOUR,
        "joules": joules,
        "cost": billed_chips * price * seconds,
        "co2": carbon * joules,
    }
