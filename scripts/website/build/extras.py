"""Notebooks that need more packages than the locked ones.

The head of such a notebook names its extra, `flopbook: {extra: jax}`. The packages are locked in a
file of their own and installed on top of the others by scripts/setup_jax.py. Where they are not,
the site shows the notebook as written.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from flopbook.checks.rules.pageheads import extra_in_head
from flopbook.errors import printable, shorten
from scripts import jax_environment
from scripts.setup_env import SetupError
from scripts.website.build.recordings import RECORDED

if TYPE_CHECKING:
    from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parents[3]
EXTRAS = ("jax", *RECORDED)


class ExtraError(RuntimeError):
    """An extra that nobody knows, or one that is a must and is not there; says what to do."""


class Extra(NamedTuple):
    """Packages that some notebooks need; "" is the extra of all others.

    `python` runs such notebooks, None where nothing is installed; `wish` is "0" not wanted, "1" a
    must, "" if possible.
    """

    name: str
    python: Path | None
    wish: str


def extra_of(path: Path) -> str:
    """The name of the extra that a notebook needs, or "".

    Raises ExtraError for one that is not known, DataError for a head that cannot be read.
    """
    name = extra_in_head(path)
    if name not in ("", *EXTRAS):
        names = ", ".join(EXTRAS)
        message = f"{path.name}: the extra '{shorten(name)}' is not known; there is {names}"
        raise ExtraError(printable(message))
    return name


def lock_of(name: str) -> Path:
    """The file that locks the packages of an extra."""
    return ROOT / "requirements" / f"{name}.txt"


def find(name: str) -> Extra:
    """What there is of an extra on this machine. Raises ExtraError when the wish cannot be read."""
    if not name:
        return Extra("", Path(sys.executable), "1")
    if name in RECORDED:
        return Extra(name, None, "")  # no build runs these
    try:
        wish = jax_environment.wish()
    except SetupError as error:
        raise ExtraError(str(error)) from None
    python = None if wish == "0" else jax_environment.interpreter(ROOT)
    return Extra(name, python, wish)


def notice(extra: str) -> str:
    """What a page says whose notebook was not executed."""
    name = extra.upper()
    return (
        f"**Not executed.** This site was built without {name}, so the page shows what the "
        f"notebook does and not what comes out. `make {extra}` installs {name} beside the other "
        "packages and executes it."
    )


def unexecuted(notebook: NotebookNode, extra: Extra) -> NotebookNode:
    """A notebook without outputs, with the notice after its first paragraph.

    Raises ExtraError for a must.
    """
    if extra.wish == "1":
        raise ExtraError(
            f"{extra.name} must be there and is not, or its lock has changed; "
            f"run `make {extra.name}`"
        )
    title, summary, *paragraphs = notebook.cells[0].source.split("\n\n")
    paragraphs = [title, summary, f"> {notice(extra.name)}", *paragraphs]
    notebook.cells[0].source = "\n\n".join(paragraphs)
    return notebook
