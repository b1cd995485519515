"""What the forms of the calculators know.

Values of chips as the commands take them, outputs that are words.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import formulas, get_formula
from flopbook.hardware.chip import chip
from scripts.website.pages.form_values import chip_record, lent_record, picker_record
from scripts.website.pages.forms import form_markup, form_record
from scripts.website.pages.packing import NAMES, packed, parted


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
    assert "longest part is weights" in form_markup(get_formula("decode"))


def test_a_form_gets_what_its_calculator_takes_and_no_more() -> None:
    record = picker_record()
    for formula in formulas().values():
        lent = lent_record(formula, record)
        for kind, origin in (("chips", "chip"), ("models", "model")):
            fields = {getattr(spec, origin) for spec in formula.inputs.values()} - {""}
            assert (kind in lent) == bool(fields), formula.id
            kept: Any = lent.get(kind, [])
            every: Any = record[kind]
            assert [one["id"] for one in kept] == ([one["id"] for one in every] if kept else [])
            for one, whole in zip(kept, every, strict=False):
                known = {"peaks" if field == "peak" else field for field in fields}
                assert known & set(whole) <= set(one) and all(one[key] == whole[key] for key in one)
    memory: Any = lent_record(get_formula("memory"), record)
    assert all("peaks" not in chip for chip in memory["chips"])


def _unpacked(value: Any, source: Any) -> Any:
    """What packing.js makes of a field."""
    if not isinstance(value, dict):
        return {"value": value, "source": source}
    if "value" in value:
        return {"source": source, **value}
    return {name: _unpacked(one, source) for name, one in value.items()}


def test_packed_values_are_the_same_values_and_lighter() -> None:
    record = picker_record()
    for formula in formulas().values():
        lent: Any = lent_record(formula, record)
        made: Any = packed(lent)
        for kind, entries in lent.items():
            whole = [
                {
                    name: value if name in NAMES else _unpacked(value, one.get("from"))
                    for name, value in one.items()
                    if name != "from"
                }
                for one in made[kind]
            ]
            assert whole == entries, formula.id
        assert len(json.dumps(made)) <= len(json.dumps(lent)), formula.id
    assert packed(
        {"chips": [{"id": "a", "name": "A", "aliases": [], "x": {"value": 1, "source": None}}]}
    )


def test_a_page_brings_all_names_and_the_values_of_its_example() -> None:
    """Both files together are what was packed, and the first is the smaller by far."""
    record = picker_record()
    for formula in formulas().values():
        lent = lent_record(formula, record)
        if not lent:
            continue
        whole = packed(lent)
        first, rest = parted(lent, formula.examples[0])
        for kind, entries in whole.items():
            known = {entry["id"]: dict(entry) for entry in first[kind]}
            for entry in rest[kind]:
                assert set(known[entry["id"]]) == set(NAMES)
                known[entry["id"]] |= entry
            assert [*known.values()] == entries
            asked = formula.examples[0].get(kind.removesuffix("s"))
            assert not asked or len(first[kind]) - len(rest[kind]) == 1, (formula.id, kind)


def test_a_layer_more_is_what_the_command_counts() -> None:
    """A form adds layers that were typed to a count, where all layers of a model are alike."""
    models: Any = picker_record()["models"]
    by_id = {model["id"]: model for model in models}
    for name in ("llama-3-8b", "mixtral-8x7b", "deepseek-v3", "gpt-2-small"):
        own = by_id[name]
        for layers in (16, 100):
            counted = shape(name).having({"layers": layers})
            for field in ("params", "compute_params"):
                more = (layers - own["layers"]["value"]) * own[field]["layer"]
                assert own[field]["value"] + more == counted.pick(field).value
    assert "layer" not in by_id["gemma-3-27b"]["params"]
