# ---
# jupyter:
#   flopbook:
#     extra: torch
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
# # A pipeline of four processes in PyTorch
#
# You will run 1F1B and GPipe on four processes, one for each stage of a small network. A schedule
# is a list of forward and backward passes for each stage; a stage waits for what it receives. You
# check three claims of the chapter on pipelines: the gradients equal those of one process, a stage
# keeps at most as many micro-batches as there are stages from it to the end, and GPipe keeps all of
# them.
#
# To follow along on your own computer, in a clone of the repository:
# `pip install '.[torch]' matplotlib`. No GPU is needed; the ranks talk over gloo.
#
# ## Set up

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.distributed as dist

import flopbook
from flopbook.drawing.plotting import COLOURS, show, use_style
from flopbook.sharding.ranks import run_ranks

use_style()

STAGES, MICRO_BATCHES, WIDTH, TOKENS = 4, 6, 32, 8  # tokens of a micro-batch

# %% [markdown]
# ## The network
#
# Each stage is one residual block. All processes make the same weights and batch from one seed;
# a stage then uses its own block and nothing else.


# %%
def start():
    """The weights of all stages and the micro-batches (number, tokens, width)."""
    dice = torch.Generator().manual_seed(0)

    def normal(*shape):
        return torch.randn(*shape, generator=dice, dtype=torch.float64)

    weights = [normal(WIDTH, WIDTH) * WIDTH**-0.5 for _ in range(STAGES)]
    return weights, normal(MICRO_BATCHES, TOKENS, WIDTH)


def block(x, w):
    return x + torch.tanh(x @ w)


def loss(x):
    """The share of one micro-batch in the mean over the batch."""
    return (x * x).mean() / MICRO_BATCHES


def alone(rank):
    weights, batch = start()
    for w in weights:
        w.requires_grad_()
    for x in batch:
        for w in weights:
            x = block(x, w)
        loss(x).backward()
    return [w.grad.numpy() for w in weights]


# %% [markdown]
# ## Two orders of the same work
#
# GPipe runs all forward passes and then all backward passes. 1F1B begins with as many forward
# passes as there are stages behind it, then takes turns, and ends with the backward passes that are
# left. Both do the same work and wait equally long; they differ in how many micro-batches are in
# flight.


# %%
def gpipe(stage, count=MICRO_BATCHES):
    return [("F", n) for n in range(count)] + [("B", n) for n in range(count)]


def one_forward_one_backward(stage, count=MICRO_BATCHES):
    ahead = min(STAGES - 1 - stage, count)
    order = [("F", n) for n in range(ahead)]
    for n in range(count - ahead):
        order += [("F", ahead + n), ("B", n)]
    return order + [("B", n) for n in range(count - ahead, count)]


for stage in range(STAGES):
    steps = one_forward_one_backward(stage)
    print(f"stage {stage}:", " ".join(f"{kind}{number}" for kind, number in steps))

# %% [markdown]
# The figure shows when each pass runs if a forward pass takes one unit of time, a backward pass
# two, and messages none. Numbers are micro-batches, pale bars are forward passes. Both schedules
# end at the same time and leave the same gaps.


# %%
def started(order):
    """When each pass starts: after the one before it on its stage, and after what it receives."""
    begins, ends = {}, {}
    free = [0] * STAGES
    waiting = [list(order(stage)) for stage in range(STAGES)]
    while any(waiting):
        for stage, steps in enumerate(waiting):
            while steps:
                kind, n = steps[0]
                source = stage - 1 if kind == "F" else stage + 1
                if 0 <= source < STAGES and (kind, n, source) not in ends:
                    break
                steps.pop(0)
                begun = max(free[stage], ends.get((kind, n, source), 0))
                begins[kind, n, stage] = begun
                free[stage] = ends[kind, n, stage] = begun + (1 if kind == "F" else 2)
    return begins, max(ends.values())


fig, axes = plt.subplots(2, 1, sharex=True)
lengths = {}
for ax, (name, order) in zip(
    axes, [("GPipe", gpipe), ("1F1B", one_forward_one_backward)], strict=True
):
    begins, lengths[name] = started(order)
    for (kind, n, stage), begun in begins.items():
        wide = 1 if kind == "F" else 2
        pale = 0.4 if kind == "F" else 1.0
        ax.barh(stage, wide, left=begun, color=COLOURS[0], alpha=pale, edgecolor="white")
        ax.text(begun + wide / 2, stage, n, ha="center", va="center", fontsize=7)
    ax.set(ylabel=f"stage, {name}", yticks=range(STAGES))
    ax.invert_yaxis()
axes[1].set_xlabel("time in forward passes")
show("When the passes of GPipe and of 1F1B run on four stages with six micro-batches")

# %% [markdown]
# ## A stage
#
# A forward pass receives activations from the stage before, keeps them with their graph, and sends
# its output on. A backward pass receives the gradient of that output, runs autograd through the one
# block, and sends the gradient of the input back. That is all a pipeline is.


# %%
def run_stage(stage, order):
    """The gradient of this stage's weights, and the most micro-batches it kept at once."""
    weights, batch = start()
    w = weights[stage].requires_grad_()
    kept, most = {}, 0
    sending = []
    for kind, number in order(stage):
        if kind == "F":
            x = batch[number] if stage == 0 else received(stage - 1)
            x.requires_grad_()
            y = block(x, w)
            kept[number] = (x, y)
            most = max(most, len(kept))
            if stage < STAGES - 1:
                sending.append(sent(y, stage + 1))
        else:
            x, y = kept.pop(number)  # the buffers of this micro-batch end here
            if stage == STAGES - 1:
                loss(y).backward()
            else:
                y.backward(received(stage + 1))
            if stage > 0:
                sending.append(sent(x.grad, stage - 1))
    for handle, _ in sending:
        handle.wait()
    return w.grad.numpy(), most


def received(source):
    buffer = torch.empty(TOKENS, WIDTH, dtype=torch.float64)
    dist.recv(buffer, source)
    return buffer


def sent(tensor, target):
    """Send without waiting, or two neighbours that both send would wait for each other."""
    tensor = tensor.detach().clone()
    return dist.isend(tensor, target), tensor  # the buffer must live until it is sent


(reference,) = run_ranks(1, alone)
results = {
    name: run_ranks(STAGES, run_stage, order)
    for name, order in [("GPipe", gpipe), ("1F1B", one_forward_one_backward)]
}


def difference(found):
    """Largest difference from the gradients of one process, relative to the largest entry."""
    pairs = zip(found, reference, strict=True)
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)


for name, stages in results.items():
    alike = difference([gradient for gradient, _ in stages]) < 1e-12
    kept = ", ".join(str(most) for _, most in stages)
    print(
        f"{name:5}  gradients {'alike to rounding' if alike else 'DIFFERENT'}; kept at most {kept}"
    )

# %% [markdown]
# GPipe keeps all micro-batches on every stage. 1F1B keeps four on the first stage and one on the
# last, however many micro-batches the batch has: that is why it can afford many of them, and many
# micro-batches are what makes the bubble small. The drawing above says how small, if you divide its
# gaps by its length, and the formula of the chapter says the same.

# %%
idle = 1 - 3 * MICRO_BATCHES / lengths["1F1B"]  # a stage works for three units a micro-batch
print(f"idle in the drawing: {idle:.1%}")
shares = {}
for count in (MICRO_BATCHES, 8 * MICRO_BATCHES):
    shares[count] = flopbook.calculate("bubble", stages=STAGES, microbatches=count)["fraction"]
    print(f"{count:2} micro-batches: {shares[count]:.1%} of the step is bubble")


def most_kept(steps):
    """The most micro-batches in flight, from the order of the passes alone."""
    flight = np.cumsum([1 if kind == "F" else -1 for kind, _ in steps])
    return int(flight.max())


# %% [markdown]
# ## Try it
#
# - Suppose that a send had to wait until its receiver asks for it. Which two neighbours would then
#   wait for each other under 1F1B, and why not under GPipe?
# - Give the last stage a larger block. Which stages wait, and at which steps of the order?
# - Write the interleaved schedule: two blocks on each stage, four stages in a circle.
#
# ## Check
#
# The claims of this page, as assertions.

# %%
for stages in results.values():
    assert difference([gradient for gradient, _ in stages]) < 1e-12
assert [most for _, most in results["GPipe"]] == [MICRO_BATCHES] * STAGES
assert [most for _, most in results["1F1B"]] == [STAGES - stage for stage in range(STAGES)]
assert lengths["GPipe"] == lengths["1F1B"] == 3 * (MICRO_BATCHES + STAGES - 1)
for stage in range(STAGES):
    assert sorted(gpipe(stage)) == sorted(one_forward_one_backward(stage))
    for count in (MICRO_BATCHES, 8 * MICRO_BATCHES):  # however many micro-batches there are
        assert most_kept(gpipe(stage, count)) == count
        assert most_kept(one_forward_one_backward(stage, count)) == STAGES - stage
assert np.isclose(idle, shares[MICRO_BATCHES]) and shares[8 * MICRO_BATCHES] < idle / 4
print("all checks passed")
