"""The page on which a run is planned: will it train, how fast, at what cost, on which layout."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import urlencode

from flopbook.architectures.shape import Shape
from flopbook.planning.planner import plan
from flopbook.prediction.stacks import OTHER, STACKS
from scripts.website.markup import (
    Html,
    Markdown,
    attribute,
    code_block,
    front_matter,
    page_text,
    relative,
    tag,
)
from scripts.website.pages import planner_data
from scripts.website.pages.askable import chip_options, model_options
from scripts.website.pages.forms import without_script
from scripts.website.pages.planner_words import trained
from scripts.website.pages.sources import html_link, stylesheet

PAGE = "planner.md"
TITLE = "Will it train?"
# What the form asks first; all else is in a fold, and stays as it is until somebody types.
FIRST: dict[str, object] = {"model": "llama-3-70b", "chip": "nvidia/h100-sxm", "chips": 512}
_COMMAND = (
    "flopbook plan --model llama-3-70b --chip h100-sxm --chips 512 --top 3",
    "--batch-tokens 4Mi --seq 8192 --stack megatron-core",
)
# The page of the other question, and what a field for a price says.
SERVING = "serve.md"
PRICE = "list price, or 2USD/h"
_STARTS: dict[str, dict[str, str]] = {
    "70B on 64 H100": {"chips": "64"},
    "8B on 64 H100": {"model": "llama-3-8b", "chips": "64"},
    "8B: 64 H100 against 64 MI300X": {"model": "llama-3-8b", "chips": "64", "other": "amd/mi300x"},
    "405B on 16,384 H100": {"model": "llama-3-405b", "chips": "16384"},
}
_STACKS = {"megatron-core": "Megatron-Core", "nemo": "NeMo", "torchtitan": "TorchTitan"}
_STACKS |= {"fsdp2": "FSDP2", "maxtext": "MaxText", "deepspeed": "DeepSpeed", OTHER: "any other"}


def page() -> str:
    """The form, what the script makes of it, and the command."""
    blocks = [
        front_matter(
            TITLE,
            "Pick a model, a chip and how many: whether it fits, how long a step takes, what it "
            "costs, and the three best ways to divide the chips, each number with its derivation.",
            toc=False,
        ),
        stylesheet(PAGE, f"{planner_data.FOLDER}plan.css"),
        Markdown("# {}\n").format(TITLE),
        tag("p", "Which layout takes the shortest step, and what does the run cost?", "fb-lead"),
        starts(FIRST, _STARTS),
        form("train", questions(planner_data.models(), FIRST), _more(), _without_script()),
        Markdown("## What is tried\n"),
        Markdown(
            "Every way to divide the chips among tensor, pipeline, context, expert and data "
            "parallelism, with every ZeRO stage, size of micro-batch and choice of recomputation. "
            "You see the three fastest divisions into TP, PP, CP, EP and DP, each with its fastest "
            "layout that fits; every number opens to show how it was derived. [Planning a run]({}) "
            "explains the method, and [Will it serve?]({}) plans an inference engine.\n"
        ).format(relative(PAGE, "planning.md"), relative(PAGE, SERVING)),
        Markdown("## In a terminal\n"),
        command_block(_COMMAND),
        Markdown(
            "\nThe page and the command give the same layouts and the same numbers. The command "
            "also takes limits on memory and time, fixes degrees, compares numbers of chips, and "
            "writes the settings of a framework.\n"
        ),
        script(PAGE),
    ]
    return page_text(blocks) + "\n"


def answer(model: object, chip: object, chips: object) -> tuple[str, str]:
    """What the script says of a training run. Raises FlopbookError for one that does not fit."""
    asked = planner_data.usual_question(str(model), str(chip), int(str(chips)))
    return trained(plan(asked, 1), planner_data.price_record(str(chip)))


def _without_script() -> Html:
    return without_script(" ".join(_COMMAND), answer_words(answer(**FIRST)))


def answer_words(said: tuple[str, str]) -> Html:
    """A verdict and what it means, in one line."""
    return Html("<strong>{}</strong> {}").format(*said)


def command_block(lines: Iterable[str]) -> Html:
    """A command over several lines, to copy."""
    return code_block("$ " + " \\\n    ".join(lines), "console")


def script(page_: str) -> Html:
    """What makes the form of a planner answer."""
    address = html_link(page_, f"{planner_data.FOLDER}main.js")
    return Html('<script type="module" src="{}"></script>').format(address)


def questions(models: Iterable[Shape], first: Mapping[str, object]) -> Html:
    """What both planners ask before all else, with what stands there first."""
    return Html("\n").join(
        (
            choice("Model", "model", model_options(models, str(first["model"]))),
            choice("Chip", "chip", chip_options(str(first["chip"]))),
            typed("Number of chips", "chips", value=str(first["chips"])),
        )
    )


def _more() -> Html:
    return Html("\n").join(
        (
            compared(),
            choice("Software", "stack", options(STACKS, _STACKS, "megatron-core")),
            choice("Format of matmuls", "dtype", options(planner_data.FORMATS, {}, "bf16")),
            typed("Sequence length, tokens", "seq", f"{planner_data.SEQ:,}"),
            typed("Batch, tokens a step", "batch-tokens", "4Mi"),
            typed("Price of a chip", "price", PRICE),
            typed("Training tokens", "tokens", "15T"),
        )
    )


def starts(first: Mapping[str, object], states: Mapping[str, Mapping[str, str]]) -> Html:
    """Links to states from which people start, as they differ from the first."""
    links = (
        Html('<a href="?{}">{}</a>').format(attribute(urlencode({**first, **state})), label)
        for label, state in states.items()
    )
    return Html('<p class="fb-scenarios">Start from: {}</p>\n').format(Html(" · ").join(links))


def form(ask: str, asked: Html, more: Html, without: Html) -> Html:
    """Fields, the places of verdict and layouts; a script asks "train" or "serve".

    Where none runs, the style hides the fields, and what stands `without` it says what to do.
    """
    return Html(
        '<div class="fb-planner" data-ask="{ask}">\n<form>\n{asked}\n'
        '<details class="fb-fold"><summary>More</summary>\n<div class="fb-plan-more">\n{more}\n'
        "</div></details></form>\n"
        '<div class="fb-said" role="status" aria-live="polite">{without}</div>\n'
        '<div class="fb-plan-layouts"></div>\n</div>\n'
    ).format(ask=ask, asked=asked, more=more, without=without)


def compared() -> Html:
    """The choice of a second chip."""
    none = Html('<option value="">none</option>')
    return choice("Compare with", "other", none + chip_options(""))


def choice(label: str, name: str, of: Html) -> Html:
    """A choice between options."""
    return Html(
        '<label class="fb-choice"><span>{}</span><select name="{}">{}</select></label>'
    ).format(label, name, of)


def typed(label: str, name: str, example: str = "", value: str = "") -> Html:
    """A field to type into; the example says what counts where nothing is typed."""
    return Html(
        '<label class="fb-choice"><span>{}</span><input name="{}" value="{}" placeholder="{}" '
        'autocomplete="off" spellcheck="false"></label>'
    ).format(label, name, attribute(value), attribute(example))


def options(names: Iterable[str], words: Mapping[str, str], chosen: str) -> Html:
    """Options for some names, each in the words that people know it by."""
    return Html().join(
        Html('<option value="{}"{}>{}</option>').format(
            name, Html(" selected") if name == chosen else Html(), words.get(name, name)
        )
        for name in names
    )
