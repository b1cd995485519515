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
# # FSDP limit: how many chips can share one model?
#
# You will see how far training with fully sharded data parallelism (FSDP, also called ZeRO-3) can
# spread before the chips wait for the network. You compute the smallest batch for each chip on a
# TPU v5p, turn it into a largest number of chips, and see how one misplaced bracket makes that
# number nine times too small.
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
from flopbook.drawing.plotting import COLOURS, show, use_style

use_style()

# %% [markdown]
# ## Weights on the move
#
# With FSDP every chip stores a small part of the weights. To compute, it gathers each layer from
# the others, uses it on its own share of the batch, and lets it go. Gathering takes the same time
# however few tokens a chip has. So there is a smallest share for which the arithmetic takes as long
# as the gathering. It does not depend on the size of the model: twice the weights are twice the
# traffic and twice the work.
#
# The chips of a TPU pod form a torus. Every axis of it that FSDP may use is a ring, with a link to
# either side.

# %%
answer = flopbook.calculate("fsdp-limit", chip="tpu-v5p", axes=3, batch_tokens="16M")
for name, item in answer.inputs.items():
    text = flopbook.format_quantity(item.value, item.unit) if item.unit else item.value
    print(f"{name:<18}{text:<18}{item.origin}{', ' + item.source if item.source else ''}")
print()
print(
    "smallest share  ", flopbook.format_quantity(answer["tokens_per_chip"], "token"), "on each chip"
)
print(
    "largest machine ",
    flopbook.format_quantity(answer["max_chips"], "chip"),
    "for a batch of 16 million tokens",
)

# %% [markdown]
# ## Two figures for one link
#
# Google prints the bandwidth of all links of a chip together, in both directions. The book *How to
# Scale Your Model* gives a smaller one for each link, and its authors say that what a link attains
# depends on the operation. Both are recorded in flopbook. The comparison below uses the smaller
# one, as the source that it checks does.

# %%
v5p = flopbook.chip("tpu-v5p")
printed = answer.inputs["link_bandwidth"].value
book = next(
    claim.si_value
    for claim in v5p.claims("scaleup_bandwidth", aggregate="link", direction="one-way")
    if claim.source == "austin2025tpus"
)
print("from Google's figure:", flopbook.format_quantity(printed, "byte/s"), "one way")
print("from the book:       ", flopbook.format_quantity(book, "byte/s"), "one way")

# %% [markdown]
# ## More axes, smaller shares
#
# The figure shows the smallest number of tokens for each chip on a TPU v5p when FSDP uses one, two
# or three axes of the torus. Three axes carry three times as much as one, so the bars fall to a
# half and to a third. The right bar of each pair, from the smaller link bandwidth, is always a
# little higher.

# %%
axes = np.array([1.0, 2.0, 3.0])
peak = v5p.peak("bf16")
need = {
    f"link bandwidth from {who}": flopbook.fsdp_limit(peak=peak, link_bandwidth=link, axes=axes)[
        "tokens_per_chip"
    ]
    for who, link in (("Google", printed), ("the book", book))
}

fig, ax = plt.subplots(figsize=(7.2, 3.8))
for shift, (label, tokens), shade in zip((-0.19, 0.19), need.items(), COLOURS, strict=False):
    bars = ax.bar(axes + shift, tokens, width=0.36, color=shade, label=label)
    ax.bar_label(bars, [f"{value:,.0f}" for value in tokens], padding=2)
ax.set_xticks(axes, ["1 axis", "2 axes", "3 axes"])
ax.set_yticks([0, 1000, 2000], ["0", "1,000", "2,000"])
ax.margins(y=0.1)
ax.set(xlabel="axes of the torus that FSDP uses", ylabel="smallest share (tokens per chip)")
ax.grid(False)
ax.legend()
show("Smallest number of tokens per chip on a TPU v5p with one, two and three axes")

# %% [markdown]
# ## A bracket
#
# On how many chips could DeepSeek-V2 have been trained? A published set of slides answers that with
# an expression and a number, and the ledger of flopbook keeps both as they were printed. The number
# is right. The expression beside it is not: read from left to right it divides by the number of
# axes, where it should divide the bound by it. When you copy a formula, compute it once.

# %%
rows = {row.id: row for row in flopbook.ledger_rows()}
row = rows["slides-deepseek-v2-47k-chips"]
batch = rows["slides-deepseek-v2-batch"].stated.value
bound = rows["slides-v5p-fsdp-tokens"].stated.value
print("the source says: ", row.stated.text)
print("what was meant:  ", row.corrected.text)

meant = flopbook.calculate(
    "fsdp-limit", chip="tpu-v5p", axes=3, link_bandwidth=book, batch_tokens=batch
)
as_printed = batch / bound / 3
print()
print(f"as printed, from left to right: {as_printed:>8,.0f} chips")
print(f"with the bracket:               {meant['max_chips']:>8,.0f} chips")
print(f"the one over the other:         {meant['max_chips'] / as_printed:>8.1f}")

# %% [markdown]
# ## And then the experts
#
# DeepSeek-V2 is a mixture of experts. All its experts are gathered, but a token computes on only a
# few of them. The traffic is that of the whole model and the work is that of a small one, so each
# chip needs a share that is larger by the ratio of all parameters to the active ones. For the
# layers of experts alone that ratio would be all experts over those of one token; attention and
# shared experts, which every token uses, bring it down.

# %%
experts = flopbook.calculate(
    "fsdp-limit",
    chip="tpu-v5p",
    axes=3,
    link_bandwidth=book,
    batch_tokens=batch,
    model="deepseek-v2",
)
ratio = experts.inputs["params"].value / experts.inputs["active_params"].value
print(f"parameters over active parameters: {ratio:.1f}")
print(
    f"smallest share:  {experts['tokens_per_chip']:,.0f} tokens (dense: "
    f"{meant['tokens_per_chip']:,.0f})"
)
print(f"largest machine: {experts['max_chips']:,.0f} chips")

# %% [markdown]
# ## Batch and machine
#
# The figure shows the largest number of TPU v5p chips against the batch, on logarithmic axes, with
# the smaller link bandwidth. The three blue lines are dense models on one, two and three axes; the
# orange line is DeepSeek-V2 with its experts counted, on three axes. The grey line is one pod:
# above it, chips must talk over a slower network and the bound no longer holds. Dots mark the
# largest batches of three models as their authors print them; the one of DeepSeek-V2, on the orange
# line, is a little smaller than the batch of the expression above.

# %%
fig, ax = plt.subplots(figsize=(7.2, 5.0))
batches = np.geomspace(1e6, 1e8, 200)


def largest(tokens, n, **more):
    """Largest number of chips for a batch, on n axes."""
    return flopbook.fsdp_limit(peak=peak, link_bandwidth=book, axes=n, batch_tokens=tokens, **more)[
        "max_chips"
    ]


moe = {name: experts.inputs[name].value for name in ("params", "active_params")}
for n, style in ((1, ":"), (2, "--"), (3, "-")):
    ax.plot(
        batches,
        largest(batches, n),
        style,
        color=COLOURS[0],
        label=f"dense, {n} {'axis' if n == 1 else 'axes'}",
    )
ax.plot(
    batches, largest(batches, 3, **moe), color=COLOURS[1], label="experts of DeepSeek-V2, 3 axes"
)
pod = v5p.pick("scaleup_domain").value
ax.axhline(pod, color="#8a8a8a", linewidth=1)
ax.annotate(
    "one pod", (batches[-1], pod), (0, 3), textcoords="offset points", ha="right", fontsize=9
)
for name, extra in (("gpt-3-175b", {}), ("llama-3-405b", {}), ("deepseek-v2", moe)):
    x = flopbook.model(name).batch_tokens
    y = largest(x, 3, **extra)
    ax.plot(x, y, "o", color=COLOURS[1] if extra else COLOURS[0])
    label = f"{flopbook.model(name).model.name}\n{y:,.0f} chips"
    ax.annotate(label, (x, y), (-8, 4), textcoords="offset points", ha="right", fontsize=9)
ax.set(xscale="log", yscale="log", xlim=(1e6, 1e8), ylim=(30, 2e5))
ax.set_xticks([1e6, 3e6, 1e7, 3e7, 1e8], ["1", "3", "10", "30", "100"])
ax.set_yticks([100, 1000, 1e4, 1e5], ["100", "1,000", "10,000", "100,000"])
ax.minorticks_off()
ax.set(xlabel="batch (million tokens)", ylabel="largest number of chips")
ax.legend(loc="lower right", fontsize=9)
show("Largest number of TPU v5p chips for FSDP against the batch, dense and mixture of experts")

# %% [markdown]
# ## Try it
#
# - Which batch fills one pod with a dense model on three axes? Multiply the share by the chips of
#   the pod.
# - Ask for `model="deepseek-v3"`. Its experts are spread more thinly. Does the share grow or
#   shrink?
# - An H100 has a switch in place of a torus: `flopbook.calculate("fsdp-limit", chip="h100-sxm")`.
#   Mind that its scale-up network ends after a few chips.
#
# ## Check
#
# The claims of this page, as assertions. They run with the tests of flopbook and again each time
# the page is built.

# %%
for tokens in need.values():
    assert np.allclose(tokens * axes, tokens[0])  # a half, a third
assert (
    book < printed
    and (need["link bandwidth from the book"] > need["link bandwidth from Google"]).all()
)
assert np.isclose(
    need["link bandwidth from the book"][0], bound, rtol=1e-3
)  # the slides' figure for one axis
assert abs(meant["max_chips"] - row.corrected.value) <= 1
assert np.isclose(
    meant["max_chips"] / as_printed, 9, rtol=1e-3
)  # the axes divided instead of multiplied: 3 x 3
assert abs(as_printed / 1000 - 5) < 0.5 and round(meant["max_chips"] / 1000) == 47
assert np.isclose(experts["tokens_per_chip"], ratio * meant["tokens_per_chip"])
assert experts["max_chips"] < as_printed < pod < meant["max_chips"]
for n in (1, 2, 3):  # at the limit the arithmetic takes exactly as long as the gathering
    share = flopbook.fsdp_limit(peak=peak, link_bandwidth=book, axes=n)["tokens_per_chip"]
    assert np.isclose(2 * share / peak, 2 / (n * 2 * book))
print("all checks passed")
