"""Fixtures of the command line: run it in this process, or as a person does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from flopbook.cli.app import run


@dataclass(frozen=True)
class Outcome:
    """Exit status and what was printed."""

    status: int
    out: str
    err: str


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Runs flopbook in this process: `cli("bubble", "--stages", "8")`."""

    def call(*arguments: str) -> Outcome:
        status = run(arguments)
        printed = capsys.readouterr()
        return Outcome(status, printed.out, printed.err)

    return call


@pytest.fixture
def fails(cli: Callable[..., Outcome]) -> Callable[..., str]:
    """Runs flopbook, checks that it fails as promised, and returns the message."""

    def call(*arguments: str) -> str:
        outcome = cli(*arguments)
        assert outcome.status == 2 and outcome.out == ""
        assert (
            outcome.err.startswith("flopbook: ")
            and outcome.err.endswith("\n")
            and outcome.err.count("\n") == 1
        )
        assert "Traceback" not in outcome.err and outcome.err.strip().isprintable()
        return outcome.err.removeprefix("flopbook: ").strip()

    return call


@pytest.fixture
def process() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs `python -m flopbook` as a process of its own, with extra environment variables."""

    def call(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, **options.pop("env", {})}
        command = [sys.executable, "-m", "flopbook", *arguments]
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
        return subprocess.run(
            command,
            text=True,
            encoding="utf-8",
            env=environment,
            check=False,
            timeout=60,
            **options,
        )

    return call
