"""Words of the chapters on foundations that were wrong once: chapter, and what must be gone."""

from __future__ import annotations

WRONG = [
    # the chart has runs and no chips; that chips grow more slowly is said further down
    ("why-compute", "this chart argues against it"),
    # a compiler chooses the instructions
    ("computer", "This processor writes it in six instructions"),
    # a weight is read in the forward and in the backward pass; the third matrix is its gradient
    ("batch", "reads its weights three times"),
    # the critical batch starts near zero, as the chapter itself says
    ("batch", "measured over the first steps"),
    # the first equation cuts the first factor by rows, the second one by columns
    ("sharded-matrices", "A_1: columns of the first factor"),
    # the chapter on networks comes next
    ("sharded-matrices", "Next: [data parallelism]"),
    # two servers fill a rack in the chapter on accelerators
    ("data-parallelism", "a rack of eight nodes"),
    # at the critical batch a doubling still saves a quarter of the steps
    ("data-parallelism", "saves hardly any steps"),
    # the input of the layer stays: without it nothing can be computed again
    ("fsdp", "(or nothing, with recomputation)"),
]
