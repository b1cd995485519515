"""A network of planes: no link joins two, and its sizes are those of the paper it is from."""

from __future__ import annotations

from collections import Counter

from scripts.website.figures.network_planes import figure, links, sizes
from tests.support.cases import every


@every("ports, planes", ((4, 2), (8, 3), (64, 8)))
def test_planes_are_whole_trees_that_nothing_joins(ports: int, planes: int) -> None:
    found = links(ports, planes)
    assert all(upper[1] == lower[1] for upper, lower in found)
    used = Counter(end for link in found for end in link)
    cards = [end for end in used if end[0] == "card"]
    switches = {end: count for end, count in used.items() if end[0] != "card"}
    assert set(switches.values()) == {ports} and {used[card] for card in cards} == {1}
    _, wide, _ = sizes(ports, planes)
    assert (len(cards), len(switches)) == (wide.gpus, wide.switches)


def test_sizes_are_those_of_the_paper() -> None:
    """Table 3 of the paper: endpoints and switches of FT2, MPFT and FT3 with 64 ports."""
    found = [(one.gpus, one.switches) for one in sizes()]
    assert found == [(2048, 96), (16384, 768), (65536, 5120)]
    assert "join 2,048 GPUs, in 8 planes 16,384" in figure().title
