"""Kinds of layers: counted layer by layer and token by token, and the laws between them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import flopbook
from flopbook.formulas import kv_cache
from flopbook.formulas.layer_inputs import shared_caches_have_an_owner
from flopbook.formulas.layer_kinds import (
    attention_widths,
    head_width,
    kept_values,
    kv_widths,
    layer_counts,
    seen_tokens,
    sequence_pairs,
    sequence_work,
    step_reads,
    step_work,
    tensor_degree,
    unmasked_work,
    whole_sequence,
)

few = st.integers(0, 4)
NAMES = ("full", "window", "chunk", "sparse", "compressed", "state")
KIND_COUNTS = {f"{kind}_layers": few for kind in NAMES}
shapes = st.fixed_dictionaries(
    {
        **KIND_COUNTS,
        "idle": few,  # layers without any mixer, as those of experts alone
        "seq": st.integers(1, 40),
        "window": st.integers(1, 50),
        "chunk": st.integers(1, 50),
        "selected_tokens": st.integers(1, 50),
        "index_heads": st.integers(0, 3),
        "index_head_dim": st.integers(0, 5),
        "index_layers": st.sampled_from([0, 1, 2, float("inf")]),
        "index_compression": st.sampled_from([1, 2, 4]),
        "compression": st.sampled_from([2, 8]),
        "side_window": st.sampled_from([0, 3, 50]),
        "key_is_value": st.sampled_from(["no", "yes"]),
        "state_values": st.integers(1, 30),
        "heads": st.just(8),
        "kv_heads": st.sampled_from([1, 2, 4, 8]),
        "head_dim": st.integers(1, 6),
        "v_head_dim": st.integers(0, 6),
        "window_kv_heads": st.sampled_from([0, 1, 2, 4, 8]),
        "window_head_dim": st.integers(0, 6),
        "kv_lora_rank": st.sampled_from([0, 7]),
        "qk_nope_head_dim": st.integers(1, 6),
        "qk_rope_head_dim": st.integers(0, 3),
        "tp": st.sampled_from([1, 2, 4, 8, 16]),
    }
)
PARTS = (
    *(layer_counts, head_width, attention_widths, kv_widths, seen_tokens, tensor_degree),
    *(kept_values, step_reads, step_work, whole_sequence),
    *(sequence_pairs, sequence_work, unmasked_work),
)


def steps_of(shape: dict[str, Any]) -> dict[str, Any]:
    """The steps of all parts, as a formula computes them."""
    steps = dict(shape)
    mixing = sum(shape[name] for name in KIND_COUNTS)
    steps["layers"] = steps.get("layers", mixing + shape.get("idle", 0))
    for part in PARTS:
        code = part.__code__
        names = code.co_varnames[: code.co_argcount]
        steps |= part(**{name: steps[name] for name in names if name in steps})
    return steps


def value_widths(shape: dict[str, Any], windowed: bool) -> tuple[int, int, int, int]:
    """KV heads, head dimensions of keys and values, and values that a layer keeps of a token."""
    keys, key, value = (
        shape["kv_heads"],
        shape["head_dim"],
        shape["v_head_dim"] or shape["head_dim"],
    )
    if windowed:
        keys = shape["window_kv_heads"] or keys
        if shape["window_head_dim"]:
            key = value = shape["window_head_dim"]
    vectors = 2 if shape["key_is_value"] == "yes" else 1
    return keys, key, value, keys * (key + value) / vectors


def seen_from(shape: dict[str, Any], kind: str, token: int) -> int:
    """Tokens and entries that attention of a kind reads at a position, counted from 1."""
    beside = min(token, shape["side_window"])
    return {
        "window": min(token, shape["window"]),
        "chunk": (token - 1) % shape["chunk"] + 1,
        "sparse": min(token // shape["index_compression"], shape["selected_tokens"]) + beside,
        "compressed": token // shape["compression"] + beside,
    }.get(kind, token)


def kept_of(shape: dict[str, Any], kind: str) -> int:
    """Tokens and entries that a layer of a kind keeps of a sequence."""
    seq = shape["seq"]
    beside = min(seq, shape["side_window"])
    return {
        "window": min(seq, shape["window"]),
        "chunk": min(seq, shape["chunk"]),
        "sparse": seq // shape["index_compression"] + beside,
        "compressed": seq // shape["compression"] + beside,
    }.get(kind, seq)


def awaited(shape: dict[str, Any], width: float) -> float:
    """Values and gates that compressors keep until an entry is full; sparse ones keep two."""
    rows = 2 * shape["compression"] * width * shape["compressed_layers"]
    if shape["index_compression"] > 1:
        own = min(shape["index_layers"], shape["sparse_layers"]) * shape["index_head_dim"]
        rows += 2 * 2 * shape["index_compression"] * (shape["sparse_layers"] * width + own)
    return rows


@given(shapes)
def test_layers_are_counted_one_by_one(shape: dict[str, Any]) -> None:
    """Memory, reading, work of a token and of a sequence: sums over layers, tokens and pairs."""
    assume(any(shape[name] for name in KIND_COUNTS))
    steps, seq, tp = steps_of(shape), shape["seq"], shape["tp"]
    latent = shape["kv_lora_rank"]
    kept = kept_chip = read_chip = token_work = work = unmasked = 0.0
    for kind in ("full", "window", "chunk", "sparse", "compressed"):
        keys, key, value, width = value_widths(shape, kind == "window")
        cut = min(tp, keys)
        scores, widened = 8 * (key + value), 8 * (key + value)
        if latent:
            width, cut = latent + shape["qk_rope_head_dim"], 1
            scores = 8 * (latent + shape["qk_rope_head_dim"] + latent)
            nope, value = shape["qk_nope_head_dim"], shape["v_head_dim"]
            widened = 8 * (nope + shape["qk_rope_head_dim"] + value)
        rows = awaited(shape, width) if kind == "compressed" else 0.0
        per = shape["index_compression"]
        for number in range(shape[f"{kind}_layers"]):
            has_indexer = kind == "sparse" and number < shape["index_layers"]
            index = shape["index_head_dim"] if has_indexer else 0
            index_work = index * shape["index_heads"]
            read = kept_of(shape, kind)
            if kind == "sparse":
                read = seen_from(shape, kind, seq)
            kept += width * kept_of(shape, kind) + index * (seq // per)
            kept_chip += width * kept_of(shape, kind) / cut + index * (seq // per)
            read_chip += width * read / cut + index * (seq // per)
            token_work += scores * read + index_work * (seq // per)
            unmasked += seq * (widened * read + index_work * (seq // per))
            for token in range(1, seq + 1):
                work += widened * seen_from(shape, kind, token) + index_work * (token // per)
    state = shape["state_layers"] * shape["state_values"]
    assert steps["kept"] == kept and steps["kept_state"] == state + rows
    assert steps["kept_on_chip"] == pytest.approx(kept_chip)
    assert steps["kept_state_on_chip"] == state / tp + rows
    assert steps["read_on_chip"] == pytest.approx(read_chip)
    assert steps["moved_state_on_chip"] == 2 * state / tp
    assert steps["token_work"] == pytest.approx(token_work + 2 * state)
    assert steps["score_work"] == pytest.approx(work + 2 * state * seq)
    assert steps["rectangle"] == pytest.approx(unmasked + 2 * state * seq)


@given(shapes)
def test_a_token_more_adds_what_the_sequence_grows_by(shape: dict[str, Any]) -> None:
    """The last tokens of a sequence brought what keeping them costs, an entry by the token."""
    entry = 8
    shape |= {"seq": shape["seq"] + 2 * entry}
    # What is limited has reached its limit before the last tokens, or does not while they come.
    for name in ("window", "chunk", "side_window"):
        if shape[name] > entry:
            shape[name] = max(shape[name], shape["seq"])
    shorter = steps_of({**shape, "seq": shape["seq"] - entry})
    steps = steps_of(shape)
    assert steps["kept"] - shorter["kept"] == pytest.approx(entry * steps["growing"])


@given(shapes)
def test_limited_layers_do_no_more_than_full_ones(shape: dict[str, Any]) -> None:
    """A window, chunk or selection costs at most what full attention does, and as much below it."""
    shape |= {"index_heads": 0, "index_head_dim": 0, "window_kv_heads": 0, "window_head_dim": 0}
    # A window beside entries is more than full attention to the first tokens.
    shape |= {"side_window": 0, "index_compression": 1, "compressed_layers": 0}
    total = sum(shape[name] for name in KIND_COUNTS)
    assume(total)
    none = dict.fromkeys(KIND_COUNTS, 0) | {"state_layers": shape["state_layers"]}
    attending = total - shape["state_layers"]
    for seq in (shape["seq"], 1):
        limited = steps_of({**shape, "seq": seq})
        for step in ("kept", "read_on_chip", "token_work", "score_work"):
            full = steps_of(
                {**shape, **none, "layers": total, "full_layers": attending, "seq": seq}
            )
            assert limited[step] <= full[step] * (1 + 1e-12)
            if seq == 1:
                assert limited[step] == full[step]
        assert full["full"] == attending


@given(few, few, few, few, few)
def test_kinds_add_up_to_the_layers(
    full: int, windowed: int, chunked: int, states: int, sparse: int
) -> None:
    """Whatever is of no other kind has full attention; open windows take all that is left."""
    layers = full + windowed + chunked + states + sparse
    others = {"chunk_layers": chunked, "state_layers": states, "sparse_layers": sparse}
    out = layer_counts(layers=layers, window=8.0, window_layers=windowed, **others)
    assert out["windowed"] == windowed
    assert out["windowed"] + out["full"] + chunked + states + sparse == layers
    assert out["indexing"] == sparse
    left = layer_counts(layers=layers, window=8.0, **others)
    taken = chunked + states + sparse
    assert left == {"windowed": layers - taken, "full": 0, "indexing": sparse}
    assert layer_counts(layers=layers, window_layers=windowed, **others)["windowed"] == 0


def test_full_attention_beside_a_state() -> None:
    """Falcon-H1 has both in each layer, Nemotron-H layers with neither: the number is given."""
    both = layer_counts(layers=36.0, state_layers=36.0, full_layers=36.0)
    assert both == {"windowed": 0, "full": 36, "indexing": 0}
    few_ = layer_counts(layers=52.0, state_layers=24.0, full_layers=4.0)
    assert few_ == {"windowed": 0, "full": 4, "indexing": 0}


@given(st.fixed_dictionaries(KIND_COUNTS), few, few, st.booleans())
def test_of_each_kind_one_layer_owns_its_cache(
    counts: dict[str, int], shared_full: int, shared_window: int, is_open: bool
) -> None:
    """A rule over the kinds, whether the full layers are given or what the others leave."""
    both = shared_full + shared_window
    shared = {"shared_kv_layers": both, "shared_window_layers": shared_window}
    sizes = {"window": 9, "chunk": 9, "selected_tokens": 9, "compression": 2, "state_values": 9}
    asked = {**counts, **sizes, **shared, "layers": sum(counts.values())}
    if is_open:
        del asked["full_layers"]
    else:
        assume(counts["full_layers"])
    assume(asked["layers"])
    has_owners = (shared_full < counts["full_layers"] or not shared_full) and (
        shared_window < counts["window_layers"] or not shared_window
    )
    values = {**kv_cache.defaults, **asked}
    assert shared_caches_have_an_owner.is_kept(values) == has_owners


def test_layers_that_reuse_a_cache_keep_none() -> None:
    """Of 6 layers the last two reuse caches, one of them windowed: 2 of each kind own one."""
    shape: dict[str, Any] = {"layers": 6, "heads": 4, "kv_heads": 1, "head_dim": 8, "seq": 100}
    kinds = {"window": 10, "window_layers": 3}
    out = kv_cache(**shape, **kinds, shared_kv_layers=2, shared_window_layers=1)
    assert out["bytes"] == 2 * (2 * 8) * (2 * 100 + 2 * 10)


def test_states_do_not_grow() -> None:
    """A state has its own width and stays as large as it is; chips share it."""
    shape: dict[str, Any] = {"layers": 4, "heads": 4, "kv_heads": 2, "head_dim": 8}
    states = {"state_layers": 3, "state_values": 1000}
    short, long = (kv_cache(**shape, seq=seq, batch=2, **states) for seq in (10, 1000))
    assert short["state_bytes"] == long["state_bytes"] == 2 * 3 * 1000 * 4
    assert short["bytes"] == 2 * 10 * 2 * 2 * 8 * 2 + 24000
    assert short["bytes_per_token"] == 2 * 2 * 8 * 2
    narrow = kv_cache(**shape, seq=10, batch=2, **states, bytes_per_state=2, tp=2)
    assert narrow["state_bytes"] == 12000
    assert narrow["bytes_per_chip"] == (2 * 10 * 2 * 2 * 8 * 2 + 12000) / 2


BASE: dict[str, Any] = {"layers": 4, "heads": 4, "kv_heads": 2, "head_dim": 8, "seq": 100}
# Kind of the last three of four layers -> what they keep, a step reads, and do of scores, in all.
BY_HAND = {
    "window": ({"window": 10, "window_layers": 3}, 3 * 32 * 10, 3 * 32 * 10, 3 * 64 * 955),
    "chunk": ({"chunk": 40, "chunk_layers": 3}, 3 * 32 * 40, 3 * 32 * 40, 3 * 64 * 1850),
    "sparse": (
        {"selected_tokens": 10, "sparse_layers": 3, "index_head_dim": 5, "index_heads": 2},
        3 * (32 + 5) * 100,
        3 * (32 * 10 + 5 * 100),
        3 * (64 * 955 + 10 * 5050),
    ),
    # One indexer for three layers, entries of four tokens beside a window: of 25 entries 10 are
    # selected; 10 x 101 - 4 x 55 pairs with them, 25 x 101 - 4 x 325 of the indexer.
    "sparse-reuse": (
        {
            **{"selected_tokens": 10, "sparse_layers": 3, "index_head_dim": 5, "index_heads": 2},
            **{"index_layers": 1, "index_compression": 4, "side_window": 10},
        },
        3 * 32 * (25 + 10) + 5 * 25,
        3 * 32 * (10 + 10) + 5 * 25,
        3 * 64 * (790 + 955) + 10 * 1225,
    ),
    # Entries of eight tokens: 12 of them, 12 x 101 - 8 x 78 pairs.
    "compressed": (
        {"compressed_layers": 3, "compression": 8, "side_window": 10},
        3 * 32 * (12 + 10),
        3 * 32 * (12 + 10),
        3 * 64 * (588 + 955),
    ),
    "state": ({"state_layers": 3, "state_values": 70}, 0, 0, 3 * 2 * 70 * 100),
}
NO_KINDS = {
    "full_layers": float("inf"),
    "window": float("inf"),
    "chunk": float("inf"),
    "selected_tokens": float("inf"),
    "index_layers": float("inf"),
    "index_compression": 1,
    "compression": 1,
    "side_window": 0,
    "key_is_value": "no",
    "kv_lora_rank": 0,
    "v_head_dim": 0,
}


@pytest.mark.parametrize("kind", BY_HAND)
def test_each_kind_by_hand(kind: str) -> None:
    """One full layer beside three of a kind, over 100 tokens; a full one has 5,050 pairs.

    A window of 10 has 10 x 100 - 45 pairs, chunks of 40 two of 820 and one of 210.
    """
    sizes, kept, read, work = BY_HAND[kind]
    none = {name: 0 for name in KIND_COUNTS if name != "full_layers"}
    open_windows = {} if "window_layers" in sizes else {"window_layers": 0}
    out = steps_of({**none, **NO_KINDS, **BASE, "layers": 4, **open_windows, **sizes, "tp": 1})
    assert out["full"] == 1
    assert out["kept"] == kept + 32 * 100
    assert out["read_on_chip"] == read + 32 * 100
    assert out["score_work"] == work + 64 * 5050


ONE = {
    **{name: 0 for name in KIND_COUNTS if name != "full_layers"},
    **{**NO_KINDS, **BASE, "tp": 1},
}


def test_widths_of_windowed_layers_may_be_their_own() -> None:
    """Two windowed layers with 4 KV heads of 16 beside two with 2 of 8; four chips share them."""
    shape = {**BASE, "window": 10, "window_layers": 2, "window_kv_heads": 4, "window_head_dim": 16}
    out = kv_cache(**shape, tp=4)
    assert out["bytes"] == 2 * (2 * 2 * 16 * 100 + 2 * 4 * 32 * 10)
    assert out["bytes_per_chip"] == 2 * (2 * 2 * 16 * 100 / 2 + 2 * 4 * 32 * 10 / 4)
    assert kv_cache(**BASE, v_head_dim=24)["bytes"] == 2 * 4 * 2 * (8 + 24) * 100


def test_an_indexer_keeps_a_key_of_each_token_on_every_chip() -> None:
    """Sparse latent attention: 512 + 64 values of a token, and 128 more of the indexer."""
    shape = {**BASE, "kv_lora_rank": 512, "qk_rope_head_dim": 64, "tp": 2}
    sparse = {"sparse_layers": 4, "selected_tokens": 20, "index_head_dim": 128}
    out = kv_cache(**shape, **sparse)
    assert out["bytes"] == out["bytes_per_chip"] == 2 * 4 * (512 + 64 + 128) * 100
    assert out["bytes_per_token"] == 2 * 4 * (512 + 64 + 128)
    assert kv_cache(**shape)["bytes"] == 2 * 4 * (512 + 64) * 100


def test_one_vector_for_key_and_value_halves_the_cache() -> None:
    """What a layer keeps and reads is half; the work of its scores stays."""
    two, one = (steps_of({**ONE, "key_is_value": word}) for word in ("no", "yes"))
    assert one["kept"] == two["kept"] / 2 == 4 * 2 * 8 * 100
    assert one["token_work"] == two["token_work"]


def test_deepseek_v4_as_published() -> None:
    """9.62 GiB for 1,048,576 tokens in bf16, 30 layers of 320.1 MiB and 31 of 8.1; vLLM 2026."""
    out = flopbook.calculate("kv-cache", model="deepseek-v4-pro", seq=1048576).outputs
    assert (out["bytes"] - out["state_bytes"]) / 2**30 == pytest.approx(9.62, abs=0.005)


def test_deepseek_v4_keeps_what_its_compressors_wait_for() -> None:
    """Values and gates in fp32: 2 x 128 x 512 in 31 layers, 2 x 2 x 4 x (512 + 128) in 30.

    As NVIDIA's planner counts them (NVIDIA 2026, deepseek_v4.py).
    """
    out = flopbook.calculate("kv-cache", model="deepseek-v4-pro", seq=4096).outputs
    assert out["state_bytes"] == 4 * (31 * 2 * 128 * 512 + 30 * 2 * 2 * 4 * (512 + 128))


def test_a_shared_selection_needs_fewer_index_keys() -> None:
    """GLM-5.2 indexes in 21 of 78 layers; GLM-5 in all."""
    old, new = (
        flopbook.calculate("kv-cache", model=name, seq=131072).outputs["bytes"]
        for name in ("glm-5", "glm-5.2")
    )
    assert old == 2 * 131072 * 78 * (512 + 64 + 128)
    assert new == 2 * 131072 * (78 * (512 + 64) + 21 * 128)


@given(shapes, st.integers(1, 9))
def test_more_tokens_never_keep_or_cost_less(shape: dict[str, Any], more: int) -> None:
    """Memory, reading and work grow with the sequence, whatever the layers are."""
    assume(any(shape[name] for name in KIND_COUNTS))
    short, long = steps_of(shape), steps_of({**shape, "seq": shape["seq"] + more})
    for step in ("kept", "kept_on_chip", "read_on_chip", "token_work", "score_work"):
        assert short[step] <= long[step] * (1 + 1e-12)
    assert short["kept_state"] == long["kept_state"]
