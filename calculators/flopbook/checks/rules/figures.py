"""Every chip of the data centre that is current answers five questions.

What it computes at most with dense matrices, how much memory it has and how fast, how fast its
links are one way, and what power it draws: with a number, or with the words that nobody publishes
it, and what was looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from flopbook.checks.rules.base import Advice, Finding, Holdings, at_file
from flopbook.data.accelerators import Entry
from flopbook.hardware.five_figures import five_figures, is_compared

NAME = "figures"
QUESTIONS = {
    "peak": "a dense peak in its widest matrix format",
    "memory": "the size of its memory",
    "memory_bandwidth": "the bandwidth of its memory",
    "scaleup_bandwidth": "the rate of its scale-up links one way",
    "power": "its power",
}
ADVICE = Advice(
    "a number, or a claim 'not published' of exactly this that says what was looked at",
    "add the claim; a peak needs sparsity dense, a rate direction one-way and aggregate chip",
)


def check(holdings: Holdings) -> Iterator[Finding]:
    """Questions that a chip of the data centre leaves open."""
    for entry in filter(is_compared, holdings.entries.values()):
        for words in _open(entry, holdings.tiers):
            yield at_file(NAME, entry.file, f"nothing on {words}", ADVICE)


def _open(entry: Entry, tiers: Mapping[str, str]) -> Iterator[str]:
    """What claims speak of without saying it; of what they are silent on, `needed` speaks."""
    answers = five_figures(entry, tiers)
    spoken_of = {claim.field for claim in entry.claims if claim.engine != "vector"}
    for field, words in QUESTIONS.items():
        if field in spoken_of and answers[field] is None:
            yield words
