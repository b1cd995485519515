"""Names of models as people write them: with a maker before, a variant behind, other hyphens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from flopbook.errors import UnknownName

# What a repository appends to the name of a model of the same shape.
VARIANT = re.compile(
    r"[-_](instruct|chat|base|it|hf|thinking|reasoning|preview|bf16|fp8|fp4|nvfp4|mxfp4|int4|awq|gptq"
    r"|v0\.\d|\d{4})$"
)
ACTIVE = re.compile(r"(?<=b)-a\d+(\.\d+)?b$")  # parameters that a token meets, which few write


def plain(name: str) -> str:
    """A name without maker, variant, hyphens and the like.

    >>> plain("meta-llama/Llama-3.1-8B-Instruct"), plain("qwen 3 8b")
    ('llama3.18b', 'qwen38b')
    """
    key = name.strip().lower().rsplit("/", 1)[-1]
    while VARIANT.search(key):
        key = VARIANT.sub("", key)
    return re.sub(r"[-_ ]", "", key)


def meant(name: str, known: Mapping[str, Iterable[str]]) -> str | None:
    """The only model, of ids with their aliases, that a name can mean; None for none or several."""
    key = plain(name)
    spelled = ((model, one) for model, names in known.items() for one in (model, *names))
    found = {model for model, one in spelled if key in (plain(one), plain(ACTIVE.sub("", one)))}
    return found.pop() if key and len(found) == 1 else None


def model_named(name: str, known: Mapping[str, Iterable[str]]) -> str:
    """The id of a model by an alias, or as people write it. Raises UnknownName."""
    key = name.strip().lower()
    for model, aliases in known.items():
        if key in aliases:
            return model
    found = meant(name, known)
    if found is None:
        aliases_of_all = [alias for aliases in known.values() for alias in aliases]
        raise UnknownName("model", name, [*known, *aliases_of_all])
    return found
