"""A difference looks only at what may differ, and finds what a look at everything finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from flopbook.changes.affected import affected
from flopbook.changes.difference import Difference, difference
from flopbook.changes.snapshot import snapshot
from flopbook.data.library import Library
from tests.support.samples import World, bib, claim

CHANGES = {
    "nothing": ("accelerators/acme/README", "", frozenset()),
    "a chip": (
        "accelerators/acme/one.yaml",
        "100",
        frozenset({"acme/one", "acme/box", "acme/pod"}),
    ),
    "a variant": ("accelerators/acme/free.yaml", "100", frozenset({"acme/free", "acme/like"})),
    "a broken chip": ("accelerators/acme/alone.yaml", None, frozenset({"acme/alone"})),
    "a model": ("models/tiny-1b.yaml", "1e9", None),
}


@pytest.fixture
def states(world: World, tmp_path_factory: pytest.TempPathFactory) -> tuple[Library, World]:
    """Two libraries that are equal so far: a pod of boxes, a variant, a chip that stands alone."""
    later = World(tmp_path_factory.mktemp("later"))
    for each in (world, later):
        each.entry("one", claim())
        each.entry("box", kind="node", parts={"acme/one": 8})
        each.entry("pod", kind="pod", parts={"acme/box": 2})
        each.entry("free", claim())
        each.entry("like", claim(), variant_of="acme/free")
        each.entry("alone", claim())
    return world.library, later


def whole(old: Library, new: Library) -> Difference:
    """The difference after a look at everything."""
    return difference(snapshot(old), snapshot(new))


@pytest.mark.parametrize("kind", CHANGES)
def test_the_difference_is_that_of_everything(kind: str, states: tuple[Library, World]) -> None:
    name, text, expected = CHANGES[kind]
    old, later = states
    path = later.root / name
    if text is None:
        later.write(name, "id: [")
    elif path.exists():
        later.write(name, path.read_text().replace(f"value: {text}", "value: 7", 1))
    changed = affected(old, later.library)
    assert changed == expected
    shown = difference(snapshot(old, changed), snapshot(later.library, changed))
    assert shown == whole(old, later.library)
    assert bool(shown) == (kind != "nothing")


def test_a_source_of_another_tier_may_change_any_choice(states: tuple[Library, World]) -> None:
    old, later = states
    later.write("bibliography/all.bib", bib(tier="press"))
    assert affected(old, later.library) is None


def test_what_is_unreadable_on_both_sides_is_still_named(states: tuple[Library, World]) -> None:
    old, later = states
    for root in (old.root, Path(later.root)):
        (root / "accelerators" / "acme" / "bad.yaml").write_text("id: [")
    old.forget()
    later.library.forget()
    changed = affected(old, later.library)
    assert changed == {"acme/bad"}
    assert len(difference(snapshot(old, changed), snapshot(later.library, changed)).unread) == 2
