"""One name for each work, however its address is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flopbook.data.identifiers import Identifier, identifiers, identify
from flopbook.data.library import references

SAME = {
    ("arxiv", "2205.14135"): [
        "2205.14135",
        "2205.14135v2",
        "arXiv:2205.14135",
        "arxiv: 2205.14135v1",
        " 2205.14135 ",
        "https://arxiv.org/abs/2205.14135",
        "http://www.arxiv.org/pdf/2205.14135v3.pdf",
        "https://arxiv.org/html/2205.14135",
        "https://export.arxiv.org/abs/2205.14135",
        "10.48550/arXiv.2205.14135",
        "https://doi.org/10.48550/ARXIV.2205.14135",
        "https://huggingface.co/papers/2205.14135",
        "https://www.alphaxiv.org/abs/2205.14135",
        "https://ar5iv.labs.arxiv.org/html/2205.14135",
        "https://arxiv.org/abs/2205.14135/",
        "HTTPS://arxiv.org/abs/2205.14135",
    ],
    ("arxiv", "cs/0102001"): [
        "cs/0102001",
        "arXiv:cs/0102001v1",
        "https://arxiv.org/abs/cs/0102001v2",
    ],
    ("doi", "10.1145/3620665.3640410"): [
        "10.1145/3620665.3640410",
        "doi:10.1145/3620665.3640410",
        "https://doi.org/10.1145/3620665.3640410",
        "http://dx.doi.org/10.1145/3620665.3640410",
        "https://dl.acm.org/doi/10.1145/3620665.3640410",
        "https://dl.acm.org/doi/pdf/10.1145/3620665.3640410",
        "https://dl.acm.org/doi/abs/10.1145/3620665.3640410",
        "https://dl.acm.org/doi/fullHtml/10.1145/3620665.3640410",
        "https://doi.org/10.1145%2F3620665.3640410",
        "https://dl.acm.org/doi/10.1145/3620665.3640410?download=true",
        "10.1145/3620665.3640410.",
    ],
    ("doi", "10.1007/s10107-016"): [
        "https://link.springer.com/article/10.1007/S10107-016",
        "10.1007/s10107-016",
    ],
    ("url", "acme.example/a"): [
        "https://acme.example/a",
        "http://www.acme.example/a/",
        "https://ACME.example/a#part",
        "https://acme.example/a.",
    ],
    ("url", "acme.example/a?id=1"): [
        "https://acme.example/a?id=1",
        "http://acme.example/a/?id=1#x",
    ],
    ("url", "github.com/acme/work"): [
        "https://github.com/Acme/Work",
        "https://github.com/acme/work.git",
    ],
}
NONE = [
    "",
    "flash attention",
    "FlashAttention",
    "dao2022flashattention",
    "2205.1",
    "10.1145",
    "ftp://acme.example/a",
    "javascript:alert(1)",
    "https://",
    "https://[",
    "http://a b/",
    "acme.example/a",
    "//acme.example/a",
    "10.1145/",
]


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in SAME.items() for text in texts]
)
def test_a_work_has_one_name(name: tuple[str, str], text: str) -> None:
    identifier = identify(text)
    assert identifier is not None and identifier.name == name


@pytest.mark.parametrize("text", NONE)
def test_what_names_nothing(text: str) -> None:
    assert identify(text) is None


def test_different_works_have_different_names() -> None:
    assert identify("https://acme.example/A").name != identify("https://acme.example/a").name  # type: ignore[union-attr]
    assert (
        identify("https://acme.example/?id=1").name != identify("https://acme.example/?id=2").name
    )  # type: ignore[union-attr]


@given(st.text(max_size=60) | st.text("https://arxiv.org/abs/10.1145[]%#?v2. ", max_size=60))
def test_any_text_is_named_or_not(text: str) -> None:
    """Nothing is raised, and an address made from a name has the same name."""
    identifier = identify(text)
    if identifier is not None:
        again = identify(identifier.address)
        assert again is not None and again.name == identifier.name


def test_the_names_of_our_references() -> None:
    """What lint holds to be different works has different DOIs and arXiv ids, and every link has a
    name.
    """
    owners: dict[tuple[str, str], str] = {}
    for reference in references().values():
        assert identifiers(reference) or reference.record or reference.type == "unpublished"
        for identifier in identifiers(reference):
            if identifier.kind != "url":
                assert owners.setdefault(identifier.name, reference.key) == reference.key


def test_addresses() -> None:
    assert Identifier("arxiv", "2205.14135v2").address == "https://arxiv.org/abs/2205.14135v2"
    assert Identifier("doi", "10.1/x").address == "https://doi.org/10.1/x"
    assert Identifier("url", "https://acme.example/").address == "https://acme.example/"
