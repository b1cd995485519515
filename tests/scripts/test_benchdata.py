"""The counts of the data: they are of the library in use and they add up."""

from __future__ import annotations

from typing import Any

from scripts.bench import __main__ as bench
from scripts.bench.data import counts
from tests.support.samples import NEEDED, World, claim


def counted(world: World, *changed: dict[str, Any], **head: Any) -> dict[str, str]:
    fields = {change["field"] for change in changed}
    world.entry("one", *(claim(name) for name in NEEDED if name not in fields), *changed, **head)
    return dict(counts())


def test_a_chip_with_five_numbers_counts_on_every_line(world: World) -> None:
    figures = counted(world)
    assert figures["accelerators"] == "1" and figures["claims"] == str(len(NEEDED))
    assert figures["current chips of the data centre"] == "1 (shipping 1)"
    names = ("numbers", "numbers or none", "numbers, none or not published")
    assert [figures[f"all five{' figures' * (n == 'numbers')} as {n}"] for n in names] == ["1"] * 3


def test_words_count_for_what_they_are(world: World) -> None:
    figures = counted(world, claim("scaleup_bandwidth", value="none"))
    assert figures["all five figures as numbers"] == "0"
    assert figures["all five as numbers or none"] == "1"
    figures = counted(world, claim("power", value="not published"))
    assert figures["all five as numbers or none"] == figures["power as a number"] == "0"
    assert figures["all five as numbers, none or not published"] == "1"
    assert figures["memory as a number"] == "1"


def test_a_chip_on_a_desk_is_not_counted(world: World) -> None:
    assert counted(world, market="consumer")["current chips of the data centre"] == "0 ()"


def test_the_command_prints_them(world: World, capsys: Any) -> None:
    assert bench.main(["data"]) == 0
    assert "all five figures as numbers" in capsys.readouterr().out
