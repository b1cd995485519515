"""Pages of calculators: formula, form, derivation, command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import date

from flopbook.data.library import reference, references
from flopbook.drawing.pictures import shown_answer
from flopbook.evaluation.answers import ORIGINS, example
from flopbook.faces.latex import equations
from flopbook.formulas import SECTIONS, get_formula
from flopbook.formulas.declaration import Formula, Input, Output
from flopbook.formulas.left_out import left_out
from scripts.website.markup import (
    Html,
    Markdown,
    attribute,
    code_block,
    coded,
    front_matter,
    maths,
    maths_block,
    page_text,
    relative,
    table,
    tag,
)
from scripts.website.pages import planner
from scripts.website.pages.answer_pictures import picture_section
from scripts.website.pages.forms import (
    calculated_example,
    form_markup,
    form_words,
    scenarios,
)
from scripts.website.pages.inner_letters import inner_names, letters_line
from scripts.website.pages.pitfalls import PAGE as PITFALLS
from scripts.website.pages.pitfalls import pitfalls_of
from scripts.website.pages.sources import (
    bibtex_block,
    cited_bibtex,
    html_link,
    listed,
    page_bibtex,
    stylesheet,
    whole_lines,
)
from scripts.website.pages.terms import term_link

INDEX = "calculators/index.md"
# What only programs call an input or output by: in backticks, or with an underscore.
_NAME_IN_PROGRAMS = re.compile(r"`[a-z_]+`|\b[a-z]+(?:_[a-z]+)+\b")
_HEAD_OF_MEANING = re.compile(r"[,;:]| \(")  # as labels of forms are cut
MOST_PRINTED = 20  # lines of an answer in a terminal that is shown whole
MOST_SHOWN = 5  # equations of a page that are not folded away
MOST_SYMBOLS = 16  # rows of a table that is not folded away
# Questions of the first page: calculator, scenario of its form, and how people ask it.
_QUESTIONS = (
    ("memory", "70B on 64 H100", "How much memory does training a 70B on 64 H100 take?"),
    ("fsdp-limit", "H100, within a node", "How small may a batch be with FSDP on H100?"),
    (
        "collective",
        "All-reduce of 1 GB, 64 H100",
        "How long is an all-reduce of 1 GB over 64 H100?",
    ),
    ("serving", "DeepSeek-V3 on 8 H200", "Does DeepSeek-V3 fit on 8 H200, and how fast is it?"),
    ("kv-cache", "Llama 3 70B, one long chat", "How large is the KV cache of a long chat?"),
    (
        "training-time",
        "8B, 15T tokens on 1,024 H100",
        "What does training an 8B on 15 trillion tokens cost?",
    ),
)
_IN_PYTHON = """\
from flopbook import calculate, min_batch

calculate("min-batch", chip="h100-sxm")["tokens"]
min_batch(peak=1e15, bandwidth=4e12)"""


def calculator_page(name: str) -> str:
    """The content path of a calculator."""
    return f"calculators/{name}.md"


def index_page() -> str:
    """All calculators with their question and an example."""
    blocks = [
        front_matter(
            "Calculators",
            "Formulas of parallelism and hardware, on the page, in a terminal and in Python.",
        ),
        stylesheet(INDEX, "assets/flopbook/answer.css"),
        Markdown("# Calculators\n"),
        tag(
            "p",
            "Each answers one question about a run, with its formula and its sources.",
            "fb-lead",
        ),
        Html("\n"),
        _asked(),
    ]
    for title, names in SECTIONS.items():
        blocks.append(Markdown("## {}\n").format(title))
        blocks.append(_tools(names))
    blocks += [
        Markdown("## How they stay right\n"),
        Markdown(
            "Each is one Python function. The form on its page, the printed formula, the command "
            "and the JSON are generated from that function, and a test checks that they agree. "
            "Calculators that loop have no printed formula, and the script of their form is "
            "written by hand, so it is tested against the function on thousands of random inputs. "
            "Each can also be solved for any input and swept over a range: see [using the "
            "calculators]({}). How far they are from what people measure is on [measured against "
            "computed]({}).\n"
        ).format(relative(INDEX, "using.md"), relative(INDEX, "measured.md")),
        Markdown(
            "Other tools answer some of these questions too; [what goes wrong in practice]({}) "
            "says where they differ, and [conventions]({}) defines the terms that people read "
            "differently.\n"
        ).format(relative(INDEX, PITFALLS), relative(INDEX, "conventions.md")),
        Markdown("## In Python\n"),
        code_block(_IN_PYTHON, "python") + Html("\n"),
    ]
    return page_text(blocks)


def _asked() -> Html:
    """Questions that people come with, each as a link to the form that has it answered."""
    links = (
        Html('<li><a href="{}">{}</a></li>').format(attribute(address), said)
        for address, said in _asked_links()
    )
    return Html('<ul class="fb-asked">\n{}\n</ul>\n').format(Html("\n").join(links))


def _asked_links() -> Iterator[tuple[str, str]]:
    yield (
        html_link(INDEX, planner.PAGE),
        "Will a model train on these chips, how fast, at what cost?",
    )
    yield (
        html_link(INDEX, planner.SERVING),
        "Will these chips serve a model, how fast, at what cost?",
    )
    listed = {name for names in SECTIONS.values() for name in names}
    for name, label, said in _QUESTIONS:
        if name not in listed:
            continue
        query = scenarios(get_formula(name))[label]
        yield f"{html_link(INDEX, calculator_page(name))}{query}", said


def _tools(names: Iterable[str]) -> Html:
    """Calculators, each with its question."""
    cells = (
        Html('<li><a href="{}">{}</a><span>{}</span></li>').format(
            attribute(html_link(INDEX, calculator_page(name))),
            get_formula(name).title,
            get_formula(name).question,
        )
        for name in names
    )
    return Html('<ul class="fb-index">\n{}\n</ul>\n').format(Html("\n").join(cells))


def calculator_markdown(name: str, notebook: bool = False) -> str:
    """The page of a calculator: question, formula, form, command, derivation, limits, sources.

    `notebook` says whether there is one of its name.
    """
    formula = get_formula(name)
    page = calculator_page(name)
    steps = _equations(formula) if formula.printed else _working(formula)
    blocks = [
        front_matter(formula.title, f"{formula.question} {formula.summary}"),
        stylesheet(page, "assets/flopbook/answer.css"),
        Markdown("# {}\n").format(formula.title),
        Markdown('<p class="fb-lead">{}</p>\n').format(formula.question),
        form_markup(formula),
        *steps,
        _symbol_table(formula),
        Markdown("\n## Why\n"),
        *_paragraphs(formula.section("Derivation")),
        Markdown("## What it leaves out\n"),
        *(
            Markdown("- {}").format(coded(_labelled(formula, str(omission))))
            for omission in left_out(formula)
        ),
        Html("\n"),
        *pitfalls_of(name, page),
        *picture_section(name),
        Markdown("## In a terminal\n"),
        *(_terminal(formula, number) for number in range(len(formula.examples))),
        _command_line(name, page, notebook),
        Markdown("## Sources\n"),
        *listed(formula.sources, page),
        Markdown("\n## Cite\n"),
        *_bibtex_blocks(formula),
    ]
    return page_text(blocks) + "\n"


def _labelled(formula: Formula, text: str) -> str:
    """A text with the labels of inputs and outputs in place of their names in programs."""

    def label(match: re.Match[str]) -> str:
        name = match[0].strip("`")
        spec = formula.outputs.get(name) or formula.inputs.get(name)
        return f"“{_HEAD_OF_MEANING.split(spec.meaning)[0]}”" if spec else match[0]

    return _NAME_IN_PROGRAMS.sub(label, text)


def _paragraphs(text: str) -> list[Html]:
    paragraphs = text.split("\n\n")
    return [Markdown("{}\n").format(coded(words)) for words in paragraphs if words.strip()]


def _symbol_table(formula: Formula) -> Html:
    page = calculator_page(formula.id)
    specs: list[tuple[str, Input | Output]] = [*formula.inputs.items(), *formula.outputs.items()]
    rows = [
        (term_link(name, spec, page), maths(spec.symbol), spec.meaning, spec.unit)
        for name, spec in specs
    ]
    symbols = table(("Name", "Symbol", "Meaning", "Unit"), rows, caption="Symbols")
    if len(rows) <= MOST_SYMBOLS:
        return symbols
    return Html(
        '<details class="fb-fold"><summary>Symbols '
        '<span class="fb-fine">{} inputs and outputs with their units</span></summary>\n{}\n'
        "</details>\n"
    ).format(len(rows), symbols)


def _equations(formula: Formula) -> list[Html]:
    """The equations that carry the answer, each with a sentence; those on the way are folded."""
    latex_of = equations(formula)
    main = main_equations(formula)
    blocks: list[Html] = [Markdown("## Formula\n"), Markdown("{}\n").format(formula.summary)]
    inner = inner_names(formula, main)
    for name, sentence in main.items():
        blocks += [Markdown("{}\n").format(sentence), maths_block(latex_of[name])]
        blocks.append(letters_line(formula, inner[name]))
    folded = [equation for name, equation in latex_of.items() if name not in main]
    if folded:
        steps = Html("\n").join(map(maths_block, folded))
        blocks.append(
            Html(
                '<details class="fb-fold"><summary>Every step '
                '<span class="fb-fine">{} more equations</span></summary>\n{}</details>\n'
            ).format(len(folded), steps)
        )
    return blocks


def main_equations(formula: Formula) -> dict[str, str]:
    """At most five computed names, each with its sentence: those that an editor chose.

    Else the first outputs, with what they mean.
    """
    latex_of = equations(formula)
    chosen: dict[str, str] = form_words().get(formula.id, {}).get("formulas", {})
    if chosen:
        return chosen
    outputs = [(name, spec.meaning) for name, spec in formula.outputs.items() if name in latex_of]
    return {name: f"{meaning[0].upper()}{meaning[1:]}:" for name, meaning in outputs[:MOST_SHOWN]}


def _working(formula: Formula) -> list[Html]:
    """The steps of the first example, for a calculator in plain Python that prints no equation."""
    assert formula.working is not None
    inputs = {
        name: entry.value
        for name, entry in calculated_example(formula).inputs.items()
        if name in formula.inputs
    }
    steps = formula.working(**{**formula.defaults, **inputs})
    return [
        Markdown("## Step by step\n"),
        Markdown("The first example:\n"),
        *(Html("1. {}").format(step) for step in steps),
        Html("\n"),
    ]


def _terminal(formula: Formula, number: int) -> Html:
    """One example as a terminal shows it, command and answer.

    Of a long answer the results are shown; of the first, all of it opens on a click.
    """
    command = f"$ {example(formula, number)}"
    answer = shown_answer(calculated_example(formula, number))
    lines = answer.split("\n")
    is_long = len(lines) > MOST_PRINTED and ORIGINS in lines
    shown = lines[: lines.index(ORIGINS)] if is_long else lines
    block = code_block("\n".join([command, *shown]), "console") + Html("\n")
    if not is_long or number > 0:
        return block
    return block + Html(
        '<details class="fb-fold"><summary>The whole answer '
        '<span class="fb-fine">{} lines, with where each input is from</span></summary>'
        '<pre tabindex="0"><code>{}</code></pre></details>\n'
    ).format(len(lines), whole_lines(answer))


def _command_line(name: str, page: str, notebook: bool) -> Html:
    plot = Markdown()
    if notebook:
        plot = Markdown("[Notebook with a plot]({}), ").format(
            relative(page, f"notebooks/{name}.ipynb")
        )
    return Markdown(
        "Add `--explain` for the steps with the numbers put in, `--json` for a program. {}[all "
        "calculators]({}).\n"
    ).format(plot, relative(page, INDEX))


def _bibtex_blocks(formula: Formula) -> list[Html]:
    """BibTeX of the page, as of the newest reading of any source, and of the formula's sources."""
    # A calculator takes values of any source, so the newest reading dates its page.
    read = date.fromisoformat(max(source.urldate for source in references().values()))
    title = f"{formula.title}: a calculator"
    sources = [cited_bibtex(reference(key)) for key in formula.sources]
    noun = "source" if len(sources) == 1 else "sources"
    return [
        bibtex_block("BibTeX of this page", page_bibtex(title, "calculator", formula.id, read))
        + Html("\n"),
        bibtex_block(f"BibTeX of its {noun}", "\n\n".join(sources)),
    ]
