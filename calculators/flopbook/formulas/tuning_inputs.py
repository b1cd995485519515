"""What the calculator of fine-tuning takes beside what training takes."""

from typing import Annotated

from flopbook.formulas.declaration import Constant, Group, Input

METHODS = ("full", "frozen", "lora", "qlora")
ADAPTED = ("all", "attention", "qv")
# 4 bits and a scale of 32 bits for 64 weights, itself stored in 8 bits with one scale for 256 of
# them: 4.127 bits (dettmers2023qlora, section 3).
NF4 = Constant((4 + 8 / 64 + 32 / (64 * 256)) / 8, "byte/param", "a weight in NF4")

ADAPTERS = Group("Adapters")
SAVINGS = Group("Memory savings")

Method = Annotated[
    str,
    Input(
        "1",
        r"\text{method}",
        "what is trained: all weights, the last layers (frozen), or adapters beside frozen weights",
        choices=METHODS,
    ),
]
Rank = Annotated[
    float,
    Input("1", "r_a", "rank of the adapters", least=1, whole=True, most=1e6),
    ADAPTERS,
]
Adapted = Annotated[
    str,
    Input(
        "1",
        r"\text{adapted}",
        "matrices with an adapter: all of a layer, those of attention, or queries and values",
        choices=ADAPTED,
    ),
    ADAPTERS,
]
TrainedLayers = Annotated[
    float,
    Input("1", "L_t", "last layers that a frozen model trains", least=1, whole=True, most=1e6),
    ADAPTERS,
]
FrozenBytes = Annotated[
    float,
    Input(
        "byte/param",
        "w_f",
        "width of a frozen weight of a layer; NF4 for QLoRA, else as a weight",
        least=0.01,
        most=64,
    ),
    ADAPTERS,
]
Recompute = Annotated[
    str,
    Input(
        "1",
        r"\text{recompute}",
        "activation recomputation",
        choices=("none", "full"),
    ),
    SAVINGS,
]
Offload = Annotated[
    str,
    Input(
        "1",
        r"\text{offload}",
        "activations offloaded to host memory",
        choices=("no", "yes"),
    ),
    SAVINGS,
]
