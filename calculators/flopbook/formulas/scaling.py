"""The best split of compute between parameters and tokens, by published fits of the loss."""

from typing import Annotated, Any

from flopbook.formulas.declaration import Constant, Input, Output, formula
from flopbook.formulas.omissions import omission
from flopbook.formulas.training_compute import FLOP_PER_PF_DAY, FLOP_PER_WEIGHT_TRAINED
from flopbook.quantities.ops import inf

FITS = ("besiroglu2024", "hoffmann2022", "hoffmann2022-rounded", "kaplan2020")
KAPLAN_POWER = Constant(0.73, "1", "of the compute in the best size")
KAPLAN_PARAMS = Constant(1.3e9, "param", "best size at one PF-day")


@omission(
    "fits differ: another one, of the same runs if they are those of Chinchilla, puts the best "
    "size elsewhere ({size})",
    of="params",
)
def another_fit(flop: float, fit: str, params: float) -> Any:
    """besiroglu2024 against hoffmann2022, and any other against besiroglu2024."""
    size_factor = 406.4 if fit == "besiroglu2024" else 482.01
    data_factor = 410.7 if fit == "besiroglu2024" else 2085.43
    alpha = 0.3392 if fit == "besiroglu2024" else 0.3478
    beta = 0.2849 if fit == "besiroglu2024" else 0.3658
    balance = (alpha * size_factor / (beta * data_factor)) ** (1 / (alpha + beta))
    other = balance * (flop / FLOP_PER_WEIGHT_TRAINED) ** (beta / (alpha + beta))
    return other / params - 1


@omission(
    "the compute is the least, at small batches: at the critical batch a run costs twice that, and "
    "the best size is smaller ({size})",
    of="params",
)
def critical_batch(fit: str, params: float) -> Any:
    """Half of the compute to the power of the fit."""
    least = {"kaplan2020": 0.5**KAPLAN_POWER}.get(fit, 1)
    return least * params / params - 1


@formula(
    "scaling-law",
    title="Scaling law",
    question="How large a model, on how many tokens, makes the best use of a compute budget?",
    outputs={
        "params": Output("param", r"N", "best number of parameters"),
        "tokens": Output("token", r"T", "best number of tokens"),
        "loss": Output(
            "1",
            r"\ell",
            "loss that the fit expects, in nats for each token of its own data",
            absent="of this fit only the best size is given here",
        ),
        "tokens_per_param": Output("1", r"\rho", "tokens for each parameter"),
    },
    sources=("hoffmann2022training", "besiroglu2024chinchilla", "kaplan2020scaling"),
    symbols={
        "floor_loss": r"\epsilon",
        "size_factor": "A",
        "data_factor": "B",
        "alpha": r"\alpha",
        "beta": r"\beta",
        "balance": "G",
        "product": "Z",
        "chinchilla": r"N_1",
        "pf_days": "c",
        "kaplan": r"N_2",
        "least_loss": r"\epsilon_1",
    },
    asks=("flop", "fit"),
    omissions=(another_fit, critical_batch),
    examples=(
        {"flop": "5.76e23FLOP"},
        {"flop": "3.8e25FLOP", "fit": "hoffmann2022"},
        {"flop": "1e23", "fit": "kaplan2020"},
    ),
)
def scaling_law(
    flop: Annotated[
        float, Input("FLOP", "W", "compute budget of the training run", least=1e12, most=1e40)
    ],
    fit: Annotated[str, Input("1", r"\text{fit}", "published fit", choices=FITS)] = "besiroglu2024",
) -> dict[str, Any]:
    """Parameters and tokens that reach the lowest loss for a compute budget, and that loss.

    Derivation:
        Chinchilla fits the loss of a model of N parameters trained on T tokens by E + A/N^alpha +
        B/T^beta. With 6NT operations fixed, the minimum is where both falling terms have slopes in
        balance: N = G Z^(beta/(alpha + beta)) with Z = NT and G = (alpha A/(beta B))^(1/(alpha +
        beta)). Besiroglu and others found that the printed constants do not fit the data and had
        been rounded, and fitted again; at the compute of Chinchilla itself (5.76e23) their
        constants give about 20 tokens for each parameter, as the other two methods of the paper do.
        hoffmann2022 has the constants of the paper's source, hoffmann2022-rounded those of its
        text.

        Kaplan and others fitted the best size alone: 1.3e9 parameters times compute in PF-days to
        the power 0.73. Tokens here are what the budget leaves, compute over 6N; its loss is not
        given.

    Leaves out:
        - How sure the constants are: in the second fit B has a standard error of 60 percent, and
          alpha and beta of 0.02; far beyond the fitted budgets the best ratio is a guess within a
          factor of several. [another_fit]
        - Embeddings, which Kaplan's fit does not count, and its learning-rate schedules. [no size:
          later work does not support its advice; compare the fits]
        - That Kaplan's compute is the least, at small batches: at the critical batch a run costs
          twice that, and the best size is 40 percent smaller. [critical_batch]
        - Losses of different fits, which belong to different data and tokenizers. [no size: they
          cannot be compared]
        - The cost of serving, which asks for smaller models trained longer. [no size: it depends on
          the traffic]
    """
    # Constants as printed: the text of hoffmann2022training rounds those of its source, and
    # besiroglu2024chinchilla fits the same points again. Kaplan's fit gives no loss here.
    least_loss = {"hoffmann2022-rounded": 1.69, "kaplan2020": inf}.get(fit, 1.6934)
    floor_loss = 1.8172 if fit == "besiroglu2024" else least_loss
    size_factor = 482.01 if fit == "besiroglu2024" else 406.4
    data_factor = 2085.43 if fit == "besiroglu2024" else 410.7
    alpha = {"besiroglu2024": 0.3478, "hoffmann2022-rounded": 0.34}.get(fit, 0.3392)
    beta = {"besiroglu2024": 0.3658, "hoffmann2022-rounded": 0.28}.get(fit, 0.2849)
    balance = (alpha * size_factor / (beta * data_factor)) ** (1 / (alpha + beta))
    product = flop / FLOP_PER_WEIGHT_TRAINED
    chinchilla = balance * product ** (beta / (alpha + beta))
    pf_days = flop / FLOP_PER_PF_DAY
    kaplan = KAPLAN_PARAMS * pf_days**KAPLAN_POWER
    params = kaplan if fit == "kaplan2020" else chinchilla
    tokens = product / params
    loss = floor_loss + size_factor / params**alpha + data_factor / tokens**beta
    return {
        "params": params,
        "tokens": tokens,
        "loss": loss,
        "tokens_per_param": tokens / params,
    }
