"""The reports of NVIDIA's driver that the chapter on reliability lists, with what to do on each."""

from __future__ import annotations

from pathlib import Path

import pytest

READING = Path(__file__).parents[2] / "docs/handbook/reliability-and-energy.md"
ACTIONS = {  # the action of nvidia2026nvsentinel, by the number of the report
    "Xid 95": "reset the GPU",  # ROBUST_CHANNEL_UNCONTAINED_ERROR, RESET_GPU
    "Xid 119": "reset the GPU",  # GSP_RPC_TIMEOUT, RESET_GPU
    "Xid 74": "find the link",  # NVLINK_ERROR, WORKFLOW_NVLINK_ERR; 144 to 150 for NVLink 5
}


@pytest.mark.parametrize("report", ACTIONS)
def test_a_report_has_its_row_and_its_action(report: str) -> None:
    lines = READING.read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith(f"| {report}")]
    assert len(rows) == 1 and ACTIONS[report] in rows[0]


def test_the_vendor_is_the_source_of_the_table() -> None:
    assert 'cite("nvidia2026nvsentinel")' in READING.read_text(encoding="utf-8")
