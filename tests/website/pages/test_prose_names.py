"""What chapters call in prose beside chips and calculators.

Stated values, number formats, figures, exercises.
"""

from __future__ import annotations

import pytest

from flopbook.quantities.dtypes import RULES
from scripts.website.pages.prose import ProseError, render

PAGE = "handbook/page.md"


def shown(text: str) -> str:
    return render(text, PAGE, f"docs/{PAGE}")


def test_a_stated_value_prints_with_its_unit_and_leads_to_its_claim() -> None:
    text = shown('{{ stated("slides-gpt3-pf-days") }}')
    address = "../../errata/slides2025scaling/#slides-gpt3-pf-days"
    assert "6,064 PF-days" in text and f'href="{address}"' in text


def test_a_stated_count_is_a_bare_number_that_can_be_computed_with() -> None:
    """The unit of a count stands in the sentence."""
    assert ">6<" in shown('{{ stated("sevilla-doubling-deep") }}')
    assert shown('{{ (2 ** (12 / stated("sevilla-doubling-deep"))) | unit("1") }}') == "4"


def test_a_claim_without_a_number_is_refused() -> None:
    with pytest.raises(ProseError, match="states no number"):
        shown('{{ stated("slides-intensity-unit") }}')
    with pytest.raises(ProseError):
        shown('{{ stated("slides-no-such-claim") }}')


def test_the_rule_of_formats_is_a_table_with_a_row_for_each() -> None:
    lines = shown("{{ format_rules() }}").splitlines()
    assert len(lines) == 2 + len(RULES)
    assert "| `int4` | int4 | bf16 | bf16 | bf16 | bf16 | bf16 | fp32 | bf16 | 0.5 |" in lines


def test_number_formats_lend_their_bits() -> None:
    assert (
        shown('{{ fmt("fp8 E4M3").largest | unit("1") }} {{ fmt("bf16").bytes | unit("1") }}')
        == "448 2"
    )
    with pytest.raises(ProseError, match="bf16"):
        shown('{{ fmt("bf61").bytes | unit("1") }}')


def test_an_unknown_figure_stops_the_build_at_its_line() -> None:
    with pytest.raises(ProseError, match=r"page\.md:3:1: prose: .*number-formats"):
        shown('\n\n{{ figure("number-format") }}')


def test_exercises_count_from_one_on_every_page() -> None:
    for _ in range(2):
        assert "Exercise 1<" in shown('{{ exercise("easy") }}') and "Exercise 2<" in shown(
            '{{ exercise("easy") }}' * 2
        )


@pytest.mark.parametrize(
    "expression",
    ["['<b>']", "{'<b>': 1}", "('<b>', 'a')", "'<b>'", "'a' ~ '<b>'"],
)
def test_whatever_is_printed_begins_no_element(expression: str) -> None:
    """Of texts in a list, none was looked at."""
    printed = shown(f"{{{{ {expression} }}}}")
    assert "<" not in printed and "b>" in printed


@pytest.mark.parametrize("end", ["\\n", "\\r", "\\x0b", "\\x1c", "\\u2028", "\\r\\n"])
def test_a_text_that_is_printed_has_no_lines(end: str) -> None:
    """Markdown would begin a block behind any of them."""
    assert shown(f"{{{{ 'a{end} # b' }}}}") == "a # b"
