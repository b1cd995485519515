"""Studies: files of options, journals of earlier days, and answers that workers of a cluster send.

A study answers with numbers that can be or says what is wrong with its file; a journal, however it
is broken, never changes what is asked; an answer is taken only if a plan could have given it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flopbook.planning.study import Answer, answer, answer_of
from flopbook.planning.study_journal import NAME as JOURNAL
from scripts.attack import laws
from scripts.attack.broken import broken, odd_record, yaml_of
from scripts.attack.campaign import Attempt, Campaign
from scripts.attack.shell import asked, fault_of

NAME = "studies"
_FILES, _JOURNALS, _ANSWERS = 400, 400, 20_000
_STUDY = {
    "model": ["llama-3-8b", "mixtral-8x7b"],
    "chip": ["h100-sxm"],
    "chips": ["8", "7"],
    "batch-tokens": "256Ki",
    "seq": ["4096"],
    "stack": "megatron-core",
    "price": ["2USD/h", "3.5USD/h"],
}
_CASE = {"model": "llama-3-8b", "chip": "h100-sxm", "chips": "8", "batch_tokens": "256Ki"}


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """Files, then journals of one study, then answers."""
    file, folder = campaign.folder / "study.yaml", campaign.folder / "study"
    for _ in range(campaign.count(_FILES)):
        way, content = _broken_study(campaign)
        file.write_bytes(content)
        command = ("study", str(file), "--output", str(folder), "--json")
        yield Attempt(f"{way}: {content[:2000]!r}", fault_of(*command))
        shutil.rmtree(folder, ignore_errors=True)
    yield from _journals(campaign, file, folder)
    good = answer(_CASE, 2)
    for _ in range(campaign.count(_ANSWERS)):
        record = odd_record(_record(good), campaign.rng)
        yield Attempt(f"an answer {str(record)[:1000]}", _answer_fault(record))


def _broken_study(campaign: Campaign) -> tuple[str, bytes]:
    if campaign.rng.random() < 0.5:
        return broken(yaml_of(_STUDY), campaign.rng)
    return "odd values", yaml_of(odd_record(_STUDY, campaign.rng))


def _journals(campaign: Campaign, file: Path, folder: Path) -> Iterator[Attempt]:
    """One study again and again, each time over a journal that somebody has broken."""
    file.write_bytes(yaml_of(_STUDY))
    command = ("study", str(file), "--output", str(folder), "--json")
    clean = asked(*command)
    journal = folder / JOURNAL
    content = journal.read_bytes()
    cases = json.loads(clean.output)["cases"]
    for _ in range(campaign.count(_JOURNALS)):
        way, made = _broken_journal(content, campaign)
        journal.write_bytes(made)
        reply = asked(*command)
        fault = reply.error if reply.status else _study_fault(json.loads(reply.output), cases)
        yield Attempt(f"{way}: {made[:2000]!r}", fault)
    shutil.rmtree(folder)


def _broken_journal(content: bytes, campaign: Campaign) -> tuple[str, bytes]:
    if campaign.rng.random() < 0.5:
        return broken(content, campaign.rng)
    lines = [json.loads(line) for line in content.splitlines()]
    odd = odd_record(lines, campaign.rng)
    made = "\n".join(map(json.dumps, odd)).encode("utf-8", errors="surrogatepass")
    return "odd values", made + b"\n"


def _study_fault(record: Any, cases: int) -> str:
    """What of a study cannot be, whatever its journal held."""
    if record["cases"] != cases or record["finished"] != cases:
        return f"{record['finished']} of {record['cases']} cases"
    return next((fault for row in record["rows"] for fault in _row_faults(row)), "")


def _row_faults(row: Any) -> Iterator[str]:
    yield from laws.of_numbers(row)
    if not row["problem"]:
        yield from laws.of_band("seconds", row["low"], row["seconds"], row["high"])


def _record(answered: Answer) -> dict[str, Any]:
    return {**answered._asdict(), "layouts": [dict(layout) for layout in answered.layouts]}


def _answer_fault(record: Any) -> str:
    """An answer is refused in words, or is as good as one of our own."""
    try:
        taken = answer_of(record)
    except ValueError as error:
        return "" if str(error).isprintable() else f"says {error!r}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if answer_of(json.loads(json.dumps(_record(taken)))) != taken:
        return "reads otherwise when it was kept"
    return next((fault for layout in taken.layouts for fault in _layout_faults(layout)), "")


def _layout_faults(layout: Any) -> Iterator[str]:
    yield from laws.of_numbers(layout)
    yield from laws.of_band("seconds", layout["low"], layout["seconds"], layout["high"])
