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
# # Predict, check, calibrate: how far can you trust a step time?
#
# You will predict the step of a training run and take it apart, hold the same predictions against
# runs that other people published and that no fit has seen, and correct them with three runs of a
# cluster, the way you would with your own. At the end you know how wrong a prediction is before and
# after, and where three runs do not help.
#
# To follow along on your own computer, in a clone of the repository:
# `pip install . numpy matplotlib`. No GPU is needed.
#
# ## Set up
#
# This cell loads the prediction, the published runs, and NumPy.

# %%
from collections import defaultdict

import matplotlib.pyplot as plt
import numpy as np

import flopbook
from flopbook.data.measured_runs import run_files
from flopbook.data.runs import RunFile
from flopbook.drawing.plotting import COLOURS, show, use_style
from flopbook.prediction.asking import predict
from flopbook.prediction.catalogue import MODELS
from flopbook.prediction.fits import cases_of, left_out_errors
from flopbook.prediction.validation import summary_of, validate

use_style()
KIND = "training_throughput"

# %% [markdown]
# ## Predict
#
# Llama 3 70B on 512 H100, in the layout that the handbook works with. What you leave open a rule
# fills in, and the answer names it. The parts add up to the step.

# %%
asked = {
    "model": "llama-3-70b",
    "chip": "h100-sxm",
    "chips": "512",
    "tp": "4",
    "pp": "8",
    "virtual": "10",
    "zero": "1",
    "seq": "8192",
    "batch_tokens": "4Mi",
    "micro_batch": "1",
    "recompute": "none",
    "stack": "megatron-core",
}
answer = predict(asked)
print(
    f"step {answer.seconds:.2f} s, the band from {answer.low:.2f} to {answer.high:.2f} s, "
    f"MFU {answer.mfu:.0%}"
)
print("inferred:", ", ".join(answer.inferred) or "nothing")
less = predict({name: asked[name] for name in ("model", "chip", "chips", "seq", "batch_tokens")})
print("with nothing but model, chips and batch:", f"{less.seconds:.2f} s,", "inferred:")
print("  " + ", ".join(less.inferred))

# %% [markdown]
# The figure shows the parts of the step, the longest at the top. Nearly everything is matrix
# products: a wrong guess about the network would hardly move this layout.

# %%
parts = sorted((seconds, name) for name, seconds in answer.parts.items() if seconds > 0)
fig, ax = plt.subplots(figsize=(7.2, 3.8))
bars = ax.barh(
    [name.replace("_", " ") for _, name in parts],
    [seconds for seconds, _ in parts],
    color=COLOURS[0],
)
ax.bar_label(bars, [f"{seconds:.2f}" for seconds, _ in parts], padding=2, fontsize=9)
ax.set(xlabel="seconds of a step", ylabel="part")
ax.margins(x=0.12)
ax.grid(False)
show("Parts of a predicted step of Llama 3 70B on 512 H100, in seconds")

# %% [markdown]
# ## Check against what was measured
#
# Published runs lie in files, each with its source. Those marked `check` were collected after the
# model was made, and nothing is ever fitted to them. Predict every complete row from its layout
# alone.

# %%
files = [
    RunFile(
        file.sources, tuple(row for row in file.rows if row.kind == KIND and row.use == "check")
    )
    for file in run_files().values()
]
files = [file for file in files if file.rows]
lines = [line for line in validate(files).lines if line.case.is_sound]
found = summary_of(lines)
print(f"{found['n']} runs of {len({line.case.source for line in lines})} sources")
print(f"median error {found['median']:.0%}, nine of ten below {found['p90']:.0%}")
print(
    f"the median run is predicted {found['bias']:+.0%} off; the band holds {found['coverage']:.0%}"
)

is_mixture = [line.case.row.model.get("n_experts", 1) > 1 for line in lines]
for name, wanted in (("dense", False), ("mixtures of experts", True)):
    kind = [line for line, mixed in zip(lines, is_mixture, strict=True) if mixed == wanted]
    print(f"{name:<20} n = {len(kind):<4} median error {summary_of(kind)['median']:.0%}")

# %% [markdown]
# The figure shows predicted over measured throughput against the measured one, both axes
# logarithmic. On the line a prediction is right; above it the run was slower than predicted. The
# grey lines are the band. Mixtures of experts lie above it in columns: rows of one model on one
# chip share an error, which is what calibration uses.

# %%
fig, ax = plt.subplots(figsize=(7.2, 4.2))
measured = np.array([line.case.measured for line in lines])
ratios = np.array([1 + line.error for line in lines])
mixed = np.array(is_mixture)
for name, chosen, shade in (("dense", ~mixed, COLOURS[0]), ("experts", mixed, COLOURS[1])):
    ax.plot(measured[chosen], ratios[chosen], "o", color=shade, alpha=0.7, label=name)
width = lines[0].high / lines[0].predicted
for height in (1.0, width, 1 / width):
    ax.axhline(height, color="#8a8a8a", linewidth=1, linestyle="-" if height == 1 else "--")
ax.set(xscale="log", yscale="log", ylim=(0.4, 4))
ax.set_yticks([0.5, 1, 2, 4], ["0.5", "1", "2", "4"])
ax.minorticks_off()
ax.set(xlabel="measured (tokens per second and chip)", ylabel="predicted over measured")
ax.legend()
show("Predicted over measured throughput of training runs that were never fitted")

# %% [markdown]
# ## Calibrate
#
# Say that a source is your machine. Nothing of it may be in the fit, so fit again without it: six
# fits, each without a sixth of the sources. Then take three runs of a source, compute the factor
# that they share, shrink it by how far they disagree, and apply it to its other runs. Everything is
# done in logarithms of measured over predicted.

# %%
model = MODELS[KIND]
fitted = cases_of(model, run_files().values(), use="fit").cases
blind = left_out_errors(model, fitted, lambda case: case.source, folds=6)
by_source = defaultdict(list)
for case, wrong in zip(fitted, blind, strict=True):
    if case.is_sound:
        by_source[case.source].append(-np.log1p(wrong))
by_source = {name: np.array(logs) for name, logs in by_source.items() if len(logs) >= 6}
between = np.var([logs.mean() for logs in by_source.values()])  # how far sources lie apart
print(f"{len(by_source)} sources with six runs or more, {np.sqrt(between):.2f} apart")


def size(logs):
    """The median size of predicted over measured, less one."""
    return float(np.median(np.abs(np.expm1(-logs))))


def learned(known):
    """The logarithm of the factor that a few runs share, as far as they agree on it."""
    scatter = np.var(known, ddof=1) / len(known)
    return known.mean() * between / (between + scatter)


draws = np.random.default_rng(0)
before, after = {}, {}
for name, logs in by_source.items():
    orders = [draws.permutation(len(logs)) for _ in range(50)]
    split = [(logs[order[:3]], logs[order[3:]]) for order in orders]
    before[name] = np.mean([size(rest) for _, rest in split])
    after[name] = np.mean([size(rest - learned(known)) for known, rest in split])
middle = [np.median(list(errors.values())) for errors in (before, after)]
print(f"middle of the sources: {middle[0]:.1%} before, {middle[1]:.1%} after three runs")

# %% [markdown]
# The figure shows the median error of each source before and after, on the runs that were not used.
# Where the error was large and common to all runs, three of them remove most of it. Where it was no
# larger than what runs of a source differ by among themselves, three of them cannot know it, and a
# little is lost. So calibrate a prediction that is off, and leave alone one that holds.

# %%
names = sorted(before, key=lambda name: before[name])
fig, ax = plt.subplots(figsize=(7.2, 4.6))
for place, name in enumerate(names):
    ax.plot([before[name], after[name]], [place, place], color="#8a8a8a", linewidth=1)
places = range(len(names))
ax.plot([before[name] for name in names], places, "o", color=COLOURS[1], label="before")
ax.plot([after[name] for name in names], places, "o", color=COLOURS[0], label="after")
ax.set_yticks(places, names, fontsize=8)
ax.set_xticks([0, 0.1, 0.2, 0.3], ["0", "10 %", "20 %", "30 %"])
ax.set(xlabel="median error of the runs that were not used", ylabel="source")
ax.legend()
show("Median error by source before and after calibration on three of its runs")

# %% [markdown]
# ## When the machine moves
#
# Calibration assumes that tomorrow's run is like today's. The never-fitted rows come from one
# vendor's releases of a year. Calibrate each model and chip on its three oldest rows, and predict
# the newer ones. In most clusters the old factor still helps; where the software has changed what
# it corrected, it makes the prediction worse.

# %%
clusters = defaultdict(list)
for line in lines:
    clusters[line.case.cluster].append(line)
old_before, old_after = [], []
for rows in clusters.values():
    if len(rows) < 6:
        continue
    rows.sort(key=lambda line: (str(line.case.row.run.get("date")), line.case.row.id))
    logs = -np.log1p(np.array([line.error for line in rows]))
    old_before.append(size(logs[3:]))
    old_after.append(size(logs[3:] - learned(logs[:3])))
print(f"{len(old_before)} clusters: {np.median(old_before):.0%} before,", end=" ")
print(f"{np.median(old_after):.0%} after three runs of an older release")
worse = sum(later > sooner for sooner, later in zip(old_before, old_after, strict=True))
print(f"worse in {worse} of them")

# %% [markdown]
# ## Try it
#
# - Calibrate on two runs, then on five. What does the middle do, and for which sources?
# - Leave out the shrinkage: return the mean of the known runs. Where does that hurt?
# - Ask for `"recompute": "full"` in the first cell. By how much does the step grow, and which
#   parts?
# - Measure three steps of your own, write them as rows like those in `calculators/runs`, and hand
#   the file to `flopbook predict --calibrate`.
#
# ## Check
#
# The claims of this page, as assertions. They run with the tests of flopbook and again each time
# the page is built.

# %%
assert np.isclose(sum(answer.parts.values()), answer.seconds)
assert answer.low < answer.seconds < answer.high and less.inferred
assert answer.parts["products"] > answer.seconds / 2  # nearly everything is products
assert all(row.use == "check" for file in files for row in file.rows)
dense, experts = (
    summary_of([line for line, mixes in zip(lines, is_mixture, strict=True) if mixes == wanted])
    for wanted in (False, True)
)
assert dense["median"] < experts["median"]  # mixtures are harder
assert middle[1] < middle[0]  # three runs help in the middle
assert sum(after.values()) < sum(before.values())  # and gain more than they lose
far = names[-len(names) // 3 :]
gains = {name: before[name] - after[name] for name in names}
assert sum(gains[name] for name in far) > sum(gains.values()) / 2  # most of it where it was far off
assert 0 < worse < len(old_before) / 2  # and mislead in some, across releases
assert answer.mfu < 1 and flopbook.chip("h100-sxm").peak("bf16") > answer.tokens_per_second
print("all checks passed")
