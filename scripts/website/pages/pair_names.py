"""Which chips the comparisons set side by side."""

from __future__ import annotations

# Which two, not what they are: every figure comes from the data. The first is the older one.
PAIRS = (
    *(("h100-sxm", other) for other in ("h200-sxm", "b200", "b300", "h100-pcie", "h100-nvl")),
    *(("h100-sxm", other) for other in ("h20", "gh200", "gb200-gpu", "mi300x", "mi325x", "mi355x")),
    *(("h100-sxm", other) for other in ("tpu-v5p", "tpu-v6e", "tpu-v7x", "trainium2", "gaudi-3")),
    *(("h200-sxm", other) for other in ("b200", "mi300x", "mi325x", "mi355x", "tpu-v7x")),
    *(("b200", other) for other in ("b300", "mi355x", "tpu-v7x", "trainium3", "gb200-gpu")),
    *(("a100-sxm-80gb", other) for other in ("h100-sxm", "h200-sxm", "b200", "mi250x", "mi300x")),
    *(("a100-sxm-80gb", other) for other in ("tpu-v4", "l40s")),
    *(("v100-sxm2", "a100-sxm-80gb"), ("v100-sxm2", "h100-sxm"), ("l40s", "h100-pcie")),
    *(("mi250x", "mi300x"), ("mi300x", "mi325x"), ("mi300x", "mi355x"), ("b300", "mi355x")),
    *(("tpu-v5e", "tpu-v6e"), ("tpu-v5p", "tpu-v6e"), ("tpu-v5p", "tpu-v7x")),
    *(("tpu-v6e", "tpu-v7x"), ("trainium1", "trainium2"), ("trainium2", "trainium3")),
    *(("gaudi-2", "gaudi-3"), ("gaudi-3", "h200-sxm"), ("b300", "rubin")),
    *(("rtx-3090", "rtx-4090"), ("rtx-4090", "rtx-5090"), ("t4", "l4")),
)
