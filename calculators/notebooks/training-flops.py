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
# # Training FLOPs: how much arithmetic is in a model?
#
# You will see what it takes to train a model when only two numbers are known: its parameters and
# the tokens it has read. You compute this for every model in flopbook, hold it against the totals
# that two developers published, and then ask how busy the machines were.
#
# To follow along on your own computer, in a clone of the repository:
# `pip install . numpy matplotlib`. No GPU is needed.
#
# ## Set up
#
# This cell loads flopbook and NumPy and sets the look of the figures.

# %%
import textwrap
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.transforms import Bbox

import flopbook
from flopbook.drawing.plotting import COLOURS, show, use_style

use_style()

# %% [markdown]
# ## One model
#
# In a matrix product each weight meets each token once: one multiplication and one addition. The
# backward pass does that work twice more, once for the gradient of the activations and once for the
# gradient of the weights. That makes six operations for each weight and token. The weights that
# count are those that a token is multiplied with: the rows of an input embedding are looked up.
#
# A PF-day is the work of a machine that computes at one PFLOP/s for a whole day. It is the same
# amount in a unit that is easier to say.

# %%
gpt3 = flopbook.model("gpt-3-175b")
answer = flopbook.calculate("training-flops", model="gpt-3-175b")

print("weights       ", flopbook.format_quantity(gpt3.compute_params, "param"))
print("tokens        ", flopbook.format_quantity(gpt3.tokens, "token"))
print("for each token", flopbook.format_quantity(answer["flop_per_token"], "FLOP"))
print("whole training", flopbook.format_quantity(answer["flop"], "FLOP"))
print("              ", flopbook.format_quantity(answer["pf_days"], "PF-day"))

# %% [markdown]
# ## Every model that flopbook knows
#
# The next cell asks the same question for all of them. For a mixture of experts only the parameters
# that compute on a token count. A model whose developer did not publish the number of tokens gets
# no answer: flopbook does not guess.

# %%
results, left_out = {}, {}
for name in flopbook.model_ids():
    try:
        results[name] = flopbook.calculate("training-flops", model=name)
    except flopbook.FlopbookError as error:
        left_out[name] = str(error)
print(f"{len(left_out)} models are left out. Of the first flopbook says:")
print(textwrap.fill(next(iter(left_out.values())), 76), "\n")

by_work = sorted(results, key=lambda name: results[name]["flop"])
print(f"{'model':<15}{'computing':>17}{'tokens':>18}{'FLOP':>12}{'PF-days':>10}")
for name in by_work:
    result = results[name]
    params = flopbook.format_quantity(result.inputs["params"].value, "param").replace(" params", "")
    tokens = flopbook.format_quantity(result.inputs["tokens"].value, "token").replace(" tokens", "")
    print(f"{name:<15}{params:>17}{tokens:>18}{result['flop']:>12.2e}{result['pf_days']:>10,.0f}")

# %% [markdown]
# ## The map of models
#
# The figure shows each model as a point: tokens read to the right, parameters that compute on a
# token upwards, both on logarithmic axes. Along a grey diagonal the work is the same, and each
# diagonal is ten times the one below it. A hollow ring above a point is the total of a mixture of
# experts: all its weights are stored, but the point below says what they cost to train. GPT-3 and
# Llama 3.1 405B differ far more in tokens than in parameters. A name that would cover another name
# or a point is left out.

# %%
fig, ax = plt.subplots(figsize=(7.2, 5.0))
points = {name: [results[name].inputs[n].value for n in ("tokens", "params")] for name in by_work}
seen = np.geomspace(
    min(x for x, _ in points.values()) / 8, max(x for x, _ in points.values()) * 6, 200
)
lowest, highest = min(y for _, y in points.values()) / 2, max(y for _, y in points.values()) * 2.5
for work in (1e2, 1e3, 1e4, 1e5, 1e6):  # PF-days
    line = work / flopbook.training_flops(params=1.0, tokens=seen)["pf_days"]
    ax.plot(seen, line, color="#8a8a8a", linewidth=0.8)
    at = np.flatnonzero(line < 0.9 * highest)[0]
    label, where = f"{work:,.0f} PF-days", (seen[at], line[at])
    ax.annotate(label, where, (5, 0), textcoords="offset points", fontsize=8, color="#555555")

for name in by_work:
    (x, y), moe = points[name], flopbook.model(name).model.kind == "moe"
    colour = COLOURS[1] if moe else COLOURS[0]
    ax.plot(x, y, "o", color=colour, markersize=8)
    if moe:
        total = flopbook.model(name).params
        ax.plot([x, x], [y, total], ":", color=colour)
        ax.plot(x, total, "o", color=colour, markersize=8, markerfacecolor="white")
ax.plot([], [], "o", color=COLOURS[0], label="dense")
ax.plot([], [], "o", color=COLOURS[1], label="mixture of experts, active")
ax.plot([], [], "o", color=COLOURS[1], markerfacecolor="white", label="mixture of experts, all")
ax.set(xscale="log", yscale="log", xlim=(seen[0], seen[-1]), ylim=(lowest, highest))
ax.set(xlabel="tokens trained on", ylabel="parameters")
ax.grid(False)
ax.legend(
    loc="upper left",
    bbox_to_anchor=(0, 1.14),
    ncols=3,
    fontsize=9,
    columnspacing=1.2,
    handletextpad=0.3,
)

fig.canvas.draw()  # settles the places before they are measured
rings = [(points[name][0], flopbook.model(name).params) for name in by_work]
taken = [
    Bbox.from_bounds(*(ax.transData.transform(point) - 4), 8, 8)
    for point in (*points.values(), *rings)
]
named, card = {}, {"facecolor": "white", "edgecolor": "none", "pad": 0, "alpha": 0.8}
for name in dict.fromkeys(["llama-3-405b", "gpt-3-175b", *reversed(by_work)]):
    for shift, align in (
        ((9, -3), "left"),
        ((-9, -3), "right"),
        ((0, 9), "center"),
        ((0, -15), "center"),
    ):
        text, at = (
            flopbook.model(name).model.name,
            {"textcoords": "offset points", "ha": align, "fontsize": 9},
        )
        label = ax.annotate(text, points[name], shift, bbox=card, **at)
        box = label.get_window_extent()
        if (
            ax.bbox.x0 < box.x0
            and box.x1 < ax.bbox.x1
            and not any(box.overlaps(other) for other in taken)
        ):
            taken.append(box)
            named[name] = box
            break
        label.remove()
show("Training work of known models, by tokens read and parameters that compute")

# %% [markdown]
# ## Against the published totals
#
# Some developers print the arithmetic of a training run themselves. The ratio says how far six
# operations for each parameter and token are from what they print. A ratio of one is exact. Printed
# totals are rounded, and the one of GPT-3 was itself counted as six operations, so this checks the
# inputs more than the rule.

# %%
ratios = {}
for name in by_work:
    try:
        published = flopbook.model(name).pick("train_flop")
    except flopbook.FlopbookError:
        continue
    ratios[name] = results[name]["flop"] / published.value
    print(
        f"{name:<14} computed {results[name]['flop']:.3e} FLOP, published {published.value:.3e} "
        "FLOP"
    )
    print(f"{'':<14} ratio {ratios[name]:.4f}   source: {published.source}")

# %% [markdown]
# ## What grew?
#
# Work is a product of parameters and tokens, so growth in work is a product too. The next cell
# splits the step from GPT-3 to Llama 3.1 405B into its two factors.

# %%
start, end = results["gpt-3-175b"], results["llama-3-405b"]
more_params = end.inputs["params"].value / start.inputs["params"].value
more_tokens = end.inputs["tokens"].value / start.inputs["tokens"].value
more_work = end["flop"] / start["flop"]
print(f"parameters: {more_params:.1f} times as many")
print(f"tokens:     {more_tokens:.0f} times as many")
print(f"work:       {more_work:.0f} times as much")

# %% [markdown]
# ## How busy were the machines?
#
# The model cards of the Llama 3 models count the hours that their H100 chips were in use. Work
# divided by time is a rate, and the rate divided by the chip's dense bf16 peak is the share of the
# machine that reached the model. It is called model FLOP utilisation (MFU). The hours of the cards
# may hold more than the counted work, and for the two smaller models the tokens are a lower bound,
# so read these shares as lower bounds.

# %%
peak = flopbook.chip("h100-sxm").peak("bf16")
shares = {}
for name in ("llama-3-8b", "llama-3-70b", "llama-3-405b"):
    chip_seconds = flopbook.model(name).gpu_hours  # in SI units: seconds on one chip
    rate = results[name]["flop"] / chip_seconds
    shares[name] = rate / peak
    print(
        f"{name:<14}{flopbook.format_quantity(rate, 'FLOP/s'):>15} a chip, {shares[name]:.0%} of "
        "the peak"
    )

# %% [markdown]
# ## Try it
#
# - Compute a model of your own: `flopbook.calculate("training-flops", params="13B", tokens="2T")`.
# - How many tokens would have made GPT-3 as much work as Llama 3.1 405B?
# - Put all parameters of DeepSeek-V3 in place of the active ones. By what factor is the answer too
#   large?
#
# ## Check
#
# The claims of this page, as assertions. They run with the tests of flopbook and again each time
# the page is built.

# %%
assert all(
    r["flop"] == 6 * r.inputs["params"].value * r.inputs["tokens"].value for r in results.values()
)
assert set(ratios) >= {"gpt-3-175b", "llama-3-405b"}
assert all(
    abs(ratio - 1) < 0.01 for ratio in ratios.values()
)  # published totals agree within one percent
assert abs(more_params * more_tokens / more_work - 1) < 1e-9
assert more_tokens > 10 * more_params
assert {"gpt-3-175b", "llama-3-405b"} <= set(named)  # the text speaks of them
assert all(not a.overlaps(b) for a, b in combinations(named.values(), 2))
assert all(0 < share < 0.5 for share in shares.values())
assert np.isclose(answer["flop_per_token"], 6 * gpt3.compute_params)
for name in ("deepseek-v2", "deepseek-v3"):
    assert (
        results[name].inputs["params"].value
        == flopbook.model(name).compute_params
        < flopbook.model(name).params
    )
assert "mixtral-8x7b" in left_out and len(results) + len(left_out) == len(flopbook.model_ids())
assert all(
    "has no published" in reason for reason in left_out.values()
)  # the only reason to leave one out
print("all checks passed")
