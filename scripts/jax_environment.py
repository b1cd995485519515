"""Where the environment with JAX is, whether it is up to date, and whether it is wanted."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from scripts.setup_env import SetupError, digest

VARIABLE = "FLOPBOOK_JAX"
# Files in its folder: the state that it was made from, or that could not be installed.
STAMP, FAILED = "flopbook-setup.json", "flopbook-failed.json"


def wish() -> str:
    """What FLOPBOOK_JAX says: "0" not wanted, "1" a must, "" if possible.

    Raises SetupError for anything else.
    """
    value = os.environ.get(VARIABLE, "")
    if value not in ("", "0", "1"):
        raise SetupError(
            f"{VARIABLE} is '{value}': write 0 to leave JAX out, 1 to insist on it, or nothing"
        )
    return value


def folder(root: Path) -> Path:
    """Where the environment is."""
    return root / ".venv-jax"


def wanted_state(root: Path) -> dict[str, str]:
    """What an up-to-date environment was made from."""
    locks = {name: digest(str(root / "requirements" / f"{name}.txt")) for name in ("jax", "lock")}
    return {"place": str(root.resolve()), "python": sys.version, **locks}


def interpreter(root: Path) -> Path | None:
    """The Python that has JAX, or None where the environment is absent or out of date."""
    python = folder(root) / "bin" / "python"
    return python if holds_wanted_state(root, STAMP) and python.exists() else None


def holds_wanted_state(root: Path, name: str) -> bool:
    """Whether a file of the environment holds the wanted state."""
    try:
        state = json.loads((folder(root) / name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return bool(state == wanted_state(root))


def note_state(root: Path, name: str) -> None:
    """Write the wanted state to a file of the environment."""
    (folder(root) / name).write_text(json.dumps(wanted_state(root)), encoding="utf-8")
