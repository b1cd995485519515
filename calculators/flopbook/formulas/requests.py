"""What a request takes of the chips that serve it: its prompt, and its share of each step."""

from typing import Annotated, Any

from flopbook.formulas.conditions import rule
from flopbook.formulas.declaration import Constant, Input, Output, Step, part
from flopbook.formulas.inference_inputs import (
    ComputeParams,
    Ep,
    Overhead,
    Params,
    Peak,
    PromptReached,
    Seq,
    Vocab,
    WeightWidth,
    Width,
)
from flopbook.formulas.inference_parts import LAYER_OVERHEAD, PROMPT_REACHED
from flopbook.formulas.omissions import omission
from flopbook.formulas.parameters import Experts, ExpertsPerToken, Layers
from flopbook.formulas.rooflines import FLOP_PER_WEIGHT, Bandwidth
from flopbook.quantities.ops import ceil, floor, inf, maximum, where

NO_RATE = Constant(1.0, "token/s", "any rate, where nothing is written")

PromptTokens = Annotated[
    float, Input("token", r"n_\text{prompt}", "tokens of a prompt", least=1, whole=True, most=1e9)
]
AnswerTokens = Annotated[
    float, Input("token", r"n_\text{answer}", "tokens of an answer", least=1, whole=True, most=1e9)
]

REQUEST_OUTPUTS = {
    "prompt_seconds": Output(
        "s",
        r"T_\text{prompt}",
        "time in which each replica reads one prompt at the bound",
        needs=("prompt_tokens", "peak"),
    ),
    "requests_per_s": Output(
        "1/s",
        r"P_\text{req}",
        "requests answered in a second at the bound, prompts and answers",
        needs=("prompt_tokens", "answer_tokens", "peak"),
    ),
    "usd_per_million_prompt_tokens": Output(
        "USD",
        r"c_\text{in}",
        "price of a million tokens of prompts at the bound",
        needs=("price", "prompt_tokens", "peak"),
        absent="the weights do not fit",
    ),
    "usd_per_request": Output(
        "USD",
        r"c_\text{req}",
        "price of a request at the bound: its prompt, and its share of the steps",
        needs=("price", "prompt_tokens", "answer_tokens", "peak"),
        absent="the weights do not fit",
    ),
    "likely_usd_per_request": Output(
        "USD",
        r"c'_\text{req}",
        "price of a request, expected of a tuned engine",
        needs=("price", "prompt_tokens", "answer_tokens", "peak"),
        absent="the weights do not fit",
    ),
}
REQUEST_SYMBOLS = {
    "head": "h",
    "unread": r"u_p",
    "prompt_read": r"N_p",
    "prompt_weights": r"T_\text{read}",
    "prompt_work": r"W_p",
    "prompt_scores": r"T_\text{pairs}",
    "one_prompt": r"T_p",
    "prompt_messages": r"T_x",
    "likely_prompt": r"T_{lp}",
}


@rule("--prompt-tokens {prompt_tokens} are more than the context, --seq {seq}")
def prompts_fit_the_context(prompt_tokens: float, seq: float) -> bool:
    """A sequence holds its prompt."""
    return (prompt_tokens == inf) | (prompt_tokens <= seq)


@part
def prompt_is_read(prompt_tokens: PromptTokens = inf) -> dict[str, Any]:
    """Tokens of a prompt; one where none is asked about, so that all steps stay numbers."""
    return {"read_tokens": where(prompt_tokens < inf, prompt_tokens, 1)}


@part
def prompt_time(
    params: Params,
    compute_params: ComputeParams,
    seq: Seq,
    bandwidth: Bandwidth,
    degree: Step,
    lookup: Step,
    routed: Step,
    score_work: Step,
    sequence_on_chip: Step,
    read_tokens: Step,
    peak: Peak = inf,
    d_model: Width = inf,
    vocab: Vocab = 0.0,
    experts: Experts = 1.0,
    experts_per_token: ExpertsPerToken = 1.0,
    ep: Ep = 1.0,
    bytes_per_param: WeightWidth = 2.0,
) -> dict[str, Any]:
    """Time in which each replica of attention reads one prompt, as prefill counts it."""
    # The output matrix works on the last token of the prompt only.
    head = where(vocab > 0, where(d_model < inf, vocab * d_model, 0), 0)
    unread = (1 - experts_per_token / experts) ** (read_tokens * ep)
    prompt_read = (params - routed - lookup) / degree + routed * (1 - unread) / (degree * ep)
    prompt_weights = prompt_read * bytes_per_param / bandwidth
    prompt_work = FLOP_PER_WEIGHT * (read_tokens * (compute_params - head) + head)
    prompt_scores = maximum(
        FLOP_PER_WEIGHT * score_work / (degree * peak),
        sequence_on_chip * (read_tokens / seq) / bandwidth,
    )
    return {"one_prompt": maximum(prompt_weights, prompt_work / (degree * peak)) + prompt_scores}


@part
def expected_prompt(
    layers: Layers,
    one_prompt: Step,
    read_tokens: Step,
    message_seconds: Step,
    step_tokens: Step,
    replicas: Step,
    prompt_share: PromptReached = PROMPT_REACHED,
    layer_overhead: Overhead = LAYER_OVERHEAD,
) -> dict[str, Any]:
    """Time in which a tuned engine reads one prompt on each replica."""
    # Messages grow with the tokens of a replica.
    prompt_messages = message_seconds * read_tokens * replicas / step_tokens
    return {"likely_prompt": one_prompt / prompt_share + layers * layer_overhead + prompt_messages}


@omission(
    "tokens_per_s is that of steps alone; with the time for reading the prompts the same chips "
    "write fewer ({size})",
    of="tokens_per_s",
)
def reading_prompts(
    prompt_tokens: float,
    answer_tokens: float,
    peak: float,
    requests_per_s: float,
    tokens_per_s: float,
) -> float:
    """Tokens of whole requests in a second, against those of steps without prompts.

    Without a peak rate the time of a prompt is not known.
    """
    length = where(answer_tokens < inf, answer_tokens, 1)
    written = requests_per_s * length / where(tokens_per_s > 0, tokens_per_s, NO_RATE)
    is_asked = where((prompt_tokens < inf) & (answer_tokens < inf) & (peak < inf), 1, 0)
    return where(is_asked * tokens_per_s > 0, written - 1, 0)


@omission(
    "prices are those of the chips that serve: of whole nodes of {chips_per_node}, some are rented "
    "and stand idle ({size})",
    of="usd_per_million_tokens",
)
def idle_chips_of_a_node(
    chips: float, tp: float, dp: float, ep: float, chips_per_node: float
) -> float:
    """Copies of the group fill a node as far as they go, and a larger group takes whole nodes."""
    node = where(chips_per_node < inf, chips_per_node, 1)
    degree = where(tp < inf, tp, 1)
    group = where(chips < inf, chips, degree * where(dp < inf, dp, ep))
    copies = where(group <= node, floor(node / group), 1)
    rented = ceil(group / node) * node
    return where(chips_per_node < inf, rented / where(copies > 0, copies * group, 1) - 1, 0)
