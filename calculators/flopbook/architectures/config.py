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

    def need(self, *keys: str) -> int:
        """A number that must be there."""
        number = self.number(*keys)
        if number is None:
            raise self.wrong(f"no {' or '.join(keys)}, which its architecture needs")
        return number

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

    def group(self, key: str) -> Config:
        """A group of settings inside the configuration."""
        settings = self.raw.get(key)
        if not isinstance(settings, dict):
            raise self.wrong(f"no group {key}, which its architecture needs")
        return Config(settings, self.file)


def copy_size(config: Config, keys: tuple[str, ...], inputs: Inputs, name: str) -> None:
    """As `copy`, of something of which a model has at least one: null leaves it open, zero cannot.

    Raises FlopbookError.
    """
    for key in keys:
        if type(config.raw.get(key)) is int and config.raw[key] == 0:
            raise config.wrong(f"{key} is 0, expected at least 1")
    copy(config, keys, inputs, name)


def copy(config: Config, keys: tuple[str, ...], inputs: Inputs, name: str) -> None:
    """Copy the first of some numbers that is there, if any is."""
    number = config.number(*keys)
    if number is not None:
        inputs[name] = number
