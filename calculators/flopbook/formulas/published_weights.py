"""What an answer leaves out of a checkpoint whose weights are published in narrow formats."""

from flopbook.formulas.declaration import Constant
from flopbook.formulas.omissions import omission
from flopbook.quantities.ops import inf, maximum, minimum, where

BF16 = Constant(2.0, "byte/param", "a weight in 16 bits")
BYTE = Constant(1.0, "byte/param", "a weight in 8 bits")
# Of mxfp4 32 values of 4 bits share a scale of 8.
MXFP4 = Constant(4.25 / 8, "byte/param", "a weight in mxfp4, scale included")


@omission(
    "weights are counted as wide as asked for; the published checkpoint has them in {published} "
    "(--weight-dtype {published}), and chips hold less ({size})",
    of="chip_bytes",
)
def weights_as_published(
    published: str,
    published_share: float,
    published_beside: str,
    bytes_per_param: float,
    weight_bytes: float,
    chip_bytes: float,
) -> float:
    """What narrower weights save, of all that a chip holds."""
    narrow = {"fp8": BYTE, "mxfp4": MXFP4, "int4": BYTE / 2}.get(published, BF16)
    beside = {"fp8": BYTE}.get(published_beside, BF16)
    width = published_share * narrow + (1 - published_share) * beside
    return -maximum(1 - width / bytes_per_param, 0) * weight_bytes / chip_bytes


@omission(
    "all weights count alike; the published checkpoint has those beside the experts in "
    "{published_beside}, and every step reads them ({size})",
    of="seconds",
)
def weights_beside_experts(
    published: str,
    published_share: float,
    published_beside: str,
    params: float,
    vocab: float,
    d_model: float,
    bytes_per_param: float,
    weight_bytes: float,
    bandwidth: float,
    seconds: float,
) -> float:
    """The rest of each of them, at the bandwidth of the memory; of fp8 nearly all are in it."""
    is_narrow = {"mxfp4": 1, "int4": 1}.get(published, 0)
    # One of the two tables of the vocabulary is looked up.
    beside = (1 - published_share) * params - vocab * where(d_model < inf, d_model, 0)
    # As many chips share them as share the weights of which the chip holds a part.
    on_chip = weight_bytes / (params * bytes_per_param)
    wide = {"fp8": BYTE}.get(published_beside, BF16)
    lacking = maximum(wide - bytes_per_param, 0) * maximum(beside, 0) * on_chip
    return is_narrow * lacking / bandwidth / seconds


@omission(
    "all weights count alike; the published checkpoint has those beside the experts in "
    "{published_beside}, tables of the vocabulary included, and chips hold more ({size})",
    of="chip_bytes",
)
def weights_held_beside_experts(
    published: str,
    published_share: float,
    published_beside: str,
    bytes_per_param: float,
    weight_bytes: float,
    chip_bytes: float,
) -> float:
    """What is not in the narrow format of the experts, as wide as it is published."""
    is_narrow = {"mxfp4": 1, "int4": 1}.get(published, 0)
    wide = {"fp8": BYTE}.get(published_beside, BF16)
    wider = maximum(wide / bytes_per_param - 1, 0) * (1 - published_share)
    return is_narrow * wider * weight_bytes / chip_bytes


@omission(
    "embedding and head count as narrow as all weights; quantised checkpoints keep both in 16 bits "
    "({size})",
    of="chip_bytes",
)
def tables_in_16_bits(
    published: str,
    params: float,
    vocab: float,
    d_model: float,
    tied_embeddings: str,
    bytes_per_param: float,
    weight_bytes: float,
    chip_bytes: float,
) -> float:
    """Both tables, or one that is shared, as wide as AWQ and GPTQ leave them."""
    tables = 1 if tied_embeddings == "yes" else 2
    wide = tables * vocab * where(d_model < inf, d_model, 0) / params
    more = maximum(BF16 / bytes_per_param - 1, 0) * minimum(wide, 1) * weight_bytes
    return ({"bf16": 1}.get(published, 0) * more) / chip_bytes


@omission(
    "all weights count alike; what checkpoints keep wider, beside experts or in the tables of the "
    "vocabulary, leaves room for fewer sequences ({size})",
    of="batch_fits",
)
def sequences_beside_wide_weights(
    published: str,
    published_share: float,
    published_beside: str,
    params: float,
    vocab: float,
    d_model: float,
    tied_embeddings: str,
    bytes_per_param: float,
    memory: float,
    memory_share: float,
    weight_bytes: float,
    batch_fits: float,
) -> float:
    """What it takes of the memory that weights leave: all of it at most."""
    is_narrow = {"mxfp4": 1, "int4": 1}.get(published, 0)
    wide = {"fp8": BYTE}.get(published_beside, BF16)
    in_layers = is_narrow * maximum(wide / bytes_per_param - 1, 0) * (1 - published_share)
    tables = 1 if tied_embeddings == "yes" else 2
    share = minimum(tables * vocab * where(d_model < inf, d_model, 0) / params, 1)
    in_tables = {"bf16": 1}.get(published, 0) * maximum(BF16 / bytes_per_param - 1, 0) * share
    room = memory * memory_share - weight_bytes
    more = (in_layers + in_tables) * weight_bytes
    return where(batch_fits > 0, -minimum(more / where(room > 0, room, memory), 1), 0)


@omission(
    "the head counts as narrow as all weights; quantised checkpoints keep it in 16 bits, and every "
    "step reads it ({size})",
    of="seconds",
)
def head_in_16_bits(
    published: str,
    params: float,
    vocab: float,
    d_model: float,
    bytes_per_param: float,
    weight_bytes: float,
    bandwidth: float,
    seconds: float,
) -> float:
    """One table, read at the bandwidth of the memory."""
    wide = vocab * where(d_model < inf, d_model, 0) / params
    more = maximum(BF16 / bytes_per_param - 1, 0) * minimum(wide, 1) * weight_bytes
    return {"bf16": 1}.get(published, 0) * more / bandwidth / seconds
