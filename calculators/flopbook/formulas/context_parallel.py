"""How far one sequence can be spread over chips before attention waits for the network."""

from typing import Annotated, Any

from flopbook.formulas.conditions import kv_heads_are_shared
from flopbook.formulas.declaration import Input, Output, formula
from flopbook.formulas.network_inputs import Axes, LinkBandwidth, LinksPerAxis, Peak, ValueBytes
from flopbook.formulas.rooflines import FLOP_PER_WEIGHT
from flopbook.quantities.ops import floor, inf, minimum, where

Method = Annotated[
    str,
    Input(
        "1",
        r"\text{method}",
        "what moves: keys round a ring, or heads in an all-to-all",
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
        "key and value heads; as many as heads if not given",
        model="kv_heads",
        least=1,
        whole=True,
        most=1e5,
    ),
]
Causal = Annotated[
    str,
    Input(
        "1", r"\text{causal}", "whether a token sees only those before it", choices=("no", "yes")
    ),
]
SequenceTokens = Annotated[float, Input("token", "S", "tokens in a sequence", least=1, most=1e12)]


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
        "forward_tokens": Output("token", r"c_\text{fwd}", "the same for the forward pass alone"),
        "backward_tokens": Output("token", r"c_\text{bwd}", "the same for the backward pass alone"),
        "step_tokens": Output(
            "token", r"c_\text{step}", "the same if traffic may hide behind the whole step"
        ),
        "max_chips": Output(
            "chip",
            r"X_\text{max}",
            "largest number of chips that stay busy at this length",
            needs=("seq",),
        ),
    },
    sources=("liu2023ring", "jacobs2023ulysses"),
    symbols={
        "network": "W",
        "keys": "K'",
        "mask": "f",
        "moved": "m",
        "ways": "Y",
        "shortest": r"S_\text{min}",
    },
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
    rules=(kv_heads_are_shared,),
)
def cp_limit(
    peak: Peak,
    link_bandwidth: LinkBandwidth,
    heads: Heads,
    kv_heads: KVHeads = inf,
    method: Method = "ring",
    axes: Axes = 1.0,
    links_per_axis: LinksPerAxis = 2.0,
    bytes_per_param: ValueBytes = 2.0,
    causal: Causal = "no",
    seq: SequenceTokens = inf,
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
        for each token. A chip computes its heads for all S tokens, so what has to be long is the
        whole sequence: S = bC(H + K)/(2WH), however many chips share it. They can be as many as
        there are key heads; the tokens per chip are for that many.

    Leaves out:
        What else a layer computes, which would hide more: the answer is on the safe side. On a ring
        both links are used, half of the heads each way, and on several axes as many rings. Ulysses
        needs all chips to reach each other directly: on a ring of X chips its exchange takes X/4
        times as long. Latency, memory, uneven heads.
    """
    network = axes * links_per_axis * link_bandwidth
    # Key heads that are not given are infinitely many: as many as heads.
    keys = minimum(kv_heads, heads)
    # A causal mask leaves half of the arithmetic to hide behind.
    mask = 2 if causal == "yes" else 1
    moved = keys if method == "ring" else heads + keys
    shortest = mask * bytes_per_param * peak * moved / (FLOP_PER_WEIGHT * network * heads)
    # Ulysses shares the shortest sequence among as many chips as there are key heads.
    ways = 1 if method == "ring" else keys
    forward_tokens = shortest / ways
    # Backward computes five products with a block where forward computes two. On a ring it moves
    # twice the bytes, since gradients of keys and values travel too.
    backward_tokens = forward_tokens * 4 / 5 if method == "ring" else forward_tokens * 2 / 5
    return {
        "tokens_per_chip": forward_tokens,
        "forward_tokens": forward_tokens,
        "backward_tokens": backward_tokens,
        "step_tokens": forward_tokens * 6 / 7 if method == "ring" else forward_tokens * 4 / 7,
        "max_chips": floor(seq / forward_tokens)
        if method == "ring"
        else where(seq >= shortest, keys, 0),
    }
