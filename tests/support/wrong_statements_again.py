"""More words of chapters that were wrong once: chapter, and what must not stand in it again."""

from __future__ import annotations

WRONG = [
    ("kernels", "made of the parts that the next section takes apart"),
    ("kernels", "A loop of $n$ iterations"),
    ("kernels", "four times $n^2$ numbers"),
    ("kernels", "for the tile sizes of the figure above"),
    ("profiling", "or the first, if the embedding is large"),
    ("profiling", "TORCH_NCCL_TRACE_BUFFER_SIZE"),
    ("profiling", "of which published runs show"),
    ("profiling", 'falls to {{ q("8.4s", "s") }}'),
    ("profiling", "is `kernel`, `gpu_memcpy` or `gpu_memset`"),
    ("low-precision", 'set share8 = planned.part("products", "head")'),
    ("low-precision", "the width of the feed-forward block for each chip that hides them doubles"),
    ("low-precision", "what we have measured pairs for is NVIDIA's"),
    ("low-precision", "One of the four is for the weight gradient alone"),
    ("low-precision", "was fitted to this very run among others, on other cards"),
    ("inference", "(The last term's $t$ holds"),
    ("inference", "The picture says one sequence less"),
    ("inference", "the edge beyond which that no longer works"),
    ("serving", "as many are spent, one by each request that is inside"),
    ("serving", "(It gains less than its batch promises"),
    ("serving", "Attention deserves a count of its own"),
    ("reinforcement-learning", "to as many of the engines, by themselves"),
    ("reinforcement-learning", "the largest model and the largest clusters"),
    ("reinforcement-learning", "And the pools may use different chips"),
    ("reliability-and-energy", "at the rates of the bound, which it does not reach"),
    ("reliability-and-energy", "Our order: look at the data loader"),
]
