"""Pages of calculators: formula, form, derivation, command line."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from datetime import date

from flopbook.architectures.shape import shape
from flopbook.data.library import entry_ids, load_entry, model_ids, reference, references
from flopbook.drawing.markup import escape, front_matter, inline, relative, table
from flopbook.drawing.pictures import shown_answer
from flopbook.errors import FlopbookError
from flopbook.evaluation.answers import example, said
from flopbook.evaluation.calculator import (
    DOMAIN_ENDS,
    DTYPE_BYTES,
    SMALL_BATCH,
    Result,
    Value,
    calculate,
    takes,
)
from flopbook.faces.latex import latex
from flopbook.formulas import SECTIONS, get_formula, printed
from flopbook.formulas.declaration import Formula
from flopbook.hardware.chip import Chip
from flopbook.hardware.picked import Picked
from flopbook.quantities.unit_table import COUNT_SUFFIXES, COUNTS, PLAIN_SUFFIXES, UNITS
from flopbook.quantities.units import CUSTOMARY, PREFIXES, format_quantity
from scripts.website.pages.pitfalls import PAGE as PITFALLS
from scripts.website.pages.pitfalls import pitfalls_of
from scripts.website.pages.sources import bibtex_block, cite, page_bibtex
from scripts.website.pages.terms import term_link

INDEX = "calculators/index.md"
FOLDED_FROM = 16  # a form with so many inputs folds them into their groups
# What forms take from chips as calculators do, each with a calculator that asks for it.
TAKEN = (
    ("min-batch", ("bandwidth",)),
    ("fsdp-limit", ("link_bandwidth", "axes", "links_per_axis")),
    ("collective", ("topology",)),
    ("serving", ("memory",)),
    ("cluster-power", ("power",)),
)


def calculator_page(name: str) -> str:
    """The content path of a calculator."""
    return f"calculators/{name}.md"


def index_page() -> str:
    """All calculators with their question and an example."""
    rows = []
    for title, names in SECTIONS.items():
        found = map(get_formula, names)
        rows += [
            f"## {title}\n",
            *(f"- [{inline(f.title)}]({f.id}.md): {inline(f.question)}\n" for f in found),
        ]
    return "\n".join(
        [
            front_matter(
                "Calculators",
                "Formulas of parallelism and hardware, on the page, in a terminal and in Python.",
            ),
            "# Calculators\n",
            "Each is one Python function. The form on its page, the formula in print, the command and the JSON are "
            "made from that function, and a test holds them equal. Those that need loops have no form and no printed "
            "formula: they run in a terminal and in Python, and their pages show what they print. Each can also be "
            f"solved for any input and swept over a range: [using the calculators]({relative(INDEX, 'using.md')}).\n",
            *rows,
            "Other programs answer some of these questions too: see "
            f"[what goes wrong in practice]({relative(INDEX, PITFALLS)}), and for words that two people "
            f"read in two ways [conventions]({relative(INDEX, 'conventions.md')}).\n",
            "## In Python\n",
            "```python\nfrom flopbook import calculate, min_batch\n\n"
            'calculate("min-batch", chip="h100-sxm")["tokens"]\n'
            "min_batch(peak=1e15, bandwidth=4e12)\n```\n",
        ]
    )


def calculator_markdown(name: str, notebook: bool = False) -> str:
    """One calculator: what it answers, formula, form, command, derivation, what it leaves out,
    sources.

    `notebook` says whether there is one of its name.
    """
    formula = get_formula(name)
    page = calculator_page(name)
    lines = [
        front_matter(formula.title, f"{formula.question} {formula.summary}"),
        f"# {inline(formula.title)}\n",
        f"**{inline(formula.question)}**\n",
        f"{inline(formula.summary)}\n",
        "## Compute\n",
        form_markup(formula),
        *(_equations(formula) if formula.printed else _told(formula)),
        _symbol_table(formula),
        "\n## Why\n",
        *_paragraphs(formula.section("Derivation")),
        "## What it leaves out\n",
        *_paragraphs(formula.section("Leaves out")),
        *pitfalls_of(name, page),
        *picture_section(name),
        "## In a terminal\n",
        *(_terminal(formula, number) for number in range(len(formula.examples))),
        "Add `--explain` for the steps with the numbers put in, `--json` for a program. "
        + (
            f"[Notebook with a plot]({relative(page, f'notebooks/{name}.ipynb')}), "
            if notebook
            else ""
        )
        + f"[all calculators]({relative(page, INDEX)}).\n",
        "## Sources\n",
        *(f"- {cite(key, page)}" for key in formula.sources),
        "\n## Cite\n",
        *_cite(formula),
    ]
    return "\n".join(lines) + "\n"


def _paragraphs(text: str) -> list[str]:
    return [inline(paragraph) + "\n" for paragraph in text.split("\n\n") if paragraph.strip()]


def _symbol_table(formula: Formula) -> str:
    page = calculator_page(formula.id)
    rows = [
        (term_link(name, spec, page), f"${spec.symbol}$", escape(spec.meaning), escape(spec.unit))
        for name, spec in [*formula.inputs.items(), *formula.outputs.items()]
    ]
    return table(("Name", "Symbol", "Meaning", "Unit"), rows, caption="Symbols")


def _terminal(formula: Formula, number: int) -> str:
    return f"```console\n$ {example(formula, number)}\n{shown_answer(_example(formula, number))}\n```\n"


def _example(formula: Formula, number: int = 0) -> Result:
    """The answer of an example."""
    return calculate(
        formula.id,
        **{key.replace("-", "_"): value for key, value in formula.examples[number].items()},
    )


def _equations(formula: Formula) -> list[str]:
    return ["## Formula\n", *(f"$$\n{line}\n$$\n" for line in latex(formula))]


def _told(formula: Formula) -> list[str]:
    """The steps of the first example, where the calculator is ordinary Python and no equation can
    be printed.
    """
    assert formula.working is not None
    given = {
        name: item.value
        for name, item in _example(formula).inputs.items()
        if name in formula.inputs
    }
    steps = formula.working(**{**formula.defaults, **given})
    return [
        "## Step by step\n",
        "The first example:\n",
        *(f"1. {escape(step)}" for step in steps),
        "\n",
    ]


def _cite(formula: Formula) -> list[str]:
    """BibTeX of the page, as of the newest reading of any source, and of the formula's sources."""
    read = max(item.urldate for item in references().values())
    page = page_bibtex(
        f"{formula.title}: a calculator", "calculator", formula.id, date.fromisoformat(read)
    )
    sources = [reference(key).bibtex for key in formula.sources]
    return [
        bibtex_block("BibTeX of this page", page) + "\n",
        bibtex_block(
            f"BibTeX of {'its source' if len(sources) == 1 else 'its sources'}",
            "\n\n".join(sources),
        ),
    ]


def form_markup(formula: Formula) -> str:
    """The place of the form, with the first example's answer as text for readers without
    JavaScript.

    A calculator that is ordinary Python has no form: its page says so, and shows its examples.
    """
    result = _example(formula)
    answers = "; ".join(
        f"{name}: {said(value, formula.outputs[name].unit)}"
        for name, value in result.items()
        if value is not None and not formula.outputs[name].table
    )
    gives = f"gives {escape(answers)}" if answers else "prints a table"
    line = f"<p>Example: <code>{escape(example(formula))}</code> {gives}.</p>"
    if not formula.printed:
        return f"{line}\n\nThis one runs in a terminal and in Python; the examples below show what it prints.\n"
    spec = escape(json.dumps(form_record(formula)))
    return (
        f'<div class="fb-calculator" data-calculator="{formula.id}" data-spec="{spec}">{line}'
        "<noscript><p>The form needs JavaScript; the command below does not.</p></noscript></div>\n"
    )


def form_record(formula: Formula) -> dict:
    """What the form needs to know of a formula: inputs, outputs, where values come from, first
    example.
    """
    inputs = [
        {
            "name": name,
            "unit": spec.unit,
            "meaning": spec.meaning,
            "chip": spec.chip,
            "model": spec.model,
            "dtype": spec.dtype,
            "choices": list(spec.choices),
            "least": spec.least,
            "whole": spec.whole,
            "none": spec.none,
            "group": spec.group if len(formula.inputs) >= FOLDED_FROM else "",
            "most": _finite(getattr(spec, "most", None)),
            "default": _finite(formula.defaults.get(name)),
            "optional": name in formula.defaults,
        }
        for name, spec in formula.inputs.items()
    ]
    outputs = [
        {
            "name": n,
            "unit": s.unit,
            "meaning": s.meaning,
            "needs": list(s.needs),
            "absent": s.absent,
            "choices": list(s.choices),
        }
        for n, s in formula.outputs.items()
    ]
    return {
        "id": formula.id,
        "takes": list(takes(formula)),
        "inputs": inputs,
        "outputs": outputs,
        "example": dict(formula.examples[0]),
    }


def _finite(value: object) -> object:
    return None if isinstance(value, float) and math.isinf(value) else value


def picker_record() -> dict:
    """Values of chips and models for the forms, each with the source of its claim and what must be
    known about it.
    """
    chips = [
        chip_record(Chip(load_entry(name))) for name in entry_ids() if load_entry(name).computes
    ]
    return {
        "chips": chips,
        "models": [_model_record(name) for name in model_ids()],
        "bytes": DTYPE_BYTES,
        "said": _said(),
    }


def chip_record(chip: Chip) -> dict:
    """What a form may take from a chip: peaks by format and sparsity, bandwidths, links."""
    peaks: dict[str, dict[str, dict]] = {}
    for claim in chip.claims("peak", engine="tensor"):
        if claim.dtype not in DTYPE_BYTES or claim.sparsity in peaks.get(claim.dtype, {}):
            continue
        try:
            picked = chip.pick_peak(claim.dtype, claim.sparsity)
        except FlopbookError:
            continue
        peaks.setdefault(claim.dtype, {})[claim.sparsity] = _picked(picked, picked.notes)
    names = [*chip.entry.aliases, *chip.entry.device_names]
    return {"id": chip.id, "name": chip.name, "aliases": names, "peaks": peaks} | _from_calculator(
        chip
    )


def _picked(item: Picked | Value, notes: Sequence[str] = ()) -> dict:
    record: dict = {"value": item.value, "source": item.source}
    return {**record, "notes": list(notes)} if notes else record


def _from_calculator(chip: Chip) -> dict:
    """Bandwidth, memory, power and links as the calculators take them, so that form and command
    agree.
    """
    found: dict[str, dict] = {}
    for name, wanted in TAKEN:
        spec = get_formula(name).inputs
        for one in wanted:
            try:
                result = _taken(name, one, chip=chip.id)
            except FlopbookError:
                continue
            found[spec[one].chip] = _picked(result.inputs[one], result.notes)
    if beyond := chip.pick_scaleout_bandwidth():
        found["scaleout_bandwidth"] = _picked(beyond)
    if domain := chip.pick_scaleup_domain():
        found["chips_per_node"] = _picked(domain)
        size = format_quantity(domain.value, "chip")
        found["scaleup_domain"] = _picked(domain, [DOMAIN_ENDS.format(size=size, chip=chip.id)])
    return found


def _taken(name: str, wanted: str, **picker: str) -> Result:
    """A result with one input from the chip or model and the rest given; its notes are the notes of
    that input.
    """
    formula = get_formula(name)
    # One of everything but the limits, which stay open; what an open limit says is left out below.
    # A head has a width or follows from another, so it is not open either.
    taken = [
        n
        for n, s in formula.inputs.items()
        if n not in formula.defaults or s.chip or n == "head_dim"
    ]
    given = {n: 1.0 for n in taken if not formula.inputs[n].choices}
    result = calculate(name, **picker, **{n: value for n, value in given.items() if n != wanted})
    notes = tuple(
        n for n in result.notes if n.partition(" ")[0].rstrip(":,") not in formula.outputs
    )
    return Result(formula, result.inputs, result.outputs, notes)


def _said() -> dict[str, list[str]]:
    """Notes that hang on no chip, in the words of the command: a typed peak beside a sparsity, a
    batch too small.
    """
    plain, sparse = (
        calculate("min-batch", peak=1e15, bandwidth=1e12, sparsity=s).notes for s in (None, "2:4")
    )
    return {"small": [SMALL_BATCH], "typed_peak": [note for note in sparse if note not in plain]}


def _asked_of_models() -> tuple[str, ...]:
    """The fields of models that some calculator takes as they are."""
    asked = (spec.model for formula in printed().values() for spec in formula.inputs.values())
    return tuple(dict.fromkeys(field for field in asked if field and field != "compute_params"))


def _model_record(name: str) -> dict:
    model = shape(name)
    record: dict = {"id": model.id, "name": model.model.name, "aliases": list(model.model.aliases)}
    for key in _asked_of_models():
        claim = model.claim(key)
        if claim is not None and not (model.model.kind == "dense" and key.startswith("experts")):
            value = claim.value if claim.si_value is None else claim.si_value
            record[key] = {"value": value, "source": claim.source}
    try:
        result = _taken("training-flops", "params", model=name)
        record["compute_params"] = _picked(result.inputs["params"], result.notes)
    except FlopbookError:
        pass
    return record


def units_record() -> dict:
    """The units and prefixes that the forms read, as the command line reads them."""
    units = {name: [u.factor, u.si, dict(u.dimensions)] for name, u in UNITS.items()}
    return {
        "units": units,
        "prefixes": dict(PREFIXES),
        "customary": {si: list(pair) for si, pair in CUSTOMARY.items()},
        "counts": {k: list(v) for k, v in COUNTS.items()},
        "suffixes": dict(COUNT_SUFFIXES),
        "plain": dict(PLAIN_SUFFIXES),
    }
