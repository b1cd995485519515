"""A form whose state does not fit names the largest batch that does, as the command does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flopbook.evaluation.answers import answer
from flopbook.evaluation.calculator import calculate
from flopbook.evaluation.fit import names_batch
from flopbook.formulas import get_formula, printed
from scripts.website.build.content import DOCS
from scripts.website.build.typesetting import typeset
from scripts.website.build.weigh import served
from scripts.website.pages import form_values, packing
from scripts.website.pages.form_state import state_query
from scripts.website.pages.forms import form_markup, script
from tests.support.cases import every

NAMES = ("decode", "prefill", "serving")
FOLDER = "assets/flopbook"
# The state of a link, in a page that holds nothing but the form.
_LINE = """async ([base, markup, query]) => {
  history.replaceState(null, '', location.pathname + query);
  document.body.innerHTML = markup;
  const {startForms} = await import(base + 'assets/flopbook/start.js');
  const host = document.querySelector('.fb-calculator');
  await startForms([host]);
  return document.querySelector('.fb-answer').querySelector('.fb-open.fb-wrong')?.textContent ?? '';
}"""


def test_three_calculators_name_a_batch() -> None:
    assert sorted(f.id for f in printed().values() if names_batch(f)) == sorted(NAMES)
    assert "_largest" not in script(get_formula("memory"))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a folder with the scripts of the site and what these three forms ask for."""
    root = tmp_path_factory.mktemp("forms")
    folder = root / FOLDER
    for path in (DOCS / FOLDER).rglob("*.js"):
        copy = folder / path.relative_to(DOCS / FOLDER)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    record = form_values.picker_record()
    common = {name: record[name] for name in form_values.COMMON}
    _keep(folder / "data.json", common | form_values.units_record())
    for name in NAMES:
        formula = get_formula(name)
        (folder / f"formulas/{name}.js").write_text(script(formula), encoding="utf-8")
        lent = form_values.lent_record(formula, record)
        first, further = packing.parted(lent, formula.examples[0])
        _keep(folder / f"values/{name}.json", first)
        _keep(folder / f"values/{name}-rest.json", further)
    (root / "404.html").write_text("", encoding="utf-8")
    (root / "index.html").write_text("<!doctype html><title>forms</title>", encoding="utf-8")
    with served(root) as address:
        yield address


def _keep(path: Path, content: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


STATES: dict[str, dict[str, str]] = {
    "cut by TP": {"model": "llama-3-70b", "chip": "nvidia/h100-sxm", "tp": "2", "seq": "8192"},
    "spread experts": {
        **{"model": "deepseek-v3", "chip": "nvidia/gb200-gpu", "dtype": "fp8"},
        **{"ep": "8", "dp": "8", "seq": "4096"},
    },
    "by chips": {"model": "llama-3-8b", "chip": "nvidia/l40s", "chips": "2", "seq": "32768"},
    "a part of the memory": {
        **{"model": "gemma-3-27b", "chip": "nvidia/h200-sxm", "seq": "16384"},
        **{"memory_share": "0.9"},
    },
    "no room for weights": {"model": "llama-3-405b", "chip": "nvidia/h100-sxm", "seq": "1024"},
}


@pytest.mark.browser
@every("name", NAMES)
def test_the_form_says_what_the_command_says(name: str, base: str, surf: Any) -> None:
    formula = get_formula(name)
    markup = str(form_markup(formula))
    for case, state in STATES.items():
        asked = {**state, "batch": "8192"}

        def read(context: Any, query: str = state_query(formula, asked)) -> str:
            tab = context.new_page()
            tab.goto(base)
            return str(tab.evaluate(_LINE, [base, markup, query]))

        result = calculate(name, **asked)
        assert result.fit is not None and not result.fit.fits, case
        first = answer(result).splitlines()[0].split("; with ")[0]
        assert surf(read) == typeset(first[0].upper() + first[1:]), case
        has_room = case != "no room for weights"
        assert ("largest batch" in first) == has_room and bool(result.fit.largest_batch) == has_room
