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
# # An expert all-to-all by hand in PyTorch
#
# You will run a mixture-of-experts layer on four ranks, each with its own tokens and two of the
# eight experts. You write the dispatch and the combine, compare output and gradients with a layer
# on one process, count what moves, and see what uneven routing does to the fullest rank.
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

RANKS, EXPERTS, CHOSEN, WIDTH, HIDDEN, TOKENS = 4, 8, 2, 16, 24, 32  # tokens of a rank
LOCAL = EXPERTS // RANKS

# %% [markdown]
# ## The layer
#
# A router scores all experts for each token and picks two; the output is the sum of their outputs,
# weighted by a softmax over the two scores. `lean` favours the first experts, as an untrained or
# badly trained router does.


# %%
def start(lean):
    """Router, experts in and out, and the tokens of all ranks (rank, token, width)."""
    dice = torch.Generator().manual_seed(0)

    def normal(*shape):
        return torch.randn(*shape, generator=dice, dtype=torch.float64)

    router = normal(WIDTH, EXPERTS) * WIDTH**-0.5
    bias = -lean * torch.arange(EXPERTS, dtype=torch.float64)
    w_in, w_out = normal(EXPERTS, WIDTH, HIDDEN), normal(EXPERTS, HIDDEN, WIDTH)
    return router, bias, w_in * WIDTH**-0.5, w_out * HIDDEN**-0.5, normal(RANKS, TOKENS, WIDTH)


def routed(x, router, bias):
    """The chosen experts of each token and their weights."""
    scores, experts = (x @ router + bias).topk(CHOSEN)
    return experts, torch.softmax(scores, dim=-1)


def alone(rank, lean):
    router, bias, w_in, w_out, x = start(lean)
    for tensor in (router, w_in, w_out):
        tensor.requires_grad_()
    x = x.reshape(-1, WIDTH)
    experts, weights = routed(x, router, bias)
    out = sum(
        weights[:, [slot]]
        * torch.einsum(
            "bf,bfd->bd",
            torch.relu(torch.einsum("bd,bdf->bf", x, w_in[experts[:, slot]])),
            w_out[experts[:, slot]],
        )
        for slot in range(CHOSEN)
    )
    (out * out).sum().backward()
    return [t.detach().numpy() for t in (out, router.grad, w_in.grad, w_out.grad)]


# %% [markdown]
# ## The exchange
#
# Ranks first tell each other how many tokens they will send, since nobody knows that in advance.
# Then the tokens travel. The backward pass of an all-to-all is the all-to-all in the other
# direction.


# %%
class Exchange(torch.autograd.Function):
    """Rows for each rank, in the order of the ranks; backward, the way back."""

    @staticmethod
    def forward(ctx, rows, sends, receives):
        ctx.sends, ctx.receives = sends, receives
        come = rows.new_empty(sum(receives), rows.shape[1])
        dist.all_to_all_single(come, rows.contiguous(), receives, sends)
        return come

    @staticmethod
    def backward(ctx, slope):
        back = slope.new_empty(sum(ctx.sends), slope.shape[1])
        dist.all_to_all_single(back, slope.contiguous(), ctx.sends, ctx.receives)
        return back, None, None


def layer(rank, lean):
    """Output of this rank's tokens, gradients, copies sent to others, tokens of its experts."""
    router, bias, w_in, w_out, x = start(lean)
    mine = slice(rank * LOCAL, (rank + 1) * LOCAL)
    router.requires_grad_()
    w_in, w_out = (w[mine].clone().requires_grad_() for w in (w_in, w_out))
    x = x[rank]
    experts, weights = routed(x, router, bias)

    order = experts.flatten().argsort(stable=True)  # copies in the order of their experts
    targets = experts.flatten()[order]
    sends = torch.bincount(targets // LOCAL, minlength=RANKS)
    receives = torch.empty_like(sends)
    dist.all_to_all_single(receives, sends)
    sends, receives = sends.tolist(), receives.tolist()

    copies = Exchange.apply(x.repeat_interleave(CHOSEN, 0)[order], sends, receives)
    names = Exchange.apply(targets[:, None].to(x.dtype), sends, receives)[:, 0].long() - mine.start
    done = torch.zeros_like(copies)
    for expert in range(LOCAL):
        rows = (names == expert).nonzero()[:, 0]
        done = done.index_add(0, rows, torch.relu(copies[rows] @ w_in[expert]) @ w_out[expert])

    home = Exchange.apply(done, receives, sends)
    slots = torch.empty_like(home).index_copy(0, order, home).reshape(TOKENS, CHOSEN, WIDTH)
    out = (weights[:, :, None] * slots).sum(1)
    (out * out).sum().backward()
    dist.all_reduce(router.grad)  # the router is data parallel
    sent = sum(sends) - sends[rank]
    tensors = [t.detach().numpy() for t in (out, router.grad, w_in.grad, w_out.grad)]
    return tensors, sent, sum(receives)


# %% [markdown]
# ## Equal
#
# Outputs and expert gradients of the ranks, put together, against one process. An expert's gradient
# needs no all-reduce: its rank has seen every token that visited it.


# %%
def difference(found, reference):
    outs, routers, ins, afters = zip(*found, strict=True)
    whole = [np.concatenate(outs), routers[0], np.concatenate(ins), np.concatenate(afters)]
    pairs = zip(whole, reference, strict=True)
    return max(float(np.abs(a - b).max() / np.abs(b).max()) for a, b in pairs)


seen = {}
for name, lean in [("even", 0.0), ("leaning", 0.5)]:
    (reference,) = run_ranks(1, alone, lean)
    results = run_ranks(RANKS, layer, lean)
    off = difference([tensors for tensors, _, _ in results], reference)
    visits = [visited for _, _, visited in results]
    seen[name] = off, [sent for _, sent, _ in results], visits
    alike = "alike to rounding" if off < 1e-12 else "DIFFERENT"
    fullest = max(visits) * RANKS / sum(visits)
    print(
        f"{name:8} {alike}; tokens for each rank's experts {visits}, fullest {fullest:.2f} x mean"
    )

# %% [markdown]
# ## What moves
#
# With even routing a copy stays on its rank with probability 1/N. So a rank sends close to
# k (1 - 1/N) copies of each token on dispatch, and as many come back on combine: bytes in
# proportion to tokens and to k, whatever the size of the experts.

# %%
expected = TOKENS * CHOSEN * (1 - 1 / RANKS)
mean = sum(seen["even"][1]) / RANKS
print(f"copies sent by a rank: {mean:g} on average, {expected:g} expected from k (1 - 1/N) tokens")
print(f"of them under the leaning router: {sum(seen['leaning'][1]) / RANKS:g}")

# %% [markdown]
# The leaning router moves about as many bytes. But one rank does two thirds of the work, and a step
# ends when the fullest rank has finished, so the experts run at well under half their speed. That
# is why routers are trained with a balancing term or a bias, and why serving systems copy popular
# experts.
#
# The figure shows the copies that arrive at the experts of each rank, for both routers.

# %%
fig, ax = plt.subplots()
for number, (name, (_, _, visits)) in enumerate(seen.items()):
    places = [rank + 0.4 * number for rank in range(RANKS)]
    ax.bar(places, visits, width=0.36, color=COLOURS[number], label=name)
ax.axhline(TOKENS * CHOSEN, color="black", linestyle=":", linewidth=1, label="mean")
ax.set(xticks=[rank + 0.2 for rank in range(RANKS)], xticklabels=range(RANKS))
ax.set(xlabel="rank", ylabel="copies of tokens")
ax.legend()
show("Copies of tokens that arrive at each rank under an even and a leaning router")

# %% [markdown]
# ## Try it
#
# - Drop the tokens beyond a capacity of 1.25 times the mean. How far is the output from exact?
# - Give each rank the experts 0, 4 and 1, 5 and so on. Does the leaning router still overload one?
# - Send a token only once to a rank that holds both of its experts. How many copies does it save?
#
# ## Check
#
# The claims of this page, as assertions.

# %%
for off, sent, visits in seen.values():
    assert off < 1e-12
    assert sum(visits) == RANKS * TOKENS * CHOSEN
    assert all(0 < copies <= TOKENS * CHOSEN for copies in sent)
assert abs(mean / expected - 1) < 0.1
spread = {name: max(visits) * RANKS / sum(visits) for name, (_, _, visits) in seen.items()}
assert spread["leaning"] > 2 > 1.5 > spread["even"]  # at under half of the speed
fullest = max(seen["leaning"][2]) / (RANKS * TOKENS * CHOSEN)
assert abs(fullest - 2 / 3) < 0.1  # one rank does two thirds of the work
assert abs(sum(seen["leaning"][1]) / sum(seen["even"][1]) - 1) < 0.1  # about as many bytes
print("all checks passed")
