"""One root of the data: which library is in use, what it refuses, and what it remembers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from flopbook.data.folders import folders_of, packaged
from flopbook.data.library import (
    VARIABLE,
    Library,
    entry,
    entry_ids,
    library,
    model,
    per_library,
    using,
    vendor_ids,
)
from flopbook.errors import FlopbookError
from tests.support.samples import World, claim, write

ROOT = Path(__file__).resolve().parents[2]


def call(*words: str, data: str) -> subprocess.CompletedProcess[str]:
    """The command with another folder of data."""
    command = [sys.executable, "-m", "flopbook", *words]
    environment = {**os.environ, VARIABLE: data}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def test_the_data_of_a_checkout_is_the_default() -> None:
    assert library().root == packaged().root == ROOT and library() is library()


def test_a_library_is_in_use_inside_the_with_only(tmp_path: Path) -> None:
    """Nested ones too, and after an error."""
    outer, inner = World(tmp_path / "outer"), World(tmp_path / "inner")
    inner.entry("two", id="acme/two")
    before = entry_ids()
    with using(outer.library):
        assert entry_ids() == ("acme/one",) and library() is outer.library
        with pytest.raises(ZeroDivisionError), using(inner.library):
            assert entry_ids() == ("acme/one", "acme/two")
            raise ZeroDivisionError
        assert library() is outer.library
    assert entry_ids() == before


def test_a_file_is_read_once_until_it_is_forgotten(world: World) -> None:
    first = entry("one")
    write(world.root / "accelerators/acme/two.yaml", "nonsense")
    assert entry("one") is first and "acme/two" not in entry_ids()
    world.library.forget()
    assert entry("one") == first and "acme/two" in entry_ids()
    world.entry("one", claim(value=3))
    assert entry("one").claims[0].value == 3


def test_what_is_made_from_a_library_is_kept_with_it(tmp_path: Path) -> None:
    calls: list[int] = []

    @per_library
    def double(number: int) -> int:
        calls.append(number)
        return 2 * number * len(entry_ids())

    first, second = World(tmp_path / "one"), World(tmp_path / "two")
    second.entry("two", id="acme/two")
    with using(first.library):
        assert (double(3), double(3), double(number=4)) == (6, 6, 8)
    with using(second.library):
        assert double(3) == 12
    assert calls == [3, 4, 3]


def test_both_layouts_have_the_same_folders(tmp_path: Path) -> None:
    """A checkout keeps models below calculators/, a wheel beside the others."""
    assert folders_of(tmp_path).models == tmp_path / "models"
    (tmp_path / "calculators" / "models").mkdir(parents=True)
    assert folders_of(tmp_path).models == tmp_path / "calculators" / "models"


@pytest.mark.parametrize("missing", ["accelerators", "bibliography", "models"])
def test_a_root_without_data_is_refused_in_one_line(tmp_path: Path, missing: str) -> None:
    World(tmp_path)
    (tmp_path / missing).rename(tmp_path / "elsewhere")
    with pytest.raises(FlopbookError, match="holds no data of flopbook") as caught:
        Library(tmp_path)
    assert missing in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["missing", "empty", "file", "file/inside"])
def test_a_command_says_what_is_wrong_with_the_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("text")
    done = call("min-batch", "--chip", "h100-sxm", data=str(tmp_path / name))
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("\n") == 1
    assert done.stderr.startswith("flopbook: ") and VARIABLE in done.stderr


def test_a_command_computes_with_the_data_that_the_variable_names(tmp_path: Path) -> None:
    World(tmp_path)
    done = call("min-batch", "--chip", "acme/one", "--dtype", "bf16", data=str(tmp_path))
    assert done.returncode == 0 and "50 tokens" in done.stdout, done.stderr


def test_a_calculator_without_data_needs_none(tmp_path: Path) -> None:
    done = call("bubble", "--stages", "8", "--microbatches", "32", data=str(tmp_path / "missing"))
    assert done.returncode == 0, done.stderr


def test_looking_up_one_chip_reads_one_file(world: World) -> None:
    """So that a broken file stands in nobody's way but its own."""
    world.write("accelerators/acme/broken.yaml", "- nonsense")
    world.write("accelerators/bolt/vendor.yaml", "- nonsense")
    assert entry("acme/one").id == "acme/one" and model("tiny-1b").id == "tiny-1b"
    assert vendor_ids() == ("acme", "bolt")
