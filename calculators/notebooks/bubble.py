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
# # Pipeline bubble: what do stages lose while they wait?
#
# You will see why a pipeline of stages is idle at the start and at the end of each batch, and what
# makes that share small. You compute it with a formula, then build a small simulator that knows
# nothing of the formula and draw what it does, one row for each stage. The two must agree.
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
# ## The formula
#
# A model too deep for one chip is cut into stages, and each batch into micro-batches that follow
# one another through them. The last stage waits until the first micro-batch has come through all
# the others. As much time is lost at the end, while the pipeline drains. The more micro-batches
# share that loss, the smaller it is for each.
#
# Three schedules: **GPipe** runs all forward passes and then all backward passes. **1F1B** starts
# each backward pass as soon as it can. **Interleaved** gives each stage several thinner pieces of
# the model, so that filling takes less time.

# %%
for schedule, virtual in (("gpipe", 1), ("1f1b", 1), ("interleaved", 2)):
    result = flopbook.calculate(
        "bubble", schedule=schedule, stages=4, microbatches=8, virtual=virtual
    )
    print(
        f"{schedule:<12} idle {result['fraction']:6.1%} of the time, "
        f"{result['peak_microbatches']:g} micro-batches in memory on the first stage"
    )

# %% [markdown]
# ## More micro-batches, less waiting
#
# The figure shows the idle share of the time against the number of micro-batches, for a pipeline of
# eight stages. All lines fall. GPipe and 1F1B lie on one line: they wait equally long and differ
# only in memory. The interleaved schedule with two pieces on each stage lies below it, and with
# four pieces lower still.

# %%
STAGES = 8
microbatches = np.arange(STAGES, 257, STAGES)
fig, ax = plt.subplots()
plain = flopbook.bubble(schedule="1f1b", stages=STAGES, microbatches=microbatches)["fraction"]
gpipe = flopbook.bubble(schedule="gpipe", stages=STAGES, microbatches=microbatches)["fraction"]
ax.plot(microbatches, 100 * gpipe, color=COLOURS[0], linewidth=6, alpha=0.3, label="GPipe")
ax.plot(microbatches, 100 * plain, color=COLOURS[0], label="1F1B")
thinner = {}
for pieces, shade, style in ((2, COLOURS[1], "--"), (4, COLOURS[2], "-.")):
    values = flopbook.bubble(
        schedule="interleaved", stages=STAGES, microbatches=microbatches, virtual=pieces
    )
    thinner[pieces] = values["fraction"]
    ax.plot(
        microbatches,
        100 * thinner[pieces],
        style,
        color=shade,
        label=f"interleaved, {pieces} pieces a stage",
    )
ax.set(xscale="log", xlim=(8, 256), ylim=(0, 50))
ax.set_xticks([8, 16, 32, 64, 128, 256], ["8", "16", "32", "64", "128", "256"])
ax.minorticks_off()
ax.set(xlabel="micro-batches in a batch", ylabel="idle share of the time (%)")
ax.legend()
show("Idle share of a pipeline of eight stages against the number of micro-batches")

# %% [markdown]
# ## A simulator in thirty lines
#
# A schedule is a list of jobs for each stage, in the order in which it does them. A job is forward
# or backward, for one piece of the model and one micro-batch. It can start when the stage is free
# and the job that it needs has ended: forward needs the piece before, backward needs the piece
# after, and the backward pass of the last piece needs its own forward pass. A backward pass takes
# twice as long as a forward pass. Messages take no time here, as in the formula.


# %%
def order(schedule, stages, microbatches, stage, pieces=1):
    """Jobs (forward?, piece, micro-batch) of one stage; piece p of the model lives on stage p %
    stages.
    """
    total = pieces * microbatches
    if (
        schedule == "interleaved"
    ):  # micro-batches go in groups as large as the pipeline, piece by piece
        group = [
            (i // (stages * pieces) * stages + i % stages, i // stages % pieces)
            for i in range(total)
        ]
        warm = 2 * (stages - stage - 1) + (pieces - 1) * stages
    else:
        group = [(i, 0) for i in range(total)]
        warm = total if schedule == "gpipe" else stages - stage - 1
    forward = [(True, stage + stages * piece, m) for m, piece in group]
    backward = [(False, stage + stages * (pieces - 1 - piece), m) for m, piece in group]
    warm = min(warm, total)
    mixed = [job for pair in zip(forward[warm:], backward, strict=False) for job in pair]
    return forward[:warm] + mixed + backward[total - warm :]


def simulate(schedule, stages, microbatches, pieces=1):
    """Run all jobs; return {job: (start, end)} with a forward pass of a whole stage as the unit of
    time.
    """
    queues = [order(schedule, stages, microbatches, stage, pieces) for stage in range(stages)]
    done, free = {}, [0.0] * stages
    while any(queues):
        before = len(done)
        for stage, queue in enumerate(queues):
            while queue and (ready := starts(queue[0], done, stages * pieces)) is not None:
                job = queue.pop(0)
                begin = max(free[stage], ready)
                free[stage] = begin + (1 if job[0] else 2) / pieces
                done[job] = (begin, free[stage])
        assert len(done) > before, "the schedule waits for itself"
    return done


def starts(job, done, pieces):
    """When the job's input is there; None while it is not known."""
    forward, piece, m = job
    if forward:
        return 0.0 if piece == 0 else done.get((True, piece - 1, m), (None, None))[1]
    needs = (True, piece, m) if piece == pieces - 1 else (False, piece + 1, m)
    return done.get(needs, (None, None))[1]


# %% [markdown]
# ## Counting what was idle
#
# From the finished jobs two things can be read: the share of the time in which a stage did nothing,
# and how many micro-batches the first stage held at once, since the activations of a forward pass
# stay until its backward pass is done.


# %%
def idle_share(done, stages):
    """Idle share of all stages together, from the first start to the last end."""
    length = max(end for _, end in done.values())
    return 1 - sum(end - start for start, end in done.values()) / (stages * length)


def held(done, stages, pieces=1):
    """Most micro-batches that the first stage holds at once, a piece counted as its part of a
    stage.
    """
    steps = []
    for (forward, piece, _), (start, end) in done.items():
        if piece % stages == 0:
            steps.append((start, 1, 1) if forward else (end, 0, -1))
    return max(np.cumsum([change for *_, change in sorted(steps)])) / pieces


for schedule, pieces in (("gpipe", 1), ("1f1b", 1), ("interleaved", 2)):
    done = simulate(schedule, 4, 8, pieces)
    formula = flopbook.bubble(schedule=schedule, stages=4, microbatches=8, virtual=pieces)
    print(
        f"{schedule:<12} idle: simulated {idle_share(done, 4):.6f}, formula "
        f"{formula['fraction']:.6f}   "
        f"held: simulated {held(done, 4, pieces):g}, formula {formula['peak_microbatches']:g}"
    )

# %% [markdown]
# ## The timelines
#
# The figure shows what each of four stages does with eight micro-batches, one panel for each
# schedule, with time to the right. Blue blocks with white numbers are forward passes, light orange
# blocks are backward passes, and white space is the bubble; the number in a block is its
# micro-batch. In GPipe the first stage waits in the middle and the last one at both ends. In 1F1B
# forward and backward passes alternate, but the batch ends at the same moment. The interleaved
# schedule has blocks half as long, with a darker shade for the second piece of a stage, and ends
# earlier.

# %%
fig, panels = plt.subplots(3, 1, figsize=(7.2, 6.2), sharex=True)
PANELS = (
    ("gpipe", 1, "GPipe"),
    ("1f1b", 1, "1F1B"),
    ("interleaved", 2, "interleaved, two pieces a stage"),
)
ends = {}
for ax, (schedule, pieces, label) in zip(panels, PANELS, strict=True):
    done = simulate(schedule, 4, 8, pieces)
    ends[schedule] = max(end for _, end in done.values())
    for (forward, piece, m), (start, end) in done.items():
        second = piece >= 4
        fill = (COLOURS[0], "#00456f")[second] if forward else ("#ffd9bd", "#f3b184")[second]
        ax.barh(
            piece % 4,
            end - start,
            left=start,
            height=0.86,
            color=fill,
            edgecolor="white",
            linewidth=0.8,
        )
        middle, ink = (start + end) / 2, "white" if forward else INK
        ax.text(
            middle, piece % 4, f"{m + 1}", ha="center", va="center", fontsize=8 - pieces, color=ink
        )
    ax.set_title(f"{label}: idle {idle_share(done, 4):.1%}", loc="left", fontsize=10)
    ax.set_yticks(range(4), ["1", "2", "3", "4"])
    ax.invert_yaxis()
    ax.grid(False)
    ax.set_ylabel("stage")
panels[-1].set_xlabel("time (forward passes of one stage)")
panels[-1].set_xlim(0, max(ends.values()))
show(
    "Timelines of GPipe, 1F1B and the interleaved schedule on four stages with eight micro-batches"
)

# %% [markdown]
# ## Try it
#
# - How many micro-batches keep the bubble of eight stages below five percent? Read it off the first
#   figure, then ask `flopbook.calculate("bubble", stages=8, microbatches=...)`.
# - Let a backward pass take as long as a forward pass: change the 2 in `simulate` to 1. Does the
#   idle share change?
# - Make one stage twice as slow. Why is the formula now too hopeful?
#
# ## Check
#
# The claims of this page, as assertions. They run with the tests of flopbook and again each time
# the page is built.

# %%
assert (plain == gpipe).all() and (thinner[2] < plain).all() and (thinner[4] < thinner[2]).all()
assert (np.diff(plain) < 0).all()  # more micro-batches, less waiting
assert ends["gpipe"] == ends["1f1b"] > ends["interleaved"]
for stages in (1, 2, 3, 4, 8):
    for m in (1, 2, 4, 8, 16, 24):
        for schedule, pieces in (("gpipe", 1), ("1f1b", 1), ("interleaved", 2), ("interleaved", 4)):
            if schedule == "interleaved" and m % stages:
                continue
            done = simulate(schedule, stages, m, pieces)
            formula = flopbook.bubble(
                schedule=schedule, stages=stages, microbatches=m, virtual=pieces
            )
            assert abs(idle_share(done, stages) - formula["fraction"]) < 1e-9
            assert abs(held(done, stages, pieces) - formula["peak_microbatches"]) < 1e-9
print("all checks passed")
