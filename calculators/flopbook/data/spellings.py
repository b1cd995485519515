"""Names of models as people write them: with a maker before, a variant behind, other hyphens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

# What a repository appends to the name of a model of the same shape.
VARIANT = re.compile(
    r"[-_](instruct|chat|base|it|hf|thinking|reasoning|preview|bf16|fp8|fp4|nvfp4|mxfp4|int4|awq|gptq"
    r"|v0\.\d|\d{4})$"
)
ACTIVE = re.compile(r"(?<=b)-a\d+(\.\d+)?b$")  # parameters that a token meets, which few write


def plain(name: str) -> str:
    """A name without maker, variant, hyphens and the like.

    >>> plain("meta-llama/Llama-3.1-8B-Instruct"), plain("qwen 3 8b")
    ('llama318b', 'qwen38b')
    """
    key = name.strip().lower().rsplit("/", 1)[-1]
    while VARIANT.search(key):
        key = VARIANT.sub("", key)
    return re.sub(r"[^a-z0-9]", "", key)


def models_by_spelling(known: Mapping[str, Iterable[str]]) -> dict[str, str | None]:
    """Of ids with their aliases, the model that each plain spelling means; None for several."""
    meanings: dict[str, str | None] = {}
    for model, aliases in known.items():
        for name in (model, *aliases):
            for spelling in (plain(name), plain(ACTIVE.sub("", name))):
                is_shared = meanings.setdefault(spelling, model) != model
                if is_shared:
                    meanings[spelling] = None
    return meanings
