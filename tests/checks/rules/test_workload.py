"""A benchmark whose lengths come from nowhere, or tomorrow, or that stands twice, is told."""

from __future__ import annotations

import datetime

from flopbook.checks.rules import workload
from flopbook.checks.rules.base import Holdings
from flopbook.data.library import library
from flopbook.data.workloads import Tokens, Workload

DAY = datetime.date(2026, 11, 20)
KNOWN = "mlcommons2026reference"
LENGTH = Tokens(100, KNOWN, DAY)
CHAT = Workload("Acme", "Chat", ("chat",), 7, LENGTH, LENGTH, file="acme.yaml", line=3)


def messages(*asked: Workload) -> list[str]:
    holdings = Holdings(library=library(), references=library().references, workloads=asked)
    return [str(finding.problem) for finding in workload.check(holdings)]


def test_a_benchmark_with_sources_is_sound() -> None:
    assert messages(CHAT, CHAT._replace(benchmarks=("code",))) == []
    assert messages(CHAT, CHAT._replace(suite="Other")) == []


def test_a_source_that_nobody_knows_is_told() -> None:
    (message,) = messages(CHAT._replace(answer=LENGTH._replace(source="nobody2026x")))
    assert message.startswith("acme.yaml:3:1: workload: ") and "'nobody2026x'" in message


def test_nobody_read_on_a_day_to_come() -> None:
    (message,) = messages(CHAT._replace(held=LENGTH._replace(as_of=datetime.date(2999, 1, 1))))
    assert "as_of 2999-01-01" in message


def test_a_name_that_two_benchmarks_have_is_told() -> None:
    (message,) = messages(CHAT, CHAT)
    assert "'chat' twice" in message
