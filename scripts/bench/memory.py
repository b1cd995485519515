"""The most memory that commands and builds take: each in a process of its own, nothing kept."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from scripts.bench.large import Measured, measured
from scripts.bench.processes import PYTHON, ROOT
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
    ("check", "H100 bf16 989 TFLOPS"),
    ("predict", "--model", "llama-3-70b", "--chip", "h100-sxm", "--chips", "512"),
    (
        *("plan", "--model", "gpt-3-175b", "--chip", "h100-sxm", "--chips", "1024"),
        *("--batch-tokens", "4Mi"),
    ),
    ("plan", "--serve", "--model", "deepseek-v3", "--chip", "h100-sxm", "--chips", "64"),
    ("study", "{out}.yaml", "--output", "{out}.study"),
    (
        *("sharded-matmul", "--product", "A[I, J_X] * B[J_X, K] -> C[I, K]"),
        *("--dims", "I=4096,J=8192,K=1024", "--mesh", "X=4", "--chip", "google/tpu-v5p"),
        *("--sweep", "latency=1e-9:1e-5:lin:100000", "--json"),
    ),
)


# A browser, which the book is printed by, takes what it likes; all that we run counts.
PROGRAMS = (
    ("check_links", "--list"),
    ("build_site", "--site", "{out}/site", "--work", "{out}/work"),
    ("build_book", "--site", "{out}/site", "--out", "{out}/book"),
)
SIZES = """\
model: [llama-3-8b, llama-3-70b, mixtral-8x7b, deepseek-v3]
chip: [h100-sxm, b200, mi300x]
chips: [64, 512, 4096]
batch-tokens: [4Mi, 16Mi]
seq: 8192
price: [2USD/h, 4USD/h]
"""


def memory(_: int) -> Iterator[Counted]:
    """Megabytes of each, at most."""
    with tempfile.TemporaryDirectory() as folder:
        out = f"{folder}/out"
        Path(f"{out}.yaml").write_text(SIZES, encoding="utf-8")
        kept = {"FLOPBOOK_CACHE": folder}
        for command in COMMANDS:
            run = measured(_filled(command, out), ROOT, kept)
            yield _line(" ".join(command[:2]), run)
        for name, *words in PROGRAMS:
            program = (PYTHON, "-m", f"scripts.{name}")
            yield _line(name, measured(_filled(words, out), ROOT, kept, program))


def _filled(words: Sequence[str], out: str) -> tuple[str, ...]:
    """The words of a command, with the place for what it writes."""
    return tuple(word.format(out=out) for word in words)


def _line(name: str, run: Measured) -> Counted:
    figure = f"{run.megabytes:,.0f} MB of {MOST_MEGABYTES}"
    is_refused = "" if run.status in (0, 1) else f", refused: {run.error.strip()[:120]}"
    return Counted(f"memory of {name}", figure + is_refused)
