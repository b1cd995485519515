"""Arrays on a mesh of devices: what each device holds, and what the product of two of them costs.

Ordinary Python on top of `flopbook.sharding` and of the collectives.
"""

from typing import Any, NamedTuple

from flopbook.errors import FlopbookError
from flopbook.formulas.collective_inputs import Latency, LinksOfAxis
from flopbook.formulas.collectives import collective
from flopbook.formulas.declaration import Output, formula
from flopbook.formulas.network_inputs import LinkBandwidth, Peak
from flopbook.formulas.omissions import omission
from flopbook.formulas.optimizer_states import FP32
from flopbook.formulas.sharded_inputs import (
    ArrayText,
    LayoutText,
    MeshText,
    ProductText,
    SizesText,
    Topology,
    TorusAxes,
    ValueBytes,
    Wrap,
)
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

BOUNDS = ("arithmetic", "network")
SUMMING = ("all-reduce", "reduce-scatter")
TORUS = ("ring", "torus")  # each axis of the mesh needs an axis of the network
MOST_AXES = 3  # of a torus that one collective uses


class _Sharded(NamedTuple):
    """An array on a mesh, read and checked."""

    mesh: dict[str, int]
    layout: Layout
    shape: tuple[int, ...]
    local: tuple[int, ...]
    width: float


class _Network(NamedTuple):
    """What joins the chips, by the names of the inputs of `collective`."""

    link_bandwidth: float
    topology: str
    links_per_axis: float
    wrap: str
    latency: float


def _read_sharded(array: str, layout: str, mesh: str) -> _Sharded:
    sizes = read_mesh(mesh)
    on_mesh = read_layout(layout).on(sizes)
    dtype, shape = read_array(array)
    local = local_shape(shape, on_mesh, sizes)
    return _Sharded(sizes, on_mesh, shape, local, DTYPE_BYTES[dtype])


def _shard_working(array: str, layout: str, mesh: str) -> list[str]:
    """The steps of `shard` in words."""
    sizes, on_mesh, shape, local, width = _read_sharded(array, layout, mesh)
    lines = [f"the mesh {mesh} has {devices(sizes):,} devices"]
    for dim, size, axes, side in zip(on_mesh.dims, shape, on_mesh.cuts, local, strict=True):
        if axes:
            cutting = " and ".join(f"{axis} ({sizes[axis]})" for axis in axes)
            lines.append(f"{dim} of {size:,} is cut by {cutting}: {side:,} each")
        else:
            lines.append(f"{dim} of {size:,} is whole")
    block = format_quantity(array_bytes(local, width), "byte")
    entry = format_quantity(width, "byte")
    lines.append(f"a device holds {list(local)} values of {entry}: {block}")
    if on_mesh.partial:
        axes_text, terms = ", ".join(on_mesh.partial), ways(sizes, on_mesh.partial)
        lines.append(f"along {axes_text} devices hold {terms:,} terms of a sum, to be added up")
    used = (*on_mesh.spent, *on_mesh.partial)
    unused = [axis for axis, size in sizes.items() if size > 1 and axis not in used]
    if unused:
        copies = ways(sizes, unused)
        lines.append(f"along {', '.join(unused)} devices hold copies: {copies:,} of each block")
    return lines


@formula(
    "shard",
    title="Sharded array",
    question="How much of a sharded array does each device hold, and which block?",
    outputs={
        "bytes_per_device": Output("byte", r"V_\text{device}", "shard of one device"),
        "bytes_total": Output("byte", r"V_\text{total}", "all devices together, replicas counted"),
        "copies": Output("1", "c", "replicas of each shard"),
        "array_bytes": Output("byte", "V", "unsharded array"),
        "terms": Output("1", "u", "partial sums per value; 1 where none are left to reduce"),
        "devices": Output("chip", "N", "devices in the mesh"),
        "local_shape": Output("1", r"\text{local}", "shape of a shard"),
    },
    sources=("austin2025sharding",),
    asks=("array", "layout", "mesh"),
    examples=(
        {"array": "bf16[256,2048]", "layout": "A[I_XY, J]", "mesh": "X=4,Y=8,Z=2"},
        {"array": "int8[128,2048]", "layout": "A[I_X, J_Y]", "mesh": "X=2,Y=4"},
        {"array": "bf16[8192,8192]", "layout": "C[I_Y, K] {U_X}", "mesh": "X=4,Y=2"},
    ),
    working=_shard_working,
)
def shard(array: ArrayText, layout: LayoutText, mesh: MeshText) -> dict[str, Any]:
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
        - Padding: a dimension has to divide here. Programs that pad the last block add less than
          one block in each dimension. [no size: what does not divide is refused]
        - Whole tiles to which chips pad narrow blocks. [no size: it depends on the layout of the
          chip]
        - Buffers of the collectives, which hold up to the gathered array for a while. [no size: it
          depends on the program]
    """
    sizes, on_mesh, shape, local, width = _read_sharded(array, layout, mesh)
    count, terms = devices(sizes), ways(sizes, on_mesh.partial)
    bytes_per_device = array_bytes(local, width)
    return {
        "bytes_per_device": bytes_per_device,
        "bytes_total": bytes_per_device * count,
        "copies": float(count // (ways(sizes, on_mesh.spent) * terms)),
        "array_bytes": array_bytes(shape, width),
        "terms": float(terms),
        "devices": float(count),
        "local_shape": tuple(float(side) for side in local),
    }


def _check_axes(mesh: dict[str, int], torus_axes: float) -> None:
    """Raise FlopbookError for a mesh of more axes than the torus has."""
    longer = [axis for axis, size in mesh.items() if size > 1]
    if len(longer) > torus_axes:
        raise FlopbookError(
            f"the mesh has {len(longer)} axes of more than one device ({', '.join(longer)}), "
            f"and the network {torus_axes:g}"
        )


def _plan(product: str, dims: str, mesh: str, width: float) -> ProductPlan:
    return plan_product(read_product(product), read_sizes(dims), read_mesh(mesh), width)


def _seconds(move: Move, mesh: dict[str, int], network: _Network) -> float:
    """The time of a collective, each axis of the mesh on an axis of the network of its own."""
    if network.link_bandwidth == inf:
        return 0.0  # nothing is known of the network: the output is open
    links = {**network._asdict(), **_shape(move, mesh, network)}
    chips = float(ways(mesh, move.axes))
    seconds: float = collective(op=move.op, bytes=move.bytes, chips=chips, **links)["seconds"]
    return seconds


def _shape(move: Move, mesh: dict[str, int], network: _Network) -> dict[str, Any]:
    """The part of the network that a collective uses, as inputs of `collective`."""
    if network.topology not in TORUS:
        return {"topology": network.topology}
    sides = [float(mesh[axis]) for axis in move.axes]
    if len(sides) == 1:
        return {"topology": "ring"}
    if len(sides) > MOST_AXES:
        raise FlopbookError(
            f"{move} uses {len(sides)} axes at once; a torus has at most {MOST_AXES}"
        )
    shape = {"topology": "torus", "axes": float(len(sides)), "side_x": sides[0]}
    if len(sides) == MOST_AXES:
        shape["side_y"] = sides[1]  # with two axes it follows from the chips
    return shape


def _matmul_working(
    product: str, dims: str, mesh: str, bytes_per_param: float, peak: float, **network: Any
) -> list[str]:
    """The steps of `sharded-matmul` in words."""
    network.pop("axes")  # a bound on the mesh, checked before
    links, sizes = _Network(**network), read_mesh(mesh)
    plan = _plan(product, dims, mesh, bytes_per_param)
    multiply = (
        f"multiply on each device: {plan.first} * {plan.second} -> {plan.result}, "
        f"{format_quantity(plan.flop, 'FLOP')}"
    )
    if peak < inf:
        multiply += f", {format_quantity(plan.flop / peak, 's')}"
    return [
        *(f"case {case}" for case in plan.cases),
        *(_describe(move, sizes, links) for move in plan.before),
        multiply,
        *(_describe(move, sizes, links) for move in plan.after),
    ]


def _describe(move: Move, mesh: dict[str, int], network: _Network) -> str:
    if move.op == "slice":
        return f"cut {move.before} to {move.after}: each device drops what it does not need"
    moved = format_quantity(move.bytes, "byte")
    line = f"{move}: {move.before} -> {move.after}, {moved}"
    if network.link_bandwidth < inf:
        line += f", {format_quantity(_seconds(move, mesh, network), 's')}"
    return line


@omission(
    "partial sums travel as wide as values: in fp32, as they are added up, collectives that sum "
    "take longer, --bytes-per-param 4 ({size})",
    of="seconds",
)
def sums_in_fp32(
    product: str,
    dims: str,
    mesh: str,
    bytes_per_param: float,
    link_bandwidth: float,
    topology: str,
    links_per_axis: float,
    wrap: str,
    latency: float,
    compute_seconds: float,
    seconds: float,
) -> float:
    """What wider sums take beyond the arithmetic that hides them."""
    if not seconds:
        return 0.0  # without rates there are no times
    sizes = read_mesh(mesh)
    network = _Network(link_bandwidth, topology, links_per_axis, wrap, latency)
    wider = max(FP32 / bytes_per_param, 1)
    moves = _plan(product, dims, mesh, bytes_per_param).collectives
    summed = [
        move._replace(bytes=move.bytes * wider) if move.op in SUMMING else move for move in moves
    ]
    communication = sum(_seconds(move, sizes, network) for move in summed)
    return float(maximum(compute_seconds, communication) / seconds - 1)


@formula(
    "sharded-matmul",
    title="Sharded matrix product",
    question=(
        "Which collectives does a product of sharded matrices need, and how long does it take?"
    ),
    outputs={
        "case": Output("1", r"\text{case}", "case of the sharded product, one to four"),
        "collectives": Output("1", r"\text{collectives}", "collectives, in order"),
        "seconds": Output(
            "s",
            "T",
            "time with compute and communication fully overlapped",
            needs=("peak", "link_bandwidth"),
        ),
        "seconds_in_turn": Output(
            "s", r"T_\text{turn}", "time without overlap", needs=("peak", "link_bandwidth")
        ),
        "compute_seconds": Output("s", r"T_\text{math}", "compute time at peak", needs=("peak",)),
        "communication_seconds": Output(
            "s",
            r"T_\text{comm}",
            "communication time, collectives one after another",
            needs=("link_bandwidth",),
        ),
        "bound": Output(
            "1",
            r"\text{bound}",
            "bottleneck",
            needs=("peak", "link_bandwidth"),
            choices=BOUNDS,
        ),
        "flop": Output("FLOP", "W", "FLOPs of one device"),
        "bytes": Output("byte", "Q", "communication volume: arrays gathered or reduced"),
        "devices": Output("chip", "N", "devices in the mesh"),
    },
    sources=("austin2025sharding",),
    asks=("product", "dims", "mesh", "chip"),
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
    omissions=(sums_in_fp32,),
)
def sharded_matmul(
    product: ProductText,
    dims: SizesText,
    mesh: MeshText,
    bytes_per_param: ValueBytes = 2.0,
    peak: Peak = inf,
    link_bandwidth: LinkBandwidth = inf,
    topology: Topology = "torus",
    links_per_axis: LinksOfAxis = 2.0,
    axes: TorusAxes = inf,
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
        mesh on an axis of the torus of its own; a switch has one port for all, and chips that are
        wired in pairs have a link to each of the others that takes part. Arithmetic is 2 FLOP for
        each triple of indices in the blocks of a device, so work that several devices do alike is
        counted on each.

    Leaves out:
        - Cheaper plans: with one factor sharded, the other may be sliced for nothing and the result
          reduced, which pays where the result is small. [no size: write the other factor as sharded
          to see it]
        - Overlap in part. [no size: the truth lies between `seconds` and `seconds_in_turn`]
        - What programs reach of printed peaks and links. [no size: see the tables of measured
          against computed]
        - Partial sums sent in fp32, twice the bytes of bf16. [sums_in_fp32]
        - Memory traffic inside a device. [no size: see the arithmetic intensity]
    """
    sizes = read_mesh(mesh)
    if topology in TORUS:
        _check_axes(sizes, axes)
    plan = _plan(product, dims, mesh, bytes_per_param)
    network = _Network(link_bandwidth, topology, links_per_axis, wrap, latency)
    compute = plan.flop / peak
    communication = sum((_seconds(move, sizes, network) for move in plan.collectives), 0.0)
    return {
        "case": plan.cases,
        "collectives": tuple(str(move) for move in plan.collectives),
        "seconds": maximum(compute, communication),
        "seconds_in_turn": compute + communication,
        "compute_seconds": compute,
        "communication_seconds": communication,
        "bound": "network" if communication > compute else "arithmetic",
        "flop": plan.flop,
        "bytes": float(sum(move.bytes for move in plan.collectives)),
        "devices": float(devices(sizes)),
    }
