"""The program under "In Python" of the page on using the calculators runs as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from flopbook import calculate

PAGE = Path(__file__).parents[2] / "docs/using.md"


def test_what_the_page_says_of_python_runs() -> None:
    section = PAGE.read_text(encoding="utf-8").split("\n## In Python\n")[1]
    (program,) = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    names: dict[str, Any] = {}
    exec(program, names)
    assert names["answer"]["bytes"] == calculate("kv-cache", **_asked())["bytes"]


def _asked() -> dict[str, Any]:
    return {"model": "llama-3-70b", "seq": 131_072, "batch": 8}
