"""A dot product in RISC-V, instruction by instruction: load, calculate, or keep count."""

from __future__ import annotations

from typing import NamedTuple

from scripts.website.figures.drawing import Figure, box, path, words

KINDS = {"load": "c1", "arithmetic": "c0", "loop": "c5"}


class Instruction(NamedTuple):
    """An instruction: its label, its text, and its kind (empty before the loop)."""

    label: str
    text: str
    kind: str


LISTING = (
    Instruction("", "li   a3, 0", ""),
    Instruction("loop:", "lw   t0, 0(a0)", "load"),
    Instruction("", "lw   t1, 0(a1)", "load"),
    Instruction("", "mul  t0, t0, t1", "arithmetic"),
    Instruction("", "add  a3, a3, t0", "arithmetic"),
    Instruction("", "addi a0, a0, 4", "loop"),
    Instruction("", "addi a1, a1, 4", "loop"),
    Instruction("", "addi a2, a2, -1", "loop"),
    Instruction("", "bnez a2, loop", "loop"),
)
_TOP, _ROW, _COLUMNS = 40.0, 24.0, {"load": 330.0, "arithmetic": 430.0, "loop": 540.0}


def counts() -> dict[str, int]:
    """Instructions of each kind in one round of the loop."""
    return {kind: sum(line.kind == kind for line in LISTING) for kind in KINDS}


def figure() -> Figure:
    """The listing on the left, a mark in one of three columns for each line, the sums below."""
    shapes = [words(x, 22, kind, kind="fb-strong") for kind, x in _COLUMNS.items()]
    shapes.append(words(84, 22, "instruction", "start", "fb-strong"))
    for number, line in enumerate(LISTING):
        y = _TOP + number * _ROW
        if line.label:
            shapes.append(words(76, y + 15, line.label, "end"))
        shapes.append(words(84, y + 15, line.text.replace("  ", " "), "start"))
        if line.kind:
            x, colour = _COLUMNS[line.kind], KINDS[line.kind]
            shapes.append(box(x - 30, y + 3, 60, _ROW - 6, f"fb-{colour}", line.kind))
    foot = _TOP + len(LISTING) * _ROW
    sums = counts()
    shapes += [
        path([(84, foot + 2), (600, foot + 2)]),
        words(84, foot + 20, "for each pair of numbers", "start", "fb-strong"),
    ]
    shapes += [
        words(x, foot + 20, str(sums[kind]), kind="fb-strong") for kind, x in _COLUMNS.items()
    ]
    share = sums["arithmetic"] / sum(sums.values())
    return Figure(
        "The instructions of a dot product, sorted",
        f"Each round of the loop has {sums['load']} loads of 4 bytes, {sums['arithmetic']} "
        f"operations that were wanted and {sums['loop']} instructions that move addresses and "
        f"count: {share:.0%} is arithmetic.",
        f"Of {sum(sums.values())} instructions in a round, {sums['arithmetic']} calculate. For 8 "
        "bytes loaded there are 2 operations, a quarter of one for each byte.",
        foot + 30,
        tuple(shapes),
    )
