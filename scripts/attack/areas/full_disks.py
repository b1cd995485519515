"""Commands that write, on disks that are full, out of names or read-only.

Each ends with the old file whole or the new one, and says in a line which file was not written.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.attack.campaign import Attempt, Campaign
from scripts.attack.checkout import ROOT, small_checkout
from scripts.attack.small_disk import NOT_MOUNTED

NAME = "full-disks"
_COMMANDS = 120
# The data, the code that `new calculator` adds to, and what makes a folder a checkout.
_DATA = ("accelerators", "bibliography", "calculators")


def attack(campaign: Campaign) -> Iterator[Attempt]:
    """A process in a mount namespace of its own, whose disks nobody else sees."""
    whole = small_checkout(campaign.folder / "whole")
    _copied(whole, campaign.folder / "source" / "checkout")
    spaces = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    seed, count = campaign.rng.getrandbits(32), campaign.count(_COMMANDS)
    words = [str(campaign.folder), str(seed), str(count)]
    done = subprocess.run(
        [*spaces, sys.executable, "-m", "scripts.attack.small_disk", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == NOT_MOUNTED or "unshare" in done.stderr[:20]:
        return  # a system where nobody may mount anything; the tests refuse large files instead
    for line in done.stdout.splitlines():
        yield Attempt(*json.loads(line))
    if done.returncode:
        yield Attempt("the attack itself", done.stderr[-300:])


def _copied(whole: Path, target: Path) -> None:
    target.mkdir(parents=True)
    shutil.copy(whole / "pyproject.toml", target)
    for name in _DATA:
        compiled = shutil.ignore_patterns("__pycache__")
        shutil.copytree(whole / name, target / name, ignore=compiled)
