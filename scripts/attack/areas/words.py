"""Hostile words on the command line: no numbers, numbers without end, other scripts, long names.

Whatever an option is given, a command answers with numbers that can be or says in a line what is
wrong, soon. A word is as long as a shell passes on at most.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from flopbook.formulas import formulas
from scripts.attack.campaign import Attempt, Campaign
from scripts.attack.hostile import text_of
from scripts.attack.shell import fault_of

NAME = "words"
_ASKED = 1_000
_LONGEST = 120_000  # characters; Linux passes on 131,072 bytes
_CHIP = ("--chip", "h100-sxm")
_RUN = ("--model", "llama-3-8b", *_CHIP, "--chips", "8", "--batch-tokens", "1Mi")
_COMMANDS = (
    *(("peak", "h100-sxm", "bf16"), ("show", "h100-sxm"), ("check", "H100 989 TFLOPS")),
    *(("cite", "williams2009roofline"), ("where", "h100-sxm"), ("claims", "--topic", "memory")),
    *(("compare", "h100-sxm", "h200-sxm", "--dtype", "fp8"), ("diff", "HEAD"), ("stale",)),
    *(("list", "google", "--min-memory", "30GB", "--sort", "peak"), ("min-batch", *_CHIP)),
    *(("predict", *_RUN, "--stack", "megatron-core"), ("plan", *_RUN, "--price", "2USD/h")),
    ("min-batch", *_CHIP, "--sweep", "batch=1:64:log:5"),
)
_PIECES = (
    *("9", "1,", "1.", "nvidia ", "9gb ", "a1", "I_X,", "X=4,", "a-", "(", "[", "1e9", "1:"),
    *("h100-sxm,", "\u0301", "9GB", "\\", "'", "{a:", "A[I_X] * ", "--", "\u0663"),
)
_WORDS = (
    *("nan", "inf", "-inf", "1e999", "-1", "0", "-0", "1e-400", "9" * 400, "1e308", "0x10", "1_0"),
    *("\u0663", "\uff18", "\u00b2", "1,000", "1/2", "2**64", "10**10**10", "", " ", "--", "-x"),
    *(
        "1e999GB",
        "-5GB",
        "nan s",
        "\uff18GB",
        "1:1e18:log:999999999",
        "nan:nan",
        "X=1e9",
        "X=4,Y=0",
    ),
    *(
        "../../etc/passwd",
        "/dev/zero",
        "\x1b[2J",
        "\u202e8",
        "8\u200b",
        "$(id)",
        "\udcff",
    ),
)


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """Commands that work, each with one or two of its words replaced, or one word more."""
    examples = [_of_example(formula.id) for formula in formulas().values()]
    for _ in range(campaign.count(_ASKED)):
        words = [*campaign.rng.choice(campaign.rng.choice((_COMMANDS, examples)))]
        for _ in range(campaign.rng.choice((1, 1, 2))):
            _spoil(words, campaign.rng)
        shown = " ".join(word[:60] for word in words)
        yield Attempt(f"{shown}", fault_of(words[0], "--json", *words[1:]))


def _of_example(formula_id: str) -> tuple[str, ...]:
    options = formulas()[formula_id].examples[0].items()
    return (formula_id, *(word for name, value in options for word in (f"--{name}", value)))


def _spoil(words: list[str], rng: random.Random) -> None:
    """Put a hostile word in the place of a value, or behind all others."""
    hostile = rng.choice(_WORDS)
    if rng.random() < 0.4:
        piece = rng.choice(_PIECES)
        hostile = piece * (rng.choice((60, 3_000, _LONGEST)) // len(piece.encode()))
    elif rng.random() < 0.3:
        hostile = text_of(rng).replace("\0", "")  # which no shell passes on
    values = [n for n, word in enumerate(words) if n and not word.startswith("--")]
    if values and rng.random() < 0.9:
        words[rng.choice(values)] = hostile
    else:
        words.append(hostile)
