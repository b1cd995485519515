"""What public sources disagree about is on record: every value, the chosen one, and why.

The cells are those of a comparison of four sources (bekman2026accelerator, mlsysim2026systems,
dbgpu2025database, epoch2025hardware) over 19 chips and 6 fields, in which they differ by more than
3 %: 32 of 97.
"""

from __future__ import annotations

import pytest

from flopbook.data.claims import Claim
from flopbook.data.library import entry_ids, load_entry
from flopbook.hardware.choice import choose

TERA, GIGA = 1e12, 1e9
FIELDS = {
    "bf16": ("peak", "bf16", TERA),
    "fp16": ("peak", "fp16", TERA),
    "fp8": ("peak", "fp8", TERA),
    "int8": ("peak", "int8", TERA),
    "mem": ("memory", "", GIGA),
    "bw": ("memory_bandwidth", "", TERA),
    "tdp": ("power", "", 1.0),
}
# chip, field, the values of the sources, and the one that is shown (None: none of them)
CELLS = (
    ("nvidia/a100-sxm-80gb", "bf16", (312, 77.97), 312),
    ("nvidia/h100-sxm", "bf16", (989.4, 267.6), 989.4),
    ("nvidia/h200-sxm", "bf16", (989.5, 267.6), 989.5),
    ("nvidia/b200", "bf16", (2250, 1191.2), 2250),
    ("nvidia/b200", "mem", (180, 90), None),
    ("nvidia/b200", "bw", (8, 4.1, 7.7), None),
    ("nvidia/b300", "bf16", (2250, 1231.8), 2250),
    ("nvidia/b300", "int8", (4500, 157.5), None),
    ("nvidia/b300", "mem", (288, 144, 270), None),
    ("nvidia/b300", "bw", (8, 4.1, 7.7), None),
    ("nvidia/b300", "tdp", (1400, 1100), 1100),
    ("nvidia/gb200-gpu", "bf16", (2500, 2250), 2500),
    ("nvidia/gb200-gpu", "fp8", (5000, 4500), 5000),
    ("nvidia/gb200-gpu", "mem", (186, 192), 186),
    ("nvidia/gb200-gpu", "tdp", (1666.67, 1200), 1200),
    ("nvidia/gb300-gpu", "int8", (5000, 165), None),
    ("amd/mi300x", "bf16", (1307.4, 653.7), 1307.4),
    ("amd/mi300x", "bw", (5.3, 10.3), 5.3),
    ("amd/mi325x", "bf16", (1307.4, 653.7), 1307.4),
    ("amd/mi325x", "mem", (256, 288), 256),
    ("amd/mi325x", "bw", (6, 10.3), 6),
    ("amd/mi355x", "bf16", (2500, 629.1), None),
    ("amd/mi355x", "fp8", (5000, 4600), None),
    ("intel/gaudi-2", "bf16", (432, 450), 432),
    ("intel/gaudi-3", "bf16", (1677, 1835), None),
    ("intel/gaudi-3", "fp8", (1677, 1835), None),
    ("google/tpu-v4", "tdp", (200, 340), None),
    ("google/tpu-v5p", "tdp", (300, 540), None),
    ("google/tpu-v6e", "tdp", (300, 380), None),
    ("aws/trainium2", "bf16", (667, 380), 667),
    ("aws/trainium2", "fp8", (1299, 760), 1299),
    ("aws/trainium2", "bw", (2.9, 2.4), 2.9),
)


def of_field(entry_id: str, field: str, *more: str) -> list[Claim]:
    """The claims of a chip that speak of a column of the comparison, in its format or in `more`."""
    name, dtype, _ = FIELDS[field]
    formats = (dtype, *more) if dtype else ("",)
    return [
        c
        for c in load_entry(entry_id).claims
        if c.field == name and c.dtype in formats and c.published
    ]


@pytest.mark.parametrize(("entry_id", "field", "values", "shown"), CELLS)
def test_every_value_that_differs_is_recorded(
    entry_id: str, field: str, values: tuple, shown: float | None
) -> None:
    claims, unit = of_field(entry_id, field), FIELDS[field][2]
    every = of_field(
        entry_id, field, *(["fp16"] if field == "bf16" else [])
    )  # one source says "half" and means fp16
    for value in values:
        near = [c for c in every if abs((c.si_value or 0) / (value * unit) - 1) <= 0.011]
        assert near, f"{value} is not on record; there are {[c.value for c in every]}"
    others = [c for c in every if c.known_error or c.conflicts_with]
    assert others and all(c.note or c.conflicts_with for c in others), (
        "no disagreement is marked and explained"
    )
    if shown is not None:
        dense = [c for c in claims if c.sparsity in ("", "dense") and c.engine in ("", "tensor")]
        best = choose(dense)
        assert best is not None and best.si_value == pytest.approx(shown * unit, rel=0.011)


def test_the_comparison_is_whole() -> None:
    assert len(CELLS) == 32 and len({cell[:2] for cell in CELLS}) == 32


# Errors seen in public sources (chip, field, value in the unit of the column); none may ever be
# chosen.
KNOWN_ERRORS = (
    ("nvidia/b300", "int8", 4500),
    ("nvidia/gb300-gpu", "int8", 5000),
    ("aws/trainium2", "bw", 4.1),
    ("aws/trainium2", "bf16", 420),
    ("amd/mi300x", "bw", 10.3),
    ("apple/m4-max", "bw", 1.092),
    ("google/tpu-v5p", "bw", 4.8),
    ("google/tpu-v6e", "fp16", 230),
    ("intel/gaudi-2", "fp8", 835),
    ("nvidia/b200", "fp8", 9000),
    ("nvidia/b300", "bf16", 3500),
    ("nvidia/gb200-gpu", "mem", 129),
    ("nvidia/gh200", "bf16", 1979),
    ("nvidia/h100-sxm", "bw", 3.072),
    ("nvidia/h100-sxm", "fp16", 267.6),
)


@pytest.mark.parametrize(("entry_id", "field", "value"), KNOWN_ERRORS)
def test_errors_of_others_are_on_record_and_never_chosen(
    entry_id: str, field: str, value: float
) -> None:
    claims, unit = (
        of_field(entry_id, field, *(["fp16"] if field == "bf16" else [])),
        FIELDS[field][2],
    )
    wrong = [
        c
        for c in claims
        if c.si_value == pytest.approx(value * unit, rel=1e-6) and c.sparsity != "2:4"
    ]
    assert wrong and all(c.known_error and c.note for c in wrong)
    assert choose(claims) not in wrong


def test_the_figures_of_the_database() -> None:
    """At least 130 entries and 1,000 claims, all with source, date and conditions, 95 % with
    quotation or place.
    """
    entries = [load_entry(name) for name in entry_ids()]
    claims = [claim for entry in entries for claim in entry.claims]
    assert len(entries) >= 130 and len(claims) >= 1000
    assert all(claim.source and claim.as_of and claim.per and claim.basis for claim in claims)
    assert sum(bool(claim.quote or claim.locator) for claim in claims) >= 0.95 * len(claims)
