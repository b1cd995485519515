"""Writes the bill of materials of a release: the wheel, and the packages that it was tested with.

Reads requirements/lock.txt and dist/*.whl; writes dist/flopbook-VERSION.cdx.json (CycloneDX 1.6)
and dist/SHA256SUMS. The same wheel and lock give the same bytes. Exit status: 0 written, 1 there
is no wheel, 2 bad usage.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from flopbook.data.files import write_made

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements" / "lock.txt"
_PIN = re.compile(r"^(?P<name>[A-Za-z0-9][\w.-]*)==(?P<version>[^\s;\\]+)")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_WANTED_BY = re.compile(r"^    #(?: via)? +(\S.*)$")
_RUNTIME = "-r requirements/runtime.in"
_WHEEL = re.compile(r"(?P<name>[\w.]+)-(?P<version>[^-]+)-.*\.whl")


class Pin(NamedTuple):
    """A locked package: its files by hash, and what asks for it."""

    name: str
    version: str
    hashes: tuple[str, ...]
    wanted_by: tuple[str, ...]


def pins(lock: str) -> dict[str, Pin]:
    """Name -> package of a lock file as `make lock` writes it."""
    pinned: dict[str, Pin] = {}
    for block in re.split(r"^(?=[A-Za-z0-9])", lock, flags=re.MULTILINE):
        match = _PIN.match(block)
        if match is None:
            continue
        lines = filter(None, map(_WANTED_BY.match, block.splitlines()))
        dependants = tuple(line[1] for line in lines if line[1] != "via")
        hashes = tuple(_HASH.findall(block))
        pinned[match["name"]] = Pin(match["name"], match["version"], hashes, dependants)
    return pinned


def needed_to_run(locked: Mapping[str, Pin]) -> set[str]:
    """The packages that the wheel asks for, directly or through others."""
    needed: set[str] = set()
    while True:
        indirect = {
            name
            for name, pin in locked.items()
            if name not in needed
            and any(by == _RUNTIME or by.split()[0] in needed for by in pin.wanted_by)
        }
        if not indirect:
            return needed
        needed |= indirect


def bill(wheel: Path, lock: str) -> dict[str, Any]:
    """The bill of a wheel as a CycloneDX document."""
    match = _WHEEL.fullmatch(wheel.name)
    if match is None:
        raise ValueError(f"{wheel.name} is not named as a wheel is")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    locked = pins(lock)
    needed = needed_to_run(locked)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        # The same contents have the same number: nothing here tells when it was written.
        "serialNumber": uuid.uuid5(uuid.NAMESPACE_URL, digest + lock).urn,
        "version": 1,
        "metadata": {"component": _component(match["name"], match["version"], [digest])},
        "components": list(_components(locked, needed)),
    }


def _components(locked: Mapping[str, Pin], needed: set[str]) -> Iterator[dict[str, Any]]:
    for name, pin in sorted(locked.items()):
        component = _component(name, pin.version, pin.hashes)
        # What only tests, site and build use is no part of what is installed.
        yield component | {"scope": "required" if name in needed else "excluded"}


def _component(name: str, version: str, hashes: list[str] | tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name.lower()}@{version}",
        "name": name,
        "version": version,
        "purl": f"pkg:pypi/{name.lower()}@{version}",
        "hashes": [{"alg": "SHA-256", "content": digest} for digest in sorted(hashes)],
    }


def sums(folder: Path) -> str:
    """The hashes of all files of a release, as `sha256sum --check` reads them."""
    files = sorted(path for path in folder.iterdir() if path.name != "SHA256SUMS")
    return "".join(
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files
    )


def main(arguments: list[str] | None = None) -> int:
    """Write bill and hashes beside the wheel."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--dist", type=Path, default=ROOT / "dist", help="where the wheel is (default: dist/)"
    )
    options = parser.parse_args(arguments)
    wheels = sorted(options.dist.glob("*.whl"))
    if len(wheels) != 1:
        print(f"bill: {len(wheels)} wheels in {options.dist}, expected one", file=sys.stderr)
        return 1
    document = bill(wheels[0], LOCK.read_text(encoding="utf-8"))
    version = document["metadata"]["component"]["version"]
    text = json.dumps(document, indent=1, sort_keys=True) + "\n"
    write_made(options.dist / f"flopbook-{version}.cdx.json", text)
    write_made(options.dist / "SHA256SUMS", sums(options.dist))
    print((options.dist / "SHA256SUMS").read_text(encoding="utf-8"), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
