"""What serving a model takes: concurrent sequences, speed and price."""

from typing import Annotated, Any

from flopbook.formulas.caches import HEADS_RULES
from flopbook.formulas.declaration import Constant, Input, Output, Step, formula, part
from flopbook.formulas.engine_memory import memory_of_the_engine
from flopbook.formulas.fitting_chips import no_such_degree
from flopbook.formulas.inference import WEIGHTS_RULES
from flopbook.formulas.inference_inputs import (
    ComputeParams,
    Ep,
    Memory,
    Params,
    Peak,
    Share,
    WeightWidth,
)
from flopbook.formulas.inference_outputs import (
    DECODING_SYMBOLS,
    ENOUGH_OUTPUT,
    EXPECTED,
    EXPECTED_RATE,
    FIT_OUTPUTS,
    MESSAGES_OUTPUT,
    NO_ARITHMETIC,
    PART_SYMBOLS,
)
from flopbook.formulas.inference_parts import (
    LAYOUT_RULES,
    LIMITS,
    cache_of_a_sequence,
    decoding_step,
    expected_step,
    fit,
    layout,
    messages,
    routed_weights,
    software_of_batches,
    waits_between_domains,
    weights_read,
)
from flopbook.formulas.launches import kernels_beside_dense_ones, messages_below_the_rate
from flopbook.formulas.layer_inputs import CACHE_RULES
from flopbook.formulas.layer_kinds import (
    LAYER_PARTS,
    kept_values,
    sequence_pairs,
    sequence_work,
    step_reads,
    step_work,
)
from flopbook.formulas.published_weights import (
    head_in_16_bits,
    sequences_beside_wide_weights,
    tables_in_16_bits,
    weights_as_published,
    weights_beside_experts,
    weights_held_beside_experts,
)
from flopbook.formulas.requests import (
    REQUEST_OUTPUTS,
    REQUEST_SYMBOLS,
    AnswerTokens,
    expected_prompt,
    idle_chips_of_a_node,
    prompt_is_read,
    prompt_time,
    prompts_fit_the_context,
    reading_prompts,
)
from flopbook.formulas.rooflines import FLOP_PER_WEIGHT, Bandwidth
from flopbook.formulas.state_widths import narrow_states_of_a_batch
from flopbook.formulas.unlike_ranks import fullest_rank
from flopbook.quantities.ops import floor, inf, maximum, minimum, where

MILLION = Constant(1e6, "token", "tokens that prices are given for")

Running = Annotated[
    float,
    Input("1", "B", "sequences at once (default: as many as fit)", least=1, whole=True, most=1e12),
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
            needs=("peak",),
            lacking=NO_ARITHMETIC,
        ),
        **ENOUGH_OUTPUT,
        "batch_runs": Output("1", "n", "sequences that run: those asked for, but no more than fit"),
        "seconds": Output(
            "s",
            r"T_\text{token}",
            "time per token of each sequence: bound from peak rates",
            absent="the weights do not fit",
        ),
        **EXPECTED,
        "tokens_per_s": Output("token/s", "P", "throughput at that bound, all sequences together"),
        **EXPECTED_RATE,
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
            "price of a million written tokens at that bound",
            needs=("price",),
            absent="the weights do not fit",
        ),
        "likely_usd_per_million_tokens": Output(
            "USD",
            r"c_\text{likely}",
            "price of a million written tokens, expected of a tuned engine",
            needs=("price",),
            absent="the weights do not fit",
        ),
        "answer_seconds": Output(
            "s",
            r"T_\text{answer}",
            "time of a whole answer at the bound, first token included",
            needs=("answer_tokens", "first"),
            absent="the weights do not fit",
        ),
        "seconds_with_first": Output(
            "s",
            r"\bar{T}_\text{token}",
            "time per token at the bound, the wait for the first included",
            needs=("answer_tokens", "first"),
            absent="the weights do not fit",
        ),
        **REQUEST_OUTPUTS,
        **MESSAGES_OUTPUT,
        **FIT_OUTPUTS,
    },
    sources=("pope2023efficiently", "kwon2023efficient", "vllm2026cache", "austin2025scaling"),
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
        "likely_rate": r"P'_l",
        "likely_taken": r"T'_\text{request}",
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
        expected_step,
        prompt_is_read,
        sequence_pairs,
        sequence_work,
        prompt_time,
        expected_prompt,
        fit,
    ),
    asks=("model", "chip", "chips", "seq", "price"),
    examples=(
        {
            "model": "llama-3-70b",
            "chip": "h100-sxm",
            "chips": "8",
            "seq": "8192",
            "price": "2USD/h",
            "first": "0.3s",
            "prompt-tokens": "4096",
            "answer-tokens": "500",
        },
        {"model": "llama-3-8b", "chip": "l40s", "seq": "4096", "batch": "16"},
    ),
    rules=(*HEADS_RULES, *WEIGHTS_RULES, *CACHE_RULES, *LAYOUT_RULES, prompts_fit_the_context),
    omissions=(
        software_of_batches,
        kernels_beside_dense_ones,
        messages_below_the_rate,
        waits_between_domains,
        idle_chips_of_a_node,
        reading_prompts,
        memory_of_the_engine,
        weights_as_published,
        weights_beside_experts,
        weights_held_beside_experts,
        tables_in_16_bits,
        head_in_16_bits,
        sequences_beside_wide_weights,
        narrow_states_of_a_batch,
        fullest_rank,
        no_such_degree,
    ),
)
def serving(
    likely: Step,
    likely_prompt: Step,
    message_seconds: Step,
    compute_params: ComputeParams,
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
    enough_peak: Step,
    weight_seconds: Step,
    weight_bytes: Step,
    chip_bytes: Step,
    free: Step,
    fewest_chips: Step,
    one_prompt: Step,
    read_tokens: Step,
    peak: Peak = inf,
    bytes_per_param: WeightWidth = 2.0,
    price: Price = inf,
    answer_tokens: AnswerTokens = inf,
    first: First = inf,
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
        A chip without a published peak rate is answered from its bandwidth; what it takes to read
        a prompt, which arithmetic limits, and the batch that saturates stay open.

        Nobody reaches these bounds. The likely_ values are what to expect of a tuned engine, with
        the shares of the peak rates and the overhead of a layer that decode and prefill have.

    Leaves out:
        - Arithmetic, where no peak rate is known: the answer then says from which peak rate on
          that is at most a tenth. [no size: it depends on the rate that is not known]
        - Messages between chips, kernel launches and the rates that no program reaches, in all
          but the likely_ values: prices and times without it are those of the bound.
          [software]
        - Kernels that experts and latent attention launch beside those of a dense layer, in the
          likely_ values. [kernels_beside_dense_ones]
        - Rates of links below the printed ones. [messages_below_the_rate]
        - Experts chosen unevenly, which make the fullest chip late. [fullest_rank]
        - Chips of a node that are rented and stand idle. [idle_chips_of_a_node]
        - Latency of the network between domains. [waits_between_domains]
        - Reading the prompts, in tokens_per_s and usd_per_million_tokens: --prompt-tokens gives it
          a price of its own. [reading_prompts]
        - Prompts that begin alike, whose common part an engine may keep. [no size: it is a matter
          of the load]
        - Idle time between requests: prices are those of chips that are always busy. [no size: half
          of the load doubles a price, and the load is not asked]
        - Memory for activations and for the runtime, some gigabytes on each chip: keep it free
          with --memory-share. [memory_of_the_engine]
        - TP degrees, which divide the heads, in fewest_chips. [no_such_degree]
        - Narrow formats of the published checkpoint, unless they are asked for, and what it has in
          other formats. [weights_as_published, weights_beside_experts,
          weights_held_beside_experts]
        - Embedding and head, which quantised checkpoints keep in 16 bits. [tables_in_16_bits,
          head_in_16_bits, sequences_beside_wide_weights]
        - Recurrent states in 16 bits. [narrow_states_of_a_batch]
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
    likely_rate = batch_runs / likely
    likely_taken = likely_prompt / replicas + (length - 1) * likely / maximum(batch_runs, 1)
    return {
        "batch_fits": batch_fits,
        "batch_saturates": read / work * (peak / bandwidth),
        "enough_peak": enough_peak,
        "batch_runs": batch_runs,
        "seconds": where(batch_runs > 0, step, inf),
        "likely_seconds": where(batch_runs > 0, likely, inf),
        "tokens_per_s": tokens_per_s,
        "likely_tokens_per_s": likely_rate,
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
        "likely_usd_per_million_tokens": where(
            batch_runs > 0,
            MILLION * chip_price / where(batch_runs > 0, likely_rate, 1 / likely),
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
        "likely_usd_per_request": where(batch_runs > 0, chip_price * likely_taken, inf),
        "message_seconds": message_seconds,
        "weight_bytes": weight_bytes,
        "chip_bytes": chip_bytes,
        "free": free,
        "fewest_chips": fewest_chips,
    }
