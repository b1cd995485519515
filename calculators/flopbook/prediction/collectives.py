"""Predicts rows of collectives: the formula of the calculator `collective`, in seconds."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from flopbook.data.link_kinds import LinkKind, link_kinds
from flopbook.data.runs import MeasuredRun, RunSource
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.hardware.network import Network
from flopbook.prediction.arrays import Column
from flopbook.prediction.machines import ChipRates, machine
from flopbook.prediction.models import Case, Parameters, PredictionModel, PrintedAs

MIB = 2.0**20
# Sizes above which one band holds, the largest first: short messages hang on the protocol.
BANDS = {
    64 * MIB: "collective above 64 MiB",
    MIB: "collective above 1 MiB",
    0.0: "collective up to 1 MiB",
}
# Names of operations as benchmarks spell them.
OPERATIONS = {
    "alltoall": "all-to-all",
    "allreduce": "all-reduce",
    "allgather": "all-gather",
    "reducescatter": "reduce-scatter",
    "sendrecv": "permute",
}
# NCCL sums in the switch from this size on.
NVLS, NVLS_FROM = "nvls", MIB
# Sources that print the best bus bandwidth measure it on messages of many gigabytes.
LARGE_MESSAGE = 16 * 2.0**30
MICRO, GIGA = 1e-6, 1e9
CONSTANTS = ("startup", "ramp", "efficiency", "reduction_efficiency")


Options = dict[str, Any]


class Collective(NamedTuple):
    """An operation on some chips, as the options of the calculator."""

    options: Mapping[str, Any]


def read(row: MeasuredRun, source: RunSource) -> Case:
    """The operation that a row describes, and its seconds. Raises FlopbookError."""
    size, inferred = _message(row)
    chips = _chips(row)
    word = str(row.run.get("op", "")).lower().replace("_", "-")
    operation = OPERATIONS.get(word.replace("-", ""), word)
    if not operation:
        raise FlopbookError("the operation is not given")
    shard, sent = row.measured.get("input_shard_bytes"), row.measured.get("transferred_bytes")
    buffer = size
    if shard and sent and size > shard:
        # Several arrays are gathered, each among fewer chips: what arrived says how many.
        chips = size / shard
        buffer = sent / (1 - 1 / chips)
    elif operation == "all-to-all":
        # Benchmarks name the buffer of one chip, the calculator the array of all.
        buffer = size * chips
    options: Options = {"op": operation, "chips": chips, "bytes": buffer}
    if NVLS in str(row.run.get("algorithm", "")).lower() and size >= NVLS_FROM:
        options["reduction"] = "switch"
    network, assumed = _network(machine(row.hardware["chip"]), options)
    options |= network
    inferred = (*inferred, *assumed)
    band = next(name for least, name in BANDS.items() if size > least)
    shown = PrintedAs("collective", "s", band=band)
    measured = _seconds(row.measured, operation, chips, size)
    return Case(row, Collective(options), measured, inferred, shown)


def _network(runs_on: ChipRates, options: Options) -> tuple[Options, tuple[str, ...]]:
    """The network of a chip, and what of it a rule gave.

    Raises FlopbookError for what the calculator refuses on any network.
    """
    network: Options = {"chip": runs_on.chip}
    inferred: tuple[str, ...] = ()
    if Network(chip(runs_on.chip)).kind is None:
        network |= middle_constants(link_kinds().values())
        inferred = ("constants of the links",)
    try:
        calculate("collective", **options, **network)
    except FlopbookError:
        network = {**_switch(runs_on, options), **middle_constants(link_kinds().values())}
        calculate("collective", **options, **network)
        return network, ("network",)
    return network, inferred


def _switch(runs_on: ChipRates, options: Options) -> Options:
    """A switch inside the domain, and network cards beyond it."""
    rates = {"link_bandwidth": runs_on.link_bandwidth, "chips_per_node": runs_on.domain}
    if options["chips"] <= runs_on.domain:
        return {**rates, "topology": "switch"}
    return {**rates, "topology": "two-level", "scaleout_bandwidth": runs_on.card_bandwidth}


def _message(row: MeasuredRun) -> tuple[float, tuple[str, ...]]:
    """Bytes of the message, and whether a rule gave them."""
    size = row.measured.get("message_bytes")
    if size is None:
        return LARGE_MESSAGE, ("message size",)
    if size <= 0:
        raise FlopbookError("message_bytes is 0, expected the bytes of the message")
    return float(size), ()


def _chips(row: MeasuredRun) -> float:
    chips = row.hardware.get("n_chips")
    if not chips or chips < 2:
        raise FlopbookError("the number of chips that take part is not given")
    return float(chips)


def _seconds(measured: Mapping[str, Any], operation: str, chips: float, size: float) -> float:
    """The time, given or from a bandwidth as nccl-tests defines it."""
    if "time_us" in measured:
        return float(measured["time_us"]) * MICRO
    if "busbw_gb_per_s" in measured:
        moved = size * bus_factor(operation, chips)
        return moved / (float(measured["busbw_gb_per_s"]) * GIGA)
    if "algbw_gb_per_s" in measured:
        return size / (float(measured["algbw_gb_per_s"]) * GIGA)
    if "achieved_bandwidth_gb_per_s" in measured and "transferred_bytes" in measured:
        rate = float(measured["achieved_bandwidth_gb_per_s"]) * GIGA
        return float(measured["transferred_bytes"]) / rate
    raise FlopbookError("neither a time nor a bus bandwidth is given")


def bus_factor(operation: str, chips: float) -> float:
    """What nccl-tests multiply size over time with to get the bus bandwidth."""
    if operation == "permute":
        return 1.0
    return (2 if operation == "all-reduce" else 1) * (chips - 1) / chips


def middle_constants(kinds: Collection[LinkKind]) -> dict[str, float]:
    """Geometric means over kinds of links with published sweeps, for a link without."""
    if not kinds:
        return {}
    return {
        name: math.exp(sum(math.log(getattr(kind, name)) for kind in kinds) / len(kinds))
        for name in CONSTANTS
    }


def predict(cases: Sequence[Collective], p: Parameters) -> Column:
    """Seconds of each operation."""
    return np.array([float(calculate("collective", **case.options)["seconds"]) for case in cases])


MODEL = PredictionModel("collective", PrintedAs("collective", "s"), {}, read, predict)
