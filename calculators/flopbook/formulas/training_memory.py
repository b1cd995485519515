"""What training a transformer keeps in the memory of each device."""

from typing import Annotated, Any

from flopbook.formulas.conditions import (
    TENSOR_RULES,
    dense_layers_exist,
    feed_forward_has_a_width,
    kv_heads_are_shared,
    latent_attention_has_widths,
    rule,
    visited_experts_exist,
)
from flopbook.formulas.declaration import Constant, Group, Input, Output, Step, formula, part
from flopbook.formulas.parameters import (
    DenseLayers,
    DFf,
    DModel,
    ExpertDFf,
    Experts,
    ExpertsPerToken,
    Ffn,
    HeadDim,
    Heads,
    KvHeads,
    KvRank,
    Layers,
    NopeDim,
    NormsPerLayer,
    QRank,
    RopeDim,
    SharedDFf,
    SharedExperts,
    Tied,
    ValueDim,
    Vocab,
)
from flopbook.formulas.pipeline import SCHEDULES, SHAPES, in_flight
from flopbook.quantities.ops import inf, maximum, minimum, where

FP32 = Constant(4.0, "byte/param", "a number in 32 bits")
FP16 = Constant(2.0, "byte/param", "a number in 16 bits")
QUANTISED = Constant(1.0, "byte/param", "a number in 8 bits")
MASK = Constant(1.0, "byte", "an entry of a dropout mask")
FP32_VALUE = Constant(4.0, "byte", "an activation in 32 bits")
# A published total may be rounded below what its shape counts: 1T for 1.026 trillion.
ROUNDED = Constant(1.05, "1", "slack of a rounded total")

RECOMPUTE = ("selective", "none", "full")
ATTENTION = ("scores", "flash")
OPTIMIZERS = (
    "adam",
    "adam-bf16",
    "adam-8bit",
    "adam-pure",
    "adafactor",
    "muon",
    "sgd-momentum",
    "sgd",
)
YES_NO = ("no", "yes")

# What the form folds away together, beside the groups of the shape.
DIVISION = Group("Parallelism")
PASSES = Group("Pipeline schedule")
FORMATS = Group("Number formats and optimizer")
KEPT = Group("Recomputation and attention")


def _ways(symbol: str, meaning: str, most: float = 1e6) -> Input:
    """How many ways something is divided."""
    return Input("1", symbol, meaning, least=1, whole=True, most=most)


def _word(symbol: str, meaning: str, choices: tuple[str, ...]) -> Input:
    return Input("1", rf"\text{{{symbol}}}", meaning, choices=choices)


def _width(unit: str, symbol: str, meaning: str, dtype: str = "") -> Input:
    return Input(unit, symbol, meaning, dtype=dtype, least=0.01, most=64)


Params = Annotated[float, Input("param", "N", "all parameters", model="params", least=1, most=1e18)]
Seq = Annotated[float, _ways("s", "tokens in a sequence", 1e9)]
MicroBatch = Annotated[float, _ways("b", "sequences in a micro-batch")]
MicroBatches = Annotated[float, _ways("M", "micro-batches in a batch; many if open"), PASSES]
Zero = Annotated[
    float,
    Input("1", "z", "stage of ZeRO; 3 is FSDP", least=1, whole=True, most=3, none=True),
    DIVISION,
]
Dp = Annotated[float, _ways("d", "data-parallel copies"), DIVISION]
Tp = Annotated[float, _ways("t", "ways of tensor parallelism"), DIVISION]
Pp = Annotated[float, _ways("p", "pipeline stages"), DIVISION]
Cp = Annotated[float, _ways("c", "ways of context parallelism, which cuts the sequence"), DIVISION]
Ep = Annotated[
    float,
    _ways("e", "ways of expert parallelism, within the data-parallel and context-parallel ones"),
    DIVISION,
]
Virtual = Annotated[float, _ways("v", "model chunks on each stage"), PASSES]
Schedule = Annotated[str, _word("schedule", "order of the passes", SCHEDULES), PASSES]
Recompute = Annotated[
    str, _word("recompute", "what the backward pass computes again", RECOMPUTE), KEPT
]
SequenceParallel = Annotated[
    str, _word("sp", "norms and dropout are cut along the sequence", YES_NO), DIVISION
]
Attention = Annotated[str, _word("attention", "attention keeps its scores or not", ATTENTION), KEPT]
Dropout = Annotated[str, _word("dropout", "masks of dropout are kept", YES_NO), KEPT]
OptimizerKind = Annotated[
    str, _word("optimizer", "optimizer and the width of its state", OPTIMIZERS), FORMATS
]
BytesPerParam = Annotated[float, _width("byte/param", "w", "width of a weight", "bytes"), FORMATS]
GradBytes = Annotated[
    float, _width("byte/param", "g", "width of a gradient; 4 if summed in fp32"), FORMATS
]
ActivationBytes = Annotated[float, _width("byte", "a", "width of an activation"), FORMATS]
Memory = Annotated[float, Input("byte", "m", "memory of the device", chip="memory", most=1e18)]


@part
def model_states(
    params: Params,
    layers: Layers,
    d_model: DModel,
    vocab: Vocab,
    bytes_per_param: BytesPerParam = 2.0,
    grad_bytes: GradBytes = 2.0,
    optimizer_kind: OptimizerKind = "adam",
    zero: Zero = 0.0,
    dp: Dp = 1.0,
    tp: Tp = 1.0,
    pp: Pp = 1.0,
    cp: Cp = 1.0,
    ep: Ep = 1.0,
    tied_embeddings: Tied = "no",
    d_ff: DFf = inf,
    ffn_kind: Ffn = "gated",
    experts: Experts = 1.0,
    expert_d_ff: ExpertDFf = inf,
    dense_layers: DenseLayers = 0.0,
    schedule: Schedule = "1f1b",
) -> dict[str, Any]:
    """Weights, gradients and optimizer of a device, as divided by each kind of parallelism."""
    embedding = vocab * d_model
    embeddings = embedding * (1 if tied_embeddings == "yes" else 2)
    sparse = where(experts > 1, layers - dense_layers, 0)
    dense_width = where(d_ff < inf, d_ff, 0)
    expert_width = where(expert_d_ff < inf, expert_d_ff, dense_width)
    matrices = 3 if ffn_kind == "gated" else 2
    expert = sparse * experts * matrices * d_model * expert_width
    rest = maximum(params - embeddings - expert, 0)
    replicas = 2 if schedule == "dualpipe" else 1
    rest_part = replicas * rest / (tp * pp)
    embedding_part = replicas * embeddings / (tp * pp)
    expert_part = replicas * expert / (tp * pp * ep)
    end_stage = where(pp > 1, embedding, embeddings)
    ends = (
        embeddings
        if schedule == "zb-v"
        else embeddings
        if schedule == "dualpipe"
        else embeddings
        if schedule == "dualpipe-v"
        else end_stage
    )
    extra = (ends - replicas * embeddings / pp) / tp
    shard = dp * cp
    weight_shards = where(zero >= 3, shard, 1)
    weight_cut = where(zero >= 3, shard / ep, 1)
    gradient_shards = where(zero >= 2, shard, 1)
    gradient_cut = where(zero >= 2, shard / ep, 1)
    state_shards = where(zero >= 1, shard, 1)
    state_cut = where(zero >= 1, shard / ep, 1)
    master = where(bytes_per_param < FP32, FP32, 0 * FP32)
    moments = (
        2 * FP32
        if optimizer_kind == "adam"
        else 2 * FP16
        if optimizer_kind == "adam-bf16"
        else 2 * QUANTISED
        if optimizer_kind == "adam-8bit"
        else 2 * bytes_per_param - master
        if optimizer_kind == "adam-pure"
        else 2 * FP32 / d_model
        if optimizer_kind == "adafactor"
        else 0 * FP32
        if optimizer_kind == "sgd"
        else FP32
    )
    state = master + moments
    embedding_state = master + 2 * FP32 if optimizer_kind == "muon" else state
    shared = rest_part + embedding_part
    extra_bytes = (
        bytes_per_param / weight_shards
        + grad_bytes / gradient_shards
        + embedding_state / state_shards
    )
    common_state = (state * rest_part + embedding_state * embedding_part) / state_shards
    layer_weights = bytes_per_param * (rest / tp + expert / (tp * ep)) / layers
    return {
        "weights": bytes_per_param * (shared / weight_shards + expert_part / weight_cut),
        "gradients": grad_bytes * (shared / gradient_shards + expert_part / gradient_cut),
        "optimizer_state": common_state + state * expert_part / state_cut,
        "stage_extra": extra * extra_bytes,
        "gathered": where(zero >= 3, layer_weights, 0),
        "sparse": sparse,
        "dense_width": dense_width,
        "expert_width": expert_width,
        "matrices": matrices,
        "stages": pp,
    }


@part
def layer_activations(
    layers: Layers,
    d_model: DModel,
    heads: Heads,
    seq: Seq,
    sparse: Step,
    dense_width: Step,
    expert_width: Step,
    matrices: Step,
    tp: Tp = 1.0,
    recompute: Recompute = "selective",
    sequence_parallel: SequenceParallel = "no",
    attention: Attention = "scores",
    dropout: Dropout = "yes",
    activation_bytes: ActivationBytes = 2.0,
    kv_heads: KvHeads = inf,
    head_dim: HeadDim = inf,
    norms_per_layer: NormsPerLayer = 2.0,
    experts_per_token: ExpertsPerToken = 1.0,
    shared_experts: SharedExperts = 0.0,
    shared_expert_d_ff: SharedDFf = inf,
    q_lora_rank: QRank = 0.0,
    kv_lora_rank: KvRank = 0.0,
    qk_nope_head_dim: NopeDim = 0.0,
    qk_rope_head_dim: RopeDim = 0.0,
    v_head_dim: ValueDim = 0.0,
) -> dict[str, Any]:
    """What an average layer keeps of each token for the backward pass, and what it computes again."""
    head = where(head_dim < inf, head_dim, d_model / heads)
    keys = minimum(kv_heads, heads) * head
    latent = 2 * heads * (qk_nope_head_dim + qk_rope_head_dim + v_head_dim)
    projected = where(kv_lora_rank > 0, latent, 2 * heads * head + 2 * keys)
    compressed = where(kv_lora_rank > 0, q_lora_rank + kv_lora_rank + qk_rope_head_dim, 0)
    shared_width = where(shared_expert_d_ff < inf, shared_expert_d_ff, expert_width)
    visited = experts_per_token * expert_width + shared_experts * shared_width
    inner = matrices * ((layers - sparse) * dense_width + sparse * visited) / layers
    copies = sparse * experts_per_token * 2 * d_model / layers
    uncut = (norms_per_layer + 2) * d_model + compressed + copies
    masks = 2 * d_model * MASK if dropout == "yes" else 0 * MASK
    side = tp if sequence_parallel == "yes" else 1
    layer = (activation_bytes * uncut + masks) / side + activation_bytes * (projected + inner) / tp
    softmax = (
        heads * seq * (2 * activation_bytes + MASK if dropout == "yes" else activation_bytes) / tp
    )
    statistics = heads * FP32_VALUE / tp
    scores = statistics if attention == "flash" else softmax
    full = layer + scores
    dropped = 0 * softmax if attention == "flash" else softmax
    return {
        "kept": activation_bytes * d_model / side
        if recompute == "full"
        else full
        if recompute == "none"
        else full - dropped,
        "again": full
        if recompute == "full"
        else dropped
        if recompute == "selective"
        else 0 * softmax,
        "side": side,
    }


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
    dense_layers: float,
) -> bool:
    """Embeddings and experts are the least that a model of this shape has."""
    dense_width = where(d_ff < inf, d_ff, 0)
    width = where(expert_d_ff < inf, expert_d_ff, dense_width)
    expert_layers = where(experts > 1, layers - dense_layers, 0)
    matrices = 3 if ffn_kind == "gated" else 2
    expert_weights = expert_layers * experts * matrices * d_model * width
    embeddings = 1 if tied_embeddings == "yes" else 2
    embedding_weights = vocab * d_model * embeddings
    return ROUNDED * params >= embedding_weights + expert_weights


@formula(
    "memory",
    title="Training memory",
    question="What does training keep in the memory of each device?",
    outputs={
        "total": Output(
            "byte", r"T", "all of it, on the fuller of the first and the last pipeline stage"
        ),
        "weights": Output("byte", r"T_w", "weights, of an average stage"),
        "gradients": Output("byte", r"T_g", "gradients, of an average stage"),
        "optimizer": Output(
            "byte", r"T_o", "state of the optimizer with master weights, of an average stage"
        ),
        "stage_extra": Output(
            "byte", r"T_x", "the same three for the embedding that only an end stage holds"
        ),
        "activations": Output("byte", r"T_a", "activations of the layers, on the first stage"),
        "logits": Output("byte", r"T_l", "activations of the head, on the last stage"),
        "working": Output(
            "byte", r"T_r", "what lives a moment: a layer gathered by ZeRO-3 or computed again"
        ),
        "inflight": Output(
            "1", r"i", "micro-batches whose activations the first stage holds at once"
        ),
        "free": Output("byte", r"T_f", "what is left of the memory", needs=("memory",)),
    },
    sources=(
        "korthikanti2023reducing",
        "rajbhandari2020zero",
        "narayanan2021efficient",
        "qi2024zero",
        "qi2024pipeline",
        "deepseek2025dualpipe",
        "shazeer2018adafactor",
        "nvidia2026muon",
    ),
    parts=(model_states, layer_activations, in_flight),
    symbols={
        "embedding": r"N_\text{in}",
        "embeddings": r"N_\text{emb}",
        "sparse": r"L_e",
        "dense_width": r"f_d",
        "expert_width": r"f_e",
        "shared_width": r"f_s",
        "matrices": r"\mu",
        "expert": r"N_e",
        "rest": r"N_r",
        "rest_part": r"n_r",
        "embedding_part": r"n_\text{emb}",
        "expert_part": r"n_e",
        "extra": r"n_x",
        "shared": r"n_s",
        "shard": r"\sigma",
        "weight_shards": r"\sigma_w",
        "gradient_shards": r"\sigma_g",
        "state_shards": r"\sigma_o",
        "weight_cut": r"\epsilon_w",
        "gradient_cut": r"\epsilon_g",
        "state_cut": r"\epsilon_o",
        "master": r"\omega_0",
        "moments": r"\omega_1",
        "state": r"\omega",
        "embedding_state": r"\omega_\text{emb}",
        "extra_bytes": r"\omega_x",
        "optimizer_state": "O",
        "common_state": r"\Omega",
        "layer_weights": r"G_\ell",
        "gathered": "G",
        "head": r"\eta",
        "keys": r"\kappa",
        "latent": r"y_\text{MLA}",
        "projected": r"y_a",
        "compressed": r"y_r",
        "visited": r"f_v",
        "inner": r"y_f",
        "copies": r"y_c",
        "uncut": r"y",
        "masks": r"\beta",
        "side": r"\tau",
        "layer": r"A_\ell",
        "softmax": r"S_0",
        "statistics": r"S_1",
        "scores": r"S_2",
        "full": r"A_1",
        "dropped": r"S_3",
        "kept": "A",
        "again": "R",
        "tokens": r"\theta",
        "chunks": "u",
        "warm": r"n_1",
        "peak_microbatches": r"m_0",
        "least": r"m_p",
        "end": r"n_p",
        "stages": r"\pi",
        "replicas": r"\rho",
        "end_stage": r"N_p",
        "ends": r"N_1",
        "held": r"m_1",
        "stage_kept": r"A_s",
        "peak": r"P",
    },
    examples=(
        {
            "model": "llama-3-70b",
            "chip": "h100-sxm",
            "seq": "8192",
            "zero": "3",
            "dp": "64",
            "tp": "8",
            "sequence-parallel": "yes",
            "attention": "flash",
            "dropout": "no",
        },
        {
            "model": "megatron-530b",
            "seq": "2048",
            "tp": "8",
            "pp": "35",
            "schedule": "interleaved",
            "virtual": "3",
            "recompute": "none",
            "grad-bytes": "4",
        },
    ),
    rules=(
        kv_heads_are_shared,
        *TENSOR_RULES,
        visited_experts_exist,
        dense_layers_exist,
        stages_have_layers,
        feed_forward_has_a_width,
        latent_attention_has_widths,
        ep_divides_experts,
        ep_divides_the_replicas,
        cp_divides_the_sequence,
        *(shape.renamed(stages="pp") for shape in SHAPES),
        gpipe_has_an_end,
        parameters_hold_the_shape,
    ),
)
def memory(
    params: Params,
    layers: Layers,
    d_model: DModel,
    vocab: Vocab,
    seq: Seq,
    weights: Step,
    gradients: Step,
    optimizer_state: Step,
    stage_extra: Step,
    gathered: Step,
    kept: Step,
    again: Step,
    side: Step,
    chunks: Step,
    peak_microbatches: Step,
    micro_batch: MicroBatch = 1.0,
    microbatches: MicroBatches = inf,
    tp: Tp = 1.0,
    pp: Pp = 1.0,
    cp: Cp = 1.0,
    schedule: Schedule = "1f1b",
    virtual: Virtual = 1.0,
    activation_bytes: ActivationBytes = 2.0,
    memory: Memory = inf,
) -> dict[str, Any]:
    """Memory of each device in training: states of the model, activations, and what lives a moment.

    Derivation:
        Tensor and pipeline parallelism divide all parameters, expert parallelism those of the experts. What is left
        is held once on each of the d x c devices that differ in data or context, unless ZeRO divides it among them:
        stage 1 the optimizer, stage 2 the gradients too, stage 3 the weights too. Experts are divided among d x c / e.
        Adam keeps two moments, and a master copy in fp32 where weights are narrower: 12 bytes, with weights and
        gradients 16; adam-bf16 keeps moments in 16 bits, adam-8bit in 8, adam-pure in the width of the weights with
        no master copy. Muon keeps one momentum for matrices and Adam for embeddings, Adafactor a row and a column.

        A layer keeps for its backward pass, for each token and in values: the inputs of norms, attention and
        feed-forward, which stay whole on all t devices unless sequence parallelism cuts them; queries, keys, values
        and the input of the output matrix; the inner feed-forward values (two of a plain block, three of a gated one);
        one byte for each entry of a dropout mask. Attention scores take, for each head and pair of tokens, a value
        after softmax, and with dropout a mask and a value more: 5 bytes. Neither flash attention nor selective
        recomputation keeps them. Full recomputation keeps only the input of the layer. For the GPT shape this is
        sbh(10 + 24/t + 5as/(ht)) bytes, and sbh(34 + 5as/h)/t with sequence parallelism.

        The first stage holds as many micro-batches as stages (1F1B), a share (p - 1)/(p v) more when interleaved, all
        of them in GPipe; the last stage holds one, but has the logits in fp32. Where weights wait for their gradient
        every stage holds equally many: p in ZB-H1 and ZB-V, 2p - 1 in ZB-H2, p + 1 in DualPipe, p + 1/2 in DualPipe-V.
        ZB-V and DualPipe-V run the model down the devices and up again, DualPipe runs it from both ends at once: there
        the first device has both ends of the model, with embedding, head and logits. DualPipe keeps two copies of the
        model, with gradients and optimizer.

    Leaves out:
        What framework and allocator keep for themselves: 1 to 2 GB, and some percent for fragments. Uneven stages,
        with up to one layer more. Masks and indices at the embedding: below 0.5 percent of the activations. Uneven
        routing: experts are taken to be loaded alike. Buffers of communication other than the one layer that ZeRO-3
        gathers. Vectors are counted as if tensor parallelism divided them: below 0.1 percent. Activations are held from
        the forward pass to the pass for the weights; what the pass for the inputs frees of them is not taken off. A
        ZeRO that divides over both copies of DualPipe halves what it divides.
    """
    tokens = micro_batch * seq / cp
    end = where(chunks > 1, ((chunks - 1) * pp + 1) / chunks, 1)
    least = minimum(end, microbatches)
    held = (
        least if schedule == "1f1b" else least if schedule == "interleaved" else peak_microbatches
    )
    stage_kept = tokens * layers / pp * kept
    activations = peak_microbatches * stage_kept
    logits = tokens * (vocab * FP32_VALUE / tp + 2 * d_model * activation_bytes / side)
    working = gathered + tokens * again
    peak = where(pp > 1, maximum(activations, held * stage_kept + logits), activations + logits)
    total = weights + gradients + optimizer_state + stage_extra + working + peak
    return {
        "total": total,
        "weights": weights,
        "gradients": gradients,
        "optimizer": optimizer_state,
        "stage_extra": stage_extra,
        "activations": activations,
        "logits": logits,
        "working": working,
        "inflight": peak_microbatches,
        "free": memory - total,
    }
