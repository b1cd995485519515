"""The helper that tries many cases in one test loses none of them."""

from __future__ import annotations

import inspect

import pytest

from tests.support.cases import every


def test_every_case_is_tried_and_all_that_fail_are_told() -> None:
    tried = []

    @every("number", range(5))
    def even(number: int) -> None:
        tried.append(number)
        assert number % 2 == 0, f"{number} is odd"

    with pytest.raises(AssertionError) as failed:
        even()
    assert tried == [0, 1, 2, 3, 4]
    assert "2 of 5 cases" in str(failed.value)
    assert "1 is odd" in str(failed.value) and "3 is odd" in str(failed.value)


def test_an_exception_and_a_failure_of_pytest_are_failures_too() -> None:
    @every("number", [1, 2])
    def raising(number: int) -> None:
        if number == 1:
            raise KeyError("gone")
        with pytest.raises(ValueError, match="never raised"):
            pass

    with pytest.raises(AssertionError, match=r"2 of 2 cases[\s\S]*KeyError[\s\S]*DID NOT RAISE"):
        raising()


def test_names_fixtures_and_two_lists_are_those_of_parametrize() -> None:
    seen = set()

    @every("first", ["a", "b"])
    @every("second, third", iter([(1, 2), (3, 4)]))
    def pairs(first: str, second: int, third: int, fixture: str) -> None:
        seen.add((first, second, third, fixture))

    assert list(inspect.signature(pairs).parameters) == ["fixture"]
    pairs(fixture="x")
    assert seen == {("a", 1, 2, "x"), ("a", 3, 4, "x"), ("b", 1, 2, "x"), ("b", 3, 4, "x")}


def test_no_case_is_a_failure_and_cases_are_listed_when_they_are_needed() -> None:
    listed = []

    def late() -> list[int]:
        listed.append(1)
        return []

    @every("number", late)
    def empty(number: int) -> None: ...

    assert listed == []
    with pytest.raises(AssertionError, match="no case for number"):
        empty()
