"""A checkout and an installed package are told apart, and addresses carry no secrets."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flopbook.data import repository
from flopbook.data.library import library, using
from flopbook.data.repository import _web, checkout, commit, edit_url, git, repository_path
from flopbook.errors import FlopbookError
from tests.support.samples import World

ROOT = Path(__file__).resolve().parents[2]
H100 = library().accelerators / "nvidia" / "h100-sxm.yaml"


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    """The address is asked for once in a process; here each test has its own."""
    repository._address.cache_clear()
    yield
    repository._address.cache_clear()


def test_this_is_a_checkout() -> None:
    assert checkout() == ROOT


def test_an_installed_package_is_none(tmp_path: Path) -> None:
    """The folders alone make no checkout: there is no pyproject.toml beside them."""
    with using(World(tmp_path).library):
        assert checkout() is None


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (H100, "accelerators/nvidia/h100-sxm.yaml"),
        (library().models / "gpt-3-175b.yaml", "calculators/models/gpt-3-175b.yaml"),
        (library().bibliography / "hardware.bib", "bibliography/hardware.bib"),
        (Path("/elsewhere/x.yaml"), "x.yaml"),
        (Path(repository.__file__), "calculators/flopbook/data/repository.py"),
    ],
)
def test_places_in_the_repository(path: Path, place: str) -> None:
    assert repository_path(path) == place


ADDRESSES = {
    "https://example.org/acme/book.git": "https://example.org/acme/book",
    "https://example.org/acme/book/": "https://example.org/acme/book",
    "https://someone:token@example.org/acme/book.git": "https://example.org/acme/book",
    "https://token@example.org/acme/book": "https://example.org/acme/book",
    "git@example.org:acme/book.git": "https://example.org/acme/book",
    "ssh://git@example.org/acme/book.git": "https://example.org/acme/book",
    "https://example.org:8443/acme/book": "https://example.org:8443/acme/book",
    "/srv/git/book.git": "",
    "file:///srv/book": "",
    "": "",
    "javascript:alert(1)": "",
    "https://": "",
    "https://example.org/a b": "",
    "https://example.org/<x>": "",
}


@pytest.mark.parametrize(("address", "web"), ADDRESSES.items(), ids=ADDRESSES)
def test_the_web_address_of_a_repository(address: str, web: str) -> None:
    assert _web(address) == web


@pytest.mark.parametrize(
    "urls",
    [
        ["Repository, https://example.org/acme/book"],
        ["Bugs, https://x.org", "Source, https://example.org/acme/book"],
    ],
)
def test_the_edit_page_by_the_metadata_of_the_package(
    urls: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib.metadata

    class Metadata:
        def get_all(self, name: str) -> Any:
            return urls if name == "Project-URL" else None

    monkeypatch.setattr(importlib.metadata, "metadata", lambda name: Metadata())
    assert (
        edit_url(H100)
        == "https://example.org/acme/book/edit/main/accelerators/nvidia/h100-sxm.yaml"
    )


def test_the_edit_page_by_the_remote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repository, "_packaged_address", lambda: "")
    monkeypatch.setattr(repository, "checkout", lambda: tmp_path)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    with pytest.raises(FlopbookError, match="the address of the repository is not known"):
        edit_url(H100)
    repository._address.cache_clear()
    subprocess.run(
        ["git", "-C", str(tmp_path), "remote", "add", "origin", "git@example.org:a/b.git"],
        check=True,
    )
    assert (
        edit_url(H100, "dev")
        == "https://example.org/a/b/edit/dev/accelerators/nvidia/h100-sxm.yaml"
    )


def test_a_package_that_is_not_installed_has_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.metadata

    def absent(name: str) -> Any:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "metadata", absent)
    monkeypatch.setattr(repository, "checkout", lambda: None)
    with pytest.raises(FlopbookError, match="is not known"):
        edit_url(H100)


def test_what_git_refuses_is_one_line(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for words in (("log",), ("nonsense",), ("show", "x" * 3000)):
        with pytest.raises(FlopbookError, match=f"^git {words[0]}: ") as caught:
            git(tmp_path, *words)
        assert str(caught.value).isprintable() and len(str(caught.value)) < 200
    with pytest.raises(FlopbookError, match="'HEAD' is neither a revision"):
        commit(tmp_path, "HEAD")
