"""What the menu calls notebooks, and numbers of the first page as the page behind them has them."""

from __future__ import annotations

import re

from flopbook.formulas import CATALOGUE, get_formula
from scripts.website.build.handbook import chapters
from scripts.website.build.nav import LEARN, PRACTICALS, filled
from scripts.website.pages import errata
from scripts.website.pages.home import holdings


def _notebooks() -> dict[str, str]:
    (learn,) = filled([{LEARN: []}])
    (practicals,) = (entry for entry in learn[LEARN] if PRACTICALS in entry)
    named = (entry for entry in practicals[PRACTICALS] if isinstance(entry, dict))
    return {path: title for entry in named for title, path in entry.items()}


def test_a_notebook_is_called_what_its_heading_says() -> None:
    """Not by its file: Torch experts is what nobody calls an expert all-to-all in PyTorch."""
    names = _notebooks()
    assert names["notebooks/torch-ring-attention.ipynb"] == "Ring attention by hand in PyTorch"
    assert names["notebooks/llama-3.ipynb"] == "Training Llama 3 on TPUs"
    assert names["notebooks/fsdp-limit.ipynb"] == "FSDP limit, plotted"
    assert len(set(names.values())) == len(names) > 15
    assert all("?" not in name and len(name) < 60 for name in names.values()), names


def test_a_notebook_has_no_name_of_a_calculator_or_a_chapter() -> None:
    """A page has its name in the menu for its title, and no two pages have one title."""
    others = {get_formula(name).title for name in CATALOGUE} | {one.title for one in chapters()}
    assert others.isdisjoint(_notebooks().values())


def test_the_claims_that_the_first_page_counts_are_those_of_the_errata() -> None:
    """It said 353, and the page behind it 323: those of tools stand on a page of their own."""
    counted = len(errata.recomputed())
    assert f">{counted:,}</" in str(holdings()) or f"{counted:,}" in str(holdings())
    told = re.search(
        r"(\d+) so far\. Of (\d+) in papers, .*?, (\d+) do not hold .* other (\d+) are",
        errata.errata_page(),
    )
    assert told
    total, in_print, wrong, in_tools = map(int, told.groups())
    assert total == counted == in_print + in_tools and wrong < in_print
