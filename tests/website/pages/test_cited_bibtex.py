"""BibTeX that others paste into their papers holds what a citation needs, and nothing of ours."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pybtex.database import parse_string

from flopbook.data.library import reference
from flopbook.formulas import formulas, get_formula
from scripts.website.pages.sources import cited_bibtex

CITED = sorted({key for name in formulas() for key in get_formula(name).sources})


@pytest.mark.parametrize("key", CITED)
def test_a_citation_keeps_all_that_finds_the_work(key: str) -> None:
    """Our note was printed below the work by styles that know the field."""
    work = reference(key)
    (entry,) = parse_string(cited_bibtex(work), "bibtex").entries.values()
    (whole,) = parse_string(work.bibtex, "bibtex").entries.values()
    assert entry.persons == whole.persons
    assert entry.fields["title"] == whole.fields["title"]
    assert not {"annote", "keywords", "tier"} & set(entry.fields)
    for name in ("url", "doi", "eprint", "year", "journal", "booktitle"):
        assert entry.fields.get(name) == whole.fields.get(name)


def test_an_entry_that_is_not_plain_stays_as_it_is() -> None:
    joined = '@misc{a,\n  title = "A" # "B"\n}'
    work = replace(reference(CITED[0]), bibtex=joined)
    assert cited_bibtex(work) == joined
