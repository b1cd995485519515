"""Context-parallel limit: blocks of keys on a ring, or heads in an exchange, against attention."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError, UnknownName
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import collective, cp_limit

A100 = {"peak": 312e12, "link_bandwidth": 300e9, "links_per_axis": 1}
WIDTH = 128
peaks = st.floats(min_value=1e12, max_value=1e16)
links = st.floats(min_value=1e9, max_value=1e12)
masks = st.sampled_from([("no", 1.0), ("yes", 0.5)])
groups = st.tuples(st.integers(1, 16), st.integers(1, 16)).map(
    lambda pair: (pair[0] * pair[1], pair[0])
)


@given(peaks, links, groups, masks, st.floats(0, 1e9))
def test_heads_are_exchanged_as_long_as_they_are_computed(
    peak: float, link: float, heads: tuple[int, int], mask: tuple[str, float], longer: float
) -> None:
    """From an all-to-all of queries, keys, values and results at a switch.

    With more chips than KV heads each chip receives a copy of one; a chip more would wait.
    """
    query, keys = heads
    fixed: dict[str, Any] = {
        "peak": peak,
        "link_bandwidth": link,
        "links_per_axis": 1,
        "heads": query,
        "kv_heads": keys,
        "method": "ulysses",
        "causal": mask[0],
    }

    def waits(chips: int, seq: float) -> bool:
        array = 2 * seq * (2 * query + 2 * max(keys, chips)) * WIDTH
        moved = collective(
            bytes=array, chips=chips, link_bandwidth=link, topology="switch", op="all-to-all"
        )
        computed = 4 * seq * seq * query / chips * WIDTH * mask[1] / peak
        return bool(computed * (1 - 1 / chips) < moved["bandwidth_seconds"] * (1 - 1e-9))

    widest = cp_limit(**fixed)["tokens_per_chip"] * query
    assert cp_limit(**fixed, seq=1 + widest * 1.001)["max_chips"] == query
    seq = 1 + widest * (keys + 1) / (query + 1) + longer
    chips = int(cp_limit(**fixed, seq=seq)["max_chips"])
    assert chips == 0 or keys <= chips <= query
    assert chips < 2 or not waits(chips, seq)
    assert chips == query or waits(max(chips + 1, keys, 2), seq)


# FLOP/s, one-way byte/s, block and sequence in thousands: liu2023ring, Table 2.
TABLE = [
    (312e12, 300e9, 1.0, 6.2),
    (312e12, 12.5e9, 24.5, 149.5),
    (123e12, 112e9, 1.1, 6.6),
    (275e12, 268e9, 1.0, 6.2),
    (196e12, 186e9, 1.1, 6.3),
]


@pytest.mark.parametrize(("peak", "link", "block", "sequence"), TABLE)
def test_blocks_as_printed(peak: float, link: float, block: float, sequence: float) -> None:
    """The paper's InfiniBand row is 2 percent below its own formula: 312/12.5 is 24.96 thousand."""
    tokens = cp_limit(peak=peak, link_bandwidth=link, links_per_axis=1, heads=32)["tokens_per_chip"]
    assert tokens == pytest.approx(peak / link) and tokens / 1e3 == pytest.approx(
        block, abs=0.06, rel=0.02
    )
    assert 6 * tokens / 1e3 == pytest.approx(sequence, rel=0.02)


def test_bytes_of_an_exchange_as_printed() -> None:
    """4Nh/P entries on each link: jacobs2023ulysses, for as many key heads as query heads."""
    seq, heads, chips = 131072, 64, 8
    entries = seq * (2 * heads + 2 * heads) * WIDTH
    out = collective(
        bytes=entries, chips=chips, link_bandwidth=1e9, topology="switch", op="all-to-all"
    )
    assert out["bytes_per_link"] / (1 - 1 / chips) == pytest.approx(4 * seq * heads * WIDTH / chips)


def test_chips_of_a_sequence() -> None:
    assert cp_limit(**A100, heads=32, seq=131072)["max_chips"] == 126
    assert cp_limit(**A100, heads=32)["max_chips"] == math.inf
    ulysses = {**A100, "heads": 32, "kv_heads": 8, "method": "ulysses"}
    assert cp_limit(**ulysses)["tokens_per_chip"] * 32 == pytest.approx(1040 * 2)
    uncopied = 1040 * (1 + 8 / 32)
    assert cp_limit(**ulysses, seq=uncopied * 1.001)["max_chips"] == 8
    assert cp_limit(**ulysses, seq=uncopied * 0.999)["max_chips"] == 0
    assert cp_limit(**ulysses, seq=1040 * (1 + 20.5 / 32))["max_chips"] == 20
    assert cp_limit(**ulysses, seq=1040 * 3)["max_chips"] == 32


def test_grouped_keys_and_masks_by_hand() -> None:
    base = cp_limit(**A100, heads=64)["tokens_per_chip"]
    assert cp_limit(**A100, heads=64, kv_heads=8)["tokens_per_chip"] == pytest.approx(base / 8)
    assert cp_limit(**A100, heads=64, causal="yes")["tokens_per_chip"] == pytest.approx(2 * base)
    assert cp_limit(**{**A100, "links_per_axis": 2}, heads=64)["tokens_per_chip"] == pytest.approx(
        base / 2
    )


def test_a_model_gives_its_heads() -> None:
    out = calculate("cp-limit", chip="a100-sxm-80gb", model="llama-3-70b")
    assert (out.inputs["heads"].value, out.inputs["kv_heads"].value) == (64, 8)
    assert out["tokens_per_chip"] == pytest.approx(130) and out["max_chips"] is None


def test_arrays_equal_floats() -> None:
    seqs, heads = np.logspace(2, 8, 5), np.array([8.0, 64.0])
    for method in ("ring", "ulysses"):
        out = cp_limit(**A100, heads=heads[:, None], kv_heads=8.0, method=method, seq=seqs[None, :])
        for i, count in enumerate(heads):
            for j, seq in enumerate(seqs):
                one = cp_limit(
                    **A100, heads=float(count), kv_heads=8.0, method=method, seq=float(seq)
                )
                assert {k: np.broadcast_to(v, (2, 5))[i, j] for k, v in out.items()} == one


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"kv_heads": 64}, r"--kv-heads \d+ does not divide --heads \d+"),
        ({"heads": 0}, "heads is 0"),
        ({"seq": 0}, "seq is 0"),
        ({"seq": math.nan}, "seq is not a number"),
        ({"heads": 1.5}, "whole number"),
        ({"peak": -1}, "peak is -1"),
    ],
)
def test_bad_values_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        cp_limit(**{**A100, "heads": 32, **changed})
    with pytest.raises(UnknownName, match="unknown method 'rings'; nearest: ring"):
        cp_limit(**A100, heads=1, method="rings")


@pytest.mark.parametrize(("method", "share"), [("ring", 8 / 64), ("ulysses", 2 / 64)])
def test_beyond_a_domain_one_card_sets_the_pace(method: str, share: float) -> None:
    """Ring: K/H of the ridge point of the card; Ulysses on a chip for each head: 2/H of it."""
    net = {"peak": 1e15, "link_bandwidth": 450e9, "topology": "switch", "links_per_axis": 1}
    beyond = {"chips_per_node": 8, "scaleout_bandwidth": 50e9}
    run: dict[str, Any] = {**net, **beyond, "heads": 64, "kv_heads": 8, "method": method}
    near, far, free = (
        calculate("cp-limit", **run, **more)
        for more in ({"chips": 8}, {"chips": 16}, {"seq": 1_000_000})
    )
    assert near["tokens_per_chip"] == pytest.approx(share * 1e15 / 450e9)
    for found in (near, far, free):
        assert found["across_tokens"] == pytest.approx(share * 1e15 / 50e9)
        backward, whole = {"ring": (4 / 5, 6 / 7), "ulysses": (2 / 5, 4 / 7)}[method]
        assert found["backward_tokens"] == pytest.approx(found["tokens_per_chip"] * backward)
        assert found["step_tokens"] == pytest.approx(found["tokens_per_chip"] * whole)
    assert far["tokens_per_chip"] == far["across_tokens"]
    assert free["tokens_per_chip"] == free["across_tokens"]
    if method == "ring":
        assert free["max_chips"] == 1_000_000 // free["across_tokens"]
    else:
        assert free["max_chips"] == 64
