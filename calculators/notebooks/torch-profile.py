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
# # Reading a profile: where a training step goes
#
# You will take a training step apart with PyTorch's profiler, on the processor of an ordinary
# computer: measure what the machine can do, count what the step needs,
# read the table of operators, look at the timeline, find two planted faults, and check the repair.
# A GPU changes the numbers and adds launches and collectives to the timeline; the method is the
# same, and the chapter on profiling goes on from here.
#
# The timings on this page were recorded once, on the machine that the note above names. Yours will
# differ. To follow along on your own computer, in a clone of the repository:
# `pip install '.[torch]' matplotlib`. No GPU is needed.
#
# ## Set up

# %%
import time
from collections import defaultdict

import matplotlib.pyplot as plt
import torch
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile, record_function

from flopbook.drawing.plotting import COLOURS, show, use_style

use_style()
torch.set_num_threads(1)
torch.manual_seed(0)
LAYERS, WIDTH, HEADS, HIDDEN, VOCAB, BATCH, SEQ = 4, 256, 4, 1024, 4096, 4, 128

# %% [markdown]
# ## What the machine can do
#
# Start with the peak that you can reach, not with a data sheet: one large matrix product, timed
# after a warm-up, the fastest of several.


# %%
def best_seconds(function, runs=7):
    function()
    times = []
    for _ in range(runs):
        begun = time.perf_counter()
        function()
        times.append(time.perf_counter() - begun)
    return min(times)  # what other programs took is in all the others


side = 1024
a, b = torch.randn(side, side), torch.randn(side, side)
peak = 2 * side**3 / best_seconds(lambda: a @ b)
print(f"a product of side {side} runs at {peak / 1e9:.0f} GFLOP/s on one core")

# %% [markdown]
# ## A model with two faults
#
# A small decoder. The code has two slips that pass every test of correctness: a loop over the
# heads, and a norm that is read out in each layer for a log that nobody looks at. On a GPU the
# second would be worse, since reading a number makes the processor wait for the device.


# %%
class Layer(torch.nn.Module):
    def __init__(self, careful):
        super().__init__()
        self.careful = careful
        self.qkv = torch.nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = torch.nn.Linear(WIDTH, WIDTH, bias=False)
        self.up = torch.nn.Linear(WIDTH, HIDDEN, bias=False)
        self.down = torch.nn.Linear(HIDDEN, WIDTH, bias=False)
        self.log = []

    def attention(self, x):
        q, k, v = self.qkv(x).reshape(BATCH, SEQ, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        if self.careful:
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            y = torch.stack([self.one_head(q, k, v, head) for head in range(HEADS)], dim=1)
        return self.out(y.transpose(1, 2).reshape(BATCH, SEQ, WIDTH))

    def one_head(self, q, k, v, head):
        """The same, head by head and sequence by sequence."""
        mask = torch.ones(SEQ, SEQ, dtype=torch.bool).triu(1)
        rows = []
        for n in range(BATCH):
            scores = q[n, head] @ k[n, head].T * (WIDTH // HEADS) ** -0.5
            rows.append(torch.softmax(scores.masked_fill(mask, -torch.inf), -1) @ v[n, head])
        return torch.stack(rows)

    def forward(self, x):
        with record_function("attention"):
            x = x + self.attention(functional.layer_norm(x, (WIDTH,)))
        with record_function("feed-forward"):
            x = x + self.down(functional.gelu(self.up(functional.layer_norm(x, (WIDTH,)))))
        if not self.careful:
            with record_function("log"):
                self.log.append(torch.linalg.matrix_norm(x.detach().double()).mean().item())
        return x


class Decoder(torch.nn.Module):
    def __init__(self, careful):
        super().__init__()
        self.embed = torch.nn.Embedding(VOCAB, WIDTH)
        self.layers = torch.nn.ModuleList(Layer(careful) for _ in range(LAYERS))
        self.head = torch.nn.Linear(WIDTH, VOCAB, bias=False)

    def forward(self, tokens):
        x = self.embed(tokens[:, :-1])
        for layer in self.layers:
            x = layer(x)
        with record_function("head and loss"):
            logits = self.head(functional.layer_norm(x, (WIDTH,)))
            return functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


def training(careful):
    """A function that makes one step of training."""
    torch.manual_seed(0)
    model = Decoder(careful)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    tokens = torch.randint(VOCAB, (BATCH, SEQ + 1))

    def step():
        with record_function("forward"):
            loss = model(tokens)
        with record_function("backward"):
            loss.backward()
        with record_function("optimizer"):
            optimizer.step()
            optimizer.zero_grad()
        return loss.item()

    return step, model


# %% [markdown]
# ## MFU from a log
#
# Two numbers are enough: tokens per second from the training log, and the FLOPs of a token. The
# FLOPs are six times the weights that multiply, plus attention; embeddings are looked up and do not
# count.

# %%
step, model = training(careful=False)
first_losses = [step() for _ in range(2)]
seconds = best_seconds(step)
multiplied = sum(p.numel() for p in model.parameters()) - model.embed.weight.numel()
per_token = 6 * multiplied + 6 * LAYERS * SEQ * WIDTH  # causal: half of the scores
rate = BATCH * SEQ / seconds
mfu = rate * per_token / peak
print(f"{rate:,.0f} tokens/s, {per_token / 1e6:.1f} MFLOP a token: MFU {mfu:.0%} of the core")

# %% [markdown]
# ## The table
#
# Sort by self time: the time in an operator without what it calls. Products should be on top. Ask
# of each other line whether you expected it, and how often it was called: a count that is layers x
# heads x batch points to a loop.


# %%
def profiled(step):
    """Self milliseconds and calls of the operators of one step, and their events."""
    step()
    with profile(activities=[ProfilerActivity.CPU]) as record:
        step()
    rows = [(e.self_cpu_time_total / 1e3, e.count, e.key) for e in record.key_averages()]
    return sorted(rows, reverse=True), record.events()


PARTS = ("forward", "backward", "optimizer", "attention", "feed-forward", "head and loss", "log")
before, events_before = profiled(step)
total = sum(milliseconds for milliseconds, _, _ in before)
operators = [row for row in before if row[2] not in PARTS]
for milliseconds, calls, name in operators[:12]:
    print(f"{milliseconds / total:5.1%}  {calls:5} calls  {name}")

# %% [markdown]
# Products (`aten::mm`) are on top, in hundreds of calls where dozens would do, and below them are
# copies, fills and selections of single heads, each of them small. The named regions say where.


# %%
def regions(events):
    """Milliseconds of each named region of the forward pass, and of the three phases."""
    found = defaultdict(float)
    for event in events:
        if event.name in PARTS:
            found[event.name] += event.cpu_time_total / 1e3
    return dict(found)


for name, milliseconds in regions(events_before).items():
    print(f"{name:14} {milliseconds:7.1f} ms")

# %% [markdown]
# Attention takes longer than the feed-forward block, although it has fewer FLOPs here: half of its
# weights, and scores of only 128 tokens. The log costs a fraction of either on a processor. On a
# GPU it would stop the queue in every layer, and nothing in this table would say so: there it shows
# as gaps in the timeline of the device.

# %%
one = model.layers[0]
attention_weights = one.qkv.weight.numel() + one.out.weight.numel()
forward_weights = one.up.weight.numel() + one.down.weight.numel()
# FLOPs of a token forward: two for each weight, and all scores with their sums, as the loop does
attention_flops = 2 * attention_weights + 4 * SEQ * WIDTH
print(f"attention {attention_flops:,} FLOP a token, feed-forward {2 * forward_weights:,}")

# %% [markdown]
# ## The repair
#
# Replace the loop by one fused call and drop the log. Then measure again, and check that the
# learning is the same.

# %%
fast_step, fast_model = training(careful=True)
fast_losses = [fast_step() for _ in range(2)]
fast_seconds = best_seconds(fast_step)
after, events_after = profiled(fast_step)
fast_mfu = BATCH * SEQ / fast_seconds * per_token / peak
print(f"step: {1e3 * seconds:.0f} ms before, {1e3 * fast_seconds:.0f} ms after")
print(f"MFU:  {mfu:.0%} before, {fast_mfu:.0%} after")
print(f"calls: {sum(n for _, n, _ in before):,} before, {sum(n for _, n, _ in after):,} after")

# %% [markdown]
# The figure shows the same at a glance: each bar is a region of the forward pass, in milliseconds
# from its start.

# %%
fig, axes = plt.subplots(2, 1, sharex=True)
drawn = ("attention", "feed-forward", "head and loss", "log")
for ax, title, events in [(axes[0], "before", events_before), (axes[1], "after", events_after)]:
    start = min(event.time_range.start for event in events if event.name == "forward")
    for row, name in enumerate(drawn):
        spans = [event.time_range for event in events if event.name == name]
        bars = [((s.start - start) / 1e3, (s.end - s.start) / 1e3) for s in spans]
        ax.broken_barh(bars, (row - 0.4, 0.8), color=COLOURS[row])
    ax.set(yticks=range(len(drawn)), yticklabels=drawn, ylabel=title)
    ax.invert_yaxis()
axes[1].set_xlabel("milliseconds from the start of the forward pass")
show("Regions of the forward pass over time, before and after the repair")

# %% [markdown]
# What is left? The optimizer and the element-wise operations move memory and do hardly any
# arithmetic, and the products of this small model are narrower than the one that set the peak.
# That is the rest of the distance to 100 percent, and no repair of the code will close it.
#
# ## Try it
#
# - Set `torch.set_num_threads(2)`. Which lines of the table shrink, and which do not?
# - Take the fused call and keep the log. How much of the gain was which?
# - `record.export_chrome_trace("step.json")` writes a trace for Perfetto. Find the first backward
#   pass of the last layer in it.
#
# ## Check
#
# The claims of this page, as assertions. They compare times of one machine with each other and
# leave room for noise.

# %%
assert all(abs(a - b) < 1e-4 for a, b in zip(first_losses, fast_losses, strict=True))
assert fast_seconds < seconds and mfu < fast_mfu < 1
assert sum(n for _, n, _ in after) < sum(n for _, n, _ in before) / 2
assert regions(events_before)["attention"] > 1.2 * regions(events_after)["attention"]
assert "log" not in regions(events_after)
assert operators[0][2] == "aten::mm" and operators[0][1] > 5 * 6 * LAYERS  # hundreds, not dozens
parts_before = regions(events_before)
assert parts_before["attention"] > parts_before["feed-forward"] > parts_before["log"]
assert 2 * attention_weights == forward_weights and attention_flops < 2 * forward_weights
print("all checks passed")
