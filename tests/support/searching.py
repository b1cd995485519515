"""The cards of the search, once for all tests of a worker that look things up in them.

Making them takes seconds. Tests that search carry the mark `SEARCHES`, so that one worker has them.
"""

from __future__ import annotations

import functools

import pytest

from scripts.website.build.search_cards import index
from scripts.website.build.search_ranking import Index

SEARCHES = pytest.mark.xdist_group("search")


@functools.cache
def cards() -> Index:
    """The index of all cards."""
    return index()
