"""The bill of materials: what a wheel needs, by version and hash, the same each time."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import pytest

from scripts import bill

ROOT = Path(__file__).parents[2]
LOCK = (ROOT / "requirements" / "lock.txt").read_text(encoding="utf-8")


def wheel(folder: Path) -> Path:
    """A file that is named as a wheel is."""
    path = folder / "flopbook-1.2.3-py3-none-any.whl"
    path.write_bytes(b"a wheel")
    return path


def test_every_locked_package_is_listed_with_its_hashes() -> None:
    names = re.findall(r"^([\w.-]+)==", LOCK, re.MULTILINE)
    locked = bill.pins(LOCK)
    assert sorted(locked) == sorted(names) and len(names) > 50
    assert all(pin.hashes and pin.wanted_by for pin in locked.values())
    assert sum(len(pin.hashes) for pin in locked.values()) == LOCK.count("--hash=sha256:")


def test_what_the_package_needs_is_told_from_what_only_builds_it() -> None:
    needed = bill.needed_to_run(bill.pins(LOCK))
    assert {"jinja2", "pyyaml", "pybtex", "markupsafe", "requests", "urllib3"} <= needed
    assert not {"mkdocs", "pytest", "mypy", "zizmor", "playwright"} & needed


def test_the_bill_names_the_wheel_by_its_hash(tmp_path: Path) -> None:
    document = bill.bill(wheel(tmp_path), LOCK)
    about = document["metadata"]["component"]
    assert about["purl"] == "pkg:pypi/flopbook@1.2.3"
    assert about["hashes"][0]["content"] == hashlib.sha256(b"a wheel").hexdigest()
    scopes = {component["name"]: component["scope"] for component in document["components"]}
    assert scopes["pybtex"] == "required" and scopes["pytest"] == "excluded"


def test_both_files_are_written_and_the_same_each_time(tmp_path: Path) -> None:
    wheel(tmp_path)
    written = []
    for _ in range(2):
        assert bill.main(["--dist", str(tmp_path)]) == 0
        written.append({path.name: path.read_bytes() for path in tmp_path.iterdir()})
    assert written[0] == written[1]
    for line in written[0]["SHA256SUMS"].decode().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256(written[0][name]).hexdigest() == digest
    assert json.loads(written[0]["flopbook-1.2.3.cdx.json"])["specVersion"] == "1.6"
    assert len(written[0]) == 3


def test_without_a_wheel_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bill.main(["--dist", str(tmp_path)]) == 1
    assert "0 wheels" in capsys.readouterr().err
