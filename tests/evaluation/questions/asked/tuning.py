"""Questions on fine-tuning."""

from __future__ import annotations

from tests.evaluation.questions.answers import tuning as by
from tests.evaluation.questions.answers.facts import shape
from tests.evaluation.questions.question import Expected
from tests.evaluation.questions.question import Question as Q


def tuned(model: str, method: str, rank: int = 8, adapted: str = "all") -> Expected:
    return lambda: by.tuned(shape(model), method, rank, adapted)


ASK = "fine-tuning --seq 512 --model"
QUESTIONS = [
    Q(f"{ASK} llama-2-7b", tuned("llama-2-7b", "lora")),
    Q(f"{ASK} llama-2-7b --method full", tuned("llama-2-7b", "full")),
    Q(f"{ASK} llama-3-8b --rank 16", tuned("llama-3-8b", "lora", 16)),
    Q(f"{ASK} llama-3-8b --rank 64 --adapted qv", tuned("llama-3-8b", "lora", 64, "qv")),
    Q(f"{ASK} llama-3-8b --adapted attention", tuned("llama-3-8b", "lora", 8, "attention")),
    Q(f"{ASK} llama-3-70b --rank 1", tuned("llama-3-70b", "lora", 1)),
    Q(f"{ASK} llama-3-70b --method qlora --rank 16", tuned("llama-3-70b", "qlora", 16), 1e-3),
    Q(f"{ASK} gpt-2-xl --rank 4 --adapted attention", tuned("gpt-2-xl", "lora", 4, "attention")),
    Q(f"{ASK} llama-3.2-1b --method qlora", tuned("llama-3.2-1b", "qlora"), 1e-3),
]
