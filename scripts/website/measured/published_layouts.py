"""Layouts that large runs were made with, held against the best that is predicted for them.

Nothing is fitted to these layouts. What software of the time could not do is left out of a first
search; a second one allows everything of today.
"""

from __future__ import annotations

from typing import NamedTuple

from flopbook.planning.planner import PlannedLayout, plan
from flopbook.planning.question import Question, question_of
from flopbook.planning.recomputing import recomputed_in_part
from flopbook.prediction.layouts import FLASH_YEAR


class PublishedLayout(NamedTuple):
    """A run: its source, what was asked, the year of its software, what that lacked, the layout.

    `source` is a BibTeX key, `locator` where in it the layout stands.
    """

    source: str
    locator: str
    asked: dict[str, str]
    year: float
    lacked: dict[str, str]
    layout: dict[str, int]


class Compared(NamedTuple):
    """The published layout and the best one, each with its predicted time."""

    published: PlannedLayout
    best: PlannedLayout

    @property
    def slower(self) -> float:
        """Predicted time of the published layout over that of the best, less one."""
        return self.published.seconds / self.best.seconds - 1


A100 = {"chip": "a100-sxm-80gb", "seq": "2048", "dtype": "fp16", "stack": "megatron-core"}
# Megatron-LM of 2021 recomputed all of a layer or nothing, held the optimizer on every replica, and
# split no sequences; that of 2022 chose what it recomputed and split norms along the sequence.
LM_2021 = {"recompute": "full", "cp": "1", "zero": "0"}
LM_2022 = {"cp": "1", "zero": "0"}


def _gpt(model: str, chips: int, sequences: int) -> dict[str, str]:
    """A model of NVIDIA on A100 at a batch of sequences of 2,048 tokens."""
    tokens = str(sequences * 2048)
    return {**A100, "model": model, "chips": str(chips), "batch_tokens": tokens}


PUBLISHED: dict[str, PublishedLayout] = {
    "narayanan-530b": PublishedLayout(
        "narayanan2021efficient",
        "Table 1, row 529.6B",
        _gpt("megatron-530b", 2520, 2520),
        2021,
        LM_2021,
        {"tp": 8, "pp": 35, "dp": 9},
    ),
    "narayanan-1t": PublishedLayout(
        "narayanan2021efficient",
        "Table 1, row 1008.0B",
        _gpt("megatron-1t", 3072, 3072),
        2021,
        LM_2021,
        {"tp": 8, "pp": 64, "dp": 6},
    ),
    "korthikanti-530b": PublishedLayout(
        "korthikanti2023reducing",
        "Table 5, 530B",
        _gpt("megatron-530b", 280, 280),
        2022,
        LM_2022,
        {"tp": 8, "pp": 35, "dp": 1},
    ),
    "korthikanti-1t": PublishedLayout(
        "korthikanti2023reducing",
        "Table 5, 1T",
        _gpt("megatron-1t", 512, 512),
        2022,
        LM_2022,
        {"tp": 8, "pp": 64, "dp": 1},
    ),
    "mt-nlg": PublishedLayout(
        "smith2022using",
        "280 A100 a replica, 8-way tensor and 35-way pipeline parallelism",
        _gpt("mt-nlg-530b", 2240, 1920),
        2021,
        LM_2021,
        {"tp": 8, "pp": 35, "dp": 8},
    ),
    "llama-3-405b": PublishedLayout(
        "llamateam2024herd",
        "16,384 H100: TP 8, CP 1, PP 16, 16M tokens",
        {
            "model": "llama-3-405b",
            "chip": "h100-sxm",
            "chips": "16384",
            "batch_tokens": "16Mi",
            "seq": "8192",
            "stack": "megatron-core",
        },
        2024,
        {"cp": "1"},
        {"tp": 8, "pp": 16, "dp": 128},
    ),
    "deepseek-v3": PublishedLayout(
        "deepseek2024v3",
        "16-way pipeline and 64-way expert parallelism on 2,048 H800",
        {
            "model": "deepseek-v3",
            "chip": "h800-sxm",
            "chips": "2048",
            "batch_tokens": str(15360 * 4096),
            "seq": "4096",
            "dtype": "fp8",
            "stack": "megatron-core",
        },
        2024,
        {},
        {"tp": 1, "pp": 16, "ep": 64},
    ),
    # Weights are sharded in each pod and held by both; here they are sharded over both.
    "palm": PublishedLayout(
        "chowdhery2022palm",
        "section 4: 12-way model and 256-way fully sharded data parallelism in each of two pods",
        {
            "model": "palm-540b",
            "chip": "tpu-v4",
            "chips": "6144",
            "batch_tokens": str(2048 * 2048),
            "seq": "2048",
            "stack": "maxtext",
        },
        2022,
        {"cp": "1"},
        {"tp": 12, "pp": 1, "dp": 512, "zero": 3},
    ),
}


def compared(run: PublishedLayout, *, as_of_its_time: bool) -> Compared:
    """The published layout beside the best, with the means of its time or those of today."""
    question = _asked(run, run.lacked if as_of_its_time else {})
    fixed = question._replace(fixed={**question.fixed, **run.layout})
    published, best = _fastest(fixed), _fastest(question)
    return Compared(published, min(best, published, key=lambda layout: layout.seconds))


def _fastest(question: Question) -> PlannedLayout:
    """The best layout; one that recomputes a part of its layers where the software could."""
    found = plan(question)
    best = found.layouts[0]
    in_part = recomputed_in_part(found) if len(question.recompute) > 1 else None
    if in_part is None:
        return best
    return in_part.layout._replace(recompute="full", seconds=in_part.seconds, bytes=in_part.bytes)


def _asked(run: PublishedLayout, limits: dict[str, str]) -> Question:
    """The question as software of the year would have answered it."""
    question = question_of({**run.asked, **limits})
    has_flash = run.year >= FLASH_YEAR
    return question._replace(run=question.run._replace(year=run.year, has_flash=has_flash))
