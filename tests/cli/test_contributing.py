"""`where` and `new`: the file to edit, and a new one.

In a checkout, in an installed package and in a terminal.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import sys
from typing import Any

import pytest

from flopbook.checks.lint import lint
from flopbook.cli import contributing
from flopbook.data import library as library_
from tests.support.commands import with_options
from tests.support.samples import SOURCE, World, claim, entry_text

CHIP = (
    "new",
    "chip",
    "acme/two",
    "--name",
    "Acme Two",
    "--kind",
    "package",
    "--status",
    "announced",
)
SOURCED = (*CHIP, "--source", SOURCE)
VENDOR = ("new", "vendor", "bolt", "--name", "Bolt", "--website", "https://bolt.example/")


@pytest.fixture
def tree(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """The small world, taken for a checkout."""
    monkeypatch.setattr(contributing, "checkout", lambda: world.root)
    monkeypatch.setattr(
        contributing, "repository_path", lambda path: path.relative_to(world.root).as_posix()
    )
    return world


@pytest.fixture
def installed(tree: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """The small world, taken for an installed package."""
    monkeypatch.setattr(contributing, "checkout", lambda: None)
    return tree


class Terminal(io.StringIO):
    """A terminal in which somebody types."""

    def isatty(self) -> bool:
        return True


def test_where_prints_the_file(tree: World, cli: Any) -> None:
    outcome = cli("where", "one")
    assert (outcome.status, outcome.out, outcome.err) == (0, "accelerators/acme/one.yaml:1\n", "")
    assert json.loads(cli("where", "one", "--json").out) == [
        {
            "kind": "chip",
            "id": "acme/one",
            "file": "accelerators/acme/one.yaml",
            "line": 1,
            "path": str(tree.accelerators / "acme" / "one.yaml"),
        }
    ]


def test_where_is_relative_to_the_folder_one_is_in(
    tree: World, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tree.accelerators)
    assert cli("where", "one").out == "acme/one.yaml:1\n"
    monkeypatch.chdir(tree.bibliography)
    assert cli("where", "one").out == f"{tree.accelerators}/acme/one.yaml:1\n"


def test_where_lists_all_that_begin_so(tree: World, cli: Any) -> None:
    tree.entry("h1-sxm")
    tree.entry("h1-pcie")
    assert (
        cli("where", "h1").out
        == "accelerators/acme/h1-pcie.yaml:1\naccelerators/acme/h1-sxm.yaml:1\n"
    )


def test_where_shows_the_lines_of_a_field(tree: World, cli: Any) -> None:
    tree.entry("one", claim(), claim(value=200, sparsity="2:4"))
    lines = cli("where", "one", "--field", "peak").out.splitlines()
    assert len(lines) == 2 and re.match(
        r"accelerators/acme/one\.yaml:\d+  bf16 tensor dense 100 TFLOP/s ", lines[0]
    )
    record = json.loads(cli("where", "one", "--field", "peak", "--json").out)
    assert [item["kind"] for item in record] == ["claim", "claim"] and record[0]["line"] < record[
        1
    ]["line"]


def test_where_in_an_installed_package_says_so(installed: World, cli: Any) -> None:
    file, note = cli("where", "one").out.splitlines()
    assert file == "accelerators/acme/one.yaml:1" and "installed package" in note
    assert "path" not in json.loads(cli("where", "one", "--json").out)[0]


def test_where_with_the_page_to_edit(
    tree: World, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        contributing, "edit_url", lambda path: f"https://example.org/edit/{path.name}"
    )
    assert (
        cli("where", "one", "--edit-url").out
        == "accelerators/acme/one.yaml:1  https://example.org/edit/one.yaml\n"
    )
    assert json.loads(cli("where", "one", "--edit-url", "--json").out)[0]["edit_url"].endswith(
        "one.yaml"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("where", "onne"), "unknown name 'onne'; nearest: one, acme/one"),
        (("where",), "where needs NAME"),
        (("where", "one", "--field", "paek"), "unknown field 'paek'; nearest: peak"),
        (("where", "acme", "--field", "peak"), "unknown field 'peak'"),
        (("where", "one", "two"), "takes one argument, NAME"),
    ],
)
def test_where_refuses(words: tuple[str, ...], message: str, tree: World, fails: Any) -> None:
    assert message in fails(*words)


def test_a_new_chip_is_written_and_valid(tree: World, cli: Any) -> None:
    outcome = cli(*SOURCED, "--as-of", "2026-11-20", "--summary", "A second chip.")
    assert (outcome.status, outcome.err) == (0, "")
    one = library_.load_entry("acme/two")
    assert (one.name, one.summary, one.status[0].as_of.isoformat()) == (
        "Acme Two",
        "A second chip.",
        "2026-11-20",
    )
    first, *steps = outcome.out.splitlines()
    assert first.startswith("accelerators/acme/two.yaml is written")
    assert [step.partition(". ")[0] for step in steps] == ["1", "2", "3"] and steps[
        1
    ] == "2. flopbook lint"
    tree.entry("one")
    # Its values wait to be looked up, each at its place, and nothing else is wrong with it.
    problems = [problem for problem in lint() if "two" in problem.file]
    assert len(problems) == len(one.claims)
    assert {problem.rule for problem in problems} == {"placeholder"}


def test_a_source_that_is_not_there_is_the_first_step(tree: World, cli: Any) -> None:
    out = cli(*CHIP, "--source", "bolt2026two").out
    assert (
        "\n1. add the source bolt2026two to bibliography/" in out
        and "\n4. flopbook diff origin/main" in out
    )


def test_a_new_vendor_and_its_chip(tree: World, cli: Any) -> None:
    outcome = cli(*VENDOR, "--summary", "Makes bolts.")
    library_.library().forget()
    assert outcome.status == 0 and library_.vendor("bolt").summary == "Makes bolts."
    assert "flopbook new chip bolt/PRODUCT" in outcome.out
    library_.library().forget()
    assert (
        cli("new", "chip", "bolt/b", *SOURCED[3:]).status == 0
        and library_.load_entry("bolt/b").vendor == "bolt"
    )


def test_today_is_the_day_of_reading(tree: World, cli: Any) -> None:
    import datetime

    days = {datetime.date.today()}
    cli(*SOURCED)
    assert library_.load_entry("acme/two").status[0].as_of in days | {datetime.date.today()}


def test_a_dry_run_writes_nothing(tree: World, cli: Any) -> None:
    before = sorted(tree.root.rglob("*"))
    text = cli(*SOURCED, "--dry-run").out
    assert text.startswith("# Replace each") and sorted(tree.root.rglob("*")) == before
    record = json.loads(cli(*SOURCED, "--dry-run", "--json").out)
    assert (
        record["text"] == text
        and record["written"] is False
        and sorted(tree.root.rglob("*")) == before
    )


def test_new_as_json(tree: World, cli: Any) -> None:
    record = json.loads(cli(*SOURCED, "--json").out)
    assert record["file"] == "accelerators/acme/two.yaml" and record["written"] is True
    assert (tree.root / record["file"]).read_text(encoding="utf-8") == record["text"] and record[
        "next"
    ]


def test_a_near_one_is_asked_about(tree: World, cli: Any) -> None:
    tree.entry("h100-sxm", name="Acme H100")
    out = cli("new", "chip", "acme/h100-sxm5", *SOURCED[3:]).out
    assert out.startswith(
        "accelerators/acme/h100-sxm5.yaml is written; is it one of these? acme/h100-sxm\n"
    )


REFUSED = {
    "there already": (
        ("new", "chip", "acme/one", *SOURCED[3:]),
        "'acme/one' is there already: accelerators/acme/",
    ),
    "the name is there": ((*SOURCED[:4], "Acme One", *SOURCED[5:]), "'acme one' is there already"),
    "a vendor there already": (
        ("new", "vendor", "acme", "--name", "A", "--website", "https://a/"),
        "is there already",
    ),
    "no vendor": (("new", "chip", "bolt/b", *SOURCED[3:]), "unknown vendor 'bolt'"),
    "no id": (("new", "chip"), "new needs ID, for example"),
    "nothing": (("new",), "new needs WHAT, for example"),
    "something else": (("new", "model", "x"), "unknown kind of file 'model'; "),
    "too much": (
        ("new", "chip", "a", "b"),
        "unexpected argument 'b'; new takes at most two arguments, WHAT ID",
    ),
    "no product": (("new", "chip", "acme", *SOURCED[3:]), "'acme' is no id; write VENDOR/PRODUCT"),
    "out of the folder": (
        ("new", "chip", "acme/../../x", *SOURCED[3:]),
        "acme/../../x.yaml would not be valid",
    ),
    "a vendor out of the folder": (
        ("new", "vendor", "../x", *VENDOR[3:]),
        "/../x/vendor.yaml would not be valid",
    ),
    "a kind that is none": (
        (*with_options(SOURCED, ("--kind", "chip")),),
        "expected one of die, package",
    ),
    "a day that is none": ((*SOURCED, "--as-of", "tomorrow"), "'tomorrow'"),
    "a key that is none": ((*CHIP, "--source", "a b"), "BibTeX key"),
    "a website of a chip": (
        (*SOURCED, "--website", "https://a.example/"),
        "--website is for new vendor, not",
    ),
    "a source of a vendor": (
        (*VENDOR, "--source", SOURCE),
        "--source is for new chip, not for new vendor",
    ),
    "a bad website": ((*VENDOR[:5], "--website", "bolt.example"), "http or https address"),
}


@pytest.mark.parametrize(("words", "message"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused_leaves_nothing_behind(
    words: tuple[str, ...], message: str, tree: World, fails: Any
) -> None:
    before = sorted(tree.root.parent.rglob("*"))
    assert message in fails(*words)
    assert sorted(tree.root.parent.rglob("*")) == before


def test_what_is_missing_is_named_where_nobody_can_be_asked(
    tree: World, fails: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("answers nobody asked for\n"))
    assert fails("new", "chip", "acme/two") == (
        "new chip acme/two needs --name, --kind, --status, --source; "
        "in a terminal they are asked for"
    )
    assert fails(*VENDOR[:5]) == "new vendor bolt needs --website; in a terminal they are asked for"
    monkeypatch.setattr(sys, "stdin", None)
    assert "needs --source" in fails(*CHIP)


def test_in_a_terminal_what_is_missing_is_asked_for(
    tree: World, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(f"package\n\nannounced\n{SOURCE}\n\n"))
    outcome = cli("new", "chip", "acme/two", "--name", "Acme Two")
    assert outcome.status == 0 and outcome.out.startswith("accelerators/acme/two.yaml is written")
    asked = re.findall(r"(\w[^:]*?)(?: \[[^]]*\])?: ", outcome.err)
    assert [question.split()[0] for question in asked] == [
        "kind",
        "state",
        "state",
        "BibTeX",
        "day",
    ]
    assert library_.load_entry("acme/two").kind == "package"


def test_nothing_is_asked_where_nothing_is_missing(
    tree: World, cli: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(""))
    assert cli(*SOURCED).err == ""


def test_an_answer_that_never_comes(tree: World, cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("package\n"))
    outcome = cli("new", "chip", "acme/two", "--name", "Acme Two")
    assert outcome.status == 2 and outcome.err.endswith(
        "flopbook: no answer: state (announced, sampling, shipping, "
        "cloud-only, internal-only, discontinued, cancelled)\n"
    )
    assert not (tree.accelerators / "acme" / "two.yaml").exists()


def test_a_known_chip_is_refused_before_anything_is_asked(
    tree: World, fails: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(""))
    assert "is there already" in fails("new", "chip", "acme/one")


def test_an_installed_package_is_not_written_to(installed: World, fails: Any, cli: Any) -> None:
    for words in (SOURCED, VENDOR):
        assert "read-only: clone the repository" in fails(*words)
    assert cli(*SOURCED, "--dry-run").status == 0


def test_a_race_is_lost_without_harm(
    tree: World, fails: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else wrote the file between the check and the writing."""
    path = tree.accelerators / "acme" / "two.yaml"
    steps = contributing.authoring.chip_text

    def slow(new: Any) -> str:
        text = steps(new)
        path.write_text(entry_text(id="acme/two"), encoding="utf-8")
        return text

    monkeypatch.setattr(contributing.authoring, "chip_text", slow)
    assert "is there already; nothing was written" in fails(*SOURCED)
    assert path.read_text(encoding="utf-8") == entry_text(id="acme/two")


def test_a_disk_that_is_full_is_said_and_nothing_is_left(
    tree: World, fails: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert "two.yaml was not written: No space left on device" in fails(*SOURCED)
    assert sorted(os.listdir(tree.accelerators / "acme")) == ["one.yaml", "vendor.yaml"]
