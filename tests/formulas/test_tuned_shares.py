"""What adapters are compared with: a model that can be."""

from __future__ import annotations

import pytest

from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate


def test_a_model_smaller_than_its_output_matrix_is_refused() -> None:
    """Eight parameters with the matrices of 8B: adapters were five million times the model."""
    with pytest.raises(FlopbookError, match="the output matrix, --vocab times --d-model"):
        calculate("fine-tuning", model="llama-3-8b", method="lora", rank=16, seq=2048, params=8)
