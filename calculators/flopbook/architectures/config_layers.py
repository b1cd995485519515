"""What each layer of a configuration is: windows, chunks, states, sparse attention.

A file lists its layers (`layer_types` and older names), or gives a period, or leaves both to its
architecture. A mixer that is not known is one line, never a guess.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import NamedTuple

from flopbook.architectures.config import Config, Inputs, copy
from flopbook.architectures.patterns import MOST_LAYERS, written
from flopbook.errors import shorten

# The words under which files list the mixer of a layer.
WORDS = {
    "full_attention": "full",
    "attention": "full",
    "global": "full",
    "sliding_attention": "window",
    "local": "window",
    "chunked_attention": "chunk",
    "linear_attention": "state",
    "mamba": "state",
    "deepseek_sparse_attention": "sparse",
    "compressed_sparse_attention": "sparse",
    "heavily_compressed_attention": "compressed",
    "hybrid": "state+full",
    "mlp": "none",
    "moe": "none",
}
LETTERS = {"M": "state", "*": "full", "-": "none", "E": "none", "L": "window", "G": "full"}


class Layers(NamedTuple):
    """What an architecture says of its layers where the file does not.

    `period` counts layers from one full layer to the next among windowed ones, 0 where all have the
    window; `chunk_period` and `interval` the same among chunked and recurrent ones. `late` windows
    begin at `max_window_layers`. `selection` says what an indexer selects. `needs_window` is set
    where a file without a window would have one of its architecture; `single` where a layer is one
    block, a mixer or feed-forward.
    """

    period: int | None = None
    chunk_period: int = 0
    interval: int = 0
    late: bool = False
    sparse: bool = False
    needs_window: bool = False
    single: bool = False
    kinds: Callable[[Config, int], list[str]] | None = None
    state: Callable[[Config], Inputs] | None = None
    selection: Callable[[Config], Inputs] | None = None

    @property
    def has_windows(self) -> bool:
        """Whether the architecture knows windows, be they switched off in a file."""
        return self.late or self.period is not None


def read_layers(config: Config, known: Layers, layers: int) -> Inputs:
    """The pattern of the layers and the sizes of their kinds. Raises FlopbookError."""
    if layers > MOST_LAYERS:
        raise config.wrong(f"{layers:,} layers, at most {MOST_LAYERS:,} are read")
    kinds = _kinds(config, known, layers)
    if len(kinds) != layers:
        raise config.wrong(
            f"{_list_of(config, kinds)} has {len(kinds)} layers, but there are {layers}"
        )
    inputs: Inputs = {}
    if set(kinds) != {"full"}:
        inputs["attention_pattern"] = written(kinds)
    if "window" in kinds:
        inputs["window"] = config.need("sliding_window")
    if "chunk" in kinds:
        inputs["chunk"] = config.need("attention_chunk_size")
    if {"sparse", "compressed"} & set(kinds):
        inputs |= (known.selection or indexer)(config)
    if "state" in kinds or "state+full" in kinds:
        inputs |= _state(config, known)
    copy(config, ("num_kv_shared_layers",), inputs, "shared_kv_layers")
    if int(inputs.get("shared_kv_layers", 0)) >= layers:
        raise config.wrong(
            f"num_kv_shared_layers is {inputs['shared_kv_layers']} of {layers} layers, but some "
            "layer has to keep the cache that the others share"
        )
    return inputs


def _list_of(config: Config, kinds: list[str]) -> str:
    """The key under which a file lists its layers, for a message."""
    listed = (
        key
        for key, value in config.raw.items()
        if isinstance(value, (list, str)) and len(value) == len(kinds)
    )
    return next(listed, "its list")


def indexer(config: Config) -> Inputs:
    """The indexer of DeepSeek-V3.2 and after. Raises FlopbookError."""
    return {
        "selected_tokens": config.need("index_topk"),
        "index_heads": config.need("index_n_heads"),
        "index_head_dim": config.need("index_head_dim"),
    }


def _state(config: Config, known: Layers) -> Inputs:
    if known.state is None:
        raise config.wrong(
            "linear attention or state space in an architecture whose state is not known; "
            "give --state-layers and --state-values"
        )
    return known.state(config)


def _kinds(config: Config, known: Layers, layers: int) -> list[str]:
    """The kind of each layer: as listed, else by a period, else as the architecture says."""
    for key in ("layer_types", "layers_block_type"):
        if config.raw.get(key) is not None:
            return _usable(config, _listed(config, key, known))
    if known.kinds is not None:
        return known.kinds(config, layers)
    if known.sparse:
        return _indexers(config, layers)
    if known.interval:
        interval = config.size("full_attention_interval") or known.interval
        if interval > layers:
            raise config.wrong(
                f"full_attention_interval is {interval}, but there are {layers} layers"
            )
        return _every(interval, layers, "state")
    if known.chunk_period and config.number("attention_chunk_size"):
        return _chunks(config, known.chunk_period, layers)
    return _windows(config, known, layers)


def _usable(config: Config, kinds: list[str]) -> list[str]:
    """Chunks of size null or zero stand for full attention; listed windows have a size."""
    if "window" in kinds and not config.flag("use_sliding_window", True):
        raise config.wrong("layers with a window are listed, but use_sliding_window is false")
    # A file that does not name the size has the default of its architecture.
    if "attention_chunk_size" in config.raw and config.number("attention_chunk_size") is None:
        return ["full" if kind == "chunk" else kind for kind in kinds]
    return kinds


def _listed(config: Config, key: str, known: Layers) -> list[str]:
    listed = config.raw[key]
    if not isinstance(listed, list) or len(listed) > MOST_LAYERS:
        raise config.wrong(f"{key} is {shorten(json.dumps(listed))}, expected a list of words")
    for word in listed:
        if not isinstance(word, str) or word not in WORDS:
            raise config.wrong(
                f"{key} has the mixer {shorten(json.dumps(word))}, which is not read; give the "
                "layers as options, such as --state-layers and --state-values"
            )
        if WORDS[word] == "none" and not known.single:
            raise config.wrong(
                f"{key} lists {word} as a layer, but each layer of {config.raw['model_type']} has "
                "a mixer and a feed-forward block"
            )
    return [WORDS[word] for word in listed]


def from_letters(config: Config, key: str) -> list[str]:
    """Layers written as letters, such as "M-M*" or "LLLG". Raises FlopbookError."""
    text = config.raw.get(key)
    if not isinstance(text, str) or not text or not set(text) <= LETTERS.keys():
        shown = shorten(json.dumps(text))
        raise config.wrong(f"{key} is {shown}, expected letters of {' '.join(LETTERS)}")
    return [LETTERS[letter] for letter in text]


def _indexers(config: Config, layers: int) -> list[str]:
    """Sparse attention in all layers; some may read what an earlier indexer selected."""
    listed = config.raw.get("indexer_types")
    if listed is None:
        return ["sparse"] * layers
    words = {"full": "sparse", "shared": "sparse-reuse"}
    is_list = isinstance(listed, list) and bool(listed)
    if not is_list or not {str(word) for word in listed} <= words.keys() or listed[0] != "full":
        raise config.wrong(
            f"indexer_types is {shorten(json.dumps(listed))}, expected full, then full or shared"
        )
    return [words[word] for word in listed]


def _every(period: int, layers: int, other: str) -> list[str]:
    """Full attention in every layer whose number, from 1, the period divides."""
    return ["full" if number % period == 0 else other for number in range(1, layers + 1)]


def _chunks(config: Config, period: int, layers: int) -> list[str]:
    """Chunks in the layers with rotary positions, which `no_rope_layers` marks with 1."""
    if config.raw.get("no_rope_layers"):
        marks = config.marks("no_rope_layers", layers)
        return ["chunk" if is_chunked else "full" for is_chunked in marks]
    return _every(config.size("no_rope_layer_interval") or period, layers, "chunk")


def _windows(config: Config, known: Layers, layers: int) -> list[str]:
    """Windows by the pattern of the file or of the architecture, where there is a window."""
    if known.needs_window and "sliding_window" not in config.raw:
        raise config.wrong(
            "no sliding_window, which its architecture needs; add it to the file, null where all "
            "layers see all tokens"
        )
    if config.number("sliding_window") is None:
        return ["full"] * layers
    if known.late:
        first = config.number("max_window_layers") or 0
        is_used = config.flag("use_sliding_window")
        return ["window" if is_used and n >= first else "full" for n in range(layers)]
    pattern = config.raw.get("sliding_window_pattern")
    if isinstance(pattern, str):
        letters = from_letters(config, "sliding_window_pattern")
        kinds = (letters * (layers // len(letters) + 1))[:layers]
        return [*kinds[:-1], "full"]
    period = config.size("sliding_window_pattern") or known.period
    if period is None:
        return ["full"] * layers
    return _every(period, layers, "window") if period else ["window"] * layers
