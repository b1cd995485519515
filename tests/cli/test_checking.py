"""`lint` as a contributor and as GitHub meet it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from flopbook.changes.difference import MEND, Difference
from flopbook.cli.app import run
from tests.support.samples import World, claim, entry_text


def lint(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = run(["lint", *words])
    out, err = capsys.readouterr()
    return status, out, err


@pytest.fixture
def broken(world: World) -> World:
    """Two files with a problem each."""
    world.entry("two", claim(drop=("unit",)), claim("power", unit="horses"))
    world.write("accelerators/acme/three.yaml", "a: [")
    return world


def test_all_problems_or_those_of_one_file(
    broken: World, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = lint(capsys)
    assert status == 1 and {line.partition(":")[0] for line in out.splitlines()[:-1]} == {
        "accelerators/acme/two.yaml",
        "accelerators/acme/three.yaml",
    }
    for word in ("accelerators/acme/two.yaml", str(broken.accelerators / "acme" / "two.yaml")):
        status, out, _ = lint(capsys, word)
        assert status == 1 and out.splitlines()[-1] == "2 problems" and "three.yaml" not in out
    assert lint(capsys, "accelerators/acme/one.yaml") == (0, "no problems\n", "")


def test_json_has_the_problems_of_the_files(
    broken: World, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, _ = lint(capsys, "accelerators/acme/three.yaml", "--json")
    (problem,) = json.loads(out)
    assert status == 1 and problem["rule"] == "yaml" and problem["line"] >= 1


def test_annotations_of_github_stand_at_their_line(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    """https://docs.github.com/actions.

    ::error file=...,line=...,col=...,title=...::message, with % encoded.
    """
    world.entry("two", claim(unit="100%,\n::warning::x"))
    status, out, _ = lint(capsys, "--format", "github", "accelerators/acme/two.yaml")
    first, *rest = out.splitlines()
    assert status == 1 and rest == ["1 problem"]
    assert first.startswith("::error file=accelerators/acme/two.yaml,line=8,col=")
    assert ",title=flopbook enum::found " in first and "100%25" in first
    assert first.count("::") == 3 or "::warning" not in first.split("::", 2)[1]


def test_fix_mends_says_so_and_checks(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    path = world.accelerators / "acme" / "one.yaml"
    path.write_text(entry_text().replace('"TFLOP/s"', "TFLOPS"), encoding="utf-8")
    status, out, _ = lint(capsys, "--fix", "accelerators/acme/one.yaml")
    assert status == 0 and out.splitlines() == [
        "mended accelerators/acme/one.yaml: spellings of units",
        "no problems",
    ]
    assert "unit: TFLOP/s" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("none.yaml",), "none.yaml is not a file; give the path of a data file"),
        (("accelerators",), "accelerators is not a file"),
        (("--format", "xml"), "unknown format 'xml'; one of: text, github"),
        (("--format", "github", "--json"), "do not go together"),
    ],
)
def test_bad_input_is_one_line(
    world: World, capsys: pytest.CaptureFixture[str], words: tuple, says: str
) -> None:
    status, out, err = lint(capsys, *words)
    assert status == 2 and out == "" and says in err and err.count("\n") == 1


def test_an_installed_package_is_not_mended(
    world: World, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flopbook.data.repository.checkout", lambda: None)
    status, _, err = lint(capsys, "--fix")
    assert status == 2 and "clone the repository" in err


def test_a_file_outside_of_the_data_has_no_problems_of_ours(
    world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.txt").write_text("a: [", encoding="utf-8")
    assert lint(capsys, "notes.txt")[0] == 0


def test_a_large_move_against_an_earlier_state_is_a_problem(
    cli_export: Path,
    world: World,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A value that changed by more than 10 % while its source did not.

    `flopbook diff` says the same.
    """
    found = Difference(
        (),
        (),
        (),
        (),
        (f"acme/one power: 100 W to 200 W (+100 %) with the same source a2026b; {MEND}",),
        (),
    )
    monkeypatch.setattr("flopbook.changes.revisions.against", lambda base: found)
    status, out, _ = lint(capsys, "--against", str(cli_export))
    first, last = out.splitlines()
    assert (
        status == 1
        and last == "1 problem"
        and ": moved: found acme/one power: 100 W to 200 W" in first
    )
    assert first.endswith(MEND)
    monkeypatch.setattr(
        "flopbook.changes.revisions.against", lambda base: found._replace(problems=())
    )
    assert lint(capsys, "--against", str(cli_export))[0] == 0


@pytest.fixture
def cli_export(tmp_path: Path) -> Path:
    """Stands for a revision or an exported folder."""
    return tmp_path / "before"
