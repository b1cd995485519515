"""Arrays in blocks on a mesh: counted device by device."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


def block(
    sides: Sequence[int], axes: Sequence[str], mesh: Mapping[str, int], width: float
) -> dict[str, object]:
    """Sizes when dimension i is cut by the axes in `axes[i]`, and copies lie along the others."""
    devices = math.prod(mesh.values())
    local = [s // math.prod(mesh[a] for a in cut) for s, cut in zip(sides, axes, strict=True)]
    blocks = math.prod(mesh[a] for cut in axes for a in cut)
    held = math.prod(local) * width
    return {
        "bytes_per_device": held,
        "bytes_total": held * devices,
        "copies": devices // blocks,
        "array_bytes": math.prod(sides) * width,
        "devices": devices,
        "local_shape": local,
    }
