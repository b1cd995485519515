"""Experts have fewer replicas than all other weights, and these lie further apart."""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.prediction.layouts import OneRun, RunLayout
from flopbook.prediction.replicas_traffic import expert_shards_of, shards_of
from tests.support.training_rows import FITTED, LLAMA, layout, parts

# Experts are nearly all of its weights.
EXPERTS = {**LLAMA, "n_experts": 64, "experts_per_token": 2, "moe_d_ff": 28672}
NO_START = {**FITTED, "hop": 1e-12}
DEGREES = {"tp": 1, "dp": 64, "micro_batch_seqs": 8, "global_batch_seqs": 512}


def mixture(ep: int, domain: float = 8.0, **options: Any) -> RunLayout:
    return layout(model=EXPERTS, ep=ep, **{**DEGREES, **options})._replace(domain=domain)


def shown(run: RunLayout, part: str) -> float:
    return float(getattr(parts(run, NO_START), part)[0])


def test_an_expert_has_a_replica_in_each_group_of_expert_parallelism() -> None:
    for ep, shards in ((1, 64), (8, 8), (64, 1)):
        run = OneRun(mixture(ep))
        assert (shards_of(run), expert_shards_of(run)) == (64, shards)


def test_experts_in_one_group_are_gathered_with_all_other_weights() -> None:
    """Without expert parallelism a mixture gathers as a dense model of as many weights does."""
    one = mixture(1, zero_stage=3)
    dense = one._replace(shape=one.shape._replace(expert_parameters=0.0))
    assert shown(one, "gathers") == pytest.approx(shown(dense, "gathers"))


@pytest.mark.parametrize(("zero", "part"), [(3, "gathers"), (1, "gradients")])
def test_experts_of_a_node_come_each_by_the_card_of_its_rank(zero: int, part: str) -> None:
    """Eight cards share what all eight ranks need; no rank beside it needs the same experts.

    The experts of a rank are an eighth, so that they take as long as all of them did together.
    """
    # So little work that nothing hides.
    bare = {**NO_START, "gradient_exposed": 1.0, "gather_exposed": 1e-9}
    runs = [mixture(ep, zero_stage=zero) for ep in (1, 8)]
    together, apart = (float(getattr(parts(run, bare), part)[0]) for run in runs)
    far = runs[1]._replace(domain=1.0)
    assert 0.5 * together < apart < together
    # Where each chip is a node of its own, experts come no slower and all else does.
    every = runs[1].shape._replace(parameters=1e12, expert_parameters=1e12)
    experts = runs[1]._replace(shape=every)
    alone = experts._replace(domain=1.0)
    assert shown(alone, part) == pytest.approx(shown(experts, part))
    assert float(getattr(parts(far, bare), part)[0]) > apart


def test_replicas_of_experts_inside_a_rack_use_its_links() -> None:
    run = mixture(8, domain=64.0, zero_stage=3)
    assert shown(run, "gathers") < 0.5 * shown(run._replace(domain=8.0), "gathers")


def test_experts_with_shards_of_their_own_pass_rings_of_their_own() -> None:
    """Shorter ones, one for each layer with experts."""
    slow = {**FITTED, "hop": 1.0}
    one, many = (float(parts(mixture(ep, zero_stage=3), slow).gathers[0]) for ep in (1, 8))
    assert many / one == pytest.approx((64 + 8) / 64, rel=0.01)
    alone = float(parts(mixture(64, zero_stage=3), slow).gathers[0])
    assert alone / one == pytest.approx(1, rel=0.01)


def test_a_rank_that_alone_has_its_experts_sums_and_gathers_none() -> None:
    for zero, part in ((3, "gathers"), (1, "gradients")):
        run = mixture(64, zero_stage=zero)
        more = run.shape._replace(
            parameters=run.shape.parameters + 1e12,
            expert_parameters=run.shape.expert_parameters + 1e12,
        )
        assert shown(run._replace(shape=more), part) == pytest.approx(shown(run, part))
