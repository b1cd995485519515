"""Families of accelerators: who belongs together, so that chips are compared with their like."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from flopbook.data.library import vendor_ids
from scripts.website.pages.explorer import Item
from scripts.website.pages.quantities import Cell, Cells, peak_id, value_of


class Family(NamedTuple):
    """A family: its name, what sets it apart, and the beginnings of the ids that belong to it."""

    id: str
    title: str
    words: str
    members: tuple[str, ...] = ()


# The longest beginning that fits an id decides; what fits none is of the last family, so a new
# vendor has a place.
FAMILIES = (
    Family(
        "gpu",
        "GPUs for servers",
        "many small processors with matrix units, fed from stacked memory",
        (
            "nvidia/",
            "amd/",
            "intel/max-",
            "intel/crescent-island",
            "intel/jaguar-shores",
            "nvidia/rtx-pro-6000-blackwell-server",
        ),
    ),
    Family("tpu", "TPUs", "few large arrays, planned by a compiler, in a torus", ("google/",)),
    Family(
        "own",
        "Chips for own use",
        "made by a cloud or a large service for itself",
        ("aws/", "meta/", "microsoft/", "openai/"),
    ),
    Family(
        "china",
        "Chinese makers",
        "several designs under one condition, the export rules",
        (
            "alibaba/",
            "baidu/",
            "biren/",
            "cambricon/",
            "enflame/",
            "huawei/",
            "iluvatar/",
            "metax/",
            "moore-threads/",
        ),
    ),
    Family("wafer", "Wafer scale", "one piece of silicon as large as a wafer", ("cerebras/",)),
    Family(
        "sram",
        "Memory on the chip only",
        "no DRAM for weights: the LPU of Groq, the IPU of Graphcore",
        ("graphcore/", "groq/", "nvidia/groq-"),
    ),
    Family(
        "near",
        "Computing in memory",
        "products formed inside or beside the memory cells, digital or analog",
        ("axelera/", "d-matrix/", "mythic/", "untether/"),
    ),
    Family(
        "dataflow",
        "Dataflow",
        "the graph of operations laid out in space",
        ("furiosa/", "sambanova/", "tenstorrent/"),
    ),
    Family("light", "Light", "photonic links, and once a photonic multiplier", ("lightmatter/",)),
    Family(
        "edge",
        "Edge",
        "a few watts, mostly integers",
        ("blaize/", "esperanto/", "google/edge-", "hailo/", "nvidia/jetson-", "rebellions/ion"),
    ),
    Family(
        "desk",
        "Desks",
        "graphics cards and chips of personal computers",
        (
            "amd/radeon-",
            "amd/ryzen-",
            "apple/",
            "intel/arc-",
            "nvidia/dgx-spark",
            "nvidia/dgx-station",
            "nvidia/gb10",
            "nvidia/rtx-",
            "nvidia/titan-",
            "tiny-corp/",
        ),
    ),
    Family(
        "other", "Other matrix chips", "inference cards, training chips and plans of other makers"
    ),
)
SERVERS = ("gpu", "tpu", "own", "china", "wafer", "sram", "near", "dataflow", "other")
# Sixteen-bit peaks in the order in which they stand for a chip; what is not said to be dense comes
# last.
_PEAKS = tuple(
    peak_id(dtype, "tensor", kind) for kind in ("dense", "unstated") for dtype in ("bf16", "fp16")
)


def family_of(entry_id: str) -> Family:
    """The family of an entry, by the longest beginning of its id."""
    fits = [
        (len(start), one) for one in FAMILIES for start in one.members if entry_id.startswith(start)
    ]
    return max(fits, key=lambda pair: pair[0])[1] if fits else FAMILIES[-1]


def by_family(found: Iterable[Item]) -> dict[str, list[Item]]:
    """The entries of every family, families in their order."""
    grouped: dict[str, list[Item]] = {one.id: [] for one in FAMILIES}
    for item in found:
        grouped[family_of(item.entry.id).id].append(item)
    return grouped


def makers(found: Sequence[Item], family: Family) -> list[str]:
    """The vendors of a family, those with entries first by their number; a vendor without an entry
    counts too.
    """
    mine = [item.entry.vendor for item in found if family_of(item.entry.id) is family]
    empty = {item.entry.vendor for item in found}.symmetric_difference(vendor_ids())
    mine_empty = {name for name in empty if family_of(f"{name}/") is family}
    return sorted({*mine, *mine_empty}, key=lambda name: (-mine.count(name), name))


def chips(found: Iterable[Item], families: Sequence[str] = ()) -> list[Item]:
    """What computes: chips, and cards of which no parts are recorded; of these families, or of all."""
    return [
        i
        for i in found
        if i.entry.computes and (not families or family_of(i.entry.id).id in families)
    ]


def peak16(cells: Cells) -> Cell | None:
    """The bf16 or fp16 matrix peak that stands for a chip: dense where a source says so, else of
    unstated sparsity.
    """
    return next((cell for name in _PEAKS if isinstance(cell := cells.get(name), Cell)), None)


def ridge(cells: Cells) -> float | None:
    """Operations for each byte of memory traffic, from that peak; None without both."""
    top, bottom = peak16(cells), value_of(cells, "memory_bandwidth")
    return top.value / bottom if top and bottom else None
