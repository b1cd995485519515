"""Questions on fine-tuning."""

from __future__ import annotations

from tests.evaluation.questions.answers import tuning as by
from tests.evaluation.questions.answers.facts import shape
from tests.evaluation.questions.question import Expected
from tests.evaluation.questions.question import Question as Q


def tuned(model: str, method: str, rank: int = 8, adapted: str = "all") -> Expected:
    return lambda: by.tuned(shape(model), method, rank, adapted)


ASK = "fine-tuning --seq 512 --model"
# Experts everywhere, beside dense layers, shared, latent attention, recurrent layers.
MIXTURES = (
    "mixtral-8x7b",
    "qwen-3-30b-a3b",
    "gpt-oss-20b",
    "deepseek-v3",
    "glm-4.5-air",
    "kimi-k2",
    "qwen-3-next-80b-a3b",
    "jamba-52b",
    "nemotron-3-nano-30b-a3b",
)
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
    Q(f"{ASK} gemma-3-27b --method qlora --rank 32", tuned("gemma-3-27b", "qlora", 32), 1e-3),
    *(
        Q(f"{ASK} {model} --rank {rank} --adapted {sides}", tuned(model, "lora", rank, sides))
        for model in MIXTURES
        for rank, sides in ((16, "all"), (8, "attention"), (4, "qv"))
    ),
    *(Q(f"{ASK} {model} --method full", tuned(model, "full")) for model in MIXTURES),
]
