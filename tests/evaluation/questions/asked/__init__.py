"""All questions, by subject."""

from tests.evaluation.questions.asked import (
    clusters,
    limits,
    networks,
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
    *limits.QUESTIONS,
    *serving.QUESTIONS,
    *clusters.QUESTIONS,
    *practice.QUESTIONS,
    *recent.QUESTIONS,
]
