"""The page of a calculator: how to cite it, and what its form knows of groups."""

from __future__ import annotations

import html
import re

import pytest
from pybtex.database import parse_string

import flopbook
from flopbook.data.library import references
from flopbook.formulas import formulas, get_formula
from flopbook.formulas.declaration import Group, Input, _input_of
from scripts.website.pages.calculators import calculator_markdown
from scripts.website.pages.forms import FOLDED_FROM, form_record


def blocks(name: str) -> list[str]:
    """The BibTeX under the heading Cite."""
    cite = calculator_markdown(name).partition("\n## Cite\n")[2]
    return [
        html.unescape(found)
        for found in re.findall(r'<pre class="fb-bibtex"[^>]*><code>(.*?)</code>', cite)
    ]


@pytest.mark.parametrize("name", ["min-batch", "memory", "speculative-decoding"])
def test_a_page_gives_bibtex_of_itself_and_of_its_sources(name: str) -> None:
    own, sources = (parse_string(block, "bibtex").entries for block in blocks(name))
    assert list(sources) == list(get_formula(name).sources)
    ((key, entry),) = own.items()
    assert key == f"flopbook2026{name.replace('-', '')}"
    assert entry.fields["howpublished"] == f"flopbook {flopbook.__version__}, calculator {name}"
    assert entry.fields["title"] == f"{get_formula(name).title}: a calculator"
    newest = max(source.urldate for source in references().values())
    assert entry.fields["note"].endswith(newest) and entry.fields["year"] == newest[:4]


def test_every_page_can_be_cited() -> None:
    keys = [key for name in formulas() for key in parse_string(blocks(name)[0], "bibtex").entries]
    assert len(keys) == len(set(keys)) == len(formulas())


def test_a_form_has_groups_when_it_is_long() -> None:
    for formula in formulas().values():
        groups = {one["name"]: one["group"] for one in form_record(formula)["inputs"]}
        if len(formula.inputs) < FOLDED_FROM:
            assert not any(groups.values()), formula.id
        else:
            assert groups == {name: spec.group for name, spec in formula.inputs.items()}


def test_a_group_belongs_to_the_annotation_of_an_input() -> None:
    from typing import Annotated, Any

    def made(a: float) -> dict[str, Any]:
        return {"a": a}

    spec = Input("1", "a", "a size")
    assert _input_of(made, "a", Annotated[float, spec]).group == ""
    assert _input_of(made, "a", Annotated[float, spec, Group("Sizes")]) == spec._replace(
        group="Sizes"
    )


@pytest.mark.parametrize("name", ["fsdp-limit", "serving", "sharded-matmul"])
def test_what_is_left_out_is_told_in_labels_not_in_names_of_programs(name: str) -> None:
    text = calculator_markdown(name).partition("## What it leaves out")[2].partition("\n## ")[0]
    formula = get_formula(name)
    words = set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", text))
    assert "“" in text and not words & {*formula.inputs, *formula.outputs}
