"""`where` and `new`: which file to edit, and a new one to fill in."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path
from typing import Any

from flopbook.cli.layout import print_json
from flopbook.cli.listing import KINDS, STATES
from flopbook.cli.parser import Option, UsageError
from flopbook.cli.plain import PLAIN, command
from flopbook.contributing import new_entry as authoring
from flopbook.contributing.where import Place, fields, find
from flopbook.data.library import library, reference_keys
from flopbook.data.repository import CLONE, checkout, edit_url, repository_path
from flopbook.errors import UnknownName, show_path
from flopbook.formulas import SECTIONS
from flopbook.quantities.choices import choice

# What must be given, with what is asked for where it is not; a default of None must be answered.
ASKED = {
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
MAY = {
    "chip": ("summary",),
    "vendor": ("summary",),
    "calculator": ("module",),
    "reference": ("topic", "offline"),
}


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
        shown = show_path(place.path) if editable else repository_path(place.path)
        print("  ".join(word for word in (f"{shown}:{place.line}", place.says, url) if word))
    if not editable:
        print(
            "note: files of the repository; this is an installed package, which is not to be edited"
        )


def _record(place: Place, url: str, editable: bool) -> dict[str, Any]:
    record = {
        "kind": place.kind,
        "id": place.id,
        "file": repository_path(place.path),
        "line": place.line,
    }
    record |= {"path": str(place.path)} if editable else {}
    record |= {"says": place.says} if place.says else {}
    return record | ({"edit_url": url} if url else {})


@command(
    "new",
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
    argument="WHAT ID",
)
def new_command(what: str, id: str, dry_run: bool, as_json: bool, **given: Any) -> None:
    """Write what a new chip, vendor, reference or calculator needs, ready to fill in. Nothing is
    overwritten.

    WHAT is chip, vendor, reference or calculator; ID is VENDOR/PRODUCT, VENDOR, an arXiv id, DOI or
    address, or NAME. A chip or vendor is valid from the start; what is not given is asked for in a
    terminal. A reference comes with what arXiv, the DOI or the page says of it; the note and the
    topics are left to you. A calculator gets its function, its test and its place in the list of
    all calculators.

    Example: flopbook new chip nvidia/a1 --name "A1 96GB" --kind package --status announced --source acme2026a1
    --dry-run
    """
    if what not in ASKED:
        raise UnknownName("kind of file", what, ASKED)
    root = checkout()
    if root is None and not dry_run:
        raise UsageError(CLONE)
    _refuse_foreign(what, given)
    if what == "reference":
        from flopbook.cli.adding import new_reference

        return new_reference(id, given["topic"], given["offline"], dry_run, as_json)
    if what == "calculator":
        return _new_calculator(id, given, dry_run, as_json)
    if what == "chip":
        authoring.refuse_known_chip(id, given["name"] or "")
    values = _answered(what, id, given)
    near, text = _made(what, id, values)
    path = library().accelerators / (f"{id}.yaml" if what == "chip" else f"{id}/vendor.yaml")
    if not dry_run:
        authoring.write_new(path, text)
    steps = _steps(what, id, values, path)
    if as_json:
        print_json(
            {
                "file": repository_path(path),
                "written": not dry_run,
                "text": text,
                "nearest": list(near),
                "next": steps,
            }
        )
    elif dry_run:
        print(text, end="")
    else:
        print(
            f"{show_path(path)} is written"
            + (f"; is it one of these? {', '.join(near)}" if near else "")
        )
        print("\n".join(f"{n}. {step}" for n, step in enumerate(steps, 1)))


def _new_calculator(id: str, given: dict[str, Any], dry_run: bool, as_json: bool) -> None:
    """The function, the test and the place of a new calculator."""
    from flopbook import __all__ as public
    from flopbook.contributing import new_calculator as skeleton

    skeleton.refuse_name(id, (*PLAIN, *public))
    values = _answered("calculator", id, given)
    values["section"] = choice(values["section"], SECTIONS)
    new = skeleton.NewCalculator(
        id, values["section"], values["module"] or skeleton.default_module(values["section"])
    )
    files = skeleton.texts(new, library().accelerators.parent)
    if not dry_run:
        skeleton.write(files)
    function, test, _ = files
    steps = [
        f"fill in {show_path(function)} and {show_path(test)}: every {skeleton.MARK}; calculators/README.md explains",
        f"python -m pytest tests/test_house.py tests/faces {show_path(test)}",
        f"flopbook {id} --explain, and {id} --help",
        f"a notebook if a plot helps: calculators/notebooks/{id}.py",
        "make lint, make test",
    ]
    if as_json:
        texts = {
            path.relative_to(library().accelerators.parent).as_posix(): text
            for path, text in files.items()
        }
        print_json({"files": texts, "written": not dry_run, "next": steps})
    elif dry_run:
        print(skeleton.function_text(new) + "\n\n" + files[test], end="")
    else:
        print("\n".join(f"{show_path(path)} is written" for path in files))
        print("\n".join(f"{n}. {step}" for n, step in enumerate(steps, 1)))


def _refuse_foreign(what: str, given: dict[str, Any]) -> None:
    for other, asked in ASKED.items():
        for name in (*asked, *MAY[other]):
            if other != what and name not in (*ASKED[what], *MAY[what]) and given[name]:
                raise UsageError(
                    f"--{name.replace('_', '-')} is for new {other}, not for new {what}"
                )


def _answered(what: str, new_id: str, given: dict[str, str | None]) -> dict[str, str]:
    """The values that were given, and answers for the others; without a terminal their flags are
    named.
    """
    defaults = {"as_of": datetime.date.today().isoformat()}
    open_ = [name for name in ASKED[what] if not given[name]]
    asks = sys.stdin is not None and sys.stdin.isatty()
    missing = [f"--{name.replace('_', '-')}" for name in open_ if name not in defaults]
    if missing and not asks:
        raise UsageError(
            f"new {what} {new_id} needs {', '.join(missing)}; in a terminal they are asked for"
        )
    values = {name: given[name] or defaults.get(name, "") for name in (*ASKED[what], *MAY[what])}
    for name in open_ if asks and missing else ():
        values[name] = _ask(ASKED[what][name], defaults.get(name, ""))
    return values


def _ask(question: str, default: str) -> str:
    """An answer from the terminal; an empty one takes the default, or is asked for again."""
    while True:
        print(
            f"{question}{f' [{default}]' if default else ''}: ", end="", file=sys.stderr, flush=True
        )
        line = sys.stdin.readline()
        if not line:
            raise UsageError(f"no answer: {question}")
        if line.strip() or default:
            return line.strip() or default


def _made(what: str, new_id: str, values: dict[str, str]) -> tuple[tuple[str, ...], str]:
    if what == "vendor":
        near = authoring.refuse_known_vendor(new_id, values["name"])
        return near, authoring.vendor_text(authoring.NewVendor(new_id, **values))
    near = authoring.refuse_known_chip(new_id, values["name"])
    return near, authoring.chip_text(authoring.NewChip(new_id, **values))


def _steps(what: str, new_id: str, values: dict[str, str], path: Path) -> list[str]:
    fill = f"fill in {show_path(path)}: every value with unit, source, date and conditions"
    if what == "vendor":
        return [fill, f"flopbook new chip {new_id}/PRODUCT", "flopbook lint"]
    cite = (
        []
        if values["source"] in reference_keys()
        else [f"add the source {values['source']} to bibliography/"]
    )
    return [*cite, fill, "flopbook lint", "flopbook diff origin/main"]
