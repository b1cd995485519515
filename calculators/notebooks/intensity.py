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
# # Arithmetic intensity by counting: how much work is there for each byte?
#
# You will count, load by load and operation by operation, what a dot product and matrix products
# do. From the counts you get one number for each, the operations for each byte, and that number
# decides what a chip can do with it. You see why only large square products keep a chip busy, and
# how large is large.
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
from flopbook.drawing.plotting import COLOURS, INK, show, use_style

use_style()

# %% [markdown]
# ## Counting in code
#
# The loops of a matrix product with M rows, N columns and sums of K terms, as plain as they can be
# written. Every array counts how often it is touched. A value is loaded from memory the first time
# that it is needed and then kept, as on a chip whose small fast memory holds everything. So a load
# happens once for each value, and later uses are free. Each result is stored once.
#
# A number takes 2 bytes, as in bf16. A product of K terms is K multiplications and K - 1 additions.


# %%
WIDTH = 2  # bytes of a bf16 value


class Counted:
    """A matrix that counts how many of its values were loaded (the first time only) and stored."""

    def __init__(self, values):
        self.values, self.seen, self.loads, self.stores = values, np.zeros(values.shape, bool), 0, 0

    def load(self, *at):
        self.loads += not self.seen[at]
        self.seen[at] = True
        return self.values[at]

    def store(self, value, *at):
        self.stores += 1
        self.values[at] = value


def multiply(a, b, c):
    """c = a b, one multiplication and one addition at a time; returns the number of operations."""
    (rows, inner), columns = a.values.shape, b.values.shape[1]
    flop = 0
    for i in range(rows):
        for j in range(columns):
            total = a.load(i, 0) * b.load(0, j)
            flop += 1
            for k in range(1, inner):
                total += a.load(i, k) * b.load(k, j)
                flop += 2
            c.store(total, i, j)
    return flop


def counts(m, n, k):
    """Operations and bytes of the product of an m x k and a k x n matrix, counted as it runs."""
    random = np.random.default_rng(0)
    a, b = Counted(random.standard_normal((m, k))), Counted(random.standard_normal((k, n)))
    c = Counted(np.zeros((m, n)))
    flop = multiply(a, b, c)
    assert np.allclose(c.values, a.values @ b.values)  # it really is the product
    return flop, WIDTH * (a.loads + b.loads + c.stores)


# %% [markdown]
# ## Four shapes
#
# A dot product is one row times one column. A matrix times a vector (GEMV) uses each weight once. A
# square product uses each value many times. A skinny one has few rows: it is what a layer does with
# a small batch. The calculator of flopbook answers the same question with a formula; the two
# columns must agree.
#
# One difference is a matter of convention. The calculator counts K additions for K terms, as nearly
# everybody does, since a chip adds each product to something. The loops above begin with the first
# product and need only K - 1.

# %%
SHAPES = {
    "dot product, 4,096 terms": ("dot", 1, 1, 4096),
    "GEMV, 256 x 256": ("gemv", 1, 256, 256),
    "square, 48": ("gemm", 48, 48, 48),
    "square, 96": ("gemm", 96, 96, 96),
    "skinny, 4 rows, 192 x 192": ("gemm", 4, 192, 192),
}
counted, computed = {}, {}
print(f"{'':<27}{'FLOP':>10}{'bytes':>10}{'counted':>12}{'calculator':>12}")
for name, (op, m, n, k) in SHAPES.items():
    counted[name] = counts(m, n, k)
    computed[name] = flopbook.arithmetic_intensity(op=op, m=m, n=n, k=k, bytes_per_param=WIDTH)
    flop, size = counted[name]
    print(
        f"{name:<27}{flop:>10,}{size:>10,}{flop / size:>12.3f}{computed[name]['intensity']:>12.3f}"
    )

# %% [markdown]
# ## Three laws
#
# The dot product loads two numbers for two operations: with 2 bytes each it tends to one half,
# however long it is. GEMV tends to one. A square product of side n does 2 n n n operations on 3 n n
# values, so with 2 bytes it has n / 3. That is the only one of the three that grows. In another
# format the limits move: with 4 bytes all are half as large.

# %%
sides = np.array([2, 4, 8, 16, 32, 64])
measured = {
    "dot product": [np.divide(*counts(1, 1, n * n)) for n in sides],
    "GEMV": [np.divide(*counts(1, n, n)) for n in sides],
    "square": [np.divide(*counts(n, n, n)) for n in sides],
}
for name, values in measured.items():
    print(f"{name:<12}", "  ".join(f"{value:8.3f}" for value in values))

# %% [markdown]
# The figure shows the counted intensity against the side n, for a square product, for a square
# matrix times a vector, and for a dot product of n times n terms, with both axes logarithmic. The
# dots are counts, the lines the three laws. Two of them are flat.

# %%
fig, ax = plt.subplots(figsize=(7.2, 4.0))
laws = {"dot product": np.full(6, 1 / 2), "GEMV": np.ones(6), "square": sides / 3}
for (name, law), shade, marker in zip(laws.items(), COLOURS, "osD", strict=False):
    ax.plot(sides, law, color=shade, linewidth=1)
    ax.plot(sides, measured[name], marker, color=shade, label=name)
ax.set(xscale="log", yscale="log", xlabel="side n", ylabel="operations for each byte")
ax.set_xticks(sides, [str(n) for n in sides])
ax.set_yticks([0.3, 1, 3, 10, 30], ["0.3", "1", "3", "10", "30"])
ax.minorticks_off()
ax.legend()
show(
    "Counted arithmetic intensity of dot product, matrix times vector and square product against "
    "the side"
)

# %% [markdown]
# ## Under the roofs of chips
#
# A chip has a peak rate and a memory bandwidth. Below the intensity at which the two meet, the
# ridge point, it waits for memory, and its rate is bandwidth times intensity. Above it, the rate is
# the peak.
#
# The figure shows these roofs for three chips in bf16, with both axes logarithmic. Vertical lines
# mark the operations: those on the left have no chance on any chip, and the square product of side
# 4,096 is far to the right of all the bends.

# %%
CHIPS = ("a100-sxm-80gb", "h100-sxm", "tpu-v5p")
chips = {name: flopbook.chip(name) for name in CHIPS}
MARKED = {
    "dot product": {"op": "dot", "k": 2**20},
    "GEMV": {"op": "gemv", "n": 8192, "k": 8192},
    "16 rows": {"m": 16, "n": 8192, "k": 8192},
    "square, 256": {"m": 256, "n": 256, "k": 256},
    "square, 4,096": {"m": 4096, "n": 4096, "k": 4096},
}
at = {
    name: flopbook.calculate("arithmetic-intensity", **shape)["intensity"]
    for name, shape in MARKED.items()
}

fig, ax = plt.subplots(figsize=(7.2, 4.8))
seen = np.geomspace(0.2, 4000, 300)
for (_, chip), shade, style in zip(chips.items(), COLOURS, ("-", "--", "-."), strict=False):
    roof = np.minimum(chip.peak("bf16"), chip.memory_bandwidth() * seen)
    ax.plot(seen, roof / 1e12, style, color=shade, label=chip.name.removeprefix("Google Cloud "))
for name, intensity in at.items():
    ax.axvline(intensity, color=INK, linewidth=0.8, linestyle=":")
    ax.annotate(
        name,
        (intensity, 0.013),
        (3, 0),
        textcoords="offset points",
        rotation=90,
        fontsize=9,
        va="bottom",
    )
ax.set(
    xscale="log",
    yscale="log",
    xlabel="operations for each byte",
    ylabel="highest rate (TFLOP/s)",
    ylim=(0.01, 3000),
)
ax.set_xticks([0.3, 1, 3, 10, 30, 100, 300, 1000, 3000])
ax.set_xticklabels(["0.3", "1", "3", "10", "30", "100", "300", "1,000", "3,000"])
ax.set_yticks([0.01, 0.1, 1, 10, 100, 1000], ["0.01", "0.1", "1", "10", "100", "1,000"])
ax.minorticks_off()
ax.legend(loc="upper left")
show("Rooflines of three chips in bf16 with five operations at their arithmetic intensity")

# %% [markdown]
# ## How large must a square be?
#
# With n / 3 operations for each byte, a square product is limited by arithmetic as soon as n is
# three times the ridge point. The next cell goes through the powers of two on an H100, and asks the
# calculator for the edge on all three chips.

# %%
bounds = {}
for n in (256, 512, 1024, 2048, 4096):
    result = flopbook.calculate("arithmetic-intensity", chip="h100-sxm", m=n, n=n, k=n)
    bounds[n] = result["bound"]
    share = result["attainable_flop_per_s"] / result.inputs["peak"].value
    print(f"H100, square of {n:>5,}: limited by {result['bound']:<11}{share:>7.1%} of the peak")
edges = {name: 3 * chip.peak("bf16") / chip.memory_bandwidth() for name, chip in chips.items()}
print()
for name, edge in edges.items():
    print(f"{chips[name].name:<40} busy from a side of {np.ceil(edge):,.0f}")

# %% [markdown]
# ## Try it
#
# - With 4 bytes for a value: set `WIDTH` to 4. Which numbers halve?
# - Let the skinny product have 16 rows and then 64. Which of the three matrices causes most of the
#   bytes?
# - Forget the fast memory: remove the line with `self.seen[at] = True`. What is the intensity of a
#   square product now, and of which other operation does it remind you?
#
# ## Check
#
# The claims of this page, as assertions. They run with the tests of flopbook and again each time
# the page is built.

# %%
for name, (_, m, n, k) in SHAPES.items():
    flop, size = counted[name]
    assert flop == m * n * (2 * k - 1) and size == WIDTH * (m * k + k * n + m * n)
    assert computed[name]["bytes"] == size
    assert computed[name]["flop"] == flop + m * n  # one addition more for each sum, by convention
assert abs(measured["dot product"][-1] - 1 / 2) < 1e-3  # one half, from below
assert abs(measured["GEMV"][-1] - 1) < 0.04 and max(measured["GEMV"]) < 1
assert np.allclose(
    np.array(measured["square"]) + 1 / 6, sides / 3
)  # n / 3, less what the first addition saves
assert bounds == {
    256: "memory",
    512: "memory",
    1024: "arithmetic",
    2048: "arithmetic",
    4096: "arithmetic",
}
for name, edge in edges.items():
    side = int(np.ceil(edge))
    ask = {
        n: flopbook.calculate("arithmetic-intensity", chip=name, m=n, n=n, k=n)["bound"]
        for n in (side - 1, side)
    }
    assert ask == {side - 1: "memory", side: "arithmetic"}
ridges = [chip.peak("bf16") / chip.memory_bandwidth() for chip in chips.values()]
assert max(at["dot product"], at["GEMV"], at["16 rows"], at["square, 256"]) < min(ridges)
assert at["square, 4,096"] > 4 * max(ridges)
print("all checks passed")
