"""Kinds of published runs, and the pages on which those of each kind stand."""

from __future__ import annotations

KINDS = {
    "training_throughput": "training",
    "whole_run": "whole run",
    "training_memory": "memory in training",
    "inference": "inference",
    "matmul_peak": "matmul",
    "hbm_bandwidth": "memory bandwidth",
    "p2p_bandwidth": "link bandwidth",
    "collective": "collective",
}
# The same runs as plain tables, each page with the kinds of its runs: one of all would weigh too
# much. The script of the page adds them up, so kinds stand in the order of KINDS.
PLAIN = {
    "runs.md": ("training_throughput", "whole_run", "training_memory"),
    "runs-inference.md": ("inference",),
    "runs-parts.md": ("matmul_peak", "hbm_bandwidth", "p2p_bandwidth", "collective"),
}
TITLES = {
    "runs.md": "Published training runs",
    "runs-inference.md": "Published inference runs",
    "runs-parts.md": "Measured parts of runs",
}
