"""The two questions of the first page, with their answers for an example.

`home/ask.js` asks the planners of both pages in the browser, which say the same sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from flopbook.architectures.shape import Shape, shape
from flopbook.data.library import load_entry
from scripts.website.markup import Html, tag
from scripts.website.pages import planner, planner_data, serving_data, serving_planner
from scripts.website.pages.askable import chip_options, model_options
from scripts.website.pages.sources import html_link

PAGE = "index.md"


class HomeQuestion(NamedTuple):
    """A form: its name, title, page, models, and what it shows first."""

    ask: str
    title: str
    page: str
    models: Iterable[Shape]
    first: Mapping[str, object]


def train_form() -> Html:
    """Will it train: model, chip and count, with the answer for the first example."""
    first = planner.FIRST
    asked = HomeQuestion("train", planner.TITLE, planner.PAGE, planner_data.models(), first)
    return _form(asked, planner.answer(**first))


def serve_form() -> Html:
    """Will it serve: model, chip and count, with the answer for the first example."""
    first = serving_planner.FIRST
    models = serving_data.models(planner_data.models())
    asked = HomeQuestion("serve", serving_planner.TITLE, serving_planner.PAGE, models, first)
    return _form(asked, serving_planner.answer(**first))


def _form(question: HomeQuestion, answer: tuple[str, str]) -> Html:
    verdict, meaning = answer
    first = question.first
    return Html(
        '<form class="fb-card fb-ask" action="{action}" method="get" data-ask="{ask}">'
        '<h2 id="{ask}">{title}</h2>\n'
        "{models}\n{chips}\n"
        '<label class="fb-choice"><span>Number of chips</span><input name="chips" '
        'inputmode="numeric" autocomplete="off" value="{n}"></label>\n'
        '<div class="fb-said" role="status">{verdict}{meaning}</div>\n'
        "<noscript><p>JavaScript is off: this is the answer for {chosen}. The page of the plan "
        "names the command for all else.</p></noscript>\n"
        '<p><button class="fb-act" type="submit">Open the plan</button></p></form>'
    ).format(
        action=html_link(PAGE, question.page),
        ask=question.ask,
        title=question.title,
        models=planner.choice(
            "Model", "model", model_options(question.models, str(first["model"]))
        ),
        chips=planner.choice("Chip", "chip", chip_options(str(first["chip"]))),
        n=first["chips"],
        chosen=_chosen(question),
        verdict=tag("p", verdict, "fb-verdict fb-fit"),
        meaning=tag("p", meaning, "fb-fine"),
    )


def _chosen(question: HomeQuestion) -> str:
    """What the first example asks, where no script reads the fields."""
    first = question.first
    model = shape(str(first["model"])).model.name
    return f"{model} on {first['chips']} {load_entry(str(first['chip'])).name}"
