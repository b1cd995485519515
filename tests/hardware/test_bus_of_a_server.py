"""Cards on the bus of a host: the answer says that the bus ends with the server."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook import calculate

ASKED: list[tuple[str, dict[str, Any]]] = [
    ("collective", {"op": "all-reduce", "bytes": "1GB", "chips": 64}),
    ("dp-limit", {"batch_tokens": "1M", "chips": 64}),
    ("fsdp-limit", {"batch_tokens": "1M", "chips": 64}),
    ("tp-limit", {"model": "llama-3-70b"}),
    ("decode", {"model": "llama-3-70b", "tp": 8, "seq": 4096}),
]


@pytest.mark.parametrize(("name", "options"), ASKED)
def test_what_ends_the_bus_is_named(name: str, options: dict[str, Any]) -> None:
    notes = calculate(name, chip="l40s", **options).notes
    told = next(note for note in notes if "carries all" in note)
    assert "as in one server (past it: --chips-per-node, --scaleout-bandwidth)" in told
    given = {"chips_per_node": 8, "scaleout_bandwidth": "200Gb/s"}
    assert calculate(name, chip="l40s", **options, **given).inputs["chips_per_node"].value == 8


def test_the_two_options_give_two_levels() -> None:
    """By hand: 8 cards on 32 GB/s sum to a part each, 8 servers sum those over 25 GB/s."""
    asked: dict[str, Any] = {"op": "all-reduce", "bytes": 1e9, "chips": 64}
    bus = calculate("collective", chip="l40s", **asked)
    servers = calculate(
        "collective", chip="l40s", **asked, chips_per_node=8, scaleout_bandwidth=25e9
    )
    assert bus["scaleout_bytes"] == 0
    assert servers["scaleout_bytes"] == pytest.approx(2 * 7 / 8 * 1e9 / 8)


def test_chips_with_links_of_their_own_say_nothing_of_it() -> None:
    notes = calculate("dp-limit", chip="h100-sxm", batch_tokens="1M").notes
    assert not any("as in one server" in note for note in notes)
