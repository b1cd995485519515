"""The study that tests of studies ask."""

from __future__ import annotations

SIZES = """\
model: [llama-3-8b, mixtral-8x7b]
chip: [h100-sxm, b200]
chips: [7, 8, 16]
batch-tokens: 256Ki
seq: [4096, 8192]
stack: megatron-core
price: [2USD/h, 3.5USD/h]
"""
CASES = 24
