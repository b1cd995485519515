"""Published times of collectives, and what the calculator says of each of them.

Rows are those of `calculators/runs/` that constants may be fitted to, or of any file of the same
layout.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from flopbook.data.library import find_id
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import Result, calculate
from flopbook.hardware.chip import chip
from flopbook.hardware.network import Network

ROWS = Path(__file__).resolve().parents[2] / "calculators" / "runs"
FIT = "use: fit\n"  # of files whose rows may decide constants
# Names of collectives as benchmarks spell them.
OPS = {"alltoall": "all-to-all", "all_to_all": "all-to-all", "sendrecv": "permute"}
# Names of chips that files of others use and that are no alias of ours.
CHIPS = {
    "A100-SXM-80GB": "nvidia/a100-sxm-80gb",
    "B200-SXM": "nvidia/b200",
    "H100-SXM-80GB": "nvidia/h100-sxm",
    "H200-SXM": "nvidia/h200-sxm",
    "TPU7x": "google/tpu-v7x",
    "V100-PCIE-16GB": "nvidia/v100-pcie",
    "V100-SXM2": "nvidia/v100-sxm2",
}
# Sums in the switch: NCCL has them for all-reduces of 1 MiB and more.
NVLS, NVLS_FROM = "NVLS", 2**20


class Row(NamedTuple):
    """A measured collective: its name, the options of the calculator, seconds, source."""

    id: str
    options: Mapping[str, Any]
    seconds: float
    source: str

    @property
    def group(self) -> str:
        """The kind of link that the row measures."""
        name = str(self.options["chip"])
        return f"{Network(chip(name)).pick_port().claim.name}, {name.partition('/')[2]}"


def read_rows(path: Path = ROWS) -> Iterator[Row | tuple[str, str]]:
    """Every collective of a file or folder: a row, or its name and why it cannot be computed.

    Of a folder the files count that are for fitting. Raises FlopbookError for a file that cannot be
    read.
    """
    files = sorted(path.glob("*.yaml")) if path.is_dir() else [path]
    for file in files:
        text = _text(file)
        is_used = file == path or (FIT in text and "kind: collective" in text)
        if is_used:
            yield from _rows(file, text)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise FlopbookError(f"{path}: {error}") from None


def _rows(path: Path, text: str) -> Iterator[Row | tuple[str, str]]:
    try:
        document = yaml.load(text, yaml.CSafeLoader)
        raws = [raw for raw in document["rows"] if raw.get("kind") == "collective"]
    except (yaml.YAMLError, TypeError, KeyError, AttributeError) as error:
        raise FlopbookError(f"{path}: no rows of runs in it ({error})") from None
    sources = document.get("sources", {})
    for raw in raws:
        try:
            key = str(raw["source"]["key"])
            yield _row(raw, str(sources.get(key, {}).get("source", key)))
        except (FlopbookError, KeyError, TypeError) as error:
            yield str(raw.get("id", "?")), f"lacks {error}"


def _row(raw: Mapping[str, Any], source: str) -> Row:
    hardware, measured, run = raw["hardware"], raw["measured"], raw["run"]
    name = str(hardware["chip"])
    op = str(run["op"])
    size, chips = float(measured["message_bytes"]), float(hardware["n_chips"])
    if size <= 0:
        raise KeyError("message_bytes")
    # Where each chip gathers several arrays among fewer chips, what it received says how many.
    if "transferred_bytes" in measured:
        chips = size / float(measured["input_shard_bytes"])
        size = float(measured["transferred_bytes"]) / (1 - 1 / chips)
    # Of an all-to-all, benchmarks name the buffer of one chip and the calculator that of all.
    if OPS.get(op, op) == "all-to-all":
        size *= chips
    options = {
        "chip": find_id(CHIPS.get(name, name)),
        "op": OPS.get(op, op.replace("_", "-")),
        "chips": chips,
        "bytes": size,
    }
    if NVLS in str(run.get("algorithm", "")) and size >= NVLS_FROM:
        options["reduction"] = "switch"
    return Row(str(raw["id"]), options, _seconds(measured, options), source)


def _seconds(measured: Mapping[str, Any], options: Mapping[str, Any]) -> float:
    """The time, given or from the bus bandwidth as nccl-tests defines it."""
    if "time_us" in measured:
        return float(measured["time_us"]) * 1e-6
    passes = 2 if options["op"] == "all-reduce" else 1
    moved = passes * (1 - 1 / options["chips"]) * options["bytes"]
    return float(moved) / (float(measured["busbw_gb_per_s"]) * 1e9)


def computed(row: Row, **more: Any) -> Result:
    """The calculator's answer to a row."""
    return calculate("collective", **row.options, **more)
