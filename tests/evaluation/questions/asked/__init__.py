"""All questions, by subject."""

from tests.evaluation.questions.asked import (
    clusters,
    everyday_chips,
    everyday_models,
    held_back,
    held_back_networks,
    limits,
    networks,
    offloading,
    outside,
    practice,
    recent,
    rooflines,
    serving,
    shapes,
    training,
    tuning,
)

QUESTIONS = [
    *rooflines.QUESTIONS,
    *shapes.QUESTIONS,
    *training.QUESTIONS,
    *tuning.QUESTIONS,
    *networks.QUESTIONS,
    *offloading.QUESTIONS,
    *limits.QUESTIONS,
    *serving.QUESTIONS,
    *clusters.QUESTIONS,
    *practice.QUESTIONS,
    *outside.QUESTIONS,
    *recent.QUESTIONS,
    *everyday_chips.QUESTIONS,
    *everyday_models.QUESTIONS,
    *held_back.QUESTIONS,
    *held_back_networks.QUESTIONS,
]
