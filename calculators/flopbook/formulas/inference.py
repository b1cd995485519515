"""What it takes to write tokens with a transformer: the steps of decoding."""

from typing import Any

from flopbook.formulas.caches import HEADS_RULES
from flopbook.formulas.conditions import rule
from flopbook.formulas.declaration import Output, Step, formula, part
from flopbook.formulas.engine_memory import memory_of_the_runtime
from flopbook.formulas.fitting_chips import no_such_degree
from flopbook.formulas.inference_inputs import Batch
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
    memory_room,
    messages,
    routed_weights,
    software,
    waits_between_domains,
    weights_read,
)
from flopbook.formulas.launches import kernels_beside_dense_ones, messages_below_the_rate
from flopbook.formulas.layer_inputs import CACHE_RULES
from flopbook.formulas.layer_kinds import (
    LAYER_PARTS,
    kept_values,
    step_reads,
    step_work,
)
from flopbook.formulas.published_weights import (
    head_in_16_bits,
    tables_in_16_bits,
    weights_as_published,
    weights_beside_experts,
    weights_held_beside_experts,
)
from flopbook.formulas.state_widths import narrow_states_of_a_step
from flopbook.formulas.unlike_ranks import fullest_rank
from flopbook.quantities.ops import inf, where


@rule("--compute-params is larger than --params: a token cannot meet more weights than there are")
def met_weights_exist(params: float, compute_params: float) -> bool:
    """The active parameters are some of all parameters."""
    return compute_params <= params


@rule("the output matrix, --vocab times --d-model, is not less than --compute-params")
def embeddings_fit(compute_params: float, vocab: float, d_model: float) -> bool:
    """The output matrix is a part of the weights; without a width it is not counted."""
    width = where(d_model < inf, d_model, 0)
    return vocab * width < compute_params


@rule("tables that are only looked up, --d-model wide, are not less than --params")
def tables_fit(
    params: float,
    vocab: float,
    d_model: float,
    tied_embeddings: str,
    positions: str,
    context: float,
) -> bool:
    """The input embedding and learned positions are a part of the weights."""
    width = where(d_model < inf, d_model, 0)
    places = where(context < inf, context, 0) if positions == "learned" else 0
    words = vocab if tied_embeddings == "no" else 0
    return (words + places) * width < params


WEIGHTS_RULES = (met_weights_exist, embeddings_fit, tables_fit)


@part
def decoding_work(batch: Batch = 1.0) -> dict[str, Any]:
    """A step writes one token of each sequence."""
    return {"step_tokens": batch, "sequences": batch}


@formula(
    "decode",
    title="Decoding",
    question="How fast can a model generate tokens, and what limits it?",
    outputs={
        "seconds": Output(
            "s", r"T_\text{step}", "a step, one token of each sequence: bound from peak rates"
        ),
        **EXPECTED,
        "tokens_per_s": Output("token/s", "P", "throughput at that bound, all sequences together"),
        **EXPECTED_RATE,
        "bound": Output("1", r"\text{bound}", "what takes longest", choices=LIMITS),
        "weight_seconds": Output("s", r"T_\text{weights}", "reading the weights"),
        "kv_seconds": Output("s", r"T_\text{cache}", "reading keys and values"),
        "compute_seconds": Output(
            "s",
            r"T_\text{arithmetic}",
            "arithmetic of the matrix products",
            needs=("peak",),
            lacking=NO_ARITHMETIC,
        ),
        **ENOUGH_OUTPUT,
        **MESSAGES_OUTPUT,
        **FIT_OUTPUTS,
    },
    sources=("pope2023efficiently", "austin2025scaling", "chen2022transformer", "deepseek2024v2"),
    symbols=PART_SYMBOLS | DECODING_SYMBOLS,
    parts=(
        routed_weights,
        *LAYER_PARTS,
        layout,
        kept_values,
        step_reads,
        step_work,
        cache_of_a_sequence,
        decoding_work,
        weights_read,
        messages,
        decoding_step,
        expected_step,
        memory_room,
        fit,
    ),
    asks=("model", "chip", "chips", "seq", "batch"),
    examples=(
        {"model": "llama-3-70b", "chip": "h100-sxm", "chips": "8", "batch": "32", "seq": "4096"},
        {"model": "llama-2-7b", "chip": "a100-sxm-80gb", "seq": "128"},
        {
            "model": "deepseek-v3",
            "chip": "h200",
            "ep": "32",
            "batch": "1024",
            "seq": "4096",
            "dtype": "fp8",
        },
    ),
    rules=(*HEADS_RULES, *WEIGHTS_RULES, *CACHE_RULES, *LAYOUT_RULES),
    omissions=(
        software,
        kernels_beside_dense_ones,
        messages_below_the_rate,
        waits_between_domains,
        memory_of_the_runtime,
        weights_as_published,
        weights_beside_experts,
        weights_held_beside_experts,
        tables_in_16_bits,
        head_in_16_bits,
        narrow_states_of_a_step,
        fullest_rank,
        no_such_degree,
    ),
)
def decode(
    likely: Step,
    message_seconds: Step,
    weight_bytes: Step,
    chip_bytes: Step,
    free: Step,
    fewest_chips: Step,
    step: Step,
    weight_seconds: Step,
    compute_seconds: Step,
    enough_peak: Step,
    kv_seconds: Step,
    products: Step,
    attention: Step,
    batch: Batch = 1.0,
) -> dict[str, Any]:
    """Shortest time of a decoding step from what it reads and computes, and whether all of it fits.

    Derivation:
        A step reads every weight once, whatever the batch, and does 2 operations for each weight
        and token: the longer of the two sets the pace of the matrix products. Attention comes after
        them, not beside them: it reads the keys and values of every sequence, of which no batch
        saves anything, and does 2 operations for each of two products with every cached token that
        a layer sees: all of them, or those of its window, its chunk or its selection. A recurrent
        state is read and written back. The input embedding is looked up, not read.

        A token visits k of E experts. If it chooses evenly, a batch of B leaves (1 - k/E) to the
        power B of the routed weights unread. Chips under tensor parallelism hold a part of every
        matrix each; keys and values cannot be shared by more chips than there are heads of them,
        and a latent vector by none. Replicas of attention (data parallelism) divide the sequences,
        and expert parallelism spreads the experts over them; each replica holds all other weights.

        Each chip holds its part of all weights, embeddings included, and of the cache. The smallest
        number of chips that hold both is that of one replica, or of several with the experts spread
        over them, whichever needs fewer.

        Arithmetic that takes no longer than reading costs no time. A chip whose peak rate is not
        published is therefore answered from its bandwidth, with the peak rate from which on
        arithmetic makes the step at most a tenth longer: that of products, of attention or of both.

        Nobody reaches that bound. What to expect of a tuned engine is fitted to published steps on
        A100: 80 % of its rate, 76 microseconds for each layer, and the messages at the rate of the
        links. With --bandwidth-share 1 --layer-overhead 0 only the messages are left over it.

    Leaves out:
        - Arithmetic, where no peak rate is known: the answer then says from which peak rate on
          that is at most a tenth. [no size: it depends on the rate that is not known]
        - Messages between chips, two in each layer, kernel launches, and the bandwidth that no
          program reaches, all in likely_seconds: measured steps of Llama 2 7B on A100 take 1.5
          times the bound on one chip and 3.7 times on eight. [software]
        - Engines that are not tuned: eager PyTorch and early int8 kernels reached 5 to 41 percent
          of the bound. [no size: it is theirs]
        - Kernels that experts and latent attention launch beside those of a dense layer, in
          likely_seconds. [kernels_beside_dense_ones]
        - Rates of links below the printed ones. [messages_below_the_rate]
        - The links between nodes, in all but likely_seconds, which has their bandwidth alone.
          [waits_between_domains]
        - Experts chosen unevenly, which make the fullest chip late. [fullest_rank]
        - Memory for activations and for the runtime, some gigabytes on each chip: keep it free
          with --memory-share. [memory_of_the_runtime]
        - TP degrees, which divide the heads, in fewest_chips. [no_such_degree]
        - Narrow formats of the published checkpoint, unless they are asked for, and what it has in
          other formats. [weights_as_published, weights_beside_experts,
          weights_held_beside_experts]
        - Embedding and head, which quantised checkpoints keep in 16 bits. [tables_in_16_bits,
          head_in_16_bits]
        - Recurrent states in 16 bits. [narrow_states_of_a_step]
    """
    return {
        "seconds": step,
        "likely_seconds": likely,
        "tokens_per_s": batch / step,
        "likely_tokens_per_s": batch / likely,
        "bound": where(
            attention > products,
            where(attention > kv_seconds, "arithmetic", "KV cache"),
            where(compute_seconds > weight_seconds, "arithmetic", "weights"),
        ),
        "weight_seconds": weight_seconds,
        "kv_seconds": kv_seconds,
        "compute_seconds": compute_seconds,
        "enough_peak": enough_peak,
        "message_seconds": message_seconds,
        "weight_bytes": weight_bytes,
        "chip_bytes": chip_bytes,
        "free": free,
        "fewest_chips": fewest_chips,
    }
