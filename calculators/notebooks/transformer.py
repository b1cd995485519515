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
# # A transformer in NumPy: every parameter and every operation counted
#
# You will build the smallest complete decoder: embedding, places, attention, feed-forward blocks,
# and the backward pass by hand. It learns to repeat what it has read. On the way every matrix
# product is counted, and the counts must agree with what flopbook computes for models millions of
# times as large.
#
# To follow along on your own computer, in a clone of the repository:
# `pip install . numpy matplotlib`. No GPU is needed.
#
# ## Set up
#
# This cell asks for one thread, which must happen before NumPy is loaded: the matrices here are so
# small that threads would spend their time waiting for one another. Then it loads flopbook and
# NumPy and sets the look of the figures.

# %%
import os

for library in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import matplotlib.pyplot as plt
import numpy as np

import flopbook
from flopbook.drawing.plotting import COLOURS, INK, show, use_style

use_style()

# %% [markdown]
# ## Pieces with a way back
#
# Each piece takes an input and returns its output together with a function `back`. Given the
# gradient of the loss by the output, `back` returns the gradients by the input and by the weights.
# All products go through `matmul`, which counts: a product of rows x inner and inner x columns is
# one multiplication and one addition for each of the three indices.


# %%
counted = {"flop": 0}


def matmul(a, b):
    """A matrix product, or many at once over the leading dimensions; 2 FLOP for each triple of
    indices.
    """
    counted["flop"] += 2 * a.size * b.shape[-1]
    return a @ b


def flat(x):
    """All tokens of a batch under one another: (tokens, width)."""
    return x.reshape(-1, x.shape[-1])


def linear(x, weights):
    """Tokens times a matrix of weights."""
    return matmul(x, weights), lambda dy: (matmul(dy, weights.T), matmul(flat(x).T, flat(dy)))


def norm(x, scale):
    """Each token divided by its root mean square, each coordinate times a learned scale."""
    inverse = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)
    y = x * inverse

    def back(dout):
        dy = dout * scale
        return inverse * (dy - y * (dy * y).mean(-1, keepdims=True)), flat(dout * y).sum(0)

    return y * scale, back


def softmax(x):
    """Positive numbers that add up to 1 along the last dimension."""
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# %% [markdown]
# ## Attention
#
# Three products make a query, a key and a value of each token, and the heads share their
# coordinates out. A token's query is compared with the keys of all tokens up to its own place;
# those after it are masked. The scores become weights that add up to one, and the weighted values
# go through a last matrix.


# %%
def attention(x, wq, wk, wv, wo, heads):
    """Causal attention; also returns the weights, (batch, head, looking token, token looked at)."""
    batch, length, width = x.shape

    def split(y):  # (batch, token, width) -> (batch, head, token, width of a head)
        return y.reshape(batch, length, heads, -1).swapaxes(1, 2)

    def join(y):
        return y.swapaxes(1, 2).reshape(batch, length, width)

    (q, back_q), (k, back_k), (v, back_v) = (linear(x, w) for w in (wq, wk, wv))
    q, k, v = split(q), split(k), split(v)
    root = np.sqrt(q.shape[-1])
    scores = matmul(q, k.swapaxes(2, 3)) / root
    look = softmax(np.where(np.tri(length, dtype=bool), scores, -np.inf))
    out, back_o = linear(join(matmul(look, v)), wo)

    def back(dout):
        dmixed, dwo = back_o(dout)
        dmixed = split(dmixed)
        dlook, dv = matmul(dmixed, v.swapaxes(2, 3)), matmul(look.swapaxes(2, 3), dmixed)
        dscores = look * (dlook - (dlook * look).sum(-1, keepdims=True)) / root
        dq, dk = matmul(dscores, k), matmul(dscores.swapaxes(2, 3), q)
        parts = [back_q(join(dq)), back_k(join(dk)), back_v(join(dv))]
        return sum(dx for dx, _ in parts), *(dw for _, dw in parts), dwo

    return out, back, look


# %% [markdown]
# ## The decoder
#
# A token is looked up in the embedding, and the vector of its place is added: without it, attention
# could not tell the first token from the third. Each layer adds to this stream what attention
# finds, and then what the feed-forward block makes of each token alone. At the end a matrix turns
# each token into a score for every word of the vocabulary.


# %%
VOCAB, WIDTH, HEADS, HIDDEN, LAYERS, LENGTH = 18, 32, 2, 128, 2, 16
MATRICES = {
    "q": (WIDTH, WIDTH),
    "k": (WIDTH, WIDTH),
    "v": (WIDTH, WIDTH),
    "o": (WIDTH, WIDTH),
    "up": (WIDTH, HIDDEN),
    "down": (HIDDEN, WIDTH),
}


def initial(seed):
    """All parameters by name: matrices random and small, scales of the normalisations one."""
    random = np.random.default_rng(seed)
    shapes = {"embedding": (VOCAB, WIDTH), "places": (LENGTH, WIDTH)}
    for layer in range(LAYERS):
        shapes |= {f"{layer}.{name}": shape for name, shape in MATRICES.items()}
        shapes |= {f"{layer}.norm1": (WIDTH,), f"{layer}.norm2": (WIDTH,)}
    shapes |= {"norm": (WIDTH,), "head": (WIDTH, VOCAB)}
    return {
        name: np.ones(shape) if "norm" in name else random.standard_normal(shape) * shape[0] ** -0.5
        for name, shape in shapes.items()
    }


def forward(p, tokens):
    """Scores of the next token after each token, what goes back through each part, and where each
    layer looked.
    """
    x = p["embedding"][tokens] + p["places"]
    backs, looks = [], []
    for n in range(LAYERS):
        normed, back_norm = norm(x, p[f"{n}.norm1"])
        out, back_attention, look = attention(normed, *(p[f"{n}.{name}"] for name in "qkvo"), HEADS)
        x = x + out
        normed, back_norm2 = norm(x, p[f"{n}.norm2"])
        hidden, back_up = linear(normed, p[f"{n}.up"])
        out, back_down = linear(np.maximum(hidden, 0), p[f"{n}.down"])
        x = x + out
        backs.append((back_norm, back_attention, back_norm2, back_up, hidden > 0, back_down))
        looks.append(look)
    normed, back_norm = norm(x, p["norm"])
    scores, back_head = linear(normed, p["head"])
    return scores, (backs, back_norm, back_head), looks


def loss_and_gradients(p, tokens, targets):
    """Mean cross-entropy of the targets (those below 0 do not count), and its gradient by every
    parameter.
    """
    scores, (backs, back_norm, back_head), _ = forward(p, tokens)
    chance, counts = softmax(scores), targets >= 0
    where = (*np.nonzero(counts), targets[counts])
    loss = -np.log(chance[where]).mean()
    chance[where] -= 1
    g = {}
    dx, g["head"] = back_head(chance * counts[..., None] / counts.sum())
    dx, g["norm"] = back_norm(dx)
    for n, (back1, back_attention, back2, back_up, positive, back_down) in reversed(
        list(enumerate(backs))
    ):
        dhidden, g[f"{n}.down"] = back_down(dx)
        dnormed, g[f"{n}.up"] = back_up(dhidden * positive)
        dmore, g[f"{n}.norm2"] = back2(dnormed)
        dx = dx + dmore
        dnormed, *dmatrices = back_attention(dx)
        g |= {f"{n}.{name}": d for name, d in zip("qkvo", dmatrices, strict=True)}
        dmore, g[f"{n}.norm1"] = back1(dnormed)
        dx = dx + dmore
    g["places"] = dx.sum(0)
    g["embedding"] = np.zeros_like(p["embedding"])
    np.add.at(g["embedding"], tokens, dx)
    return loss, g


# %% [markdown]
# ## Is the backward pass right?
#
# A gradient says how much the loss changes when a parameter does. So change one parameter by a
# little in both directions and look. The next cell does that for some parameters of every array and
# compares.


# %%
def samples(seed, many):
    """Eight random words, a mark, and the same eight again; only the second half can be foretold
    and counts.
    """
    random = np.random.default_rng(seed)
    words = random.integers(2, VOCAB, (many, LENGTH // 2))
    line = np.concatenate([words, np.ones((many, 1), int), words], axis=1)
    tokens, targets = line[:, :LENGTH], line[:, 1:].copy()
    targets[:, : LENGTH // 2] = -1
    return tokens, targets


def difference(p, name, at, tokens, targets, step=1e-5):
    """The derivative of the loss by one parameter, from the loss on either side."""
    old, losses = p[name][at], []
    for sign in (1, -1):
        p[name][at] = old + sign * step
        losses.append(loss_and_gradients(p, tokens, targets)[0])
    p[name][at] = old
    return (losses[0] - losses[1]) / (2 * step)


p = initial(0)
few = samples(3, 4)
gradients = loss_and_gradients(p, *few)[1]
random, worst = np.random.default_rng(4), {}
for name, g in gradients.items():
    places = [tuple(random.integers(0, side) for side in g.shape) for _ in range(4)]
    largest = np.abs(g).max()
    worst[name] = max(abs(difference(p, name, at, *few) - g[at]) / largest for at in places)
print(
    f"{len(gradients)} arrays of parameters, {sum(g.size for g in gradients.values()):,} parameters"
)
print(
    f"largest error of a gradient: {max(worst.values()):.1e} of the largest gradient in its array"
)

# %% [markdown]
# ## Counting parameters
#
# The calculator knows nothing of this code. It gets the shape and answers part by part.

# %%
SHAPE = {"layers": LAYERS, "d_model": WIDTH, "heads": HEADS, "vocab": VOCAB}
answer = flopbook.params(
    **SHAPE, d_ff=HIDDEN, ffn_kind="plain", positions="learned", context=LENGTH, norms_per_layer=2
)
PARTS = {
    "embedding": ("embedding", "places", "head"),
    "attention": tuple("qkvo"),
    "ffn": ("up", "down"),
    "norms": ("norm", "norm1", "norm2"),
}
here = {
    part: sum(a.size for n, a in p.items() if n.split(".")[-1] in names)
    for part, names in PARTS.items()
}
for part, count in here.items():
    print(f"{part:<10} here {count:>7,}   calculator {answer[part]:>9,.0f}")
print(f"{'total':<10} here {sum(here.values()):>7,}   calculator {answer['total']:>9,.0f}")

# %% [markdown]
# ## Counting operations
#
# The rule of six says: 6 FLOP for each parameter and token in a training step, 6 N T with N
# parameters and T tokens. It leaves the scores of attention out, which have no parameters, and
# counts embedding, places and scales, which are never multiplied as matrices. The calculator lists
# both corrections. With them it agrees with the count to the last FLOP.
#
# For so small a model both corrections are several percent, and happen to cancel for the most part.
# The last lines show how large they are for a real one.

# %%
tokens, targets = samples(5, 64)
counted["flop"] = 0
scores = forward(p, tokens)[0]
forward_flop = counted["flop"]
counted["flop"] = 0
loss_and_gradients(p, tokens, targets)
step_flop = counted["flop"]

total = sum(here.values())
multiplied = total - here["norms"] - p["embedding"].size - p["places"].size
rule = flopbook.calculate("training-flops", params=total, tokens=tokens.size, seq=LENGTH, **SHAPE)
exact = flopbook.calculate(
    "training-flops", params=multiplied, tokens=tokens.size, seq=LENGTH, **SHAPE
)
print(f"counted, forward pass:             {forward_flop:>12,}")
print(
    f"counted, whole step:               {step_flop:>12,}  ({step_flop / forward_flop:.0f} times "
    "the forward pass)"
)
print(
    f"6 N T with all parameters:         {rule['flop']:>12,.0f}  ({rule['flop'] / step_flop:.2f} "
    "of the count)"
)
print(f"6 N T with those that multiply:    {exact['flop']:>12,.0f}")
print(f"  and the scores of attention:     {exact['flop_full']:>12,.0f}")
large = flopbook.calculate("training-flops", model="llama-3-70b", seq=8192)
print(
    f"\nLlama 3 70B with {8192:,} tokens in a sequence: scores add "
    f"{large['attention'] / large['flop']:.1%},"
)
print(f"and the input embedding is {large['embedding'] / large['flop']:.1%} of the rule")

# %% [markdown]
# ## Training
#
# The task is to repeat: eight random words, a mark, and then the same eight in order. Guessing
# costs the logarithm of 16, since there are 16 words to choose from. To do better, a token must
# look back to the place of the word that comes next, and only attention can do that. The optimizer
# is Adam.


# %%
def adam(p, g, state, rate, beta1=0.9, beta2=0.99):
    """One step of Adam; `state` holds the two running means of every gradient."""
    state["t"] = state.get("t", 0) + 1
    for name in p:
        m, v = state.get(name, (0, 0))
        m, v = beta1 * m + (1 - beta1) * g[name], beta2 * v + (1 - beta2) * g[name] ** 2
        state[name] = (m, v)
        p[name] = p[name] - rate * (m / (1 - beta1 ** state["t"])) / (
            np.sqrt(v / (1 - beta2 ** state["t"])) + 1e-9
        )


STEPS, BATCH, RATE = 200, 64, 4e-3
p, state, losses = initial(0), {}, []
for step in range(STEPS):
    loss, g = loss_and_gradients(p, *samples(1000 + step, BATCH))
    adam(p, g, state, RATE * min(1, (step + 1) / 20, (STEPS - step) / 50))
    losses.append(loss)

tokens, targets = samples(7, 256)  # never seen
scores, _, looks = forward(p, tokens)
right = (scores.argmax(-1) == targets)[targets >= 0].mean()
guess = np.log(VOCAB - 2)
print(
    f"loss: {losses[0]:.2f} at first, {guess:.2f} by guessing, {np.mean(losses[-10:]):.4f} at the "
    "end"
)
print(f"words repeated rightly that it has never seen in this order: {right:.1%}")
print(f"the whole training: {STEPS * step_flop:.2e} FLOP")

# %% [markdown]
# The figure shows the loss against the step, with the loss of guessing as a dashed line. It stays
# there for some steps, until attention has found out where to look, and then it falls.

# %%
fig, ax = plt.subplots(figsize=(7.2, 3.8))
ax.plot(losses, color=COLOURS[0])
ax.axhline(guess, color=INK, linestyle="--", linewidth=1)
ax.annotate("guessing", (STEPS, guess), (0, 4), textcoords="offset points", ha="right", fontsize=9)
ax.set(xlabel="step", ylabel="loss (nats for each word)", ylim=(0, None), xlim=(0, STEPS))
show("Loss of the small transformer against the training step, with the loss of guessing")

# %% [markdown]
# ## Where it looks
#
# The figure shows the attention weights of both heads of both layers for one unseen sequence, dark
# where a token, in its row, looks at an earlier one, in its column. Find the diagonal stripe in the
# lower half: there each token looks eight places back, where the word to say next stands.

# %%
fig, panels = plt.subplots(LAYERS, HEADS, figsize=(7.2, 7.4), sharex=True, sharey=True)
for layer in range(LAYERS):
    for head in range(HEADS):
        ax = panels[layer, head]
        ax.imshow(looks[layer][0, head], cmap="Blues", vmin=0, vmax=1)
        ax.set_title(f"layer {layer + 1}, head {head + 1}", fontsize=10)
        ax.set(xlabel="token looked at", ylabel="token that looks")
        ax.set(xticks=range(0, LENGTH, 4), yticks=range(0, LENGTH, 4))
        ax.grid(False)
show("Attention weights of both heads of both layers for one sequence that is to be repeated")
twin = {
    (n, h): np.mean([looks[n][:, h, t, t - 8] for t in range(8, 16)])
    for n in range(LAYERS)
    for h in range(HEADS)
}
best = max(twin, key=twin.get)
print(
    f"layer {best[0] + 1}, head {best[1] + 1}: {twin[best]:.0%} of the weight lies eight places "
    "back"
)

# %% [markdown]
# ## Try it
#
# - Remove the places: set `p["places"]` to zero in `forward`. Can it still learn?
# - Set `LAYERS` to 1. Is one layer enough?
# - Give the vocabulary ten thousand words. Which part holds most parameters then, and what becomes
#   of the rule of six?
#
# ## Check
#
# The claims of this page, as assertions. They run with the tests of flopbook and again each time
# the page is built.

# %%
assert (
    set(gradients) == set(p) and max(worst.values()) < 1e-5
)  # every gradient, by finite differences
assert here == {part: answer[part] for part in here} and total == answer["total"]
assert step_flop == 3 * forward_flop == exact["flop_full"]  # to the last FLOP
assert (
    exact["flop_full"] == 6 * multiplied * 64 * LENGTH + 12 * LAYERS * WIDTH * LENGTH * 64 * LENGTH
)
assert 0.85 < rule["flop"] / step_flop < 1.15
assert large["attention"] / large["flop"] < 0.2 and large["embedding"] / large["flop"] < 0.02
assert np.mean(losses[:10]) > 0.9 * guess and np.mean(losses[-10:]) < 0.1 * guess
assert right > 0.95
assert twin[best] > 0.5 and all(np.allclose(look.sum(-1), 1) for look in looks)
assert all((np.triu(look[0, 0], 1) == 0).all() for look in looks)  # nobody looks ahead
print("all checks passed")
