"""Inputs of the calculators of sharded arrays: texts in named-axis notation, and the network."""

from typing import Annotated

from flopbook.formulas.declaration import Input

ArrayText = Annotated[
    str, Input("1", r"\text{array}", "array: number format and shape, bf16[256,2048]", text="ARRAY")
]
LayoutText = Annotated[
    str,
    Input(
        "1",
        r"\text{layout}",
        "sharding: mesh axes of each dimension, A[I_XY, J]",
        text="LAYOUT",
    ),
]
MeshText = Annotated[
    str,
    Input(
        "1",
        r"\text{mesh}",
        "device mesh: axes and their sizes, X=4,Y=8",
        text="MESH",
    ),
]
ProductText = Annotated[
    str,
    Input(
        "1",
        r"\text{product}",
        "factors and result with their sharding: A[I, J_X] * B[J_X, K] -> C[I, K]",
        text="PRODUCT",
    ),
]
SizesText = Annotated[
    str, Input("1", r"\text{dims}", "sizes of all dimensions: I=4096,J=8192,K=1024", text="DIMS")
]
ValueBytes = Annotated[
    float,
    Input(
        "byte",
        "b",
        "bytes per value, in memory and on the links",
        dtype="compute",
        least=0.01,
        most=64,
    ),
]
Topology = Annotated[
    str,
    Input(
        "1",
        r"\text{topology}",
        "network topology; mesh: a link for each pair of chips",
        chip="topology",
        choices=("ring", "torus", "switch", "mesh"),
    ),
]
TorusAxes = Annotated[
    float,
    Input(
        "1",
        "n",
        "torus axes, each for one axis of the mesh",
        chip="torus_axes",
        least=1,
        whole=True,
        most=16,
    ),
]
Wrap = Annotated[
    str, Input("1", r"\text{wrap}", "whether the axes close into rings", choices=("yes", "no"))
]
