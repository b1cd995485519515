"""Asks the command line in this process, and says what of a reply cannot be."""

from __future__ import annotations

import contextlib
import io
import json
import math
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from flopbook.cli.app import run

_LONGEST_S = 10.0  # of processor time
_LONGEST_LINE = 2_200
SECRET = "nobody may read this"


class Reply(NamedTuple):
    """What a command printed, its exit status, and its seconds on the processor."""

    status: int
    output: str
    error: str
    seconds: float


def asked(*words: str) -> Reply:
    """Run a command; whatever it raises is a failure of the attack that asked."""
    output, error = io.StringIO(), io.StringIO()
    begun = time.process_time()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(error):
        status = run(words)
    return Reply(status, output.getvalue(), error.getvalue(), time.process_time() - begun)


def fault_of(*words: str, names: str = "") -> str:
    """Ask, and say what is wrong: a traceback, a riddle, a secret, or a number that is none.

    A message says the name of what it speaks of.
    """
    try:
        reply = asked(*words)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return next(_faults(reply, names), "")


def _faults(reply: Reply, names: str) -> Iterator[str]:
    if reply.seconds > _LONGEST_S:
        yield f"took {reply.seconds:.1f} s"
    if reply.status not in (0, 1, 2):
        yield f"exit {reply.status}"
    if SECRET in reply.output + reply.error:
        yield "read a secret"
    lines = reply.error.splitlines()
    for line in lines:
        if not line.isprintable() or len(line) > _LONGEST_LINE:
            yield f"says {line!r}"
    if reply.status == 2:
        told = reply.output + reply.error
        if not lines or names not in told:
            yield f"does not name {names}: {told!r}"
        return
    try:
        record = json.loads(reply.output, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        yield f"prints no JSON: {error}"
        return
    yield from numbers_that_are_none(record)


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no number")


def numbers_that_are_none(record: Any) -> Iterator[str]:
    """Numbers of a record that are infinite, however deep they stand."""
    if isinstance(record, dict):
        for value in record.values():
            yield from numbers_that_are_none(value)
    elif isinstance(record, list):
        for value in record:
            yield from numbers_that_are_none(value)
    elif isinstance(record, float) and not math.isfinite(record):
        yield f"the number {record}"
