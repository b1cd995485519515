"""Errors that offer the nearest names, which are sought only where somebody reads them."""

from __future__ import annotations

import difflib
import pickle
from typing import Any

import pytest

from flopbook.errors import UnknownName
from flopbook.evaluation import fit
from flopbook.evaluation.calculator import calculate
from flopbook.quantities.unit_table import UnitError, known_unit, unit

KNOWN = ("h100-sxm", "h100-pcie", "a100-sxm")
TOO_LARGE = {"model": "llama-3-70b", "chip": "h100-sxm", "chips": 1, "seq": 8192}


def refuse(*_: Any, **__: Any) -> Any:
    raise AssertionError("this was computed, and nobody had asked for it")


def test_names_are_compared_where_the_error_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search that tries one kind of name after another drops nearly all of its errors."""
    error = UnknownName("chip", "h100", KNOWN)
    expected = "unknown chip 'h100'; nearest: h100-pcie, h100-sxm, a100-sxm"
    with monkeypatch.context() as patched:
        patched.setattr(difflib, "get_close_matches", refuse)
        unread = UnknownName("chip", "h100", KNOWN)
        assert unread.name == "h100" and known_unit("GHz/furlong") is None
    assert str(error) == str(unread) == expected
    assert error.near == ("h100-pcie", "h100-sxm", "a100-sxm")
    with pytest.raises(UnitError, match="unknown unit 'GHz/furlong'"):
        unit("GHz/furlong")


def test_an_error_survives_the_way_between_processes() -> None:
    error = UnknownName("chip", "h100", KNOWN, "see the list")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_names_that_change_later_are_not_in_the_message() -> None:
    names = ["first"]
    error = UnknownName("row", "frist", names)
    names[0] = "second"
    assert error.near == ("first",)


def test_what_would_make_an_answer_fit_is_sought_where_it_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(fit, "first_remedy", refuse)
        result = calculate("memory", **TOO_LARGE)
        assert result["free"] < 0
    assert result.fit is not None and "with " in result.fit.text
    assert result.fit is result.fit
