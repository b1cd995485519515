"""Questions on offloading, worked out by hand from ZeRO-Offload and ZeRO-Infinity.

Ren et al. 2021 (section 4): gradients in 16 bits go down, weights in 16 bits come up, the update
waits. Rajbhandari et al. 2021: weights on the host are fetched in the forward and in the backward
pass. An update reads 2 + 12 bytes for each parameter and writes 12 + 2, in the memory that the
chips of a host share: a host of one replica, or of several that ZeRO divides, updates each
parameter once. Llama 3 8B has 8,030,261,248 parameters.
"""

from __future__ import annotations

from tests.evaluation.questions.asked.practice import q

BILLIONS = 8e9
LINK = 64e9  # byte/s, PCIe 5.0 with 16 lanes
RATE = 110e9  # byte/s of updates on a host, as the calculator has it
UPDATE = 28 * BILLIONS / RATE
ONCE = 2 * BILLIONS / LINK  # gradients or weights of one pass
PLAIN = f"offload --params {BILLIONS:.0f} --host-bandwidth 64GB/s"
QUESTIONS = [
    q(PLAIN, down=2 * BILLIONS, up=2 * BILLIONS, update_seconds=UPDATE, exposed=ONCE + UPDATE),
    q(f"{PLAIN} --offload optimizer", down=2 * BILLIONS, exposed=UPDATE),
    q(f"{PLAIN} --dp 8", down=2 * BILLIONS / 8, update_seconds=UPDATE, host_bytes=14 * BILLIONS),
    q(f"{PLAIN} --dp 64", update_seconds=UPDATE / 8, host_bytes=14 * BILLIONS / 8),
    q(f"{PLAIN} --offload optimizer --dp 4", host_bytes=12 * BILLIONS),
    q("offload --model llama-3-70b --chip h100-sxm --dp 8", host_bytes=14 * 70_553_706_496),
    q(f"{PLAIN} --microbatches 4", down=8 * BILLIONS, up=2 * BILLIONS, exposed=4 * ONCE + UPDATE),
    q(
        f"{PLAIN} --offload parameters --microbatches 2",
        down=4 * BILLIONS,
        up=8 * BILLIONS,
        exposed=2 * ONCE + 2 * ONCE + UPDATE,
    ),
    q(
        f"{PLAIN} --offload no --offload-activations yes --activations 32GB --microbatches 2",
        down=64e9,
        up=64e9,
        exposed=2 * 64e9 / LINK,
    ),
    # A second of forward pass and two of backward pass hide a second of link each.
    q(
        f"{PLAIN} --offload no --offload-activations yes --activations 64GB --compute-seconds 3s",
        exposed=0.0,
    ),
    q(f"{PLAIN} --host-rate 220GB/s --host-chips 4", update_seconds=4 * UPDATE / 2),
    q(
        "offload --model llama-3-8b --chip h100-sxm --dp 8",
        down=2 * 8_030_261_248 / 8,
        update_seconds=28 * 8_030_261_248 / RATE,
    ),
]
