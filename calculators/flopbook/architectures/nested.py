"""The language model inside a configuration that has several parts, such as one for images."""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from typing import Any

from flopbook.architectures.config import Config
from flopbook.errors import shorten

# Where files keep their language model.
GROUPS = ("text_config", "llm_config", "language_config", "thinker_config")


def language_part(config: Config, known: Container[str], sizes: Mapping[str, Any]) -> Config:
    """The configuration with the settings of its language model in place of those around it.

    `known` are the architectures that are read, `sizes` the keys on which the parts of a file of
    such an architecture must agree. Raises FlopbookError.
    """
    while groups := [key for key in GROUPS if config.raw.get(key) is not None]:
        if len(groups) > 1:
            raise config.wrong(f"both {' and '.join(groups)} are there; keep one language model")
        inner = config.group(groups[0]).raw
        outer = {key: value for key, value in config.raw.items() if key not in GROUPS}
        if str(outer.get("model_type")) in known:
            _agree(config, outer, inner, sizes)
            config = Config({**inner, **_stated(outer)}, config.file)
        else:
            model_type = inner.get("model_type") or _named_after(config, groups[0], inner, known)
            config = Config({**outer, **inner, "model_type": model_type}, config.file)
    return config


def _stated(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if value is not None}


def _agree(
    config: Config, outer: Mapping[str, Any], inner: Mapping[str, Any], sizes: Mapping[str, Any]
) -> None:
    """A file of a known architecture that says a size twice has to say the same."""
    for key in (key for keys in sizes.values() for key in keys):
        pair = [settings[key] for settings in (outer, inner) if settings.get(key) is not None]
        if len(pair) == 2 and pair[0] != pair[1]:
            said, inside = (shorten(json.dumps(value)) for value in pair)
            raise config.wrong(f"{key} is {said}, and {inside} in a group inside; keep one")


def _named_after(
    config: Config, group: str, inner: Mapping[str, Any], known: Container[str]
) -> str | None:
    """The name that follows from that of the whole: gemma3_text of gemma3, or what can see."""
    if any(inner.get(key) is not None for key in GROUPS):
        return None  # the model is further inside
    whole = str(config.raw.get("model_type"))
    for name in (f"{whole}_text", whole.removesuffix("_vl")):
        if name in known:
            return name
    raise config.wrong(f'{group} names no model_type; add it there, such as "llama"')
