"""`flopbook shard` and `sharded-matmul` in a terminal.

The picture, the file, and every misuse in one line.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

SHARD = {"array": "bf16[256,2048]", "layout": "A[I_X, J_Y]", "mesh": "X=4,Y=8,Z=2"}
PRODUCT = {
    "product": "A[I, J_X] * B[J_X, K] -> C[I, K_X]",
    "dims": "I=64,J=128,K=64",
    "mesh": "X=4",
}


def words(name: str, base: dict[str, str], **changed: str) -> list[str]:
    return [
        name,
        *(word for key, value in {**base, **changed}.items() for word in (f"--{key}", value)),
    ]


def test_the_picture_stands_below_the_answer(cli: Any) -> None:
    outcome = cli(*words("shard", SHARD))
    assert (outcome.status, outcome.err) == (0, "")
    head, _, picture = outcome.out.partition("\n\n")
    assert re.search(r"^bytes_per_device +32\.77 kB ", head, re.M) and "\nfrom\n" in head
    lines = picture.splitlines()
    assert lines[2] == "A[I_X, J_Y]: 32 blocks of 64 x 256, each on 2 devices"
    assert lines[3].split() == [f"Y{n}" for n in range(8)] and lines[4].startswith(
        "  X0  0, 1    2, 3 "
    )
    assert lines[-1].split()[-2:] == ["62,", "63"]


def test_columns_that_do_not_fit_are_counted(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    out = cli(*words("shard", SHARD)).out
    assert max(map(len, out.partition("\nA[I_X, J_Y]")[2].splitlines()[1:])) <= 50
    assert "shown: 4 of 4 rows and 5 of 8 columns" in out


def test_a_large_mesh_is_answered_and_its_picture_cut(cli: Any) -> None:
    outcome = cli(
        *words(
            "shard", SHARD, array="int8[1e6,1e6]", layout="A[I_XY, J]", mesh="X=1000,Y=1000,Z=10"
        )
    )
    assert outcome.status == 0 and "shown: 16 of 1,000,000 rows and 1 of 1 column" in outcome.out
    copies = cli(*words("shard", SHARD, layout="A[I, J]", mesh="X=1e7"))
    assert (
        copies.status == 0
        and copies.out.splitlines()[-1].split("  ")[-1] == "0, 1, 2 ... (10,000,000)"
    )


def test_the_picture_of_a_product_is_asked_for(cli: Any) -> None:
    assert "devices that hold each block" not in cli(*words("sharded-matmul", PRODUCT)).out
    out = cli(*words("sharded-matmul", PRODUCT), "--picture").out
    assert re.findall(r"^([ABC]\[.*\]): ", out, re.M) == ["A[I, J_X]", "B[J_X, K]", "C[I, K_X]"]


@pytest.mark.parametrize(
    "base", [("shard", SHARD), ("sharded-matmul", PRODUCT)], ids=lambda base: base[0]
)
def test_the_file_is_a_picture_and_json_stays_what_it_is(
    base: Any, cli: Any, tmp_path: Path
) -> None:
    path = tmp_path / "blocks.svg"
    outcome = cli(*words(*base), "--plot", str(path))
    assert outcome.status == 0 and outcome.out.rstrip().endswith(f"wrote {path}")
    assert ET.fromstring(path.read_text(encoding="utf-8")).tag.endswith("svg")
    assert cli(*words(*base), "--plot", str(path), "--json").out == cli(*words(*base), "--json").out


def test_json_has_several_values_as_a_list(cli: Any) -> None:
    outputs = json.loads(cli(*words("shard", SHARD), "--json").out)["outputs"]
    assert outputs["local_shape"] == {"value": [64, 256], "unit": "1"}
    outputs = json.loads(cli(*words("sharded-matmul", PRODUCT), "--json").out)["outputs"]
    assert (
        outputs["collectives"]["value"] == ["reduce-scatter of C over X"]
        and outputs["seconds"]["value"] is None
    )


def test_the_working_follows_the_arrays(cli: Any) -> None:
    out = cli(*words("shard", SHARD, layout="A[I_X, J] {U_Y}"), "--explain").out
    assert "I of 256 is cut by X (4): 64 each" in out and "J of 2,048 is whole" in out
    assert (
        "along Y devices hold 8 terms of a sum" in out
        and "along Z devices hold copies: 2 of each block" in out
    )
    out = cli(*words("sharded-matmul", PRODUCT), "--explain").out
    steps = [line.strip() for line in out.partition("\nSteps\n")[2].splitlines()[:3]]
    assert steps[1].startswith("multiply on each device: A[I, J_X] * B[J_X, K] -> C[I, K] {U_X}, ")
    assert steps[2].startswith("reduce-scatter of C over X: C[I, K] {U_X} -> C[I, K_X], 8.192 kB")
    # 2 x 64 x 32 x 64 FLOP on each of four devices, at a rate that shows them as time.
    timed = cli(*words("sharded-matmul", PRODUCT, peak="1TFLOP/s"), "--explain").out
    assert "{U_X}, 262.1 kFLOP, 262.1 ns\n" in timed


WRONG = {
    "axis": (
        words("shard", SHARD, layout="A[I_Q, J]"),
        "A[I_Q, J]: the mesh has no axis Q; it has X, Y, Z",
    ),
    "axis twice": (words("shard", SHARD, layout="A[I_X, J_X]"), "axis X is there twice"),
    "indivisible": (
        words("shard", SHARD, array="bf16[250,2048]"),
        "I of 250 does not divide into 4 blocks (X=4)",
    ),
    "zero": (
        words("shard", SHARD, mesh="X=0,Y=8"),
        "mesh: X is 0, expected a whole number of at least 1",
    ),
    "negative": (words("shard", SHARD, mesh="X=-4,Y=8"), "mesh: X is -4"),
    "dtype": (words("shard", SHARD, array="bf61[256,2048]"), "unknown dtype 'bf61'; nearest: bf16"),
    "brackets": (words("shard", SHARD, layout="A[I_X, J_Y"), "[ and ] do not pair"),
    "dimensions": (words("shard", SHARD, layout="A[I_X]"), "has 1 dimensions, and the array 2"),
    "absurd": (words("shard", SHARD, mesh="X=1e30,Y=8"), "which is not a plausible size"),
    "control": (words("shard", SHARD, layout="A[\x1b[31mI]"), "[ and ] do not pair"),
    "empty": (words("shard", SHARD, mesh=""), "--mesh is empty"),
    "missing": (["shard", "--array", "bf16[8]"], "shard needs --layout"),
    "no result": (
        words("sharded-matmul", PRODUCT, product="A[I,J]*B[J,K]"),
        "is not two factors and a result",
    ),
    "no size": (
        words("sharded-matmul", PRODUCT, dims="I=64,J=128"),
        "dims: the size of K is missing; write K=...",
    ),
    "no sums": (
        words("sharded-matmul", PRODUCT, product="A[I,J]*B[J,K]->C[I,K]{U_X}"),
        "no partial sums over X",
    ),
    "picture and json": (
        [*words("sharded-matmul", PRODUCT), "--picture", "--json"],
        "--picture prints text",
    ),
    "picture of no product": (
        [*words("sharded-matmul", PRODUCT, mesh="X=4,Y=2"), "--picture", "--axes", "1"],
        "the mesh has 2 axes of more than one device (X, Y), and the network 1",
    ),
    "no picture": ([*words("shard", SHARD), "--plot", "a.png"], "--plot writes SVG"),
}


@pytest.mark.parametrize(("arguments", "message"), WRONG.values(), ids=WRONG)
def test_each_misuse_is_one_clear_line(
    arguments: list[str], message: str, fails: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in fails(*arguments) and not list(tmp_path.iterdir())


def test_nothing_is_written_where_there_is_no_answer(fails: Any, tmp_path: Path) -> None:
    path = tmp_path / "none.svg"
    for flags in ((), ("--json",)):
        fails(
            *words("sharded-matmul", PRODUCT, mesh="X=4,Y=2"),
            "--axes",
            "1",
            "--plot",
            str(path),
            *flags,
        )
        assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("flag", ["--json", "--explain"])
def test_an_error_is_the_same_whatever_was_to_be_printed(flag: str, fails: Any) -> None:
    for arguments in (
        words("shard", SHARD, mesh="X=3"),
        words("sharded-matmul", PRODUCT, mesh="X=3"),
    ):
        assert fails(*arguments, flag) == fails(*arguments)
