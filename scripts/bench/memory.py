"""The most memory that commands take: each in a process of its own, with nothing kept before."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator

from scripts.bench.large import measured
from scripts.bench.processes import ROOT
from scripts.bench.results import Counted

MOST_MEGABYTES = 500
# Those that read or compute most; all others read one entry, or one formula.
COMMANDS = (
    ("lint",),
    ("list",),
    ("stale",),
    ("validate",),
    ("audit",),
    ("claims",),
    ("diff", "HEAD"),
    ("export", "{out}"),
    ("predict", "--model", "llama-3-70b", "--chip", "h100-sxm", "--chips", "512"),
    (
        *("plan", "--model", "gpt-3-175b", "--chip", "h100-sxm", "--chips", "1024"),
        *("--batch-tokens", "4Mi"),
    ),
    (
        *("sharded-matmul", "--product", "A[I, J_X] * B[J_X, K] -> C[I, K]"),
        *("--dims", "I=4096,J=8192,K=1024", "--mesh", "X=4", "--chip", "google/tpu-v5p"),
        *("--sweep", "latency=1e-9:1e-5:lin:100000", "--json"),
    ),
)


def memory(_: int) -> Iterator[Counted]:
    """Megabytes of each, at most."""
    with tempfile.TemporaryDirectory() as folder:
        for command in COMMANDS:
            words = tuple(word.format(out=f"{folder}/out") for word in command)
            run = measured(words, ROOT, {"FLOPBOOK_CACHE": folder})
            figure = f"{run.megabytes:,.0f} MB of {MOST_MEGABYTES}"
            is_refused = "" if run.status in (0, 1) else f", refused: {run.error.strip()[:120]}"
            yield Counted(f"memory of {' '.join(command[:2])}", figure + is_refused)
