"""Hand-written prose with numbers that are computed: Jinja expressions over data and formulas.

`{{ chip("h100-sxm").peak("bf16") }}` prints the value with its unit, linked to where it comes from.
A bare number that a template computes must say its unit (`| unit("token")`), and an unknown name
stops the build with file and line.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from jinja2 import StrictUndefined, TemplateError, Undefined
from jinja2.exceptions import TemplateSyntaxError
from jinja2.sandbox import SandboxedEnvironment

from flopbook.architectures.shape import shape
from flopbook.data.library import load_entry
from flopbook.drawing.markup import link
from flopbook.drawing.rooflines import roofline_svg
from flopbook.errors import FlopbookError, Problem
from flopbook.evaluation.answers import said
from flopbook.evaluation.calculator import Result, calculate
from flopbook.formulas.reliability import HERD, best_interval, between_failures, lost_share
from flopbook.hardware.chip import Chip, chip
from flopbook.kernels import tiles
from flopbook.ledger.rows import ledger_row
from flopbook.quantities.number_formats import number_format
from flopbook.quantities.units import UnitError, parse_quantity, unit
from scripts.website.figures import figure_markup, origin
from scripts.website.pages.accelerators import entry_page
from scripts.website.pages.calculators import calculator_page
from scripts.website.pages.chapter import exercise_heads
from scripts.website.pages.errata import claim_page, claim_words
from scripts.website.pages.landscape import Landscape
from scripts.website.pages.number import Number
from scripts.website.pages.sources import cite, html_link


class ProseError(FlopbookError):
    """A page of prose names something that does not exist; carries the place."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(str(problem))


class _Chip:
    """A chip in prose: prints its name, and its values as Numbers."""

    def __init__(self, item: Chip, page: str) -> None:
        self._chip, self._href = item, html_link(page, entry_page(item.id))

    def __str__(self) -> str:
        return link(self._chip.name, self._href)

    def peak(self, dtype: str = "bf16", sparsity: str = "dense", engine: str = "tensor") -> Number:
        return Number(self._chip.peak(dtype, sparsity, engine), "FLOP/s", self._href)

    def memory(self) -> Number:
        return Number(self._chip.memory(), "byte", self._href)

    def memory_bandwidth(self) -> Number:
        return Number(self._chip.memory_bandwidth(), "byte/s", self._href)

    def scaleup_bandwidth(self) -> Number:
        return Number(self._chip.scaleup_bandwidth(), "byte/s", self._href)

    def power(self) -> Number:
        return Number(self._chip.power(), "W", self._href)

    def total(self, field: str, dtype: str | None = None, sparsity: str = "dense") -> Number:
        units = {"peak": "FLOP/s", "memory": "byte"}
        return Number(
            self._chip.total(field, dtype, sparsity), units.get(field, "byte/s"), self._href
        )


class _Model:
    """A model in prose."""

    def __init__(self, name: str, page: str) -> None:
        self._shape, self._href = shape(name), html_link(page, f"models.md#{shape(name).id}")

    def __str__(self) -> str:
        return link(self._shape.model.name, self._href)

    def __getattr__(self, field: str) -> Number:
        picked = self._shape.pick(field)
        return Number(picked.value, picked.unit or "1", self._href)


class _Answer:
    """A calculator's answer in prose: prints its first output; the others by name."""

    def __init__(self, result: Result, page: str) -> None:
        self._result, self._href = result, html_link(page, calculator_page(result.formula.id))

    def __getitem__(self, name: str) -> Number | str:
        if self._result.get(name) is None:
            raise FlopbookError(f"{self._result.formula.id} leaves {name} open here")
        value, unit = self._result[name], self._result.formula.outputs[name].unit
        return (
            said(value, unit)
            if isinstance(value, (str, tuple))
            else Number(value, unit, self._href)
        )

    def __str__(self) -> str:
        return str(self[next(iter(self._result))])

    def __float__(self) -> float:
        return float(self[next(iter(self._result))])


def render(
    text: str, page: str, file: str, extra: dict[str, Any] | None = None, first_line: int = 1
) -> str:
    """Fill the expressions of a page of prose. `page` is its content path, `file` the name that
    errors show.

    `first_line` is the line of the file on which the text begins. Raises ProseError with file and
    line.
    """
    environment = SandboxedEnvironment(
        undefined=StrictUndefined, autoescape=False, finalize=_printable, keep_trailing_newline=True
    )
    environment.filters["unit"] = lambda value, name: Number(float(value), name)
    environment.globals = {**_names(page), **(extra or {})}
    try:
        return environment.from_string(text).render()
    except TemplateSyntaxError as error:
        raise ProseError(
            _problem(file, first_line - 1 + error.lineno, error.message or "syntax")
        ) from None
    except (
        FlopbookError,
        UnitError,
        TemplateError,
        TypeError,
        ValueError,
        ZeroDivisionError,
    ) as error:
        raise ProseError(_problem(file, first_line - 1 + _template_line(), str(error))) from None


def _names(page: str) -> dict[str, Any]:
    return {
        "chip": lambda name: _Chip(chip(name), page),
        "model": lambda name: _Model(name, page),
        "calc": lambda name, **options: _Answer(
            calculate(name, **{k: _plain(v) for k, v in options.items()}), page
        ),
        "cite": lambda key: cite(key, page),
        "claim": lambda key: link(
            claim_words(ledger_row(key)), html_link(page, claim_page(ledger_row(key)))
        ),
        "stated": lambda key: _stated(key, page),
        "fmt": number_format,
        "q": lambda text, unit: Number(parse_quantity(text, unit), unit),
        "roofline": lambda name: _roofline(name, page),
        "figure": lambda name, **options: figure_markup(name, page, **options),
        "exercise": exercise_heads(),
        "entry": load_entry,
        "landscape": Landscape(page),
        "herd": HERD,
        "between_failures": between_failures,
        "best_interval": best_interval,
        "lost_share": lost_share,
        "product_bytes": tiles.product_bytes,
        "largest_tile": tiles.largest_tile,
        "wave_share": tiles.wave_share,
        "lane_share": tiles.lane_share,
        "attention_bytes": tiles.attention_bytes,
        "score_bytes": tiles.score_bytes,
    }


def _roofline(name: str, page: str) -> str:
    """The roofline of a chip, with the code and the call in its caption as under every figure."""
    return roofline_svg(chip(name), origin("rooflines", page, f"roofline({json.dumps(name)})"))


def _stated(key: str, page: str) -> Number:
    """The number that a claim of the ledger states, linked to the claim."""
    row = ledger_row(key)
    value = row.stated.si_value
    if value is None:
        raise FlopbookError(f"the claim {key} states no number")
    si = unit(row.stated.unit or "1").si
    return Number(value, "1" if si == "count" else si, html_link(page, claim_page(row)))


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, (Number, _Answer)) else value


def _printable(value: Any) -> Any:
    """Refuse a bare number: a number without unit and origin does not belong in prose."""
    if isinstance(value, Undefined):
        return value
    if isinstance(value, float) and not isinstance(value, Number):
        raise FlopbookError(f"a number without unit ({value:g}); write | unit('token') or the like")
    return str(value) if isinstance(value, (Number, _Chip, _Model, _Answer)) else value


def _template_line() -> int:
    """The line of the template in which the current exception arose; Jinja rewrites its traceback
    to template lines.
    """
    line, trace = 1, sys.exc_info()[2]
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _problem(file: str, line: int, found: str) -> Problem:
    return Problem(
        file, line, 1, "prose", found, "names and units that exist", "mend the expression"
    )
