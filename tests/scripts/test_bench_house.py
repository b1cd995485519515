"""The counts of the house: what is nested, what is a comment, which room is above which."""

from __future__ import annotations

from pathlib import Path

import grimp
import pytest

from scripts.bench import __main__ as bench
from scripts.bench.density import Density, density
from scripts.bench.house import import_cycles, imports_upwards, levels
from scripts.bench.results import Counted, Timed, Weighed


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = 1\n", Density(lines=1)),
        ("\n# why\nx = '#'  # what\n", Density(lines=1, comments=2)),
        ("a = 1 if b else 2\n", Density(lines=1, conditional_expressions=1)),
        (
            "a = 1 if b else 2 if c else 3\n",
            Density(lines=1, conditional_expressions=2, nested_conditionals=1),
        ),
        ("a = {n for n in [m for m in b]}\n", Density(lines=1, comprehensions=2)),
        (f"a = '{'x' * 100}'\n", Density(lines=1, wide_lines=1)),
    ],
)
def test_what_makes_code_dense_is_counted(tmp_path: Path, source: str, expected: Density) -> None:
    """A hash inside a string is no comment, and an empty line is no line."""
    (tmp_path / "a.py").write_text(source)
    assert density([tmp_path / "a.py"]) == expected


def test_density_is_for_each_thousand_lines() -> None:
    counts = Density(lines=500, conditional_expressions=3, nested_conditionals=2)
    assert "conditional expressions 6.0" in str(counts) and str(counts).endswith("conditionals 2")


def test_rooms_have_the_levels_of_the_contract() -> None:
    level = levels()
    assert level["errors"] == 0 and level["cli"] == max(level.values())
    assert level["checks"] == level["drawing"] > level["ledger"] > level["formulas"]
    assert level["formulas"] > level["kernels"] == level["sharding"] > level["data"]


def made_up_graph() -> grimp.ImportGraph:
    """A formula that imports a page of the command line, and two modules that import each other."""
    graph = grimp.ImportGraph()
    for importer, imported in (
        ("flopbook.formulas.roof", "flopbook.cli.app"),
        ("flopbook.cli.app", "flopbook.data.names"),
        ("flopbook.data.names", "flopbook.data.files"),
        ("flopbook.data.files", "flopbook.data.names"),
        ("flopbook.cli.app", "flopbook.errors"),
        ("flopbook.errors", "flopbook"),
        # the command line may read the version and the public names, and __main__ calls it
        ("flopbook.cli.app", "flopbook"),
        ("flopbook.__main__", "flopbook.cli.app"),
    ):
        graph.add_import(importer=importer, imported=imported)
    return graph


def test_an_import_upwards_and_a_cycle_are_found() -> None:
    graph = made_up_graph()
    assert sorted(imports_upwards(graph)) == [
        "flopbook.errors -> flopbook",
        "flopbook.formulas.roof -> flopbook.cli.app",
    ]
    assert import_cycles(graph) == {frozenset(("flopbook.data.names", "flopbook.data.files"))}


def test_a_result_is_one_line() -> None:
    timed = Timed("start", [3.0, 1.0, 2.0], "60 ms").line()
    assert _spaced(timed) == "start median 2.0 ms (1.0 to 3.0, n=3) budget 60 ms"
    assert _spaced(Weighed("page", 1500, "2 kB").line()) == "page 1.5 kB gzipped budget 2 kB"
    assert _spaced(Counted("rooms", "7").line()) == "rooms 7"


def _spaced(text: str) -> str:
    return " ".join(text.split())


def test_a_measure_is_run_by_its_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(bench.MEASURES, "house", lambda runs: iter([Counted("runs", str(runs))]))
    assert bench.main(["house", "--runs", "3"]) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["runs", "3"]
    with pytest.raises(SystemExit):
        bench.main(["nothing"])
    assert "unknown measurement 'nothing'; known: cold" in capsys.readouterr().err
