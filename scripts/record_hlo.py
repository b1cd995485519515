"""Record what XLA makes of a feed-forward block on four devices, for the chapter on profiling.

Needs JAX (`make jax`, then run this with its Python); the four devices are made of the processor.
Writes `compiled_block.txt` in `scripts/website/measured/`: one line that says with what it was
made, then the instructions of the program of one device, without the attributes that only say who
takes part in which message.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from datetime import UTC, datetime
from typing import Any

from flopbook.data.files import write_made
from scripts.website.measured.compiled_block import FILE, ROWS, WIDE, WIDTH

DEVICES = 4
# What is left out of an instruction: where it came from, and who takes part.
_LEFT_OUT = re.compile(
    r", (?:metadata=\{[^}]*\}|(?:backend_config|frontend_attributes|origin)=\{.*\}"
    r"|channel_id=\d+|replica_groups=mesh\[[^\]]*\] \{[^}]*\}|use_global_device_ids=\w+"
    r"|to_apply=%[\w.]+|calls=%[\w.]+)"
)
_LINE = re.compile(r"^  (?:ROOT )?%.*$", re.M)


def compiled() -> str:
    """The text of the compiled block, as XLA prints it."""
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DEVICES}"
    jax: Any = importlib.import_module("jax")
    numbers, sharding = jax.numpy, importlib.import_module("jax.sharding")
    mesh = sharding.Mesh(jax.devices(), ("model",))

    def block(x: Any, scale: Any, up: Any, down: Any) -> Any:
        mean = numbers.mean(x * x, axis=1, keepdims=True)
        normed = scale * x * jax.lax.rsqrt(mean)
        return x + jax.nn.relu(normed @ up) @ down

    def placed(*axes: str | None) -> Any:
        return sharding.NamedSharding(mesh, sharding.PartitionSpec(*axes))

    def array(size: tuple[int, ...], *axes: str | None) -> Any:
        return jax.ShapeDtypeStruct(size, numbers.float32, sharding=placed(*axes))

    inputs = (
        array((ROWS, WIDTH), "model", None),
        array((WIDTH,), None),
        array((WIDTH, WIDE), None, "model"),
        array((WIDE, WIDTH), "model", None),
    )
    step = jax.jit(block, out_shardings=placed("model", None))
    return str(step.lower(*inputs).compile().as_text())


def reduced(text: str) -> list[str]:
    """The instructions of the program of one device, one on a line, without what is left out."""
    entry = text[text.index("\nENTRY ") :]
    lines = _LINE.findall(entry[: entry.index("\n}")])
    return [re.sub(r"%|ROOT ", "", _LEFT_OUT.sub("", line)).strip() for line in lines]


def main(arguments: list[str] | None = None) -> int:
    """Compile and write. Exit status: 0; 2 where JAX is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.parse_args(arguments)
    try:
        lines = reduced(compiled())
    except ImportError as error:
        print(f"record_hlo: {error}", file=sys.stderr)
        return 2
    version = importlib.import_module("jax").__version__
    day = datetime.now(UTC).date().isoformat()
    head = f"jax {version}, {DEVICES} devices of a processor, {day}"
    write_made(FILE, "\n".join([head, *lines]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
