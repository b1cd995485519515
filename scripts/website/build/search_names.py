"""By which names the search knows chips and models that a question is about."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flopbook.data.library import load_head, load_model, model_ids
from flopbook.factcheck import facts
from flopbook.factcheck.reading import compact
from flopbook.factcheck.words import BY

_WITHOUT_RTX = re.compile(r"rtx([0-9]0[5-9]0|[0-9]000ada)")
# The end of a name that counts the parameters of a token: Qwen 3 235B A22B.
_ACTIVE = re.compile(r"-a[0-9.]+b$")
# The generation in a name, which people leave out: Llama 70B.
_GENERATION = re.compile(r"(?<=[a-z])-([0-9]+(?:\.[0-9]+)?)(?=-[0-9.]+b)")


def chips(stops: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Compact name of a chip or a system -> its id and its name.

    A name that is a word of any question is none here: "one A100" asks for no MatX One.
    """
    # A series alone, such as MI300, is one that somebody is still typing.
    series = {name for name, ids in facts.series().items() if facts.names()[name] == tuple(ids)}
    chip_of = {
        name: (ids[0], load_head(ids[0]).name)
        for name, ids in facts.names().items()
        if ids and not name.startswith(BY) and name not in series and name not in stops
    }
    # People say 4090 for RTX 4090, and 6000 Ada for RTX 6000 Ada.
    numbers = ((_WITHOUT_RTX.fullmatch(name), chip) for name, chip in chip_of.items())
    return chip_of | {match[1]: chip for match, chip in numbers if match}


def models(sizes: dict[str, str]) -> dict[str, str]:
    """Compact name of a model -> its id; sizes alone stand for a usual one."""
    model_of = {size: name for size, name in sizes.items() if name in model_ids()}
    for model_id in model_ids():
        for name in (model_id, *load_model(model_id).aliases):
            model_of[compact(name)] = model_id
    for model_id in model_ids():
        model_of.setdefault(compact(_ACTIVE.sub("", model_id)), model_id)
    for model_id in sorted(model_ids(), key=_generation, reverse=True):
        model_of.setdefault(compact(_GENERATION.sub("", model_id)), model_id)
    return model_of


def _generation(model_id: str) -> float:
    match = _GENERATION.search(model_id)
    return float(match[1]) if match else 0.0
