"""What a training run is predicted to reach, as commands, Python and JSON have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from flopbook.prediction.chunks import Interleaving
from flopbook.prediction.layout_memory import LayoutMemory
from flopbook.prediction.layouts import RunLayout
from flopbook.prediction.similar import SimilarRuns
from flopbook.prediction.spending import Spending

if TYPE_CHECKING:  # calibrating loads NumPy
    from flopbook.prediction.calibration import Calibration


class Faster(NamedTuple):
    """A layout with all that was asked for and a shorter step, or the first that runs."""

    run: RunLayout
    seconds: float


class Prediction(NamedTuple):
    """What a run is predicted to reach, with the ends of its band, and its parts in seconds."""

    run: RunLayout
    seconds: float
    low: float
    high: float
    tokens_per_second: float
    mfu: float
    hfu: float
    parts: Mapping[str, float]
    inferred: tuple[str, ...]
    similar: SimilarRuns
    memory: LayoutMemory | None
    spent: Spending
    savings: tuple[str, ...] = ()
    calibration: Calibration | None = None
    interleaving: Interleaving | None = None
    faster: Faster | None = None
    idle: int = 0  # chips that no layout of the step can use

    def __repr__(self) -> str:
        low, high = f"{self.low:.3g}", f"{self.high:.3g}"
        held = f"{self.memory.total / 1e9:.3g} GB" if self.memory else "memory unknown"
        assumed = f"; assumed: {', '.join(self.inferred)}" if self.inferred else ""
        return (
            f"<prediction: {self.seconds:.3g} s a step, 80 % band {low} to {high} s, "
            f"MFU {100 * self.mfu:.3g} %, {held}{assumed}>"
        )

    @property
    def mfu_16bit(self) -> float:
        """The MFU over the peak in 16 bits, as many publications state it for narrower formats."""
        machine = self.run.machine
        return self.mfu * machine.peak(self.run.precision) / machine.peak_16bit

    def record(self) -> dict[str, Any]:
        """The prediction as `flopbook predict --json` prints it."""
        memory = self.memory
        record: dict[str, Any] = {
            "prediction": {
                "seconds": self.seconds,
                "low": self.low,
                "high": self.high,
                "tokens_per_s_per_chip": self.tokens_per_second,
                "mfu": self.mfu,
                "mfu_16bit": self.mfu_16bit,
                "hfu": self.hfu,
                "bytes": memory and memory.total,
                "fits": memory and memory.fits,
                **self.spent.record(),
            },
            "parts": dict(self.parts),
            "memory": dict(memory.parts) if memory else {},
            "layout": self.layout(),
            "inferred": list(self.inferred),
            "similar_runs": [similar.record() for similar in self.similar.nearest],
            "similar_count": self.similar.total,
        }
        if self.idle:
            record["idle_chips"] = self.idle
        if self.savings:
            record["would_fit_with"] = list(self.savings)
        if self.calibration:
            record["calibration"] = self.calibration.record()
        if self.interleaving:
            seconds = self.seconds * (1 + self.interleaving.share)
            record["interleaved"] = {"virtual": self.interleaving.virtual, "seconds": seconds}
        if self.faster:
            laid = layout_record(self.faster.run)
            record["faster"] = {"seconds": self.faster.seconds, "layout": laid}
        return record

    def layout(self) -> dict[str, Any]:
        """The layout that the step was predicted for, in the words of `flopbook plan`."""
        return layout_record(self.run)


def layout_record(run: RunLayout) -> dict[str, Any]:
    """The layout of a run, in the words of `flopbook plan`."""
    degrees = ("tp", "pp", "virtual", "cp", "ep", "dp", "zero", "hsdp", "micro_batch")
    return {
        **{name: int(getattr(run, name)) for name in degrees},
        "schedule": run.schedule,
        "recompute": run.recompute,
        "recompute_layers": int(run.recompute_layers),
        "offload": run.offload,
        "offload_activations": run.offload_activations,
        "micro_batches": int(run.micro_batches),
        "batch": int(run.batch),
        "seq": int(run.shape.tokens),
    }
