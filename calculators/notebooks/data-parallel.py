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
# # Data parallelism in NumPy: the same training on many chips
#
# You will train a small transformer on four simulated chips. Each has its own copy of the model and
# a quarter of the batch, and after every step they add up their gradients around a ring. You send
# the messages yourself, count their bytes, and see that the result is that of a single chip. Then
# you ask when real chips would have time for these messages.
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
# ## The model
#
# The decoder of the practical on transformers, function for function. All that you need to know is
# the last three: `loss_and_gradients` does a forward and a backward pass for some sequences,
# `samples` makes sequences to be repeated, and `adam` changes the parameters. You can skip reading
# the rest.

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


# %% [markdown]
# ## A share for each chip
#
# The loss is a mean over the sequences of the batch. Cut the batch into equal shares, let each chip
# take the mean over its own, and the mean of these means is the mean over all. The same holds for
# gradients, as they are sums over sequences too. So each chip computes the gradient of its share,
# and then all of them need the mean.

# %%
CHIPS, BATCH = 4, 64
p = initial(0)
tokens, targets = samples(1, BATCH)
loss, whole = loss_and_gradients(p, tokens, targets)
shares = [
    loss_and_gradients(p, *part)
    for part in zip(np.split(tokens, CHIPS), np.split(targets, CHIPS), strict=True)
]
print(f"loss of the whole batch: {loss:.6f}")
print("losses of the shares:   ", "  ".join(f"{one:.6f}" for one, _ in shares))
print(f"mean of the shares:      {np.mean([one for one, _ in shares]):.6f}")

# %% [markdown]
# ## Around the ring
#
# Chips stand in a ring, and each can send to the next one only. The gradients of a chip, as one
# long vector, are cut into as many pieces as there are chips. The sum takes two rounds.
#
# In the first round, a *reduce-scatter*, each piece travels once around and picks up the share of
# every chip on its way. At the end each chip holds one finished piece. In the second, an
# *all-gather*, the finished pieces travel once around. In every step each chip sends one piece and
# receives another, so all links are busy all the time.


# %%
def ring_all_reduce(vectors):
    """The sum of all vectors, on every chip, by messages to the next chip; also the bytes that each
    chip sent.
    """
    chips = len(vectors)
    pieces = [np.array_split(vector, chips) for vector in vectors]
    sent = [0] * chips
    for step in range(2 * (chips - 1)):
        messages = []
        for chip in range(chips):  # all send at once: what a chip sends was there before the step
            piece = (
                (chip - step) % chips
                if step < chips - 1
                else (chip + 1 - (step - chips + 1)) % chips
            )
            messages.append((piece, pieces[chip][piece].copy()))
            sent[chip] += messages[-1][1].nbytes
        for chip, (piece, values) in enumerate(messages):
            there = pieces[(chip + 1) % chips]
            there[piece] = there[piece] + values if step < chips - 1 else values
    return [np.concatenate(one) for one in pieces], sent


def as_vector(g):
    """All gradients in one row."""
    return np.concatenate([g[name].ravel() for name in sorted(g)])


def as_arrays(vector, like):
    """And back again, each array in its shape."""
    ends = np.cumsum([like[name].size for name in sorted(like)])
    parts = np.split(vector, ends[:-1])
    return {
        name: part.reshape(like[name].shape) for name, part in zip(sorted(like), parts, strict=True)
    }


sums, sent = ring_all_reduce([as_vector(g) for _, g in shares])
error = (
    max(np.abs(one / CHIPS - as_vector(whole)).max() for one in sums)
    / np.abs(as_vector(whole)).max()
)
print(f"gradients: {len(sums[0]):,} numbers of 8 bytes, {as_vector(whole).nbytes:,} bytes")
print("sent by each chip, bytes:", ", ".join(f"{count:,}" for count in sent))
print(f"largest difference from the gradient of a single chip: {error:.0e} of the largest")

# %% [markdown]
# ## How many bytes?
#
# Each chip sends all pieces but one, twice: 2 (1 - 1/N) of the vector. With many chips that tends
# to twice the vector and no further: the ring's great advantage. If instead everybody sent
# everything to one chip, that one would receive the whole vector from each.
#
# The figure shows the bytes through the busiest link, as multiples of the vector, against the
# number of chips. Dots were counted in the ring, the line is the collective calculator's, and the
# dashed line is one chip that adds for all.

# %%
sizes = (2, 3, 4, 6, 8, 12, 16)
vector = as_vector(whole)
ring = {n: max(ring_all_reduce([vector] * n)[1]) / vector.nbytes for n in sizes}
link = {"bytes": float(vector.nbytes), "link_bandwidth": 1e9, "links_per_axis": 1}  # one way around
told = {
    n: flopbook.calculate("collective", op="all-reduce", topology="ring", chips=n, **link)[
        "bytes_per_link"
    ]
    / vector.nbytes
    for n in sizes
}
fig, ax = plt.subplots(figsize=(7.2, 3.8))
ax.plot(sizes, [n - 1 for n in sizes], "--", color=COLOURS[1], label="one chip adds for all")
ax.plot(sizes, told.values(), color=COLOURS[0], label="ring, calculator")
ax.plot(sizes, ring.values(), "o", color=COLOURS[0], label="ring, counted")
ax.set(
    xlabel="chips", ylabel="bytes through the busiest link, in vectors", xlim=(2, 16), ylim=(0, 8)
)
ax.legend()
show("Bytes through the busiest link for a sum of gradients against the number of chips")

# %% [markdown]
# ## Training twice
#
# Now the same training on one chip and on four. Each of the four has parameters and an optimizer of
# its own, and never sees those of the others; only gradients travel. A third team forgets to send
# anything.


# %%
STEPS, RATE = 60, 4e-3


def train(chips, talk=True):
    """Losses of a training on some chips, their parameters at the end, and bytes sent by the first
    chip.
    """
    models, states, losses, sent = (
        [initial(0) for _ in range(chips)],
        [{} for _ in range(chips)],
        [],
        0,
    )
    for step in range(STEPS):
        batch = (np.split(half, chips) for half in samples(1000 + step, BATCH))
        results = [
            loss_and_gradients(p, *part)
            for p, part in zip(models, zip(*batch, strict=True), strict=True)
        ]
        vectors = [as_vector(g) for _, g in results]
        if talk:
            vectors, bytes_sent = ring_all_reduce(vectors)
            vectors, sent = [vector / chips for vector in vectors], sent + bytes_sent[0]
        for p, state, vector in zip(models, states, vectors, strict=True):
            adam(p, as_arrays(vector, p), state, RATE * min(1, (step + 1) / 20))
        losses.append(np.mean([loss for loss, _ in results]))
    return losses, [as_vector(p) for p in models], sent


alone, (one_chip,), _ = train(1)
together, copies, sent_in_all = train(CHIPS)
silent, strangers, _ = train(CHIPS, talk=False)
apart = max(np.abs(copy - one_chip).max() for copy in copies)
spread = max(np.abs(copy - strangers[0]).max() for copy in strangers)
print(
    f"loss after {STEPS} steps: one chip {alone[-1]:.6f}, four chips {together[-1]:.6f}, silent "
    f"{silent[-1]:.6f}"
)
print(f"largest difference of a parameter from that of one chip: {apart:.0e}")
print(f"and between chips that never talk: {spread:.2f}")
print(f"sent by each chip: {flopbook.format_quantity(float(sent_in_all), 'byte')}")

# %% [markdown]
# The figure shows the loss against the step. The losses of one chip and of four that talk lie on
# one another. The dashed line is the mean loss of four chips that do not talk, each of which learns
# from a quarter of the sequences.

# %%
fig, ax = plt.subplots(figsize=(7.2, 3.8))
ax.plot(alone, color=COLOURS[0], linewidth=6, alpha=0.3, label="one chip")
ax.plot(together, color=COLOURS[0], label="four chips that add up gradients")
ax.plot(silent, "--", color=COLOURS[1], label="four chips that do not talk")
ax.set(xlabel="step", ylabel="loss (nats for each word)", xlim=(0, STEPS - 1), ylim=(0, None))
ax.legend()
show("Loss of the same training on one chip, on four chips, and on four chips that do not talk")

# %% [markdown]
# ## Is there time for it?
#
# Gradients can travel while the backward pass goes on to earlier layers. It takes 4 FLOP for each
# parameter and token of the chip's share, and the sum takes the same time however small that share
# is. So there is a smallest share at which the one hides the other. The calculator answers for
# chips as they are sold; the next cell compares both times at its answer, with the collective
# calculator's time for very many chips.

# %%
model = flopbook.model("gpt-3-1.3b")
limits = {
    name: flopbook.calculate("dp-limit", chip=name) for name in ("tpu-v5p", "tpu-v6e", "h100-sxm")
}
MANY = 2**18  # so many that 1 - 1/N is one


def times(name, tokens, chips):
    """Seconds of the backward pass for some tokens on a chip, and of adding up all gradients in
    bf16.
    """
    given = {key: item.value for key, item in limits[name].inputs.items()}
    torus = given["axes"] > 1
    sides = {"topology": "torus", "axes": given["axes"]} if torus else {"topology": "ring"}
    network = {
        "link_bandwidth": given["link_bandwidth"],
        "links_per_axis": given["links_per_axis"],
        **sides,
    }
    side = round(chips ** (1 / given["axes"]))
    sums = flopbook.collective(
        bytes=2 * model.params, chips=side ** given["axes"], latency=1e-12, **network
    )
    return 4 * model.params * tokens / given["peak"], sums["seconds"]


for name, limit in limits.items():
    back, sums = times(name, limit["tokens_per_chip"], MANY)
    print(f"{name:<9} {limit['tokens_per_chip']:>6,.0f} tokens a chip:", end=" ")
    print(f"backward {back * 1e3:.2f} ms, sum {sums * 1e3:.2f} ms")

# %% [markdown]
# The figure shows both times for a model of 1.3 billion parameters on a TPU v5p against the tokens
# on each chip, with logarithmic axes. The flat orange line is the sum of gradients, the rising blue
# one the backward pass. Left of the dotted line, the limit, chips wait for the network.

# %%
tokens_each = np.geomspace(100, 10000, 50)
v5p = limits["tpu-v5p"]
back, sums = times("tpu-v5p", tokens_each, MANY)
fig, ax = plt.subplots(figsize=(7.2, 3.8))
ax.plot(tokens_each, 1e3 * back, color=COLOURS[0], label="backward pass")
ax.plot(tokens_each, 1e3 * sums * np.ones(50), color=COLOURS[1], label="sum of gradients")
ax.axvline(v5p["tokens_per_chip"], color=INK, linestyle=":", linewidth=1)
ax.set(
    xscale="log", yscale="log", xlabel="tokens on each chip", ylabel="time (ms)", xlim=(100, 10000)
)
ax.set_xticks([100, 300, 1000, 3000, 10000], ["100", "300", "1,000", "3,000", "10,000"])
ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
ax.minorticks_off()
ax.legend()
show(
    "Times of the backward pass and of the sum of gradients on a TPU v5p against tokens on each "
    "chip"
)
largest = model.batch_tokens / v5p["tokens_per_chip"]
print(
    f"with its batch of {model.batch_tokens:,.0f} tokens {model.model.name} keeps {largest:,.0f} "
    "such chips busy"
)

# %% [markdown]
# ## Try it
#
# - Send gradients in half the bytes: `vector.astype(np.float32)` before the ring. How far do the
#   four chips drift from the one?
# - Give the chips unequal shares. How must the mean be taken now?
# - Let chip 2 send zeros. Do the four still agree with one another? Do they still learn?
#
# ## Check
#
# The claims of this page, as assertions. They run with the tests of flopbook and again each time
# the page is built.

# %%
assert abs(np.mean([one for one, _ in shares]) - loss) < 1e-12 and error < 1e-12
for n in (1, 2, 3, 5, 8):  # any number of chips, any length, also when the pieces are not alike
    vectors = [np.random.default_rng(n).standard_normal(17) * (chip + 1) for chip in range(n)]
    assert all(np.allclose(one, sum(vectors)) for one in ring_all_reduce(vectors)[0])
assert all(
    abs(ring[n] / told[n] - 1) < 1e-3 for n in sizes
)  # counted as the calculator says, but for uneven pieces
assert all(abs(told[n] - 2 * (1 - 1 / n)) < 1e-12 for n in sizes) and max(ring.values()) < 2.01
assert apart < 1e-6 and np.allclose(alone, together)
assert all((copy == copies[0]).all() for copy in copies)  # copies stay equal to the last bit
assert spread > 1e-2 and silent[-1] > together[-1] and together[-1] < 0.5 * together[0]
for name, limit in limits.items():
    back_here, sums_here = times(name, limit["tokens_per_chip"], MANY)
    assert abs(back_here / sums_here - 1) < 0.02
    assert (
        np.subtract(*times(name, limit["tokens_per_chip"] / 2, MANY)) < 0
    )  # below it the network is behind
assert limits["tpu-v5p"]["tokens_per_chip"] > 100 and largest > 1
print("all checks passed")
