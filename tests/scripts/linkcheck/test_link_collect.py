"""Where links are found: every kind of file, with the line, and nothing that is no link."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scripts.linkcheck.collect import (
    Found,
    Link,
    by_address,
    collect,
    find_urls,
    scan_bibtex,
    scan_markdown,
    scan_yaml,
)

BIB = r"""% url = {https://comment.test/}
@article{a2020first,
  author = {A, B},
  title  = {On {https} things},
  doi    = {10.1000/ab\_c(1)<2>},
  eprint = {2001.00001v2}, archiveprefix = {arXiv},
  url    = "https://url.test/a_b",
  code   = {https://code.test/repo},
  annote = {See \url{https://annote.test/x\_y\%20z}.},
}
@misc{b, eprint={12345}, eprinttype={pubmed}, url={https://one.test/}}
@misc{c, doi = {https://doi.org/10.1000/whole}}
@misc{d, eprint = {hep-th/9901001}}
@comment{url = {https://skipped.test/}}
"""


def found(scan: Callable[[str], Found], text: str) -> list[tuple[int, str]]:
    return sorted((text.count("\n", 0, offset) + 1, url) for offset, url in scan(text))


def test_bibtex_fields_become_links_with_their_lines() -> None:
    """Comments are left out."""
    assert found(scan_bibtex, BIB) == [
        (5, "https://doi.org/10.1000/ab_c(1)%3C2%3E"),
        (6, "https://arxiv.org/abs/2001.00001v2"),
        (7, "https://url.test/a_b"),
        (8, "https://code.test/repo"),
        (9, "https://annote.test/x_y%20z"),
        (11, "https://one.test/"),
        (12, "https://doi.org/10.1000/whole"),
        (13, "https://arxiv.org/abs/hep-th/9901001"),
    ]


def test_yaml_scalars_of_all_styles() -> None:
    text = """website: https://plain.test/
# https://comment.test/
row: {a: https://flow.test/x, b: [https://list.test/]}
note: >
  folded text
  with https://folded.test/ in it
quoted: "see https://quoted.test/a, and https://quoted.test/b"
again: https://plain.test/
"""
    assert found(scan_yaml, text) == [
        (1, "https://plain.test/"),
        (3, "https://flow.test/x"),
        (3, "https://list.test/"),
        (6, "https://folded.test/"),
        (7, "https://quoted.test/a"),
        (7, "https://quoted.test/b"),
        (8, "https://plain.test/"),
    ]


def test_yaml_lines_are_right_after_letters_of_several_bytes() -> None:
    assert found(scan_yaml, "note: é漢字😀\n\nlink: https://a.test/\n") == [(3, "https://a.test/")]


def test_broken_yaml_still_gives_its_links() -> None:
    assert found(scan_yaml, "a: [\nb: https://a.test/\n") == [(2, "https://a.test/")]


def test_a_yaml_bomb_costs_nothing() -> None:
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 30)]
    text = "\n".join(["l0: &l0 https://bomb.test/", *levels])
    assert found(scan_yaml, text) == [(1, "https://bomb.test/")]


def test_markdown() -> None:
    text = """[a](https://a.test/Foo_(bar)) and [b](https://b.test/ "title"), <https://c.test/>.
[d](https://d.test)[e](https://e.test/?q=1&r=2#part)
`https://code.test/` ``x ` https://code.test/``
```sh
curl https://fence.test/
```
    [f]: https://f.test/.
<!-- https://hidden.test/
-->
<a href="https://g.test/">g</a> **https://h.test/** https://i.test/x;
{{ link("https://j.test/") }} https://k.test/{{ name }} https://{{ host }}/x
~~~
```
https://inner.test/
~~~
(https://l.test/), "https://m.test/"
"""
    assert found(scan_markdown, text) == [
        (1, "https://a.test/Foo_(bar)"),
        (1, "https://b.test/"),
        (1, "https://c.test/"),
        (2, "https://d.test"),
        (2, "https://e.test/?q=1&r=2#part"),
        (7, "https://f.test/"),
        (10, "https://g.test/"),
        (10, "https://h.test/"),
        (10, "https://i.test/x"),
        (11, "https://j.test/"),
        (16, "https://l.test/"),
        (16, "https://m.test/"),
    ]


@pytest.mark.parametrize(
    "text", ["https://", "http://…", "git+https://a.test/x", "xhttps://a.test", "https://{x}"]
)
def test_what_is_no_link(text: str) -> None:
    assert found(find_urls, text) == []


@settings(deadline=None)
@given(st.text())
def test_scanners_take_garbage(text: str) -> None:
    """Whatever the file holds: no exception, and every address begins as one."""
    for scan in (scan_bibtex, scan_yaml, scan_markdown, find_urls):
        for offset, url in scan(text):
            assert 0 <= offset <= len(text)
            assert url.lower().startswith(("http://", "https://"))


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "[",
                "]",
                "(",
                ")",
                "https://a.test/",
                "\\_",
                "{",
                "}",
                '"',
                " ",
                "\n",
                "`",
                "@misc{x, url=",
                "doi=",
            ]
        )
    )
)
def test_scanners_take_near_misses(parts: list[str]) -> None:
    for scan in (scan_bibtex, scan_yaml, scan_markdown, find_urls):
        list(scan("".join(parts)))


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_a_whole_tree(tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text("https://outside.test/")
    root = tmp_path / "project"
    write(root, "README.md", "\nhttps://readme.test/\n")
    write(root, "CHANGELOG.md", "https://changelog.test/")
    write(root, "docs/handbook/one.md", "https://docs.test/")
    write(root, "docs/.hidden/two.md", "https://hidden.test/")
    write(root, ".venv/README.md", "https://venv.test/")
    write(root, "site/index.md", "https://site.test/")
    write(root, "accelerators/acme/vendor.yaml", "website: https://vendor.test/")
    write(root, "calculators/models/m.yaml", "note: https://model.test/")
    write(
        root,
        "calculators/notebooks/n.py",
        "# %% [markdown]\n# https://notebook.test/\nx = f'https://{host}/'\n",
    )
    write(root, "bibliography/a.bib", "@misc{a,\n url = {https://bib.test/}}")
    write(root, "bibliography/claims/s.yaml", "why: https://claim.test/")
    (root / "docs" / "link.md").symlink_to(outside)
    assert collect(root) == [
        Link("CHANGELOG.md", 1, "https://changelog.test/"),
        Link("README.md", 2, "https://readme.test/"),
        Link("accelerators/acme/vendor.yaml", 1, "https://vendor.test/"),
        Link("bibliography/a.bib", 2, "https://bib.test/"),
        Link("bibliography/claims/s.yaml", 1, "https://claim.test/"),
        Link("calculators/models/m.yaml", 1, "https://model.test/"),
        Link("calculators/notebooks/n.py", 2, "https://notebook.test/"),
        Link("docs/handbook/one.md", 1, "https://docs.test/"),
    ]


def test_one_address_is_asked_for_once_whatever_its_fragments() -> None:
    links = [Link("a.md", 1, "https://a.test/x#one"), Link("b.md", 2, "https://a.test/x#two")]
    assert by_address(links) == {"https://a.test/x": links}
