"""Families of accelerators: who belongs together, so that chips are compared with their like."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from flopbook.data.library import vendor_ids
from flopbook.hardware.picked import Picked
from scripts.website.pages.explorer import ExplorerRow
from scripts.website.pages.quantities import Cells, peak_id, value_of


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
        "In-house chips",
        "built by a cloud or a large service for its own use",
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
    Family(
        "light", "Photonics", "photonic links, and once a photonic multiplier", ("lightmatter/",)
    ),
    Family(
        "edge",
        "Edge",
        "a few watts, mostly integers",
        ("blaize/", "esperanto/", "google/edge-", "hailo/", "nvidia/jetson-", "rebellions/ion"),
    ),
    Family(
        "desk",
        "Workstations and PCs",
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
_FAMILY_BY_START = {start: family for family in FAMILIES for start in family.members}
# Sixteen-bit peaks in the order in which they stand for a chip; what is not said to be dense comes
# last.
_PEAKS = tuple(
    peak_id(dtype, "tensor", kind) for kind in ("dense", "unstated") for dtype in ("bf16", "fp16")
)


def family_of(entry_id: str) -> Family:
    """The family of an entry, by the longest beginning of its id."""
    matches = [start for start in _FAMILY_BY_START if entry_id.startswith(start)]
    if not matches:
        return FAMILIES[-1]
    return _FAMILY_BY_START[max(matches, key=len)]


def by_family(entries: Iterable[ExplorerRow]) -> dict[str, list[ExplorerRow]]:
    """The entries of every family, families in their order."""
    grouped: dict[str, list[ExplorerRow]] = {family.id: [] for family in FAMILIES}
    for row in entries:
        grouped[family_of(row.entry.id).id].append(row)
    return grouped


def makers(entries: Sequence[ExplorerRow], family: Family) -> list[str]:
    """The vendors of a family, those with most entries first; one without an entry counts too."""
    # In a list, because vendors are counted by how often they occur.
    of_family = [row.entry.vendor for row in entries if family_of(row.entry.id) is family]
    # Makers of which only plans are known have a page of their own and no entry.
    without_entry = {row.entry.vendor for row in entries}.symmetric_difference(vendor_ids())
    planned = {name for name in without_entry if family_of(f"{name}/") is family}
    return sorted({*of_family, *planned}, key=lambda name: (-of_family.count(name), name))


def chips(entries: Iterable[ExplorerRow], families: Sequence[str] = ()) -> list[ExplorerRow]:
    """Chips, and cards of which no parts are recorded; of these families, or of all."""
    computing = [row for row in entries if row.entry.computes]
    if not families:
        return computing
    return [row for row in computing if family_of(row.entry.id).id in families]


def peak16(cells: Cells) -> Picked | None:
    """The bf16 or fp16 matrix peak of a chip: dense where stated, else of unstated sparsity."""
    peaks = (cells.get(name) for name in _PEAKS)
    return next((cell for cell in peaks if isinstance(cell, Picked)), None)


def ridge(cells: Cells) -> float | None:
    """Operations for each byte of memory traffic, from that peak; None without both."""
    peak, bandwidth = peak16(cells), value_of(cells, "memory_bandwidth")
    if not peak or not bandwidth:
        return None
    return peak.value / bandwidth
