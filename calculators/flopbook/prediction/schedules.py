"""The pipeline schedule that a row of measured runs names, and the chunks of its stages."""

from __future__ import annotations

from flopbook.data.runs import MeasuredRun

# Words of a schedule in a row -> the schedule of the formula; the first that fits counts.
SCHEDULES = {
    "gpipe": "gpipe",
    "interleaved": "interleaved",
    "dualpipe-v": "dualpipe-v",
    "dualpipev": "dualpipe-v",
    "dualpipe": "dualpipe",
    "zb-h2": "zb-h2",
    "zbv": "zb-v",
    "zb-v": "zb-v",
    "v-": "zb-v",
    "zb": "zb-h1",
}
# Chunks of a stage where a row names an interleaved schedule and not their number.
USUAL_CHUNKS = 2


def schedule_of(row: MeasuredRun) -> tuple[str, float]:
    """The schedule of a row and the chunks of a stage; an interleaved one has two or more."""
    schedule, virtual = named_schedule(row) or "1f1b", row.parallelism.get("vp", 1)
    if schedule == "interleaved" and virtual == 1:
        return schedule, USUAL_CHUNKS
    return schedule, virtual


def named_schedule(row: MeasuredRun) -> str:
    """The schedule that a row names, as the formulas call it; empty where it names none."""
    words = str(row.parallelism.get("pipeline_schedule", "")).lower()
    return next((schedule for word, schedule in SCHEDULES.items() if word in words), "")
