"""A configuration file with checked reading of numbers, flags and groups."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from flopbook.architectures.patterns import MOST_LAYERS
from flopbook.errors import FlopbookError, printable, shorten

MOST = 10**9  # no size of a published model comes near; a larger number is a slip or an attack

# Fields of a model, by name: sizes, and words such as "rotary".
Inputs = dict[str, int | str]


class Config:
    """A configuration with checked reading; every mistake names the file and the key."""

    def __init__(self, raw: Mapping[str, Any], file: str) -> None:
        self.raw, self.file = raw, file

    def wrong(self, problem: str) -> FlopbookError:
        """An error about this file."""
        return FlopbookError(printable(f"{self.file}: {problem}"))

    def number(self, *keys: str) -> int | None:
        """The first of some keys that is there: a whole number, zero and null as None."""
        for key in keys:
            number = self.raw.get(key)
            if number is None:
                continue
            # True is an int to Python.
            is_whole = isinstance(number, int) and not isinstance(number, bool)
            if not is_whole or not 0 <= number <= MOST:
                shown = shorten(json.dumps(number))
                raise self.wrong(f"{key} is {shown}, expected a whole number up to {MOST:,}")
            return int(number) or None
        return None

    def size(self, *keys: str) -> int | None:
        """A number of what there is at least one of: null leaves it open, zero cannot."""
        for key in keys:
            if type(self.raw.get(key)) is int and self.raw[key] == 0:
                raise self.wrong(f"{key} is 0, expected at least 1")
        return self.number(*keys)

    def need(self, *keys: str) -> int:
        """A number that must be there."""
        number = self.number(*keys)
        if number is None:
            raise self.missing(" or ".join(keys))
        return number

    def missing(self, key: str) -> FlopbookError:
        """An error about what the file does not say."""
        return self.wrong(f"no {key}, which its architecture needs; add it to the file")

    def flag(self, key: str, default: bool = False) -> bool:
        """True or false."""
        setting = self.raw.get(key)
        if setting is None:
            return default
        if not isinstance(setting, bool):
            raise self.wrong(f"{key} is {shorten(json.dumps(setting))}, expected true or false")
        return setting

    def numbers(self, key: str) -> list[int] | None:
        """A list of whole numbers that is there."""
        listed = self.raw.get(key)
        if listed is None:
            return None
        is_list = isinstance(listed, list) and len(listed) <= MOST_LAYERS
        if not is_list or not all(type(entry) is int and 0 <= entry <= MOST for entry in listed):
            raise self.wrong(f"{key} is {shorten(json.dumps(listed))}, expected whole numbers")
        return list(listed)

    def marks(self, key: str, layers: int) -> list[int]:
        """One mark for each layer, 1 where it is of the special kind; what follows is cut off."""
        marks = self.numbers(key)
        if marks is None or len(marks) < layers:
            raise self.missing(f"{key} of {layers} layers")
        if not set(marks) <= {0, 1}:
            raise self.wrong(f"{key} has marks other than 0 and 1")
        return marks[:layers]

    def group(self, key: str) -> Config:
        """A group of settings inside the configuration."""
        settings = self.raw.get(key)
        if settings is None:
            raise self.missing(f"group {key}")
        if not isinstance(settings, dict):
            shown = shorten(json.dumps(settings))
            raise self.wrong(f"{key} is {shown}, expected a group of settings")
        return Config(settings, self.file)


def latent_attention(config: Config, inputs: Inputs) -> None:
    """The sizes of latent attention, all of which but the rank of queries have to be there.

    Raises FlopbookError.
    """
    copy(config, ("q_lora_rank",), inputs, "q_lora_rank")
    for key in ("kv_lora_rank", "qk_nope_head_dim", "v_head_dim"):
        config.size(key)
        inputs[key] = config.need(key)
    # Zero where no part of a head is rotated.
    if config.raw.get("qk_rope_head_dim") is None:
        raise config.missing("qk_rope_head_dim")
    copy(config, ("qk_rope_head_dim",), inputs, "qk_rope_head_dim")
    inputs.pop("head_dim", None)  # some files repeat a part of the head here


def copy_size(config: Config, keys: tuple[str, ...], inputs: Inputs, name: str) -> None:
    """As `copy`, of something of which a model has at least one. Raises FlopbookError."""
    config.size(*keys)
    copy(config, keys, inputs, name)


def copy(config: Config, keys: tuple[str, ...], inputs: Inputs, name: str) -> None:
    """Copy the first of some numbers that is there, if any is."""
    number = config.number(*keys)
    if number is not None:
        inputs[name] = number
