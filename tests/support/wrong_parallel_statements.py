"""Words of the chapters on parallelism that a later reader found wrong: chapter and words."""

from __future__ import annotations

WRONG = [
    ("overlap-and-offloading", "hides only behind another micro-batch"),
    ("overlap-and-offloading", "J (c + w)"),
    ("expert-and-context-parallelism", "no expert waits for its memory. The second"),
    ("choosing-a-configuration", "EP 16 would just fit, with"),
    ("racks", "the difference being messages"),
    ("racks", "what both read is $n Z$"),
    ("racks", "it rises from"),
    ("choosing-a-configuration", "most of them die out of memory"),
    ("choosing-a-configuration", "hides; shown, it would add"),
    ("networks", "took 1.1 times as long as printed"),
    ("pipeline-parallelism", "every framework has it"),
    ("racks", "fewer tokens read the share"),
]
