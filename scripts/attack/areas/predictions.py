"""Predictions and plans that cannot be: times and bytes that are no positive numbers, MFU above 1.

All layouts of the spaces of chance questions, then whole predictions and plans of training and of
serving one by one, with options that may not add up: parts make the whole, bands hold their value,
what fits has room, and the best layout of a plan is predicted as it was planned.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from flopbook.data.library import load_entries, model_ids
from flopbook.errors import FlopbookError
from flopbook.planning.exclusions import MODEL_RULES, Sieve
from flopbook.planning.memory import memory_inputs
from flopbook.planning.planner import Evaluated, evaluated, plan
from flopbook.planning.question import Question, question_of
from flopbook.planning.serving import plan_serving
from flopbook.planning.serving_question import serving_question
from flopbook.planning.space import space_of
from flopbook.prediction.asking import PRECISIONS, predict
from flopbook.prediction.asking_serving import PRECISIONS as SERVED_IN
from flopbook.prediction.asking_serving import STACKS as SERVED_BY
from flopbook.prediction.asking_serving import predict_serving
from flopbook.prediction.conventions import USUAL, flop_per_token
from flopbook.prediction.open_layouts import RECOMPUTE
from flopbook.prediction.stacks import STACKS
from scripts.attack import laws
from scripts.attack.campaign import Attempt, Campaign

NAME = "predictions"
_LAYOUTS, _QUESTIONS, _ASKED = 20_000, 400, 2_000
_LAYOUTS_OF_A_PLAN = 5
_SIZES = ("1", "2", "3", "4", "6", "8", "16", "64", "512", "1000", "4096")
_LENGTHS = ("1", "128", "2048", "4096", "8192", "131072")
_DEGREES = ("tp", "pp", "cp", "ep", "dp", "virtual", "zero", "micro_batch")
_RUN = ("package", "card")
Options = dict[str, str | None]


class _Asked(NamedTuple):
    """A way to ask: chance options, and what is wrong with the answer."""

    name: str
    options: Callable[[_Chance], Options]
    faults: Callable[[Options], Iterator[str]]


class _Chance:
    """Draws options of the command line."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        entries = load_entries()
        self.chips = sorted(name for name, entry in entries.items() if entry.kind in _RUN)

    def one(self, *words: str) -> str:
        return self.rng.choice(words)

    def training(self) -> Options:
        """Options of `flopbook predict`; a few degrees at most, so that some add up."""
        sequence, rng = self.one(*_LENGTHS), self.rng
        options: Options = {
            "model": rng.choice(model_ids()),
            "chip": rng.choice(self.chips),
            "chips": self.one(*_SIZES),
            "seq": sequence,
            "batch_tokens": str(int(sequence) * int(self.one(*_SIZES))),
            "stack": self.one(*STACKS),
            "dtype": self.one(*PRECISIONS),
        }
        degrees = rng.sample(_DEGREES, rng.choice((0, 0, 1, 2)))
        options |= {name: self.one("1", "2", "4", "8") for name in degrees}
        return options | ({"recompute": self.one(*RECOMPUTE)} if rng.random() < 0.3 else {})

    def serving(self) -> Options:
        """Options of the same for serving, with or without a batch."""
        options: Options = {
            "model": self.rng.choice(model_ids()),
            "chip": self.rng.choice(self.chips),
            "chips": self.one(*_SIZES[:-3]),
            "answer": self.one(*_LENGTHS),
            "stack": self.one(*SERVED_BY),
            "dtype": self.one(*SERVED_IN),
        }
        length = self.one(*_LENGTHS)
        options |= {"seq": length, "prompt": length}
        return options | ({"batch": self.one(*_SIZES)} if self.rng.random() < 0.5 else {})


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """Layouts by the thousand, and answers one by one."""
    chance = _Chance(campaign.rng)
    layouts = 0
    for _ in range(campaign.count(_QUESTIONS)):
        options = chance.training() | {"recompute": None}
        found, fault = _layouts_of(options)
        layouts += found
        yield from (Attempt("") for _ in range(found - 1))
        yield Attempt(f"all layouts of {options}", fault)
    least = campaign.count(_LAYOUTS)
    yield Attempt("layouts", "" if layouts >= least else f"{layouts} of at least {least}")
    for asked in _WAYS:
        yield from _one_by_one(asked, chance, campaign.count(_ASKED))


def _layouts_of(options: Options) -> tuple[int, str]:
    """How many layouts a question has, and what of them cannot be."""
    try:
        question = question_of(options)
        inputs = memory_inputs(question)
        for rule in MODEL_RULES:
            rule.check({**inputs, "schedule": "1f1b", "microbatches": 1.0})
        space = space_of(question)
    except FlopbookError:
        return 0, ""
    count = 0
    for piece in evaluated(question, space, Sieve(inputs), inputs):
        count += piece.seconds.size
        if fault := _impossible(question, piece):
            return count, fault
        if count > _LAYOUTS:
            break
    return count, ""


def _impossible(question: Question, piece: Evaluated) -> str:
    run = question.run
    for name, column in (("seconds", piece.seconds), ("bytes", piece.bytes)):
        if not (np.isfinite(column) & (column > 0)).all():
            return f"{name} such as {float(column[~(column > 0)].ravel()[:1].sum())}"
    work = question.batch * run.shape.tokens * flop_per_token(run.shape, USUAL)
    most = work / (float(piece.seconds.min()) * run.chips * run.machine.peak(run.precision))
    return f"MFU of {most}" if most > 1 else ""


def _one_by_one(asked: _Asked, chance: _Chance, count: int) -> Iterator[Attempt]:
    answered = 0
    for _ in range(count):
        options = asked.options(chance)
        try:
            faults = list(asked.faults(options))
        except FlopbookError:
            yield Attempt("refused")
            continue
        answered += 1
        yield Attempt(f"{asked.name} {options}", "; ".join(faults))
    yield Attempt(asked.name, "" if answered or count < _ASKED else "nothing was answered")


def _of_training(options: Options) -> Iterator[str]:
    yield from laws.of_prediction(predict(options))


def _of_plan(options: Options) -> Iterator[str]:
    yield from laws.of_plan(options, plan(question_of(options), _LAYOUTS_OF_A_PLAN))


def _of_serving(options: Options) -> Iterator[str]:
    yield from laws.of_serving(predict_serving(options))


def _of_serving_plan(options: Options) -> Iterator[str]:
    yield from laws.of_serving_plan(plan_serving(serving_question(options)))


_WAYS = (
    _Asked("predict", _Chance.training, _of_training),
    _Asked("predict --serve", _Chance.serving, _of_serving),
    _Asked("plan", _Chance.training, _of_plan),
    _Asked("plan --serve", _Chance.serving, _of_serving_plan),
)
