"""How fast layouts are timed: a whole space, a million layouts, and commands in a new process."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

from scripts.bench.processes import COMMAND, ROOT, busy, printed, timed
from scripts.bench.results import Counted, Result, Timed

# GPT-3 175B on 1,024 chips at a batch of 1,536 sequences. calculon lists 1,136,960 layouts for it;
# ours are fewer, as those that differ in no number of ours count once, so they are repeated.
_SPACE = """
import time
import numpy
from flopbook.planning import planner
from flopbook.planning.exclusions import Sieve
from flopbook.planning.memory import memory_inputs
from flopbook.planning.question import question_of
from flopbook.planning.space import Cells, cells_of, space_of

asked = dict(model="gpt-3-175b", chip="a100-sxm-80gb", chips="1024", seq="2048",
             batch_tokens=str(1536 * 2048), stack="megatron-core")
question = question_of(asked)
planner.plan(question)
begun = time.process_time()
found = planner.plan(question)
print("space", time.process_time() - begun, found.considered, found.feasible)

space, inputs = space_of(question), memory_inputs(question)
pieces = list(cells_of(question, space, Sieve(inputs)))
numbers = {name: numpy.concatenate([piece.numbers[name] for piece in pieces])
           for name in pieces[0].numbers}
count = -(-1_136_960 // space.variants)
many = {name: numpy.resize(column, count) for name, column in numbers.items()}
cells = Cells("interleaved", many)
begun = time.process_time()
best = []
for piece in cells.slices(planner.PIECE):
    timed = planner.evaluate(question, space, Sieve(inputs), inputs, piece)
    best += planner.fastest_of(question, space, timed, timed.is_possible, 10)
print("million", time.process_time() - begun, count * space.variants, len(best))
"""
_ASKED = "--model llama-3-70b --chip h100-sxm --chips 512 --batch-tokens 4Mi"
_MIXTURE = "--model deepseek-v3 --chip h800-sxm --chips 2048 --batch 15360"
_STATED = "--tp 8 --pp 4 --zero 1 --micro-batch 1 --recompute selective"
_SERVED = "--model llama-3-70b --chip h100-sxm --tp 8 --batch 8 --answer 100"
_COLD = (
    ("predict", f"predict {_ASKED}", "120 ms"),
    ("predict of a mixture", f"predict {_MIXTURE}", "120 ms"),
    ("predict of a stated layout", f"predict {_ASKED} {_STATED}", "120 ms"),
    ("predict of serving", f"predict {_SERVED}", "120 ms"),
    ("plan", f"plan {_ASKED}", "none"),
)
_MOST_RUNS = 7


def plans(runs: int) -> Iterator[Result]:
    """Processor time of one core for a space and for a million layouts; cold commands."""
    # As where it is installed: compiled once, not at every start.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    one_core = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    times: dict[str, list[tuple[float, int, int]]] = {}
    for _ in range(min(runs, _MOST_RUNS)):
        for line in printed(_SPACE, one_core).splitlines():
            name, seconds, layouts, kept = line.split()
            times.setdefault(name, []).append((float(seconds), int(layouts), int(kept)))
    space, million = times["space"], times["million"]
    yield Counted("layouts of the space, of them feasible", f"{space[0][1]:,}, {space[0][2]:,}")
    yield Timed("plan of GPT-3 175B on 1,024 chips", [1000 * run[0] for run in space], "2000 ms")
    name = f"{million[0][1]:,} layouts, parts, memory, ranked"
    yield Timed(name, [1000 * run[0] for run in million], "2000 ms")
    rates = [run[1] / run[0] / 1e6 for run in million]
    yield Timed("layouts a second", rates, "1 million", unit="million")
    for what, call, budget in _COLD:
        words = call.split()
        subprocess.run([COMMAND, *words], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        name = f"{what} in a new process"
        yield Timed(name, timed([COMMAND, *words], runs), budget)
        yield Timed(f"{name}, processor", busy([COMMAND, *words], runs), budget)
