"""A config.json that cannot be read: the command prints one line, and the exit status is 2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.architectures.test_config_files import WRONG
from tests.support.refused_configs import REFUSED

CONTENTS = {name: content for name, (content, _) in WRONG.items()} | {
    f"refused: {name}": config for name, (config, _) in REFUSED.items()
}


@pytest.mark.parametrize("name", CONTENTS)
def test_a_bad_file_is_one_line(name: str, cli: Any, tmp_path: Path) -> None:
    content = CONTENTS[name]
    path = tmp_path / "config.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    outcome = cli("kv-cache", "--config", str(path), "--seq", "4096")
    assert outcome.status == 2 and not outcome.out
    assert outcome.err.startswith("flopbook: ") and outcome.err.count("\n") == 1
    assert len(outcome.err) < 400
