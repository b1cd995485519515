"""What the forms of the calculators know.

Values of chips as the commands take them, outputs that are words.
"""

from __future__ import annotations

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.formulas import get_formula
from flopbook.hardware.chip import chip
from scripts.website.pages.form_values import chip_record
from scripts.website.pages.forms import form_markup, form_record


@pytest.mark.parametrize("name", ["nvidia/h100-sxm", "google/tpu-v5p", "amd/mi300x"])
def test_the_form_has_memory_and_power_of_a_chip_as_the_command_takes_them(name: str) -> None:
    record = chip_record(chip(name))
    shape = {
        "params": "8B",
        "compute_params": "8B",
        "layers": 32,
        "heads": 32,
        "head_dim": 128,
        "seq": 4096,
    }
    memory = calculate("serving", chip=name, **shape).inputs["memory"]
    power = calculate("cluster-power", chip=name, chips=1, pue=1).inputs["power"]
    for key, item in (("memory", memory), ("server_power", power)):
        assert (record[key]["value"], record[key]["source"]) == (item.value, item.source)


def test_an_output_that_is_a_word_names_its_choices() -> None:
    outputs = {one["name"]: one["choices"] for one in form_record(get_formula("decode"))["outputs"]}
    assert outputs["bound"] == ["weights", "KV cache", "arithmetic"] and outputs["seconds"] == []
    assert "what takes longest is weights" in form_markup(get_formula("decode"))
