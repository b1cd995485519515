"""Studies: every combination once, equal answers whoever computes, and nothing finished is lost."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from flopbook.data.library import Library, using
from flopbook.errors import DataError, FlopbookError
from flopbook.planning import study_journal, study_workers
from flopbook.planning.planner import plan
from flopbook.planning.question import question_of
from flopbook.planning.study import (
    FIELDS,
    Answer,
    Study,
    answer,
    made_with,
    name_of,
    read_study,
    rows,
)
from flopbook.planning.study_workers import in_this_process, on_a_cluster

SIZES = """\
model: [llama-3-8b, mixtral-8x7b]
chip: [h100-sxm, b200]
chips: [7, 8, 16]
batch-tokens: 256Ki
seq: [4096, 8192]
stack: megatron-core
price: [2USD/h, 3.5USD/h]
"""
CASES = 24


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sizes.yaml"
    path.write_text(SIZES, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    path = tmp_path_factory.mktemp("study") / "sizes.yaml"
    path.write_text(SIZES, encoding="utf-8")
    return read_study(path)


@pytest.fixture(scope="module")
def alone(study: Study) -> dict[str, Answer]:
    """The answers of one process."""
    return {name_of(case, 2): found for case, found in in_this_process(study.cases, 2)}


def named(answered: Iterator[study_workers.Answered]) -> dict[str, Answer]:
    return {name_of(case, 2): found for case, found in answered}


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
        (SIZES.replace("[7, 8, 16]", "[[7], 8]"), "several values in one"),
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


def test_workers_of_a_cluster_give_the_same_answers_though_one_is_killed(
    study: Study, alone: dict[str, Answer]
) -> None:
    """Half way a worker gets SIGKILL: its cases go to the other, and none is missing."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address=None,
        silence_logs=50,
    ) as cluster:
        found: dict[str, Answer] = {}
        for case, one in on_a_cluster(study.cases, 2, cluster.scheduler_address):
            found[name_of(case, 2)] = one
            if len(found) == CASES // 2:
                os.kill(cluster.workers[0].pid, signal.SIGKILL)
        assert len(found) == CASES and found == alone
        again = named(on_a_cluster(study.cases[:3], 2, cluster.scheduler_address))
        assert again == {name: alone[name] for name in again}


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1:9", "none answers"),
        ("tcp://127.0.0.1:9", "none answers"),
        ("nowhere", "it is no address"),
        ("smoke://127.0.0.1:9", "it is no address"),
    ],
)
def test_an_address_that_does_not_answer_is_one_line(
    address: str, said: str, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(study_workers, "CONNECT_SECONDS", 0.5)
    with pytest.raises(FlopbookError, match=f"--scheduler {address}: {said}") as error:
        list(on_a_cluster(study.cases, 1, address))
    assert "\n" not in str(error.value)


def test_without_dask_the_message_says_what_to_install(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(FlopbookError, match=r"needs Dask: pip install 'flopbook\[dask\]'"):
        list(on_a_cluster(study.cases, 1, "127.0.0.1:9"))


class FakeFuture:
    """A case that a worker of another version answered."""

    key = "case"

    def result(self) -> Answer:
        """An answer of other parameters."""
        return Answer((), 0, "", "0.0 other")


class FakeClient:
    """A cluster of one worker."""

    loop = None

    def nthreads(self) -> dict[str, int]:
        """Threads by worker."""
        return {"one": 1}

    def submit(self, *_: Any, **__: Any) -> FakeFuture:
        """A case is taken."""
        return FakeFuture()

    def close(self, **_: Any) -> None:
        """The end."""


def test_a_worker_with_another_version_is_refused(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    dask = pytest.importorskip("distributed")
    monkeypatch.setattr(study_workers, "_client", lambda *_: FakeClient())
    monkeypatch.setattr(dask, "as_completed", lambda futures, loop: list(futures))
    with pytest.raises(FlopbookError, match="a worker has other code or data of flopbook"):
        list(on_a_cluster(study.cases, 1, "127.0.0.1:9"))


def test_a_journal_keeps_what_is_finished(tmp_path: Path, alone: dict[str, Answer]) -> None:
    """Of a line that was torn, of other parameters, or of nonsense the case is asked again."""
    folder = tmp_path / "results"
    with study_journal.opened(folder) as journal:
        for name, found in alone.items():
            journal.add(name, found)
    path = folder / study_journal.NAME
    with study_journal.opened(folder) as journal:
        assert journal.answers == alone
    whole = path.read_bytes()
    other = json.dumps({"name": "x", **answer({}, 1)._replace(made_with="0")._asdict()})
    path.write_bytes(b"nonsense\n[1]\n" + other.encode() + b"\n" + whole[:-20])
    with study_journal.opened(folder) as journal:
        assert journal.answers == dict(itertools.islice(alone.items(), CASES - 1))
        last = list(alone)[-1]
        journal.add(last, alone[last])
    with study_journal.opened(folder) as journal:
        assert journal.answers == alone


def test_answers_of_other_data_are_not_taken_for_ours(
    tmp_path: Path, alone: dict[str, Answer]
) -> None:
    """A chip whose numbers were mended is planned again."""
    root = Path(__file__).resolve().parents[2]
    for folder in ("accelerators", "bibliography", "calculators"):
        skip = shutil.ignore_patterns("flopbook", "__pycache__")
        shutil.copytree(root / folder, tmp_path / "data" / folder, ignore=skip)
    before = made_with()
    with using(Library(tmp_path / "data")):
        assert made_with() == before
    chip = tmp_path / "data" / "accelerators" / "nvidia" / "b200.yaml"
    chip.write_text(chip.read_text("utf-8") + "\n# mended\n", encoding="utf-8")
    name, found = next(iter(alone.items()))
    with study_journal.opened(tmp_path / "results") as journal:
        journal.add(name, found)
    with using(Library(tmp_path / "data")):
        assert made_with() != before
        with study_journal.opened(tmp_path / "results") as journal:
            assert journal.answers == {}
    with study_journal.opened(tmp_path / "results") as journal:
        assert journal.answers == {name: found}


def test_two_studies_do_not_write_one_journal(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    with (
        study_journal.opened(tmp_path),
        pytest.raises(FlopbookError, match="another study writes"),
        study_journal.opened(tmp_path),
    ):
        pytest.fail("the second study was let in")
    with study_journal.opened(tmp_path) as journal:
        assert journal.answers == {}


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    taken.write_text("a file", encoding="utf-8")
    with (
        pytest.raises(FlopbookError, match="was not written"),
        study_journal.opened(taken / "below"),
    ):
        pytest.fail("a file is no folder")


@pytest.mark.parametrize("kind", ["a symbolic link", "a pipe", "a folder"])
def test_a_journal_is_a_regular_file(kind: str, tmp_path: Path) -> None:
    """A pipe would wait for a reader for ever, and a link would fill what it leads to."""
    path, elsewhere = tmp_path / "results" / study_journal.NAME, tmp_path / "elsewhere"
    path.parent.mkdir()
    make: dict[str, Callable[[], None]] = {
        "a symbolic link": lambda: path.symlink_to(elsewhere),
        "a pipe": lambda: os.mkfifo(path),
        "a folder": path.mkdir,
    }
    make[kind]()
    with (
        pytest.raises(FlopbookError, match=f"was not written: it is {kind}; nothing was written"),
        study_journal.opened(path.parent),
    ):
        pytest.fail("it was opened")
    assert not elsewhere.exists()


def test_the_file_of_a_study_is_read_once(file: Path, study: Study) -> None:
    assert read_study(file) == study
