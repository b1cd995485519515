"""Hand-written prose with numbers that are computed: Jinja expressions over data and formulas.

`{{ chip("h100-sxm").peak("bf16") }}` prints the value with its unit, linked to where it comes from.
A bare number that a template computes must say its unit (`| unit("token")`), and an unknown name
stops the build with file and line.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from jinja2 import TemplateError, Undefined
from jinja2.exceptions import TemplateSyntaxError
from markupsafe import Markup

from flopbook.architectures.shape import shape
from flopbook.checks.rules.elements import CODE
from flopbook.data.library import load_entry
from flopbook.errors import FlopbookError, Problem, shorten
from flopbook.evaluation.answers import counted, said
from flopbook.evaluation.calculator import Result
from flopbook.hardware.chip import chip
from flopbook.ledger.recomputation import calculated
from flopbook.ledger.rows import ledger_row
from flopbook.quantities.number_formats import number_format
from flopbook.quantities.units import UnitError, parse_quantity, unit
from scripts.website.figures import figure_markup, figure_of
from scripts.website.figures.tile_traffic import largest_tile
from scripts.website.markup import Html, attribute, harmless, link, trusted
from scripts.website.measured import compiled_block, loop_timings
from scripts.website.measured.gpu_traces import gpu_step
from scripts.website.pages.accelerators import entry_page
from scripts.website.pages.benched import benched
from scripts.website.pages.calculators import calculator_page
from scripts.website.pages.chapter import exercise_heads
from scripts.website.pages.errata import claim_page, claim_words
from scripts.website.pages.form_state import state_query
from scripts.website.pages.landscape_prose import Landscape
from scripts.website.pages.living import living
from scripts.website.pages.measured import measured_table
from scripts.website.pages.number import Number, about
from scripts.website.pages.number_formats import format_rules
from scripts.website.pages.peers import peers
from scripts.website.pages.planned import published_layouts, terminal
from scripts.website.pages.predicted import PredictedProse
from scripts.website.pages.prediction_prose import PredictionProse
from scripts.website.pages.prose_limits import ProseEnvironment, longest_expression
from scripts.website.pages.published import published
from scripts.website.pages.reached_prose import ReachedProse
from scripts.website.pages.sources import cite, html_link

# What the expressions of a page raise in words of their own.
_OF_A_PAGE = (FlopbookError, UnitError, TemplateError, ZeroDivisionError)

_LINE_ENDS = re.compile(r"\s*[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]\s*")
_TOTAL_UNITS = {"peak": "FLOP/s", "memory": "byte"}  # every other total is a rate in byte/s


class ProseError(FlopbookError):
    """A page of prose names something that does not exist; carries the place."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(str(problem))


# What templates see of chips, models and answers: every number knows its unit and its origin.
class _Chip:
    """A chip in prose: prints its name, and its values as Numbers."""

    def __init__(self, page: str, name: str) -> None:
        self._chip = chip(name)
        self._href = html_link(page, entry_page(self._chip.id))

    def __str__(self) -> str:
        return str(link(self._chip.name, self._href))

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
        si_unit = _TOTAL_UNITS.get(field, "byte/s")
        return Number(self._chip.total(field, dtype, sparsity), si_unit, self._href)


class _Model:
    """A model in prose: prints its name, and its fields as Numbers."""

    def __init__(self, page: str, name: str) -> None:
        self._shape = shape(name)
        self._href = html_link(page, f"models.md#{self._shape.id}")

    def __str__(self) -> str:
        return str(link(self._shape.model.name, self._href))

    # Fields of models are many and alike; an unknown one raises with the names that exist.
    def __getattr__(self, field: str) -> Number:
        picked = self._shape.pick(field)
        return Number(picked.value, picked.unit or "1", self._href)


class _ProseAnswer:
    """A calculator's answer in prose: prints its first output; every output by name."""

    def __init__(self, result: Result, page: str, options: Mapping[str, Any]) -> None:
        self._result = result
        form = html_link(page, calculator_page(result.formula.id))
        self._href = form + attribute(state_query(result.formula, options))

    def __getitem__(self, name: str) -> Number | str:
        answer = self._result.get(name)
        if answer is None:
            raise FlopbookError(f"{self._result.formula.id} leaves {name} open here")
        si_unit = self._result.formula.outputs[name].unit
        if isinstance(answer, (str, tuple)):
            return said(answer, si_unit)
        return Number(answer, si_unit, self._href)

    def __str__(self) -> str:
        return str(self._first())

    def __float__(self) -> float:
        return float(self._first())

    def _first(self) -> Number | str:
        return self[next(iter(self._result))]


def render(
    text: str, page: str, file: str, extra: dict[str, Any] | None = None, first_line: int = 1
) -> str:
    """Fill the expressions of a page of prose.

    `page` is its content path, `file` the name that errors show.

    `first_line` is the line of the file on which the text begins. Raises ProseError with file and
    line.
    """
    environment = ProseEnvironment(_printable)
    # Pages are Markdown: what an expression gives is escaped where it is made, not by Jinja.
    environment.filters["unit"] = _with_unit
    environment.filters["about"] = about
    environment.globals = {**_names(page), **(extra or {})}
    try:
        return environment.rendered(text)
    except TemplateSyntaxError as error:
        line, message = error.lineno, error.message or "syntax"
    except _OF_A_PAGE as error:
        line, message = _template_line(), str(error)
    except Exception as error:  # whatever an expression raises, a person has to find its line
        line, message = _template_line(), f"{type(error).__name__}: {shorten(error, 200)}"
    if line == 0:  # it was never run: nested too deeply, or a number that is none
        _, line = longest_expression(text)
    raise ProseError(_problem(file, first_line - 1 + line, message))


def _compiled_block() -> Html:
    """The recorded listing, as a block of code."""
    return trusted(compiled_block.listing())


def _finding(name: str) -> str:
    """The title of a figure, for the heading above it."""
    return figure_of(name).title


def _with_unit(number: Any, name: str) -> Number:
    return Number(_finite(float(number)), unit(name).name)


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise FlopbookError(f"{number} is no number to print")
    return number


# What the expressions of a page can name.


def things_of(page: str) -> dict[str, Callable[[str], Any]]:
    """What the expressions of a page make by name and read values of: chips and models."""
    return {"chip": partial(_Chip, page), "model": partial(_Model, page)}


def _names(page: str) -> dict[str, Any]:
    return {
        **things_of(page),
        "calc": partial(_calculated, page),
        "cite": partial(_cited, page),
        "claim": partial(_claim, page),
        "margin": partial(_margin, page),
        "stated": partial(_stated, page),
        "fmt": number_format,
        "q": _quantity,
        "roofline": partial(_roofline, page),
        "figure": partial(_figure, page),
        "finding": _finding,
        "living": partial(living, page),
        "exercise": exercise_heads(),
        "entry": load_entry,
        "landscape": Landscape(page),
        "largest_tile": largest_tile,
        "format_rules": format_rules,
        "measured": measured_table,
        "benched": benched,
        "loops_timed_on": loop_timings.made_with,
        "compiled_block": _compiled_block,
        "compiled_with": compiled_block.made_with,
        "recorded_step": gpu_step,
        "predicted": PredictedProse(),
        "prediction": PredictionProse(),
        "terminal": terminal,
        "published_layouts": partial(published_layouts, page),
        "peers": partial(peers, page),
        "published": published,
        "reached": ReachedProse(page),
    }


def _calculated(page: str, name: str, /, **options: Any) -> _ProseAnswer:
    # An answer or a number of the page can be the input of the next calculator.
    plain_options = {option: _plain(setting) for option, setting in options.items()}
    return _ProseAnswer(calculated(name, **plain_options), page, plain_options)


def _plain(setting: Any) -> Any:
    """A setting as a calculator takes it: a number of the page as a plain SI value."""
    if isinstance(setting, (Number, _ProseAnswer)):
        return float(setting)
    return setting


def _cited(page: str, key: str) -> Html:
    return cite(key, page)


def _claim(page: str, key: str) -> Html:
    """A claim of the ledger in words, linked to its row."""
    row = ledger_row(key)
    return link(claim_words(row), html_link(page, claim_page(row)))


def _margin(page: str, *keys: str) -> Html:
    """Claims on what a passage teaches, checked: a note that opens, apart from the text."""
    items = Html("").join(Html("<li>{}.</li>").format(_claim(page, key)) for key in keys)
    return Html(
        '<details class="fb-margin"><summary>Checked: {}</summary><ul>{}</ul></details>'
    ).format(counted(len(keys), "published statement"), items)


def _stated(page: str, key: str) -> Number:
    """The number that a claim of the ledger states, linked to the claim."""
    row = ledger_row(key)
    if row.stated.si_value is None:
        raise FlopbookError(f"the claim {key} states no number")
    si_unit = unit(row.stated.unit or "1").si
    if si_unit == "count":  # the statement says of what
        si_unit = "1"
    return Number(row.stated.si_value, si_unit, html_link(page, claim_page(row)))


def _quantity(text: str, si_unit: str) -> Number:
    return Number(parse_quantity(text, unit(si_unit).name), si_unit)


def _roofline(page: str, name: str) -> Html:
    return _figure(page, "roofline", chip=chip(name).id)


def _figure(page: str, name: str, /, **options: Any) -> Html:
    return trusted(figure_markup(name, page, **options))


def _printable(content: Any) -> Any:
    """Let no text begin an element or a link that is not markup yet.

    Refuse a bare number: a number without unit and origin does not belong in prose.
    """
    if isinstance(content, Undefined):
        return content
    if isinstance(content, float) and not isinstance(content, Number):
        raise FlopbookError(
            f"a number without unit ({content:g}); write | unit('token') or the like"
        )
    if isinstance(content, (Number, _Chip, _Model, _ProseAnswer)):
        return str(content)
    if isinstance(content, (Markup, int)):
        return content
    # Whatever else there is, a list of texts too, prints as text.
    return harmless(_without_code(str(content)))


def _without_code(text: str) -> str:
    """A text that begins no code that it does not end, and has no lines of its own.

    A lone mark of code would show as markup what a reviewer of the page saw as code.
    """
    line = _LINE_ENDS.sub(" ", text).replace("~~~", "&#126;~~")
    is_whole = "`" not in CODE.sub("", line)
    return line if is_whole else line.replace("`", "&#96;")


# Errors with their place.


def _template_line() -> int:
    """The template line at which the current exception arose, from the traceback Jinja rewrote.

    0 for one that did not arise in the template.
    """
    line, trace = 0, sys.exc_info()[2]
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<template>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _problem(file: str, line: int, message: str) -> Problem:
    return Problem(
        file, line, 1, "prose", message, "names and units that exist", "mend the expression"
    )
