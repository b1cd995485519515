"""What a small model that drafts tokens gains."""

from typing import Annotated, Any

from flopbook.formulas.declaration import Constant, Input, Output, formula
from flopbook.formulas.omissions import omission
from flopbook.quantities.ops import minimum, where

A_TWENTIETH = Constant(0.05, "1", "time of a draft in the first example, over a pass")


@omission(
    "drafts count as free without --draft-time: if each takes a twentieth of a pass of the large "
    "model, --draft-time 0.05, the speed-up is smaller ({size})",
    of="speedup",
)
def drafts_that_take_time(draft_tokens: float, draft_time: float) -> float:
    """All drafts of a pass, at the time of a small model; those of n-grams are nearly free."""
    taken = draft_tokens * where(draft_time > 0, 0, A_TWENTIETH)
    return 1 / (1 + taken) - 1


@omission(
    "checking a draft counts as long as writing one token, which holds while memory limits a pass: "
    "in a batch so large that arithmetic does, the speed-up is smaller ({size})",
    of="speedup",
)
def checks_that_take_time(speedup: float, operations: float) -> float:
    """Where arithmetic limits a pass, time is operations: the speed-up is one over theirs."""
    return minimum(1 / (operations * speedup) - 1, 0)


@formula(
    "speculative-decoding",
    title="Speculative decoding",
    question="How much faster does a model generate if a smaller one drafts for it?",
    outputs={
        "speedup": Output("1", "S", "tokens a second over those without a draft"),
        "tokens_per_step": Output(
            "token", r"\tau", "tokens from one pass of the large model, on average"
        ),
        "operations": Output("1", "O", "arithmetic over that without a draft"),
    },
    sources=("leviathan2023fast",),
    symbols={"missed": r"\mu"},
    omissions=(drafts_that_take_time, checks_that_take_time),
    asks=("acceptance", "draft_tokens", "draft_time"),
    examples=(
        {"acceptance": "0.8", "draft-tokens": "5", "draft-time": "0.05"},
        {"acceptance": "0.6", "draft-tokens": "2"},
    ),
)
def speculative_decoding(
    acceptance: Annotated[
        float, Input("1", r"\alpha", "probability that a drafted token is accepted", most=1)
    ],
    draft_tokens: Annotated[
        float,
        Input("token", r"\gamma", "tokens drafted for each pass", least=1, whole=True, most=1e4),
    ],
    draft_time: Annotated[
        float,
        Input(
            "1",
            "c",
            "time per drafted token, as a share of a pass of the large model",
            most=1e4,
            none=True,
        ),
    ] = 0.0,
    draft_flop: Annotated[
        float,
        Input(
            "1",
            r"\hat{c}",
            "arithmetic of a drafted token over that of a token of the large model",
            most=1e4,
            none=True,
        ),
    ] = 0.0,
) -> dict[str, Any]:
    """Expected speed-up when a draft of several tokens is checked by one pass of the large model.

    Derivation:
        A pass of the large model over a draft tells for each token whether it would have been
        written, and itself writes one more after the last that is accepted. If each token is
        accepted with probability alpha, the number written is 1 + alpha + ... + alpha to the power
        gamma on average. The time is one pass and gamma drafted tokens; checking several tokens
        takes as long as writing one, as long as the weights are the limit.

    Leaves out:
        - The time of drafts, where it is not given. [drafts_that_take_time]
        - That tokens are not accepted independently of each other, and less often in some texts
          than in others. [no size: it is a matter of the text]
        - That a pass over a large batch is limited by arithmetic: then the operations above are
          time. [checks_that_take_time]
        - The cache of the draft model, which takes memory from the batch. [no size: its shape is
          not asked]
    """
    missed = 1 - acceptance
    tokens_per_step = where(
        missed > 0,
        (1 - acceptance ** (draft_tokens + 1)) / where(missed > 0, missed, 1),
        draft_tokens + 1,
    )
    return {
        "speedup": tokens_per_step / (draft_tokens * draft_time + 1),
        "tokens_per_step": tokens_per_step,
        "operations": (draft_tokens * draft_flop + draft_tokens + 1) / tokens_per_step,
    }
