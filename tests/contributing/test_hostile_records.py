"""What a depositor writes into the record of a paper ends no field and no entry of ours."""

from __future__ import annotations

import json

import pytest
from pybtex.database import parse_string

from flopbook.contributing.fetching import FetchError
from flopbook.contributing.metadata import Work, from_atom, from_csl
from flopbook.contributing.new_reference import entry_text
from flopbook.data.reference import Person

_END = "1}, note = {x"


@pytest.mark.parametrize("name", ["volume", "issue", "page", "DOI", "publisher", "title"])
def test_a_field_of_a_record_stays_one(name: str) -> None:
    """The volume of a paper could bring a note, or entries of its own."""
    record = {"title": "A thing", "type": "article-journal", "container-title": "J", name: _END}
    text = entry_text("doe2020thing", from_csl(json.dumps(record).encode()), "roofline")
    (entry,) = parse_string(text, "bibtex").entries.values()
    assert "note" not in entry.fields and entry.fields["keywords"] == "roofline"


def test_an_identifier_of_arxiv_is_one() -> None:
    feed = (
        '<feed xmlns="http://www.w3.org/2005/Atom"><entry>'
        "<id>http://arxiv.org/abs/2001.08361{}</id><title>A</title></entry></feed>"
    )
    assert from_atom(feed.format("v2").encode())[0].eprint == "2001.08361"
    with pytest.raises(FetchError, match="no identifier"):
        from_atom(feed.format("}, note = {x").encode())


@pytest.mark.parametrize(
    ("family", "given"), [("Doe, X, Y", "Z"), ("Doe and Roe", "J"), ("Doe", "J and K, L")]
)
def test_a_name_is_one_name(family: str, given: str) -> None:
    work = Work(title="A thing", people=(Person(family, given), Person("Roe", "R")), year=2020)
    (entry,) = parse_string(entry_text("a2020b", work), "bibtex").entries.values()
    assert len(entry.persons["author"]) == 2
