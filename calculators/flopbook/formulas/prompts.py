"""What it takes to read prompts: the time to the first token."""

from typing import Any

from flopbook.formulas.caches import HEADS_RULES
from flopbook.formulas.declaration import Output, Step, formula, part
from flopbook.formulas.engine_memory import memory_of_the_runtime
from flopbook.formulas.fitting_chips import no_such_degree
from flopbook.formulas.inference import WEIGHTS_RULES
from flopbook.formulas.inference_inputs import (
    Batch,
    ComputeParams,
    Overhead,
    Peak,
    PromptReached,
    Seq,
    Vocab,
    Width,
)
from flopbook.formulas.inference_outputs import (
    EXPECTED,
    EXPECTED_RATE,
    FIT_OUTPUTS,
    MESSAGES_OUTPUT,
    PART_SYMBOLS,
)
from flopbook.formulas.inference_parts import (
    LAYER_OVERHEAD,
    LAYOUT_RULES,
    PROMPT_REACHED,
    cache_of_a_sequence,
    fit,
    layout,
    memory_room,
    messages,
    routed_weights,
    software_of_prompts,
    weights_read,
)
from flopbook.formulas.launches import kernels_beside_dense_ones, messages_below_the_rate
from flopbook.formulas.layer_inputs import CACHE_RULES
from flopbook.formulas.layer_kinds import (
    LAYER_PARTS,
    kept_values,
    sequence_pairs,
    sequence_work,
    whole_sequence,
)
from flopbook.formulas.omissions import omission
from flopbook.formulas.parameters import Layers
from flopbook.formulas.published_weights import (
    tables_in_16_bits,
    weights_as_published,
    weights_beside_experts,
    weights_held_beside_experts,
)
from flopbook.formulas.rooflines import FLOP_PER_WEIGHT, Bandwidth
from flopbook.formulas.unlike_ranks import fullest_rank
from flopbook.quantities.ops import inf, maximum, minimum, where


@part
def reading_work(seq: Seq, batch: Batch = 1.0) -> dict[str, Any]:
    """All tokens of all prompts go through the model at once."""
    return {"step_tokens": batch * seq, "sequences": batch}


@part
def reading_step(
    compute_params: ComputeParams,
    seq: Seq,
    peak: Peak,
    bandwidth: Bandwidth,
    replicas: Step,
    degree: Step,
    score_work: Step,
    sequence_on_chip: Step,
    weight_seconds: Step,
    batch: Batch = 1.0,
    d_model: Width = inf,
    vocab: Vocab = 0.0,
) -> dict[str, Any]:
    """Time of reading all prompts: products, and then attention."""
    # The output matrix works on the last token of each prompt only.
    output = where(vocab > 0, where(d_model < inf, vocab * d_model, 0), 0)
    chip_flops = degree * replicas * peak
    prompt_met = seq * (compute_params - output) + output
    prompt_arithmetic = FLOP_PER_WEIGHT * batch * prompt_met / chip_flops
    # Scores against the writing of the cache, which attention reads again.
    prompt_attention = maximum(
        FLOP_PER_WEIGHT * score_work * batch / chip_flops,
        batch * sequence_on_chip / (replicas * bandwidth),
    )
    prompt_products = maximum(weight_seconds, prompt_arithmetic)
    return {
        "prompt_arithmetic": prompt_arithmetic,
        "prompt_attention": prompt_attention,
        "prompt_products": prompt_products,
        "prompt_seconds": prompt_products + prompt_attention,
    }


@omission(
    "all {batch} prompts are read at once, and each waits for all: read one after the other they "
    "wait less on average ({size})",
    of="seconds",
)
def prompts_in_turn(
    batch: float,
    dp: float,
    ep: float,
    weight_seconds: float,
    compute_seconds: float,
    attention_seconds: float,
    seconds: float,
) -> float:
    """Half of the time of all and half of one, each of which reads the weights anew."""
    prompts = maximum(batch / where(dp < inf, dp, ep), 1)  # of a replica
    one = maximum(weight_seconds, compute_seconds / prompts) + attention_seconds / prompts
    return minimum(one * (prompts + 1) / 2 / seconds - 1, 0)


@formula(
    "prefill",
    title="Prefill",
    question="How long does a prompt take until the first token, and what limits it?",
    outputs={
        "seconds": Output("s", r"T_\text{first}", "time to the first token: bound from peak rates"),
        **EXPECTED,
        "tokens_per_s": Output("token/s", "P", "tokens of all prompts at that bound"),
        **EXPECTED_RATE,
        "bound": Output(
            "1",
            r"\text{bound}",
            "what takes longest",
            choices=("weights", "attention", "arithmetic"),
        ),
        "weight_seconds": Output("s", r"T_\text{weights}", "reading the weights"),
        "compute_seconds": Output("s", r"T_\text{arithmetic}", "arithmetic of the matrix products"),
        "attention_seconds": Output("s", r"T_\text{attention}", "scores and values of attention"),
        **MESSAGES_OUTPUT,
        **FIT_OUTPUTS,
    },
    sources=("pope2023efficiently", "austin2025scaling", "chen2022transformer"),
    symbols={
        **PART_SYMBOLS,
        "output": "h",
        "chip_flops": r"\pi'",
        "prompt_met": r"N_\text{met}",
        "prompt_arithmetic": r"T_\text{work}",
        "prompt_attention": r"T_\text{pairs}",
        "prompt_products": r"T_\text{products}",
        "prompt_seconds": r"T_1",
    },
    parts=(
        routed_weights,
        *LAYER_PARTS,
        layout,
        kept_values,
        whole_sequence,
        sequence_pairs,
        sequence_work,
        cache_of_a_sequence,
        reading_work,
        weights_read,
        messages,
        reading_step,
        memory_room,
        fit,
    ),
    asks=("model", "chip", "chips", "seq", "batch"),
    examples=(
        {"model": "llama-3-70b", "chip": "h100-sxm", "chips": "8", "seq": "8192"},
        {"model": "llama-3-8b", "chip": "h100-sxm", "seq": "131072"},
    ),
    rules=(*HEADS_RULES, *WEIGHTS_RULES, *CACHE_RULES, *LAYOUT_RULES),
    omissions=(
        software_of_prompts,
        prompts_in_turn,
        kernels_beside_dense_ones,
        messages_below_the_rate,
        memory_of_the_runtime,
        weights_as_published,
        weights_beside_experts,
        weights_held_beside_experts,
        tables_in_16_bits,
        fullest_rank,
        no_such_degree,
    ),
)
def prefill(
    layers: Layers,
    message_seconds: Step,
    weight_bytes: Step,
    chip_bytes: Step,
    free: Step,
    fewest_chips: Step,
    step_tokens: Step,
    weight_seconds: Step,
    prompt_arithmetic: Step,
    prompt_attention: Step,
    prompt_products: Step,
    prompt_seconds: Step,
    prompt_share: PromptReached = PROMPT_REACHED,
    layer_overhead: Overhead = LAYER_OVERHEAD,
) -> dict[str, Any]:
    """Shortest time in which a model reads its prompts, after which the first token is there.

    Derivation:
        Every token does 2 operations with each weight that it meets, and every weight is read at
        least once: the longer of the two. The input embedding is looked up, and the output matrix
        works on the last token of each prompt only. Of a mixture of experts a prompt of T tokens
        leaves (1 - k/E) to the power T of the routed weights unread. Attention is two products of
        width d for each pair of a token and one not after it: T(T + 1)/2 pairs in every head of a
        layer with full attention, fewer where a window, chunks or a selection limit what it sees.
        It comes after the products of its layer, not beside them, so both times add up.

        The token that this step writes is the first of the answer. An answer of n tokens then takes
        n - 1 steps of decoding, not n.

    Leaves out:
        - Messages between chips, kernel launches and the gap to the printed peak, all in
          likely_seconds, by half of the peak: that fits prompts of 128 to 2,048 tokens, whose first
          tokens were measured 1.6 to 5 times as late as the bound. [software]
        - Kernels that experts and latent attention launch beside those of a dense layer, in
          likely_seconds. [kernels_beside_dense_ones]
        - Rates of links below the printed ones. [messages_below_the_rate]
        - Experts chosen unevenly, which make the fullest chip late. [fullest_rank]
        - That engines may read prompts one after the other. [prompts_in_turn]
        - Waiting for other requests, which is most of the time to the first token of a busy
          server. [no size: it is a matter of the load]
        - The softmax, on other units. [no size: kernels hide most of it]
        - Memory for activations, which an engine keeps small by reading long prompts in chunks:
          keep it free with --memory-share. [memory_of_the_runtime]
        - TP degrees, which divide the heads, in fewest_chips. [no_such_degree]
        - Narrow formats of the published checkpoint, unless they are asked for, and what it has in
          other formats. [weights_as_published, weights_beside_experts,
          weights_held_beside_experts]
        - Embedding and head, which quantised checkpoints keep in 16 bits. [tables_in_16_bits]
    """
    likely = prompt_seconds / prompt_share + layers * layer_overhead + message_seconds
    return {
        "seconds": prompt_seconds,
        "likely_seconds": likely,
        "tokens_per_s": step_tokens / prompt_seconds,
        "likely_tokens_per_s": step_tokens / likely,
        "bound": where(
            prompt_attention > prompt_products,
            "attention",
            where(prompt_arithmetic > weight_seconds, "arithmetic", "weights"),
        ),
        "weight_seconds": weight_seconds,
        "compute_seconds": prompt_arithmetic,
        "attention_seconds": prompt_attention,
        "message_seconds": message_seconds,
        "weight_bytes": weight_bytes,
        "chip_bytes": chip_bytes,
        "free": free,
        "fewest_chips": fewest_chips,
    }
