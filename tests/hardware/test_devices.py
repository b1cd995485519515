"""The peak of the device that a framework names: the right one, or a refusal with the nearest
names.
"""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import flopbook
from flopbook.data.library import entry_ids, load_entry
from flopbook.errors import FlopbookError, UnknownName
from flopbook.hardware.chip import chip
from flopbook.hardware.devices import device_peak, plain
from tests.support.samples import World, claim, entry_text

RATES = {
    "h1-sxm": ("ACME H1 80GB HBM3", 900),
    "h1-pcie": ("ACME H1 PCIe", 700),
    "a1-sxm-40gb": ("ACME A1-SXM4-40GB", 300),
    "a1-sxm-80gb": ("ACME A1-SXM4-80GB", 310),
    "g1": ("ACME G1 480GB", 500),
    "c1-pcie": ("ACME C1 24GB", 100),
}


@pytest.fixture
def devices(world: World) -> World:
    """Chips with names as drivers give them."""
    for product, (name, rate) in RATES.items():
        world.entry(product, claim(value=rate), device_names=f'["{name}"]')
    return world


def peak(name: str, *more: str) -> float:
    """In TFLOP/s."""
    return flopbook.peak(name, *more) / 1e12


FOUND = {
    "letter by letter": ("ACME H1 80GB HBM3", 900),
    "in small letters": ("acme h1 80gb hbm3", 900),
    "with spaces": ("  ACME   H1  80GB HBM3 ", 900),
    "with a tab": ("ACME\tH1 80GB HBM3", 900),
    "hyphens for spaces": ("ACME H1-80GB-HBM3", 900),
    "another card": ("ACME H1 PCIe", 700),
    "with its memory": ("ACME A1-SXM4-40GB", 300),
    "with more memory": ("ACME A1 SXM4 80GB", 310),
    "memory left out where it decides nothing": ("ACME G1", 500),
    "an id": ("acme/h1-sxm", 900),
    "a product": ("h1-pcie", 700),
}
OPEN = {
    "which card": (
        "ACME H1",
        "does not name one product.*'ACME H1 PCIe' .acme/h1-pcie.*'ACME H1 80GB HBM3' .acme/h1-sxm",
    ),
    "which card, with memory": (
        "ACME H1 80GB",
        "does not name one product; name it in full: 'ACME H1 80GB HBM3'",
    ),
    "which memory": (
        "ACME A1-SXM4",
        "'ACME A1-SXM4-40GB' .acme/a1-sxm-40gb.*'ACME A1-SXM4-80GB' .acme/a1-sxm-80gb",
    ),
    "less than the id says": (
        "ACME C1",
        "does not name one product; name it in full: 'ACME C1 24GB' .acme/c1-pcie.",
    ),
}
UNKNOWN = {
    "other memory": "ACME H1 80GB HBM2e",
    "a special edition": "ACME A1-SXM4-64GB",
    "a part": "ACME H1 MIG 1g",
    "the beginning": "ACME",
    "one letter": "A",
    "another maker": "BOLT H1 80GB HBM3",
    "a later one": "ACME H2",
    "only memory": "80GB",
    "nothing": "",
    "spaces": "  ",
    "control characters": "\x1b[31m",
    "a null": "\x00",
    "very long": "x" * 10_000,
    "a path": "../../etc/passwd",
    "pattern": "ACME H1.*",
    "a surrogate": "ACME \udcff",
}


@pytest.mark.parametrize(("name", "rate"), FOUND.values(), ids=FOUND)
def test_a_device_is_found_by_what_its_framework_calls_it(
    name: str, rate: float, devices: World
) -> None:
    assert peak(name) == rate


@pytest.mark.parametrize(("name", "message"), OPEN.values(), ids=OPEN)
def test_a_name_that_leaves_it_open_is_refused(name: str, message: str, devices: World) -> None:
    with pytest.raises(FlopbookError, match=message) as caught:
        peak(name)
    assert not isinstance(caught.value, UnknownName) and str(caught.value).isprintable()


@pytest.mark.parametrize("name", UNKNOWN.values(), ids=UNKNOWN)
def test_a_name_that_is_nearly_one_is_never_taken_for_it(name: str, devices: World) -> None:
    with pytest.raises(UnknownName) as caught:
        peak(name)
    assert str(caught.value).isprintable() and len(str(caught.value)) < 300


@pytest.mark.parametrize("piece", ["9", "nvidia ", "hbm9", "9gb "])
def test_a_name_without_end_is_refused_at_once(devices: World, piece: str) -> None:
    begun = time.process_time()
    with pytest.raises(UnknownName, match="unknown device"):
        peak(piece * (120_000 // len(piece)))
    assert time.process_time() - begun < 5


def test_the_nearest_names_are_offered(devices: World) -> None:
    with pytest.raises(
        UnknownName, match="unknown device 'ACME H1 80GB HBM2e'; nearest: ACME H1 80GB HBM3, "
    ):
        peak("ACME H1 80GB HBM2e")


def test_two_entries_with_one_name_are_refused(devices: World) -> None:
    devices.write(
        "accelerators/bolt/b.yaml",
        entry_text(id="bolt/b", vendor="bolt", device_names="[ACME G1 480GB]"),
    )
    with pytest.raises(
        FlopbookError, match=r"'ACME G1 480GB' \(acme/g1\), 'ACME G1 480GB' \(bolt/b\)"
    ):
        peak("ACME G1 480GB")


@pytest.mark.parametrize("maker", ["NVIDIA", "AMD", "Intel(R)", "Google", "AWS"])
def test_the_maker_may_be_left_out(maker: str, world: World) -> None:
    world.entry("one", device_names=f'["{maker} One Max"]')
    assert peak("One Max") == peak(f"{maker} One Max") == peak(f"{maker.lower()} one-max") == 100


def test_plain_names() -> None:
    assert plain("NVIDIA A100-SXM4-80GB") == plain("a100 sxm4 80gb") == "a100 sxm4 80gb"
    assert (
        plain("AMD Instinct MI300X") == "instinct mi300x"
        and plain("NVIDIA NVIDIA  X") == "x"
        and plain("") == ""
    )


def count(name: str, value: float | str, **more: Any) -> dict[str, Any]:
    """A claim that a package is so many devices of a name."""
    return claim("devices_per_package", name=name, value=value, **more)


def test_a_device_that_is_a_part_of_the_package_has_its_part_of_the_peak(world: World) -> None:
    world.entry(
        "one", claim(value=383), count("ROCm", 2), device_names='["ACME 250X", "ACME 250X/250"]'
    )
    for name in ("ACME 250X", "acme 250x/250"):
        found = device_peak(name)
        assert (found.peak.value, found.devices) == (383e12 / 2, 2)
        assert found.peak.notes == (
            "acme/one counts as 2 devices (acme2026one); this is the peak of one of them",
        )
    whole = device_peak("acme/one")
    assert (whole.peak.value, whole.devices, whole.peak.notes) == (383e12, 1, ())


def test_a_name_of_its_own_has_a_number_of_its_own(world: World) -> None:
    claims = (claim(value=800), count("NC_v3", 8), count("NC_v3d", 4))
    world.entry("one", *claims, device_names="[NC_v3, NC_v3d, NC_other]")
    assert (peak("NC_v3"), peak("NC_v3d"), peak("nc_v3D"), peak("NC_other")) == (100, 200, 200, 800)


def test_a_number_of_devices_that_is_not_published_divides_nothing(world: World) -> None:
    world.entry("one", count("ONE", "not published"), claim(), device_names="[ONE]")
    assert peak("ONE") == 100 and device_peak("ONE").peak.notes == ()


def test_a_known_error_divides_nothing(world: World) -> None:
    world.entry(
        "one", count("ONE", 2, known_error=True, note="Wrong."), claim(), device_names="[ONE]"
    )
    assert peak("ONE") == 100


def test_sources_and_notes_come_with_the_value(world: World) -> None:
    world.entry(
        "one", claim(sparsity="unstated"), claim(sparsity="2:4", value=200), device_names="[ONE]"
    )
    found = device_peak("ONE").peak
    assert (
        found.sources == ("acme2026one",)
        and "does not say whether this bf16 peak is dense" in found.notes[0]
    )
    assert (
        device_peak("ONE", "bf16", "2:4").peak.value == 200e12
        and "sparse peak" in device_peak("ONE", "bf16", "2:4").peak.notes[0]
    )


@pytest.mark.parametrize("arguments", [("fp8",), ("bf16", "2:4"), ("nonsense",), ("",)], ids=str)
def test_a_peak_that_is_not_there_is_refused(arguments: tuple[str, ...], world: World) -> None:
    world.entry("one", device_names="[ONE]")
    with pytest.raises(FlopbookError, match=r"acme/one has no .* peak; it has: bf16 dense"):
        peak("ONE", *arguments)


WORDS = ("ACME", "H1", "A1", "G1", "80GB", "40GB", "HBM3", "PCIe", "SXM4", "-", "NVIDIA")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(st.text(max_size=30) | st.lists(st.sampled_from(WORDS)).map(" ".join))
def test_any_name_gives_a_peak_of_the_data_or_a_refusal(devices: World, name: str) -> None:
    try:
        found = device_peak(name)
    except FlopbookError as error:
        assert str(error).isprintable()
    else:
        assert found.peak.value / 1e12 in {100, *(rate for _, rate in RATES.values())}
        # Nothing that was asked for is ignored: every word of the name is one of the product's
        # names.
        said = {
            *plain(" ".join((found.chip.id, *found.chip.entry.device_names)))
            .replace("/", " ")
            .split()
        }
        assert {*plain(name).replace("/", " ").split()} <= said | {"one"}


def test_every_device_name_in_the_data_answers() -> None:
    """With its part of the chip's peak: as many devices make the chip."""
    for name in entry_ids():
        one = load_entry(name)
        for device in one.device_names:
            try:
                expected = chip(name).peak("bf16")
            except FlopbookError:
                continue
            found = device_peak(device)
            assert found.chip.id == name and found.peak.value * found.devices == pytest.approx(
                expected, rel=1e-15
            )


def test_published_rates() -> None:
    """nvidia2022hopper, Table 1: 989.4 dense bf16; amd2026mi300x: 1307.4."""
    assert flopbook.peak("NVIDIA H100 80GB HBM3", "bf16") == 989.4e12
    assert flopbook.peak("NVIDIA H100 80GB HBM3", "fp8", "dense") == 1978.9e12
    assert flopbook.peak("AMD Instinct MI300X") == 1307.4e12


def test_asking_loads_nothing_heavy() -> None:
    """A trainer asks at its start: no bibliography, no calculators, no arrays."""
    code = (
        "import sys, flopbook; flopbook.peak('NVIDIA H100 80GB HBM3');"
        "heavy = {'numpy', 'pybtex', 'flopbook.data.references', 'flopbook.evaluation.calculator', "
        "'flopbook.formulas.declaration', 'argparse'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
