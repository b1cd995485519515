"""Errors of the site generator: the file and the reason, not all that it prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.website.build.complaints import MOST_SHOWN, complaints

FRAMES = "".join(
    f'  File "/venv/mkdocs/module{n}.py", line {n}, in call\n    call()\n' for n in range(1, 20)
)
_LAST = ["two", "three", "four", "five", "six"]
OUTPUTS = {
    "a broken link": (
        "INFO    -  Cleaning site directory\n"
        "WARNING -  Doc file 'handbook/a.md' contains a link 'b.md', but the target is not found.\n"
        "INFO    -  Documentation built in 3.20 seconds\n"
        "\nAborted with 1 warnings in strict mode!\n",
        ["handbook/a.md: contains a link 'b.md', but the target is not found."],
    ),
    "colours and repeats": (
        "\x1b[33mWARNING\x1b[0m -  Doc file 'a.md' contains a link 'b.md'\n" * 3,
        ["a.md: contains a link 'b.md'"],
    ),
    "configuration": (
        "ERROR   -  Config value 'plugins': The \"none\" plugin is not installed\n"
        "Aborted with 1 configuration errors!\n",
        ["Config value 'plugins': The \"none\" plugin is not installed"],
    ),
    "a failure": (
        "INFO    -  Building\nERROR   -  Error reading page 'a.md': bad\n"
        f"Traceback (most recent call last):\n{FRAMES}"
        "jinja2.exceptions.TemplateNotFound: none.html\n",
        [
            "Error reading page 'a.md': bad",
            "/venv/mkdocs/module19.py:19: TemplateNotFound: none.html",
        ],
    ),
    "nothing that is known": ("one\n\ntwo\nthree\nfour\nfive\nsix\n", _LAST),
    "nothing": ("", []),
}


@pytest.mark.parametrize("kind", OUTPUTS)
def test_the_reason_is_found(kind: str) -> None:
    output, expected = OUTPUTS[kind]
    assert complaints(output) == expected


def test_many_complaints_are_counted() -> None:
    output = "".join(f"WARNING -  Doc file 'a{n}.md' is odd\n" for n in range(50))
    found = complaints(output)
    assert len(found) == MOST_SHOWN + 1 and found[-1] == "and 38 more"


def test_a_link_to_a_section_that_moved_is_found_at_its_line(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    page = "# A\n\nRead on [here](#gone), and in [B](b.md#moved).\nAgain [B](b.md#moved).\n"
    (tmp_path / "docs" / "a.md").write_text(page)
    output = (
        "WARNING -  Doc file 'a.md' contains a link '#gone', but there is no such anchor.\n"
        "WARNING -  Doc file 'a.md' contains a link 'b.md#moved', but the doc has none.\n"
        "WARNING -  Doc file 'made.md' contains a link '#gone', but there is no such anchor.\n"
    )
    assert complaints(output, tmp_path / "docs") == [
        "docs/a.md:3: contains a link '#gone', but there is no such anchor.",
        "docs/a.md:3: contains a link 'b.md#moved', but the doc has none.",
        "made.md: contains a link '#gone', but there is no such anchor.",
    ]
