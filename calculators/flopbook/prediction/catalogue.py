"""All models of measurements, by kind."""

from __future__ import annotations

from flopbook.prediction import collectives, memory, rates, serving, training, whole_runs
from flopbook.prediction.models import PredictionModel

_MODELS = (
    training.MODEL,
    serving.MODEL,
    whole_runs.MODEL,
    rates.MATMUL,
    rates.MEMORY,
    rates.LINK,
    memory.MODEL,
    collectives.MODEL,
)
MODELS: dict[str, PredictionModel] = {model.kind: model for model in _MODELS}
