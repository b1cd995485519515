# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Sharded matrix products: what has to move, and how much?
#
# You will cut matrices into blocks, give each block to a device of a simulated mesh, and multiply.
# Sometimes nothing has to move, sometimes blocks must be gathered first, sometimes partial sums
# must be added up afterwards. You run all four cases with messages from neighbour to neighbour,
# count the bytes of each link, and compare with the calculators.
#
# To follow along on your own computer, in a clone of the repository:
# `pip install . numpy matplotlib`. No GPU is needed.
#
# ## Set up
#
# This cell loads flopbook and NumPy and sets the look of the figures.

# %%
import matplotlib.pyplot as plt
import numpy as np

import flopbook
from flopbook.drawing.plotting import COLOURS, show, use_style
from flopbook.sharding.blocks import coordinates, devices, number, place
from flopbook.sharding.notation import read_layout, read_mesh

use_style()

# %% [markdown]
# ## Arrays on a mesh
#
# A mesh is a grid of devices with named axes, here X with four devices and Y with two. A subscript
# in a layout says which axis cuts which dimension: `A[I_X, J]` is cut into four bands of rows.
# Devices along Y then hold the same band: they have copies.

# %%
MESH = "X=4,Y=2"
mesh = read_mesh(MESH)
SIZES = {"I": 32, "J": 64, "K": 48}
WIDTH = 8  # bytes of a value in NumPy's fp64


def shard(array, layout):
    """The block of each device, by the number of the device."""
    layout = read_layout(layout)
    found = []
    for device in range(devices(mesh)):
        block = array
        at = place(layout, mesh, coordinates(mesh, device))
        for axis, (index, names) in enumerate(zip(at, layout.cuts, strict=True)):
            pieces = int(np.prod([mesh[name] for name in names]))
            block = np.split(block, pieces, axis)[index]
        found.append(block.copy())
    return found


random = np.random.default_rng(0)
A, B = (
    random.standard_normal((SIZES["I"], SIZES["J"])),
    random.standard_normal((SIZES["J"], SIZES["K"])),
)
LAYOUTS = ("A[I, J]", "A[I_X, J]", "A[I, J_Y]", "A[I_X, J_Y]", "A[I_XY, J]")
for layout in LAYOUTS:
    blocks = shard(A, layout)
    told = flopbook.calculate(
        "shard", array=f"fp64[{A.shape[0]},{A.shape[1]}]", layout=layout, mesh=MESH
    )
    print(
        f"{layout:<12} block {blocks[0].shape!s:<9} {blocks[0].nbytes:>6,} bytes, calculator "
        f"{told['bytes_per_device']:>6,.0f}, copies {told['copies']:.0f}"
    )

# %% [markdown]
# The figure shows which device holds which part of the matrix, for four of these layouts. Each
# patch is a block, and the numbers in it are the devices that have it.

# %%
fig, panels = plt.subplots(1, 4, figsize=(7.2, 2.9))
for ax, layout in zip(panels, LAYOUTS[1:], strict=True):
    read, owners = read_layout(layout), {}
    for device in range(devices(mesh)):
        owners.setdefault(place(read, mesh, coordinates(mesh, device)), []).append(device)
    rows, columns = (1 + max(at[i] for at in owners) for i in (0, 1))
    for (i, j), who in owners.items():
        patch = plt.Rectangle(
            (j / columns, i / rows),
            1 / columns,
            1 / rows,
            fill=True,
            alpha=0.25,
            facecolor=COLOURS[(i + j) % 2],
            edgecolor=COLOURS[0],
        )
        ax.add_patch(patch)
        ax.text(
            (j + 0.5) / columns,
            (i + 0.5) / rows,
            " ".join(map(str, who)),
            ha="center",
            va="center",
            fontsize=9,
        )
    ax.set(xlim=(0, 1), ylim=(1, 0), xticks=[], yticks=[], title=layout, xlabel="J")
    ax.set_ylabel("I", rotation=0)
    ax.grid(False)
show("Which of eight devices holds which block of a matrix in four layouts")

# %% [markdown]
# ## Messages around a ring
#
# Devices that differ only in their place on one axis form a ring. Two collectives are enough for
# all four cases. In an *all-gather* each device passes on what it received last, until everybody
# has all the blocks. In a *reduce-scatter* pieces of sums travel around and pick up a term from
# each device. An *all-reduce* is the second and then the first. Every message goes to the next
# device, and its bytes are counted on that link.

# %%
traffic = {}


def send(source, target, block):
    """One message over one link."""
    traffic[source, target] = traffic.get((source, target), 0) + block.nbytes
    return block.copy()


def rings(axis):
    """The groups of devices that an axis joins, each in the order of its ring."""
    for device in range(devices(mesh)):
        at = coordinates(mesh, device)
        if at[axis] == 0:
            yield [number(mesh, {**at, axis: n}) for n in range(mesh[axis])]


def all_gather(blocks, axis, dimension):
    """Each device gets the blocks of its ring, joined along a dimension."""
    out = [None] * len(blocks)
    for ring in rings(axis):
        size = len(ring)
        held = [{n: blocks[device]} for n, device in enumerate(ring)]
        for step in range(size - 1):
            moved = [((n - step) % size, held[n][(n - step) % size]) for n in range(size)]
            for n, (which, block) in enumerate(moved):
                held[(n + 1) % size][which] = send(ring[n], ring[(n + 1) % size], block)
        for n, device in enumerate(ring):
            out[device] = np.concatenate([held[n][which] for which in range(size)], dimension)
    return out


def reduce_scatter(blocks, axis, dimension):
    """Each device gets its piece of the sum over its ring, cut along a dimension."""
    out = [None] * len(blocks)
    for ring in rings(axis):
        size = len(ring)
        pieces = [np.split(blocks[device], size, dimension) for device in ring]
        for step in range(size - 1):
            moved = [((n - step - 1) % size, pieces[n][(n - step - 1) % size]) for n in range(size)]
            for n, (which, block) in enumerate(moved):
                there = pieces[(n + 1) % size]
                there[which] = there[which] + send(ring[n], ring[(n + 1) % size], block)
        for n, device in enumerate(ring):
            out[device] = pieces[n][n]
    return out


def all_reduce(blocks, axis):
    """Each device gets the whole sum over its ring."""
    return all_gather(reduce_scatter(blocks, axis, 0), axis, 0)


# %% [markdown]
# ## Four cases
#
# Which case it is depends on the contracted dimension J, the one that is summed over.
#
# 1. J is whole on both sides: each device multiplies what it has. Nothing moves.
# 2. J is cut on one side only: that factor is gathered first.
# 3. J is cut alike on both sides: each device has some of the terms of every sum. Multiply first,
#    then add up: with an all-reduce, or with a reduce-scatter if the result may be cut.
# 4. One axis cuts the rows of A and the columns of B: a device has the blocks for its own corner of
#    C only. One factor is gathered.
#
# The program of each case is a few lines. `multiply` is the only place where arithmetic happens.

# %%
flop = {}


def multiply(first, second):
    """The local product on every device."""
    for device, (a, b) in enumerate(zip(first, second, strict=True)):
        flop[device] = flop.get(device, 0) + 2 * a.shape[0] * a.shape[1] * b.shape[1]
    return [a @ b for a, b in zip(first, second, strict=True)]


PROGRAMS = {
    "A[I_X, J] * B[J, K_Y] -> C[I_X, K_Y]": multiply,
    "A[I, J_X] * B[J, K] -> C[I, K]": lambda a, b: multiply(all_gather(a, "X", 1), b),
    "A[I, J_X] * B[J_X, K] -> C[I, K]": lambda a, b: all_reduce(multiply(a, b), "X"),
    "A[I, J_X] * B[J_X, K] -> C[I, K_X]": lambda a, b: reduce_scatter(multiply(a, b), "X", 1),
    "A[I_X, J] * B[J, K_X] -> C[I_X, K]": lambda a, b: multiply(a, all_gather(b, "X", 1)),
}


def run(product):
    """Do a product on the mesh.

    Returns the largest error of a block, bytes of the busiest link, FLOP of a device.
    """
    traffic.clear()
    flop.clear()
    factors, _, result = product.partition(" -> ")
    first, second = factors.split(" * ")
    found = PROGRAMS[product](shard(A, first), shard(B, second))
    error = max(np.abs(f - r).max() for f, r in zip(found, shard(A @ B, result), strict=True))
    return error, max(traffic.values(), default=0), max(flop.values())


# %% [markdown]
# ## Does it agree?
#
# The calculator of sharded products gets the same line of text and says which collectives it takes.
# The one of collectives says how many bytes each link carries; these rings go one way around, so it
# is told that there is one link to the next device. Counted and computed must be equal, byte for
# byte.

# %%
DIMS = ",".join(f"{name}={size}" for name, size in SIZES.items())


def told(product):
    """The plan of the calculators: the answer, and bytes of a link summed over the collectives of
    the plan.
    """
    answer = flopbook.calculate(
        "sharded-matmul", product=product, dims=DIMS, mesh=MESH, bytes_per_param=WIDTH
    )
    size = answer["bytes"]  # at most one collective in each case here
    link = {"topology": "ring", "link_bandwidth": 1e9, "links_per_axis": 1, "chips": mesh["X"]}
    ops = [name.split(" of ")[0] for name in answer["collectives"]]
    return answer, sum(
        flopbook.calculate("collective", op=op, bytes=size, **link)["bytes_per_link"] for op in ops
    )


runs = {product: run(product) for product in PROGRAMS}
plans = {product: told(product) for product in PROGRAMS}
for product, (error, most, work) in runs.items():
    answer, computed = plans[product]
    print(product)
    print(f"    case {answer['case'][0]}; {', '.join(answer['collectives']) or 'nothing moves'}")
    print(f"    busiest link: {most:,} bytes counted, {computed:,.0f} computed")
    print(
        f"    arithmetic:   {work:,} FLOP counted, {answer['flop']:,.0f} computed; error "
        f"{error:.0e}"
    )

# %% [markdown]
# ## Which costs most?
#
# The figure shows the bytes of the busiest link in each case, counted as bars and computed as dots.
# An all-reduce costs twice a reduce-scatter of the same array. Gathering is cheap where the factor
# is small.

# %%
fig, ax = plt.subplots(figsize=(7.2, 3.6))
rows = list(range(len(runs)))
ax.barh(
    rows,
    [most for _, most, _ in runs.values()],
    color=COLOURS[0],
    alpha=0.4,
    height=0.6,
    label="counted",
)
ax.plot([computed for _, computed in plans.values()], rows, "o", color=COLOURS[1], label="computed")
labels = [
    f"{n}. {' * '.join(p.split(' * '))}".replace(" -> ", "\n-> ")
    for n, p in zip("12334", runs, strict=True)
]
ax.set_yticks(rows, labels, fontsize=8)
ax.invert_yaxis()
ax.set(xlabel="bytes through the busiest link", ylabel="case and product")
ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
ax.legend(loc="upper right")
show("Bytes of the busiest link for five sharded products, counted and computed")

# %% [markdown]
# ## On real chips
#
# The same calculator tells times. Here is case 3 with the second matrix of a feed-forward block of
# Llama 3 70B and 4,096 tokens, on four TPU v5p in a ring and on sixteen. More chips share the
# arithmetic, but the sums are as large as before, so at some number of chips the network becomes
# the limit. A result that may stay cut needs half of the traffic. The batch plays no part:
# arithmetic and traffic both grow with it.

# %%
big = flopbook.model("llama-3-70b")


def on_chips(result, ways, tokens=4096):
    """Times of the product on TPU v5p, J cut so many ways."""
    dims = f"I={tokens},J={big.d_ff:.0f},K={big.d_model:.0f}"
    product = f"A[I, J_X] * B[J_X, K] -> {result}"
    return flopbook.calculate(
        "sharded-matmul", product=product, mesh=f"X={ways}", chip="tpu-v5p", dims=dims
    )


times = {
    (result, ways): on_chips(result, ways)
    for ways in (4, 16)
    for result in ("C[I, K]", "C[I, K_X]")
}
for (result, ways), answer in times.items():
    print(
        f"{ways:>2} ways, {result:<10} arithmetic {answer['compute_seconds'] * 1e6:>5,.0f} us, "
        f"network {answer['communication_seconds'] * 1e6:>4,.0f} us: limited by {answer['bound']}"
    )

# %% [markdown]
# ## Try it
#
# - Do case 2 the other way: cut B along J for nothing and add up. When is that cheaper?
# - Write a program for `A[I_X, J] * B[J, K_X] -> C[I, K_X]`. Which factor must move?
# - Send half of each block to the left and half to the right. What becomes of the busiest link?
#
# ## Check
#
# The claims of this page, as assertions. They run with the tests of flopbook and again each time
# the page is built.

# %%
for layout in LAYOUTS:
    blocks = shard(A, layout)
    shape = flopbook.calculate(
        "shard", array=f"fp64[{A.shape[0]},{A.shape[1]}]", layout=layout, mesh=MESH
    )
    assert all(block.nbytes == shape["bytes_per_device"] for block in blocks)
    assert (
        sum(block.nbytes for block in blocks) == shape["bytes_total"] == A.nbytes * shape["copies"]
    )
for product, (error, most, work) in runs.items():
    answer, computed = plans[product]
    assert error < 1e-12 and most == computed and work == answer["flop"]
assert [plans[product][0]["case"][0][0] for product in runs] == list("12334")
moved = [most for _, most, _ in runs.values()]
assert (
    moved[0] == 0 and moved[2] == 2 * moved[3]
)  # nothing moves; an all-reduce is two of the others
for product in PROGRAMS:  # all devices of a ring carry the same load
    run(product)
    assert len(set(traffic.values())) <= 1 and len(set(flop.values())) == 1
for ways in (4, 16):
    whole, cut = times["C[I, K]", ways], times["C[I, K_X]", ways]
    assert np.isclose(whole["communication_seconds"], 2 * cut["communication_seconds"])
    assert np.isclose(whole["compute_seconds"], cut["compute_seconds"])
    assert np.isclose(
        on_chips("C[I, K]", ways, 8192)["communication_seconds"],
        2 * whole["communication_seconds"],
        rtol=0.02,  # the hops take as long for twice the bytes
    )
assert times["C[I, K]", 4]["bound"] == "arithmetic" and times["C[I, K]", 16]["bound"] == "network"
print("all checks passed")
