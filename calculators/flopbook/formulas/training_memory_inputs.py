"""How a training run is laid out: what the parts of its memory take as inputs."""

from typing import Annotated

from flopbook.formulas.declaration import Group, Input
from flopbook.formulas.pipeline import SCHEDULES

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
WIDTHS = Group("Number formats and optimizer")
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
    str, _word("optimizer", "optimizer and the width of its state", OPTIMIZERS), WIDTHS
]
BytesPerParam = Annotated[float, _width("byte/param", "w", "width of a weight", "trained"), WIDTHS]
GradBytes = Annotated[
    float, _width("byte/param", "g", "width of a gradient; 4 if summed in fp32", "grad"), WIDTHS
]
ActivationBytes = Annotated[
    float, _width("byte", "a", "width of an activation", "activation"), WIDTHS
]
Memory = Annotated[float, Input("byte", "m", "memory of the device", chip="memory", most=1e18)]
