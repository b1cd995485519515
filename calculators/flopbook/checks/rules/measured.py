"""A measured run agrees with itself: its degrees multiply to its chips, its totals to its parts.

A publication may be wrong; then the row says so with a flag, and nothing is fitted to it unseen.
"""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings
from flopbook.data.run_degrees import MEND_RUN, contradiction_of_run
from flopbook.data.runs import MODEL_FILE, MeasuredRun, RunFile, RunSource
from flopbook.errors import FlopbookError, Problem
from flopbook.prediction.conventions import HARDWARE, flop_per_token
from flopbook.prediction.machines import machine
from flopbook.prediction.named_models import with_kinds
from flopbook.prediction.transformers import transformer

NAME = "run"
# Two printed figures of one run differ by their rounding; beyond this, one of them is wrong.
ROUNDING = 0.03
# Sources count windows of attention, packed sequences and heads of their own in ways that shift
# the work by up to a quarter; a wrong convention, a wrong column or a slip of a digit is more.
COUNTING = 0.3
# Formats whose peak a source may take for a utilisation instead of that in 16 bits.
PEAKS = ("peak_16bit", "peak_8bit", "peak_4bit")
TERA = 1e12
# The flags with which a row owns up to a contradiction in its source.
WRONG_TOTAL = "columns_swapped_in_source"
WRONG_WORK = "utilisation_disagrees_with_tokens"
WRONG_BATCH = "batch_does_not_divide_over_replicas"


def check(holdings: Holdings) -> Iterator[Finding]:
    """Runs whose source is unknown, whose id is taken, or whose numbers contradict each other."""
    place_of: dict[str, str] = {}
    for name, runs in holdings.runs.items():
        yield from _publications(runs, holdings)
        for row in runs.rows:
            if row.id in place_of:
                advice = Advice("an id of its own", f"{place_of[row.id]} has it too; rename one")
                yield _at(row, f"id '{row.id}'", advice)
            place_of[row.id] = name
            yield from _shape(row, holdings)
            yield from _degrees(row)
            yield from _batch(row)
            yield from _totals(row)
            yield from _work(row, runs.sources[row.publication])


def _publications(runs: RunFile, holdings: Holdings) -> Iterator[Finding]:
    """Every publication is a work of the bibliography."""
    if "references" in holdings.unreadable:
        return
    for short_name, publication in runs.sources.items():
        if publication.source not in holdings.references:
            observed = f"source '{publication.source}' of {short_name}"
            advice = Advice("a key of bibliography/", "add the publication to a .bib file")
            yield _at(runs.rows[0], observed, advice)


def _shape(row: MeasuredRun, holdings: Holdings) -> Iterator[Finding]:
    """A shape that is said to come from a file of ours comes from one that is there."""
    for named in MODEL_FILE.finditer(str(row.model.get("dims_from", ""))):
        # A model that cannot be read has a problem of its own, and is there.
        if named[1] not in {*holdings.models, *holdings.library.model_ids}:
            advice = Advice("a file of calculators/models/", "mend the name, or add the model")
            yield _at(row, f"dims_from '{named[0]}'", advice)


def _degrees(row: MeasuredRun) -> Iterator[Finding]:
    """TP x PP x DP x CP is the number of chips; without DP, the others divide it."""
    wrong = contradiction_of_run(row)
    if wrong is not None:
        yield _at(row, wrong.observed, Advice(wrong.expected, MEND_RUN))


def _batch(row: MeasuredRun) -> Iterator[Finding]:
    """Each replica runs whole micro-batches, and all replicas the same number of them."""
    layout = row.parallelism
    batch, micro, replicas = (
        layout.get(name) for name in ("global_batch_seqs", "micro_batch_seqs", "dp")
    )
    if not (batch and micro and replicas) or WRONG_BATCH in row.flags:
        return
    if batch % (micro * replicas):
        parts = f"micro_batch_seqs {micro} x dp {replicas}"
        advice = Advice(
            f"a multiple of {micro * replicas}, {parts}",
            f"mend one of the three, or flag {WRONG_BATCH}",
        )
        yield _at(row, f"global_batch_seqs {batch}", advice)


def _totals(row: MeasuredRun) -> Iterator[Finding]:
    """Tokens a second of all chips are those of one chip times their number."""
    measured, chips = row.measured, row.hardware.get("n_chips")
    total, each = measured.get("tokens_per_s"), measured.get("tokens_per_s_per_chip")
    if not (chips and total and each) or WRONG_TOTAL in row.flags:
        return
    if abs(each * chips / total - 1) > ROUNDING:
        advice = Advice(f"{each * chips:,.0f} for {chips} chips", "mend one of the three")
        yield _at(row, f"tokens_per_s {total:,}", advice)


def _work(row: MeasuredRun, publication: RunSource) -> Iterator[Finding]:
    """FLOP/s and MFU are tokens times the work of a token, under the stated convention."""
    tokens = _tokens(row)
    convention = publication.flops_convention_code
    is_adapter = "lora" in str(row.run.get("task", "")).lower()
    # Work with recomputation is another figure, and adapters have no six FLOPs for a weight.
    if not tokens or convention == HARDWARE or is_adapter or WRONG_WORK in row.flags:
        return
    try:
        shape = transformer(with_kinds(row).model)
        flop = tokens * flop_per_token(shape, convention, row.model.get("n_active_params"))
        stated = list(_stated_work(row))
    except FlopbookError:
        return
    for name, rates in stated:
        if all(abs(flop / rate - 1) > COUNTING for rate in rates):
            words = f"{flop / TERA:,.0f} TFLOP/s per chip from {tokens:,.0f} token/s"
            advice = Advice(words, f"mend one of them, or flag {WRONG_WORK}")
            yield _at(row, f"{name} {row.measured[name]:g}", advice)


def _tokens(row: MeasuredRun) -> float:
    """Tokens per second and chip of a training run with its sequence length; 0 for none."""
    if row.kind != "training_throughput" or not row.model.get("seq_len_tokens"):
        return 0.0
    if "tokens_per_s_per_chip" in row.measured:
        return float(row.measured["tokens_per_s_per_chip"])
    return float(row.measured.get("tokens_per_s", 0) / row.hardware.get("n_chips", 1))


def _stated_work(row: MeasuredRun) -> Iterator[tuple[str, list[float]]]:
    """What a row states of its work, as FLOP/s per chip: one rate, or one for each peak."""
    if "model_tflops_per_s_per_chip" in row.measured:
        name = "model_tflops_per_s_per_chip"
        yield name, [row.measured[name] * TERA]
    if "mfu_pct" in row.measured:
        chip = machine(row.hardware["chip"])
        share = row.measured["mfu_pct"] / 100
        yield "mfu_pct", [share * getattr(chip, peak) for peak in PEAKS]


def _at(row: MeasuredRun, observed: str, advice: Advice) -> Finding:
    return Finding(Problem(row.file, row.line, 1, NAME, observed, *advice))
