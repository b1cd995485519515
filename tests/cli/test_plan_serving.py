"""`plan --serve`: what it prints, and which options belong to which kind of plan."""

from __future__ import annotations

import json
from typing import Any

import pytest

WORDS = "plan --serve --model llama-3-70b --chip h100-sxm --chips 8 --dtype fp8"


def test_the_command_prints_a_table_and_json(cli: Any) -> None:
    outcome = cli(*f"{WORDS} --price 2USD/h --flags vllm --max-per-token 30ms".split())
    assert outcome.status == 0 and outcome.out.startswith("tokens/s")
    assert "USD per million tokens" in outcome.out and "left out: " in outcome.out
    assert "each replica: vllm serve --tensor-parallel-size" in outcome.out
    record = json.loads(cli(*f"{WORDS} --price 2USD/h --flags vllm --json".split()).out)
    best = record["layouts"][0]
    assert best["token_cost"] == pytest.approx(2 / 3600 * 8 / best["tokens_per_s"])
    assert record["flags"]["text"].startswith("--tensor-parallel-size")


def test_the_best_is_said_in_words_of_sglang(cli: Any) -> None:
    outcome = cli(*f"{WORDS} --flags sglang".split())
    assert outcome.status == 0
    assert "each replica: python -m sglang.launch_server --tp" in outcome.out
    record = json.loads(cli(*f"{WORDS} --flags sglang --json".split()).out)
    assert record["flags"]["framework"] == "sglang"


def test_nothing_that_serves_is_an_answer(cli: Any) -> None:
    small = cli(
        "plan", "--serve", *["--model", "llama-3-405b", "--chip", "h100-sxm", "--chips", "8"]
    )
    assert small.status == 0 and "nothing on 8 chips fits: weights of 81" in small.out
    slow = cli(*f"{WORDS} --max-per-token 1us".split())
    assert slow.status == 0 and "keeps the limits of latency" in slow.out
    assert json.loads(cli(*f"{WORDS} --max-per-token 1us --flags vllm --json".split()).out)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--cp 2", "--cp is of training; leave it out with --serve"),
        ("--flags megatron", "--flags is 'megatron', expected one of vllm, sglang, trtllm"),
    ],
)
def test_options_of_training_are_refused(words: str, said: str, cli: Any) -> None:
    outcome = cli(*f"{WORDS} {words}".split())
    assert outcome.status == 2 and said in outcome.err


def test_options_of_serving_are_refused_without_it(cli: Any) -> None:
    outcome = cli(*f"{WORDS} --prompt 100".replace("--serve", "").split())
    assert outcome.status == 2 and "--prompt is of serving; give --serve too" in outcome.err
