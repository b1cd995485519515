"""All models of measurements, by kind."""

from __future__ import annotations

from flopbook.prediction import rates, serving, training, whole_runs
from flopbook.prediction.models import PredictionModel

_MODELS = (training.MODEL, serving.MODEL, whole_runs.MODEL, rates.MATMUL, rates.MEMORY, rates.LINK)
MODELS: dict[str, PredictionModel] = {model.kind: model for model in _MODELS}
