# ---
# jupyter:
#   flopbook:
#     extra: jax
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
# # A mesh of eight devices in JAX: what does the compiler move?
#
# You will cut arrays into blocks, lay them on eight devices and multiply them. Which blocks have to
# travel is decided by a compiler. You read its program, find every collective in it, and hold names
# and bytes against what flopbook says beforehand. Mostly they agree. Where they do not, you see
# what the compiler did instead.
#
# The eight devices are simulated: JAX lets the processor of one computer play all of them. Times
# would mean nothing there, so nothing is timed. What moves is the same as on real ones.
#
# To follow along on your own computer, in a clone of the repository:
# `pip install '.[jax]' matplotlib`. No GPU is needed.
#
# ## Set up
#
# This cell loads flopbook and NumPy and sets the look of the figures.

# %%
import matplotlib.pyplot as plt
import numpy as np

import flopbook
from flopbook.drawing.plotting import COLOURS, show, use_style

use_style()

# %% [markdown]
# JAX has to be told the number of devices before it is used for the first time.

# %%
import math
import re

import jax

jax.config.update("jax_platforms", "cpu")  # on a machine with a GPU too
jax.config.update("jax_num_cpu_devices", 8)

# %% [markdown]
# ## Eight devices on a grid
#
# A mesh gives the devices coordinates. This one is four long along X and two long along Y. A layout
# such as `A[I_X, J]` says which axis cuts which dimension: here the rows are cut along X, and Y
# holds copies. JAX writes the same layout as a list with one entry for each dimension.
#
# The loop lays a matrix on the mesh in four ways and compares the block of a device with what
# `flopbook.calculate("shard", ...)` says about it.

# %%
mesh = jax.make_mesh((4, 2), ("X", "Y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
MESH = "X=4,Y=2"


def sharding(layout):
    """A layout of flopbook, like A[I_X, J] or A[I_XY, J], as JAX writes it."""
    dims = re.search(r"\[(.*)\]", layout)[1].split(",")
    cuts = [tuple(dim.partition("_")[2].strip()) or None for dim in dims]
    return jax.NamedSharding(mesh, jax.P(*cuts))


matrix = np.arange(256 * 512, dtype=np.float32).reshape(256, 512)
blocks = {}
for layout in ("A[I, J]", "A[I_X, J]", "A[I_Y, J_X]", "A[I_XY, J]"):
    placed = jax.device_put(matrix, sharding(layout))
    answer = flopbook.calculate("shard", array="fp32[256,512]", layout=layout, mesh=MESH)
    blocks[layout] = (placed.addressable_shards[0].data, answer)
    rows, columns = answer["local_shape"]
    print(f"{layout:<12} JAX: block of {placed.addressable_shards[0].data.shape}", end="    ")
    print(f"flopbook: block of {rows:.0f} by {columns:.0f}, on {answer['copies']:.0f} of 8 devices")

# %% [markdown]
# ## Reading a compiled program
#
# Before JAX runs a function it compiles it for all devices at once. The program can be printed. A
# collective is a line of it, with the shape that is left on each device when it is done. Here a
# matrix cut by its columns is multiplied by a whole one.


# %%
def multiply(product, sizes):
    """The compiled program for a product of two fp32 matrices in given layouts.

    Nothing is computed.
    """
    first, second, result = re.findall(r"\w+\[.*?\]", product)
    i, j, k = sizes
    a = jax.ShapeDtypeStruct((i, j), np.float32, sharding=sharding(first))
    b = jax.ShapeDtypeStruct((j, k), np.float32, sharding=sharding(second))
    return jax.jit(lambda a, b: a @ b, out_shardings=sharding(result)).lower(a, b).compile()


for line in multiply("A[I, J_X] * B[J, K] -> C[I, K]", (256, 512, 128)).as_text().splitlines():
    if "all-gather(" in line:
        print(line.strip().partition(", use_global")[0].replace(", ", ",\n    "))

# %% [markdown]
# The part in square brackets after `f32` is a shape: the gathered matrix has all of its columns.
# The next cell reads such lines. It gives the bytes of the *whole* array, all blocks of a group
# together, as flopbook does. For an all-gather and an all-reduce that is what is left on each
# device. For a reduce-scatter and an all-to-all it is as many times that as devices take part. Of a
# permute it counts what one device hands on. You can skip reading it.


# %%
SHAPE = re.compile(r"f32\[([\d,]*)\]")
MOVE = re.compile(r"= (.*?) (all-gather|all-reduce|reduce-scatter|all-to-all|collective-permute)\(")


def together(line):
    """How many devices take part in a collective; the compiler writes its groups in three ways."""
    if found := re.search(r"replica_groups=\{\{([\d,]+)\}", line):  # {{0,1,2,3},{4,5,6,7}}
        return found[1].count(",") + 1
    if found := re.search(r"replica_groups=\[\d+,(\d+)\]", line):  # [2,4]<=[8]: 2 groups of 4
        return int(found[1])
    sizes = dict(re.findall(r"'(\w+)'=(\d+)", line))  # mesh['axis_0'=4,'axis_1'=2] {'axis_0'}
    group = re.search(r"\{('[^}]*)\}", line)
    return math.prod(
        int(part or sizes[name])
        for name, part in re.findall(r"'(\w+)'(?::\(\d+\)(\d+))?", group[1])
    )


def moves(compiled):
    """The collectives of a compiled program: name and bytes of the whole array, as a group holds it
    together.
    """
    found = []
    for line in compiled.as_text().splitlines():
        if match := MOVE.search(line):
            shapes = [[int(n) for n in dims.split(",") if n] for dims in SHAPE.findall(match[1])]
            left = sum(4 * math.prod(shape) for shape in shapes)  # fp32, on each device
            blocks = together(line) if match[2] in ("reduce-scatter", "all-to-all") else 1
            found.append((match[2], blocks * left))
    return found


# %% [markdown]
# ## The four cases
#
# A product of matrices needs a collective or not, depending on where the cuts are. There are four
# cases, and the third comes in two kinds. For each the cell prints what flopbook says and what the
# compiled program holds. The matrices are large; compiling needs no memory for them.

# %%
SIZES = (8192, 16384, 4096)
DIMS = "I=8192,J=16384,K=4096"
CASES = {
    "1": "A[I_X, J] * B[J, K_Y] -> C[I_X, K_Y]",
    "2": "A[I, J_X] * B[J, K] -> C[I, K]",
    "3": "A[I, J_X] * B[J_X, K] -> C[I, K]",
    "3, cut": "A[I, J_X] * B[J_X, K] -> C[I_X, K]",
    "4": "A[I_X, J] * B[J, K_X] -> C[I_X, K]",
}


def text(found):
    """Collectives with their bytes, in words."""
    return (
        ", ".join(f"{name} of {flopbook.format_quantity(size, 'byte')}" for name, size in found)
        or "nothing"
    )


rule, program, work = {}, {}, {}
for case, product in CASES.items():
    answer = flopbook.calculate(
        "sharded-matmul", product=product, dims=DIMS, mesh=MESH, dtype="fp32"
    )
    rule[case] = [(name.split()[0], answer["bytes"]) for name in answer["collectives"]]
    compiled = multiply(product, SIZES)
    program[case] = moves(compiled)
    work[case] = (answer["flop"], compiled.cost_analysis()["flops"])
    print(f"case {case:<7} {product}")
    print(f"    flopbook: {text(rule[case])}\n    compiler: {text(program[case])}")

# %% [markdown]
# Four of the five agree in name and bytes. The fourth does not. Its result is to be cut, so the
# sums can be added up and dealt out in one go, a reduce-scatter. The compiler for the processor
# adds them up everywhere with an all-reduce, and then each device throws three quarters away. The
# answer is right. On links it would cost twice as much. Compilers for other devices may do better;
# so look before you assume.
#
# The figure shows what the links would carry: the bytes that each device sends on a ring of four,
# for the collectives of the rule and for those of the program.


# %%
def sent(found):
    """GB that each device sends for these collectives on a ring of four, all one way round."""
    ring = {"topology": "ring", "chips": 4, "links_per_axis": 1, "link_bandwidth": 1e9}
    answers = [
        flopbook.calculate("collective", op=name, bytes=size, **ring) for name, size in found
    ]
    return sum(answer["bytes_per_link"] for answer in answers) / 1e9


fig, ax = plt.subplots()
places = np.arange(len(CASES))
for shift, found, label, shade in (
    (-0.2, rule, "flopbook", COLOURS[0]),
    (0.2, program, "compiler", COLOURS[1]),
):
    ax.bar(places + shift, [sent(found[case]) for case in CASES], 0.38, label=label, color=shade)
ax.set_xticks(places, [f"case {case}" for case in CASES])
ax.grid(axis="x", visible=False)
ax.set(xlabel="where the cuts are", ylabel="sent by each device (GB)")
ax.legend()
show("Bytes that each device sends on a ring in the four cases, by the rule and by the compiler")

# %% [markdown]
# ## The answers are right
#
# The same five programs with numbers in them, on small matrices. NumPy multiplies the whole ones.

# %%
dice = np.random.default_rng(6)
left, right = (dice.normal(size=shape).astype(np.float32) for shape in ((256, 512), (512, 128)))
errors = {}
for case, product in CASES.items():
    first, second, _ = re.findall(r"\w+\[.*?\]", product)
    a, b = jax.device_put(left, sharding(first)), jax.device_put(right, sharding(second))
    result = multiply(product, (256, 512, 128))(a, b)
    errors[case] = float(
        np.abs(np.asarray(result) - left @ right).max() / np.abs(left @ right).max()
    )
    within = "within rounding of NumPy" if errors[case] < 1e-5 else "NOT what NumPy says"
    print(f"case {case:<7} {within}, laid out as {result.sharding.spec}")

# %% [markdown]
# ## A plan of its own
#
# In case 2 one factor is cut along the contracted dimension and the other is whole. The rule
# gathers. There is a second plan: each device ignores the rows that it does not need of the whole
# factor, which is free, and the result is added up, as in case 3. It pays where the result is
# small. To ask flopbook for the second plan, write the whole factor as cut.
#
# Here the rows are cut along X too, and the result is narrow. The compiler takes the second plan by
# itself.

# %%
NARROW, NARROW_DIMS = (8192, 8192, 512), "I=8192,J=8192,K=512"
plans = {
    "gather": "A[I_X, J_Y] * B[J, K] -> C[I_X, K]",
    "add up": "A[I_X, J_Y] * B[J_Y, K] -> C[I_X, K]",
}
planned = {}
for plan, product in plans.items():
    answer = flopbook.calculate(
        "sharded-matmul", product=product, dims=NARROW_DIMS, mesh=MESH, dtype="fp32"
    )
    planned[plan] = [(name.split()[0], answer["bytes"]) for name in answer["collectives"]]
    print(
        f"{plan:<9} {text(planned[plan])}, {flopbook.format_quantity(answer['flop'], 'FLOP')} on "
        "each device"
    )
own = moves(multiply(plans["gather"], NARROW))
print(f"compiler  {text(own)}")

# %% [markdown]
# ## Saying what is to move
#
# With `jax.jit` you say where arrays lie, and the compiler finds the moves. With `jax.shard_map` it
# is the other way round: you write what one device does with its blocks, and name each collective.
# Then the reduce-scatter of case 3 is in the program, because you put it there.
#
# The cell writes every collective once. A function gets the block of its device, and the two
# layouts are those before and after.

# %%
lax, NEXT = jax.lax, [(0, 1), (1, 2), (2, 3), (3, 0)]  # who hands on to whom
BY_HAND = {
    "all-gather": (lambda x: lax.all_gather(x, "X", axis=0, tiled=True), "A[I_X, J]", "A[I, J]"),
    "reduce-scatter": (
        lambda x: lax.psum_scatter(x, "X", scatter_dimension=0, tiled=True),
        "A[I, J]",
        "A[I_X, J]",
    ),
    "all-reduce": (lambda x: lax.psum(x, "X"), "A[I, J]", "A[I, J]"),
    "all-to-all": (lambda x: lax.all_to_all(x, "X", 0, 1, tiled=True), "A[I, J_X]", "A[I_X, J]"),
    "collective-permute": (lambda x: lax.ppermute(x, "X", NEXT), "A[I_X, J]", "A[I_X, J]"),
}
by_hand, outcomes = {}, {}
for name, (function, before, after) in BY_HAND.items():
    placed = jax.device_put(matrix, sharding(before))
    specs = {"in_specs": sharding(before).spec, "out_specs": sharding(after).spec}
    # check_vma: JAX need not prove that copies are equal
    mapped = jax.jit(jax.shard_map(function, mesh=mesh, check_vma=False, **specs))
    by_hand[name], outcomes[name] = (
        moves(mapped.lower(placed).compile()),
        np.asarray(mapped(placed)),
    )
    print(f"{name:<19} {before:<9} -> {after:<9}  {text(by_hand[name])}")

# %% [markdown]
# The matrix has as many bytes as the first four lines say. A permute moves blocks only, so its
# line says less.
#
# And so the fourth line of the table above can be had for half the traffic: multiply the blocks,
# then scatter the sums.

# %%
half = jax.jit(
    jax.shard_map(
        lambda a, b: lax.psum_scatter(a @ b, "X", scatter_dimension=0, tiled=True),
        mesh=mesh,
        in_specs=(jax.P(None, "X"), jax.P("X", None)),
        out_specs=jax.P("X", None),
    )
)
large = [jax.ShapeDtypeStruct(shape, np.float32) for shape in (SIZES[:2], SIZES[1:])]
scattered = moves(half.lower(*large).compile())
print(f"by hand:  {text(scattered)}, {sent(scattered):.3f} GB sent by each device")
print(f"compiler: {text(program['3, cut'])}, {sent(program['3, cut']):.3f} GB sent by each device")

# %% [markdown]
# ## Changing a layout
#
# No product at all: an array lies one way and is wanted another way. The compiler finds the
# collective. It is an all-to-all when a cut moves to the other dimension, a permute when the blocks
# stay whole and change places, and nothing when a device only has to drop what it need not keep.

# %%
relaid = {}
for before, after in (
    ("A[I_X, J]", "A[I, J]"),
    ("A[I_X, J]", "A[I, J_X]"),
    ("A[I_XY, J]", "A[I_YX, J]"),
    ("A[I, J]", "A[I_X, J]"),
):
    given = jax.ShapeDtypeStruct(matrix.shape, np.float32, sharding=sharding(before))
    relaid[before, after] = moves(
        jax.jit(lambda x: x, out_shardings=sharding(after)).lower(given).compile()
    )
    print(f"{before:<11} -> {after:<11} {text(relaid[before, after])}")

# %% [markdown]
# ## Try it
#
# - Move the cut of the narrow product: `A[I, J_X] * B[J, K] -> C[I, K]` with the sizes of the
#   narrow one. Does the compiler still find the cheaper plan?
# - Make a mesh of eight in a row, `(8,)` and `("X",)`. Which bytes of the table change, and which
#   do not?
# - Write case 2 by hand with `all_gather`, then its second plan with `psum`. Do both give the same
#   matrix?
#
# ## Check
#
# The claims of this page, as assertions. They run with the tests of flopbook and again each time
# the page is built.

# %%
assert len(jax.devices()) == mesh.size == 8
for block, answer in blocks.values():
    assert block.shape == answer["local_shape"] and block.nbytes == answer["bytes_per_device"]
for case in ("1", "2", "3", "4"):
    assert program[case] == rule[case]  # the same collectives with the same bytes
(asked,), (made,) = rule["3, cut"], program["3, cut"]
assert (
    asked[0] == "reduce-scatter"
    and made[0] in ("all-reduce", "reduce-scatter")
    and made[1] == asked[1]
)
for flop, counted in work.values():
    assert 1 <= counted / flop < 1.01  # the compiler also counts the additions of the sums
assert max(errors.values()) < 1e-5
assert own in planned.values() and planned["add up"][0][1] < planned["gather"][0][1]
assert sent(scattered) == sent(rule["3, cut"]) and scattered == rule["3, cut"]
assert sent([("all-reduce", asked[1])]) == 2 * sent(scattered)
for name, found in by_hand.items():
    share = 4 if name == "collective-permute" else 1
    assert found == [(name, matrix.nbytes / share)]
assert (outcomes["all-gather"] == matrix).all() and (outcomes["all-to-all"] == matrix).all()
assert (outcomes["all-reduce"] == 4 * matrix).all() and (
    outcomes["reduce-scatter"] == 4 * matrix
).all()
assert (outcomes["collective-permute"] == np.roll(matrix, 64, axis=0)).all()
assert [[name for name, _ in found] for found in relaid.values()] == [
    ["all-gather"],
    ["all-to-all"],
    ["collective-permute"],
    [],
]
print("all checks passed")
