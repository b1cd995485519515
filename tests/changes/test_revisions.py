"""Comparing with a revision or an exported folder: the same code reads both, and nothing is taken
on trust.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from flopbook.changes import revisions as base
from flopbook.changes.difference import Difference
from flopbook.changes.exported import TABLES
from flopbook.changes.snapshot import snapshot
from flopbook.data import repository
from flopbook.data.library import Library, library, references, using
from flopbook.data.references import csl
from flopbook.errors import FlopbookError
from flopbook.export import records
from flopbook.ledger.rows import ledger_rows
from tests.support.samples import LEDGER, MODEL, TOPICS, VENDOR, bib, claim, entry_text, write

GIT = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}
FIELDS = ("peak", "memory_bandwidth", "memory", "scaleup_bandwidth", "scaleup_axes", "power")
CLAIMS = tuple(claim(field) for field in FIELDS)
ROW = LEDGER.replace("two-and-two", "peak-of-one").replace(
    "call: 2 + 2", "call: chip('acme/one').peak('bf16')"
)
ROW = ROW.replace("stated: {value: 4}", "stated: {value: 100, unit: TFLOP/s}")


def git(root: Path, *words: str) -> None:
    """Run git in a folder, apart from the settings of this machine."""
    subprocess.run(
        ["git", "-C", str(root), *words], check=True, capture_output=True, env={**os.environ, **GIT}
    )


class Repository:
    """A small repository with data in one commit."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for source, place in (
            (library().accelerators, "accelerators"),
            (library().bibliography, "bibliography"),
            (library().models, "calculators/models"),
        ):
            for path in source.glob("*.json"):
                write(root / place / path.name, path.read_bytes())
        write(root / "pyproject.toml", "")
        self.write("accelerators/acme/vendor.yaml", VENDOR)
        self.write("accelerators/acme/one.yaml", entry_text(*CLAIMS))
        self.write("calculators/models/tiny-1b.yaml", MODEL)
        self.write("bibliography/all.bib", bib())
        self.write("bibliography/topics.yaml", TOPICS)
        self.write("bibliography/claims/acme.yaml", ROW)
        git(root, "init", "-q", "-b", "main")
        self.commit("first")

    def write(self, path: str, text: str) -> None:
        """Write a file of the working tree."""
        write(self.root / path, text)

    def commit(self, name: str) -> None:
        """Commit everything and give it a name."""
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "-m", name)
        git(self.root, "tag", name)

    def against(self, revision: str) -> Difference:
        """What changed since a revision."""
        with using(Library(self.root)):
            return base.against(revision)


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository that the comparison takes for its own."""
    checkout = Repository(tmp_path / "repo")
    for module in (base, repository):
        monkeypatch.setattr(module, "checkout", lambda: checkout.root)
    return checkout


def test_an_untouched_tree_does_not_differ(repo: Repository) -> None:
    assert not repo.against("HEAD") and not repo.against("first") and not repo.against("main")


def test_a_changed_value_moves_choice_calculators_and_ledger(repo: Repository) -> None:
    repo.write("accelerators/acme/one.yaml", entry_text(claim(value=200), *CLAIMS[1:]))
    changes = repo.against("first")
    assert [(c.id, c.old, c.new) for c in changes.written] == [
        ("acme/one", "100 TFLOP/s", "200 TFLOP/s")
    ]
    assert [c.relative for c in changes.chosen] == [pytest.approx(1)]
    moved = {
        c.field: c.relative
        for c in changes.calculators
        if "--chip acme/one" in c.id and "min-batch" in c.id
    }
    assert moved["tokens"] == moved["flop_per_byte"] == pytest.approx(1)
    rows = {(c.id, c.field): (c.old, c.new) for c in changes.ledger}
    assert rows == {
        ("peak-of-one", "computed"): (100e12, 200e12),
        ("peak-of-one", "its verdict"): ("stands", "does not stand"),
    }
    assert len(changes.problems) == 1 and not changes.unread


def test_older_revisions_are_read_as_they_were(repo: Repository) -> None:
    repo.write("accelerators/acme/two.yaml", entry_text(*CLAIMS, id="acme/two"))
    repo.commit("second")
    (repo.root / "accelerators/acme/one.yaml").unlink()
    assert {(c.id, c.how) for c in repo.against("second").written} == {("acme/one", "removed")}
    assert {(c.id, c.how) for c in repo.against("first").written} == {
        ("acme/one", "removed"),
        ("acme/two", "added"),
    }
    assert repo.against("second^").written == repo.against("first").written


def test_new_sources_vendors_and_models(repo: Repository) -> None:
    repo.write("bibliography/more.bib", bib("bolt2026one", tier="press"))
    repo.write("accelerators/bolt/vendor.yaml", VENDOR.replace("acme", "bolt"))
    repo.write("calculators/models/huge.yaml", MODEL.replace("tiny-1b", "huge"))
    written = {(c.kind, c.id, c.how, c.new) for c in repo.against("HEAD").written}
    assert written == {
        ("reference", "bolt2026one", "added", "press"),
        ("vendor", "bolt", "added", None),
        ("model", "huge", "added", "dense, 1 value"),
    }


def test_a_broken_file_is_said_and_the_rest_compared(repo: Repository) -> None:
    repo.write("accelerators/acme/two.yaml", "id: [")
    repo.write("bibliography/claims/acme.yaml", "rows: 3")
    changes = repo.against("HEAD")
    assert [text.partition(":")[0] for text in changes.unread] == ["now", "now"]
    assert "acme/two" in changes.unread[0] and "ledger" in changes.unread[1]


def test_an_older_schema_is_read_by_its_own_rules(repo: Repository) -> None:
    """The base was valid when it was written, whatever is asked for today."""
    schema = json.loads((repo.root / "accelerators/schema.json").read_text(encoding="utf-8"))
    schema["required"].append("family")
    repo.write("accelerators/schema.json", json.dumps(schema))
    repo.write("accelerators/acme/one.yaml", entry_text(*CLAIMS, family="First"))
    changes = repo.against("first")
    assert [(c.field, c.old, c.new) for c in changes.written] == [
        ("family", "", "First")
    ] and not changes.unread


@pytest.mark.parametrize(
    "name",
    (
        *("", "nothing", "--output=/tmp/x", "-n", "HEAD:accelerators", "x" * 5000, "a b"),
        *("\x1b[1m", "^HEAD"),
    ),
)
def test_what_is_no_revision_is_said_in_one_line(name: str, repo: Repository) -> None:
    with pytest.raises(FlopbookError, match="is neither a revision of this repository") as caught:
        repo.against(name)
    assert str(caught.value).isprintable() and len(str(caught.value)) < 300


def test_a_revision_without_data(repo: Repository) -> None:
    git(repo.root, "rm", "-rq", "bibliography")
    git(repo.root, "commit", "-qm", "none")
    git(repo.root, "tag", "none")
    write(repo.root / "bibliography" / "all.bib", bib())
    with pytest.raises(FlopbookError, match="'none' has no bibliography"):
        repo.against("none")


def test_a_folder_that_is_no_repository(repo: Repository) -> None:
    shutil.rmtree(repo.root / ".git")
    with pytest.raises(
        FlopbookError, match="is no git repository; compare with an exported folder"
    ):
        repo.against("HEAD")


def test_git_may_be_missing(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(FlopbookError, match="git cannot be run"):
        repo.against("HEAD")


def test_an_installed_package_has_no_revisions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "checkout", lambda: None)
    with pytest.raises(FlopbookError, match="an installed package has no revisions"):
        base.against("HEAD")


def test_only_plain_data_leaves_the_revision(repo: Repository, tmp_path: Path) -> None:
    """No code, no links: what a revision brings is read, never run or followed."""
    repo.write("accelerators/acme/evil.py", "raise SystemExit")
    repo.write("accelerators/notes.txt", "text")
    os.symlink("/etc/passwd", repo.root / "accelerators/acme/link.yaml")
    repo.commit("odd")
    books = base.extracted(repo.root, "odd", tmp_path / "out")
    names = sorted(
        path.relative_to(tmp_path / "out").as_posix()
        for path in (tmp_path / "out").rglob("*")
        if path.is_file()
    )
    assert names and all(
        path.endswith((".yaml", ".json", ".bib")) and "link" not in path for path in names
    )
    assert books.models == tmp_path / "out" / "calculators" / "models" and books.models.is_dir()


def test_no_filter_of_a_clone_runs(repo: Repository, tmp_path: Path) -> None:
    """`git archive` ran them; attributes also left files out of it, or rewrote them."""
    mark = tmp_path / "ran"
    git(repo.root, "config", "filter.evil.smudge", f"touch {mark}; cat")
    repo.write(".git/info/attributes", "* filter=evil\n*.bib export-ignore\n")
    repo.write("accelerators/acme/one.yaml", entry_text(claim(value=7), *CLAIMS[1:]))
    assert {change.kind for change in repo.against("HEAD").written} == {"accelerator"}
    assert not mark.exists()


def test_no_program_fetches_what_a_partial_clone_lacks(repo: Repository, tmp_path: Path) -> None:
    mark, part = tmp_path / "ran", tmp_path / "part"
    git(repo.root, "config", "uploadpack.allowFilter", "true")
    source = repo.root.as_uri()
    git(tmp_path, "clone", "-q", "--filter=blob:none", "--no-checkout", source, str(part))
    git(part, "config", "remote.origin.url", "ssh://127.0.0.2/none")
    git(part, "config", "core.sshCommand", f"touch {mark}; false")
    with pytest.raises(FlopbookError, match="partial clone"):
        base.extracted(part, "HEAD", tmp_path / "out")
    assert not mark.exists()


def test_a_file_that_git_has_lost_is_named(repo: Repository, tmp_path: Path) -> None:
    named = "HEAD:accelerators/acme/one.yaml"
    blob = subprocess.check_output(["git", "-C", repo.root, "rev-parse", named], text=True).strip()
    (repo.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(FlopbookError, match=r"^accelerators/acme/one\.yaml of .*git fsck"):
        base.extracted(repo.root, "HEAD", tmp_path / "out")


def test_a_file_without_end_is_not_read(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(base, "MAX_BYTES", 10)
    with pytest.raises(FlopbookError, match="bytes, expected 10 at most"):
        base.extracted(repo.root, "HEAD", tmp_path / "out")


def test_a_product_is_written_only_where_it_has_changed(repo: Repository, tmp_path: Path) -> None:
    """Two thousand files took half of the time, and most are as they were."""
    for name in ("two", "gone", "linked", "empty"):
        text = entry_text(*CLAIMS, id=f"acme/{name}") if name != "empty" else ""
        repo.write(f"accelerators/acme/{name}.yaml", text)
    repo.commit("four")
    repo.write("accelerators/acme/two.yaml", entry_text(claim(value=7), id="acme/two"))
    linked = repo.root / "accelerators/acme/linked.yaml"
    linked.rename(tmp_path / "outside.yaml")
    linked.symlink_to(tmp_path / "outside.yaml")
    for name in ("gone", "empty"):
        (repo.root / f"accelerators/acme/{name}.yaml").unlink()
    Library(repo.root)  # from here on no link below it is followed
    books = base.extracted(repo.root, "four", tmp_path / "out")
    written = {path.stem for path in (tmp_path / "out" / "accelerators/acme").iterdir()}
    assert written == {"vendor", "two", "gone", "linked", "empty"}
    assert books.entry_path("acme/one") == repo.root / "accelerators/acme/one.yaml"
    assert books.heads.keys() == {f"acme/{name}" for name in ("gone", "linked", "one", "two")}
    assert books.load_entry("acme/two").claims[0].value == 100
    assert books.read_entries()[0].keys() == books.heads.keys()


def test_the_folder_in_which_it_runs_lends_no_code(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "here" / "flopbook.py", "raise SystemExit('not this one')")
    write(tmp_path / "here" / "json.py", "raise SystemExit('nor this one')")
    monkeypatch.chdir(tmp_path / "here")
    assert not repo.against("HEAD")


@pytest.fixture
def exported(repo: Repository, tmp_path: Path) -> Path:
    """The repository's data as `flopbook export` writes it."""
    out = tmp_path / "exported"
    out.mkdir()
    with using(Library(repo.root)):
        tables = {
            "accelerators": records.accelerators(),
            "vendors": records.vendors(),
            "models": records.models(),
            "references": [csl(reference) for reference in references().values()],
            "claims": [records.row_record(row) for row in ledger_rows()],
        }
    for name, table in tables.items():
        (out / f"{name}.json").write_text(json.dumps(table), encoding="utf-8")
    return out


def test_an_exported_folder_is_a_base_too(repo: Repository, exported: Path) -> None:
    assert not repo.against(str(exported))
    repo.write(
        "accelerators/acme/one.yaml", entry_text(claim(value=105), *CLAIMS[1:], aliases="[first]")
    )
    repo.write("accelerators/acme/vendor.yaml", VENDOR.replace("tests", "trials"))
    repo.write(
        "bibliography/claims/acme.yaml",
        ROW.replace("verdict: holds", "verdict: rounding, tolerance: 0.1"),
    )
    repo.write("bibliography/more.bib", bib("bolt2026one"))
    changes = repo.against(str(exported))
    assert {(c.id, c.field) for c in changes.written} == {
        ("acme/one", "aliases"),
        ("acme/one", "peak bf16 dense"),
        ("acme", "summary"),
        ("bolt2026one", ""),
    }
    assert [c.field for c in changes.chosen] == ["peak bf16 dense"] and not changes.calculators
    assert [(c.field, c.new) for c in changes.ledger] == [("verdict", "rounding")]


@pytest.mark.parametrize("text", ["", "{}", "[3]", '[{"id": "a"}]', "null", "\x00"])
def test_a_broken_export_is_said_in_one_line(text: str, tmp_path: Path, repo: Repository) -> None:
    for name in TABLES:
        write(tmp_path / "out" / f"{name}.json", text)
    with pytest.raises(FlopbookError, match="is no folder that flopbook export wrote") as caught:
        repo.against(str(tmp_path / "out"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("source", None), ("source", ["a"]), ("field", 3), ("value", None), ("value", [1])),
        *(("value", float("nan")), ("value", 10**400), ("si_value", "1"), ("chosen", "no")),
        *(("dtype", ["bf16"]), ("per", {"a": 1})),
    ],
)
def test_a_claim_of_an_export_has_texts_and_numbers(
    name: str, value: Any, exported: Path, repo: Repository
) -> None:
    path = exported / "accelerators.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    table[0]["claims"][0][name] = value
    path.write_text(json.dumps(table), encoding="utf-8")
    with pytest.raises(FlopbookError, match="is no folder that flopbook export wrote"):
        repo.against(str(exported))


@pytest.mark.parametrize("aliases", ["first", 3, None, {"a": "b"}, [["a"], None]])
def test_a_head_of_an_export_may_have_any_form(
    aliases: Any, exported: Path, repo: Repository
) -> None:
    path = exported / "accelerators.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    table[0]["aliases"] = aliases
    path.write_text(json.dumps(table), encoding="utf-8")
    assert {change.field for change in repo.against(str(exported)).written} <= {"aliases"}


def test_a_snapshot_is_plain_and_finite() -> None:
    taken: dict[str, Any] = snapshot(library())
    assert json.loads(json.dumps(taken, allow_nan=False)) == taken
    assert set(taken) == {
        "entries",
        "vendors",
        "models",
        "references",
        "ledger",
        "calculators",
        "unread",
        "unreadable",
    }
    assert all(
        claim["source"] and "chosen" in claim
        for entry in taken["entries"].values()
        for claim in entry["claims"]
    )
