"""The reader of models: a YAML file -> a record, checked once, all problems at once."""

from __future__ import annotations

from pathlib import Path

from flopbook.data.models import Model
from flopbook.data.records import claim_of, read_checked, with_dates
from flopbook.errors import show_path


def read_model(path: Path, model_id: str) -> Model:
    """Read and check the file of a model. Raises DataError with all of its problems."""
    document, file = read_checked(path, "model", model_id), show_path(path)
    raw = with_dates(document.plain())
    claims = tuple(claim_of(node, file) for node in document.value["claims"].value)
    aliases = tuple(raw.pop("aliases", ()))
    del raw["claims"]
    return Model(claims=claims, aliases=aliases, file=file, **raw)
