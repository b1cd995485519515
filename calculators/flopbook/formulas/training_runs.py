"""How long a training run takes, and what it costs in money, energy and carbon."""

from typing import Annotated, Any

from flopbook.formulas.declaration import Constant, Input, Output, Step, formula
from flopbook.formulas.layer_inputs import LAYER_RULES, LAYER_SYMBOLS
from flopbook.formulas.training_compute import (
    ATTENTION_SYMBOLS,
    CAUSAL_ATTENTION,
    FLOP_PER_WEIGHT_AGAIN,
    FLOP_PER_WEIGHT_TRAINED,
)
from flopbook.quantities.ops import inf

HOUR = Constant(3600.0, "s", "seconds in an hour")
DAY = Constant(86400.0, "s/day", "seconds in a day")


def _rate(unit: str, symbol: str, meaning: str) -> Input:
    """A price or a weight that has no default: what depends on it is left open without it."""
    return Input(unit, symbol, meaning, most=1e6)


@formula(
    "training-time",
    title="Training time",
    question="How long does a training run take, and what does it cost?",
    outputs={
        "seconds": Output("s", "t", "time of the run"),
        "days": Output("day", r"t_\text{day}", "the same in days"),
        "chip_hours": Output("chip-hour", r"h", "hours of all chips together"),
        "joules": Output(
            "J", "E", "energy of the run, power usage effectiveness included", needs=("power",)
        ),
        "cost": Output("USD", "c", "price of the chip hours", needs=("price",)),
        "co2": Output(
            "kg", r"m_{\text{CO}_2}", "carbon dioxide of the energy", needs=("power", "carbon")
        ),
    },
    sources=("kaplan2020scaling", "narayanan2021efficient", "touvron2023llama"),
    parts=CAUSAL_ATTENTION,
    symbols={
        **LAYER_SYMBOLS,
        **ATTENTION_SYMBOLS,
        "again": "k_0",
        "work": "k",
        "scores_again": "R_a",
        "flop": "W",
        "rate": "C",
    },
    examples=(
        {
            "model": "llama-3-405b",
            "chip": "h100-sxm",
            "chips": "16384",
            "mfu": "0.4",
            "seq": "8192",
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
    rules=LAYER_RULES,
)
def training_time(
    params: Annotated[
        float,
        Input(
            "param",
            "N",
            "parameters that compute on each token",
            model="compute_params",
            least=1,
            most=1e18,
        ),
    ],
    tokens: Annotated[
        float, Input("token", "T", "tokens trained on", model="tokens", least=1, most=1e21)
    ],
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
        float, Input("1", "u", "utilisation: share of the peak that is reached", most=1)
    ],
    causal_scores: Step,
    power: Annotated[
        float,
        Input(
            "W",
            "P",
            "power of one chip with its share of the server",
            chip="server_power",
            most=1e6,
        ),
    ] = inf,
    pue: Annotated[
        float,
        Input(
            "1",
            r"\phi",
            "power usage effectiveness: all power of the site over that of its computers",
            least=1,
            most=10,
        ),
    ] = 1.1,
    price: Annotated[float, _rate("USD/s", "p", "price of a chip, such as 2USD/h")] = inf,
    carbon: Annotated[
        float, _rate("kg/J", r"\kappa", "carbon dioxide of the electricity, such as 385g/kWh")
    ] = inf,
    counts: Annotated[
        str,
        Input(
            "1",
            r"\text{counts}",
            "work that the utilisation counts: of the model (MFU), or of the "
            "machine with all layers computed again (HFU)",
            choices=("mfu", "hfu"),
        ),
    ] = "mfu",
) -> dict[str, Any]:
    """Time of a training run from its arithmetic, the chips and the share of their peak that is
    reached.

    Derivation:
        Training takes 6 operations for each parameter and token, and with the length of its
        sequences those of causal attention, layer by layer. X chips do X times their peak
        times the utilisation in a second. A utilisation of the hardware (HFU) also counts the
        forward pass that full recomputation does again, 8 operations in all; the same share of the
        peak then takes a third longer. Time is the one over the other; chips times hours is what is
        billed. Energy is the power of the chips times the time, multiplied by the power usage
        effectiveness of the site: what cooling and conversion add to the power of the computers,
        1.1 unless you give another. Carbon dioxide is energy times what a kilowatt-hour emits where
        the site stands.

    Leaves out:
        Restarts, checkpoints, evaluation and failed runs: a few percent of a good run and half of a
        bad one. Attention, 2 to 20 percent more work, while the length of the sequences is open. A
        utilisation that a paper reports may count it without a mask, or recomputation (up to a
        third more), see the training FLOPs. The power of a chip is its
        limit: mean draw is mostly below it, but the server around a chip adds about as much again
        as it saves. The making of the chips.
    """
    again = FLOP_PER_WEIGHT_AGAIN if counts == "hfu" else 0
    work = FLOP_PER_WEIGHT_TRAINED + again
    # What attention computes again is its forward pass, a third of all three.
    scores_again = causal_scores / 3 if counts == "hfu" else 0
    flop = work * params * tokens + causal_scores + scores_again
    rate = chips * peak * mfu
    seconds = flop / rate
    joules = chips * power * pue * seconds
    return {
        "seconds": seconds,
        "days": seconds / DAY,
        "chip_hours": chips * seconds / HOUR,
        "joules": joules,
        "cost": chips * price * seconds,
        "co2": carbon * joules,
    }
