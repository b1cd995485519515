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
# # Ring attention by hand in PyTorch
#
# You will attend over one sequence on four ranks. Each holds a quarter of the tokens, and its
# queries need the keys and values of all others. In ring attention the blocks of keys and values
# travel round, and an online softmax makes the result exact although no rank ever sees all scores.
# You write the forward and the backward pass, compare both with one process, and see why the causal
# mask leaves half of the machine idle until the blocks are dealt out differently.
#
# To follow along on your own computer, in a clone of the repository:
# `pip install '.[torch]' matplotlib`. No GPU is needed. The chapter on experts and long contexts
# comes before this notebook.
#
# ## Set up

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.distributed as dist

from flopbook.drawing.plotting import COLOURS, show, use_style
from flopbook.sharding.ranks import run_ranks

use_style()

RANKS, HEADS, TOKENS, HEAD_DIM = 4, 2, 64, 8
COUNTED = {"elements": 0, "products": 0}  # what a rank sends and multiplies in one pass


def start():
    """Queries, keys, values and a direction for the loss, each (heads, tokens, head dimension)."""
    dice = torch.Generator().manual_seed(0)
    return torch.randn(4, HEADS, TOKENS, HEAD_DIM, generator=dice, dtype=torch.float64)


def product(a, b):
    """a @ b, counted."""
    COUNTED["products"] += 1
    return a @ b


def scores(q, k, rows, columns):
    """Scaled products; what lies in the future of a row is minus infinity."""
    future = columns[None, :] > rows[:, None]
    return (product(q, k.transpose(-1, -2)) * HEAD_DIM**-0.5).masked_fill(future, -torch.inf)


def alone(rank):
    """Output and gradients of one process."""
    q, k, v, direction = start()
    q, k, v = (tensor.clone().requires_grad_() for tensor in (q, k, v))
    places = torch.arange(TOKENS)
    out = torch.softmax(scores(q, k, places, places), dim=-1) @ v
    (out * direction).sum().backward()
    return [tensor.detach().numpy() for tensor in (out, q.grad, k.grad, v.grad)]


(reference,) = run_ranks(1, alone)

# %% [markdown]
# ## Who holds which tokens
#
# The plain way gives rank 0 the first quarter of the sequence and rank 3 the last. Under a causal
# mask rank 0 then has one block of work and rank 3 has four. The balanced way cuts the sequence
# into twice as many chunks and gives each rank one from the front and one from the back.


# %%
def plain(rank):
    return torch.arange(TOKENS).chunk(RANKS)[rank]


def balanced(rank):
    chunks = torch.arange(TOKENS).chunk(2 * RANKS)
    return torch.cat([chunks[rank], chunks[2 * RANKS - 1 - rank]])


# %% [markdown]
# ## Forward
#
# A rank keeps three things for its queries: the largest score so far, the sum of the exponentials,
# and the weighted sum of the values. Each block that comes by updates all three. While it works on
# one block, the next one could already be on its way; here we wait, for clarity.


# %%
def passed_on(tensors, rank):
    """What the left neighbour holds, while the right one gets ours."""
    sent = torch.stack(tensors).contiguous()
    COUNTED["elements"] += sent.numel()
    come = torch.empty_like(sent)
    right, left = (rank + 1) % RANKS, (rank - 1) % RANKS
    moves = [dist.P2POp(dist.isend, sent, right), dist.P2POp(dist.irecv, come, left)]
    for handle in dist.batch_isend_irecv(moves):
        handle.wait()
    return list(come)


def forward(rank, q, k, v, places):
    rows = places(rank)
    top = torch.full((HEADS, len(rows), 1), -torch.inf, dtype=q.dtype)
    total, out = torch.zeros_like(top), torch.zeros_like(q)
    unmasked = 0
    for step in range(RANKS):
        owner = (rank - step) % RANKS
        s = scores(q, k, rows, places(owner))
        unmasked += int((s > -torch.inf).sum())
        higher = torch.maximum(top, s.amax(-1, keepdim=True))
        weights = torch.exp(s - higher)
        shrink = torch.exp(top - higher).nan_to_num(0.0)
        total = total * shrink + weights.nan_to_num(0.0).sum(-1, keepdim=True)
        out = out * shrink + product(weights.nan_to_num(0.0), v)
        top = higher
        k, v = passed_on([k, v], rank)
    return out / total, top + torch.log(total), unmasked


# %% [markdown]
# ## Backward
#
# The backward pass sends keys and values round once more, and their gradients travel with them, so
# that each rank can add its part; after a full circle they arrive at home. That is twice the bytes
# of the forward pass, for two and a half times the products.


# %%
def backward(rank, q, k, v, out, logs, slope, places):
    rows, back_q = places(rank), torch.zeros_like(q)
    back_k, back_v = torch.zeros_like(k), torch.zeros_like(v)
    drift = (slope * out).sum(-1, keepdim=True)
    for step in range(RANKS):
        owner = (rank - step) % RANKS
        p = torch.exp(scores(q, k, rows, places(owner)) - logs)
        back_v = back_v + product(p.transpose(-1, -2), slope)
        ds = p * (product(slope, v.transpose(-1, -2)) - drift) * HEAD_DIM**-0.5
        back_q = back_q + product(ds, k)
        back_k = back_k + product(ds.transpose(-1, -2), q)
        k, v, back_k, back_v = passed_on([k, v, back_k, back_v], rank)
    return back_q, back_k, back_v


def ring(rank, places):
    q, k, v, direction = (tensor[:, places(rank)] for tensor in start())
    out, logs, unmasked = forward(rank, q, k, v, places)
    passes = [dict(COUNTED)]
    gradients = backward(rank, q, k, v, out, logs, direction, places)
    passes.append({name: COUNTED[name] - before for name, before in passes[0].items()})
    return [tensor.numpy() for tensor in (out, *gradients)], unmasked, passes


# %% [markdown]
# ## Equal, and uneven
#
# The parts of all ranks, put back in the order of the sequence, must equal one process. The number
# of scores that are not masked says how the work is shared.


# %%
def difference(found, places):
    """Largest difference from one process, over the output and all three gradients."""
    order = torch.cat([places(rank) for rank in range(RANKS)]).argsort().numpy()
    whole = [np.concatenate(parts, axis=1)[:, order] for parts in zip(*found, strict=True)]
    pairs = zip(whole, reference, strict=True)
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)


worked, counted = {}, {}
for name, places in [("plain", plain), ("balanced", balanced)]:
    results = run_ranks(RANKS, ring, places)
    off = difference([tensors for tensors, _, _ in results], places)
    worked[name] = off, [unmasked for _, unmasked, _ in results]
    counted[name] = [passes for *_, passes in results]
    share = worked[name][1][-1] * RANKS / sum(worked[name][1])
    alike = "alike to rounding" if off < 1e-12 else "DIFFERENT"
    print(f"{name:8} {alike}; scores of each rank {worked[name][1]}, the last {share:.2f} x mean")

# %% [markdown]
# With the plain split the last rank has nearly twice the mean, and all others wait for it: causal
# attention over many ranks runs at half speed. Dealt out from both ends, all ranks have the same
# work, to the score. Both splits send the same bytes.

# %%
for name, passes in zip(("forward", "backward"), counted["balanced"][0], strict=True):
    print(f"{name:8} {passes['elements']:,} elements sent, {passes['products']} products of blocks")

# %% [markdown]
# The figure shows the scores that each rank computes under both splits, and their mean.

# %%
fig, ax = plt.subplots()
for number, (name, (_, unmasked)) in enumerate(worked.items()):
    places = [rank + 0.4 * number for rank in range(RANKS)]
    ax.bar(places, unmasked, width=0.36, color=COLOURS[number], label=name)
ax.axhline(sum(unmasked) / RANKS, color="black", linestyle=":", linewidth=1, label="mean")
ax.set(xticks=[rank + 0.2 for rank in range(RANKS)], xticklabels=range(RANKS))
ax.set(xlabel="rank", ylabel="scores that are not masked")
ax.legend()
show("Scores that each rank computes with the plain and with the balanced split")

# %% [markdown]
# ## Try it
#
# - Skip the blocks that are masked as a whole. By how much does the work of the plain split fall,
#   and does its step get faster?
# - Count the bytes of `passed_on` for a model with fewer KV heads than query heads.
# - Send the next block before you compute on this one. What has to be kept twice?
#
# ## Check
#
# The claims of this page, as assertions.

# %%
for off, unmasked in worked.values():
    assert off < 1e-12
    assert sum(unmasked) == HEADS * TOKENS * (TOKENS + 1) // 2
assert len(set(worked["balanced"][1])) == 1
last = worked["plain"][1][-1] * RANKS / sum(worked["plain"][1])
assert abs(last - (2 - 1 / RANKS)) < 0.05
assert counted["plain"] == counted["balanced"]  # the split changes no byte
for ahead, back in counted["balanced"]:
    assert ahead["elements"] == 2 * HEADS * TOKENS * HEAD_DIM  # keys and values, once round
    assert back["elements"] == 2 * ahead["elements"]
    assert back["products"] == 2.5 * ahead["products"]
print("all checks passed")
