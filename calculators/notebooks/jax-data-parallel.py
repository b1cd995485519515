# ---
# jupyter:
#   flopbook:
#     extra: jax
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
# # Data parallelism in JAX: does every device learn the same?
#
# You will train a small transformer twice, once on one device and once on eight, each of which sees
# an eighth of the batch. The gradients must come out alike. For that they have to be added up over
# all devices, and you find the all-reduce that does it in the compiled program, with its bytes.
# Then you cut the weights themselves over the devices, as FSDP does, and see which collectives come
# in its place.
#
# The eight devices are simulated: JAX lets the processor of one computer play all of them. It gains
# no time that way, so nothing is timed. What moves is the same as on real ones.
#
# To follow along on your own computer, in a clone of the repository:
# `pip install '.[jax]' matplotlib`. No GPU is needed. The notebook *A mesh of eight devices in JAX*
# comes before this one.
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
# JAX has to be told the number of devices before it is used for the first time.

# %%
import math
import re

import jax
import jax.numpy as jnp

jax.config.update("jax_platforms", "cpu")  # on a machine with a GPU too
jax.config.update("jax_num_cpu_devices", 8)

# %% [markdown]
# ## A small decoder
#
# The model is a transformer of two layers: attention that looks back only, with rotary positions,
# and a gated feed-forward block, each behind a normalisation. It is small and has every part of a
# large one.
#
# Its weights are a tree: names lead to matrices. flopbook counts the parameters of the same shape.

# %%
LAYERS, D_MODEL, HEADS, D_FF, VOCAB = 2, 64, 4, 176, 16


def new_weights(dice):
    """Weights to begin with: random matrices, scaled by their rows, and normalisations of one."""

    def matrix(rows, columns):
        return dice.normal(0, rows**-0.5, (rows, columns)).astype(np.float32)

    def layer():
        found = {name: matrix(D_MODEL, D_MODEL) for name in ("queries", "keys", "values", "out")}
        found |= {
            "gate": matrix(D_MODEL, D_FF),
            "up": matrix(D_MODEL, D_FF),
            "down": matrix(D_FF, D_MODEL),
        }
        return found | {
            name: np.ones(D_MODEL, np.float32) for name in ("before_attention", "before_ffn")
        }

    found = {"embedding": matrix(VOCAB, D_MODEL), "logits": matrix(D_MODEL, VOCAB)}
    return found | {
        "layers": [layer() for _ in range(LAYERS)],
        "last": np.ones(D_MODEL, np.float32),
    }


weights = new_weights(np.random.default_rng(0))
parameters = sum(array.size for array in jax.tree.leaves(weights))
shape = {"layers": LAYERS, "d_model": D_MODEL, "heads": HEADS, "d_ff": D_FF, "vocab": VOCAB}
counted = flopbook.calculate("params", **shape)["total"]
gradient_bytes = 4 * parameters  # fp32
print(f"{parameters:,} parameters here, {counted:,.0f} counted by flopbook")
print(f"their gradients in fp32: {flopbook.format_quantity(gradient_bytes, 'byte')}")

# %% [markdown]
# The next cell is the model. It turns tokens into the mean loss of guessing each next token.
# Nothing in it knows about devices.


# %%
def normal(x, scale):
    return scale * x / jnp.sqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)


def rotated(x):
    """Queries or keys (batch, place, head, width), turned by an angle that grows with the place."""
    half = x.shape[-1] // 2
    angle = np.arange(x.shape[1])[:, None] * 100.0 ** (-np.arange(half) / half)
    cos, sin = jnp.cos(angle)[:, None], jnp.sin(angle)[:, None]
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


def attention(x, layer):
    q, k, v = (
        (x @ layer[name]).reshape(*x.shape[:2], HEADS, -1) for name in ("queries", "keys", "values")
    )
    scores = jnp.einsum("bqhd,bkhd->bhqk", rotated(q), rotated(k)) / (D_MODEL / HEADS) ** 0.5
    scores = jnp.where(np.tri(x.shape[1], dtype=bool), scores, -1e9)  # nobody sees the future
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(x.shape) @ layer["out"]


def loss(weights, tokens):
    """Mean loss of the next token over a batch (sequences, tokens)."""
    x = weights["embedding"][tokens[:, :-1]]
    for layer in weights["layers"]:
        x += attention(normal(x, layer["before_attention"]), layer)
        h = normal(x, layer["before_ffn"])
        x += (jax.nn.silu(h @ layer["gate"]) * (h @ layer["up"])) @ layer["down"]
    guesses = jax.nn.log_softmax(normal(x, weights["last"]) @ weights["logits"])
    return -jnp.take_along_axis(guesses, tokens[:, 1:, None], axis=-1).mean()


# %% [markdown]
# ## Something to learn
#
# A sequence counts on in equal steps and goes round at 16: 3, 10, 1, 8, 15, 6, ... Start and step
# differ from sequence to sequence. Two tokens give the step away, and with it all that follow. The
# second itself cannot be guessed from the first. So the loss can fall to what one blind guess
# costs, shared by all tokens of the sequence, and not to zero.

# %%
SEQUENCES, LENGTH = 48, 24


def batch(dice):
    """Sequences that count on in steps of their own (sequences, tokens)."""
    start, step = dice.integers(VOCAB, size=(2, SEQUENCES, 1))
    return ((start + step * np.arange(LENGTH + 1)) % VOCAB).astype(np.int32)


for row in batch(np.random.default_rng(1))[:3]:
    print(*row[:12], "...")

# %% [markdown]
# ## One gradient, two ways
#
# On one device the whole batch goes through the model. On eight, the batch is cut by its sequences
# and each device holds all weights. That is the whole change: two layouts. The compiler finds out
# by itself that the gradients of the weights, which are to be whole on every device, are sums over
# the cut dimension.

# %%
mesh = jax.make_mesh((8,), ("D",), axis_types=(jax.sharding.AxisType.Auto,))
whole, cut = jax.NamedSharding(mesh, jax.P()), jax.NamedSharding(mesh, jax.P("D"))
tokens = batch(np.random.default_rng(2))
gradient = jax.value_and_grad(loss)  # a function of weights and tokens
one = jax.jit(gradient)(weights, tokens)
shared = (
    jax.jit(gradient, in_shardings=(whole, cut), out_shardings=whole)
    .lower(weights, tokens)
    .compile()
)
eight = shared(jax.device_put(weights, whole), jax.device_put(tokens, cut))


def difference(one, other):
    """Largest difference between two trees of arrays, as a share of the largest entry of each
    array.
    """
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    arrays = [(np.asarray(a), np.asarray(b)) for a, b in pairs]
    return max(float(np.abs(a - b).max() / np.abs(a).max()) for a, b in arrays)


print(f"sequences: {SEQUENCES} on one device, {SEQUENCES // mesh.size} on each of {mesh.size}")
print(f"loss:      {one[0]:.4f} on one device, {eight[0]:.4f} on eight")
print("gradients:", "alike to rounding" if difference(one, eight) < 1e-5 else "DIFFERENT")

# %% [markdown]
# ## The all-reduce in the program
#
# A collective is a line of the program, with the shapes that it leaves on each device. This cell
# adds up their bytes. You can skip reading it.


# %%
SHAPE = re.compile(r"f32\[([\d,]*)\]")
MOVE = re.compile(r"= (.*?) (all-gather|all-reduce|reduce-scatter|all-to-all|collective-permute)\(")


def totals(compiled):
    """Bytes of the whole arrays by collective, in fp32, with the names that the program has for
    them.
    """
    found = {}
    for shapes, name in MOVE.findall(compiled.as_text()):
        left = sum(
            4 * math.prod(int(n) for n in dims.split(",") if n) for dims in SHAPE.findall(shapes)
        )
        blocks = (
            mesh.size if name == "reduce-scatter" else 1
        )  # it leaves one block of the array on each device
        found[name] = found.get(name, 0) + blocks * left
    return found


def tell(title, found):
    print(title, ", ".join(f"{name} of {size:,} bytes" for name, size in found.items()))


found = totals(shared)
tell("compiled program:", found)
print(
    f"gradients: {gradient_bytes:,} bytes; beyond them {found['all-reduce'] - gradient_bytes}, the "
    "loss, one number"
)

# %% [markdown]
# Every gradient is in it once, and the loss with them. The traffic does not depend on the batch:
# twice the sequences are twice the arithmetic and the same bytes. That is why a large batch hides
# it.

# %%
twice = jax.jit(gradient, in_shardings=(whole, cut), out_shardings=whole)
twice = twice.lower(weights, np.concatenate([tokens, tokens])).compile()
tell("twice the sequences:", totals(twice))

# %% [markdown]
# ## The same by hand
#
# With `jax.shard_map` you write what one device does, and the mean over the devices is a call of
# your own. All have equally many sequences, so the mean of their means is the mean of the batch. An
# older function, `pmap`, is used in many programs for this. It is kept in working order only, and
# its makers [ask for shard_map in new code](https://docs.jax.dev/en/latest/migrate_pmap.html).


# %%
def on_each_device(weights, tokens):
    """Loss and gradients of the sequences of one device, then the mean over all devices."""
    return jax.lax.pmean(gradient(weights, tokens), "D")


# the last word: JAX need not prove that the copies are equal
mapped = jax.shard_map(
    on_each_device, mesh=mesh, in_specs=(jax.P(), jax.P("D")), out_specs=jax.P(), check_vma=False
)
by_hand = jax.jit(mapped).lower(weights, tokens).compile()
by_hand_result = by_hand(jax.device_put(weights, whole), jax.device_put(tokens, cut))
tell("by hand:", totals(by_hand))
print("gradients:", "alike to rounding" if difference(one, by_hand_result) < 1e-5 else "DIFFERENT")

# %% [markdown]
# ## Training
#
# The step is compiled once for each way: gradients, then Adam. Both trainings begin with the same
# weights and see the same batches.

# %%
STEPS, RATE, DECAY, DECAY_SQUARE = 60, 5e-3, 0.9, 0.98


@jax.jit
def train_step(state, number, tokens):
    """One step of Adam; state is weights, running mean of gradients and of their squares."""
    weights, mean, square = state
    value, slope = gradient(weights, tokens)
    mean = jax.tree.map(lambda m, g: DECAY * m + (1 - DECAY) * g, mean, slope)
    square = jax.tree.map(lambda s, g: DECAY_SQUARE * s + (1 - DECAY_SQUARE) * g * g, square, slope)
    bias, bias_square = 1 - DECAY**number, 1 - DECAY_SQUARE**number
    change = jax.tree.map(
        lambda m, s: RATE * (m / bias) / (jnp.sqrt(s / bias_square) + 1e-8), mean, square
    )
    return (jax.tree.map(jnp.subtract, weights, change), mean, square), value


def train(place_weights, place_tokens):
    """The losses of all steps, and the weights that are left."""
    dice, losses = np.random.default_rng(3), []
    zeros = jax.tree.map(np.zeros_like, weights)
    state = jax.device_put((weights, zeros, zeros), place_weights)
    for number in range(1, STEPS + 1):
        state, value = train_step(
            state, np.float32(number), jax.device_put(batch(dice), place_tokens)
        )
        losses.append(float(value))
    return losses, state[0]


alone = jax.sharding.SingleDeviceSharding(jax.devices()[0])
losses_one, _ = train(alone, alone)
losses_eight, trained = train(whole, cut)
guess = math.log(VOCAB)
print(f"guessing every token blindly: {guess:.2f}, only the second: {guess / LENGTH:.2f}")
print(f"one device:    from {losses_one[0]:.2f} to {losses_one[-1]:.2f} in {STEPS} steps")
print(f"eight devices: from {losses_eight[0]:.2f} to {losses_eight[-1]:.2f} in {STEPS} steps")

# %% [markdown]
# The figure shows the loss against the step, for both. The broad line is one device, the thin one
# eight. The dotted line is the loss of a blind guess. The two curves coincide: data parallelism
# changes where the work is done and not what is learnt. Only rounding differs, since the sums are
# taken in another order.

# %%
fig, ax = plt.subplots()
steps = np.arange(1, STEPS + 1)
ax.plot(steps, losses_one, color=COLOURS[0], linewidth=6, alpha=0.3, label="one device")
ax.plot(steps, losses_eight, color=COLOURS[1], label="eight devices")
ax.axhline(guess, color=INK, linestyle=":", linewidth=1, label="guessing blindly")
ax.set(xlim=(1, STEPS), ylim=(0, None), xlabel="step", ylabel="mean loss (nat per token)")
ax.legend()
show("Loss of a small transformer against the step, trained on one device and on eight")

# %% [markdown]
# ## Cutting the weights as well
#
# In FSDP no device keeps all weights. Each holds an eighth of every array, gathers an array just
# before it is used, and drops it afterwards. Gradients are added up and each device keeps its
# eighth of them. By hand, one line is new: the gather at the front. The gradient of a gather is a
# reduce-scatter, and JAX writes that one itself.


# %%
def gathered_loss(pieces, tokens):
    """The loss from an eighth of every weight: gather first."""
    return loss(
        jax.tree.map(lambda piece: jax.lax.all_gather(piece, "D", tiled=True), pieces), tokens
    )


def fsdp(pieces, tokens):
    value, slope = jax.value_and_grad(gathered_loss)(pieces, tokens)
    return jax.lax.pmean(value, "D"), jax.tree.map(
        lambda g: g / mesh.size, slope
    )  # a mean, not a sum


mapped = jax.shard_map(
    fsdp, mesh=mesh, in_specs=jax.P("D"), out_specs=(jax.P(), jax.P("D")), check_vma=False
)
sharded = jax.jit(mapped).lower(weights, tokens).compile()
pieces = jax.device_put(weights, cut)
sharded_result = sharded(pieces, jax.device_put(tokens, cut))
held = sum(array.addressable_shards[0].data.nbytes for array in jax.tree.leaves(pieces))
tell("FSDP by hand:", totals(sharded))
print(f"weights on each device: {held:,} of {gradient_bytes:,} bytes")
print("gradients:", "alike to rounding" if difference(one, sharded_result) < 1e-5 else "DIFFERENT")

# %% [markdown]
# The four bytes of all-reduce are the loss. Gather and scatter together are what one all-reduce
# was. So FSDP divides the memory of the weights by the number of devices for no more traffic, if
# each array is gathered once. A large model drops what it gathered and gathers it a second time for
# the backward pass; that costs half as much again.
#
# What does the compiler find when it is only told that the weights lie cut? It gathers them, and a
# few small ones twice, forward and backward. But it adds up the gradients with an all-reduce and
# lets each device throw most of them away, as it did in the notebook on the mesh.

# %%
automatic = (
    jax.jit(gradient, in_shardings=(cut, cut), out_shardings=(whole, cut))
    .lower(weights, tokens)
    .compile()
)
automatic_result = automatic(pieces, jax.device_put(tokens, cut))
tell("FSDP by the compiler:", totals(automatic))

# %% [markdown]
# ## On real links
#
# How long would that all-reduce take for a large model? flopbook has the numbers. The batch must be
# large enough that the arithmetic of a chip takes longer than adding up the gradients.

# %%
big = flopbook.model("llama-3-8b")
reduced = flopbook.calculate(
    "collective", op="all-reduce", bytes=2 * big.params, chips=8, chip="h100-sxm"
)
limit = flopbook.calculate("dp-limit", chip="h100-sxm")
print(f"{big.model.name}, gradients in bf16: {flopbook.format_quantity(2 * big.params, 'byte')}")
print(f"all-reduce on 8 H100:  {flopbook.format_quantity(reduced['seconds'], 's')}")
print(f"hidden from {flopbook.format_quantity(limit['tokens_per_chip'], 'token')} for each chip on")

# %% [markdown]
# ## Try it
#
# - Make the model twice as wide. By what factor do the bytes of the all-reduce grow, and why not by
#   four?
# - Leave out the `pmean` of `on_each_device`. Which gradients does device 0 get, and why does
#   nothing complain?
# - Train with the cut weights: put `cut` in place of `whole` in the call of `train`. Adam needs no
#   change. Why?
#
# ## Check
#
# The claims of this page, as assertions. They run with the tests of flopbook and again each time
# the page is built.

# %%
assert parameters == counted
assert len(jax.devices()) == mesh.size == 8
assert (
    max(
        difference(one, other)
        for other in (eight, by_hand_result, sharded_result, automatic_result)
    )
    < 1e-5
)
summed = {"all-reduce": gradient_bytes + 4}  # the loss is one number more
assert totals(shared) == totals(by_hand) == totals(twice) == summed
assert np.allclose(losses_one[:20], losses_eight[:20], rtol=1e-3)
assert guess / LENGTH < min(losses_one) and max(losses_one[-1], losses_eight[-1]) < guess / 4
assert all(array.sharding.is_fully_replicated for array in jax.tree.leaves(trained))
for array in jax.tree.leaves(
    trained
):  # after all steps the copies of the weights are still the same
    copies = [np.asarray(shard.data) for shard in array.addressable_shards]
    assert len(copies) == 8 and all((copy == copies[0]).all() for copy in copies)
assert totals(sharded) == {
    "all-gather": gradient_bytes,
    "all-reduce": 4,
    "reduce-scatter": gradient_bytes,
}
assert held * mesh.size == gradient_bytes
assert gradient_bytes <= totals(automatic)["all-gather"] < 1.01 * gradient_bytes
assert (
    totals(automatic).get("reduce-scatter", totals(automatic)["all-reduce"] - 4) == gradient_bytes
)
scatter, gather = (
    flopbook.calculate("collective", op=op, bytes=2 * big.params, chips=8, chip="h100-sxm")[
        "bandwidth_seconds"
    ]
    for op in ("reduce-scatter", "all-gather")
)
assert np.isclose(scatter + gather, reduced["bandwidth_seconds"])
print("all checks passed")
