"""The page on which serving is planned: will it serve, how fast, at what cost, how divided."""

from __future__ import annotations

from flopbook.planning.serving import plan_serving
from flopbook.planning.serving_question import DEFAULT_ANSWER, DEFAULT_PROMPT
from scripts.website.markup import (
    Html,
    Markdown,
    front_matter,
    page_text,
    relative,
    tag,
)
from scripts.website.pages import planner, planner_data, serving_data
from scripts.website.pages.forms import without_script
from scripts.website.pages.planner import choice, compared, form, options, questions, starts, typed
from scripts.website.pages.planner_words import served
from scripts.website.pages.sources import stylesheet

PAGE = planner.SERVING
TITLE = "Will it serve?"
# What the form asks first; all else is in a fold, and stays as it is until somebody types.
FIRST: dict[str, object] = {"model": "llama-3-70b", "chip": "nvidia/h100-sxm", "chips": 8}
_COMMAND = (
    "flopbook plan --serve --model llama-3-70b --chip h100-sxm --chips 8 --top 3",
    "--prompt 1024 --answer 256",
)
_STARTS: dict[str, dict[str, str]] = {
    "70B on 8 H100": {},
    "70B: 8 H100 against 8 MI300X": {"other": "amd/mi300x"},
    "DeepSeek-V3 on 8 H200": {
        "model": "deepseek-v3",
        "chip": "nvidia/h200-sxm",
        "chips": "8",
        "dtype": "fp8",
    },
    "8B on one 24 GB card": {"model": "llama-3-8b", "chip": "nvidia/rtx-4090", "chips": "1"},
}
_FORMATS = {"int4": "int4, weights alone"}


def page() -> str:
    """The form, what the script makes of it, and the command."""
    blocks = [
        front_matter(
            TITLE,
            "Pick a model, a chip and how many: whether it fits, tokens per second, time to first "
            "token, cost per million tokens, and the best three ways to divide the chips.",
            toc=False,
        ),
        stylesheet(PAGE, f"{planner_data.FOLDER}plan.css"),
        Markdown("# {}\n").format(TITLE),
        tag("p", "Which layout generates the most tokens per second, and at what cost?", "fb-lead"),
        starts(FIRST, _STARTS),
        form("serve", _questions(), _more(), _without_script()),
        Markdown("## What is tried\n"),
        Markdown(
            "Every way to divide the chips into replicas, by tensor, pipeline and expert "
            "parallelism, with every number of sequences at once, in one pool or with prefill on "
            "chips of its own. You see the three that generate the most tokens per second within "
            "the limits under More; every number opens to show how it was derived. [Planning a "
            "run]({}) explains the method, and [Will it train?]({}) plans a training run.\n"
        ).format(relative(PAGE, "planning.md#serving"), relative(PAGE, planner.PAGE)),
        Markdown("## In a terminal\n"),
        planner.command_block(_COMMAND),
        Markdown(
            "\nThe page and the command give the same layouts and the same numbers. The command "
            "also fixes degrees and writes the options of vLLM.\n"
        ),
        planner.script(PAGE),
    ]
    return page_text(blocks) + "\n"


def answer(model: object, chip: object, chips: object) -> tuple[str, str]:
    """What the script says of serving. Raises FlopbookError where nothing fits."""
    asked = serving_data.usual_question(str(model), str(chip), int(str(chips)))
    return served(plan_serving(asked, 1), planner_data.price_record(str(chip)))


def _without_script() -> Html:
    return without_script(" ".join(_COMMAND), planner.answer_words(answer(**FIRST)))


def _questions() -> Html:
    return questions(serving_data.models(planner_data.models()), FIRST)


def _more() -> Html:
    return Html("\n").join(
        (
            compared(),
            choice("Format of weights", "dtype", options(serving_data.SERVED, _FORMATS, "bf16")),
            typed("Prompt, tokens", "prompt", f"{DEFAULT_PROMPT:,}"),
            typed("Answer, tokens", "answer", f"{DEFAULT_ANSWER:,}"),
            typed("First token within", "max-first-token", "no limit, or 500ms"),
            typed("Each further token within", "max-per-token", "no limit, or 40ms"),
            typed("Price of a chip", "price", planner.PRICE),
        )
    )
