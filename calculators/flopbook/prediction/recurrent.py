"""What a prediction leaves out of layers with a recurrent state, and what that was worth."""

from __future__ import annotations

from flopbook.prediction.layouts import RunLayout

# Runs of such models on file in 8 and 4 bits, which no fit has seen, and how many times as fast as
# measured they are predicted in the median. A test counts and predicts them anew.
NARROW_RUNS, TIMES_TOO_FAST = 60, 1.4


def left_out(run: RunLayout) -> tuple[str, ...]:
    """A sentence on the kernels of the states, where products are too fast to hide them.

    In 16 bits the three runs on file are predicted within 32 %, slower or as they are.
    """
    if run.shape.state_weights <= 0 or run.precision == "bf16":
        return ()
    return (
        f"kernels of recurrent states run at the rate of fused attention; {NARROW_RUNS} measured "
        f"runs of such models in 8 and 4 bits took {TIMES_TOO_FAST:g} times as long in the median",
    )
