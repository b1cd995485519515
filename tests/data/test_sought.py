"""A chip that was looked for in vain is read with its day and place, or refused in one line."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from flopbook.data.library import library
from flopbook.data.sought import Searches, read_searches, searches
from flopbook.errors import DataError
from tests.support.samples import assert_clean

ROW = {
    "name": "A2",
    "maker": "Acme",
    "as_of": "2026-11-20",
    "where": "the site of the maker",
    "found": "a picture",
}


def written(folder: Path, **changes: str | None) -> Path:
    """A file with one chip, less the fields that are None."""
    row = {name: content for name, content in (ROW | changes).items() if content is not None}
    inside = ", ".join(f"{name}: {content}" for name, content in row.items())
    path = folder / "sought.yaml"
    path.write_text(f"chips:\n  - {{{inside}}}\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("day", ["2026-11-20", '"2026-11-20"'])
def test_a_chip_is_read_with_its_day_and_its_line(tmp_path: Path, day: str) -> None:
    (chip,) = read_searches(written(tmp_path, as_of=day)).chips
    assert (chip.name, chip.maker, chip.line) == ("A2", "Acme", 2)
    assert chip.as_of == datetime.date(2026, 11, 20)


@pytest.mark.parametrize("missing", ROW)
def test_a_chip_without_a_field_is_refused_in_one_line(tmp_path: Path, missing: str) -> None:
    with pytest.raises(DataError, match=f"expected a '{missing}'") as refused:
        read_searches(written(tmp_path, **{missing: None}))
    assert_clean(refused.value)
    assert len(refused.value.problems) == 1


@pytest.mark.parametrize("changes", [{"as_of": "soon"}, {"peak": "500"}, {"found": '""'}])
def test_what_is_no_row_is_refused(tmp_path: Path, changes: dict[str, str]) -> None:
    with pytest.raises(DataError):
        read_searches(written(tmp_path, **changes))


def test_a_library_without_the_file_sought_nothing(tmp_path: Path) -> None:
    assert read_searches(tmp_path / "sought.yaml") == Searches(chips=(), prices=())


def test_a_file_need_not_have_prices(tmp_path: Path) -> None:
    assert read_searches(written(tmp_path)).prices == ()


def with_prices(folder: Path, chips: str) -> Path:
    path = written(folder)
    row = f"{{chips: {chips}, as_of: 2026-11-20, where: a list, found: an old one}}"
    path.write_text(f"{path.read_text('utf-8')}prices:\n  - {row}\n", encoding="utf-8")
    return path


def test_prices_are_read_with_their_chips_and_their_line(tmp_path: Path) -> None:
    (row,) = read_searches(with_prices(tmp_path, "[acme/a2, acme/a3]")).prices
    assert row.chips == ("acme/a2", "acme/a3")
    assert (row.as_of, row.line) == (datetime.date(2026, 11, 20), 4)


@pytest.mark.parametrize("chips", ["[]", "acme/a2", "[A2]", "[{}]"])
def test_prices_of_no_chip_are_refused(tmp_path: Path, chips: str) -> None:
    with pytest.raises(DataError) as refused:
        read_searches(with_prices(tmp_path, chips))
    assert_clean(refused.value)


def test_our_prices_are_of_chips_that_we_have_each_once() -> None:
    chips = [chip for row in searches().prices for chip in row.chips]
    assert chips and len(set(chips)) == len(chips)
    assert set(chips) <= set(library().entry_ids)


def test_ours_are_told_apart_and_say_where_was_looked() -> None:
    chips = searches().chips
    assert chips and len({(chip.maker, chip.name) for chip in chips}) == len(chips)
    assert all(len(chip.where.split()) >= 5 and len(chip.found.split()) >= 5 for chip in chips)
