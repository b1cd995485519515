"""Two pages that would have one address stop the build: the later one took the other's place."""

from __future__ import annotations

import pytest

from flopbook.errors import FlopbookError
from scripts.website.build import content


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("accelerators/nvidia/index.md", "accelerators/nvidia/index.md"),
        ("accelerators/trends.md", "accelerators/trends/index.md"),
    ],
)
def test_a_page_does_not_take_the_place_of_another(first: str, second: str) -> None:
    """A chip called nvidia/index replaced the page of NVIDIA; a vendor trends would the trends."""

    pages = [(first, "# One\n"), (second, "# Two\n")]
    with pytest.raises(FlopbookError, match=f"{second}:1:1: address: found the address of {first}"):
        content._together(pages, [])


def test_pages_with_addresses_of_their_own_are_kept() -> None:
    pages = [("index.md", "# One\n"), ("a.md", "# Two\n"), ("a/b.md", "# Three\n")]
    assert content._together(pages, []) == dict(pages)
