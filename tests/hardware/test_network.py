"""The network of a chip: topology, domain, links at work, and the rate beyond."""

from __future__ import annotations

import pytest

from flopbook.data.library import load_entries
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.hardware.chip import Chip, chip
from flopbook.hardware.network import LINE_RATES, Network
from flopbook.hardware.picked import Missing
from tests.support.samples import World, claim


@pytest.mark.parametrize(
    ("name", "topology", "domain", "link"),
    [
        ("h100-sxm", "switch", 8, 450e9),
        ("gb200-gpu", "switch", 72, 900e9),
        ("mi300x", "mesh", 8, 64e9),
        ("mi300a", "mesh", 4, 128e9),  # two links of 64 GB/s to each of three others
        ("gaudi-3", "mesh", 8, 75e9),  # three ports of 200 Gbit/s to each of seven others
        ("gaudi-2", "mesh", 8, 37.5e9),  # the same of 100 Gbit/s
        ("v100-sxm2", "torus", 8, 25e9),  # pairs with one link, two or none, together three rings
        ("h100-pcie", "mesh", 2, 300e9),
        ("tpu-v5p", "torus", 8960, 100e9),
        ("tpu-v5e", "torus", 256, 50e9),
    ],
)
def test_what_joins_the_chips(name: str, topology: str, domain: float, link: float) -> None:
    network = Network(chip(name))
    joined = network.pick_domain()
    assert joined is not None
    assert (network.topology, joined.value) == (topology, domain)
    assert network.pick_link().value == pytest.approx(link)


@pytest.mark.parametrize(
    ("name", "chips", "links"),
    [
        ("h100-sxm", 2, 1),  # one port, whatever the chips
        ("v100-sxm2", 2, 2),  # the pair with two links, then four that all reach each other
        ("v100-sxm2", 4, 4),
        ("v100-sxm2", 8, 6),
        ("mi300x", 2, 1),
        ("mi300x", 4, 3),
        ("mi300x", 8, 7),
        ("h100-pcie", 2, 1),
        ("tpu-v5e", 4, 2),
        ("tpu-v5e", 128, 3),
        ("tpu-v5e", 256, 4),
        ("tpu-v5p", 8, 3),
        ("tpu-v5p", 64, 6),
        ("tpu-v5p", 8960, 6),  # the whole pod, whatever its sides
    ],
)
def test_how_many_links_some_chips_use(name: str, chips: float, links: float) -> None:
    assert Network(chip(name)).links_used(chips) == links


def test_a_whole_pod_has_the_sides_of_its_record() -> None:
    """8,960 chips of v5p are 16 x 20 x 28; whatever is typed of the shape goes before it."""
    asked = {"chip": "tpu-v5p", "bytes": "1GB", "op": "all-to-all"}
    whole = calculate("collective", **asked, chips=8960)
    assert (whole.inputs["side_x"].value, whole.inputs["side_y"].value) == (16, 20)
    typed = calculate("collective", **asked, chips=8960, side_x=16, side_y=20)
    assert dict(whole) == dict(typed)
    assert calculate("collective", **asked, chips=8960, side_x=20, side_y=16)["steps"] == 32
    assert "side_x" not in calculate("collective", **asked, chips=4096).inputs
    with pytest.raises(FlopbookError, match="8960 chips do not fill a torus"):
        calculate("collective", **asked, chips=8960, axes=3)
    assert Network(chip("tpu-v5e")).pick_whole_sides() == ()
    assert Network(chip("h100-sxm")).pick_whole_sides() == ()


def test_sides_of_a_slice_may_be_given() -> None:
    """64 chips of v5p as 2 x 4 x 8 are no whole cubes, so all axes are open."""
    pod = Network(chip("tpu-v5p"))
    assert pod.links_used(64, side_x=2, side_y=4) == 3
    assert pod.links_used(64, side_x=4, side_y=4) == 6


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("h100-sxm", 50e9),
        ("h200-sxm", 50e9),
        ("b200", 50e9),
        ("b300", 100e9),
        ("a100-sxm-80gb", 25e9),
        ("mi300x", 50e9),
        ("gaudi-3", 75e9),
        ("tpu-v5e", 3.125e9),
        ("tpu-v5p", 6.25e9),
        ("trainium2", 25e9),
        ("h100-pcie", 64e9),  # the host's bus, not a network card
        ("a100-pcie-80gb", 32e9),
    ],
)
def test_the_rate_beyond_the_domain(name: str, rate: float) -> None:
    picked = Network(chip(name)).pick_beyond()
    assert picked is not None and picked.value == pytest.approx(rate)


def test_the_domain_is_that_of_the_server_as_sold() -> None:
    """nvidia2022a100: up to 16 A100 on NVSwitch; a DGX A100 has 8, and eight network cards."""
    for name in ("a100-sxm-80gb", "a100-sxm-40gb"):
        picked = Network(chip(name)).pick_domain()
        assert picked is not None and picked.value == 8
        assert "nvidia/dgx-a100 joins 8 chips, of the 16" in picked.notes[0]
    # A rack is sold whole, whatever its trays are.
    for name, size in (("gb200-gpu", 72), ("h100-sxm", 8)):
        picked = Network(chip(name)).pick_domain()
        assert picked is not None and picked.value == size and not picked.notes


def test_a_line_rate_without_a_direction_counts_one_way(world: World) -> None:
    """400 Gbit/s is what a port carries one way; in byte/s a vendor may mean both."""
    for unit, expected in (("Gbit/s", 50e9), ("GB/s", None)):
        card = claim("scaleout_bandwidth", value=400, unit=unit, direction="unstated")
        world.entry("one", claim(), card)
        picked = Network(chip("one")).pick_beyond()
        assert (picked and picked.value) == expected
        assert (unit in LINE_RATES) is (picked is not None)
        if picked:
            assert "a line rate, so one way" in picked.notes[0]


def test_a_domain_that_is_not_recorded_says_how_to_give_it(world: World) -> None:
    world.entry("one", claim(), claim("scaleup_bandwidth"), claim("scaleup_axes"))
    with pytest.raises(FlopbookError, match="is not recorded; give --chips-per-node") as refused:
        Network(chip("one")).pick_domain()
    assert not isinstance(refused.value, Missing)


def test_a_card_without_links_uses_the_bus_of_its_host() -> None:
    card = Network(chip("v100-pcie"))
    assert card.is_hosted and card.topology == "switch" and card.pick_domain() is None
    assert card.pick_link().value == 16e9 and "its PCIe Gen3 x16" in card.pick_link().notes[0]
    assert card.kind is not None and card.kind.name == "PCIe Gen3 x16"
    assert Network(chip("t4")).pick_link().value == 16e9
    assert not Network(chip("h100-pcie")).is_hosted


@pytest.mark.parametrize(
    ("name", "rate", "words"),
    [
        ("rtx-4090", 32e9, "has no links to other cards: its PCIe Gen4 x16 carries all"),
        ("rtx-5090", 64e9, "has no published links to other cards: its PCIe Gen5 x16"),
        ("l4", 32e9, "has no links to other cards"),
        ("a10", 31e9, "has no links to other cards: its PCIe Gen4 x16 carries all"),
        ("rtx-6000-ada", 32e9, "has no links to other cards"),
    ],
)
def test_cards_of_a_desk_talk_over_their_bus(name: str, rate: float, words: str) -> None:
    """TP of a 70B model over PCIe was refused for the cards that people try it on."""
    network = Network(chip(name))
    assert network.is_hosted and network.pick_link().value == rate
    (note, *_) = network.pick_link().notes
    assert words in note and "28 of 64 GB/s (nvidia2025ncclthread)" in note
    run = calculate("tp-limit", model="llama-3-70b", chip=name)
    assert 1 < run["max_tp_degree"] < 32


def test_the_domain_of_an_h800_is_its_server() -> None:
    """DeepSeek-V3 3.1: eight GPUs connected by NVLink and NVSwitch."""
    network = Network(chip("h800"))
    domain = network.pick_domain()
    assert network.topology == "switch" and domain is not None and domain.value == 8


def test_kinds_of_links_are_those_that_were_measured() -> None:
    measured = Network(chip("h100-sxm")).kind
    assert measured is not None and measured.name == "NVLink 4"
    assert 0.6 < measured.reduction_efficiency < measured.efficiency < 0.9
    assert Network(chip("mi300x")).kind is None
    assert Network(chip("rtx-4090")).kind is None


def test_every_recorded_network_answers_or_says_what_it_lacks() -> None:
    """Of all chips with a layout; none of them fails in another way."""
    found = 0
    for entry in load_entries().values():
        network = Network(Chip(entry))
        if not entry.computes or not Chip(entry).claims("scaleup_axes"):
            continue
        try:
            assert network.pick_link().value > 0
            assert network.links_used(1) >= 1
            found += 1
        except FlopbookError as error:
            assert "recorded" in str(error) or "published" in str(error)
    assert found > 25


def test_a_node_of_four_mi250_has_the_links_of_one_of_four_mi250x() -> None:
    """Six and eight links leave the modules; five of either go to the three other modules."""
    nodes = [chip(name) for name in ("mi250", "mi250x")]
    assert {node.scaleup_bandwidth() for node in nodes} == {250e9}
    domains = [node.pick_scaleup_domain() for node in nodes]
    assert [domain.value for domain in domains if domain] == [4, 4]
