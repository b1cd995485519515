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
# # Parameters: where do they sit, and does the shape give the count?
#
# You will see how the shape of a transformer fixes the number of its parameters, which part of it
# has most of them, and how closely the count meets the numbers that makers publish. At the end you
# read the configuration file of a model that flopbook does not know.
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
from flopbook.drawing.plotting import COLOURS, show, use_style

use_style()

# %% [markdown]
# ## One model, part by part
#
# Llama 3 70B is a dense model. Its feed-forward blocks have three matrices each, and together about
# four parameters in five. Attention comes next; because eight heads serve the keys and values of
# all 64, those two matrices are an eighth of what they would be.

# %%
PARTS = ("embedding", "attention", "ffn", "router", "norms")
llama = flopbook.calculate("params", model="llama-3-70b")
for part in PARTS:
    print(f"{part:<13}{llama[part] / 1e9:>9.3f} billion{llama[part] / llama['total']:>8.1%}")
print(f"{'total':<13}{llama['total'] / 1e9:>9.3f} billion")

# %% [markdown]
# ## Shares
#
# The figure shows the share of each part in eight models, one bar for each, from an early small
# model to mixtures of experts. Small models spend much on the embedding, since their vocabulary
# does not shrink with them. In mixtures nearly everything is experts. The thin lines of routers and
# norms can hardly be seen.

# %%
CHOSEN = (
    "gpt-2-small",
    "gpt-3-175b",
    "llama-3.2-1b",
    "llama-3-70b",
    "gemma-2-9b",
    "mixtral-8x7b",
    "deepseek-v3",
    "kimi-k2",
)
counts = {name: flopbook.calculate("params", model=name) for name in CHOSEN}

fig, ax = plt.subplots(figsize=(7.2, 4.2))
left = np.zeros(len(CHOSEN))
for part, colour in zip(PARTS, COLOURS, strict=False):
    share = np.array([counts[name][part] / counts[name]["total"] for name in CHOSEN])
    ax.barh(range(len(CHOSEN)), 100 * share, left=left, color=colour, label=part.replace("_", "-"))
    left += 100 * share
ax.set_yticks(range(len(CHOSEN)), CHOSEN)
ax.invert_yaxis()
ax.set(xlabel="share of all parameters (percent)", ylabel="model", xlim=(0, 100))
ax.grid(False)
ax.legend(ncols=5, loc="lower center", bbox_to_anchor=(0.45, 1.0), fontsize=9, handlelength=1)
show(
    "Share of embedding, attention, feed-forward, router and norms in the parameters of eight "
    "models"
)

# %% [markdown]
# ## Against what is published
#
# flopbook knows the shape and the published count of many models. A name such as 7B is rounded, so
# some differ by a few percent; where they do, the claim gives the reason in writing. The others
# agree within one percent, and those whose makers print every digit agree exactly or nearly so.

# %%
rows = []
for name in flopbook.model_ids():
    item = flopbook.model(name)
    counted = flopbook.calculate("params", model=name)["total"]
    rows.append(
        (
            name,
            item.published_params,
            counted / item.published_params - 1,
            bool(item.claim("params").exceptions),
        )
    )
within = [off for _, _, off, excused in rows if not excused]
print(
    f"{len(rows)} models, {len(within)} without a reason; largest difference "
    f"{max(map(abs, within)):.2%}"
)
print("rounded in the name, and other reasons:")
for name, published, off, excused in rows:
    if excused:
        print(f"  {name:<18}{flopbook.format_quantity(published, 'param'):>22}{off:>8.1%}")

# %% [markdown]
# ## How close
#
# The figure shows the difference between the counted and the published number for each model,
# against its size on a logarithmic axis. Blue dots lie in the grey band of one percent; orange ones
# are those with a written reason.

# %%
fig, ax = plt.subplots(figsize=(7.2, 4.2))
ax.axhspan(-1, 1, color="#ececec")
for excused, colour, label in (
    (False, COLOURS[0], "no reason needed"),
    (True, COLOURS[1], "reason in writing"),
):
    x, y = zip(*((size, 100 * off) for _, size, off, flag in rows if flag == excused), strict=True)
    ax.plot(x, y, "o", color=colour, label=label, markersize=5)
ax.set(
    xscale="log",
    xlabel="published parameters",
    ylabel="counted over published (percent)",
    ylim=(-6, 19),
)
ax.legend()
show("Difference between counted and published parameters of all models against their size")

# %% [markdown]
# ## Total and active
#
# A mixture of experts keeps many blocks and lets each token meet a few. More experts make the total
# grow and leave the active part alone, but for the router, which gets one row more.

# %%
shape = {
    "layers": 32,
    "d_model": 4096,
    "heads": 32,
    "kv_heads": 8,
    "vocab": 32000,
    "d_ff": 14336,
    "experts_per_token": 2,
}
experts = np.array([2.0, 4.0, 8.0, 16.0, 32.0])
mixture = flopbook.params(**shape, experts=experts)
for n, total, active in zip(experts, mixture["total"], mixture["active"], strict=True):
    print(
        f"{n:>3.0f} experts: {total / 1e9:>7.1f} billion in all, {active / 1e9:.3f} billion active"
    )

# %% [markdown]
# ## A file of your own
#
# Models on the hub of Hugging Face carry a file config.json. `flopbook params --config config.json`
# reads it, and in Python its content will do as well.

# %%
config = {
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "tie_word_embeddings": False,
}
from_file = flopbook.calculate("params", config=config)
print(f"{from_file['total']:,.0f} parameters")

# %% [markdown]
# ## Try it
#
# - Tie the embeddings of Llama 3 8B:
#   `flopbook.calculate("params", model="llama-3-8b", tied_embeddings="yes")`. How much is saved,
#   and why does a small model gain more by it than a large one?
# - Give the same model 32 key and value heads. Which part grows, and by how much?
# - Take the latent attention out of DeepSeek-V3 with `kv_lora_rank=0`. What would its attention
#   have needed?
#
# ## Check
#
# The claims of this page, as assertions. They run with the tests of flopbook and again each time
# the page is built.

# %%
assert 0.79 < llama["ffn"] / llama["total"] < 0.81  # about four in five
assert all(np.isclose(sum(out[part] for part in PARTS), out["total"]) for out in counts.values())
assert counts["gpt-2-small"]["embedding"] / counts["gpt-2-small"]["total"] > 0.3
assert counts["gpt-3-175b"]["embedding"] / counts["gpt-3-175b"]["total"] < 0.01
assert all(
    counts[name]["ffn"] / counts[name]["total"] > 0.95 for name in ("deepseek-v3", "kimi-k2")
)
assert max(map(abs, within)) <= 0.01 and len(within) >= 0.8 * len(rows)
assert all(abs(off) > 0.01 for _, _, off, excused in rows if excused)
assert (
    np.ptp(mixture["active"]) == (experts[-1] - experts[0]) * shape["layers"] * shape["d_model"]
)  # the routers
assert (np.diff(mixture["total"]) > 0).all()
assert from_file["total"] == flopbook.calculate("params", model="llama-3-8b")["total"]
print("all checks passed")
