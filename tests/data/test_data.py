"""The real data: sound, with the published values that readers look for, and no known error ever
chosen.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from flopbook.checks.lint import lint
from flopbook.data.library import (
    entry,
    entry_ids,
    load_entry,
    load_model,
    model_ids,
    references,
    topics,
    vendor,
    vendor_ids,
)
from flopbook.errors import FlopbookError
from flopbook.hardware.chip import Chip, chip
from flopbook.hardware.choice import choose
from flopbook.hardware.parts import packages, totals
from tests.support.cases import every

CHIPS = [name for name in entry_ids() if load_entry(name).computes]
WHOLES = [name for name in entry_ids() if load_entry(name).contains]


def test_the_check_of_all_data_finds_nothing() -> None:
    assert [str(problem) for problem in lint()] == []


@every("name", entry_ids())
def test_known_errors_are_never_chosen(name: str) -> None:
    """A value that is known to be wrong stays on record, says why, and is shown nowhere as the
    value.
    """
    claims = load_entry(name).claims
    wrong = [claim for claim in claims if claim.known_error]
    for claim in wrong:
        assert claim.note
        for group in ([claim], [c for c in claims if c.field == claim.field], claims):
            assert choose(group) not in wrong


def test_there_are_known_errors_to_guard_against() -> None:
    assert sum(claim.known_error for name in entry_ids() for claim in load_entry(name).claims) >= 5


@every("name", CHIPS)
@every("ask", [Chip.peak, Chip.memory, Chip.memory_bandwidth, Chip.scaleup_bandwidth, Chip.power])
def test_a_chip_has_a_value_or_says_that_there_is_none(
    name: str, ask: Callable[[Chip], float]
) -> None:
    """The five that calculators need: a positive number, or one line that says what is missing of
    which chip.
    """
    try:
        assert ask(chip(name)) > 0
    except FlopbookError as error:
        assert name in str(error) and "\n" not in str(error)


def test_what_is_sold_for_training_can_be_calculated_with() -> None:
    """Chips with a dense bf16 peak and HBM are what most readers ask for: most of them have all
    five values.
    """
    ready = [name for name in CHIPS if _complete(chip(name))]
    assert len(ready) >= 35
    assert {"nvidia/h100-sxm", "nvidia/b200", "amd/mi300x", "google/tpu-v5p"} <= set(ready)


def _complete(one: Chip) -> bool:
    try:
        return (
            min(
                one.peak(),
                one.memory(),
                one.memory_bandwidth(),
                one.scaleup_bandwidth(),
                one.power(),
            )
            > 0
        )
    except FlopbookError:
        return False


@every("name", WHOLES)
def test_a_total_is_count_times_the_chosen_value_of_the_chip(name: str) -> None:
    system = chip(name)
    for total in totals(system.entry):
        chip_id, field = total.derived_from.split(" ")
        count = packages(system.entry)[chip_id]
        assert total.basis == "derived" and field == total.field
        peers = [
            c for c in load_entry(chip_id).claims if c.value is not None and c.unit == total.unit
        ]
        assert any(c.value * count == total.value and c.source == total.source for c in peers)


@pytest.mark.parametrize(
    ("name", "part", "count"),
    [
        ("nvidia/dgx-h100", "nvidia/h100-sxm", 8),
        ("nvidia/gb200-nvl72", "nvidia/gb200-gpu", 72),
        ("google/tpu-v5e-pod", "google/tpu-v5e", 256),
        ("google/tpu-v5p-pod", "google/tpu-v5p", 8960),
        ("google/tpu-v6e-pod", "google/tpu-v6e", 256),
    ],
)
def test_how_many_chips_are_in_a_system(name: str, part: str, count: int) -> None:
    """DGX H100: 8 GPUs (nvidia2022hopper); NVL72: 72 GPUs (nvidia2026gb200nvl72); pods of 256 v5e
    and v6e and of 8,960 v5p chips (google2026v5e, google2026v6e, google2026v5p).
    """
    assert packages(load_entry(name)) == {part: count}


def test_h100_sparse_and_dense_both_stand() -> None:
    """nvidia2022hopper, Table 1: "Peak BF16 Tensor Core 989.4 TFLOPS | 1978.9 TFLOPS" (the second
    with sparsity); nvidia2026h100 prints "BFLOAT16 Tensor Core * 1,979 teraFLOPS", footnote "* With
    sparsity".
    """
    h100 = chip("nvidia/h100-sxm")
    assert h100.peak("bf16") == 989.4e12
    assert h100.peak("bf16", "2:4") == pytest.approx(1979e12, rel=1e-3)
    sparse = [c for c in h100.claims("peak", dtype="bf16", engine="tensor") if c.value == 1979]
    assert [(c.sparsity, c.source) for c in sparse] == [("2:4", "nvidia2026h100")]
    assert not [
        c for c in h100.claims("peak", dtype="bf16", sparsity="dense") if c.si_value > 1000e12
    ]


@pytest.mark.parametrize(
    ("name", "peak", "memory", "bandwidth", "link"),
    [
        ("nvidia/a100-sxm-80gb", 312e12, 80e9, 2.039e12, 300e9),
        ("nvidia/h100-sxm", 989.4e12, 80e9, 3.35e12, 450e9),
        ("nvidia/h200-sxm", 989.5e12, 141e9, 4.8e12, 450e9),
        ("amd/mi300x", 1307.4e12, 192e9, 5.3e12, 448e9),
        ("google/tpu-v5e", 197e12, 16 * 2**30, 819e9, 200e9),
        ("google/tpu-v5p", 459e12, 95 * 2**30, 2765e9, 600e9),
        ("google/tpu-v6e", 918e12, 32 * 2**30, 1638e9, 400e9),
    ],
)
def test_published_values(
    name: str, peak: float, memory: float, bandwidth: float, link: float
) -> None:
    """Dense bf16, memory, its bandwidth and the one-way scale-up bandwidth of a chip, as printed by
    nvidia2026a100 ("312 TFLOPS | 624 TFLOPS*", "2,039 GB/s"), nvidia2022hopper ("600 GB/sec total",
    "900 GB/sec total"), nvidia2026h100 ("3.35TB/s"), nvidia2026h200 ("4.8TB/s", sparse 1,979
    halved), amd2026mi300x ("1307.4 TFLOPS", "192 GB", "5.3 TB/s"), amd2023mi300xplatform
    ("bidirectional ... 896 GB/s"), google2026v5e ("819 GBps", "400 GBps" both ways),
    google2026v5ebinary ("16 GiB"), google2026v5p ("95" GiB, "1200" both ways), google2026v5ptable
    ("2765"), google2026tpu7x ("32" GiB of v6e), google2026v6e ("1638 GBps", "800 GBps" both ways),
    and bekman2026accelerator for the dense rates of TPUs, of which Google's pages do not say
    whether they are dense.
    """
    device = chip(name)
    assert (device.peak("bf16"), device.memory(), device.memory_bandwidth()) == pytest.approx(
        (peak, memory, bandwidth), rel=1e-12
    )
    assert device.scaleup_bandwidth() == link


def test_totals_agree_with_what_vendors_print() -> None:
    """google2026v6e: "BF16 peak compute per Pod | 234.9 PFLOPs"; nvidia2022hopper: "640 GB per DGX
    H100 Node"; nvidia2026gb200nvl72: "13.4 TB HBM3E | 576 TB/s".
    """
    assert chip("google/tpu-v6e-pod").total("peak", "bf16") == pytest.approx(234.9e15, rel=1e-3)
    assert chip("nvidia/dgx-h100").total("memory") == 640e9
    assert chip("nvidia/gb200-nvl72").total("memory") == pytest.approx(13.4e12, rel=1e-3)
    assert chip("nvidia/gb200-nvl72").total("memory_bandwidth") == 576e12


def test_the_tensor_clock_of_the_h100_gives_its_peak() -> None:
    """nvidia2022hopper, Table 3: 1,830 MHz x 528 tensor cores x 512 multiply-adds x 2 is 989.4
    TFLOP/s.
    """
    clocks = {c.name: c.si_value for c in chip("nvidia/h100-sxm").claims("clock")}
    assert clocks["tensor"] * 528 * 512 * 2 == pytest.approx(
        chip("nvidia/h100-sxm").peak("bf16"), rel=1e-3
    )
    assert abs(clocks["boost"] * 528 * 512 * 2 / chip("nvidia/h100-sxm").peak("bf16") - 1) > 0.05


@every("name", entry_ids())
def test_every_name_of_an_entry_finds_it(name: str) -> None:
    one = load_entry(name)
    for spelling in (
        name,
        name.upper(),
        f" {name} ",
        *one.device_names,
        *(f"{one.vendor}/{alias}" for alias in one.aliases),
    ):
        assert entry(spelling).id == name


def test_everything_belongs_somewhere() -> None:
    """Every entry's vendor is described, every model has its size, every reference stands on a
    topic of the tree.
    """
    assert {name.partition("/")[0] for name in entry_ids()} <= set(vendor_ids())
    assert all(vendor(name).website.startswith("https://") for name in vendor_ids())
    assert all(any(c.field == "params" for c in load_model(name).claims) for name in model_ids())
    tree = {topic.id for top in topics() for topic in top.walk()}
    assert all(work.topics and set(work.topics) <= tree for work in references().values())


def test_the_first_entries_are_there() -> None:
    first = (
        "nvidia/a100-sxm-80gb nvidia/h100-sxm nvidia/h200-sxm nvidia/b200 nvidia/gb200-nvl72 "
        "nvidia/dgx-h100"
    )
    further = "google/tpu-v5e google/tpu-v5p google/tpu-v6e google/tpu-v6e-pod amd/mi300x"
    assert {*first.split(), *further.split()} <= set(entry_ids())
