"""Names of models as people write them: with a maker before, a variant behind, other hyphens."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

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


class ModelNames:
    """Ids of models with their aliases, and what a name can mean among them."""

    def __init__(self, aliases: Mapping[str, Sequence[str]]) -> None:
        """Of the aliases of each model."""
        self.aliases = aliases
        self._by_alias = {alias: model for model, names in aliases.items() for alias in names}
        self._by_spelling: dict[str, str | None] = {}  # None: the spelling of several models
        for model, names in aliases.items():
            for name in (model, *names):
                self._add(plain(name), model)
                self._add(plain(ACTIVE.sub("", name)), model)

    def _add(self, spelling: str, model: str) -> None:
        if self._by_spelling.setdefault(spelling, model) != model:
            self._by_spelling[spelling] = None

    @property
    def every(self) -> list[str]:
        """All ids, then all aliases."""
        return [*self.aliases, *self._by_alias]

    def meant(self, name: str) -> str | None:
        """The id of the only model that a name can mean; None for no model, or several."""
        return self._by_alias.get(name.lower()) or self._by_spelling.get(plain(name))
