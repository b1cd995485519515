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
# # Pipeline schedules: eight ways to keep stages busy, run for real
#
# You will train a small network that is cut into four stages, pass by pass, in the order of eight
# different schedules. All of them give the same gradients. They differ in how long stages wait and
# in how many activations they must keep, and you measure both while the passes run.
#
# The notebook on the pipeline bubble derives the idle share from nothing and draws the passes of
# three schedules. This one takes the passes from flopbook and lets them compute.
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
from flopbook.pipelines import Times, plan, simulate

use_style()

# %% [markdown]
# ## Passes
#
# A schedule is a list of passes for each stage. A pass belongs to one micro-batch and one chunk of
# the model. F is a forward pass, B computes gradients of the inputs, W those of the weights, and A
# is both backward passes in one. Splitting A into B and W is what the newer schedules do: the stage
# before waits for B only, and W can fill a gap. Here are the first passes of the last of four
# stages.

# %%
STAGES, MICROBATCHES = 4, 8
SCHEDULES = {
    "gpipe": 1,
    "1f1b": 1,
    "interleaved": 2,
    "zb-h1": 1,
    "zb-h2": 1,
    "zb-v": 1,
    "dualpipe": 1,
    "dualpipe-v": 1,
}
plans = {name: plan(name, STAGES, MICROBATCHES, virtual) for name, virtual in SCHEDULES.items()}
for name, one in plans.items():
    first = [
        " + ".join(f"{kind}{microbatch + 1}" for kind, microbatch, _ in slot)
        for slot in one.slots[-1][:10]
    ]
    print(f"{name:<12}", ", ".join(first), "...")

# %% [markdown]
# ## A model that is cut
#
# Eight layers, each a matrix and a ReLU. A model of as many chunks gets equally many layers in
# each. The loss is the squared distance from a target. This is the whole forward and backward pass,
# without any pipeline: the gradients that all schedules must reproduce.

# %%
WIDTH, LAYERS, TOKENS = 16, 8, 8  # tokens of a micro-batch
random = np.random.default_rng(0)
weights = random.standard_normal((LAYERS, WIDTH, WIDTH)) / np.sqrt(WIDTH / 2)
inputs, targets = random.standard_normal((2, MICROBATCHES, TOKENS, WIDTH))


def forward(layer, x):
    """One layer."""
    return np.maximum(x @ weights[layer], 0)


def backward_input(layer, y, dy):
    """Gradient by what comes before the ReLU, and by the input of the layer."""
    dz = dy * (y > 0)
    return dz, dz @ weights[layer].T


expected = np.zeros_like(weights)
for x, target in zip(inputs, targets, strict=True):
    kept = [x]
    for layer in range(LAYERS):
        kept.append(forward(layer, kept[-1]))
    dy = kept[-1] - target
    for layer in reversed(range(LAYERS)):
        dz, dy = backward_input(layer, kept[layer + 1], dy)
        expected[layer] += kept[layer].T @ dz

# %% [markdown]
# ## Running a plan
#
# Each stage is given its passes in order. A pass that starts takes what it needs from the messages
# that have arrived, and fails if it is not there: so a wrong order cannot go unnoticed. A forward
# pass keeps its activations; the pass for the weights is the last to need them, and drops them. The
# most that a stage kept at once is noted, counted in whole stages, so that a chunk of half a stage
# counts half.
#
# The plan is timed by `simulate`, and passes run in the order in which they end. DualPipe keeps
# each chunk on two stages; here one array of weights stands for both copies.


# %%
def execute(run):
    """Compute all passes of a timed plan.

    Returns the gradients, and the most activations that each stage kept.
    """
    chunks, pieces = run.plan.chunks, run.plan.pieces
    per = LAYERS // chunks
    messages = {("F", m, 0): x for m, x in enumerate(inputs)}  # what a pass needs -> its input
    gradients, kept, deltas, most = (
        np.zeros_like(weights),
        [{} for _ in run.timed],
        {},
        [0.0] * run.plan.stages,
    )
    passes = [
        (timed.end, stage, n, place, work)
        for stage, slots in enumerate(run.timed)
        for n, timed in enumerate(slots)
        for place, work in enumerate(timed.slot)
    ]
    for _, stage, _, _, (kind, m, chunk) in sorted(passes):
        layers = range(chunk * per, (chunk + 1) * per)
        if kind == "F":
            states = [messages.pop(("F", m, chunk))]
            for layer in layers:
                states.append(forward(layer, states[-1]))
            kept[stage][m, chunk] = states
            most[stage] = max(most[stage], len(kept[stage]) / pieces)
            done = chunk == chunks - 1
            messages[("B", m, chunk) if done else ("F", m, chunk + 1)] = (
                states[-1] - targets[m] if done else states[-1]
            )
        if kind in "BA":
            dy, states = messages.pop(("B", m, chunk)), kept[stage][m, chunk]
            for layer in reversed(layers):
                deltas[m, layer], dy = backward_input(layer, states[layer - layers[0] + 1], dy)
            messages["B", m, chunk - 1] = dy
        if kind in "WA":
            states = kept[stage].pop((m, chunk))
            for layer in layers:
                gradients[layer] += states[layer - layers[0]].T @ deltas.pop((m, layer))
    return gradients, most


runs = {name: simulate(one) for name, one in plans.items()}
results = {name: execute(run) for name, run in runs.items()}
for name, (gradients, _) in results.items():
    print(
        f"{name:<12} largest difference from the gradients without a pipeline: "
        f"{np.abs(gradients - expected).max():.0e}"
    )

# %% [markdown]
# ## Idle time and activations
#
# The idle share is read off the times, for passes F, B and W of equal length. Beside it stands the
# closed form of the calculator; likewise for the activations of the stage that keeps most.

# %%
table = {}
print(f"{'':<12}{'idle share':>12}{'closed form':>13}{'kept':>8}{'closed form':>13}")
for name, virtual in SCHEDULES.items():
    told = flopbook.bubble(schedule=name, stages=STAGES, microbatches=MICROBATCHES, virtual=virtual)
    table[name] = (
        runs[name].fraction,
        told["fraction"],
        max(results[name][1]),
        told["peak_microbatches"],
    )
    fraction, closed, kept, most = table[name]
    print(f"{name:<12}{fraction:>12.1%}{closed:>13.1%}{kept:>8g}{most:>13g}")

# %% [markdown]
# ## When passes are not alike
#
# The closed forms of the newer schedules hold for equal passes. In a transformer the pass for the
# weights is shorter than the one for the inputs, since attention has no weights in its scores, and
# recomputation makes the one for the inputs longer. The simulation takes any times. The next cell
# makes W shorter and B longer by the same amount, so that the work stays as it was.

# %%
SHIFTS = (0, 0.2, 0.4, 0.6)
uneven = {
    name: [simulate(plans[name], Times(1, 1 + shift, 1 - shift)).fraction for shift in SHIFTS]
    for name in SCHEDULES
}
print(f"{'W shorter by':<14}" + "".join(f"{shift:>9.0%}" for shift in SHIFTS))
for name, fractions in uneven.items():
    print(f"{name:<14}" + "".join(f"{fraction:>9.1%}" for fraction in fractions))

# %% [markdown]
# ## Time against memory
#
# The figure shows the eight schedules for eight stages and 32 micro-batches: the activations kept
# by the stage that keeps most, to the right, and the idle share upwards. Both should be small, so
# the lower left is where one wants to be. Filled marks are equal passes, hollow ones, a line above
# them, passes for the weights that are shorter by 40 percent. GPipe is far to the right, since it
# keeps all micro-batches. With equal passes ZB-V has everything, no idle time and no more memory
# than 1F1B, and it stays ahead in this count.
#
# What the count leaves out speaks for others. Messages take no time here, and schedules of two
# chunks on each stage send more of them. DualPipe is made to hide messages behind arithmetic, and
# pays with a second copy of the weights.

# %%
WIDE, MANY = 8, 32
points = {}
for name, virtual in SCHEDULES.items():
    wide = plan(name, WIDE, MANY, virtual)
    run = simulate(wide)
    points[name] = (max(run.held), run.fraction, simulate(wide, Times(1, 1.4, 0.6)).fraction)
fig, ax = plt.subplots(figsize=(7.2, 4.8))
BESIDE = {
    "dualpipe": (8, -6),
    "dualpipe-v": (22, -3),
    "zb-v": (-8, -12),
    "zb-h1": (-42, -3),
    "1f1b": (-30, -3),
}
for n, (name, (kept, equal, shorter)) in enumerate(points.items()):
    shade, marker = COLOURS[n % 6], "os^DvP*X"[n]
    ax.plot([kept, kept], [100 * equal, 100 * shorter], color=shade, linewidth=1)
    ax.plot(kept, 100 * shorter, marker, color=shade, markersize=8, markerfacecolor="white")
    ax.plot(kept, 100 * equal, marker, color=shade, markersize=8)
    ax.annotate(
        name, (kept, 100 * equal), BESIDE.get(name, (8, -3)), textcoords="offset points", color=INK
    )
ax.set(xlabel="micro-batches whose activations are kept", ylabel="idle share of the time (%)")
ax.set(xlim=(4, 36), ylim=(-1.5, 20))
show(
    "Idle share against activations kept for eight schedules with eight stages and 32 micro-batches"
)

# %% [markdown]
# ## Try it
#
# - Swap two passes in `plans["1f1b"].slots[0]` and run it. Which line notices?
# - Give the last stage a slower pass: which schedules suffer most?
# - DualPipe keeps two copies of the weights. Ask `flopbook memory --help` for a model, and find the
#   number of stages from which that is worth it.
#
# ## Check
#
# The claims of this page, as assertions. They run with the tests of flopbook and again each time
# the page is built.

# %%
for name, (gradients, most) in results.items():
    assert np.allclose(gradients, expected, rtol=1e-12, atol=1e-12)
    fraction, closed, kept, told = table[name]
    assert abs(fraction - closed) < 1e-9 and abs(kept - told) < 1e-9, name
    assert most == list(runs[name].held), name  # each stage, not only the fullest
assert (
    table["gpipe"][0] == table["1f1b"][0] and table["gpipe"][2] > table["1f1b"][2]
)  # memory, not time
assert points["gpipe"][0] == MANY and all(
    kept <= 2 * WIDE for name, (kept, *_) in points.items() if name != "gpipe"
)
assert points["zb-h2"][1] < points["zb-h1"][1] < points["1f1b"][1]
assert points["zb-v"][:2] == (points["1f1b"][0], 0) and points["zb-v"][2] == min(
    last for *_, last in points.values()
)
assert all(fractions[0] == runs[name].fraction for name, fractions in uneven.items())
for name in (
    "gpipe",
    "1f1b",
    "interleaved",
):  # these do not split the backward pass, so its parts do not matter
    assert np.allclose(uneven[name], uneven[name][0])
assert all(uneven[name][-1] > uneven[name][0] for name in ("zb-h1", "zb-h2", "zb-v"))
print("all checks passed")
