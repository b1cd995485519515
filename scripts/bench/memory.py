"""The most memory that commands and builds take: each in a process of its own, nothing kept.

The bound is for the largest process of each. All at once are said beside it where it starts others:
a build runs the site generator while it waits. Browsers are left out.
"""

from __future__ import annotations

import os
import shlex
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from flopbook.evaluation.answers import example
from flopbook.formulas import formulas
from scripts.bench.peaks import Peak, peak
from scripts.bench.processes import COMMAND, PYTHON, ROOT
from scripts.bench.results import Counted

MOST_MEGABYTES = 500
COMMANDS = (
    ("lint",),
    ("list",),
    ("models",),
    ("show", "h100-sxm", "--all"),
    ("compare", "h100-sxm", "h200-sxm", "mi300x"),
    ("peak", "h100-sxm"),
    ("cite", "williams2009roofline"),
    ("where", "h100-sxm"),
    ("new", "vendor", "acme", "--name", "Acme", "--website", "https://acme.example", "--dry-run"),
    ("measure", "--backend", "numpy", "--what", "matmul", "--m", "1024", "--repeat", "2"),
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


PROGRAMS = (
    ("check_links", "--list"),
    ("build_site", "--site", "{out}/site", "--work", "{out}/work"),
    ("build_book", "--site", "{out}/site", "--out", "{out}/book"),
    ("attack", "given", "heads", "--share", "0.02"),
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
        environment = {**os.environ, "FLOPBOOK_CACHE": folder}
        for command in COMMANDS:
            run = peak((COMMAND, *_filled(command, out)), ROOT, environment)
            yield _line(" ".join(command[:2]), run)
        runs = [peak(words, ROOT, environment) for words in _examples()]
        yield _line(f"{len(runs)} calculators", max(runs, key=lambda run: run.largest))
        for name, *words in PROGRAMS:
            program = (PYTHON, "-m", f"scripts.{name}", *_filled(words, out))
            yield _line(name, peak(program, ROOT, environment))


def _examples() -> Iterator[tuple[str, ...]]:
    """The first example of each calculator."""
    for formula in formulas().values():
        yield (COMMAND, *shlex.split(example(formula))[1:])


def _filled(words: Sequence[str], out: str) -> tuple[str, ...]:
    """The words of a command, with the place for what it writes."""
    return tuple(word.format(out=out) for word in words)


def _line(name: str, run: Peak) -> Counted:
    figure = f"{run.largest:,.0f} MB of {MOST_MEGABYTES}"
    figure += f" ({run.other})" if run.other else ""
    has_others = run.together > run.largest * 1.05
    others = f", all its processes {run.together:,.0f}" if has_others else ""
    is_refused = "" if run.status in (0, 1) else f", refused: {run.error.strip()[:120]}"
    return Counted(f"memory of {name}", figure + others + is_refused)
