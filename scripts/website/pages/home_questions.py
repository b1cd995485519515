"""The two questions of the first page, with their answers for an example.

`home/ask.js` answers in the browser from the same formulas, layouts and sentences, which `files`
writes for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from flopbook.architectures.shape import Shape, shape
from flopbook.data.library import model_ids, vendor
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import get_formula
from flopbook.hardware.picked import Picked
from flopbook.quantities.units import format_quantity
from scripts.website.markup import Html, attribute, tag
from scripts.website.pages.calculators import calculator_page
from scripts.website.pages.explorer import START, ExplorerRow, items, state_of
from scripts.website.pages.forms import form_record
from scripts.website.pages.quantities import peak_id, value_of
from scripts.website.pages.sources import html_link

PAGE = "index.md"
DATA = "assets/flopbook/home/ask.json"
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
# Of these one may ask whether something runs on them: sold or rented today, with enough memory.
_STATES = ("shipping", "cloud-only")
_LEAST_MEMORY = 16e9


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
        if is_asked_for(row):
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


def is_asked_for(row: ExplorerRow) -> bool:
    """Whether people may ask for a chip today: sold or rented, with rates and memory on file."""
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
