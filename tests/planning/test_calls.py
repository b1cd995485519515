"""`predict` and `plan` as Python calls them: the same answers as the commands."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import flopbook
from flopbook.cli.app import run
from flopbook.cli.planning import _OPTIONS
from flopbook.cli.prediction import _PREDICT_OPTIONS
from flopbook.errors import FlopbookError, UnknownName
from flopbook.planning.calls import PLANNED, PREDICTED

ASKED: dict[str, Any] = {
    "model": "llama-3-8b",
    "chip": "h100-sxm",
    "chips": 8,
    "seq": 8192,
    "batch": 128,
    "tp": 1,
    "pp": 1,
}


def command(name: str, options: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> Any:
    """What the command prints as JSON for the same options."""
    words = [f"--{option.replace('_', '-')}={value}" for option, value in options.items()]
    assert run([name, *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_answers_are_shown_in_a_line() -> None:
    predicted = flopbook.predict(**ASKED)
    shown = repr(predicted)
    assert shown.startswith(f"<prediction: {predicted.seconds:.3g} s a step")
    assert len(shown) < 250 and predicted.inferred[0] in shown
    found = flopbook.plan(top=1, **ASKED)
    assert f"{found.layouts[0].seconds:.3g} s" in repr(found) and len(repr(found)) < 120
    assert repr(found._replace(layouts=())).endswith("layouts fit>")


def test_predict_is_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    said = command("predict", {**ASKED, "zero": 3}, capsys)
    for chips in ("8", np.int64(8)):
        record = flopbook.predict(**{**ASKED, "zero": 3, "chips": chips}).record()
        assert json.loads(json.dumps(record)) == said


def test_plan_is_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    said = command("plan", {**ASKED, "top": 3}, capsys)["layouts"]
    layouts = flopbook.plan(top=3, **ASKED).layouts
    assert [layout.seconds for layout in layouts] == [layout["seconds"] for layout in said]


def test_the_keywords_are_options_of_the_commands() -> None:
    """All but those of serving, of the printed text and of files of runs."""
    printed = {"top", "pareto", "flags", "explain", "calibrate", "run"}
    of_serving = {"serve", "prompt", "answer", "pools", "max_first_token", "max_per_token"}
    for options, names in ((_OPTIONS, PLANNED), (_PREDICT_OPTIONS, PREDICTED)):
        assert {option.name for option in options} - printed - of_serving == set(names)


def test_what_is_wrong_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="nearest: chips"):
        flopbook.predict(**ASKED, chps=8)
    with pytest.raises(FlopbookError, match="--zero is 4"):
        flopbook.predict(**ASKED, zero=4)
    with pytest.raises(FlopbookError, match="top is 0"):
        flopbook.plan(top=0, **ASKED)


def test_a_chip_and_a_model_say_what_they_are() -> None:
    assert repr(flopbook.chip("h100")) == "<chip nvidia/h100-sxm: NVIDIA H100 SXM5 80GB>"
    llama = flopbook.model("llama-3-8b")
    assert repr(llama) == "<model llama-3-8b: Llama 3 8B>"
    assert repr(llama.having({"layers": 16})) == "<model llama-3-8b: Llama 3 8B, layers=16>"
