"""Proxies that the environment names for the link checker: which kinds, and whether at all."""

from __future__ import annotations

import pytest

from scripts import check_links


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only those of the test."""
    monkeypatch.setattr(check_links, "environment_proxies", dict)


@pytest.mark.parametrize("address", ["socks5h://127.0.0.1:1080", "ftp://u:secret@proxy.example"])
def test_a_kind_that_cannot_be_used_is_said_before_any_link_is_asked(
    monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    """Each link failed by itself, as if its own address were wrong."""
    monkeypatch.setattr(check_links, "environment_proxies", lambda: {"all": address})
    with pytest.raises(check_links.UsageError) as caught:
        check_links._proxies(True)
    kind = address.partition(":")[0]
    assert str(caught.value) == (
        f"all_proxy names a proxy of kind '{kind}', expected one of http or https;"
        " set it to one, or unset it"
    )


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "HTTPS://proxy.example", "proxy:3128"])
def test_kinds_that_can_be_used(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setattr(check_links, "environment_proxies", lambda: {"https": address})
    assert check_links._proxies(True) == {"https": address}


def test_no_proxy_is_none() -> None:
    assert check_links._proxies(False) == {}
