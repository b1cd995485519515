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
# # Minimum batch: when does a chip stop waiting for memory?
#
# You will see how fast a chip can multiply a batch of tokens by a weight matrix, from one token to
# thousands. Below some batch the chip waits for its memory; above it, it computes all the time. You
# find that batch for several chips, and you see why small matrices need a larger one, or have none
# at all.
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
# ## Two numbers of a chip
#
# Each weight is read from memory once for the whole batch, and used once for every token in it. So
# more tokens mean more work for the same reading. The chip is just busy when the work of one weight
# takes as long as reading it. With 2 bytes for a weight and 2 operations for a token, that happens
# at as many tokens as the chip can do operations for each byte: its peak rate over its memory
# bandwidth, the ridge point.

# %%
CHIPS = ["a100-sxm-80gb", "h100-sxm", "h200-sxm", "b200", "mi300x", "tpu-v5p", "tpu-v6e"]
results = {name: flopbook.calculate("min-batch", chip=name, dtype="bf16") for name in CHIPS}

print(f"{'chip, dense bf16':<16}{'peak':>16}{'memory':>14}{'ridge point':>19}{'minimum batch':>18}")
for name, result in results.items():
    print(
        f"{name:<16}{flopbook.format_quantity(result.inputs['peak'].value, 'FLOP/s'):>16}"
        f"{flopbook.format_quantity(result.inputs['bandwidth'].value, 'byte/s'):>14}"
        f"{flopbook.format_quantity(result['flop_per_byte'], 'FLOP/byte'):>19}"
        f"{flopbook.format_quantity(result['tokens'], 'token'):>18}"
    )

# %% [markdown]
# ## The roofline, batch by batch
#
# The figure shows the highest rate that each chip can reach against the number of tokens in the
# batch, for matrices much wider than the batch. Both axes are logarithmic. Every line climbs while
# memory is the limit and is flat where arithmetic is. The mark at the bend is the minimum batch.
# The H100 and the H200 have nearly the same peak, but the faster memory of the H200 gets there with
# fewer tokens.


# %%
def reachable(result, batch, d_model=np.inf, d_ff=np.inf):
    """Highest rate in FLOP/s for a batch: the work over the longer of its two times."""
    peak, bandwidth, width = (
        result.inputs[n].value for n in ("peak", "bandwidth", "bytes_per_param")
    )
    byte_per_weight = width * (
        1 + batch / d_model + batch / d_ff
    )  # weights, activations in, results out
    flop_per_weight = 2 * batch
    return flop_per_weight / np.maximum(flop_per_weight / peak, byte_per_weight / bandwidth)


fig, ax = plt.subplots(figsize=(7.2, 5.0))
batch = np.geomspace(8, 4096, 200)
for (name, result), shade, marker in zip(results.items(), [*COLOURS, INK], "osD^vPX", strict=True):
    tokens = result["tokens"]
    label = f"{flopbook.chip(name).name.removeprefix('Google Cloud ')}: {tokens:.0f} tokens"
    x = np.sort(np.append(batch, tokens))
    bend = [int(np.searchsorted(x, tokens))]
    ax.plot(x, reachable(result, x) / 1e12, marker=marker, markevery=bend, color=shade, label=label)
ax.set(xscale="log", yscale="log", xlabel="batch (tokens)", ylabel="highest rate (TFLOP/s)")
ax.set_xticks([8, 32, 128, 512, 2048], ["8", "32", "128", "512", "2,048"])
ax.set_yticks([10, 30, 100, 300, 1000, 3000], ["10", "30", "100", "300", "1,000", "3,000"])
ax.minorticks_off()
ax.legend(loc="lower right", fontsize=9)
show("Highest bf16 rate against batch for seven chips, with the minimum batch of each")

# %% [markdown]
# ## Half the batch, half the chip
#
# Below the bend the rate is proportional to the batch. A chip that serves one token at a time reads
# every weight for two operations, and almost all of its arithmetic lies idle.

# %%
h100 = results["h100-sxm"]
for tokens in (1, h100["tokens"] / 2, h100["tokens"], 2 * h100["tokens"]):
    share = reachable(h100, tokens) / h100.inputs["peak"].value
    print(f"H100, {tokens:6.1f} tokens: {share:6.1%} of the peak")

# %% [markdown]
# ## Real matrices have a width
#
# So far the weights were all of the traffic. But the activations must be read and the results
# written, and for a small matrix they are not small beside the weights. With the model's width D
# and feed-forward width F the exact minimum batch is larger. The next cell computes it for the
# models that flopbook knows. In a mixture of experts, F is the width of one expert.

# %%
SHAPES = ["llama-3-8b", "llama-3-70b", "llama-3-405b", "gpt-3-175b", "mixtral-8x7b", "deepseek-v3"]
exact = {}
print(f"{'on an H100':<14}{'D':>8}{'F':>8}{'approximate':>14}{'exact':>8}{'more':>8}")
for name in SHAPES:
    shape = flopbook.model(name)
    inner = shape.expert_d_ff if shape.model.kind == "moe" else shape.d_ff
    exact[name] = flopbook.calculate(
        "min-batch", chip="h100-sxm", d_model=shape.d_model, d_ff=inner
    )
    tokens, tokens_exact = exact[name]["tokens"], exact[name]["tokens_exact"]
    more = tokens_exact / tokens - 1
    print(
        f"{name:<14}{shape.d_model:>8.0f}{inner:>8.0f}{tokens:>14.1f}{tokens_exact:>8.1f}{more:>8.1%}"
    )

# %% [markdown]
# ## Too small to keep a chip busy
#
# The figure shows the exact minimum batch against the width D of a matrix with F = 4D, for three
# chips. From right to left, each curve leaves its dashed line, the approximate value, and shoots
# up. To the left of the dotted line of a chip no batch at all is large enough: such a matrix does
# too little work for each byte of its own activations. The formula answers with infinity there.

# %%
fig, ax = plt.subplots()
width = np.unique(np.geomspace(128, 16384, 600).round())
edges = {}
for name, shade in zip(("tpu-v6e", "h100-sxm", "tpu-v5p"), COLOURS, strict=False):
    values = {n: results[name].inputs[n].value for n in ("peak", "bandwidth", "bytes_per_param")}
    curve = flopbook.min_batch(**values, d_model=width, d_ff=4 * width)
    edges[name] = width[np.isinf(curve["tokens_exact"])].max()
    label = flopbook.chip(name).name.removeprefix("Google Cloud ")
    ax.plot(
        width,
        np.where(np.isinf(curve["tokens_exact"]), np.nan, curve["tokens_exact"]),
        color=shade,
        label=label,
    )
    ax.axhline(curve["tokens"], color=shade, linestyle="--", linewidth=1)
    ax.axvline(edges[name], color=shade, linestyle=":", linewidth=1)
ax.set(xscale="log", yscale="log", xlim=(width[0], width[-1]), ylim=(100, 20000))
ax.set(xlabel="model width D, with F = 4D", ylabel="exact minimum batch (tokens)")
ax.set_xticks([128, 256, 512, 1024, 2048, 4096, 8192, 16384])
ax.set_xticklabels(["128", "256", "512", "1,024", "2,048", "4,096", "8,192", "16,384"])
ax.set_yticks([100, 300, 1000, 3000, 10000], ["100", "300", "1,000", "3,000", "10,000"])
ax.minorticks_off()
ax.legend(loc="upper right")
show("Exact minimum batch against model width for three chips")

# %% [markdown]
# ## Batch, D and F together
#
# With r for the approximate minimum batch, in tokens, the exact one is r / (1 - r (1/D + 1/F)). As
# D or F comes near r, the bottom of the fraction falls to zero. The figure shows the share of the
# peak that an H100 can reach, against the batch, for five shapes of matrix. The wide ones meet the
# top near the approximate value, the dotted line. A narrow one gets there late, and the two
# narrowest level off below it.

# %%
r = h100["tokens"]
WIDTHS = ((8192, 28672), (4096, 14336), (1024, 4096), (8192, 256), (512, 512))
fig, ax = plt.subplots(figsize=(7.2, 4.2))
batches = np.geomspace(16, 65536, 300)
reached, smallest = {}, {}
for (d, f), shade, style in zip(
    WIDTHS, COLOURS, ("-", "--", "-.", (0, (1, 1)), (0, (5, 1, 1, 1))), strict=False
):
    reached[d, f] = reachable(h100, batches, d, f) / h100.inputs["peak"].value
    smallest[d, f] = flopbook.calculate("min-batch", chip="h100-sxm", d_model=d, d_ff=f)[
        "tokens_exact"
    ]
    ax.plot(
        batches, 100 * reached[d, f], color=shade, linestyle=style, label=f"D = {d:,}, F = {f:,}"
    )
    print(f"D = {d:>5,}, F = {f:>6,}: ", end="")
    print(
        "no batch is enough"
        if np.isinf(smallest[d, f])
        else f"busy from {smallest[d, f]:,.0f} tokens"
    )
ax.axvline(r, color=INK, linestyle=":", linewidth=1)
ax.set(
    xscale="log",
    xlabel="batch (tokens)",
    ylabel="share of the peak (%)",
    xlim=(16, 65536),
    ylim=(0, 105),
)
ax.set_xticks(
    [16, 64, 256, 1024, 4096, 16384, 65536],
    ["16", "64", "256", "1,024", "4,096", "16,384", "65,536"],
)
ax.minorticks_off()
ax.legend(loc="lower right")
show("Share of an H100's peak against the batch for five shapes of weight matrices")

# %% [markdown]
# ## Try it
#
# - fp8 halves the bytes and doubles the peak. What does that do to the minimum batch? Ask
#   `flopbook.calculate("min-batch", chip="h100-sxm", dtype="fp8")`.
# - Ask for `sparsity="2:4"`. The answer doubles, and the notes of the result say why that is rarely
#   yours to have.
# - Store the weights in 1 byte but compute in bf16: add `bytes_per_param=1`.
#
# ## Check
#
# The claims of this page, as assertions. They run with the tests of flopbook and again each time
# the page is built.

# %%
for result in results.values():
    peak = result.inputs["peak"].value
    assert np.isclose(result["tokens"], result["flop_per_byte"])  # 2 bytes and 2 operations cancel
    assert np.isclose(reachable(result, result["tokens"]), peak)
    assert np.isclose(reachable(result, result["tokens"] / 2), peak / 2)
    assert reachable(result, 0.99 * result["tokens"]) < peak
for result in exact.values():
    d_model, d_ff = (result.inputs[n].value for n in ("d_model", "d_ff"))
    peak, tokens = result.inputs["peak"].value, result["tokens_exact"]
    assert tokens > result["tokens"]
    assert np.isclose(reachable(result, tokens, d_model, d_ff), peak)  # busy at the exact batch ...
    assert reachable(result, 0.99 * tokens, d_model, d_ff) < peak  # ... and not below it
assert results["h200-sxm"]["tokens"] < results["h100-sxm"]["tokens"]
for name, edge in edges.items():  # left of the edge even an enormous batch leaves the chip waiting
    assert reachable(results[name], 1e9, edge, 4 * edge) < results[name].inputs["peak"].value
for (d, f), found in smallest.items():
    below = 1 - r * (1 / d + 1 / f)
    assert np.isclose(found, r / below) if below > 0 else np.isinf(found)
    assert (
        np.allclose(reached[d, f][batches > found], 1)
        and (reached[d, f][batches < found] < 1).all()
    )
assert [np.isinf(found) for found in smallest.values()] == [False, False, False, True, True]
fp8 = flopbook.calculate("min-batch", chip="h100-sxm", dtype="fp8")["tokens"]
assert abs(fp8 / h100["tokens"] - 1) < 0.01
assert (
    flopbook.calculate("min-batch", chip="h100-sxm", sparsity="2:4")["tokens"]
    > 1.9 * h100["tokens"]
)
print("all checks passed")
