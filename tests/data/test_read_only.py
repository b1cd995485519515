"""Folders in which nobody may write: the old file is whole, and one line names it.

Root writes everywhere by a capability, which the program of the test gives back before it begins.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_WITHOUT = "-dac_override,-dac_read_search"
# Both writers of a folder, the one that replaces and the one that makes; then what is left of it.
_WRITE = """
import sys
from pathlib import Path
from flopbook.data.files import write_made, write_new, write_text
from flopbook.errors import FlopbookError

for write, name in ((write_text, "old"), (write_made, "old"), (write_new, "new")):
    try:
        write(Path(sys.argv[1], name), "other")
    except FlopbookError as error:
        print(error)
    else:
        print("written")
"""


def ordinary(command: list[str]) -> list[str]:
    """A command that may write no more than its owner; skips where root cannot be held back."""
    if os.name == "nt":
        pytest.skip("folders have no such permissions here")
    if os.geteuid() != 0:
        return command
    setpriv = shutil.which("setpriv")
    held = [str(setpriv), "--bounding-set", _WITHOUT, "--inh-caps", _WITHOUT]
    if setpriv is None or subprocess.run([*held, "true"], check=False).returncode:
        pytest.skip("root cannot give its capabilities back here")
    return [*held, *command]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one file that nobody may change, nor put another beside."""
    made = tmp_path / "shut"
    made.mkdir()
    (made / "old").write_text("as it was")
    made.chmod(0o555)
    return made


def test_a_file_in_a_folder_that_is_shut_stays_whole_and_is_named(folder: Path) -> None:
    command = ordinary([sys.executable, "-c", _WRITE, str(folder)])
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    folder.chmod(0o755)
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(lines) == 3 and all("Permission denied" in line for line in lines)
    assert ["the old file is as it was" in line for line in lines] == [True, True, False]
    assert str(folder / "new") in lines[2] and "nothing was written" in lines[2]
    assert {path.name: path.read_text() for path in folder.iterdir()} == {"old": "as it was"}
