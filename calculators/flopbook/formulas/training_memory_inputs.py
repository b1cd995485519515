"""How a training run is laid out: what the parts of its memory take as inputs."""

from typing import Annotated

from flopbook.formulas.declaration import Group, Input
from flopbook.formulas.pipeline import SCHEDULES

RECOMPUTE = ("selective", "none", "full", "selective-op")
ATTENTION = ("auto", "scores", "flash")
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
RESHARD = ("auto", "yes", "no")
SEQUENCE_PARALLEL = (*YES_NO, "gathered")
ACCUMULATION = ("auto", "sharded", "whole", "none")
FUSION = ("fused", "eager")
# What of the states lies in the memory of the host; each word has those before it too.
OFFLOADED = ("no", "optimizer", "gradients", "parameters")

# What the form folds away together, beside the groups of the shape.
DIVISION = Group("Parallelism")
PASSES = Group("Pipeline schedule")
WIDTHS = Group("Number formats and optimizer")
KEPT = Group("Recomputation and attention")
SOFTWARE = Group("Framework and runtime")


def _degree(symbol: str, meaning: str, most: float = 1e6) -> Input:
    """A number of parts, of tokens or of sequences."""
    return Input("1", symbol, meaning, least=1, whole=True, most=most)


def _word(symbol: str, meaning: str, choices: tuple[str, ...]) -> Input:
    return Input("1", rf"\text{{{symbol}}}", meaning, choices=choices)


def _width(unit: str, symbol: str, meaning: str, dtype: str = "") -> Input:
    return Input(unit, symbol, meaning, dtype=dtype, least=0.01, most=64)


Params = Annotated[float, Input("param", "N", "all parameters", model="params", least=1, most=1e18)]
Seq = Annotated[float, _degree("s", "sequence length in tokens", 1e9)]
MicroBatch = Annotated[float, _degree("b", "sequences in a micro-batch")]
MicroBatches = Annotated[float, _degree("M", "micro-batches per step (default: many)"), PASSES]
Zero = Annotated[
    float,
    Input("1", "z", "ZeRO stage; 3 is FSDP", least=1, whole=True, most=3, none=True),
    DIVISION,
]
Hsdp = Annotated[
    float,
    _degree("G", "HSDP groups, each of which holds all that ZeRO divides"),
    DIVISION,
]
Dp = Annotated[float, _degree("d", "DP degree, copies of the model"), DIVISION]
Tp = Annotated[float, _degree("t", "TP degree"), DIVISION]
Pp = Annotated[float, _degree("p", "pipeline stages"), DIVISION]
Cp = Annotated[float, _degree("c", "CP degree"), DIVISION]
Ep = Annotated[
    float,
    _degree("e", "EP degree, within the data-parallel and context-parallel ones"),
    DIVISION,
]
Virtual = Annotated[float, _degree("v", "model chunks on each stage"), PASSES]
Schedule = Annotated[str, _word("schedule", "pipeline schedule", SCHEDULES), PASSES]
Recompute = Annotated[str, _word("recompute", "activation recomputation", RECOMPUTE), KEPT]
RecomputeLayers = Annotated[
    float,
    _degree(r"\ell_r", "layers of a stage that full recomputation computes again (default: all)"),
    KEPT,
]
SequenceParallel = Annotated[
    str,
    _word(
        "sp",
        "sequence parallelism of norms and dropout; gathered: inputs of products stay whole",
        SEQUENCE_PARALLEL,
    ),
    DIVISION,
]
Attention = Annotated[
    str,
    _word(
        "attention", "attention keeps its scores or not; auto: flash with gated blocks", ATTENTION
    ),
    KEPT,
]
Dropout = Annotated[
    str,
    _word("dropout", "masks of dropout are kept; auto: not with gated blocks", ("auto", *YES_NO)),
    KEPT,
]
OptimizerKind = Annotated[
    str, _word("optimizer", "optimizer and the width of its state", OPTIMIZERS), WIDTHS
]
BytesPerParam = Annotated[
    float, _width("byte/param", "b_w", "width of a weight", "trained"), WIDTHS
]
GradBytes = Annotated[
    float, _width("byte/param", "g", "width of a gradient; 4 if summed in fp32", "grad"), WIDTHS
]
ActivationBytes = Annotated[
    float, _width("byte", "a", "width of an activation", "activation"), WIDTHS
]
StateBytes = Annotated[
    float,
    _width("byte/param", r"\omega_b", "width of a moment of the optimizer", "optimizer"),
    WIDTHS,
]
Prefetch = Annotated[
    float, _degree(r"\ell", "layers whose weights ZeRO-3 (FSDP) holds gathered at once"), SOFTWARE
]
Reshard = Annotated[
    str,
    _word(
        "reshard",
        "FSDP frees gathered weights after each pass; auto: unless there are pipeline stages",
        RESHARD,
    ),
    SOFTWARE,
]
Accumulation = Annotated[
    str,
    _word(
        "acc",
        "how gradients of micro-batches add up; auto: whole with pipeline stages, else as ZeRO "
        "divides them; none: made in each backward pass, freed after the step",
        ACCUMULATION,
    ),
    SOFTWARE,
]
Fusion = Annotated[
    str,
    _word(
        "fusion",
        "elementwise operations are fused (torch.compile, Megatron) or each keeps its result",
        FUSION,
    ),
    KEPT,
]
Offload = Annotated[
    str,
    _word("offload", "states in the memory of the host, each with those before it", OFFLOADED),
    KEPT,
]
OffloadActivations = Annotated[
    str,
    _word("away", "activations of the layers wait in the memory of the host", YES_NO),
    KEPT,
]
LogitBytes = Annotated[
    float,
    Input("byte", "q", "bytes of a logit in the loss, all copies together", least=0.01, most=64),
    SOFTWARE,
]
LossChunks = Annotated[
    float, _degree("C", "chunks in which the loss is computed (chunked cross-entropy)"), SOFTWARE
]
VocabParallel = Annotated[
    str, _word("vocab", "tensor parallelism divides logits and loss", YES_NO), SOFTWARE
]
GroupBytes = Annotated[
    float,
    Input("byte", "n_g", "buffers of NCCL for a process group; 0 for none", most=1e12, none=True),
    SOFTWARE,
]
ContextBytes = Annotated[
    float,
    Input("byte", "k_c", "CUDA context and kernels; 0 for none", most=1e12, none=True),
    SOFTWARE,
]
ReserveShare = Annotated[
    float,
    Input(
        "1",
        r"\varrho",
        "share by which the allocator reserves more than tensors take",
        most=1,
        none=True,
    ),
    SOFTWARE,
]
Memory = Annotated[float, Input("byte", "m", "memory of the device", chip="memory", most=1e18)]
