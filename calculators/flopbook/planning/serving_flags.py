"""A replica that serves, in the words of an engine.

Options of vLLM are those of vllm/config at 01230b40. Those of SGLang stand in the recipes of
sgl-project/sgl-cookbook at 7b5bd9c0; what they divide, in managers/tp_worker.py. Those of
TensorRT-LLM are those of tensorrt_llm/commands/serve.py at 00209af1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from flopbook.planning.serving import ServingLayout
from flopbook.planning.serving_question import ServingQuestion


class Engine(NamedTuple):
    """An engine: the command that starts a replica, and its options for a layout."""

    command: str
    options: Callable[[ServingQuestion, ServingLayout], str]


def vllm_flags(question: ServingQuestion, layout: ServingLayout) -> str:
    """Options of `vllm serve` for each replica."""
    words = [f"--tensor-parallel-size {layout.tp}"]
    words += [f"--pipeline-parallel-size {layout.pp}"] if layout.pp > 1 else []
    words += [f"--data-parallel-size {layout.dp}"] if layout.dp > 1 else []
    words += ["--enable-expert-parallel"] if layout.ep > 1 else []
    # Ranks of attention are engines of their own, which count their own sequences.
    words += [f"--max-num-seqs {layout.batch // layout.dp} --max-model-len {_length(question)}"]
    return " ".join(words)


def sglang_flags(question: ServingQuestion, layout: ServingLayout) -> str:
    """Options of `sglang.launch_server` for each replica.

    Its tensor-parallel ranks are all ranks of a stage, of which attention with sequences of its own
    takes groups; sequences are those of all groups.
    """
    words = [f"--tp {layout.tp * layout.dp}"]
    words += [f"--pp-size {layout.pp}"] if layout.pp > 1 else []
    words += [f"--dp {layout.dp} --enable-dp-attention"] if layout.dp > 1 else []
    words += [f"--ep {layout.ep}"] if layout.ep > 1 else []
    words += [f"--max-running-requests {layout.batch} --context-length {_length(question)}"]
    return " ".join(words)


def trtllm_flags(question: ServingQuestion, layout: ServingLayout) -> str:
    """Options of `trtllm-serve` for each replica.

    Its tensor-parallel ranks are all ranks of a stage. Attention with sequences of its own has no
    option but a line of the file that `--config` names, and then every rank is a group.
    """
    words = [f"--tp_size {layout.tp * layout.dp}"]
    words += [f"--pp_size {layout.pp}"] if layout.pp > 1 else []
    words += [f"--ep_size {layout.ep}"] if layout.ep > 1 else []
    words += [f"--max_batch_size {layout.batch // layout.dp} --max_seq_len {_length(question)}"]
    if layout.dp == 1:
        return " ".join(words)
    words += ["--config replica.yaml  # enable_attention_dp: true"]
    words += [f"(no groups of {layout.tp} ranks: plan with --tp 1)"] if layout.tp > 1 else []
    return " ".join(words)


def _length(question: ServingQuestion) -> int:
    """Tokens of a prompt and its answer."""
    return int(question.base.prompt + question.base.answer)


ENGINES: Mapping[str, Engine] = {
    "vllm": Engine("vllm serve", vllm_flags),
    "sglang": Engine("python -m sglang.launch_server", sglang_flags),
    "trtllm": Engine("trtllm-serve", trtllm_flags),
}
