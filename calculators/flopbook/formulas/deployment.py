"""What serving a model takes: concurrent sequences, speed, price, and gain from a draft model."""

from typing import Annotated, Any

from flopbook.formulas.caches import HEADS_RULES
from flopbook.formulas.declaration import Constant, Input, Output, Step, formula, part
from flopbook.formulas.inference import WEIGHTS_RULES
from flopbook.formulas.inference_inputs import (
    ComputeParams,
    Ep,
    Memory,
    Overhead,
    Params,
    Peak,
    Reached,
    Share,
    WeightWidth,
)
from flopbook.formulas.inference_outputs import (
    DECODING_SYMBOLS,
    FIT_OUTPUTS,
    LIKELY_OUTPUTS,
    PART_SYMBOLS,
)
from flopbook.formulas.inference_parts import (
    LAYER_OVERHEAD,
    LAYOUT_RULES,
    LIMITS,
    REACHED,
    cache_of_a_sequence,
    decoding_step,
    fit,
    layout,
    messages,
    routed_weights,
    software,
    weights_read,
)
from flopbook.formulas.layer_inputs import CACHE_RULES
from flopbook.formulas.layer_kinds import (
    LAYER_PARTS,
    kept_values,
    sequence_pairs,
    sequence_work,
    step_reads,
    step_work,
)
from flopbook.formulas.parameters import Layers
from flopbook.formulas.requests import (
    REQUEST_OUTPUTS,
    REQUEST_SYMBOLS,
    AnswerTokens,
    prompt_is_read,
    prompt_time,
    prompts_fit_the_context,
)
from flopbook.formulas.rooflines import FLOP_PER_WEIGHT, Bandwidth
from flopbook.quantities.ops import floor, inf, maximum, minimum, where

MILLION = Constant(1e6, "token", "tokens that prices are given for")

Running = Annotated[
    float,
    Input("1", "B", "sequences at once; as many as fit if open", least=1, whole=True, most=1e12),
]
Price = Annotated[float, Input("USD/s", "p", "price of one chip, such as 2USD/h", most=1e6)]
First = Annotated[
    float, Input("s", r"T_\text{first}", "time to the first token, from the prefill", most=1e9)
]


@part
def sequences_that_fit(
    params: Params,
    memory: Memory,
    sequence_on_chip: Step,
    routed: Step,
    replicas: Step,
    degree: Step,
    batch: Running = inf,
    ep: Ep = 1.0,
    bytes_per_param: WeightWidth = 2.0,
    memory_share: Share = 1.0,
) -> dict[str, Any]:
    """Sequences that fit beside the weights, and those that run: all that fit if open."""
    weights_of_chip = bytes_per_param * ((params - routed) / degree + routed / (degree * ep))
    room = memory * memory_share
    left_of_chip = room - weights_of_chip
    batch_fits = replicas * maximum(floor(left_of_chip / sequence_on_chip), 0)
    batch_runs = minimum(batch, batch_fits)
    return {
        "room": room,
        "weights_of_chip": weights_of_chip,
        "batch_fits": batch_fits,
        "batch_runs": batch_runs,
        # A pace needs a sequence; where none fits, the answer is that there is no pace.
        "step_tokens": maximum(batch_runs, 1),
        # What is asked for has to fit; if it is open, one sequence of each replica at least.
        "sequences": where(batch < inf, batch, maximum(batch_fits, replicas)),
    }


@formula(
    "serving",
    title="Serving",
    question="How many sequences fit, how fast do they run, and what does a token cost?",
    outputs={
        "batch_fits": Output(
            "1", r"B_\text{fits}", "sequences whose keys and values fit beside the weights"
        ),
        "batch_saturates": Output(
            "1",
            r"B_\text{sat}",
            "sequences from which on the matrix products are limited by arithmetic",
        ),
        "batch_runs": Output("1", "n", "sequences that run: those asked for, but no more than fit"),
        "seconds": Output(
            "s",
            r"T_\text{token}",
            "time per token of each sequence",
            absent="the weights do not fit",
        ),
        "tokens_per_s": Output("token/s", "P", "tokens of all sequences together"),
        "bound": Output(
            "1",
            r"\text{bound}",
            "what takes longest; memory where nothing fits",
            choices=(*LIMITS, "memory"),
        ),
        # Where nothing runs the guard divides by any rate above zero; the answer is infinite.
        "usd_per_million_tokens": Output(
            "USD",
            "c",
            "price of a million written tokens",
            needs=("price",),
            absent="the weights do not fit",
        ),
        "answer_seconds": Output(
            "s",
            r"T_\text{answer}",
            "time of a whole answer, first token included",
            needs=("answer_tokens", "first"),
            absent="the weights do not fit",
        ),
        "seconds_with_first": Output(
            "s",
            r"\bar{T}_\text{token}",
            "time per token if the wait for the first counts as one of them",
            needs=("answer_tokens", "first"),
            absent="the weights do not fit",
        ),
        **REQUEST_OUTPUTS,
        **LIKELY_OUTPUTS,
        **FIT_OUTPUTS,
    },
    sources=("pope2023efficiently", "kwon2023efficient", "austin2025scaling"),
    symbols={
        **PART_SYMBOLS,
        **DECODING_SYMBOLS,
        **REQUEST_SYMBOLS,
        "weight_seconds": r"T_\text{weights}",
        "kv_seconds": r"T_\text{cache}",
        "compute_seconds": r"T_\text{arithmetic}",
        "weights_of_chip": r"M_w",
        "read": "Q",
        "work": "W",
        "left_of_chip": "x",
        "length": "l",
        "whole_answer": r"T_\text{whole}",
        "chip_price": "p'",
        "taken": r"T_\text{request}",
    },
    parts=(
        routed_weights,
        *LAYER_PARTS,
        layout,
        kept_values,
        step_reads,
        step_work,
        cache_of_a_sequence,
        sequences_that_fit,
        weights_read,
        messages,
        decoding_step,
        prompt_is_read,
        sequence_pairs,
        sequence_work,
        prompt_time,
        fit,
    ),
    examples=(
        {
            "model": "llama-3-70b",
            "chip": "h100-sxm",
            "tp": "8",
            "seq": "8192",
            "price": "2USD/h",
            "first": "0.3s",
            "prompt-tokens": "4096",
            "answer-tokens": "500",
        },
        {"model": "llama-3-8b", "chip": "l40s", "seq": "4096", "batch": "16"},
    ),
    rules=(
        *HEADS_RULES,
        *WEIGHTS_RULES,
        *CACHE_RULES,
        *LAYOUT_RULES,
        prompts_fit_the_context,
    ),
    omissions=(software,),
)
def serving(
    layers: Layers,
    message_seconds: Step,
    compute_params: ComputeParams,
    peak: Peak,
    bandwidth: Bandwidth,
    batch_fits: Step,
    batch_runs: Step,
    weights_of_chip: Step,
    degree: Step,
    replicas: Step,
    lookup: Step,
    step: Step,
    attention: Step,
    products: Step,
    kv_seconds: Step,
    compute_seconds: Step,
    weight_seconds: Step,
    chip_bytes: Step,
    free: Step,
    fewest_chips: Step,
    one_prompt: Step,
    read_tokens: Step,
    bytes_per_param: WeightWidth = 2.0,
    price: Price = inf,
    answer_tokens: AnswerTokens = inf,
    first: First = inf,
    bandwidth_share: Reached = REACHED,
    layer_overhead: Overhead = LAYER_OVERHEAD,
) -> dict[str, Any]:
    """Batch that fits, batch that saturates, and pace and price of the tokens that a group of chips
    writes.

    Derivation:
        What the weights leave free of the memory, divided by the keys and values of a sequence, is
        the batch that fits. Reading all weights takes as long as the arithmetic of a batch of
        bNR/(2N_active), with the ridge point R: below that, a larger batch costs hardly any time,
        above it time grows with it. A step takes the longer of both, and after that the reading of
        all keys and values. Larger batches give more tokens a second and longer steps, so a list of
        batches draws the frontier between throughput and latency. The price is that of the chips
        for the time of a million tokens. The prompt brings the first token of an answer; the others
        take a step each.

        A request keeps one replica busy while it reads the prompt, and takes one of B parts of each
        of its n - 1 steps. Both times at the price of all chips are the price of the request, and
        of it the first, over the tokens of the prompt, is the price of what goes in. Steps are
        those of the context --seq: for a mean give the prompt and half of the answer.

    Leaves out:
        - Messages between chips, kernel launches and the bandwidth that no program reaches, all in
          likely_seconds; the price is that of the bound. [software]
        - Reading the prompts, in tokens_per_s and usd_per_million_tokens: --prompt-tokens gives it
          a price of its own. [no size: it stands beside them]
        - Prompts that begin alike, whose common part an engine may keep. [no size: it is a matter
          of the load]
        - Idle time between requests. [no size: it is a matter of the load]
        - Memory for activations and for the runtime, some gigabytes on each chip: keep it free
          with --memory-share. [no size: the engine decides]
        - That the batch that saturates reads all experts of a mixture: from five times E/k on, all
          but one percent. [below 1 %]
    """
    # All weights of a chip but the embedding that is looked up, over the work of one sequence.
    read = weights_of_chip - bytes_per_param * lookup / degree
    work = FLOP_PER_WEIGHT * compute_params / (degree * replicas)
    tokens_per_s = batch_runs / step
    # The first token comes from the prefill, so an answer of n takes n - 1 steps.
    length = where(answer_tokens < inf, answer_tokens, 1)
    chip_price = degree * replicas * price
    # Replicas read one prompt each, at the same time.
    taken = one_prompt / replicas + (length - 1) * step / maximum(batch_runs, 1)
    whole_answer = first + (length - 1) * step
    likely = step / bandwidth_share + layers * layer_overhead + message_seconds
    return {
        "batch_fits": batch_fits,
        "batch_saturates": read / work * (peak / bandwidth),
        "batch_runs": batch_runs,
        "seconds": where(batch_runs > 0, step, inf),
        "tokens_per_s": tokens_per_s,
        "bound": where(
            batch_runs < 1,
            "memory",
            where(
                attention > products,
                where(attention > kv_seconds, "arithmetic", "KV cache"),
                where(compute_seconds > weight_seconds, "arithmetic", "weights"),
            ),
        ),
        "usd_per_million_tokens": where(
            batch_runs > 0,
            MILLION * chip_price / where(batch_runs > 0, tokens_per_s, 1 / step),
            inf,
        ),
        "answer_seconds": where(batch_runs > 0, whole_answer, inf),
        "seconds_with_first": where(batch_runs > 0, whole_answer / length, inf),
        "prompt_seconds": one_prompt,
        "requests_per_s": where(batch_runs > 0, 1 / taken, 0 / taken),
        "usd_per_million_prompt_tokens": where(
            batch_runs > 0, MILLION * chip_price * one_prompt / (replicas * read_tokens), inf
        ),
        "usd_per_request": where(batch_runs > 0, chip_price * taken, inf),
        "likely_seconds": where(batch_runs > 0, likely, inf),
        "message_seconds": message_seconds,
        "chip_bytes": chip_bytes,
        "free": free,
        "fewest_chips": fewest_chips,
    }


@formula(
    "speculative-decoding",
    title="Speculative decoding",
    question="How much faster does a model write when a smaller one drafts for it?",
    outputs={
        "speedup": Output("1", "S", "tokens a second over those without a draft"),
        "tokens_per_step": Output(
            "token", r"\tau", "tokens from one pass of the large model, on average"
        ),
        "operations": Output("1", "O", "arithmetic over that without a draft"),
    },
    sources=("leviathan2023fast",),
    symbols={"missed": r"\mu"},
    examples=(
        {"acceptance": "0.8", "draft-tokens": "5", "draft-time": "0.05"},
        {"acceptance": "0.6", "draft-tokens": "2"},
    ),
)
def speculative_decoding(
    acceptance: Annotated[
        float, Input("1", r"\alpha", "probability that a drafted token is accepted", most=1)
    ],
    draft_tokens: Annotated[
        float,
        Input("token", r"\gamma", "tokens drafted for each pass", least=1, whole=True, most=1e4),
    ],
    draft_time: Annotated[
        float,
        Input(
            "1",
            "c",
            "time of a drafted token over that of a pass of the large model",
            most=1e4,
            none=True,
        ),
    ] = 0.0,
    draft_flop: Annotated[
        float,
        Input(
            "1",
            r"\hat{c}",
            "arithmetic of a drafted token over that of a token of the large model",
            most=1e4,
            none=True,
        ),
    ] = 0.0,
) -> dict[str, Any]:
    """Expected speed-up when a draft of several tokens is checked by one pass of the large model.

    Derivation:
        A pass of the large model over a draft tells for each token whether it would have been
        written, and itself writes one more after the last that is accepted. If each token is
        accepted with probability alpha, the number written is 1 + alpha + ... + alpha to the power
        gamma on average. The time is one pass and gamma drafted tokens; checking several tokens
        takes as long as writing one, as long as the weights are the limit.

    Leaves out:
        - That tokens are not accepted independently of each other, and less often in some texts
          than in others. [no size: it is a matter of the text]
        - That a pass over a large batch is limited by arithmetic: then the operations above are
          time, and a draft makes it slower. [no size: the batch is not asked]
        - The cache of the draft model, which takes memory from the batch. [no size: its shape is
          not asked]
    """
    missed = 1 - acceptance
    tokens_per_step = where(
        missed > 0,
        (1 - acceptance ** (draft_tokens + 1)) / where(missed > 0, missed, 1),
        draft_tokens + 1,
    )
    return {
        "speedup": tokens_per_step / (draft_tokens * draft_time + 1),
        "tokens_per_step": tokens_per_step,
        "operations": (draft_tokens * draft_flop + draft_tokens + 1) / tokens_per_step,
    }
