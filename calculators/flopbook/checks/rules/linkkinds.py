"""What joins dies, a chip and its CPU, or the cores of a wafer is no link between accelerators.

Nor are the ports that lead out of the server part of the scale-up network.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from flopbook.checks.rules.base import Advice, Finding, Holdings, agree, at_claim, counted, printed
from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim

NAME = "link-kind"
TOLERANCE = 0.01  # the rates are sums of the same ports
# The fields in which links of another kind were recorded for want of one of their own.
FIELDS = ("scaleup_bandwidth", "scaleup_links", "host_bandwidth", "bisection_bandwidth")
KINDS = {
    "fabric_bandwidth": re.compile(r"\bwafer\b|\bon[- ]die\b", re.IGNORECASE),
    "die_to_die_bandwidth": re.compile(
        r"\b(dies?|stacks|chiplets|UltraFusion|UCIe|NV-HBI)\b", re.IGNORECASE
    ),
    "chip_to_chip_bandwidth": re.compile(r"\bC2C\b|\bCPU\b|\binternal chip", re.IGNORECASE),
}
ALL_PORTS = Advice(
    "the ports inside the server only",
    "move it to 'port_bandwidth', and count the ports inside the server here",
)


def check(holdings: Holdings) -> Iterator[Finding]:
    """Links in the field of another kind, and rates of all ports taken for scale-up."""
    for entry in holdings.entries.values():
        yield from _in_other_fields(entry)
        yield from _of_all_ports(entry)


def _in_other_fields(entry: Entry) -> Iterator[Finding]:
    for claim in entry.claims:
        kind = _kind(claim)
        if kind and claim.field in FIELDS:
            advice = Advice(f"the field {kind}", f"move it to {kind}")
            yield at_claim(NAME, entry, claim, f"'{claim.name}' as {claim.field}", advice)


def _kind(claim: Claim) -> str | None:
    return next((field for field, name in KINDS.items() if name.search(claim.name)), None)


def _of_all_ports(entry: Entry) -> Iterator[Finding]:
    chips = [c for c in entry.claims if counted(c) and c.aggregate == "chip" and c.one_way]
    inside = [c for c in chips if c.field == "scaleup_bandwidth"]
    outside = [c for c in chips if c.field == "scaleout_bandwidth"]
    for suspect in inside:
        siblings = [claim for claim in inside if claim.name != suspect.name]
        for up, out in itertools.product(siblings, outside):
            all_ports = (up.one_way or 0.0) + (out.one_way or 0.0)
            if agree(all_ports, suspect.one_way or 0.0, TOLERANCE):
                words = f"{printed(suspect)} is {up.name} and {out.name} ({out.field})"
                yield at_claim(NAME, entry, suspect, words, ALL_PORTS)
                break  # one pair says it
