"""The matrices of latent attention: all layers of them are what the calculator counts."""

from __future__ import annotations

from flopbook.architectures.shape import shape
from flopbook.evaluation.calculator import calculate
from scripts.website.figures.latent_matrices import MODEL, cached, figure, full, matrices


def test_matrices_of_all_layers_are_the_attention_of_the_model() -> None:
    weights = sum(matrix.params for matrix in matrices().values())
    assert weights * shape(MODEL).layers == calculate("params", model=MODEL)["attention"]


def test_a_token_caches_what_the_calculator_counts() -> None:
    """In 16 bits, two bytes for a number."""
    found = calculate("kv-cache", model=MODEL, seq=1, kv_dtype="bf16")
    assert 2 * cached() * shape(MODEL).layers == found["bytes_per_token"]


def test_what_leaves_a_matrix_enters_the_next() -> None:
    found = matrices()
    assert found["Q down"].columns == found["Q up"].rows
    assert found["K up"].rows == found["V up"].rows < found["KV down"].columns
    assert found["V up"].columns == found["O"].rows
    assert found["O"].columns == found["Q down"].rows == found["KV down"].rows


def test_the_title_has_both_caches() -> None:
    assert f"{cached()} cached numbers" in figure().title
    assert figure().title.endswith(f"{full()[1]:,}") and full()[1] > 70 * cached()
