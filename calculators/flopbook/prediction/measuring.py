"""Measures the machine at hand, products, memory, attention, collectives, as rows of runs."""

from __future__ import annotations

import datetime
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from flopbook.errors import FlopbookError
from flopbook.hardware.chip import Chip, chip
from flopbook.prediction.backends import OPERATIONS, Backend, Call
from flopbook.prediction.collectives import bus_factor
from flopbook.prediction.decoders import DecoderWork
from flopbook.prediction.machines import entry_id
from flopbook.prediction.measuring_decoders import DecoderOrder, check_room, rows, share, words
from flopbook.quantities.dtypes import WIDTHS

WARM_UP = 3  # calls before the clock counts: compilation, caches, clocks
SAMPLES = 20
LEAST_SECONDS = 2e-3  # of a sample, so that the clock itself does not count
WHAT = ("matmul", "memory", "attention", "collective")
TERA, GIGA, MICRO = 1e12, 1e9, 1e-6
KEY = "own"
# Sides of square products, bytes copied, tokens of attention and bytes of messages.
SIDES = {True: (1024, 2048, 4096, 8192, 16384), False: (256, 512, 1024)}
COPIED = {True: (2**28, 2**30), False: (2**24, 2**26)}
TOKENS = {True: (2048, 8192), False: (256, 512)}
MESSAGES = {True: (2**20, 2**26, 2**30), False: (2**16, 2**20)}
HEADS, HEAD_WIDTH = 16, 128


class Timing(NamedTuple):
    """The median time of a call, s, how far samples spread (90th over 10th hundredth), and how many
    samples of how many calls there were."""

    seconds: float
    spread: float
    samples: int
    calls: int


class Measured(NamedTuple):
    """One thing that was measured: what, how long it took, what it reached, what is printed.

    `value` and `printed` are in `unit`; `printed` is None where the chip is unknown or no source
    prints the figure. `rows` is what a file of runs holds of it; none where no kind of row fits.
    `memory` is the most that a whole model held, in bytes, where the framework counts it.
    """

    what: str
    timing: Timing
    value: float
    unit: str
    printed: float | None
    rows: tuple[dict[str, Any], ...] = ()
    memory: float | None = None

    def record(self) -> dict[str, Any]:
        """As JSON holds it."""
        share = self.value / self.printed if self.printed else None
        return {
            "what": self.what,
            "value": self.value,
            "unit": self.unit,
            "printed": self.printed,
            "share": share,
            "memory": self.memory,
            **self.timing._asdict(),
        }


class Order(NamedTuple):
    """What to measure: kinds, formats, square sides, and how many samples of each."""

    what: Sequence[str] = WHAT
    formats: Sequence[str] = ()
    sides: Sequence[int] = ()
    samples: int = SAMPLES
    chip: str | None = None
    decoders: DecoderOrder | None = None


def timed(
    call: Call, samples: int = SAMPLES, clock: Callable[[], float] = time.perf_counter
) -> Timing:
    """The median time of a call, after some that do not count.

    A sample is as many calls as fill `LEAST_SECONDS`, and the device has finished when it ends.
    """
    call(WARM_UP)
    start = clock()
    call(1)
    once = max(clock() - start, 1e-9)
    calls = max(1, round(LEAST_SECONDS / once))
    times = []
    for _ in range(samples):
        start = clock()
        call(calls)
        times.append((clock() - start) / calls)
    times.sort()
    low, high = (times[round(share * (len(times) - 1))] for share in (0.1, 0.9))
    return Timing(statistics.median(times), high / max(low, 1e-12), samples, calls)


def measure(machine: Backend, order: Order) -> Iterator[Measured]:
    """Everything that was ordered, one after the other. Raises FlopbookError for a wrong format."""
    unknown = [name for name in order.formats if name not in machine.formats]
    if unknown:
        raise FlopbookError(
            f"{machine.software} on {machine.device} measures {', '.join(machine.formats)}, "
            f"not {', '.join(unknown)}"
        )
    on_file = _chip_of(machine, order.chip)
    kinds = {
        "matmul": _products,
        "memory": _copies,
        "attention": _attentions,
        "collective": _collectives,
    }
    for kind in order.what:
        yield from kinds[kind](machine, order, on_file)
    yield from _decoders(machine, order, on_file)


def _chip_of(machine: Backend, name: str | None) -> Chip | None:
    """The chip on file that was named, or that the framework names; None where none is."""
    if name is not None:
        return chip(entry_id(name))
    try:
        return chip(entry_id(machine.device))
    except FlopbookError:
        return None


def _products(machine: Backend, order: Order, on_file: Chip | None) -> Iterator[Measured]:
    for dtype in order.formats or machine.formats:
        peak = _printed(on_file, dtype)
        for side in order.sides or SIDES[machine.is_accelerator]:
            timing = timed(machine.product(side, side, side, dtype), order.samples)
            rate = 2.0 * side**3 / timing.seconds
            run = {"precision": dtype, "matmul_shape_mxnxk": f"{side}x{side}x{side}"}
            values = {"matmul_tflops_per_s": rate / TERA, "time_us": timing.seconds / MICRO}
            title = f"matmul {dtype} {side}x{side}x{side}"
            row = _row("matmul_peak", title, run, values)
            yield Measured(title, timing, rate, "FLOP/s", peak, (row,))


def _copies(machine: Backend, order: Order, on_file: Chip | None) -> Iterator[Measured]:
    picked = on_file.pick_memory_bandwidth() if on_file else None
    for size in COPIED[machine.is_accelerator]:
        timing = timed(machine.copy(size), order.samples)
        rate = 2.0 * size / timing.seconds
        values = {"memory_bandwidth_gb_per_s": rate / GIGA, "message_bytes": size}
        title = f"memory copy of {size // 2**20} MiB"
        row = _row("hbm_bandwidth", title, {"op": "copy, bytes read and written"}, values)
        printed = float(picked.value) if picked else None
        yield Measured(title, timing, rate, "byte/s", printed, (row,))


def _attentions(machine: Backend, order: Order, on_file: Chip | None) -> Iterator[Measured]:
    """FLOP/s of causal attention forward: half of the scores are masked and not counted."""
    dtype = next(iter(order.formats or machine.formats))
    for tokens in TOKENS[machine.is_accelerator]:
        call = machine.attention(HEADS, tokens, HEAD_WIDTH, dtype)
        timing = timed(call, order.samples)
        flop = 4.0 * HEADS * HEAD_WIDTH * tokens * (tokens + 1) / 2
        title = f"attention {dtype} {HEADS} heads, {tokens} tokens, causal"
        peak = _printed(on_file, dtype)
        yield Measured(title, timing, flop / timing.seconds, "FLOP/s", peak)


def _collectives(machine: Backend, order: Order, on_file: Chip | None) -> Iterator[Measured]:
    """Bus bandwidth, as nccl-tests count it."""
    for op in OPERATIONS:
        for size in MESSAGES[machine.is_accelerator]:
            call = machine.collective(op, size)
            if call is None:
                return
            timing = timed(call, order.samples)
            rate = size / timing.seconds * bus_factor(op, machine.devices)
            values = {
                "message_bytes": size,
                "time_us": timing.seconds / MICRO,
                "busbw_gb_per_s": rate / GIGA,
            }
            title = f"{op} of {size // 2**10} KiB over {machine.devices}"
            row = _row("collective", title, {"op": op.replace("-", "_")}, values)
            yield Measured(title, timing, rate, "byte/s", None, (row,))


def _decoders(machine: Backend, order: Order, on_file: Chip | None) -> Iterator[Measured]:
    """Steps, prompts and tokens of the model that was ordered."""
    ordered = order.decoders
    if ordered is None:
        return
    peak = _printed(on_file, "bf16")
    picked = on_file.pick_memory_bandwidth() if on_file else None
    bandwidth = float(picked.value) if picked else None
    for work in ordered.work:
        check_room(ordered, work, on_file)
        machine.peak_memory()
        timing = _timed_decoder(machine, ordered, work, order.samples)
        reached = share(ordered.sizes, work, timing.seconds, peak, bandwidth)
        memory, is_compiled = machine.peak_memory(), machine.is_accelerator
        measurements = tuple(rows(ordered, work, timing.seconds, memory, is_compiled))
        yield Measured(words(ordered, work), timing, *reached, measurements, memory)


def _timed_decoder(
    machine: Backend, ordered: DecoderOrder, work: DecoderWork, samples: int
) -> Timing:
    try:
        call = machine.decoder(ordered.sizes, work)
        if call is None:
            raise FlopbookError(f"{machine.software} measures no decoders; --backend torch does")
        return timed(call, samples)
    except RuntimeError as error:
        # PyTorch's own class of it would have to be imported to be named.
        if "out of memory" not in str(error):
            raise
        smaller = "--layers, --micro-batch or --seq"
        raise FlopbookError(f"{words(ordered, work)} is out of memory; lower {smaller}") from None


def _printed(on_file: Chip | None, dtype: str) -> float | None:
    if on_file is None or dtype not in WIDTHS:
        return None
    try:
        return float(on_file.pick_peak(dtype).value)
    except FlopbookError:
        return None


def _row(kind: str, what: str, run: dict[str, Any], measured: dict[str, float]) -> dict[str, Any]:
    name = what.replace(" ", "-").replace(",", "")
    return {"id": f"{KEY}-{name}", "kind": kind, "run": run, "measured": measured}


def run_file(
    machine: Backend, order: Order, found: Iterable[Measured], today: datetime.date
) -> dict[str, Any]:
    """The rows as a file in the layout of `calculators/runs/`: to check with, never to fit."""
    on_file = _chip_of(machine, order.chip)
    method = f"{machine.software}; median of {order.samples} samples after {WARM_UP} calls"
    hardware = {"chip": on_file.id if on_file else machine.device, "n_chips": machine.devices}
    written = []
    for measurement in found:
        for row in measurement.rows:
            alone = {} if row["kind"] == "collective" else {"n_chips": 1}
            software = ", ".join([*filter(None, [row["run"].get("software")]), method])
            run = {**row["run"], "software": software}
            source = {"key": KEY, "where": measurement.what}
            written.append({**row, "hardware": hardware | alone, "run": run, "source": source})
    origin: dict[str, Any] = {
        "source": bibtex_key(today),
        "as_of": today,
        "year": today.year,
        "title": f"Own measurement on {machine.device}",
    }
    return {"use": "check", "sources": {KEY: origin}, "rows": written}


def bibtex_key(today: datetime.date) -> str:
    """The key of the entry that stands for a measurement of one's own."""
    return f"{KEY}{today.year}measured"


def bibtex_entry(machine: Backend, today: datetime.date, command: str) -> str:
    """The measurement as a BibTeX entry: what ran on what, when, and by which command."""
    device = machine.device.replace("{", "").replace("}", "")
    fields = {
        "author": "{{The person who measured}}",
        "title": f"{{Own measurement on {{{device}}}}}",
        "year": f"{{{today.year}}}",
        "note": f"{{{machine.software}, {machine.devices} devices, {today}: {command}}}",
    }
    lines = [f"  {name} = {value}," for name, value in fields.items()]
    return "\n".join([f"@misc{{{bibtex_key(today)},", *lines, "}"]) + "\n"
