"""The cheat sheet: one page of formulas, chips, number formats and units, from code and data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.evaluation.terms import term_of
from flopbook.faces.special_cases import folded, inputs_of, special
from flopbook.formulas import get_formula
from flopbook.hardware.chip import Chip, chip
from flopbook.quantities.number_formats import FORMATS, Format
from flopbook.quantities.units import PREFIXES, format_quantity, unit
from scripts.website.markup import (
    Html,
    Markdown,
    attribute,
    front_matter,
    link,
    maths,
    page_text,
    tag,
)
from scripts.website.pages.accelerators import entry_page
from scripts.website.pages.calculators import calculator_page
from scripts.website.pages.equations import FAILURES, MEANS, POWER, SECTIONS, Shown
from scripts.website.pages.sources import html_link, stylesheet

PAGE = "cheat-sheet.md"
STYLE = "assets/flopbook/sheet.css"
CHIPS = (
    "nvidia/a100-sxm-80gb",
    "nvidia/h100-sxm",
    "nvidia/h200-sxm",
    "nvidia/b200",
    "amd/mi300x",
    "amd/mi355x",
    "google/tpu-v5p",
    "google/tpu-v6e",
    "google/tpu-v7x",
    "aws/trainium2",
)
CHIP_HEADS = (
    *("Chip", "bf16", "fp8", "Memory", "Bandwidth", "Ridge, FLOP/byte", "Scale-up, one way"),
    *("Domain", "Power"),
)
# The bytes of a parameter do not depend on the shape of the model, so any small one will do.
ZERO_CHIPS, ZERO_PARAMS = 8, 1e9
ZERO_SHAPE = {
    "layers": 16,
    "d_model": 2048,
    "d_ff": 8192,
    "heads": 16,
    "vocab": 32000,
    "seq": 1024,
    "micro_batch": 1,
}


def sheet_page() -> str:
    """The page: sections of equations in columns, then three tables."""
    words = "The formulas that matter, ten chips, number formats and units on one printed page."
    blocks = [
        front_matter("Cheat sheet", words, toc=False),
        Markdown("# Cheat sheet\n"),
        stylesheet(PAGE, STYLE),
        Html('<div class="fb-sheet">'),
        *(
            _section(title, [*map(_equations, shown), _letters(shown)])
            for title, shown in SECTIONS.items()
        ),
        _section(
            "Reliability and power",
            [_equations(FAILURES), _equations(POWER), _letters((FAILURES, POWER))],
        ),
        _section("Memory of training", [_zero()]),
        _section("Number formats", [_formats()]),
        _section("Units", [_units()]),
        _section("Chips", [_table(CHIP_HEADS, map(_chip_row, map(chip, CHIPS)))], "fb-across"),
        Html("</div>\n"),
    ]
    return page_text(blocks)


def _section(title: str, blocks: Iterable[Html], kind: str = "") -> Html:
    return tag("section", tag("h2", title) + Html().join(blocks), kind)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Html:
    """A table in the little room of the sheet; an empty head is no heading for a screen reader."""
    heads = (
        Html('<th scope="col">{}</th>').format(cell) if cell else Html("<td></td>") for cell in head
    )
    lines = []
    for first, *cells in rows:
        body = Html().join(
            Html('<td data-label="{}">{}</td>').format(attribute(label), cell)
            for label, cell in zip(head[1:], cells, strict=True)
        )
        lines.append(Html('<tr><th scope="row">{}</th>{}</tr>').format(first, body))
    return Html("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(
        Html().join(heads), Html().join(lines)
    )


# Equations.


def _equation(latex: str, words: str, href: str) -> Html:
    return Html("<p>{} {}</p>").format(maths(latex), link(words, href))


def _equations(shown: Shown) -> Html:
    latex = special(get_formula(shown.calculator), shown.names, shown.given, shown.inline)
    href = html_link(PAGE, calculator_page(shown.calculator))
    return Html().join(_equation(latex[name], words, href) for name, words in shown.names.items())


def _letters(section: Iterable[Shown]) -> Html:
    """What the letters of these equations mean, linked to the glossary.

    Letters of one meaning stand together.
    """
    meanings: dict[str, Html] = {}
    for shown in section:
        for symbol, meaning in _meanings(shown):
            meanings.setdefault(symbol, meaning)
    symbols: dict[Html, list[Html]] = {}
    for symbol, meaning in meanings.items():
        symbols.setdefault(meaning, []).append(maths(symbol))
    groups = (
        Html("{} {}").format(Html(", ").join(same), meaning) for meaning, same in symbols.items()
    )
    return tag("p", Html("; ").join(groups), "fb-letters")


def _meanings(shown: Shown) -> Iterator[tuple[str, Html]]:
    """Symbol and meaning of every input in some equations of a calculator."""
    formula = get_formula(shown.calculator)
    expressions = folded(formula, shown.given, shown.inline)
    inputs: dict[str, None] = {}  # a set that keeps its order
    for output in shown.names:
        inputs |= dict.fromkeys(inputs_of(formula, expressions[output]))
    for name in inputs:
        spec = formula.inputs[name]
        term = term_of(name, spec)
        if term:
            words = MEANS.get(f"{shown.calculator}.{name}", MEANS.get(name, term.term))
            yield spec.symbol, link(words, html_link(PAGE, f"glossary.md#{term.id}"))


# Tables.


def _zero() -> Html:
    """Bytes for each parameter by ZeRO stage: mixed precision with Adam on eight chips."""
    words = f"Bytes for each parameter on one of {ZERO_CHIPS} chips, bf16 with Adam"
    head = ("", "weights", "gradients", "optimizer", "all")
    return tag("p", words) + _table(head, map(_zero_row, range(4)))


def _zero_row(stage: int) -> list[str]:
    memory = calculate("memory", params=ZERO_PARAMS, dp=ZERO_CHIPS, zero=stage, **ZERO_SHAPE)
    shares = [memory[name] / ZERO_PARAMS for name in ("weights", "gradients", "optimizer")]
    title = f"ZeRO-{stage}" if stage else "copies"
    return [title, *(f"{share:g}" for share in (*shares, sum(shares)))]


def _formats() -> Html:
    words = Html("<p>Bits: sign, exponent, fraction. After 1: the step to the next number.</p>")
    head = ("Format", "Bits", "Bytes", "Largest", "After 1")
    return words + _table(head, map(_format_row, FORMATS))


def _format_row(number_format: Format) -> tuple[str, ...]:
    bits = (
        number_format.sign,
        number_format.exponent,
        number_format.fraction or number_format.whole,  # an integer has no fraction
    )
    return (
        number_format.name,
        Html("+").join(map(str, bits)),
        f"{number_format.bytes:g}",
        Html("{:.5g}").format(number_format.largest),
        f"{number_format.step:.2g}",
    )


def _units() -> Html:
    prefixes = Html(", ").join(
        Html("{} {}").format(name, maths(_power(PREFIXES[name])))
        for name in ("k", "M", "G", "T", "P", "E")
    )
    # From the table of units, so that the sheet cannot differ from the calculators.
    gib = unit("GiB").factor / unit("GB").factor
    bits = unit("byte").factor / unit("bit").factor
    one_flop = calculate("training-flops", params=1, tokens=1)
    pf_day = format_quantity(one_flop["flop"] / one_flop["pf_days"], "FLOP")
    lines = (
        prefixes,
        Html("GiB = {:.4g} GB; byte = {:g} bit").format(gib, bits),
        Html("FLOP counts, FLOP/s is a rate; PF-day = {}").format(pf_day),
        Html("Links are one way, peaks dense, bandwidths decimal"),
    )
    return Html().join(tag("p", line) for line in lines)


def _power(factor: float) -> str:
    return f"10^{{{round(math.log10(factor))}}}"


def _chip_row(accelerator: Chip) -> tuple[str, ...]:
    domain = accelerator.pick_scaleup_domain()
    ridge = calculate("ridge-point", chip=accelerator.id)["flop_per_byte"]
    return (
        link(accelerator.name, html_link(PAGE, entry_page(accelerator.id))),
        format_quantity(accelerator.peak("bf16"), "FLOP/s"),
        _fp8_peak(accelerator),
        accelerator.pick_memory().words,
        format_quantity(accelerator.memory_bandwidth(), "byte/s"),
        f"{ridge:.0f}",
        format_quantity(accelerator.scaleup_bandwidth(), "byte/s"),
        f"{domain.value:,.0f}" if domain else "",
        format_quantity(accelerator.power(), "W"),
    )


def _fp8_peak(accelerator: Chip) -> str:
    try:
        return format_quantity(accelerator.peak("fp8"), "FLOP/s")
    except FlopbookError:  # the chip has no such peak
        return "none"
