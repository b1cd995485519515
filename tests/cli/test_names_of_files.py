"""Ids that no file may have: of a device, of another page, longer than a file system takes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from flopbook.data.folders import LONGEST_ID, is_id

_VENDOR = ("--name", "Acme", "--website", "https://acme.example", "--dry-run")
_CHIP = (
    *("--name", "X", "--kind", "package", "--status", "announced"),
    *("--source", "bekman2026accelerator", "--dry-run"),
)


@pytest.mark.parametrize("name", ["nvidia/index", "index", "nvidia/aux", "con", "a" * 201])
def test_they_are_no_ids(name: str) -> None:
    assert not is_id(name)


@pytest.mark.parametrize("name", ["nvidia/index-1", "indexer", "a" * LONGEST_ID, "amd/mi300x"])
def test_names_that_only_look_like_them_are(name: str) -> None:
    assert is_id(name)


@pytest.mark.parametrize("name", ["con", "lpt1", "index", "a" * 300])
def test_a_new_vendor_does_not_get_one(fails: Callable[..., str], name: str) -> None:
    """It was written, and lint refused the file on the next call."""
    assert "cannot name a file" in fails("new", "vendor", name, *_VENDOR)


@pytest.mark.parametrize("name", ["nvidia/aux", "nvidia/index", "nvidia/vendor"])
def test_a_new_chip_does_not_get_one(fails: Callable[..., str], name: str) -> None:
    assert "cannot name a file" in fails("new", "chip", name, *_CHIP)
