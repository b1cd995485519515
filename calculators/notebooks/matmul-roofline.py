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
# # Matrix multiplication on the roofline of your own machine
#
# You will measure two numbers of the machine that runs this page: how fast it multiplies, and how
# fast it reads memory. They make a roofline. Then you multiply matrices of many sizes, take the
# time, and see where each lands below that line: small batches wait for memory here as on any
# accelerator.
#
# To follow along on your own computer, in a clone of the repository:
# `pip install . numpy matplotlib`. No GPU is needed. What this page shows was measured once and
# kept with machine and date, in `matmul-roofline.measured.json` beside the notebook. Run the
# notebook in another folder, and it measures: your numbers will differ.
#
# ## Set up
#
# This cell asks for one thread, which must happen before NumPy is loaded. Then it loads flopbook
# and NumPy and sets the look of the figures.

# %%
import os

for library in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import datetime
import json
import platform
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import flopbook
from flopbook.drawing.plotting import COLOURS, INK, show, use_style

use_style()

# %% [markdown]
# ## Taking the time
#
# A single measurement says little: another program may have run in between. So the clock here is
# processor time, which stands still while others have the core; with one thread it is otherwise the
# time on the wall. And each measurement is repeated. Others can still get in the way, in caches and
# at the memory, but only make a run slower, so the fastest stands for the machine. The median says
# what usually happened.
#
# Is it really one thread? A process that works on several cores spends more processor time than
# passes on the wall. The ratio of the two counts the threads that were busy.


# %%
RECORD = Path("matmul-roofline.measured.json")
recorded = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else None
measured = {}  # what this run takes the time of, by name


def seconds(name, work, runs=9):
    """How long some work takes, shortest and median of several runs; the first, which warms up, is
    left out. What was recorded is not measured again.
    """
    if recorded:
        return recorded["seconds"][name]
    measured[name] = timed(work, runs)
    return measured[name]


def timed(work, runs):
    """Shortest and median time of several runs on the clock of the processor."""
    work()
    times = []
    for _ in range(runs):
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times), float(np.median(times))


random = np.random.default_rng(0)


def matrix(rows, columns):
    """A matrix of random fp32 values."""
    return random.standard_normal((rows, columns), dtype=np.float32)


def here():
    """This machine, and how many threads were busy with one product."""
    a, b, c = matrix(1024, 1024), matrix(1024, 1024), matrix(1024, 1024)
    begun, used = time.perf_counter(), time.process_time()
    np.matmul(a, b, out=c)
    return {
        "machine": f"{platform.system()} on {platform.machine()}, {os.cpu_count()} cores",
        "numpy": np.__version__,
        "date": datetime.date.today().isoformat(),
        "threads": (time.process_time() - used) / (time.perf_counter() - begun),
    }


place = recorded or here()
print(f"{place['machine']}, NumPy {place['numpy']}, fp32, measured {place['date']}")
print(
    f"threads at work: {place['threads']:.1f} (1.0 is one; less means that other programs had the "
    "core for a while)"
)

# %% [markdown]
# ## The two numbers
#
# The peak: the fastest product of two square matrices of fp32 values. It is what NumPy reaches and
# not what a data sheet promises, so it is a floor of the real one.
#
# The stream: adding two long arrays into a third one does one operation for three values moved, far
# too little to matter. The arrays are larger than most caches. On a server with a huge cache a part
# of this still comes from there; give `LONG` a larger value if yours is one. Most processors also
# fetch a place from memory before they write to it, which is not counted here: work that only reads
# may be faster than the stream.

# %%
LONG = 2**24  # values in an array of the stream
SQUARES = (8, 16, 32, 64, 128, 256, 512, 1024)
squares = {}
for n in SQUARES:
    a, b, c = matrix(n, n), matrix(n, n), matrix(n, n)
    times = max(1, 2**20 // n**3)  # small ones many times, or the clock itself would be measured

    def work(a=a, b=b, c=c, times=times):
        for _ in range(times):
            np.matmul(a, b, out=c)

    taken = seconds(f"square {n}", work)
    squares[n] = [2 * n**3 * times / t for t in taken]  # fastest, median

x, y, z = (np.ones(LONG, np.float32) for _ in range(3))
stream = [3 * x.nbytes / t for t in seconds("stream", lambda: np.add(x, y, out=z))]
peak, bandwidth = max(fastest for fastest, _ in squares.values()), stream[0]
ridge = peak / bandwidth
print(f"peak:        {flopbook.format_quantity(peak, 'FLOP/s')}")
print(
    f"stream:      {flopbook.format_quantity(bandwidth, 'byte/s')}, median "
    f"{stream[1] / stream[0]:.0%} of it"
)
print(f"ridge point: {ridge:.1f} FLOP for each byte")
h100 = flopbook.calculate("ridge-point", chip="h100-sxm")
print(f"             (an H100 in bf16: {h100['flop_per_byte']:.0f})")

# %% [markdown]
# ## Squares
#
# A square product of side n in fp32 has n / 6 operations for each byte, so from a side of six times
# the ridge point it should be limited by arithmetic. Small ones pay something that the roofline
# does not know: each call of NumPy costs about a microsecond before any arithmetic begins.

# %%
print(f"{'side':>6}{'intensity':>12}{'fastest':>16}{'of the peak':>14}{'median':>10}")
for n, (fastest, median) in squares.items():
    rate = flopbook.format_quantity(fastest, "FLOP/s")
    print(f"{n:>6}{n / 6:>12.1f}{rate:>16}{fastest / peak:>14.0%}{median / peak:>10.0%}")

# %% [markdown]
# ## A layer and its batch
#
# Now the shape that matters for models: a batch of rows times a large matrix of weights. Each
# weight is read once for the whole batch and used once for every row, so the intensity grows with
# the batch: it is nearly half of the rows, at 4 bytes for each weight. The roofline predicts the
# time; the last column says how much longer it took. With two rows or more it is often two or three
# times as long where memory is the limit. A likely reason: before they multiply, libraries copy a
# matrix into an order that suits the processor, and the copy is written and read once more.

# %%
SIDE = 4096
weights = matrix(SIDE, SIDE)
ROWS = (1, 2, 4, 8, 16, 32, 64, 128)
layer = {}
print(f"weights: {flopbook.format_quantity(float(weights.nbytes), 'byte')}")
print(
    f"{'rows':>6}{'intensity':>12}{'fastest':>16}"
    f"{'of the peak':>14}{'median':>10}{'over the roofline':>20}"
)
for rows in ROWS:
    batch, out = matrix(rows, SIDE), matrix(rows, SIDE)
    work = flopbook.arithmetic_intensity(m=rows, n=SIDE, k=SIDE, bytes_per_param=4)
    times = seconds(
        f"layer {rows}",
        lambda batch=batch, out=out: np.matmul(batch, weights, out=out),
        runs=7,
    )
    fastest, median = (work["flop"] / t for t in times)
    layer[rows] = (work["intensity"], fastest, median)
    rate, longer = (
        flopbook.format_quantity(fastest, "FLOP/s"),
        min(peak, bandwidth * work["intensity"]) / fastest,
    )
    print(
        f"{rows:>6}{work['intensity']:>12.2f}{rate:>16}"
        f"{fastest / peak:>14.0%}{median / peak:>10.0%}{longer:>20.1f}"
    )

# %% [markdown]
# ## The picture
#
# The figure shows the measured roofline as a line, with a slope where memory is the limit and a
# flat part where arithmetic is, both axes logarithmic. Squares are square products with their side
# beside them, circles the layer with its number of rows. Each mark is the fastest run, and a thin
# line leads down to the median. Circles should climb along the slope. Points below the line lose
# time to something else, such as the cost of a call. Points above the slope found their numbers in
# a cache, or read almost only, as one row does.

# %%
fig, ax = plt.subplots(figsize=(7.2, 4.8))
seen = np.geomspace(0.3, 300, 200)
ax.plot(seen, np.minimum(peak, bandwidth * seen) / 1e9, color=INK, label="measured roofline")
groups = (
    (
        "square products",
        "s",
        COLOURS[1],
        (6, -10),
        {n: (n / 6, *rates) for n, rates in squares.items()},
    ),
    (f"a layer of {SIDE:,} x {SIDE:,}", "o", COLOURS[0], (-6, 6), layer),
)
for label, marker, shade, shift, points in groups:
    for size, (intensity, fastest, median) in points.items():
        ax.plot([intensity] * 2, [fastest / 1e9, median / 1e9], color=shade, linewidth=1)
        at = (intensity, fastest / 1e9)
        ax.annotate(f"{size:,}", at, shift, textcoords="offset points", fontsize=8, color=shade)
    intensity, fastest, _ = np.array(list(points.values())).T
    ax.plot(intensity, fastest / 1e9, marker, color=shade, label=label)
ax.set(
    xscale="log",
    yscale="log",
    xlabel="operations for each byte",
    ylabel="rate (GFLOP/s)",
    xlim=(0.3, 300),
)
ax.set_xticks([0.3, 1, 3, 10, 30, 100, 300], ["0.3", "1", "3", "10", "30", "100", "300"])
ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
ax.legend(loc="lower right")
show("Measured roofline of this machine with square products and a layer at several batches")

# %% [markdown]
# ## Try it
#
# - Let NumPy have all cores: change the "1" of the first cell, take `time.perf_counter` for the
#   clock, and start again. Which of the two numbers grows more, and where does the ridge point go?
# - Keep what you measured: write `json.dumps(place | {"seconds": measured})` into the file of
#   recorded times, and the next run shows it again.
# - Use fp64: `np.float64` in `matrix`. What happens to the peak, to the intensities and to the rate
#   of one row?
# - Find the caches: measure the stream for `LONG` from a thousand to a hundred million values.
#
# ## Check
#
# The claims of this page, as assertions. They run with the tests of flopbook, which measure, and
# each time the page is built. Where a machine is shared, times differ by much, so these ask for
# little.

# %%
assert (
    peak > 0 and bandwidth > 0 and ridge > 0.3
)  # on every machine of today arithmetic is ahead of memory
assert all(0 < median <= fastest for fastest, median in squares.values())
assert peak == max(fastest for fastest, _ in squares.values()) and stream[1] <= stream[0]
for rows, (intensity, *_) in layer.items():
    assert np.isclose(intensity, 1 / (2 * (1 / SIDE + 1 / SIDE + 1 / rows)))
    assert intensity <= rows / 2
assert layer[ROWS[-1]][1] > 1.2 * layer[1][1]  # many rows run faster than one
assert (
    max(fastest for fastest, _ in squares.values()) > 1.2 * squares[8][0]
)  # and large squares faster than small
assert h100["flop_per_byte"] > 100
print("all checks passed")
