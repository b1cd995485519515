"""`where` and `new`: which file to edit, and a new one to fill in."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flopbook.cli.layout import print_json
from flopbook.cli.listing import KINDS, STATES
from flopbook.cli.parser import Option, UsageError
from flopbook.cli.plain import PLAIN, command
from flopbook.contributing import new_entry as authoring
from flopbook.contributing.where import Place, fields, find
from flopbook.data.files import write_new
from flopbook.data.folders import VENDOR_FILE, is_id
from flopbook.data.library import library, reference_keys
from flopbook.data.repository import CLONE, checkout, edit_url, repository_path
from flopbook.errors import UnknownName, shorten, show_path
from flopbook.formulas import SECTIONS
from flopbook.quantities.choices import choice

# What each kind of file must be given, with the question that asks for it in a terminal.
QUESTIONS = {
    "chip": {
        "name": "name, as it is sold",
        "kind": f"kind ({', '.join(KINDS)})",
        "status": f"state ({', '.join(STATES)})",
        "source": "BibTeX key of the source, such as acme2026a1",
        "as_of": "day on which you read it",
    },
    "vendor": {"name": "name", "website": "address of its website"},
    "calculator": {"section": f"section ({', '.join(SECTIONS)})"},
    "reference": {},
}
# What may be given as well.
OPTIONAL = {
    "chip": ("summary",),
    "vendor": ("summary",),
    "calculator": ("module",),
    "reference": ("topic", "offline"),
}
INSTALLED = "note: files of the repository; this is an installed package, which is not to be edited"


@command(
    "where",
    Option("--field", "field", "The lines of the claims of this field, such as peak.", "FIELD"),
    Option(
        "--edit-url", "with_url", "Print the address of the page on which the file is edited, too."
    ),
    argument="NAME",
)
def where_command(name: str, field: str | None, with_url: bool, as_json: bool) -> None:
    """Print the file to edit, and its line.

    NAME is a chip, vendor, model, reference, row of the ledger or calculator; the start of a
    product's name gives all products that begin so.

    Example: flopbook where h100-sxm
    """
    places = find(name)
    if field is not None:
        places = fields(places, field)
    editable = checkout() is not None
    urls = [edit_url(place.path) if with_url else "" for place in places]
    if as_json:
        print_json([_record(place, url, editable) for place, url in zip(places, urls, strict=True)])
        return
    for place, url in zip(places, urls, strict=True):
        file = show_path(place.path) if editable else repository_path(place.path)
        print("  ".join(word for word in (f"{file}:{place.line}", place.says, url) if word))
    if not editable:
        print(INSTALLED)


def _record(place: Place, url: str, editable: bool) -> dict[str, Any]:
    record = {
        "kind": place.kind,
        "id": place.id,
        "file": repository_path(place.path),
        "line": place.line,
    }
    if editable:
        record["path"] = str(place.path)
    if place.says:
        record["says"] = place.says
    if url:
        record["edit_url"] = url
    return record


_NEW_OPTIONS = (
    Option("--name", "name", "The name: of a product as it is sold, or of a company.", "NAME"),
    Option("--kind", "kind", f"Of a chip: {', '.join(KINDS)}.", "KIND"),
    Option("--status", "status", f"Of a chip: {', '.join(STATES)}.", "STATE"),
    Option("--source", "source", "Of a chip: the BibTeX key of the source.", "KEY"),
    Option(
        "--as-of",
        "as_of",
        "Of a chip: the day on which you read it (default: today).",
        "YYYY-MM-DD",
    ),
    Option("--website", "website", "Of a vendor: the address of its website.", "URL"),
    Option("--section", "section", f"Of a calculator: {', '.join(SECTIONS)}.", "SECTION"),
    Option(
        "--module",
        "module",
        "Of a calculator: the file in formulas/ (default: last of the section).",
        "NAME",
    ),
    Option(
        "--summary", "summary", "Of a chip or vendor: one or two sentences of your own.", "TEXT"
    ),
    Option(
        "--topic",
        "topic",
        "Of a reference: the topic that it belongs to; it decides the file.",
        "ID",
    ),
    Option("--offline", "offline", "Of a reference: ask no service, write a skeleton."),
    Option("--dry-run", "dry_run", "Print what would be written and write nothing."),
)


@command("new", *_NEW_OPTIONS, argument="WHAT ID")
def new_command(what: str, id: str, dry_run: bool, as_json: bool, **given: Any) -> None:
    """Write what a new chip, vendor, reference or calculator needs, ready to fill in.
    Nothing is overwritten.

    WHAT is chip, vendor, reference or calculator; ID is VENDOR/PRODUCT, VENDOR, an arXiv id, DOI or
    address, or NAME. A chip or vendor is valid from the start; what is not given is asked for in a
    terminal. A reference comes with what arXiv, the DOI or the page says of it; the note and the
    topics are left to you. A calculator gets its function, its test and its place in the list of
    all calculators and among the public names.

    Example: flopbook new chip nvidia/a1 --name "A1 96GB" --kind package --status announced --source
    acme2026a1 --dry-run
    """
    if what not in QUESTIONS:
        raise UnknownName("kind of file", what, QUESTIONS)
    if checkout() is None and not dry_run:
        raise UsageError(CLONE)
    _refuse_foreign(what, given)
    if what == "reference":
        from flopbook.cli.adding import new_reference  # reads the bibliography

        new_reference(id, given["topic"], given["offline"], dry_run, as_json)
    elif what == "calculator":
        _new_calculator(id, given, dry_run, as_json)
    else:
        _new_accelerator_file(what, id, given, dry_run, as_json)


def _new_accelerator_file(
    what: str, new_id: str, given: dict[str, Any], dry_run: bool, as_json: bool
) -> None:
    """The file of a new chip or vendor."""
    if what == "chip":  # before anything is asked for: the answers would be lost
        authoring.refuse_known_chip(new_id, given["name"] or "")
    values = _answers(what, new_id, given)
    nearest, text = _made(what, new_id, values)
    if not is_id(new_id) or new_id.endswith(f"/{Path(VENDOR_FILE).stem}"):
        raise UsageError(
            f"'{shorten(new_id, 80)}' cannot name a file: it is kept by Windows, too long, or "
            "the name of another page or file; choose another id"
        )
    path = library().entry_path(new_id) if what == "chip" else library().vendor_path(new_id)
    if not dry_run:
        write_new(path, text)
    steps = _steps(what, new_id, values, path)
    if as_json:
        print_json(
            {
                "file": repository_path(path),
                "written": not dry_run,
                "text": text,
                "nearest": list(nearest),
                "next": steps,
            }
        )
    elif dry_run:
        print(text, end="")
    else:
        question = f"; is it one of these? {', '.join(nearest)}" if nearest else ""
        print(f"{show_path(path)} is written{question}")
        _print_steps(steps)


def _new_calculator(
    calculator_id: str, given: dict[str, Any], dry_run: bool, as_json: bool
) -> None:
    """The function, the test and the place of a new calculator."""
    from flopbook import __all__ as public
    from flopbook.contributing import new_calculator as skeleton

    skeleton.refuse_name(calculator_id, (*PLAIN, *public))
    values = _answers("calculator", calculator_id, given)
    section = choice(values["section"], SECTIONS)
    module = values["module"] or skeleton.default_module(section)
    new = skeleton.NewCalculator(calculator_id, section, module)
    texts = skeleton.texts(new, library().root)
    if not dry_run:
        skeleton.write(texts)
    function, test, *_ = texts  # then the two files that list all calculators
    steps = [
        f"fill in {show_path(function)} and {show_path(test)}: "
        f"every {skeleton.MARK}; calculators/README.md explains",
        f"python -m pytest tests/test_house.py tests/faces {show_path(test)}",
        f"flopbook {calculator_id} --explain, and {calculator_id} --help",
        f"a notebook if a plot helps: calculators/notebooks/{calculator_id}.py",
        "make lint, make test",
    ]
    if as_json:
        root = library().root
        files = {path.relative_to(root).as_posix(): text for path, text in texts.items()}
        print_json({"files": files, "written": not dry_run, "next": steps})
    elif dry_run:
        print(skeleton.function_text(new) + "\n\n" + texts[test], end="")
    else:
        for path in texts:
            print(f"{show_path(path)} is written")
        _print_steps(steps)


def _print_steps(steps: Sequence[str]) -> None:
    for number, step in enumerate(steps, 1):
        print(f"{number}. {step}")


def _option_names(what: str) -> tuple[str, ...]:
    return (*QUESTIONS[what], *OPTIONAL[what])


def _refuse_foreign(what: str, given: dict[str, Any]) -> None:
    """Raise UsageError for an option that belongs to another kind of file."""
    own = _option_names(what)
    for kind in QUESTIONS:
        for name in _option_names(kind):
            if name not in own and given[name]:
                flag = name.replace("_", "-")
                raise UsageError(f"--{flag} is for new {kind}, not for new {what}")


def _answers(what: str, new_id: str, given: dict[str, str | None]) -> dict[str, str]:
    """The values that were given, and answers from the terminal for the others.

    Raises UsageError with the missing options where there is no terminal.
    """
    questions = QUESTIONS[what]
    defaults = {"as_of": datetime.date.today().isoformat()}
    unanswered = [name for name in questions if not given[name]]
    required = [name for name in unanswered if name not in defaults]
    in_terminal = sys.stdin is not None and sys.stdin.isatty()
    if required and not in_terminal:
        flags = ", ".join(f"--{name.replace('_', '-')}" for name in required)
        raise UsageError(f"new {what} {new_id} needs {flags}; in a terminal they are asked for")
    answers = {name: given[name] or defaults.get(name, "") for name in _option_names(what)}
    if required:  # somebody is there anyway, so defaults are offered too
        for name in unanswered:
            answers[name] = _ask(questions[name], defaults.get(name, ""))
    return answers


def _ask(question: str, default: str) -> str:
    """An answer from the terminal; an empty one takes the default, or is asked for again."""
    prompt = f"{question} [{default}]: " if default else f"{question}: "
    while True:
        # On the standard error, so that --json and --dry-run can be redirected.
        print(prompt, end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            raise UsageError(f"no answer: {question}")
        answer = line.strip() or default
        if answer:
            return answer


def _made(what: str, new_id: str, values: dict[str, str]) -> tuple[tuple[str, ...], str]:
    """Names near the new one, and the text of its file. Raises FlopbookError for a known one."""
    if what == "vendor":
        nearest = authoring.refuse_known_vendor(new_id, values["name"])
        return nearest, authoring.vendor_text(authoring.NewVendor(new_id, **values))
    nearest = authoring.refuse_known_chip(new_id, values["name"])
    return nearest, authoring.chip_text(authoring.NewChip(new_id, **values))


def _steps(what: str, new_id: str, values: dict[str, str], path: Path) -> list[str]:
    """What is left to the contributor."""
    fill = f"fill in {show_path(path)}: every value with unit, source, date and conditions"
    if what == "vendor":
        return [fill, f"flopbook new chip {new_id}/PRODUCT", "flopbook lint"]
    steps = [fill, "flopbook lint", "flopbook diff origin/main"]
    if values["source"] not in reference_keys():
        steps.insert(0, f"add the source {values['source']} to bibliography/")
    return steps
