"""The largest model that a memory holds."""

from typing import Annotated, Any

from flopbook.formulas.declaration import Constant, Input, Output, formula
from flopbook.formulas.omissions import omission
from flopbook.quantities.ops import minimum, where

TRAINED = Constant(16.0, "byte/param", "weights, gradients and states of Adam")
WEIGHT = Constant(2.0, "byte/param", "a weight of 16 bits")
FRAMEWORK = Constant(1.5e9, "byte", "memory that a framework keeps for itself on a GPU")
# The middle of the models in calculators/models; eight of ten are between 50 and 155.
ASPECT = Constant(102.0, "1", "width of a model over its layers")
OF_A_BLOCK = Constant(12.0, "param", "parameters of a layer over the square of its width")
# Equation 1 of korthikanti2023reducing, without the scores, which flash attention does not keep.
KEPT = Constant(34.0, "byte", "activations of a layer for each token and unit of its width")
SEQUENCE = Constant(4096.0, "1", "tokens of one sequence")
MOMENTS = Constant(8.0, "byte/param", "two moments of Adam, which only training keeps")


@omission(
    "the framework keeps about 1.5 GB of each GPU for itself, so fewer parameters fit ({size})",
    of="params",
)
def framework_memory(memory: float) -> float:
    """CUDA context, kernels and communication buffers, 1 to 2 GB."""
    return -minimum(FRAMEWORK / memory, 1)


@omission(
    "16 bytes a parameter are training in mixed precision with Adam: of weights alone, as for "
    "inference in bf16, more fit, --bytes-per-param 2 ({size})",
    of="params",
)
def weights_alone(bytes_per_param: float) -> float:
    """What counts for inference, where the width is that of training."""
    return where(bytes_per_param == TRAINED, bytes_per_param / WEIGHT - 1, 0)


@omission(
    "activations are not counted: one sequence of 4,096 tokens on each chip, without "
    "recomputation and in a model 102 times as wide as it has layers, leaves less ({size})",
    of="params",
)
def activations_of_a_sequence(params: float, memory: float, bytes_per_param: float) -> Any:
    """34 bytes for each token, layer and unit of width; a smaller model has fewer of them."""
    layers = (params / OF_A_BLOCK / ASPECT / ASPECT) ** (1 / 3)
    kept = KEPT * SEQUENCE * ASPECT * layers * layers / memory
    # What fits then, x of N, has x + a times x to the power 2/3 = 1: at most 1/(1 + a).
    return where(bytes_per_param > MOMENTS, -kept / (1 + kept), 0)


@formula(
    "max-params",
    title="Largest model",
    question="How many parameters fit into the memory of a chip, or of many?",
    outputs={
        "params": Output(
            "param", r"N_\text{max}", "parameters that fit, with nothing else in memory"
        )
    },
    sources=(
        "rajbhandari2020zero",
        "austin2025scaling",
        "korthikanti2023reducing",
    ),
    omissions=(weights_alone, activations_of_a_sequence, framework_memory),
    asks=("chip", "chips", "bytes_per_param"),
    examples=(
        {"chip": "h100-sxm"},
        {"chip": "tpu-v5p", "bytes-per-param": "10"},
        {"memory": "32GB", "bytes-per-param": "16", "chips": "64"},
    ),
)
def max_params(
    memory: Annotated[float, Input("byte", "M", "memory of one chip", chip="memory", most=1e18)],
    bytes_per_param: Annotated[
        float, Input("byte/param", "b", "bytes stored for each parameter", least=0.01, most=1e3)
    ] = 16.0,
    chips: Annotated[
        float,
        Input("chip", "X", "chips that share one copy of the model", least=1, whole=True, most=1e9),
    ] = 1.0,
) -> dict[str, Any]:
    """Parameters that fit into memory at so many bytes for each.

    Derivation:
        Memory over bytes. Weights in bf16 alone take 2 bytes for each parameter, as for inference.
        Two moments of Adam in fp32 add 8, which makes 10. Mixed-precision training keeps weights
        and gradients in 16 bits and a master copy of the weights and both moments in 32: 2 + 2 + 12
        = 16. With gradients in 32 bits it is 18. When X chips share one copy (ZeRO stage 3, or
        FSDP), their memories add up.

    Leaves out:
        - Activations, which take the rest in training. [activations_of_a_sequence]
        - The key-value cache, which takes the rest in inference. [no size: it depends on shape,
          context and batch; serving counts it]
        - Inference, which keeps weights alone. [weights_alone]
        - What the framework keeps for itself on a GPU, 1 to 2 GB. [framework_memory]
    """
    return {"params": chips * memory / bytes_per_param}
