"""Which layouts of a training run exist: what divides what, and how many there must be."""

from flopbook.formulas.conditions import (
    TENSOR_RULES,
    dense_layers_exist,
    feed_forward_has_a_width,
    kv_heads_are_shared,
    latent_attention_has_widths,
    rule,
    visited_experts_exist,
)
from flopbook.formulas.declaration import Constant
from flopbook.formulas.pipeline import SHAPES
from flopbook.quantities.ops import inf, where

# A published total may be rounded below what its shape counts: 1T for 1.026 trillion.
ROUNDED = Constant(1.05, "1", "slack of a rounded total")


@rule("--pp {pp} is larger than --layers {layers}: a stage would have no layer")
def stages_have_layers(layers: float, pp: float) -> bool:
    """A layer is the smallest piece of a pipeline."""
    return layers >= pp


@rule("--ep {ep} does not divide --experts {experts}; use {ep:divisor of experts}")
def ep_divides_experts(experts: float, ep: float) -> bool:
    """Every rank of expert parallelism holds equally many experts."""
    return experts % ep == 0


@rule(
    "--ep {ep} does not divide --dp {dp} x --cp {cp}: "
    "experts are spread over devices that otherwise hold the same weights"
)
def ep_divides_the_replicas(dp: float, cp: float, ep: float) -> bool:
    """Expert parallelism takes its ranks from data and context parallelism."""
    return (dp * cp) % ep == 0


@rule("--hsdp {hsdp} does not divide --dp {dp}: a group has whole replicas")
def groups_divide_the_replicas(dp: float, hsdp: float) -> bool:
    """Groups that hold everything are of equal size."""
    return dp % hsdp == 0


@rule(
    "--ep {ep} does not divide --dp {dp} x --cp {cp} / --hsdp {hsdp}: "
    "the experts of a group are spread over its devices"
)
def ep_divides_the_group(dp: float, cp: float, ep: float, hsdp: float) -> bool:
    """Every group holds all experts."""
    return (dp * cp / hsdp) % ep == 0


@rule("--cp {cp} does not divide --seq {seq}; use {cp:divisor of seq}")
def cp_divides_the_sequence(seq: float, cp: float) -> bool:
    """Every rank of context parallelism holds equally many tokens."""
    return seq % cp == 0


@rule("gpipe keeps every micro-batch until the end; give --microbatches")
def gpipe_has_an_end(schedule: str, microbatches: float) -> bool:
    """Its first stage holds the activations of all of them at once."""
    return (schedule != "gpipe") | (microbatches < inf)


@rule(
    "--params is smaller than the embeddings and experts of this shape; flopbook params counts them"
)
def parameters_hold_the_shape(
    params: float,
    layers: float,
    d_model: float,
    vocab: float,
    d_ff: float,
    ffn_kind: str,
    tied_embeddings: str,
    experts: float,
    expert_d_ff: float,
    expert_d_model: float,
    dense_layers: float,
    ffn_layers: float,
) -> bool:
    """Embeddings and experts are the least that a model of this shape has."""
    dense_width = where(d_ff < inf, d_ff, 0)
    width = where(expert_d_ff < inf, expert_d_ff, dense_width)
    blocks = where(ffn_layers < inf, ffn_layers, layers)
    expert_layers = where(experts > 1, blocks - dense_layers, 0)
    matrices = 3 if ffn_kind == "gated" else 2
    inner = where(expert_d_model < inf, expert_d_model, d_model)
    expert_weights = expert_layers * experts * matrices * inner * width
    embeddings = 1 if tied_embeddings == "yes" else 2
    embedding_weights = vocab * d_model * embeddings
    return ROUNDED * params >= embedding_weights + expert_weights


@rule("--recompute-layers counts layers of --recompute full; with {recompute} there are none")
def counted_layers_are_recomputed(recompute: str, recompute_layers: float) -> bool:
    """Only full recomputation takes layers one by one."""
    return (recompute == "full") | (recompute_layers == inf)


LAYOUT_RULES = (
    kv_heads_are_shared,
    *TENSOR_RULES,
    visited_experts_exist,
    dense_layers_exist,
    stages_have_layers,
    feed_forward_has_a_width,
    latent_attention_has_widths,
    ep_divides_experts,
    ep_divides_the_replicas,
    groups_divide_the_replicas,
    ep_divides_the_group,
    cp_divides_the_sequence,
    *(shape.renamed(stages="pp") for shape in SHAPES),
    gpipe_has_an_end,
    parameters_hold_the_shape,
)
