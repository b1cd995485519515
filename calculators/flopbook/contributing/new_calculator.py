"""A new calculator: a function that runs, its test, and its registration; gaps are marked."""

from __future__ import annotations

import ast
import importlib.util
import keyword
import re
from pathlib import Path
from typing import NamedTuple

from flopbook.data.files import read_text, write_new, write_text
from flopbook.errors import FlopbookError, UnknownName, shorten
from flopbook.formulas import CATALOGUE, SECTIONS

MARK = "FILL" + " IN"  # in two words, so that this file does not look unfinished itself
PACKAGE = "calculators/flopbook"
FORMULAS = f"{PACKAGE}/formulas"
MAX_LINES = 400  # of a file
MAX_NAME = 40  # letters
# What a module of formulas imports; the function that is added uses all of it.
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
        - {MARK}: what it does not count. [no size: {MARK}: its omission, or why it has no size]
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
    [
        ({{"bytes": 0}}, "bytes is 0, expected more than 0"),
        ({{"bandwidth": -1}}, "bandwidth is -1"),
    ],
)
def test_inputs_that_make_no_sense_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(FlopbookError, match=message):
        <name>(**{{**ONE, **change}})
'''


class NewCalculator(NamedTuple):
    """A calculator to be: its name, the section that teaches it, the module it is written in."""

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
    """Raises FlopbookError for a name that is none, or that a calculator or one of `taken` has."""
    if id in CATALOGUE:
        raise FlopbookError(
            f"'{id}' is there already: {FORMULAS}/{CATALOGUE[id]}.py; flopbook where {id}"
        )
    name = id.replace("-", "_")
    words = re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", id)
    if not words or keyword.iskeyword(name) or len(id) > MAX_NAME:
        raise FlopbookError(
            f"'{shorten(id)}' is no name of a calculator; "
            "expected lower case words with hyphens, such as min-batch"
        )
    # A calculator is imported as flopbook.NAME, which would hide a module of that name.
    modules = (f"flopbook.{name}", f"flopbook.formulas.{name}")
    if id in taken or name in taken or any(map(importlib.util.find_spec, modules)):
        raise FlopbookError(
            f"'{id}' is the name of a command or of a part of the package; choose another"
        )


def texts(new: NewCalculator, root: Path) -> dict[Path, str]:
    """The files of a new calculator as they will be. Raises FlopbookError where it does not fit."""
    _refuse_place(new)
    folder = root / FORMULAS
    module, register = folder / f"{new.module}.py", folder / "__init__.py"
    public = root / PACKAGE / "__init__.py"
    test = root / "tests" / "formulas" / f"test_{new.name}.py"
    if test.exists():
        raise FlopbookError(f"{test.relative_to(root)} is there already; nothing was written")
    before = HEAD
    if module.exists():
        before = read_text(module)
        if problem := _why_unfit(new, before):
            raise FlopbookError(
                f"{FORMULAS}/{new.module}.py {problem}; "
                "give the module with --module, such as a new one"
            )
    return {
        module: before + _named(FUNCTION, new),
        test: _named(TEST, new),
        register: registered(read_text(register), new),
        public: declared(read_text(public), new),
    }


def _refuse_place(new: NewCalculator) -> None:
    """Raises FlopbookError for a section that is none, or a module name that cannot be."""
    if new.section not in SECTIONS:
        raise UnknownName("section", new.section, SECTIONS)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", new.module) or keyword.iskeyword(new.module):
        raise FlopbookError(
            f"'{shorten(new.module)}' is no name of a module; expected lower case words with _"
        )
    if new.module in (new.name, *(id.replace("-", "_") for id in CATALOGUE)):
        raise FlopbookError(
            f"--module {new.module} would hide the calculator of that name; "
            "name it after its subject"
        )


def function_text(new: NewCalculator) -> str:
    """The function alone."""
    return _named(FUNCTION, new).lstrip("\n")


def write(files: dict[Path, str]) -> None:
    """Write them; new files go first, so that a race loses before anything is changed."""
    existing = [path for path in files if path.exists()]
    for path in files:
        if path not in existing:
            write_new(path, files[path])
    for path in existing:
        write_text(path, files[path])


def _named(template: str, new: NewCalculator) -> str:
    return template.replace("<id>", new.id).replace("<name>", new.name)


def _why_unfit(new: NewCalculator, text: str) -> str:
    """Why a module cannot take the function: it is full, uses the name, or lacks an import."""
    lines = len(text.splitlines()) + len(FUNCTION.splitlines())
    if lines > MAX_LINES:
        return f"has no room: {lines} lines, at most {MAX_LINES}"
    names = _bound_names(text)
    if new.name in names:
        return f"has a {new.name} already"
    missing = [name for name in NEEDS if name not in names]
    if missing:
        return f"does not import {', '.join(missing)}"
    return ""


def _bound_names(text: str) -> set[str]:
    """The names that the top level of a module imports, defines or assigns."""
    names: set[str] = set()
    for node in ast.parse(text).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names


def registered(text: str, new: NewCalculator) -> str:
    """The text of formulas/__init__.py with one more calculator at the end of its section."""
    section = _section_node(text, new.section)
    row = f'        "{new.id}": "{new.module}",\n'
    lines = text.splitlines(keepends=True)
    first, last = section.lineno - 1, (section.end_lineno or 0) - 1
    if last > first:  # one row a line: the new one goes before the closing brace
        return "".join([*lines[:last], row, *lines[last:]])
    # A section on one line is spread over several, as the formatter would do it.
    registered_modules = ast.literal_eval(section).items()
    rows = "".join(f'        "{name}": "{module}",\n' for name, module in registered_modules)
    before, after = lines[first][: section.col_offset], lines[first][section.end_col_offset :]
    spread = f"{before}{{\n{rows}{row}    }}{after}"
    return "".join([*lines[:first], spread, *lines[first + 1 :]])


def declared(text: str, new: NewCalculator) -> str:
    """The text of flopbook/__init__.py with the name declared for editors and type checkers."""
    module = f"flopbook.formulas.{new.module}"
    line = f"    from {module} import {new.name} as {new.name}\n"
    lines = text.splitlines(keepends=True)
    imports = _imports_for_checkers(text)
    # By module, then by name: ruff refuses another order.
    own_place = (module, new.name)
    earlier = [node for node in imports if (str(node.module), node.names[0].name) < own_place]
    place = earlier[-1].lineno if earlier else imports[0].lineno - 1
    return "".join([*lines[:place], line, *lines[place:]])


def _imports_for_checkers(text: str) -> list[ast.ImportFrom]:
    """The imports under `if TYPE_CHECKING:` at the top level of a module, in their order."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            return [line for line in node.body if isinstance(line, ast.ImportFrom)]
    raise AssertionError("flopbook/__init__.py has a block for type checkers")


def _section_node(text: str, section: str) -> ast.expr:
    """The node of one section in the table SECTIONS."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.AnnAssign) and getattr(node.target, "id", "") == "SECTIONS":
            break
    table = node.value if isinstance(node, ast.AnnAssign) else None
    assert isinstance(table, ast.Dict), "formulas/__init__.py has a table SECTIONS"
    names = [getattr(key, "value", "") for key in table.keys]
    return table.values[names.index(section)]
