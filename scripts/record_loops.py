"""Time the loops of the chapter on computers on a core of this machine, and record them.

Compiles `scripts/loops.c` with gcc, runs it, and writes `loop_timings.json` in
`scripts/website/measured/` with machine, compiler, flags and day. It takes ten
seconds on an idle core. Exit status: 0; 2 where there is no gcc, or the program does not run.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import subprocess
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from flopbook.data.files import read_text, write_made
from scripts.website.measured.loop_timings import FILE

PROGRAM = Path(__file__).with_name("loops.c")
FLAGS = ("-O1", "-mavx2", "-mfma", "-ffp-contract=off")


def record() -> dict[str, object]:
    """What the program measured, with what it was measured on."""
    with tempfile.TemporaryDirectory() as folder:
        built = Path(folder) / "loops"
        subprocess.run(["gcc", *FLAGS, PROGRAM, "-o", built], check=True)
        lines = subprocess.run([built], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in lines.splitlines()]
    compiler = subprocess.run(
        ["gcc", "-dumpfullversion"], check=True, capture_output=True, text=True
    )
    return {
        "machine": machine(read_text(Path("/proc/cpuinfo"))),
        "compiler": f"gcc {compiler.stdout.strip()}",
        "flags": " ".join(FLAGS),
        "date": datetime.now(UTC).date().isoformat(),
        "ns": [[name, int(size), float(time)] for name, size, time in rows],
    }


def machine(cpuinfo: str) -> str:
    """The processor as Linux names it, with family and model where the name says too little."""
    fields = dict(re.findall(r"^(model name|cpu family|model)\s*: (.*)$", cpuinfo, re.M))
    if "model name" not in fields:
        return platform.machine()
    return f"{fields['model name']}, family {fields['cpu family']}, model {fields['model']}"


def main(arguments: list[str] | None = None) -> int:
    """Time and write; see the exit status above."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args(arguments)
    try:
        write_made(FILE, (json.dumps(record(), indent=1) + "\n").encode())
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"record_loops: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
