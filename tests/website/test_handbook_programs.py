"""The RISC-V programs that the handbook prints do what it says, in as many instructions."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

CHAPTER = Path(__file__).resolve().parents[2] / "docs" / "handbook" / "computer.md"
LISTINGS = re.findall(r"```asm\n(.*?)```", CHAPTER.read_text(encoding="utf-8"), re.S)
DOT = next(text for text in LISTINGS if "loop:" in text)
UNROLLED = """
      li   a3, 0
loop: lw   t0, 0(a0)
      lw   t1, 0(a1)
      lw   t2, 4(a0)
      lw   t3, 4(a1)
      mul  t0, t0, t1
      mul  t2, t2, t3
      add  a3, a3, t0
      add  a3, a3, t2
      addi a0, a0, 8
      addi a1, a1, 8
      addi a2, a2, -2
      bnez a2, loop
"""
WORD = 2**32


def assembled(text: str) -> tuple[list[list[str]], dict[str, int]]:
    """Instructions as lists of words, and the labels by name."""
    code: list[list[str]] = []
    labels: dict[str, int] = {}
    for line in text.splitlines():
        line = line.partition("#")[0].strip()
        if ":" in line:
            name, _, line = line.partition(":")
            labels[name.strip()] = len(code)
        if line.strip():
            code.append(re.split(r"[\s,()]+", line.strip().rstrip(")")))
    return code, labels


def executed(
    text: str, registers: dict[str, int], memory: dict[int, int]
) -> tuple[dict[str, int], dict[str, int]]:
    """Registers at the end, and how often each instruction ran. A register has 32 bits."""
    (code, labels), counts, at = assembled(text), dict[str, int](), 0
    registers = dict(registers)
    while at < len(code):
        name, *words = code[at]
        counts[name] = counts.get(name, 0) + 1
        at += 1
        if name == "li":
            registers[words[0]] = int(words[1]) % WORD
        elif name == "lw":
            registers[words[0]] = memory[(registers[words[2]] + int(words[1])) % WORD]
        elif name == "addi":
            registers[words[0]] = (registers[words[1]] + int(words[2])) % WORD
        elif name in ("add", "mul"):
            a, b = registers[words[1]], registers[words[2]]
            registers[words[0]] = (a + b if name == "add" else a * b) % WORD
        elif name == "bnez":
            at = labels[words[1]] if registers[words[0]] else at
        else:
            raise AssertionError(f"the interpreter does not know {name}")
    return registers, counts


def run(text: str, pairs: list[tuple[int, int]]) -> tuple[int, dict[str, int]]:
    """The dot product of pairs of words, and the counts of instructions."""
    memory = {0x1000 + 4 * n: a % WORD for n, (a, _) in enumerate(pairs)}
    memory |= {0x8000 + 4 * n: b % WORD for n, (_, b) in enumerate(pairs)}
    registers, counts = executed(text, {"a0": 0x1000, "a1": 0x8000, "a2": len(pairs)}, memory)
    return registers["a3"], counts


WORDS = st.integers(-(2**31), 2**31 - 1)


@pytest.mark.parametrize(("text", "step"), [(DOT, 1), (UNROLLED, 2)], ids=("printed", "unrolled"))
@given(pairs=st.lists(st.tuples(WORDS, WORDS), min_size=2, max_size=20))
def test_the_program_computes_a_dot_product(
    text: str, step: int, pairs: list[tuple[int, int]]
) -> None:
    """Modulo 2^32, for `mul` and `add` keep the low bits."""
    pairs = pairs[: len(pairs) // step * step]
    assert run(text, pairs)[0] == sum(a * b for a, b in pairs) % WORD


def test_the_counts_are_those_of_the_text() -> None:
    """For each pair 2 loads, 2 operations that were wanted and 4 others.

    One instruction before the loop.
    """
    _, counts = run(DOT, [(1, 2)] * 1024)
    assert counts["lw"] == counts["mul"] + counts["add"] == 2 * 1024
    assert sum(counts.values()) == 1 + 8 * 1024


def test_unrolled_it_takes_six_for_each_pair() -> None:
    _, counts = run(UNROLLED, [(1, 2)] * 1024)
    assert sum(counts.values()) == 1 + 6 * 1024
