"""Values of chips, systems and models: totals from parts, directions, sparsity, refusals."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from flopbook.architectures.shape import shape
from flopbook.data.library import load_entry
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import chip
from flopbook.hardware.parts import ADDITIVE_FIELDS, packages, totals
from flopbook.quantities.units import format_quantity
from tests.support.samples import MODEL, SOURCE, World, bib, claim

SPARSE = claim(sparsity="2:4", value=200)
LINK = claim("scaleup_bandwidth")


def refusal(call: object, *arguments: object, **options: object) -> str:
    """The one line of a refusal."""
    with pytest.raises(FlopbookError) as caught:
        call(*arguments, **options)
    assert str(caught.value).isprintable()
    return str(caught.value)


def node(world: World, name: str = "box", kind: str = "node", **parts: int) -> None:
    """An entry that contains others: `node(world, one=8)`."""
    domain = claim("scaleup_domain", per=kind)
    inside = {f"acme/{part}": count for part, count in parts.items()}
    world.entry(name, domain, kind=kind, parts=inside)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(st.integers(1, 100), st.integers(1, 100), st.integers(1, 72), st.floats(1, 1e6))
def test_a_total_is_count_times_chip_through_all_levels(
    world: World, a: int, b: int, c: int, peak: float
) -> None:
    """Chips in a card, cards in a node, nodes in a pod: the counts multiply, and each level's own
    total agrees.
    """
    world.entry("one", claim(value=peak), claim("memory"), claim("memory_bandwidth"), LINK)
    node(world, "card", "card", one=a)
    node(world, "box", "node", card=b)
    node(world, "pod", "pod", box=c)
    one = chip("acme/one")
    for name, count in (("card", a), ("box", a * b), ("pod", a * b * c)):
        whole = chip(f"acme/{name}")
        assert packages(whole.entry) == {"acme/one": count}
        assert whole.total("peak", "bf16") == pytest.approx(count * one.peak("bf16"))
        assert whole.total("memory") == pytest.approx(count * one.memory())
        assert whole.total("memory_bandwidth") == pytest.approx(count * one.memory_bandwidth())
        if name == "card" or count > 1:  # a chip that is alone in its computer has no links to add
            links = count * one.scaleup_bandwidth()
            assert whole.total("scaleup_bandwidth") == pytest.approx(links)


def test_a_total_cites_what_it_came_from(world: World) -> None:
    world.entry("one", claim(at_power_w=700, note="At 700 W."), SPARSE, LINK, claim("power"))
    node(world, one=8)
    made = totals(load_entry("acme/box"))
    assert [(t.field, t.sparsity) for t in made] == [
        ("peak", "dense"),
        ("peak", "2:4"),
        ("scaleup_bandwidth", ""),
    ]
    assert {t.field for t in made} <= set(ADDITIVE_FIELDS)
    assert made[0].formula == "8 x 100 TFLOP/s" and made[0].derived_from == "acme/one peak"
    assert (made[0].basis, made[0].per, made[0].source) == ("derived", "node", SOURCE)
    assert made[0].note == "" and made[0].at_power_w is None and made[2].aggregate == "domain"


def test_the_same_chip_in_two_places_is_counted_twice(world: World) -> None:
    node(world, "card", "card", one=2)
    node(world, "box", "node", card=3, one=1)
    assert packages(load_entry("acme/box")) == {"acme/one": 7}


def test_no_total_without_exactly_one_kind_of_accelerator(world: World) -> None:
    world.entry("two")
    world.entry("nic", claim("scaleout_bandwidth"))
    node(world, "mixed", one=4, two=4)
    node(world, "fine", one=4, nic=8)
    assert totals(load_entry("acme/mixed")) == ()
    assert "no total of peak follows from its parts" in refusal(
        chip("acme/mixed").total, "peak", "bf16"
    )
    assert chip("acme/fine").total("peak", "bf16") == 4e14
    assert totals(load_entry("acme/one")) == ()


def test_totals_keep_engines_and_directions_apart(world: World) -> None:
    """A vector rate is not a tensor rate; a link's total is one way, as `scaleup_bandwidth` is."""
    world.entry("one", claim(engine="vector", value=10), claim(value=100), LINK)
    node(world, one=2)
    box = chip("acme/box")
    assert (box.total("peak", "bf16"), box.total("peak", "bf16", engine="vector")) == (2e14, 2e13)
    assert box.total("scaleup_bandwidth") == 2 * chip("acme/one").scaleup_bandwidth() == 900e9
    assert "no total" in refusal(box.total, "peak", "bf16", "2:4")


@pytest.mark.parametrize(("first", "second"), [("box", "pod"), ("box", "box")])
def test_a_cycle_is_refused(world: World, first: str, second: str) -> None:
    node(world, first, **{second: 1})
    node(world, second, **{first: 2})
    message = refusal(packages, load_entry("acme/box"))
    assert "acme/box contains itself" in message and message.endswith(f"acme/{second} > acme/box")
    assert "contains itself" in refusal(chip("acme/box").peak, "bf16")


def test_a_sparse_peak_only_when_asked_for(world: World) -> None:
    """ "A sparse peak is used only when asked for, and the answer says so"."""
    world.entry("one", SPARSE, claim(value=100))
    assert chip("one").pick_peak("bf16").value == 1e14 and chip("one").pick_peak("bf16").notes == ()
    sparse = chip("one").pick_peak("bf16", "2:4")
    assert sparse.value == 2e14 and "sparse peak (2:4)" in sparse.notes[0]
    world.entry("one", SPARSE)
    assert (
        refusal(chip("one").peak, "bf16")
        == "acme/one has no dense bf16 tensor peak; it has: bf16 2:4"
    )


def test_an_unstated_peak_is_used_with_a_note(world: World) -> None:
    world.entry("one", claim(sparsity="unstated"))
    picked = chip("one").pick_peak("bf16")
    assert picked.value == 1e14 and picked.source == SOURCE
    assert picked.notes == (
        f"{SOURCE} does not say whether this bf16 peak is dense; it is used as dense",
    )
    assert "no 2:4 bf16" in refusal(chip("one").peak, "bf16", "2:4")
    world.entry("one", claim(sparsity="unstated"), claim(value=90))
    assert chip("one").pick_peak("bf16").value == 9e13


def test_known_errors_and_the_unpublished_are_never_used(world: World) -> None:
    wrong = claim(value=900, known_error=True, note="Twice the truth.")
    world.entry("one", wrong, claim(value="not published"), claim("memory", value="not published"))
    assert refusal(chip("one").peak, "bf16").endswith("its tensor peaks are not published")
    assert refusal(chip("one").memory) == "acme/one: memory is not published"
    assert refusal(chip("one").power) == "acme/one: power is not recorded"
    world.entry("one", wrong, claim(value=450))
    assert chip("one").peak("bf16") == 4.5e14


def test_the_better_source_is_used(world: World) -> None:
    world.write("bibliography/press.bib", bib("press2026x", tier="press"))
    world.entry("one", claim(value=999, source="press2026x"), claim(value=100))
    assert chip("one").peak("bf16") == 1e14


@pytest.mark.parametrize(
    ("claims", "value", "notes"),
    [
        ([LINK], 450e9, 1),
        ([{**LINK, "direction": "one-way", "value": 450}], 450e9, 0),
        ([{**LINK, "direction": "unstated", "value": 999}, LINK], 450e9, 1),
        ([{**LINK, "aggregate": "link", "value": 50}, LINK], 450e9, 1),
    ],
)
def test_scaleup_bandwidth_is_one_way_per_chip(
    world: World, claims: list, value: float, notes: int
) -> None:
    world.entry("one", *claims)
    picked = chip("one").pick_scaleup_bandwidth()
    assert picked.value == value and len(picked.notes) == notes
    assert not notes or "printed as 900 GB/s both ways together; one way is half" in picked.notes[0]


@pytest.mark.parametrize(
    "change", [{"direction": "unstated"}, {"aggregate": "link"}, {"value": "not published"}]
)
def test_a_link_without_direction_is_refused(world: World, change: dict) -> None:
    world.entry("one", {**LINK, **change})
    assert "no scale-up bandwidth with a stated direction is published" in refusal(
        chip("one").scaleup_bandwidth
    )


@pytest.mark.parametrize("method", ["peak", "memory", "memory_bandwidth", "scaleup_bandwidth"])
def test_a_node_given_as_a_chip_names_its_chips(world: World, method: str) -> None:
    node(world, one=8)
    assert (
        refusal(getattr(chip("box"), method))
        == "acme/box is a node, not a chip; name its chip: acme/one"
    )
    world.entry("empty", claim("scaleup_domain"), kind="node")
    assert refusal(getattr(chip("empty"), method)) == "acme/empty is a node, not a chip"


def test_main_memory_is_the_fastest_tier(world: World) -> None:
    world.entry(
        "one",
        claim("memory", tier="ddr", value=480),
        claim("memory", value=80),
        claim("scaleup_axes"),
    )
    assert chip("one").memory() == 80e9 and chip("one").pick_scaleup_axes().value == 1
    world.entry("one", claim("memory", tier="ddr", value=480))
    assert chip("one").memory() == 480e9


def test_power_takes_the_maximum_first(world: World) -> None:
    world.entry(
        "one",
        claim("power", of="measured", value=1),
        claim("power", of="design", value=2),
        claim("power"),
    )
    assert chip("one").power() == 700
    world.entry("one", claim("power", of="measured", value=1))
    assert chip("one").power() == 1


def test_an_unknown_format_names_those_there_are(world: World) -> None:
    assert refusal(chip("one").peak, "fp3").endswith("it has: bf16 dense")
    assert "acme/one has no dense bf16 vector peak" in refusal(
        chip("one").peak, "bf16", engine="vector"
    )


def test_shapes_of_models(world: World) -> None:
    """Without a full shape nothing is counted, and what is published stands for it."""
    assert shape("tiny-1b").params == 1e9 and shape("tiny-1b").compute_params == 1e9
    assert (
        refusal(getattr, shape("tiny-1b"), "layers")
        == "model tiny-1b has no published layers; it has: params"
    )
    active = MODEL[MODEL.index("  - ") :].replace("params", "active_params").replace("1e9", "2e8")
    world.write("models/tiny-1b.yaml", MODEL.replace("kind: dense", "kind: moe") + active)
    assert shape("tiny-1b").compute_params == 2e8
    with pytest.raises(AttributeError):
        _ = shape("tiny-1b")._nothing


def test_the_scaleup_domain_is_the_chips_own_or_unknown(world: World) -> None:
    assert chip("one").pick_scaleup_domain() is None
    world.entry("one", claim(), claim("scaleup_domain", value="not published"))
    assert chip("one").pick_scaleup_domain() is None
    world.entry("one", claim(), claim("scaleup_domain"))
    picked = chip("one").pick_scaleup_domain()
    assert picked is not None and (picked.value, picked.unit, picked.source) == (8, "chip", SOURCE)


def test_a_vector_peak_is_named_where_the_matrix_peak_is_missing(world: World) -> None:
    world.entry("one", claim(), claim(dtype="fp32", engine="vector", value=10))
    assert refusal(chip("one").peak, "fp32") == (
        "acme/one has no dense fp32 tensor peak; its vector peak is recorded; "
        "the calculators use matrix rates; it has: bf16 dense"
    )
    assert "vector" not in refusal(chip("one").peak, "fp64")


@pytest.mark.parametrize(
    ("changed", "value"),
    [
        ({}, 50e9),
        ({"direction": "both"}, 25e9),
        ({"direction": "unstated"}, None),
        ({"aggregate": "link"}, None),
        ({"value": "not published"}, None),
    ],
)
def test_scaleout_bandwidth_is_one_way_per_chip_or_open(
    world: World, changed: dict, value: float | None
) -> None:
    """A rate without a direction is as good as none: the calculators then ask for it."""
    world.entry("one", claim(), claim("scaleout_bandwidth", **changed))
    picked = chip("one").pick_scaleout_bandwidth()
    assert (picked.value if picked else None) == value


@pytest.mark.parametrize(
    ("name", "seen"),
    [("mi300x", 192 * 2**30), ("b200", 183_359 * 2**20)],
)
def test_a_printed_memory_says_what_software_sees(name: str, seen: float) -> None:
    """Vendors print GB for what drivers and JAX count in GiB: 7 % more room for a cache."""
    picked = chip(name).pick_memory()
    (note,) = picked.notes
    assert f"software sees {format_quantity(seen, 'byte')}" in note
    assert note.endswith(f"{100 * (seen / picked.value - 1):+.0f} %")
    assert note in calculate("serving", model="llama-3-8b", chip=name, seq=2048).notes


@pytest.mark.parametrize("name", ["tpu-v5e", "tpu-v6e", "l4", "h100-sxm"])
def test_a_memory_of_one_size_says_nothing(name: str) -> None:
    """GiB as printed, ECC that takes a part, no other size on file."""
    assert not chip(name).pick_memory().notes
