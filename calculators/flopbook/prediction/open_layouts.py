"""The layout of a run that nobody laid out: the fastest that fits, found by climbing.

A climb starts from a layout and goes on to the fastest of those that differ in one step, until none
is faster. Climbs start with and without a pipeline, since few steps lead from one to the other.
`flopbook plan` searches all layouts and loads NumPy for it, which takes longer than a prediction.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeVar

from flopbook.errors import FlopbookError
from flopbook.formulas.conditions import TENSOR_RULES
from flopbook.formulas.training_layouts import LAYOUT_RULES
from flopbook.prediction.chunks import is_even
from flopbook.prediction.layout_memory import (
    bytes_on_chip,
    layout_inputs,
    shared_inputs,
    with_fewest_layers,
)
from flopbook.prediction.layouts import FSDP, LAYOUT, OneRun, RunLayout
from flopbook.prediction.named_models import ModelName
from flopbook.prediction.step_time import Parameters, step_parts
from flopbook.quantities.whole_numbers import divisors

# Beyond these a number is a slip of the keyboard, and to list its divisors would take long.
MOST_CHIPS = 2**20
MOST_SEQUENCES = 2**30
RECOMPUTE = ("none", "selective", "full")
STARTS = (1, 2, 4, 8, 16)  # at most so many stages have the layouts that climbs may start from
CLIMBS = 3  # from the fastest of them; two more take half as long again and gain 2 % at times
CUTTING = ("tp", "pp", "cp")  # degrees that divide the weights or the tokens of a rank
_Value = TypeVar("_Value")


class Sharding(NamedTuple):
    """A ZeRO stage, over all replicas or over those of one domain of fast links (HSDP)."""

    stage: int
    is_hybrid: bool = False


# ZeRO-2 is left out: it sums gradients in every micro-batch to save what ZeRO-3 saves too.
STAGES = (0, 1, FSDP)


class Point(NamedTuple):
    """A layout on a climb, one value of each axis; the replicas are what is left of the chips."""

    tp: int
    pp: int
    cp: int
    ep: int
    micro_batch: int
    virtual: int
    sharding: Sharding
    recompute: str


class Cost(NamedTuple):
    """What a climb makes less: bytes beyond the memory first, then the seconds of a step."""

    beyond: float
    seconds: float


def fastest_layout(
    model: ModelName,
    run: RunLayout,
    sequences: int,
    fixed: Mapping[str, Any],
    parameters: Parameters,
) -> RunLayout | None:
    """The run in the fastest layout that is found for a step of so many sequences.

    `fixed` maps fields of a layout, its `schedule` among them, to what was asked for. None where no
    layout fits, or the memory of chip or model is not known.
    """
    if not run.machine.memory or run.chips > MOST_CHIPS or sequences > MOST_SEQUENCES:
        return None
    try:
        inputs = shared_inputs(model, run)
    except FlopbookError:
        return None
    climber = Climber(run, sequences, inputs, fixed, parameters)
    found = climber.fastest()
    if found is None:
        return None
    if found.recompute == "full" and "recompute" not in fixed:
        found = with_fewest_layers(found, climber.fits)
    named = found.inferred if LAYOUT in found.inferred else (LAYOUT, *found.inferred)
    return found._replace(inferred=named if found.chips > 1 else found.inferred)


class Climber:
    """The layouts of a run with so many sequences a step, each of them evaluated once.

    `inputs` are those of the memory that all layouts share.
    """

    def __init__(
        self,
        run: RunLayout,
        sequences: int,
        inputs: Mapping[str, Any],
        fixed: Mapping[str, Any],
        parameters: Parameters,
    ) -> None:
        self._run, self._sequences = run, sequences
        self._inputs, self._fixed, self._parameters = inputs, fixed, parameters
        self._chips, self._layers = int(run.chips), int(run.shape.layers)
        self._costs: dict[Point, Cost] = {}
        self._even: dict[int, list[int]] = {}
        self._sizes_by_share: dict[int, list[int]] = {}
        # The others are asked of the model alone.
        decided = layout_inputs(run).keys()
        self._rules = [rule for rule in LAYOUT_RULES if decided & set(rule.inputs.values())]
        self._degrees = self._possible_degrees()
        self._sizes = self._kept("micro_batch", divisors(sequences))
        self._words = self._kept("recompute", RECOMPUTE)
        self._shardings = self._possible_shardings()

    def fastest(self) -> RunLayout | None:
        """The fastest layout that climbs lead to; None where none of them fits."""
        starts = sorted(self._starts(), key=self._cost)
        ends = [self._climbed(start) for start in starts[:CLIMBS]]
        end = min(ends, key=self._cost, default=None)
        return None if end is None or self._cost(end).beyond else self._laid_out(end)

    def fits(self, run: RunLayout) -> bool:
        """Whether a layout with some layers recomputed does, all else of which is possible."""
        layers = {"recompute_layers": run.recompute_layers}
        inputs = {**self._inputs, **layout_inputs(run), **layers}
        return bytes_on_chip(inputs) <= run.machine.memory

    def _kept(self, name: str, values: Iterable[_Value]) -> list[_Value]:
        """The values of an axis, or the one that was asked for."""
        return [self._fixed[name]] if name in self._fixed else list(values)

    def _possible_degrees(self) -> dict[str, list[int]]:
        shape, parts = self._run.shape, divisors(self._chips)
        domain = self._run.domain
        return {
            "tp": self._kept("tp", (tp for tp in parts if tp <= domain and self._has_heads(tp))),
            "pp": self._kept("pp", (pp for pp in parts if is_even(self._layers, pp))),
            "cp": self._kept("cp", (cp for cp in parts if shape.tokens % cp == 0)),
            "ep": self._kept("ep", divisors(max(int(shape.experts), 1))),
        }

    def _possible_shardings(self) -> list[Sharding]:
        """Stages over all replicas or those of a domain, or as many groups as were asked for."""
        stages = self._kept("zero", STAGES)
        plain = [Sharding(stage) for stage in stages]
        if "hsdp" in self._fixed:
            return [one for one in plain if one.stage or self._fixed["hsdp"] == 1] or plain
        return [*plain, *([Sharding(FSDP, is_hybrid=True)] if FSDP in stages else [])]

    def _has_heads(self, tp: int) -> bool:
        """Whether the ranks have whole heads, and equal parts of the feed-forward block."""
        if self._run.shape.ffn_width % tp:
            return False
        return all(rule.is_kept({**self._inputs, "tp": tp}) for rule in TENSOR_RULES)

    def _starts(self) -> Iterator[Point]:
        """Layouts with pipelines of several lengths, of those that the batch divides over."""
        starts = [start for pp in self._degrees["pp"] if (start := self._start(pp))]
        near = (max((one for one in starts if one.pp <= most), default=None) for most in STARTS)
        chosen = dict.fromkeys(one for one in near if one)
        yield from chosen or starts[:1]

    def _start(self, pp: int) -> Point | None:
        """The least cut layout with such a pipeline: experts in a domain, weights divided once."""
        wanted = Sharding(FSDP) if pp == 1 else Sharding(1)
        whole = Point(
            tp=1,
            pp=pp,
            cp=1,
            ep=_at_most(int(self._run.domain), self._degrees["ep"]) or self._degrees["ep"][0],
            micro_batch=self._sizes[0],
            virtual=self._layers,
            sharding=wanted if wanted in self._shardings else self._shardings[-1],
            recompute=self._words[0],
        )
        cuts = [(tp, cp) for tp in self._degrees["tp"] for cp in self._degrees["cp"]]
        cuts.sort(key=math.prod)
        points = (self._possible(whole._replace(tp=tp, cp=cp)) for tp, cp in cuts)
        return next((point for point in points if point), None)

    def _climbed(self, point: Point) -> Point:
        """Where steps from a layout lead, each to the best that one step reaches."""
        while True:
            reached = [near for move in self._moves(point) if (near := self._possible(move))]
            best = min(reached, key=self._cost, default=point)
            if self._cost(best) >= self._cost(point):
                return point
            point = best

    def _moves(self, point: Point) -> Iterator[Point]:
        """What one step changes: a value, or two of which one makes room for the other."""
        for name, degrees in self._degrees.items():
            for degree in _next_to(getattr(point, name), degrees):
                yield _with_degree(point, name, degree)
        share = self._sequences // self._replicas(point)
        for size in _next_to(point.micro_batch, self._sizes_of(share)):
            yield point._replace(micro_batch=size)
        chunks = self._chunks(point.pp, share // point.micro_batch)
        for virtual in (*_next_to(point.virtual, chunks), *chunks[:1], *chunks[-1:]):
            yield point._replace(virtual=virtual)
        yield from (point._replace(sharding=one) for one in self._shardings)
        # More is recomputed only where the memory asks for it.
        place = self._words.index(point.recompute)
        words = self._words[place + 1 :] if self._cost(point).beyond else self._words[:place]
        yield from (point._replace(recompute=word) for word in words)
        yield from self._trades(point)

    def _trades(self, point: Point) -> Iterator[Point]:
        """A degree for another, and a larger one for what need not be recomputed then."""
        for more in CUTTING:
            larger = [degree for degree in self._degrees[more] if degree > getattr(point, more)]
            if not larger:
                continue
            cut = _with_degree(point, more, larger[0])
            yield cut._replace(recompute=self._words[0])
            for less in CUTTING:
                smaller = [one for one in self._degrees[less] if one < getattr(point, less)]
                if less != more and smaller:
                    yield _with_degree(cut, less, smaller[-1])

    def _possible(self, point: Point) -> Point | None:
        """The layout with as much of each axis as its degrees allow; None where they allow none."""
        replicas, rest = divmod(self._chips, point.tp * point.pp * point.cp)
        if rest or self._sequences % replicas or replicas != self._fixed.get("dp", replicas):
            return None
        groups = self._groups(point)
        if replicas % groups:
            return None
        ranks, share = replicas * point.cp // groups, self._sequences // replicas
        ep = _at_most(point.ep, [ep for ep in self._degrees["ep"] if ranks % ep == 0])
        size = _at_most(point.micro_batch, self._sizes_of(share))
        virtual = _at_most(point.virtual, self._chunks(point.pp, share // (size or 1)))
        if not (ep and size and virtual):
            return None
        # One rank has nothing to divide.
        sharding = point.sharding if replicas * point.cp > 1 else self._shardings[0]
        return point._replace(ep=ep, micro_batch=size, virtual=virtual, sharding=sharding)

    def _replicas(self, point: Point) -> int:
        return self._chips // (point.tp * point.pp * point.cp)

    def _groups(self, point: Point) -> int:
        """Groups that each hold everything: as asked for, or as many as there are domains."""
        if not point.sharding.is_hybrid:
            return int(self._fixed.get("hsdp", 1)) if point.sharding.stage else 1
        ranks = self._replicas(point) * point.cp * point.tp
        # What is in one domain, or in part of one, is left to the plain stage.
        return max(int(ranks // self._run.domain), 1)

    def _sizes_of(self, share: int) -> list[int]:
        """Sizes of micro-batches that divide the sequences of a replica."""
        if share not in self._sizes_by_share:
            sizes = [size for size in self._sizes if share % size == 0]
            self._sizes_by_share[share] = sizes
        return self._sizes_by_share[share]

    def _chunks(self, pp: int, count: int) -> list[int]:
        """Chunks of a stage with the schedule that is asked for, or with any."""
        schedule = self._fixed.get("schedule")
        if pp == 1 and schedule not in (None, "1f1b"):
            return []
        chunks = [] if schedule == "interleaved" else [1]
        # Interleaved chunks take turns in rounds, which micro-batches have to fill.
        if pp > 1 and count % pp == 0 and schedule in (None, "interleaved"):
            chunks += self._interleaved(pp)
        return chunks

    def _interleaved(self, pp: int) -> list[int]:
        """Numbers of chunks that hold equally many layers."""
        if pp not in self._even:
            more = range(2, self._layers // pp + 1)
            asked = self._fixed.get("virtual")
            self._even[pp] = [
                virtual
                for virtual in more
                if is_even(self._layers, pp * virtual) and asked in (None, virtual)
            ]
        return self._even[pp]

    def _cost(self, point: Point) -> Cost:
        """Bytes that a layout lacks, and its seconds where it lacks none."""
        if point not in self._costs:
            self._costs[point] = self._evaluated(self._laid_out(point))
        return self._costs[point]

    def _evaluated(self, run: RunLayout) -> Cost:
        values = {**self._inputs, **layout_inputs(run)}
        if not all(rule.is_kept(values) for rule in self._rules):
            return Cost(math.inf, math.inf)
        beyond = max(bytes_on_chip(values) - run.machine.memory, 0)
        if beyond:
            return Cost(beyond, math.inf)
        return Cost(0, math.fsum(step_parts(OneRun(run), self._parameters)))

    def _laid_out(self, point: Point) -> RunLayout:
        """The run with a layout."""
        replicas = self._replicas(point)
        schedule = "interleaved" if point.virtual > 1 else self._fixed.get("schedule", "1f1b")
        return self._run._replace(
            tp=point.tp,
            pp=point.pp,
            cp=point.cp,
            ep=point.ep,
            dp=replicas,
            virtual=point.virtual,
            schedule=schedule,
            zero=point.sharding.stage,
            hsdp=self._groups(point),
            micro_batch=point.micro_batch,
            micro_batches=self._sequences // (replicas * point.micro_batch),
            recompute=point.recompute,
        )


def _with_degree(point: Point, name: str, degree: int) -> Point:
    changed: dict[str, Any] = {name: degree}
    return point._replace(**changed)


def _at_most(value: int, values: list[int]) -> int:
    """The largest of some values that is not above another; 0 where all are."""
    return max((one for one in values if one <= value), default=0)


def _next_to(value: int, values: list[int]) -> list[int]:
    """The values on both sides of one, which are in ascending order."""
    below = [one for one in values if one < value]
    above = [one for one in values if one > value]
    return [*below[-1:], *above[:1]]
