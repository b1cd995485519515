"""The page on which a run is planned: will it train, how fast, at what cost, on which layout."""

from __future__ import annotations

from collections.abc import Iterable

from flopbook.prediction.stacks import OTHER, STACKS
from scripts.website.markup import (
    Html,
    Markdown,
    attribute,
    code_block,
    front_matter,
    page_text,
    relative,
)
from scripts.website.pages import planner_data
from scripts.website.pages.askable import chip_options, model_options
from scripts.website.pages.sources import html_link, stylesheet

PAGE = "planner.md"
# What the form asks first; all else is in a fold, and stays as it is until somebody types.
FIRST = {"model": "llama-3-70b", "chip": "nvidia/h100-sxm", "chips": 512}
TOKENS = "15T"
_STACKS = {"megatron-core": "Megatron-Core", "nemo": "NeMo", "torchtitan": "TorchTitan"}
_STACKS |= {"fsdp2": "FSDP2", "maxtext": "MaxText", "deepspeed": "DeepSpeed", OTHER: "any other"}


def page() -> str:
    """The form, what the script makes of it, and the command."""
    blocks = [
        front_matter(
            "Will it train?",
            "Pick a model, a chip and how many: whether it fits, how long a step takes, what it "
            "costs, and the best three layouts, each number with its derivation.",
        ),
        stylesheet(PAGE, f"{planner_data.FOLDER}plan.css"),
        Markdown("# Will it train?\n"),
        Markdown(
            "Pick a model, a chip and how many. The page tries every way to write the chips as "
            "tensor, pipeline, context, expert and data parallelism, with every ZeRO stage, "
            "micro-batch and recomputation, and shows the three fastest layouts that fit. "
            "Every number opens what it is made of. [Planning a run]({}) says how.\n"
        ).format(relative(PAGE, "planning.md")),
        _form(),
        Markdown("## In a terminal\n"),
        code_block(
            "$ flopbook plan --model llama-3-70b --chip h100-sxm --chips 512 "
            "--batch-tokens 4Mi --seq 8192 --stack megatron-core --top 3",
            "console",
        ),
        Markdown(
            "\nThe page and the command give the same layouts and the same numbers. The command "
            "also keeps limits of memory and time, fixes degrees, compares counts of chips, and "
            "writes the settings of a framework.\n"
        ),
        Html('<script type="module" src="{}"></script>').format(
            html_link(PAGE, f"{planner_data.FOLDER}main.js")
        ),
    ]
    return page_text(blocks) + "\n"


def _form() -> Html:
    """Fields, the place of the verdict, and that of the layouts."""
    fields = Html("\n").join(
        (
            _choice("Model", "model", model_options(planner_data.models(), str(FIRST["model"]))),
            _choice("Chip", "chip", chip_options(str(FIRST["chip"]))),
            _typed("Number of chips", "chips", str(FIRST["chips"])),
        )
    )
    none = Html('<option value="">none</option>')
    more = Html("\n").join(
        (
            _choice("Compare with", "other", none + chip_options("")),
            _choice("Software", "stack", _words(STACKS, _STACKS, "megatron-core")),
            _choice("Format of matmuls", "dtype", _words(planner_data.FORMATS, {}, "bf16")),
            _typed("Tokens of a sequence", "seq", "", f"{planner_data.SEQ:,}"),
            _typed("Tokens of a step", "batch-tokens", "", "4Mi"),
            _typed("Price of a chip", "price", "", "list price, or 2USD/h"),
            _typed("Tokens of the run", "tokens", TOKENS, "15T"),
        )
    )
    return Html(
        '<div class="fb-planner">\n<form>\n{fields}\n'
        '<details class="fb-fold"><summary>More</summary>\n<div class="fb-plan-more">\n{more}\n'
        "</div></details></form>\n"
        '<div class="fb-said" role="status" aria-live="polite"><noscript><p>JavaScript is off. '
        "Run the command below instead; it gives the same answer.</p></noscript></div>\n"
        '<div class="fb-plan-layouts"></div>\n</div>\n'
    ).format(fields=fields, more=more)


def _choice(label: str, name: str, options: Html) -> Html:
    return Html(
        '<label class="fb-choice"><span>{}</span><select name="{}">{}</select></label>'
    ).format(label, name, options)


def _typed(label: str, name: str, value: str, example: str = "") -> Html:
    return Html(
        '<label class="fb-choice"><span>{}</span><input name="{}" value="{}" placeholder="{}" '
        'autocomplete="off" spellcheck="false"></label>'
    ).format(label, name, attribute(value), attribute(example))


def _words(names: Iterable[str], words: dict[str, str], chosen: str) -> Html:
    """Options for some names, each in the words that people know it by."""
    return Html().join(
        Html('<option value="{}"{}>{}</option>').format(
            name, Html(" selected") if name == chosen else Html(), words.get(name, name)
        )
        for name in names
    )
