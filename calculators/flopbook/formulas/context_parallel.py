"""How far one sequence can be spread over chips before attention waits for the network."""

from typing import Annotated, Any

from flopbook.formulas.conditions import kv_heads_are_shared
from flopbook.formulas.declaration import Input, Output, Step, StepWord, formula, part
from flopbook.formulas.network_inputs import Axes, LinksPerAxis, Peak, ValueBytes
from flopbook.formulas.network_omissions import causal_mask_of_a_ring, exchange_on_a_ring
from flopbook.formulas.reach import (
    LINKS,
    NETWORK_RULES,
    REACH_SYMBOLS,
    VERDICTS,
    count_reach,
)
from flopbook.formulas.rooflines import FLOP_PER_WEIGHT
from flopbook.quantities.ops import floor, inf, maximum, minimum, where

Method = Annotated[
    str,
    Input(
        "1",
        r"\text{method}",
        "ring attention (KV blocks go round), or Ulysses (heads in an all-to-all)",
        choices=("ring", "ulysses"),
    ),
]
Heads = Annotated[
    float, Input("1", "H", "query heads", model="heads", least=1, whole=True, most=1e5)
]
KVHeads = Annotated[
    float,
    Input(
        "1",
        "K",
        "KV heads (default: as many as query heads)",
        model="kv_heads",
        least=1,
        whole=True,
        most=1e5,
    ),
]
Causal = Annotated[
    str,
    Input("1", r"\text{causal}", "causal mask", choices=("no", "yes")),
]
SequenceTokens = Annotated[
    float, Input("token", "S", "sequence length in tokens", least=1, most=1e12)
]


@part
def attention_traffic(
    peak: Peak,
    network: Step,
    scaleout_bandwidth: Step,
    heads: Heads,
    kv_heads: KVHeads = inf,
    method: Method = "ring",
    bytes_per_param: ValueBytes = 2.0,
    causal: Causal = "no",
    seq: SequenceTokens = inf,
) -> dict[str, Any]:
    """Tokens whose attention takes as long as its traffic, in a domain and across."""
    # KV heads that are not given are infinitely many: as many as query heads.
    keys = minimum(kv_heads, heads)
    # A causal mask leaves half of the arithmetic to hide behind.
    mask = 2 if causal == "yes" else 1
    per_head = mask * bytes_per_param * peak / (FLOP_PER_WEIGHT * heads)
    slowest = minimum(network, scaleout_bandwidth)
    # Ulysses at its widest: a chip for each query head, and a copy of a KV head on each.
    ways = 1 if method == "ring" else heads
    moved = keys if method == "ring" else heads + heads
    domain_tokens = per_head * moved / ways / network
    across_tokens = per_head * moved / ways / slowest
    # Fewer chips copy fewer KV heads, and up to as many as there are KV heads copy none.
    uncopied = heads + keys
    spread = maximum(keys, minimum(heads, floor(seq * network / per_head - heads)))
    spread_across = maximum(keys, minimum(heads, floor(seq * slowest / per_head - heads)))
    return {
        "domain_tokens": domain_tokens,
        "across_tokens": across_tokens,
        "domain_cap": floor(seq / domain_tokens)
        if method == "ring"
        else where(seq >= per_head * uncopied / network, spread, 0),
        "across_cap": floor(seq / across_tokens)
        if method == "ring"
        else where(seq >= per_head * uncopied / slowest, spread_across, 0),
    }


@formula(
    "cp-limit",
    title="Context-parallel limit",
    question=(
        "Over how many chips can one sequence be spread before attention waits on the network?"
    ),
    outputs={
        "tokens_per_chip": Output(
            "token", "c", "fewest tokens of a sequence on a chip that hide the traffic"
        ),
        "domain_tokens": Output(
            "token", r"c_\text{in}", "tokens of a sequence on a chip within one scale-up domain"
        ),
        "across_tokens": Output(
            "token",
            r"c_\text{across}",
            "tokens of a sequence on a chip where one network card carries what crosses domains",
            needs=("scaleout_bandwidth",),
        ),
        "forward_tokens": Output(
            "token", r"c_\text{fwd}", "tokens on a chip for the forward pass alone"
        ),
        "backward_tokens": Output(
            "token", r"c_\text{bwd}", "tokens on a chip for the backward pass alone"
        ),
        "step_tokens": Output(
            "token", r"c_\text{step}", "tokens on a chip if traffic may hide behind the whole step"
        ),
        "max_chips": Output(
            "chip",
            r"X_\text{max}",
            "largest CP degree that stays compute-bound at this length",
            needs=("seq",),
        ),
        "within": Output(
            "1",
            r"\text{within}",
            "whether a CP degree of --chips stays compute-bound at this length",
            needs=("chips", "seq"),
            choices=VERDICTS,
        ),
    },
    sources=("liu2023ring", "jacobs2023ulysses"),
    symbols={
        **REACH_SYMBOLS,
        "keys": "K'",
        "mask": "f",
        "moved": "m",
        "per_head": r"\kappa",
        "slowest": r"W_\text{min}",
        "uncopied": "H + K'",
        "spread": r"X_U",
        "spread_across": r"X_{U,\text{across}}",
        "ways": "Y_U",
        "crosses": r"N_\text{seq}",
        "backward_share": r"\beta_\text{bwd}",
        "step_share": r"\beta_\text{step}",
    },
    asks=("model", "chip", "seq", "chips"),
    examples=(
        {"chip": "a100-sxm-80gb", "model": "llama-2-7b", "seq": "131072"},
        {
            "chip": "h100-sxm",
            "model": "llama-3-70b",
            "method": "ulysses",
            "causal": "yes",
            "seq": "131072",
        },
    ),
    rules=(*NETWORK_RULES, kv_heads_are_shared),
    omissions=(causal_mask_of_a_ring, exchange_on_a_ring),
    parts=(*LINKS, attention_traffic, count_reach),
)
def cp_limit(
    chips: Step,
    chips_per_node: Step,
    method: StepWord,
    seq: Step,
    domain_tokens: Step,
    across_tokens: Step,
    reach: Step,
    within: StepWord,
    axes: Axes = 1.0,
    links_per_axis: LinksPerAxis = 2.0,
) -> dict[str, Any]:
    """Tokens of a sequence that a chip must hold so that attention across chips stays limited by
    arithmetic.

    Derivation:
        Ring attention: a chip keeps the queries of its c tokens and passes keys and values of
        blocks of c tokens on, 2bcK entries of a head's width for K key heads, while it computes two
        products with each block, 4c^2 for each of H heads. The width cancels: c = bCK/(2WH), C/W at
        two bytes and K = H. Grouped keys lower it as H/K; a causal mask halves the arithmetic (the
        blocks being dealt out evenly) and doubles it. In the backward pass gradients of keys and
        values travel too, twice the bytes, against five products instead of two (the scores are
        computed again), so four fifths would do.

        Ulysses: before attention an all-to-all turns shares of the sequence into shares of the
        heads, afterwards one turns them back: queries, keys, values and results, b(2H + 2K) entries
        for each token while X chips are at most K. A chip computes its heads for all S tokens, so
        what has to be long is the whole sequence: S = bC(H + K)/(2WH), however many chips share it.
        More chips, up to a query head on each, need copies of KV heads: b(2H + 2X) entries and
        S = bC(H + X)/(2WH). The tokens per chip are for a chip per query head, c = bC/W.

        Across scale-up domains a ring leaves each of them on one chip, over its network card, and
        all others wait for that hop: the same with the rate of one card in place of W. So does each
        chip of an all-to-all, nearly all of whose data leaves the domain.

    Leaves out:
        - The causal mask, unless it is asked for. [causal_mask_of_a_ring]
        - What else a layer computes, which would hide more: the answer is on the safe side. [no
          size: it needs the widths of the blocks, which are not asked]
        - That Ulysses needs all chips to reach each other directly: on a ring of X chips its
          exchange takes X/4 times as long. [exchange_on_a_ring]
        - Latency, memory, uneven heads. [no size: none of them is asked, collective and memory
          count the first two]
    """
    # The chips that were asked about, or else those that the sequence reaches.
    reached = where(seq < inf, reach, 1)
    crosses = where(chips < inf, chips, reached)
    tokens_per_chip = where(crosses > chips_per_node, across_tokens, domain_tokens)
    # Backward computes five products with a block where forward computes two. On a ring it moves
    # twice the bytes, since gradients of keys and values travel too.
    backward_share = 4 / 5 if method == "ring" else 2 / 5
    step_share = 6 / 7 if method == "ring" else 4 / 7
    return {
        "tokens_per_chip": tokens_per_chip,
        "domain_tokens": domain_tokens,
        "across_tokens": across_tokens,
        "forward_tokens": tokens_per_chip,
        "backward_tokens": tokens_per_chip * backward_share,
        "step_tokens": tokens_per_chip * step_share,
        "max_chips": reach,
        "within": within,
    }
