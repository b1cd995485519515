"""The first page: a picture that moves, two questions with their answers, and errors in numbers.

The answers are computed here for readers without a script, and in the browser by `home/ask.js`
from the same formulas, layouts and sentences, which `files` writes for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from flopbook.architectures.shape import Shape, shape
from flopbook.data.library import model_ids, references, vendor
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import get_formula
from flopbook.hardware.picked import Picked
from flopbook.ledger.rows import Row
from flopbook.quantities.units import format_quantity
from scripts.website.markup import Html, attribute, link, tag
from scripts.website.pages.accelerators import INDEX
from scripts.website.pages.calculators import calculator_page
from scripts.website.pages.errata import PITFALLS, stated_words
from scripts.website.pages.explorer import START, ExplorerRow, items, state_of
from scripts.website.pages.forms import form_record
from scripts.website.pages.home_picture import picture
from scripts.website.pages.pitfalls import defects
from scripts.website.pages.quantities import peak_id, value_of
from scripts.website.pages.sources import html_link

PAGE = "index.md"
DATA = "assets/flopbook/home/ask.json"
SCRIPT = "assets/flopbook/home/main.js"
CALCULATORS = ("memory", "training-time", "serving")
SEQ, CONTEXT, MFU = 4096, 8192, 0.4
# Layouts in the order in which they are tried; the first that fits is the answer.
LAYOUTS = tuple(
    {"tp": tp, "recompute": recompute, "words": words}
    for tp, sharding in ((1, "FSDP over all {chips}"), (8, "TP 8 with FSDP over {copies}"))
    for recompute, words in (
        ("selective", f"{sharding}, selective recomputation"),
        ("full", f"{sharding}, full recomputation"),
    )
)
WORDS = {
    "fits": "Fits: {used} of {memory} per chip",
    "misfit": "Does not fit: {used} per chip, {over} too much",
    "one": "On one chip, {recompute} recomputation",
    "batch": "one sequence of {seq} tokens per copy at a time.",
    "time": "{time} for {tokens} at {mfu} % of the peak rate (MFU).",
    "from": "It fits from {chips} of these chips.",
    "never": "It does not fit on any number of these chips with these layouts.",
    "serves": "Fits in {format}: room for {batch} conversations",
    "pace": "{total} token/s in all, {each} for each reader, at best.",
    "group": "TP {tp}{copies}; conversations of {seq} tokens.",
    "copies": ", {count} copies",
    "count": "Type a whole number of chips, 1 to 65,536.",
    "open": "The data lack what this needs: {problem}",
}
TRAIN = {"model": "llama-3-70b", "chip": "nvidia/h100-sxm", "chips": 512}
SERVE = {"model": "llama-3-70b", "chip": "nvidia/h100-sxm", "chips": 8}
# Seconds of a unit -> its name.
_DURATIONS = (
    (365 * 86_400, "years"),
    (86_400, "days"),
    (3_600, "hours"),
    (60, "minutes"),
    (1, "seconds"),
)
# Three errors that everyone can follow, with what each is about.
_ERRORS = {
    "gpupoor-a100-peak": "fp16 peak of an A100",
    "genz-gh200-peak": "dense bf16 peak of a GH200",
    "llmviewer-grouped-cache": "KV cache with grouped heads",
}
# Of these one may ask whether something runs on them: sold or rented today, with enough memory.
_STATES = ("shipping", "cloud-only")
_LEAST_MEMORY = 16e9


def part(name: str) -> Html:
    """A part of the page by its name. Raises FlopbookError for a name that there is none of."""
    parts = {
        "picture": picture,
        "train": train_form,
        "serve": serve_form,
        "chips": chips_words,
        "works": works_words,
        "wrong": wrong_words,
        "errors": errors,
    }
    if name not in parts:
        raise FlopbookError(f"the first page has no part {name}; there are {', '.join(parts)}")
    return parts[name]()


def files() -> dict[str, str]:
    """Content path -> text of what the script of the forms asks for."""
    record = {
        "specs": {name: form_record(get_formula(name)) for name in CALCULATORS},
        "layouts": LAYOUTS,
        "words": WORDS,
        "seq": SEQ,
        "context": CONTEXT,
        "mfu": MFU,
        "durations": _DURATIONS,
    }
    return {DATA: json.dumps(record, ensure_ascii=False, separators=(",", ":"))}


# The two questions.


class HomeQuestion(NamedTuple):
    """A form: its name, its title, the calculator that it opens, and what that calls the chips."""

    ask: str
    title: str
    calculator: str
    count_name: str
    hidden: Mapping[str, object]


_TRAINS = HomeQuestion("train", "Will it train?", "memory", "dp", {"zero": 3, "seq": SEQ})
_SERVES = HomeQuestion("serve", "Will it serve?", "serving", "tp", {"seq": CONTEXT})


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
        '<p><button class="fb-act" type="submit">Open the calculator</button></p></form>'
    ).format(
        action=html_link(PAGE, calculator_page(question.calculator)),
        ask=question.ask,
        json=html_link(PAGE, DATA),
        title=question.title,
        models=_model_options(str(chosen["model"])),
        chips=_chip_options(str(chosen["chip"])),
        count=question.count_name,
        n=chosen["chips"],
        extra=extra,
        verdict=answer["verdict"],
        lines=lines,
    )


def _model_options(chosen: str) -> Html:
    """Models of which both questions can be answered, the newest first."""
    shapes = [one for one in map(shape, model_ids()) if _is_known(one)]
    shapes.sort(key=lambda one: one.model.name)
    return _options(((one.id, one.model.name) for one in shapes), chosen)


def _is_known(one: Shape) -> bool:
    for name in ("params", "compute_params", "layers", "heads", "d_model", "vocab"):
        try:
            one.pick(name)
        except FlopbookError:
            return False
    return True


def _options(pairs: Iterable[tuple[str, str]], chosen: str) -> Html:
    return Html().join(
        Html('<option value="{}"{}>{}</option>').format(
            attribute(name), Html(" selected") if name == chosen else Html(), words
        )
        for name, words in pairs
    )


def _chip_options(chosen: str) -> Html:
    """Chips of today by vendor, those of the largest vendors first."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for row in sorted(items(), key=_newest):
        if _is_asked_for(row):
            pair = row.entry.id, row.entry.name
            groups.setdefault(row.entry.vendor, []).append(pair)
    ranked = sorted(groups, key=lambda name: (-len(groups[name]), name))
    return Html().join(
        Html('<optgroup label="{}">{}</optgroup>').format(
            vendor(name).name, _options(groups[name], chosen)
        )
        for name in ranked
    )


def _newest(row: ExplorerRow) -> tuple[float, str]:
    return -(value_of(row.cells, "date") or 0), row.entry.name


def _is_asked_for(row: ExplorerRow) -> bool:
    has_peak = isinstance(row.cells.get(peak_id(*START)), Picked)
    has_bandwidth = isinstance(row.cells.get("memory_bandwidth"), Picked)
    is_enough = (value_of(row.cells, "memory") or 0) >= _LEAST_MEMORY
    is_sold = state_of(row.entry) in _STATES and row.entry.computes
    return is_sold and has_peak and has_bandwidth and is_enough


def train_answer(model: object, chip: object, chips: object) -> dict[str, str]:
    """Verdict, layout and time of a training run: what the script says for the same inputs."""
    count = int(str(chips))
    asked = {"model": model, "chip": chip, "seq": SEQ, "zero": 3}
    for layout in LAYOUTS:
        tp = int(str(layout["tp"]))
        if count % tp:
            continue
        given = {"tp": tp, "dp": count // tp, "recompute": layout["recompute"]}
        if tp > 1:
            given["sequence_parallel"] = "yes"
        answer = calculate("memory", **asked, **given)
        if answer["free"] >= 0:
            sharding = str(layout["words"]).format(chips=f"{count:,}", copies=f"{count // tp:,}")
            return {
                "verdict": WORDS["fits"].format(
                    used=format_quantity(answer["total"], "byte"),
                    memory=format_quantity(answer["total"] + answer["free"], "byte"),
                ),
                "layout": f"{sharding}; {WORDS['batch'].format(seq=f'{SEQ:,}')}",
                "pace": _training_time(str(model), chip, count),
            }
    raise FlopbookError(f"the example of the first page does not fit: {model} on {count} {chip}")


def _training_time(model: str, chip_id: object, count: int) -> str:
    run = calculate("training-time", model=model, chip=chip_id, chips=count, mfu=MFU, seq=SEQ)
    return WORDS["time"].format(
        time=duration(run["seconds"]),
        tokens=format_quantity(shape(model).pick("tokens").value, "token"),
        mfu=f"{100 * MFU:.0f}",
    )


def duration(seconds: float) -> str:
    """A time with two digits in the largest unit of which it has two or more."""
    size, name = next((s, n) for s, n in _DURATIONS if seconds >= 2 * s or n == "seconds")
    return f"{float(f'{seconds / size:.2g}'):,g} {name}"


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


# Errors of public tools.


def errors() -> Html:
    """How many there are in how many tools, and three of them with both figures."""
    rows = {row.id: row for row in defects()}
    lines = Html().join(_error(rows[name]) for name in _ERRORS if name in rows)
    return Html(
        '<div class="fb-scroll" tabindex="0" role="region" aria-label="Errors of public tools">'
        '<table class="fb-errors"><thead><tr><th scope="col">Tool</th>'
        '<th scope="col" class="fb-n">Says</th>'
        '<th scope="col" class="fb-n">Is</th></tr></thead><tbody>{}</tbody></table></div>'
    ).format(lines)


def _error(row: Row) -> Html:
    """A row: the tool and what it is about, the figure that it gives, and the right one."""
    assert row.defect and row.corrected
    name = link(row.defect.tool, html_link(PAGE, f"{PITFALLS}#{row.id}"))
    return Html(
        '<tr><th scope="row">{} <span class="fb-note">{}</span></th><td class="fb-n">{}</td>'
        '<td class="fb-n"><strong>{}</strong></td></tr>'
    ).format(name, _ERRORS[row.id], stated_words(row.stated), stated_words(row.corrected))


def wrong_words() -> Html:
    """What was found in other tools, in two sentences."""
    rows = defects()
    tools = {row.defect.tool for row in rows if row.defect}
    return Html(
        "We read the code of {} public calculators and planners and found {} places where the "
        "number is wrong for a reason that can be named: a sparse peak taken for a dense one, keys "
        "counted for every head, memory that no chip holds. Each has the line of code, the right "
        "value, and a test that computes both again."
    ).format(len(tools), len(rows))


# What there is to look up.


def chips_words() -> Html:
    """How many products there are, and comparisons that people ask for."""
    rows = items()
    pairs = (("H100 and MI300X", "h100-sxm,mi300x"), ("B200 and TPU7x", "b200,tpu-v7x"))
    index = html_link(PAGE, INDEX)
    links = Html(", ").join(
        link(words, Html("{}?view=compare&amp;compare={}").format(index, attribute(ids)))
        for words, ids in pairs
    )
    return Html(
        "{:,} products of {} vendors. Dense and sparse rates are never mixed, nor one way and both "
        "ways; each value is a click from its source. Compare {}."
    ).format(len(rows), len({row.entry.vendor for row in rows}), links)


def works_words() -> Html:
    """How many works there are, and where to begin."""
    count = sum(work.is_work for work in references().values())
    return Html(
        "{:,} works by {}, each with a note on what it shows and when to read it. {}."
    ).format(
        count,
        link("topic", html_link(PAGE, "references/index.md")),
        link("What is new", html_link(PAGE, "references/new.md")),
    )
