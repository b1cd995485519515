"""What a form says beside its answer, and what a link makes of it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from flopbook.data.library import entry_ids, load_head
from flopbook.evaluation.calculator import calculate
from flopbook.formulas.declaration import Formula
from scripts.website.build.typesetting import typeset
from tests.support.forming import answered, put, read, visit

pytestmark = pytest.mark.browser


NOTED: list[tuple[str, dict[str, str]]] = [
    ("min-batch", {"chip": "nvidia/h100-sxm", "sparsity": "2:4"}),
    ("min-batch", {"chip": "google/tpu-v5p", "dtype": "fp8"}),
    ("min-batch", {"chip": "nvidia/h100-sxm", "sparsity": "2:4", "peak": "1P"}),
    ("min-batch", {"chip": "nvidia/h100-sxm", "d-model": "100", "d-ff": "100"}),
    ("min-batch", {"peak": "989TFLOP/s", "bandwidth": "3.35TB/s"}),
    ("fsdp-limit", {"chip": "google/tpu-v5p"}),
    ("fsdp-limit", {"chip": "google/tpu-v5e", "axes": "1", "batch-tokens": "16M"}),
    ("fsdp-limit", {"chip": "nvidia/h100-sxm", "batch-tokens": "16k"}),
    ("fsdp-limit", {"chip": "nvidia/h100-sxm", "batch-tokens": "40M"}),
    ("fsdp-limit", {"chip": "nvidia/h200-sxm", "batch-tokens": "40M", "link-bandwidth": "50GB/s"}),
    ("fsdp-limit", {"chip": "amd/mi300x", "batch-tokens": "10"}),
    ("fsdp-limit", {"peak": "1P", "link-bandwidth": "50GB/s", "batch-tokens": "10"}),
    ("fsdp-limit", {"chip": "google/tpu-v5e", "dtype": "int8", "batch-tokens": "1T"}),
    ("fsdp-limit", {"chip": "google/tpu-v4", "batch-tokens": "100M"}),
    ("training-flops", {"model": "deepseek-v3"}),
    ("training-flops", {"model": "deepseek-v3", "params": "1B"}),
    ("training-flops", {"model": "gpt-3-175b"}),
    ("bubble", {"stages": "8", "microbatches": "32"}),
    (
        "reliability",
        {"chips": "16384", "chip-mtbf": "300days", "save": "30s", "restart": "10min"},
    ),
]


def _notes(tab: Any, _: str, state: dict[str, str]) -> list[str]:
    put(tab, state)
    assert read(tab), state
    return tab.locator(".fb-answer .fb-notes li").all_inner_texts()


_ENTRY = re.compile(r"\b[a-z0-9]+/[a-z0-9][a-z0-9.-]*[a-z0-9]")
_OF_FORMATS = re.compile(r" \(--[a-z]+-dtype(?:, --[a-z]+-dtype)*\)$")
_NAMED = re.compile(r"--([a-z][a-z-]*)|\b[a-z]+(?:_[a-z]+)+\b|^[a-z]+(?= is |:)")


def _brief(meaning: str) -> str:
    words = re.split(r"[,;:]| \(", meaning)[0]
    return f"“{words[0].upper()}{words[1:]}”"


def _spoken(formula: Formula, note: str) -> str:
    """A note of the command as a form says it: options by what they mean, chips by their names,
    and without the options that set formats, which a form lacks.
    """
    note = _OF_FORMATS.sub("", note)
    specs = {**formula.outputs, **formula.inputs}

    def meaning(found: re.Match[str]) -> str:
        spec = specs.get((found[1] or found[0]).replace("-", "_"))
        return _brief(spec.meaning) if spec else found[0]

    def name(found: re.Match[str]) -> str:
        return load_head(found[0]).name if found[0] in entry_ids() else found[0]

    return _NAMED.sub(meaning, _ENTRY.sub(name, typeset(note)))


def test_the_form_gives_the_notes_of_the_command(forms: Any) -> None:
    shown = [forms(name, _notes, state) for name, state in NOTED]
    for (name, state), seen in zip(NOTED, shown, strict=True):
        result = calculate(name, **{key.replace("-", "_"): value for key, value in state.items()})
        waits = [
            f"{output}{end}" for output in result.formula.outputs for end in (" needs ", ", ")
        ]  # shown at the result
        known = [note for note in result.notes if not note.startswith(tuple(waits))]
        assert seen == [_spoken(result.formula, note) for note in known], (name, state)
    words = str(shown)
    for part in (
        "sparse peak (2:4)",
        "does not say whether",
        "both ways",
        "2 links",
        "as one port",
        "axes of",
    ):
        assert part in words
    for part in (
        "mixture of experts",
        "no batch keeps",
        "scale-up network of",
        "smaller than one chip needs",
    ):
        assert part in words


def _linked(tab: Any, base: str, query: str) -> dict[str, Any]:
    visit(tab, base, query)
    return _found(tab)


def _found(tab: Any) -> dict[str, Any]:
    told = tab.locator(".fb-unknown")
    found = {
        "told": told.inner_text(),
        "role": told.get_attribute("role"),
        "results": read(tab),
        "state": tab.evaluate(
            "Object.fromEntries(new FormData(document.querySelector('.fb-form')))"
        ),
        "command": tab.inner_text(".fb-command"),
    }
    tab.locator(".fb-form [name]").first.dispatch_event("input", {"bubbles": True})
    return {**found, "later": told.inner_text(), "link": tab.evaluate("location.search")}


def _loaded(context: Any, base: str, name: str, query: str) -> dict[str, Any]:
    tab, errors = context.new_page(), []
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.goto(f"{base}calculators/{name}/{query}")
    answered(tab)
    return _found(tab) | {"errors": errors}


UNKNOWN = [
    ("min-batch", "?chip=foo", "chip 'foo'", {"chip": ""}),
    (
        "min-batch",
        "?dtype=bf17",
        "number format 'bf17'",
        {"dtype": "bf16", "chip": "nvidia/h100-sxm"},
    ),
    (
        "min-batch",
        "?sparsity=1:9&chip=h100-sxm",
        "sparsity '1:9'",
        {"sparsity": "dense", "chip": "nvidia/h100-sxm"},
    ),
    ("training-flops", "?model=gpt-99", "model 'gpt-99'", {"model": ""}),
    ("bubble", "?schedule=none", "pipeline schedule 'none'", {"schedule": "1f1b"}),
]


@pytest.mark.parametrize(("name", "query", "words", "state"), UNKNOWN)
def test_a_link_with_an_unknown_name_says_so(
    forms: Any, name: str, query: str, words: str, state: dict[str, str]
) -> None:
    found = forms(name, _linked, query)
    assert (
        found["told"] == f"This link asks for {words}, which this form does not have."
        and found["role"] == "status"
    )
    assert found["state"].items() >= state.items() and found["later"] == ""


# What a link leaves out comes from the first example, but never beside what would contradict it.
PARTIAL = [
    (
        "min-batch",
        "?d-model=8192&d_ff=28672",
        {"chip": "nvidia/h100-sxm", "d_model": "8192", "d_ff": "28672"},
    ),
    ("min-batch", "?chip=H100-SXM&dtype=FP8", {"chip": "nvidia/h100-sxm", "dtype": "fp8"}),
    ("min-batch", "?chip=NVIDIA/h100", {"chip": "nvidia/h100-sxm"}),
    ("min-batch", "?peak=1P", {"chip": "", "peak": "1P"}),
    ("min-batch", "?utm_source=x", {"chip": "nvidia/h100-sxm"}),
    (
        "fsdp-limit",
        "?chip=h100-sxm",
        {"chip": "nvidia/h100-sxm", "axes": "", "batch_tokens": "16M"},
    ),
    ("training-flops", "?params=70B&tokens=15T", {"model": "", "params": "70B", "tokens": "15T"}),
    ("training-flops", "?model=GPT3", {"model": "gpt-3-175b"}),
    (
        "bubble",
        "?schedule=GPipe&stages=4",
        {"schedule": "gpipe", "stages": "4", "microbatches": "32"},
    ),
]


@pytest.mark.parametrize(("name", "query", "state"), PARTIAL)
def test_a_link_with_a_part_of_the_state(
    forms: Any, name: str, query: str, state: dict[str, str]
) -> None:
    found = forms(name, _linked, query)
    assert found["told"] == "" and found["state"].items() >= state.items()


CLEARED = [
    ("min-batch", "?chip=", {"chip": ""}),
    ("fsdp-limit", "?chip=&axes=", {"chip": "", "axes": "", "batch_tokens": "16M"}),
    ("fsdp-limit", "?chip=google%2Ftpu-v5p&axes=&batch-tokens=", {"axes": "", "batch_tokens": ""}),
    ("bubble", "?stages=&microbatches=", {"stages": "", "microbatches": ""}),
]


def _twice(tab: Any, base: str, query: str) -> tuple[dict[str, Any], dict[str, Any]]:
    found = _linked(tab, base, query)
    return found, _linked(tab, base, found["link"])


@pytest.mark.parametrize(("name", "query", "state"), CLEARED)
def test_cleared_fields_stay_cleared_in_a_link(
    forms: Any, name: str, query: str, state: dict[str, str]
) -> None:
    found, again = forms(name, _twice, query)
    assert found["told"] == "" and found["state"].items() >= state.items()
    assert again["state"] == found["state"] and again["link"] == found["link"]


@pytest.mark.parametrize("query", ["?chip=%E0%A4%A", "#%E0%A4%A", "?%=%&chip=h100-sxm#%"])
def test_a_broken_link_breaks_nothing(surf: Any, base: str, query: str) -> None:
    found = surf(_loaded, base, "min-batch", query)
    assert found["errors"] == [] and found["command"].startswith("flopbook min-batch")
