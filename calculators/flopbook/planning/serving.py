"""The best way to serve a model on some chips: how a replica is divided, and how many there are.

Replicas are alike and share nothing. Either each of them reads prompts and writes answers, or some
read prompts alone and send the cache to others that write. Every division and number of sequences
is timed, so that what is listed is the best of all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from flopbook.errors import FlopbookError
from flopbook.planning.replicas import (
    Division,
    Replica,
    held_bytes,
    prompt_seconds,
    step_seconds,
    transfer_seconds,
)
from flopbook.planning.serving_question import ServingQuestion
from flopbook.prediction import serving
from flopbook.prediction.arrays import Column
from flopbook.prediction.bands import widest_band
from flopbook.prediction.chunks import is_even
from flopbook.prediction.fitted import fitted_kinds
from flopbook.quantities.whole_numbers import divisors

MOST_SEQUENCES = 4096
HEADS = "heads do not divide"
EXPERTS = "experts do not divide"
BATCH = "sequences do not divide"
NO_ROOM = "does not fit"
LATE = "first token later than --max-first-token"
SLOW = "tokens slower than --max-per-token"


class ServingLayout(NamedTuple):
    """A way to serve: the division of a replica, replicas, sequences at once on each, its pace.

    Tokens are those of answers; times are in seconds, bytes on each chip. Where prompts have a pool
    of their own, `prefill` is the division of its replicas, and all else is of the other pool.
    """

    tp: int
    pp: int
    dp: int
    ep: int
    replicas: int
    batch: int
    tokens_per_s: float
    tokens_per_s_per_chip: float
    low: float
    high: float
    first_token: float
    per_token: float
    bytes: float
    prefill: Division | None = None
    prefill_replicas: int = 0

    def record(self) -> dict[str, Any]:
        """The layout as JSON has it."""
        record = self._asdict()
        record["prefill"] = None if self.prefill is None else self.prefill._asdict()
        return record


class ServingPlan(NamedTuple):
    """The best ways to serve, how many were considered, and why others are left out."""

    question: ServingQuestion
    layouts: tuple[ServingLayout, ...]
    considered: int
    infeasible: Mapping[str, int]

    def record(self) -> dict[str, Any]:
        """The plan as JSON has it."""
        layouts = [layout.record() for layout in self.layouts]
        if self.question.price is not None:
            for layout in layouts:
                layout["token_cost"] = self.question.token_cost(layout["tokens_per_s"])
        return {
            "layouts": layouts,
            "considered": self.considered,
            "infeasible": dict(self.infeasible),
        }


class _Paced(NamedTuple):
    """A division with what it reaches, for each number of sequences of a rank that it may have.

    `first_token` is the latency of a prompt, `prompts` are prompts a second of a replica that reads
    alone; `rate` is tokens a second of one that reads and writes, `written` of one that writes.
    """

    division: Division
    sequences: Column
    bytes: Column
    per_token: Column
    rate: Column
    written: Column
    first_token: float
    prompts: float
    transfer: float

    def batch(self, place: int) -> int:
        """Sequences at once on the replica."""
        return int(self.sequences[place]) * self.division.dp * self.division.pp


def plan_serving(question: ServingQuestion, top: int = 10) -> ServingPlan:
    """The best number of sequences for each division of a replica, most tokens a second first.

    Raises FlopbookError where what is fixed of a replica does not divide the chips.
    """
    divisions = list(_divisions(question))
    if not divisions:
        raise FlopbookError(_no_division(question))
    counts: Counter[str] = Counter()
    sizes = 1 if "batch" in question.fixed else len(sequence_counts())
    paced = []
    for division in divisions:
        reason = _excluded(question, division)
        if reason:
            counts[reason] += sizes
            continue
        divisions_paced = _paced(question, division)
        counts[BATCH] += sizes - len(divisions_paced.sequences)
        paced.append(divisions_paced)
    layouts = [] if question.pools == "two" else list(_in_one_pool(question, paced, counts))
    if question.pools != "one":
        layouts += _in_two_pools(question, paced)
    layouts.sort(key=lambda layout: (-layout.tokens_per_s, layout.prefill_replicas, layout[:4]))
    considered = len(divisions) * sizes
    left = {reason: count for reason, count in counts.most_common() if count}
    return ServingPlan(question, tuple(layouts[:top]), considered, left)


def _divisions(question: ServingQuestion) -> Iterator[Division]:
    """Every way to divide a replica whose chips divide all chips.

    Ranks of attention that share no experts are replicas, so only a mixture has several.
    """
    is_mixture = question.base.shape.is_mixture
    for tp in _allowed(question, "tp", question.chips):
        for pp in _allowed(question, "pp", question.chips // tp):
            ranks = _allowed(question, "dp", question.chips // (tp * pp))
            for dp in ranks if is_mixture else [rank for rank in ranks if rank == 1]:
                widths = {1, tp * dp} if is_mixture else {1}
                for ep in sorted(widths):
                    if question.fixed.get("ep", ep) == ep:
                        yield Division(tp, pp, dp, ep)


def _allowed(question: ServingQuestion, name: str, number: int) -> list[int]:
    return [divisor for divisor in divisors(number) if question.fixed.get(name, divisor) == divisor]


def _no_division(question: ServingQuestion) -> str:
    """What is fixed and makes no replica."""
    fixed_degrees = " ".join(f"--{n} {size}" for n, size in question.fixed.items() if n != "batch")
    if not question.base.shape.is_mixture and {"dp", "ep"} & set(question.fixed):
        return f"{fixed_degrees}: a model without experts has replicas in place of --dp and --ep"
    return f"{fixed_degrees} does not make {question.chips} chips"


def _excluded(question: ServingQuestion, division: Division) -> str:
    """Why no replica is divided so; empty where one may be."""
    served = question.base.shape
    if question.heads % division.tp:
        return HEADS
    if not is_even(served.layers, division.pp):
        return "layers do not divide"
    if division.ep > 1 and served.experts % division.ep:
        return EXPERTS
    return ""


def _paced(question: ServingQuestion, division: Division) -> _Paced:
    """What a division reaches, for each number of sequences that its ranks share equally."""
    p = fitted_kinds()["inference"].parameters
    base, (tp, pp, dp, ep) = question.base, division
    replica = Replica(base, question.kv_heads, tp, pp, dp, ep)
    sizes = [question.fixed["batch"]] if "batch" in question.fixed else sequence_counts()
    share = pp * dp if "batch" in question.fixed else 1
    sequences = np.array([size / share for size in sizes if size % share == 0], dtype=float)
    step = np.asarray(step_seconds(replica, sequences, p))
    # The last micro-batch of prompts is through when those before it have left the stages.
    reading = prompt_seconds(replica, sequences, p) * (2 * pp - 1) / pp
    writing = step + p["step_seconds"] + p["sequence_seconds"] * sequences * pp
    first_token = float(prompt_seconds(replica, 1.0, p))
    batch = sequences * dp * pp
    return _Paced(
        division=division,
        sequences=sequences,
        bytes=np.asarray(held_bytes(replica, sequences)),
        per_token=step,
        rate=batch * base.answer / (reading + base.answer * writing),
        written=batch / writing,
        first_token=first_token,
        prompts=dp * pp / first_token,
        transfer=float(transfer_seconds(replica, p)),
    )


def _in_one_pool(
    question: ServingQuestion, paced: Iterable[_Paced], counts: Counter[str]
) -> Iterator[ServingLayout]:
    """The best batch of each division whose replicas read and write."""
    for candidate in paced:
        fits = candidate.bytes <= question.room
        is_early = candidate.first_token <= question.most_first_token
        is_fast = candidate.per_token <= question.most_per_token
        counts[NO_ROOM] += int((~fits).sum())
        counts[LATE] += 0 if is_early else int(fits.sum())
        counts[SLOW] += int((fits & ~is_fast).sum()) if is_early else 0
        allowed = fits & is_fast & is_early
        if not allowed.any():
            continue
        place = int(np.argmax(np.where(allowed, candidate.rate, -np.inf)))
        replicas = question.chips // candidate.division.chips
        total = float(candidate.rate[place]) * replicas
        yield _layout(question, candidate, place, (replicas, total, candidate.first_token))


def _in_two_pools(question: ServingQuestion, paced: Iterable[_Paced]) -> list[ServingLayout]:
    """The best split of the chips for each size of a replica that reads and of one that writes.

    Of replicas of one size that keep the limits only the fastest can be part of the best.
    """
    readers: dict[int, _Paced] = {}
    writers: dict[int, tuple[_Paced, int]] = {}
    for candidate in paced:
        size = candidate.division.chips
        late = candidate.first_token + candidate.transfer > question.most_first_token
        holds = held_bytes_of_one(question, candidate) <= question.room
        if (
            holds
            and not late
            and (size not in readers or candidate.prompts > readers[size].prompts)
        ):
            readers[size] = candidate
        allowed = (candidate.bytes <= question.room) & (
            candidate.per_token <= question.most_per_token
        )
        if allowed.any():
            place = int(np.argmax(np.where(allowed, candidate.written, -np.inf)))
            best_writer = writers.get(size)
            if (
                best_writer is None
                or candidate.written[place] > best_writer[0].written[best_writer[1]]
            ):
                writers[size] = candidate, place
    pairs = ((reader, *writer) for reader in readers.values() for writer in writers.values())
    splits = (_split(question, *pair) for pair in pairs)
    return [layout for layout in splits if layout]


def held_bytes_of_one(question: ServingQuestion, one: _Paced) -> float:
    """Bytes on each chip of a replica that reads one prompt on each rank."""
    replica = Replica(question.base, question.kv_heads, *map(float, one.division))
    return float(held_bytes(replica, 1.0))


def _split(
    question: ServingQuestion, reader: _Paced, writer: _Paced, place: int
) -> ServingLayout | None:
    """The numbers of replicas of both kinds that write most; None where they use no all chips."""
    best: tuple[float, int, int] | None = None
    for writers in range(1, question.chips // writer.division.chips + 1):
        left = question.chips - writers * writer.division.chips
        readers, beyond = divmod(left, reader.division.chips)
        if beyond or not readers:
            continue
        reading = readers * reader.prompts * question.base.answer
        total = min(reading, writers * float(writer.written[place]))
        if best is None or total > best[0]:
            best = total, writers, readers
    if best is None:
        return None
    total, writers, readers = best
    latency = reader.first_token + reader.transfer
    layout = _layout(question, writer, place, (writers, total, latency))
    return layout._replace(prefill=reader.division, prefill_replicas=readers)


def _layout(
    question: ServingQuestion, one: _Paced, place: int, pace: tuple[int, float, float]
) -> ServingLayout:
    """A way to serve: replicas, tokens a second of all of them, and the first token."""
    replicas, total, first_token = pace
    factor = widest_band(
        fitted_kinds()["inference"],
        [serving.SHOWN[serving.STATIC].quantity],
        serving.traits(question.base),
    )
    return ServingLayout(
        *one.division,
        replicas=replicas,
        batch=one.batch(place),
        tokens_per_s=total,
        tokens_per_s_per_chip=total / question.chips,
        low=total / factor,
        high=total * factor,
        first_token=first_token,
        per_token=float(one.per_token[place]),
        bytes=float(one.bytes[place]),
    )


def sequence_counts() -> tuple[int, ...]:
    """Numbers of sequences: each to 64, then eight to every power of two, up to the most."""
    powers = [2**n for n in range(6, MOST_SEQUENCES.bit_length() - 1)]
    steps = [size for power in powers for size in range(power, 2 * power, power // 8)]
    return (*range(1, 64), *steps, MOST_SEQUENCES)
