"""A prediction as people ask for it: options in, one line for a mistake, parts and band out."""

from __future__ import annotations

import json

import pytest

from flopbook.cli.app import run
from flopbook.data.measured_runs import run_files
from flopbook.errors import FlopbookError, UnknownName
from flopbook.prediction.asking import predict

ASKED = {
    "model": "llama-3-70b",
    "chip": "h100-sxm",
    "chips": "512",
    "batch_tokens": "4Mi",
    "seq": "8192",
    "tp": "8",
    "pp": "4",
    "micro_batch": "1",
    "zero": "1",
    "recompute": "selective",
    "stack": "megatron-core",
}


def test_parts_make_the_step_and_the_step_makes_the_throughput() -> None:
    prediction = predict(ASKED)
    assert prediction.low < prediction.seconds < prediction.high
    assert sum(prediction.parts.values()) == pytest.approx(prediction.seconds)
    tokens = 4 * 2**20
    assert prediction.tokens_per_second == pytest.approx(tokens / prediction.seconds / 512)
    assert 0.2 < prediction.mfu < 0.6
    assert prediction.inferred == ()


def test_what_was_not_asked_is_named() -> None:
    prediction = predict({name: ASKED[name] for name in ("model", "chip", "chips")})
    expected = {"micro-batch size", "gradient accumulation steps", "ZeRO stage", "recompute"}
    assert {*expected, "software stack"} == set(prediction.inferred)


def test_similar_runs_are_on_file_and_of_the_same_generation() -> None:
    rows = {row.id: row for file in run_files().values() for row in file.rows}
    similar = predict(ASKED).similar
    assert similar
    assert all("H" in rows[name].hardware["chip"] for name in similar)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": None}, "--model is missing"),
        ({"chips": None}, "--chips is missing"),
        ({"tp": "7"}, "does not make 512 chips"),
        ({"dp": "3"}, "does not make 512 chips"),
        ({"tp": "0"}, "--tp is 0, expected a whole number of at least 1"),
        ({"zero": "-1"}, "--zero is -1"),
        ({"batch_tokens": "10000"}, "is no multiple of --seq 8,192; use 8,192"),
        ({"recompute": "some"}, "--recompute is 'some', expected one of none, selective, full"),
        ({"dtype": "fp3"}, "--dtype is 'fp3'"),
        ({"batch_tokens": "3 apples"}, "--batch-tokens is '3 apples': unknown unit"),
        ({"chips": "many"}, "--chips is 'many'"),
        ({"chips": "1e999"}, "--chips is"),
    ],
)
def test_a_mistake_is_one_line(change: dict[str, str | None], said: str) -> None:
    with pytest.raises(FlopbookError, match=said) as caught:
        predict({**ASKED, **change})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("change", [{"model": "llama-3-71b"}, {"chip": "h1000"}, {"stack": "tita"}])
def test_an_unknown_name_offers_the_nearest(change: dict[str, str]) -> None:
    with pytest.raises(UnknownName):
        predict({**ASKED, **change, **({"stack": "nemmo"} if "stack" in change else {})})


def test_the_command_prints_what_json_has(capsys: pytest.CaptureFixture[str]) -> None:
    words = [f"--{name.replace('_', '-')}={value}" for name, value in ASKED.items()]
    assert run(["predict", *words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["prediction"]["seconds"] == pytest.approx(predict(ASKED).seconds)
    assert set(record) == {"prediction", "parts", "inferred", "similar_runs"}
    assert run(["predict", *words]) == 0
    text = capsys.readouterr().out
    assert "80 % band" in text and "products" in text and "measured runs like it" in text
