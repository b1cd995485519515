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
# # FSDP and tensor parallelism by hand in PyTorch
#
# You will write the page of communication that `fully_shard` and `parallelize_module` hide: four
# processes train the same small network with data parallelism, with FSDP and with tensor
# parallelism, and every gradient must equal that of one process. Each collective is counted, so
# that you can compare its bytes with the formulas of the handbook.
#
# The four ranks are processes on one computer that talk over gloo, PyTorch's backend for
# processors. What they send is what GPUs would send; only the time is different, so nothing is
# timed. The chapters on FSDP and on tensor parallelism come before this notebook.
#
# To follow along on your own computer, in a clone of the repository:
# `pip install '.[torch]' matplotlib`. No GPU is needed.
#
# ## Set up

# %%
import weakref

import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.distributed as dist

import flopbook
from flopbook.drawing.plotting import COLOURS, show, use_style
from flopbook.sharding.ranks import run_ranks

use_style()

RANKS, LAYERS, WIDTH, HIDDEN, TOKENS = 4, 3, 32, 96, 64
MOVED = {}  # elements that a rank received, by collective
HELD = {"now": 0, "most": 0}  # elements of gathered matrices that a rank holds


def count(name, elements):
    MOVED[name] = MOVED.get(name, 0) + elements


# %% [markdown]
# ## The network
#
# Three residual blocks of two matrices, a feed-forward block each. The loss is the mean square of
# the output, so its gradient is easy to follow. All ranks make the same weights and the same batch
# from one seed.


# %%
def start(tokens=TOKENS):
    """Weights of all layers, in and out, and the batch (tokens, width)."""
    dice = torch.Generator().manual_seed(0)

    def matrix(rows, columns):
        return torch.randn(rows, columns, generator=dice, dtype=torch.float64) * rows**-0.5

    weights = [(matrix(WIDTH, HIDDEN), matrix(HIDDEN, WIDTH)) for _ in range(LAYERS)]
    return weights, torch.randn(tokens, WIDTH, generator=dice, dtype=torch.float64)


def alone(rank):
    """Gradients of one process with the whole batch."""
    weights, x = start()
    flat = [w.requires_grad_() for pair in weights for w in pair]
    for w_in, w_out in weights:
        x = x + torch.relu(x @ w_in) @ w_out
    (x * x).mean().backward()
    return [w.grad.numpy() for w in flat]


(reference,) = run_ranks(1, alone)
print(f"{len(reference)} matrices, {sum(g.size for g in reference):,} parameters")

# %% [markdown]
# ## Data parallelism
#
# Each rank takes a quarter of the tokens. The mean over the batch is the mean of the four means, so
# the gradients are averaged with one all-reduce per matrix. Every rank keeps all weights.


# %%
def data_parallel(rank, tokens=TOKENS):
    weights, x = start(tokens)
    x = x.chunk(RANKS)[rank]
    flat = [w.requires_grad_() for pair in weights for w in pair]
    for w_in, w_out in weights:
        x = x + torch.relu(x @ w_in) @ w_out
    (x * x).mean().backward()
    for w in flat:
        dist.all_reduce(w.grad)
        count("all-reduce", 2 * (RANKS - 1) * w.numel() // RANKS)
        w.grad /= RANKS
    return [w.grad.numpy() for w in flat], MOVED


# %% [markdown]
# ## FSDP
#
# A rank stores a quarter of the rows of each matrix. Before a product it gathers the whole matrix,
# and frees it right after. The backward pass gathers it again, computes the gradient of the whole
# matrix from its own tokens, and a reduce-scatter leaves each rank with the quarter that belongs to
# its rows, summed over all ranks. `HELD` counts the gathered matrices that exist at one time: if
# the code frees what it says it frees, that is one.


# %%
def gathered(shard):
    """The whole matrix from the rows of all ranks; counted for as long as it exists."""
    parts = [torch.empty_like(shard) for _ in range(RANKS)]
    dist.all_gather(parts, shard)
    count("all-gather", (RANKS - 1) * shard.numel())
    whole = torch.cat(parts)
    HELD["now"] += whole.numel()
    HELD["most"] = max(HELD.values())
    weakref.finalize(whole, freed, whole.numel())
    return whole


def freed(elements):
    HELD["now"] -= elements


class ShardedProduct(torch.autograd.Function):
    """x @ W, where this rank stores a quarter of the rows of W."""

    @staticmethod
    def forward(ctx, x, shard):
        ctx.save_for_backward(x, shard)  # not the gathered matrix: it is freed here
        return x @ gathered(shard)

    @staticmethod
    def backward(ctx, slope):
        x, shard = ctx.saved_tensors
        back = slope @ gathered(shard).T
        mine = torch.empty_like(shard)
        dist.reduce_scatter(mine, list((x.T @ slope).chunk(RANKS)))
        count("reduce-scatter", (RANKS - 1) * shard.numel())
        return back, mine / RANKS


def fully_sharded(rank, tokens=TOKENS):
    weights, x = start(tokens)
    x = x.chunk(RANKS)[rank]
    shards = [w.chunk(RANKS)[rank].clone().requires_grad_() for pair in weights for w in pair]
    for w_in, w_out in zip(shards[::2], shards[1::2], strict=True):
        x = x + ShardedProduct.apply(torch.relu(ShardedProduct.apply(x, w_in)), w_out)
    (x * x).mean().backward()
    held = sum(shard.numel() for shard in shards)
    return [shard.grad.numpy() for shard in shards], MOVED, held, HELD["most"]


# %% [markdown]
# ## Tensor parallelism
#
# Now all ranks work on the same tokens. A rank holds a quarter of the columns of the first matrix
# and the same quarter of the rows of the second. The ReLU acts on each column alone, so nothing
# moves between the two products. The partial sums at the end are added up by an all-reduce; the
# backward pass needs one at the front, where each rank has the gradient of its own columns only.


# %%
class Enter(torch.autograd.Function):
    """The same input forward; backward, the sum of what the ranks found."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, slope):
        slope = slope.clone()
        dist.all_reduce(slope)
        count("all-reduce", 2 * (RANKS - 1) * slope.numel() // RANKS)
        return slope


class Leave(torch.autograd.Function):
    """The sum of the partial results forward; backward, the same gradient for every rank."""

    @staticmethod
    def forward(ctx, partial):
        total = partial.clone()
        dist.all_reduce(total)
        count("all-reduce", 2 * (RANKS - 1) * total.numel() // RANKS)
        return total

    @staticmethod
    def backward(ctx, slope):
        return slope


def tensor_parallel(rank, tokens=TOKENS):
    weights, x = start(tokens)
    shards = []
    for w_in, w_out in weights:
        columns = w_in.chunk(RANKS, dim=1)[rank].clone().requires_grad_()
        rows = w_out.chunk(RANKS, dim=0)[rank].clone().requires_grad_()
        x = x + Leave.apply(torch.relu(Enter.apply(x) @ columns) @ rows)
        shards += [columns, rows]
    (x * x).mean().backward()
    return [shard.grad.numpy() for shard in shards], MOVED


# %% [markdown]
# ## Are they equal?
#
# Put the shards together again and compare with one process. Double precision leaves differences
# of rounding only.


# %%
def difference(found):
    """Largest difference from the gradients of one process, relative to the largest entry."""
    pairs = zip(found, reference, strict=True)
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)


replicated = run_ranks(RANKS, data_parallel)
sharded = run_ranks(RANKS, fully_sharded)
divided = run_ranks(RANKS, tensor_parallel)

from_fsdp = [np.concatenate(parts) for parts in zip(*(rank[0] for rank in sharded), strict=True)]
from_tp = [
    np.concatenate(parts, axis=1 - number % 2)  # columns of the first matrix, rows of the second
    for number, parts in enumerate(zip(*(rank[0] for rank in divided), strict=True))
]
for name, found in [("DP", replicated[0][0]), ("FSDP", from_fsdp), ("TP", from_tp)]:
    print(f"{name:5} {'alike to rounding' if difference(found) < 1e-12 else 'DIFFERENT'}")

# %% [markdown]
# ## What moved
#
# FSDP received every matrix twice and sent every gradient once, each times 1 - 1/N: three
# parameters' worth, half as much again as the all-reduce of data parallelism. Tensor parallelism
# sent activations, in proportion to the tokens and not to the weights: two all-reduces in each
# block but one, since nobody asks for the gradient of the first input.

# %%
parameters = sum(g.size for g in reference)
share = 1 - 1 / RANKS
_, by_fsdp, stored, gathered_most = sharded[0]
print(f"P = {parameters:,} parameters; under FSDP a rank stores {stored:,}")
print(f"and holds at most {gathered_most:,} gathered ones, a matrix of {WIDTH} by {HIDDEN}")
for name, elements in by_fsdp.items():
    print(f"FSDP {name:14} {elements:7,} elements: {elements / parameters / share:g} (1 - 1/N) P")
for name, elements in divided[0][1].items():
    each = elements / (2 * share * TOKENS * WIDTH)
    print(f"TP   {name:14} {elements:7,} elements: {each:g} x 2 (1 - 1/N) x tokens x width")

# %% [markdown]
# Now run all three once more with twice the tokens. The figure shows the elements that each rank
# moved in one step, for both batches. FSDP moves half as much again as data parallelism, and
# neither asks how many tokens there are. Tensor parallelism does, and its bar doubles.

# %%
SCHEMES = {"DP": data_parallel, "FSDP": fully_sharded, "TP": tensor_parallel}
once, twice = (
    {name: sum(run_ranks(RANKS, run, tokens)[0][1].values()) for name, run in SCHEMES.items()}
    for tokens in (TOKENS, 2 * TOKENS)
)
fig, ax = plt.subplots()
for number, (tokens, moved) in enumerate([(TOKENS, once), (2 * TOKENS, twice)]):
    places = [place + 0.4 * number for place in range(len(moved))]
    ax.bar(places, moved.values(), width=0.36, color=COLOURS[number], label=f"{tokens} tokens")
ax.set(xticks=[place + 0.2 for place in range(len(once))], xticklabels=list(once))
ax.set(xlabel="scheme", ylabel="elements moved by a rank")
ax.legend()
show("Elements that a rank moves in a step under DP, FSDP and TP, for a batch and for twice of it")

# %% [markdown]
# On real links the same counts decide what hides. Ask the calculators: from how many tokens per
# chip does FSDP hide behind the products, and up to which degree does TP?

# %%
fsdp = flopbook.calculate("fsdp-limit", chip="h100-sxm")
tp = flopbook.calculate("tp-limit", chip="h100-sxm", model="llama-3-70b")
print(f"FSDP hides from {flopbook.format_quantity(fsdp['tokens_per_chip'], 'token')} per chip")
print(f"TP pays up to a degree of {int(tp['forward_degree'])}")

# %% [markdown]
# ## Try it
#
# - Leave out the second `gathered` of the backward pass by saving the whole matrix. Which count
#   falls, and what does the memory of a rank become?
# - Replace the all-reduce of `Leave` by a reduce-scatter and add an all-gather to `Enter`. That is
#   sequence parallelism. Do the elements change?
# - Give each rank a different seed. Which of the three notices, and how?
#
# ## Check
#
# The claims of this page, as assertions.

# %%
assert all(difference(gradients) < 1e-12 for gradients, _ in replicated)  # on every rank
assert difference(from_fsdp) < 1e-12 and difference(from_tp) < 1e-12
assert all(stored * RANKS == parameters for _, _, stored, _ in sharded)
assert all(most == WIDTH * HIDDEN for *_, most in sharded)  # one matrix at a time, never two
assert by_fsdp == {
    "all-gather": int(2 * share * parameters),
    "reduce-scatter": int(share * parameters),
}
assert replicated[0][1] == {"all-reduce": int(2 * share * parameters)}
assert once["FSDP"] == 1.5 * once["DP"]
assert (twice["DP"], twice["FSDP"], twice["TP"]) == (once["DP"], once["FSDP"], 2 * once["TP"])
assert divided[0][1] == {"all-reduce": int((2 * LAYERS - 1) * 2 * share * TOKENS * WIDTH)}
print("all checks passed")
