"""Reduce a trace of PyTorch's profiler to the kernels of its last step.

Prints the rows as JSON, in the layout of `scripts/website/measured/gpu_traces.json`. FILE is what
`export_chrome_trace` writes, also packed (.gz). Exit status: 0; 2 when it cannot be read or has
fewer than two steps.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from pathlib import Path
from typing import Any

from flopbook.errors import FlopbookError
from scripts.website.measured.gpu_traces import reduced


def read_trace(path: Path) -> dict[str, Any]:
    """The events of a file. Raises FlopbookError for one that is no trace."""
    try:
        packed = path.read_bytes()
        text = gzip.decompress(packed) if path.suffix == ".gz" else packed
        trace = json.loads(text)
    except (OSError, EOFError, ValueError) as error:
        raise FlopbookError(f"{path.name} cannot be read: {error}") from None
    if not isinstance(trace, dict) or not isinstance(trace.get("traceEvents"), list):
        raise FlopbookError(f"{path.name} is no trace: it has no list traceEvents")
    return trace


def main(arguments: list[str] | None = None) -> int:
    """Read and print; see the exit status above."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, metavar="FILE")
    options = parser.parse_args(arguments)
    try:
        rows = reduced(read_trace(options.file))
    except FlopbookError as error:
        print(f"record_trace: {error}", file=sys.stderr)
        return 2
    print(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
