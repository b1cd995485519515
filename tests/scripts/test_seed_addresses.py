"""Every address of the founding documents leads to an entry, or says why not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flopbook.data.library import references
from scripts import seed_addresses
from scripts.seed_addresses import Account, accounts, read_rows, summary
from tests.support.samples import SOURCE, World, bib, write


def states(*rows: dict[str, Any]) -> list[Account]:
    return accounts(rows, references())


def test_every_address_leads_to_an_entry_or_is_excluded() -> None:
    listed = states(*read_rows())
    print(summary(listed))
    assert [account for account in listed if account.state in ("open", "wrong")] == []


def test_the_list_is_whole_and_each_work_has_one_row() -> None:
    assert len(read_rows()) == 344


WORK = {
    "eprint": "2205.14135v2",
    "doi": "10.1145/X.Y",
    "code": "https://github.com/Acme/Work",
    "archiveprefix": "arXiv",
}


@pytest.mark.parametrize(
    "address",
    [
        "https://arxiv.org/abs/2205.14135",
        "http://arxiv.org/pdf/2205.14135v1.pdf",
        "https://doi.org/10.1145/x.y",
        "https://dl.acm.org/doi/pdf/10.1145/X.Y",
        f"http://www.acme.example/{SOURCE}/#part",
        "https://github.com/acme/work.",
        "https://arxiv.org/html/2205.14135v3",
        "https://huggingface.co/papers/2205.14135",
        "https://doi.org/10.48550/arXiv.2205.14135",
    ],
)
def test_an_address_that_names_a_work(world: World, address: str) -> None:
    """By arXiv id without version, DOI, address or code, however it is written."""
    world.write("bibliography/all.bib", bib(**WORK))
    assert states({"address": address}) == [Account(address, "found", SOURCE)]


OTHER = "https://other.example/paper.pdf"


@pytest.mark.parametrize(
    ("row", "state", "says"),
    [
        ({}, "open", ""),
        ({"key": SOURCE, "why": "The PDF of the same work."}, "stated", "PDF"),
        ({"excluded": "A shop, no work."}, "excluded", "shop"),
        (
            {"key": "nobody2026x", "why": "The PDF of it."},
            "wrong",
            "no entry has the key 'nobody2026x'",
        ),
        ({"key": SOURCE}, "wrong", "go together"),
        ({"why": "The same work."}, "wrong", "go together"),
        ({"key": SOURCE, "why": "It is."}, "wrong", "a few words"),
        ({"excluded": "Dead."}, "wrong", "a few words"),
        (
            {"key": SOURCE, "why": "The same work.", "excluded": "A shop, no work."},
            "wrong",
            "more than one",
        ),
        ({"reason": "A shop, no work."}, "wrong", "nobody reads"),
        ({"address": "nonsense"}, "wrong", "not an address"),
        (
            {"address": f"https://acme.example/{SOURCE}", "excluded": "Dead since 2020."},
            "wrong",
            f"it is {SOURCE}",
        ),
        (
            {"address": f"https://acme.example/{SOURCE}", "key": SOURCE, "why": "The same work."},
            "wrong",
            "not needed",
        ),
    ],
)
def test_the_state_of_a_row(world: World, row: dict[str, Any], state: str, says: str) -> None:
    (listed,) = states({"address": OTHER, **row})
    assert listed.state == state and says in listed.says


def test_two_rows_for_one_work(world: World) -> None:
    first, second = states(
        {"address": OTHER}, {"address": OTHER.replace("https", "http") + "#page=2"}
    )
    assert (first.state, second.state, second.says) == (
        "open",
        "wrong",
        "the same work has a row already",
    )


@pytest.mark.parametrize(
    ("target", "state", "key"),
    [
        ({"key": SOURCE, "why": "The PDF of it."}, "stated", SOURCE),
        ({}, "open", ""),
        ({"excluded": "A shop, no work."}, "excluded", ""),
        ({"address": f"https://acme.example/{SOURCE}"}, "stated", SOURCE),
    ],
)
def test_a_row_that_is_the_same_work_as_another(
    world: World, target: dict[str, str], state: str, key: str
) -> None:
    """It leads where the other one leads, in whichever order they stand."""
    target = {"address": OTHER, **target}
    same = {
        "address": "https://copy.example/",
        "same": target["address"],
        "why": "A copy of the same work.",
    }
    for rows in ([same, target], [target, same]):
        (listed,) = [account for account in states(*rows) if account.address == same["address"]]
        assert (listed.state, listed.key) == (state, key)
    assert [account.address for account in states(same, target)] == [
        same["address"],
        target["address"],
    ]
    assert states(same)[0].says == f"no other row has the address {target['address']}"
    assert states({**same, "why": None}, target)[0].state == "wrong"


def test_a_preprint_that_the_entry_names_needs_no_statement_and_bears_one(world: World) -> None:
    world.write("bibliography/all.bib", bib(eprint="2205.14135", doi="10.1145/1.2"))
    doi = "https://doi.org/10.1145/1.2"
    preprint = {"address": "https://arxiv.org/abs/2205.14135", "same": doi, "why": "A preprint."}
    assert [account.state for account in states({"address": doi}, preprint)] == ["found", "found"]


@pytest.fixture
def rows(world: World, tmp_path: Path) -> Path:
    text = f"- address: {OTHER}\n- address: https://acme.example/{SOURCE}\n"
    return write(tmp_path / "rows.yaml", text)


def test_the_command_prints_what_is_open(rows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert seed_addresses.main([], rows) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first == f"open      {OTHER}"
    assert (
        last.startswith("2 addresses: 1 name a work of the bibliography, 0 are stated")
        and "1 are open" in last
    )
    assert seed_addresses.main(["--all"], rows) == 1
    assert f"found     https://acme.example/{SOURCE}  {SOURCE}" in capsys.readouterr().out
    assert seed_addresses.main(["--json"], rows) == 1
    assert [account["state"] for account in json.loads(capsys.readouterr().out)] == [
        "open",
        "found",
    ]
    rows.write_text(f"- {{address: '{OTHER}', excluded: 'A shop, no work.'}}\n", encoding="utf-8")
    assert seed_addresses.main([], rows) == 0


@pytest.mark.parametrize("text", ["a: [", "just words", "- https://a.example/", b"\xff"])
def test_a_file_that_is_no_list_of_rows(
    rows: Path, text: str | bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    write(rows, text)
    assert seed_addresses.main([], rows) == 2
    err = capsys.readouterr().err
    assert err.startswith("seed_addresses: rows.yaml ") and err.count("\n") == 1
