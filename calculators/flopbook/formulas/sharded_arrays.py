"""Arrays on a mesh of devices: what each device holds, and what the product of two of them costs.

Ordinary Python on top of `flopbook.sharding` and of the collectives.
"""

from typing import Annotated, Any, NamedTuple

from flopbook.errors import FlopbookError
from flopbook.formulas.collectives import (
    Latency,
    LinksOfAxis,
    PortBandwidth,
    Wrap,
    collective,
)
from flopbook.formulas.declaration import Input, Output, formula
from flopbook.formulas.network_inputs import Peak
from flopbook.quantities.dtypes import DTYPE_BYTES
from flopbook.quantities.ops import inf, maximum
from flopbook.quantities.units import format_quantity
from flopbook.sharding.blocks import array_bytes, devices, local_shape, ways
from flopbook.sharding.notation import (
    Layout,
    read_array,
    read_layout,
    read_mesh,
    read_product,
    read_sizes,
)
from flopbook.sharding.products import Move, ProductPlan, plan_product

Mesh = Annotated[
    str,
    Input(
        "1",
        r"\text{mesh}",
        "mesh of devices: axes of one letter and their sizes, X=4,Y=8",
        text="MESH",
    ),
]
BOUNDS = ("arithmetic", "network")
MOST_AXES = 3  # of a torus that one collective uses


class _Sharded(NamedTuple):
    """An array on a mesh, read and checked."""

    mesh: dict[str, int]
    layout: Layout
    shape: tuple[int, ...]
    local: tuple[int, ...]
    width: float


def _sharded(array: str, layout: str, mesh: str) -> _Sharded:
    grid = read_mesh(mesh)
    lay = read_layout(layout).on(grid)
    dtype, shape = read_array(array)
    return _Sharded(grid, lay, shape, local_shape(shape, lay, grid), DTYPE_BYTES[dtype])


def _shard_working(array: str, layout: str, mesh: str) -> list[str]:
    """The steps of `shard` in words."""
    grid, lay, shape, local, width = _sharded(array, layout, mesh)
    lines = [f"the mesh {mesh} has {devices(grid):,} devices"]
    for dim, size, axes, part in zip(lay.dims, shape, lay.cuts, local, strict=True):
        by = " and ".join(f"{axis} ({grid[axis]})" for axis in axes)
        lines.append(
            f"{dim} of {size:,} is " + (f"cut by {by}: {part:,} each" if axes else "whole")
        )
    block = format_quantity(array_bytes(local, width), "byte")
    lines.append(
        f"a device holds {list(local)} values of {format_quantity(width, 'byte')}: {block}"
    )
    if lay.partial:
        terms = ways(grid, lay.partial)
        lines.append(
            f"along {', '.join(lay.partial)} devices hold {terms:,} terms of a sum, to be added up"
        )
    unused = [axis for axis in grid if grid[axis] > 1 and axis not in (*lay.spent, *lay.partial)]
    if unused:
        lines.append(
            f"along {', '.join(unused)} devices hold copies: {ways(grid, unused):,} of each block"
        )
    return lines


@formula(
    "shard",
    title="Sharded array",
    question="How much of a sharded array does each device hold, and which block?",
    outputs={
        "bytes_per_device": Output("byte", r"V_\text{device}", "the block of one device"),
        "bytes_total": Output("byte", r"V_\text{total}", "on all devices together, copies counted"),
        "copies": Output("1", "c", "devices that hold the same block"),
        "array_bytes": Output("byte", "V", "the array itself, once"),
        "terms": Output(
            "1", "u", "terms to be added up for a value; 1 where nothing is left to add"
        ),
        "devices": Output("chip", "N", "devices of the mesh"),
        "local_shape": Output("1", r"\text{local}", "sides of the block of one device"),
    },
    sources=("austin2025sharding",),
    examples=(
        {"array": "bf16[256,2048]", "layout": "A[I_XY, J]", "mesh": "X=4,Y=8,Z=2"},
        {"array": "int8[128,2048]", "layout": "A[I_X, J_Y]", "mesh": "X=2,Y=4"},
        {"array": "bf16[8192,8192]", "layout": "C[I_Y, K] {U_X}", "mesh": "X=4,Y=2"},
    ),
    working=_shard_working,
)
def shard(
    array: Annotated[
        str, Input("1", r"\text{array}", "number format and shape, bf16[256,2048]", text="ARRAY")
    ],
    layout: Annotated[
        str,
        Input(
            "1",
            r"\text{layout}",
            "which axes of the mesh cut which dimension, A[I_XY, J]",
            text="LAYOUT",
        ),
    ],
    mesh: Mesh,
) -> dict[str, Any]:
    """Bytes of a sharded array on each device and on all of them, and how many copies there are.

    Derivation:
        A subscript says which axes of the mesh cut a dimension: in A[I_XY, J] the first dimension
        is cut into as many blocks as X and Y have devices together, and the first axis named is the
        slow one. An axis can cut one dimension only. A device holds the block at its own
        coordinates; along axes that cut nothing, devices hold copies. With {U_Z} the devices along
        Z hold terms of a sum instead, each as large as the block, and the array is there only when
        they are added up.

        So bytes per device are the bytes of the array over the number of blocks, and devices times
        that is the array times copies times terms.

    Leaves out:
        Padding: a dimension has to divide here. Programs that pad the last block add less than one
        block in each dimension; chips pad blocks to whole tiles as well, which counts for narrow
        ones. Buffers of the collectives, which hold up to the gathered array for a while.
    """
    grid, lay, shape, local, width = _sharded(array, layout, mesh)
    count, terms = devices(grid), ways(grid, lay.partial)
    whole, block = array_bytes(shape, width), array_bytes(local, width)
    return {
        "bytes_per_device": block,
        "bytes_total": block * count,
        "copies": float(count // (ways(grid, lay.spent) * terms)),
        "array_bytes": whole,
        "terms": float(terms),
        "devices": float(count),
        "local_shape": tuple(float(side) for side in local),
    }


def _plan(product: str, dims: str, mesh: str, width: float) -> ProductPlan:
    return plan_product(read_product(product), read_sizes(dims), read_mesh(mesh), width)


def _seconds(plan: ProductPlan, mesh: dict[str, int], network: dict[str, Any]) -> list[float]:
    """The time of each collective of a plan, each axis of the mesh on an axis of the network of its
    own.
    """
    found = []
    switch = network["topology"] == "switch"
    for move in plan.collectives:
        if network["link_bandwidth"] == inf:
            found.append(0.0)  # nothing is known of the network: the output is open
            continue
        sides = [float(mesh[axis]) for axis in move.axes]
        count = 1 if switch else len(sides)
        if count > MOST_AXES:
            raise FlopbookError(
                f"{move} uses {count} axes at once; a torus has at most {MOST_AXES}"
            )
        given = {**network, "topology": "switch" if switch else "torus" if count > 1 else "ring"}
        if count > 1:
            given |= {"side_x": sides[0]} | ({"side_y": sides[1]} if count > 2 else {})
        chips = float(ways(mesh, move.axes))
        found.append(
            collective(op=move.op, bytes=move.bytes, chips=chips, axes=float(count), **given)[
                "seconds"
            ]
        )
    return found


def _matmul_working(
    product: str, dims: str, mesh: str, bytes_per_param: float, peak: float, **network: Any
) -> list[str]:
    """The steps of `sharded-matmul` in words."""
    plan = _plan(product, dims, mesh, bytes_per_param)
    network.pop("axes")
    times = dict(zip(plan.collectives, _seconds(plan, read_mesh(mesh), network), strict=True))
    known = network["link_bandwidth"] < inf

    def told(move: Move) -> str:
        if move.op == "slice":
            return f"cut {move.before} to {move.after}: each device drops what it does not need"
        time = f", {format_quantity(times[move], 's')}" if known else ""
        return f"{move}: {move.before} -> {move.after}, {format_quantity(move.bytes, 'byte')}{time}"

    lines = [f"case {case}" for case in plan.cases]
    lines += [told(move) for move in plan.before]
    local = f"multiply on each device: {plan.first} * {plan.second} -> {plan.result}"
    lines.append(f"{local}, {format_quantity(plan.flop, 'FLOP')}")
    if peak < inf:
        lines[-1] += f", {format_quantity(plan.flop / peak, 's')}"
    return [*lines, *(told(move) for move in plan.after)]


@formula(
    "sharded-matmul",
    title="Sharded matrix product",
    question=(
        "Which collectives does a product of sharded matrices need, and how long does it take?"
    ),
    outputs={
        "case": Output("1", r"\text{case}", "which of the four cases of sharded products occur"),
        "collectives": Output("1", r"\text{collectives}", "what has to be moved, in order"),
        "seconds": Output(
            "s",
            "T",
            "the longer of arithmetic and communication, when they overlap wholly",
            needs=("peak", "link_bandwidth"),
        ),
        "seconds_in_turn": Output(
            "s", r"T_\text{turn}", "both one after the other", needs=("peak", "link_bandwidth")
        ),
        "compute_seconds": Output(
            "s", r"T_\text{math}", "arithmetic of a device at its peak", needs=("peak",)
        ),
        "communication_seconds": Output(
            "s", r"T_\text{comm}", "all collectives, one after the other", needs=("link_bandwidth",)
        ),
        "bound": Output(
            "1",
            r"\text{bound}",
            "what takes longer",
            needs=("peak", "link_bandwidth"),
            choices=BOUNDS,
        ),
        "flop": Output("FLOP", "W", "arithmetic of one device"),
        "bytes": Output(
            "byte", "Q", "arrays that the collectives gather or add up, summed over collectives"
        ),
        "devices": Output("chip", "N", "devices of the mesh"),
    },
    sources=("austin2025sharding",),
    examples=(
        {
            "product": "A[I, J_X] * B[J_X, K] -> C[I, K]",
            "dims": "I=2048,J=8192,K=8192",
            "mesh": "X=4",
            "chip": "tpu-v5p",
        },
        {
            "product": "A[B_X, D] * W[D_X, F_Y] -> C[B_X, F_Y]",
            "dims": "B=16384,D=8192,F=32768",
            "mesh": "X=4,Y=4",
            "chip": "tpu-v5p",
        },
        {
            "product": "A[I_X, J] * B[J, K_X] -> C[I_X, K]",
            "dims": "I=4096,J=4096,K=4096",
            "mesh": "X=8",
            "chip": "h100-sxm",
        },
    ),
    working=_matmul_working,
)
def sharded_matmul(
    product: Annotated[
        str,
        Input(
            "1",
            r"\text{product}",
            "two factors and their result with the axes that cut them, "
            "A[I, J_X] * B[J_X, K] -> C[I, K]",
            text="PRODUCT",
        ),
    ],
    dims: Annotated[
        str,
        Input("1", r"\text{dims}", "sizes of all dimensions, I=4096,J=8192,K=1024", text="DIMS"),
    ],
    mesh: Mesh,
    bytes_per_param: Annotated[
        float,
        Input(
            "byte",
            "b",
            "width of a value, in memory and on the links",
            dtype="bytes",
            least=0.01,
            most=64,
        ),
    ] = 2.0,
    peak: Peak = inf,
    link_bandwidth: PortBandwidth = inf,
    topology: Annotated[
        str,
        Input(
            "1",
            r"\text{topology}",
            "how the chips are joined",
            chip="topology",
            choices=("ring", "torus", "switch"),
        ),
    ] = "torus",
    links_per_axis: LinksOfAxis = 2.0,
    axes: Annotated[
        float,
        Input(
            "1",
            "n",
            "axes of the torus; each carries one axis of the mesh",
            chip="torus_axes",
            least=1,
            whole=True,
            most=16,
        ),
    ] = inf,
    wrap: Wrap = "yes",
    latency: Latency = 1e-6,
) -> dict[str, Any]:
    """Collectives, arithmetic and time of a product of two matrices that lie in blocks on a mesh.

    Derivation:
        Blocks can be multiplied where they are unless a device lacks what its partner has. There
        are four cases. If no contracted dimension is cut, nothing moves. If the factors are cut
        differently there, as when one of them is whole, what is cut is gathered. If both are cut
        alike, each device makes a term of the sum, written {U_X}: an all-reduce adds the terms, or
        a reduce-scatter where the result is to be cut by that axis, for half the bytes. If one axis
        cuts a kept dimension of both factors, the devices would have the diagonal blocks only, so
        one factor is gathered first: the one whose axis the result does not have, or the one with
        the smaller block.

        What is left is to bring the result into the layout that was asked for. An axis that moves
        from one dimension to another is an all-to-all, one too many an all-gather, one too few
        costs nothing. Each collective is timed by the calculator of collectives, each axis of the
        mesh on an axis of the torus of its own; a switch has one port for all. Arithmetic is 2 FLOP
        for each triple of indices in the blocks of a device, so work that several devices do alike
        is counted on each.

    Leaves out:
        Cheaper plans: with one factor cut, the other may be cut for nothing and the result added
        up, which pays where the result is small; write the other factor as cut to see it. Overlap
        in part: the truth lies between `seconds` and `seconds_in_turn`. Peaks and links are printed
        ones, and no program reaches them. Partial sums sent in fp32 take twice the bytes of bf16.
        Memory traffic inside a device, see the arithmetic intensity.
    """
    grid = read_mesh(mesh)
    longer = [axis for axis in grid if grid[axis] > 1]
    if topology != "switch" and len(longer) > axes:
        raise FlopbookError(
            f"the mesh has {len(longer)} axes of more than one device ({', '.join(longer)}), and the network {axes:g}"
        )
    plan = _plan(product, dims, mesh, bytes_per_param)
    network = {
        "link_bandwidth": link_bandwidth,
        "topology": topology,
        "links_per_axis": links_per_axis,
        "wrap": wrap,
        "latency": latency,
    }
    compute, communication = plan.flop / peak, sum(_seconds(plan, grid, network))
    return {
        "case": plan.cases,
        "collectives": tuple(str(move) for move in plan.collectives),
        "seconds": maximum(compute, communication),
        "seconds_in_turn": compute + communication,
        "compute_seconds": compute,
        "communication_seconds": communication,
        "bound": BOUNDS[communication > compute],
        "flop": plan.flop,
        "bytes": float(sum(move.bytes for move in plan.collectives)),
        "devices": float(devices(grid)),
    }
