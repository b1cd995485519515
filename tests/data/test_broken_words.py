"""A line of a folded text ends at a blank, not at a hyphen: the fold puts a blank behind it."""

from __future__ import annotations

import re

from flopbook.data.library import (
    load_entries,
    load_model,
    model_ids,
    references,
    vendor,
    vendor_ids,
)

# Such as "two- dimensional"; "scale-up and -out" and "two- and four-way" are meant.
_BROKEN = re.compile(r"[a-z]- (?!and |or |to |und )[a-z]")


def test_no_text_of_the_data_has_a_word_broken_at_its_hyphen() -> None:
    texts = {entry.id: f"{entry.summary} {entry.notes}" for entry in load_entries().values()}
    texts |= {name: vendor(name).summary for name in vendor_ids()}
    texts |= {name: load_model(name).summary for name in model_ids()}
    texts |= {work.key: work.annote for work in references().values()}
    broken = {name: found[0] for name, text in texts.items() if (found := _BROKEN.search(text))}
    assert not broken
