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
# # Training Llama 3 on TPUs: a take-home
#
# You will plan a training run of Llama 3 70B on a pod of TPU v5p, question by question: how many
# parameters, how much arithmetic, how long, how many chips the memory needs, and how the chips have
# to be shared out so that the network keeps up. Every answer is a cell with its inputs in sight.
# Then you ask the same of Llama 3.1 405B.
#
# Try each question on paper first. The numbers that you need are printed by the cell below the
# set-up.
#
# To follow along on your own computer, in a clone of the repository:
# `pip install . numpy matplotlib`. No TPU is needed.
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
say = flopbook.format_quantity

# %% [markdown]
# ## The inputs
#
# Change any of these and run the page again: all answers follow. The bandwidth of a link is the
# figure of the book *How to Scale Your Model*, whose question this is; with `LINK = None` it is
# what follows from Google's printed total, which is larger.

# %%
MODEL, CHIP = "llama-3-70b", "tpu-v5p"
BATCH = 4 * 2**20  # tokens in a step
MFU = 0.4  # share of the peak that the run reaches
KEPT = 3  # activations as wide as the model that are kept for each token and layer
STATE = (
    16  # bytes for each parameter: weights and gradients in bf16, master weights and Adam in fp32
)

chip = flopbook.chip(CHIP)
POD = chip.pick("scaleup_domain").value
LINK = next(
    claim.si_value
    for claim in chip.claims("scaleup_bandwidth", aggregate="link", direction="one-way")
    if claim.source == "austin2025tpus"
)
network = {"chip": CHIP, "axes": 3, "chips_per_node": POD}
network |= {"link_bandwidth": LINK} if LINK else {}
W = flopbook.calculate("fsdp-limit", **network).inputs["link_bandwidth"].value
shape = flopbook.model(MODEL)
print(
    f"{shape.model.name}: {shape.layers:.0f} layers, width {shape.d_model:,.0f}, feed-forward "
    f"{shape.d_ff:,.0f},"
)
print(
    f"  {shape.heads:.0f} heads of {shape.head_dim:.0f}, {shape.kv_heads:.0f} with keys and values,"
)
print(f"  vocabulary {shape.vocab:,.0f}, trained on {say(shape.tokens, 'token')}")
print(f"{chip.name}: {say(chip.peak('bf16'), 'FLOP/s')}, {say(chip.memory(), 'byte')} of memory,")
print(f"  {say(W, 'byte/s')} one way for each link, {POD:,.0f} chips in a pod")

# %% [markdown]
# ## Question 1: how many parameters?
#
# Count the matrices of a layer, multiply by the layers and add both embeddings. The feed-forward
# block has a gate, so it has three matrices and not two.

# %%
counted = flopbook.calculate("params", model=MODEL)
D, F, L = shape.d_model, shape.d_ff, shape.layers
attention = 2 * D * shape.head_dim * (shape.heads + shape.kv_heads)
feed_forward = 3 * D * F
by_hand = L * (attention + feed_forward + 2 * D) + 2 * shape.vocab * D + D
print(f"by hand:    {by_hand / 1e9:.3f} billion")
print(f"calculator: {counted['total'] / 1e9:.3f} billion")
print(f"feed-forward blocks: {counted['ffn'] / counted['total']:.0%}")

# %% [markdown]
# ## Question 2: how much arithmetic, and how long on one pod?
#
# Six operations for each parameter and token, with the 70 billion that the book counts: without the
# input embedding, which is looked up, there are 69.5. The time is the work over what all chips of
# the pod do in a second, times the share of the peak that is reached.

# %%
SIZE = shape.published_params
work = flopbook.calculate("training-flops", model=MODEL, params=SIZE)
named = {"model": MODEL, "params": SIZE, "chip": CHIP}
run = flopbook.calculate("training-time", **named, chips=POD, mfu=MFU, chip_mtbf=0)
years = flopbook.calculate("training-time", **named, chips=1, mfu=1, chip_mtbf=0)["days"] / 365
print(f"for each token: {say(work['flop_per_token'], 'FLOP')}")
print(f"in all:         {say(work['flop'], 'FLOP')}, or {work['flop']:.2e}")
print(f"one chip at its peak: {years:.0f} years; a pod at {MFU:.0%} of it: {run['days']:.1f} days")

# %% [markdown]
# ## Question 3: how many chips does the memory need?
#
# Weights, gradients and optimizer take a fixed number of bytes for each parameter. Activations grow
# with the batch. Suppose that a few as wide as the model are kept for each layer and token, at 2
# bytes a number, and the rest is computed again. How many chips hold both? And how long would so
# few take?

# %%
state = STATE * shape.params
activations = 2 * KEPT * D * BATCH * L
fit = int(np.ceil((state + activations) / chip.memory()))
slow = flopbook.calculate("training-time", **named, chips=fit, mfu=MFU, chip_mtbf=0)
print(f"states:      {say(state, 'byte')}")
print(f"activations: {say(activations, 'byte')}")
print(f"together they fit into {fit:,} chips, which would train for {slow['days'] / 365:.1f} years")
print(
    f"on the pod each chip holds {say((state + activations) / POD, 'byte')}, {fit / POD:.1%} of "
    "its memory"
)

# %% [markdown]
# It is not memory that asks for thousands of chips, but time.
#
# ## Question 4: can FSDP alone keep the pod busy?
#
# With full sharding on all three axes of the torus, each chip needs a smallest share of the batch.
# Compare it with the share that it gets.

# %%
share = BATCH / POD
fsdp = flopbook.calculate("fsdp-limit", batch_tokens=BATCH, **network)
print(f"each chip gets {share:.0f} tokens and needs {fsdp['tokens_per_chip']:.0f}")
print(
    f"at most {fsdp['max_chips']:,.0f} of {POD:,.0f} chips stay busy, or the batch grows to",
    end=" ",
)
print(f"{fsdp['tokens_per_chip'] * POD / 2**20:.1f} Mi tokens")

# %% [markdown]
# ## Question 5: and with tensor parallelism beside it?
#
# Tensor parallelism (TP) alone reaches a few chips only. But a small TP degree inside FSDP leaves
# fewer weights for each chip to gather, and allows a smaller share. The published limit counts a
# feed-forward block of two matrices; with the gate it is a little easier.

# %%
tensor = flopbook.calculate("tp-limit", model=MODEL, ffn_kind="plain", **network | {"axes": 1})
mixed = {
    kind: flopbook.calculate(
        "mixed-limit",
        model=MODEL,
        chips=POD,
        batch_tokens=BATCH,
        tensor_axes=1,
        ffn_kind=kind,
        **network,
    )
    for kind in ("plain", "gated")
}
print(f"tensor parallelism on one axis alone: at most {tensor['max_tp_degree']:.0f} chips")
for kind, answer in mixed.items():
    print(
        f"{kind + ':':<7}each chip needs {answer['tokens_per_chip']:.0f} tokens; best split: "
        f"FSDP degree {answer['x_opt']:,.0f}, TP degree {answer['y_opt']:.1f}"
    )

# %% [markdown]
# Degrees are whole numbers and should divide the machine: TP 4 leaves an FSDP degree of 2,240, TP 8
# one of 1,120. The limit adds up the times of both kinds of traffic. They use different axes
# of the torus, and where they overlap only the longer one counts.
#
# The figure shows, for a block of two matrices, the time of arithmetic and of traffic in the
# forward pass against the TP degree, both axes logarithmic. Where an orange line
# is below the blue one, the network keeps up. Added up, the two kinds of traffic just do so around
# the best split; overlapped, in a wide range. Towards either end, where one kind is nearly alone,
# they do not.

# %%
degrees = np.geomspace(1, 64, 200)
C = chip.peak("bf16")


def times(y, n=POD):
    """Seconds of arithmetic and of traffic of a feed-forward block at TP degree y on n chips.

    FSDP on two axes gathers two matrices, each cut into y; TP on one gathers activations and adds
    results up, for the tokens of n / y groups. Each axis has two links. Traffic: the sum,
    then the longer of the two.
    """
    arithmetic = 2 * 2 * BATCH * D * F / (n * C)
    weights = 2 * 2 * D * F / (y * 2 * 2 * W)
    results = 2 * 2 * BATCH * D * y / (n * 2 * W)
    return arithmetic * np.ones_like(y), weights + results, np.maximum(weights, results)


arithmetic, in_turn, at_once = times(degrees)
fig, ax = plt.subplots(figsize=(7.2, 4.2))
ax.plot(degrees, 1e6 * arithmetic, color=COLOURS[0], label="arithmetic")
ax.plot(degrees, 1e6 * in_turn, color=COLOURS[1], label="traffic, one kind after the other")
ax.plot(degrees, 1e6 * at_once, "--", color=COLOURS[1], label="traffic, overlapped")
ax.axvline(mixed["plain"]["y_opt"], color=INK, linestyle=":", linewidth=1)
ax.annotate(
    "best split",
    (mixed["plain"]["y_opt"], 1e6 * at_once.max()),
    (4, -10),
    textcoords="offset points",
    fontsize=9,
)
ax.set(
    xscale="log",
    yscale="log",
    xlabel="TP degree",
    ylabel="time (microseconds)",
    xlim=(1, 64),
)
ax.set_xticks([1, 2, 4, 8, 16, 32, 64], ["1", "2", "4", "8", "16", "32", "64"])
ax.set_yticks([500, 1000, 2000, 5000, 10000], ["500", "1,000", "2,000", "5,000", "10,000"])
ax.minorticks_off()
ax.legend(loc="lower right")
show("Times of arithmetic and traffic of a feed-forward block on a pod against the TP degree")

# %% [markdown]
# ## Question 6: the same for 405 billion parameters
#
# The answers again, as one function of a model and its batch. The batch of the larger model is the
# largest that its authors print.


# %%
def plan(model, batch):
    """The five answers for a model on one pod."""
    item = flopbook.model(model)
    both = STATE * item.params + 2 * KEPT * item.d_model * batch * item.layers
    given = {"model": model, "chips": POD, "batch_tokens": batch, "tensor_axes": 1, **network}
    return {
        "parameters (billion)": flopbook.calculate("params", model=model)["total"] / 1e9,
        "days on a pod": flopbook.calculate(
            "training-time", model=model, chip=CHIP, chips=POD, mfu=MFU, chip_mtbf=0
        )["days"],
        "chips by memory alone": np.ceil(both / chip.memory()),
        "tokens on each chip": batch / POD,
        "needed by FSDP alone": flopbook.calculate("fsdp-limit", batch_tokens=batch, **network)[
            "tokens_per_chip"
        ],
        "needed by both, two matrices": flopbook.calculate("mixed-limit", **given)[
            "tokens_per_chip"
        ],
        "needed by both, gated": flopbook.calculate("mixed-limit", ffn_kind="gated", **given)[
            "tokens_per_chip"
        ],
    }


large = flopbook.model("llama-3-405b")
table = {MODEL: plan(MODEL, BATCH), "llama-3-405b": plan("llama-3-405b", large.batch_tokens)}
print(f"{'':<30}" + "".join(f"{name:>16}" for name in table))
for row in table[MODEL]:
    print(f"{row:<30}" + "".join(f"{answers[row]:>16,.1f}" for answers in table.values()))

# %% [markdown]
# ## What the book says
#
# flopbook's ledger recomputes numbers of the book's chapter on this run. Those that it holds can be
# compared with the answers above.

# %%
rows = {row.id: row for row in flopbook.ledger_rows()}
for name in ("book-one-tpu", "book-pod-days", "book-llama-70b-flop"):
    row = rows[name]
    print(f"{row.statement}\n    verdict: {row.verdict}")

# %% [markdown]
# ## Try it
#
# - `CHIP = "tpu-v6e"` has two axes and smaller pods: set `axes` to 2 in `network`, and take
#   `LINK = None`.
# - Which batch lets FSDP alone fill the pod? Was a run of that batch published?
# - Keep everything: what does `flopbook.calculate("memory", ...)` say about activations without
#   recomputation?
#
# ## Check
#
# The claims of this page, as assertions. They run with the tests of flopbook and again each time
# the page is built. They hold for the inputs as they stand.

# %%
assert by_hand == counted["total"] and abs(by_hand / shape.params - 1) < 0.01
assert counted["ffn"] > 0.75 * counted["total"]
assert np.isclose(work["flop"], 6 * SIZE * shape.tokens)
assert np.isclose(run["seconds"], work["flop"] / (POD * chip.peak("bf16") * MFU))
assert abs(run["days"] - rows["book-pod-days"].stated.value) < 0.5
assert abs(years - rows["book-one-tpu"].stated.value) < 1
assert (fit - 1) * chip.memory() < state + activations <= fit * chip.memory() and fit < 200 < POD
assert np.isclose(slow["days"] * fit, run["days"] * POD)
assert share < fsdp["tokens_per_chip"] and fsdp["max_chips"] < POD  # FSDP alone does not do ...
assert all(
    answer["tokens_per_chip"] < share for answer in mixed.values()
)  # ... and both together do
assert (
    mixed["gated"]["tokens_per_chip"] < mixed["plain"]["tokens_per_chip"]
    and tensor["max_tp_degree"] < 16
)
best = mixed["plain"]
arithmetic, in_turn, at_once = times(np.array([best["y_opt"], 4, 8, 1, 64]))
assert (
    np.isclose(arithmetic[0] / in_turn[0], best["slack"]) and 1 < best["slack"] < 1.05
)  # it just keeps up
assert (
    in_turn[0] < min(in_turn[1:]) and (at_once[1:3] < arithmetic[1:3]).all()
)  # overlapped, TP 4 and 8 do
assert (at_once[3:] > arithmetic[3:]).all()  # at the ends it does not
both = table["llama-3-405b"]
assert (
    both["tokens on each chip"] > both["needed by FSDP alone"]
)  # with its large batch FSDP alone is enough
print("all checks passed")
