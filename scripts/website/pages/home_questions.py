"""The two questions of the first page, with their answers for an example.

`home/ask.js` answers in the browser from the same plans, formulas and sentences, which `files`
writes for it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import NamedTuple

from flopbook.architectures.shape import Shape, shape
from flopbook.data.library import model_ids
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import get_formula
from flopbook.planning.planner import plan
from flopbook.quantities.units import format_quantity
from scripts.website.markup import Html, tag
from scripts.website.pages import planner_data
from scripts.website.pages.askable import chip_options, model_options
from scripts.website.pages.calculators import calculator_page
from scripts.website.pages.forms import form_record
from scripts.website.pages.planner import PAGE as PLANNER
from scripts.website.pages.planner_words import duration, layout_words
from scripts.website.pages.sources import html_link

PAGE = "index.md"
DATA = "assets/flopbook/home/ask.json"
CALCULATORS = ("serving",)
CONTEXT = 8192
WORDS = {
    "fits": "Fits: {used} of {memory} per chip",
    "misfit": "Does not fit: {used} per chip, {over} too much",
    "too_many": "Does not fit on {count}",
    "none": "No layout exists for {count}",
    "plan": "{layout}: {step} a step ({low} to {high}, 80 % band).",
    "time": "{time} for {tokens}, without failures.",
    "from": "It fits from {chips} of these chips.",
    "never": "It does not fit on any number of these chips.",
    "serves": "Fits in {format}: room for {batch} conversations",
    "pace": "{total} tokens/s in all, {each} for each reader, at best.",
    "group": "TP {tp}{copies}; conversations of {seq} tokens.",
    "copies": ", {count} copies",
    "count": "Type a whole number of chips, 1 to 65,536.",
    "open": "The data lack what this needs: {problem}",
}
TRAIN = {"model": "llama-3-70b", "chip": "nvidia/h100-sxm", "chips": 512}
SERVE = {"model": "llama-3-70b", "chip": "nvidia/h100-sxm", "chips": 8}


def files() -> dict[str, str]:
    """Content path -> text of what the script of the forms asks for."""
    record = {
        "specs": {name: form_record(get_formula(name)) for name in CALCULATORS},
        "words": WORDS,
        "context": CONTEXT,
    }
    return {DATA: json.dumps(record, ensure_ascii=False, separators=(",", ":"))}


class HomeQuestion(NamedTuple):
    """A form: its name, title, page and button, and what that page calls the chips."""

    ask: str
    title: str
    page: str
    button: str
    count_name: str
    hidden: Mapping[str, object]


_TRAINS = HomeQuestion("train", "Will it train?", PLANNER, "Open the plan", "chips", {})
_SERVES = HomeQuestion(
    "serve",
    "Will it serve?",
    calculator_page("serving"),
    "Open the calculator",
    "tp",
    {"seq": CONTEXT},
)


def train_form() -> Html:
    """Will it train: model, chip and count, with the answer for the first example."""
    return _form(_TRAINS, TRAIN, train_answer(**TRAIN))


def serve_form() -> Html:
    """Will it serve: model, chip and count, with the answer for the first example."""
    return _form(_SERVES, SERVE, serve_answer(**SERVE))


def _form(question: HomeQuestion, chosen: Mapping[str, object], answer: Mapping[str, str]) -> Html:
    extra = Html().join(
        Html('<input type="hidden" name="{}" value="{}">').format(name, value)
        for name, value in question.hidden.items()
    )
    lines = Html().join(tag("p", answer[key], "fb-fine") for key in ("layout", "pace"))
    return Html(
        '<form class="fb-card fb-ask" action="{action}" method="get" data-ask="{ask}" '
        'data-json="{json}"><h2 id="{ask}">{title}</h2>\n'
        '<label class="fb-choice"><span>Model</span><select name="model">{models}</select>'
        "</label>\n"
        '<label class="fb-choice"><span>Chip</span><select name="chip">{chips}</select></label>\n'
        '<label class="fb-choice"><span>Number of chips</span><input name="{count}" '
        'inputmode="numeric" autocomplete="off" value="{n}"></label>{extra}\n'
        '<div class="fb-said" role="status"><p class="fb-verdict fb-fit">{verdict}</p>{lines}'
        "</div>\n"
        '<p><button class="fb-act" type="submit">{button}</button></p></form>'
    ).format(
        action=html_link(PAGE, question.page),
        button=question.button,
        ask=question.ask,
        json=html_link(PAGE, DATA),
        title=question.title,
        models=_model_options(str(chosen["model"])),
        chips=chip_options(str(chosen["chip"])),
        count=question.count_name,
        n=chosen["chips"],
        extra=extra,
        verdict=answer["verdict"],
        lines=lines,
    )


def _model_options(chosen: str) -> Html:
    """Models of which both questions can be answered."""
    return model_options(filter(_is_known, map(shape, model_ids())), chosen)


def _is_known(one: Shape) -> bool:
    for name in ("params", "compute_params", "layers", "heads", "d_model", "vocab"):
        try:
            one.pick(name)
        except FlopbookError:
            return False
    return True


def train_answer(model: object, chip: object, chips: object) -> dict[str, str]:
    """Verdict, layout and time of a training run: what the script says for the same inputs.

    Raises FlopbookError for an example that does not fit.
    """
    asked = planner_data.usual_question(str(model), str(chip), int(str(chips)))
    found = plan(asked, 1)
    if not found.layouts:
        raise FlopbookError(f"the example of the first page does not fit: {model} on {chips}")
    best = found.layouts[0]
    times = (format_quantity(float(f"{n:.2g}"), "s") for n in (best.seconds, best.low, best.high))
    step, low, high = times
    tokens = shape(str(model)).pick("tokens").value
    steps = math.ceil(tokens / (asked.batch * asked.run.shape.tokens))
    return {
        "verdict": WORDS["fits"].format(
            used=format_quantity(float(f"{best.bytes:.3g}"), "byte"),
            memory=format_quantity(float(f"{asked.run.machine.memory:.3g}"), "byte"),
        ),
        "layout": WORDS["plan"].format(layout=layout_words(best), step=step, low=low, high=high),
        "pace": WORDS["time"].format(
            time=duration(steps * best.seconds), tokens=format_quantity(tokens, "token")
        ),
    }


def serve_answer(model: object, chip: object, chips: object) -> dict[str, str]:
    """Verdict, layout and pace of serving by one group of chips."""
    answer = calculate("serving", model=model, chip=chip, tp=chips, seq=CONTEXT)
    return {
        "verdict": WORDS["serves"].format(batch=f"{answer['batch_fits']:,.0f}", format="bf16"),
        "layout": WORDS["group"].format(tp=chips, copies="", seq=f"{CONTEXT:,}"),
        "pace": WORDS["pace"].format(
            total=_rounded(answer["tokens_per_s"]), each=_rounded(1 / answer["seconds"])
        ),
    }


def _rounded(rate: float) -> str:
    return f"{float(f'{rate:.2g}'):,.0f}"
