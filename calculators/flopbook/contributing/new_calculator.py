"""A new calculator: a function that runs, its test, and its place among the others; what is to be
written is marked.
"""

from __future__ import annotations

import ast
import importlib.util
import keyword
import re
from pathlib import Path
from typing import NamedTuple

from flopbook.contributing.new_entry import write_new
from flopbook.errors import FlopbookError, UnknownName, shorten
from flopbook.formulas import CATALOGUE, SECTIONS

MARK = "FILL" + " IN"  # in two pieces, so that this file does not look unfinished itself
FORMULAS = "calculators/flopbook/formulas"
MAX_LINES = 400  # of a file
NEEDS = ("Annotated", "Any", "Input", "Output", "formula")

HEAD = f'''\
"""{MARK}: what the calculators of this file are about, in one line."""

from typing import Annotated, Any

from flopbook.formulas.declaration import Input, Output, formula
'''
FUNCTION = f'''

@formula(
    "<id>",
    title="{MARK}: the title of its page",
    question="{MARK}: what does it answer?",
    outputs={{"seconds": Output("s", "T", "{MARK}: what comes out, in SI units")}},
    sources=(),  # {MARK}: keys of the bibliography
    # {MARK}: options as typed; the first example fills the form
    examples=({{"bytes": "140GB", "chip": "h100-sxm"}},),
)
def <name>(
    bytes: Annotated[float, Input("byte", "Q", "{MARK}: what goes in")],
    bandwidth: Annotated[
        float, Input("byte/s", r"\\beta", "memory bandwidth", chip="memory_bandwidth")
    ],
) -> dict[str, Any]:
    """{MARK}: what it computes, in one line.

    Derivation:
        {MARK}: how the formula follows.

    Leaves out:
        {MARK}: what it does not count, and how large that is.
    """
    return {{"seconds": bytes / bandwidth}}
'''
TEST = f'''\
"""{MARK}: what is tested, in one line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.errors import FlopbookError
from flopbook.formulas import <name>

ONE: dict[str, float] = {{"bytes": 140e9, "bandwidth": 3.5e12}}


@given(st.floats(1, 1e15), st.floats(1e6, 1e15), st.floats(1, 1e3))
def test_it_scales_as_it_should(bytes: float, bandwidth: float, times: float) -> None:
    """{MARK}: the laws. In which inputs it rises, by what factor; what stays the same."""
    once = <name>(bytes=bytes, bandwidth=bandwidth)["seconds"]
    more = <name>(bytes=bytes * times, bandwidth=bandwidth)["seconds"]
    assert more == pytest.approx(once * times, rel=1e-12)


def test_the_limits() -> None:
    """{MARK}: what must come out at the ends: one chip, nothing to move, no limit."""
    pytest.fail("{MARK}: the limits of <id>")


def test_a_value_worked_by_hand() -> None:
    """{MARK}: the steps of the sum, in words."""
    assert <name>(**ONE)["seconds"] == pytest.approx(0.04)


def test_a_published_value() -> None:
    """{MARK}: the key of the source, its table or page, and how far ours may be from it."""
    pytest.fail("{MARK}: a published value of <id>, with its source")


@pytest.mark.parametrize(
    ("change", "message"),
    [({{"bytes": 0}}, "bytes is 0, expected more than 0"), ({{"bandwidth": -1}}, "bandwidth is -1")],
)
def test_inputs_that_make_no_sense_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        <name>(**{{**ONE, **change}})
'''


class NewCalculator(NamedTuple):
    """A calculator to be: its name, the section in which it is taught, and the module that it is
    written in.
    """

    id: str
    section: str
    module: str

    @property
    def name(self) -> str:
        """Its name in Python."""
        return self.id.replace("-", "_")


def default_module(section: str) -> str:
    """The module of the last calculator of a section.

    Raises UnknownName for a section that is none.
    """
    if section not in SECTIONS:
        raise UnknownName("section", section, SECTIONS)
    return list(SECTIONS[section].values())[-1]


def refuse_name(id: str, taken: tuple[str, ...] = ()) -> None:
    """Raises FlopbookError for a name that is none, or that something else has; `taken` are further
    such names.
    """
    if id in CATALOGUE:
        raise FlopbookError(
            f"'{id}' is there already: {FORMULAS}/{CATALOGUE[id]}.py; flopbook where {id}"
        )
    name = id.replace("-", "_")
    if (
        not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", id)
        or keyword.iskeyword(name)
        or len(id) > 40
    ):
        raise FlopbookError(
            f"'{shorten(id)}' is no name of a calculator; expected lower case words with hyphens, such as min-batch"
        )
    rooms = (f"flopbook.{name}", f"flopbook.formulas.{name}")
    if id in taken or name in taken or any(importlib.util.find_spec(room) for room in rooms):
        raise FlopbookError(
            f"'{id}' is the name of a command or of a part of the package; choose another"
        )


def texts(new: NewCalculator, root: Path) -> dict[Path, str]:
    """The files of a new calculator as they will be. Raises FlopbookError where it does not fit."""
    if new.section not in SECTIONS:
        raise UnknownName("section", new.section, SECTIONS)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", new.module) or keyword.iskeyword(new.module):
        raise FlopbookError(
            f"'{shorten(new.module)}' is no name of a module; expected lower case words with _"
        )
    if new.module in (new.name, *(one.replace("-", "_") for one in CATALOGUE)):
        raise FlopbookError(
            f"--module {new.module} would hide the calculator of that name; name it after its subject"
        )
    folder = root / FORMULAS
    written, register = folder / f"{new.module}.py", folder / "__init__.py"
    test = root / "tests" / "formulas" / f"test_{new.name}.py"
    if test.exists():
        raise FlopbookError(f"{test.relative_to(root)} is there already; nothing was written")
    before = written.read_text(encoding="utf-8") if written.exists() else HEAD
    if written.exists():
        _check_room(new, before)
    return {
        written: before + _named(FUNCTION, new),
        test: _named(TEST, new),
        register: registered(register.read_text(encoding="utf-8"), new),
    }


def function_text(new: NewCalculator) -> str:
    """The function alone."""
    return _named(FUNCTION, new).lstrip("\n")


def write(files: dict[Path, str]) -> None:
    """Write them: those that are not there first, so that a race loses before anything is changed."""
    there = [path for path in files if path.exists()]
    for path in files:
        if path not in there:
            write_new(path, files[path])
    for path in there:
        path.write_text(files[path], encoding="utf-8", newline="\n")


def _named(template: str, new: NewCalculator) -> str:
    return template.replace("<id>", new.id).replace("<name>", new.name)


def _check_room(new: NewCalculator, text: str) -> None:
    """Refuse a module that is full, that lacks what a formula needs, or that uses the name for
    something else.
    """
    bound: set[str] = set()
    for node in ast.parse(text).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            bound |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            bound.add(node.name)
        elif isinstance(node, ast.Assign):
            bound |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    lines = len(text.splitlines()) + len(FUNCTION.splitlines())
    wrong = (
        f"has no room: {lines} lines, at most {MAX_LINES}"
        if lines > MAX_LINES
        else f"has a {new.name} already"
        if new.name in bound
        else f"does not import {', '.join(n for n in NEEDS if n not in bound)}"
        if set(NEEDS) - bound
        else ""
    )
    if wrong:
        raise FlopbookError(
            f"{FORMULAS}/{new.module}.py {wrong}; give the module with --module, such as a new one"
        )


def registered(text: str, new: NewCalculator) -> str:
    """The text of formulas/__init__.py with one more calculator at the end of its section."""
    sections = next(
        node.value
        for node in ast.parse(text).body
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "SECTIONS"
    )
    assert isinstance(sections, ast.Dict)
    found = dict(
        zip([getattr(key, "value", "") for key in sections.keys], sections.values, strict=True)
    )
    section = found[new.section]
    row = f'        "{new.id}": "{new.module}",\n'
    lines = text.splitlines(keepends=True)
    first, last = section.lineno - 1, (section.end_lineno or 0) - 1
    if last > first:
        return "".join([*lines[:last], row, *lines[last:]])
    rows = "".join(
        f'        "{name}": "{module}",\n' for name, module in ast.literal_eval(section).items()
    )
    head, tail = lines[first][: section.col_offset], lines[first][section.end_col_offset :]
    return "".join([*lines[:first], f"{head}{{\n{rows}{row}    }}{tail}", *lines[first + 1 :]])
