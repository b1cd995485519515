"""The parameters of serving: what each means, where it starts, and how far it may move."""

from __future__ import annotations

from flopbook.prediction.parameters import GENERATION_STARTS, Prior

PRIORS = {
    # The same in 8 bits as in 16: only on Ampere and Gaudi are rows of both fitted, and those lie
    # 5 % apart. Elsewhere a share for each format would be told apart by its prior alone.
    **{
        f"serve_{name}": Prior(start, 0.2, f"share of the peak that long prompts reach on {name}")
        for name, start in GENERATION_STARTS.items()
    },
    # As for products of matrices alone, in `rates`.
    "power": Prior(0.1, 0.5, "power with which rates grow with the watts for each FLOP/s"),
    "adding": Prior(
        1.5, 0.2, "power in which reading and arithmetic add up: 1 in turn, more side by side"
    ),
    "weights_share": Prior(0.75, 0.15, "share of the memory bandwidth at which weights arrive"),
    "quantised_share": Prior(0.75, 0.2, "the same of weight-only quantised over plain weights"),
    "cache_share": Prior(0.75, 0.2, "share of the memory bandwidth at which the cache arrives"),
    "half_batch": Prior(60, 0.6, "tokens of a pass at which products reach half of their rate"),
    "values_moved": Prior(12, 0.3, "values read and written for each token and width of a layer"),
    "layer_seconds": Prior(1.5e-5, 0.6, "seconds of launches in a layer of a compiled decoder"),
    "eager_seconds": Prior(2e-4, 0.6, "the same of an eager or early decoder"),
    # Six kernels more, each as long as one of the eight or so of a compiled layer.
    "expert_seconds": Prior(1.2e-5, 0.6, "seconds of routing tokens to experts in a layer"),
    "sum_seconds": Prior(1.2e-5, 0.5, "seconds of a small sum over tensor-parallel ranks"),
    "sum_share": Prior(0.5, 0.4, "share of the link rate that large sums reach"),
    "memory_used": Prior(0.85, 0.1, "share of the memory for weights and cache at full load"),
    "loaded": Prior(0.75, 0.25, "throughput at full load over that of a full static batch"),
    "most_sequences": Prior(1500, 0.5, "sequences beyond which a scheduler does not batch"),
    "step_seconds": Prior(1.5e-3, 0.6, "seconds of scheduling and sampling for a step"),
    # A request has a place in tables of the cache, a sampler and a text that grows by a token.
    "sequence_seconds": Prior(5e-6, 0.7, "the same for each sequence of a step"),
    "read_again": Prior(0.8, 0.2, "time of reading the cache once more over the first"),
    "prompt_launch": Prior(
        1.5e-4, 0.5, "seconds of launches in a layer, for prompts of any length"
    ),
}
