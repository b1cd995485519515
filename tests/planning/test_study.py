"""Studies: every combination once, and whatever no case could use refused with its place."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from flopbook.cli.studying import _written as written
from flopbook.errors import MOST_TOLD, DataError, FlopbookError
from flopbook.planning.planner import plan
from flopbook.planning.question import question_of
from flopbook.planning.study import (
    FIELDS,
    Answer,
    Options,
    Study,
    answer,
    made_with,
    name_of,
    read_study,
    rows,
)
from tests.support.studies import CASES, SIZES


def test_cases_are_all_combinations_in_the_order_of_the_file(study: Study) -> None:
    assert len(study.cases) == CASES == len({name_of(case, 1) for case in study.cases})
    expected = itertools.product(
        ("llama-3-8b", "mixtral-8x7b"), ("h100-sxm", "b200"), ("7", "8", "16"), ("4096", "8192")
    )
    names = ("model", "chip", "chips", "seq")
    assert [tuple(case[name] for name in names) for case in study.cases] == list(expected)
    assert all(case["batch_tokens"] == "256Ki" and "price" not in case for case in study.cases)
    assert study.prices == pytest.approx((2 / 3600, 3.5 / 3600))


def test_an_answer_is_the_plan_of_its_options(study: Study, alone: dict[str, Answer]) -> None:
    """Or what the plan refuses, which is an answer, too."""
    planned = 0
    for case in study.cases:
        found = alone[name_of(case, 2)]
        assert found.made_with == made_with()
        try:
            here = plan(question_of(dict(case)), 2)
        except FlopbookError as error:
            assert found == Answer((), 0, str(error), made_with())
            continue
        assert list(found.layouts) == [layout._asdict() for layout in here.layouts]
        assert found.considered == here.considered
        assert found.problem == ("" if here.layouts else "does not fit")
        planned += bool(here.layouts)
    assert 0 < planned < CASES
    refused = answer({**study.cases[0], "batch_tokens": "100"}, 1)
    assert not refused.layouts and "is no multiple of --seq" in refused.problem


@pytest.mark.parametrize("is_fitting_first", [True, False])
@pytest.mark.parametrize("step", [1, -1])
def test_the_table_keeps_rows_of_all_kinds_in_any_order(
    step: int, is_fitting_first: bool, study: Study, alone: dict[str, Answer], tmp_path: Path
) -> None:
    """A column that begins with rows which lack it, or ends with them, loses no value."""
    duckdb = pytest.importorskip("duckdb")

    def stands_behind(case: Options) -> bool:
        return bool(alone[name_of(case, 2)].layouts) != is_fitting_first

    shuffled = study._replace(cases=tuple(sorted(study.cases[::step], key=stands_behind)))
    record = written(shuffled, alone, 2, tmp_path)
    relation = duckdb.sql(f"select * from '{record['results']}'")
    names = relation.columns
    stored = [dict(zip(names, row, strict=True)) for row in relation.fetchall()]
    listed = list(rows(shuffled, alone, 2))
    assert {row["rank"] for row in listed} == {0, 1, 2}
    assert stored == [{name: row.get(name) for name in names} for row in listed]
    assert {name for row in listed for name in row} <= set(names)


def test_rows_have_every_price_and_layout(study: Study, alone: dict[str, Answer]) -> None:
    listed = list(rows(study, alone, 2))
    fitting = [found for found in alone.values() if found.layouts]
    layouts = sum(len(found.layouts) for found in fitting)
    assert len(listed) == 2 * (layouts + CASES - len(fitting))
    for row in listed:
        assert row["price"] in study.prices
        if row["rank"] == 0:
            assert row["problem"] and "seconds" not in row
            continue
        tokens, chips = 2**18, float(row["chips"])
        cost = row["price"] * chips * row["seconds"] / tokens
        assert row["token_cost"] == pytest.approx(cost) and row["problem"] is None
        degrees = ("best_tp", "best_pp", "best_cp", "best_dp")
        product = 1
        for name in degrees:
            product *= row[name]
        assert product == chips and row["low"] < row["seconds"] < row["high"]
    without = list(rows(study._replace(prices=()), alone, 2))
    assert len(without) * 2 == len(listed)
    assert all("token_cost" not in row and row["price"] is None for row in without)
    half = dict(itertools.islice(alone.items(), 5))
    assert {name_of(case, 2) for case in study.cases[:5]} == set(half)
    assert len({(row["model"], row["chip"], row["chips"], row["seq"]) for row in listed}) == CASES
    assert len(list(rows(study, half, 2))) < len(listed)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- a list", "study: found no options"),
        ("", "empty: found no content"),
        ("model: llama-3-8b", "found no chip"),
        ("modle: x\n" + SIZES, "1:8: study: found unknown option 'modle'; nearest: model"),
        (SIZES.replace("b200", "b2000"), "2:18: study: found unknown"),
        (SIZES.replace("mixtral-8x7b", "mixtrol"), "1:21: study: found unknown model 'mixtrol'"),
        (SIZES.replace("[7, 8, 16]", "[]"), "3:8: study: found nothing"),
        (SIZES.replace("3.5USD/h", "free"), "7:17: study"),
        (SIZES.replace("3.5USD/h", "-1USD/h"), "a price of -1USD/h"),
        (SIZES.replace("3.5USD/h", "1e308USD/s"), "expected at most 1e+30"),
        (SIZES.replace("[7, 8, 16]", "[[7], 8]"), "several values in one"),
        (SIZES.replace("[7, 8, 16]", "[7, 8.5]"), "3:12: study: found --chips is 8.5"),
        (SIZES.replace("[7, 8, 16]", ".nan"), "3:8: study: found --chips: '.nan'"),
        (SIZES.replace("[7, 8, 16]", "[true]"), "3:9: study"),
        (SIZES.replace("256Ki", "-1"), "4:15: study: found --batch-tokens is -1"),
        (SIZES + "dtype: bf61\n", "8:8: study: found --dtype is 'bf61', expected one of bf16"),
        (SIZES + "recompute: some\n", "8:12: study: found --recompute is 'some'"),
        (SIZES + "tp: [1, two]\n", "8:9: study: found --tp: 'two'"),
        (SIZES.replace("[7, 8, 16]", str(list(range(1, 60_000)))), "479,992 cases"),
    ],
)
def test_a_file_that_makes_no_study_says_where(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as error:
        read_study(path)
    assert said in str(error.value)
    assert all(line.count("bad.yaml") == 1 for line in str(error.value).splitlines())


def test_many_slips_are_told_at_once_and_not_one_by_one(tmp_path: Path) -> None:
    """To find the nearest names of 20,000 took a minute."""
    path = tmp_path / "slips.yaml"
    names = ", ".join(f"x{number}" for number in range(20_000))
    path.write_text(SIZES.replace("llama-3-8b, mixtral-8x7b", names), encoding="utf-8")
    with pytest.raises(DataError) as error:
        read_study(path)
    assert len(error.value.problems) <= 2 * MOST_TOLD


def test_every_option_may_be_a_list(tmp_path: Path) -> None:
    path = tmp_path / "all.yaml"
    values = {
        "model": "llama-3-8b",
        "chip": "h100-sxm",
        "chips": 16,
        "batch-tokens": "128Ki",
        "seq": 8192,
        "dtype": "fp8",
        "stack": "nemo",
        "price": "1USD/h",
        "recompute": "none",
        **dict.fromkeys(("tp", "pp", "cp", "ep", "dp"), 1),
        "dp": 16,
        "zero": 3,
        "hsdp": 2,
    }
    assert set(values) == set(FIELDS)
    lines = "\n".join(f"{name}: [{value}]" for name, value in values.items())
    path.write_text(lines, encoding="utf-8")
    (case,) = read_study(path).cases
    (layout,) = answer(case, 5).layouts
    assert (layout["dp"], layout["zero"], layout["recompute"]) == (16, 3, "none")


def test_the_file_of_a_study_is_read_once(file: Path, study: Study) -> None:
    assert read_study(file) == study
