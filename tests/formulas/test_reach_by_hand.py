"""How far a batch or a degree reaches, within a domain and beyond it, in round numbers.

A domain of eight chips asks for 100 tokens a chip, the network beyond for 250.
"""

from __future__ import annotations

from typing import Any

import pytest

from flopbook.formulas import reach
from flopbook.quantities.ops import inf

BATCH: dict[str, Any] = {
    **{"domain_tokens": 100, "outside_tokens": 250, "chips": inf, "chips_per_node": 8},
    **{"scaleout_bandwidth": 5},
}


def batch(**options: Any) -> dict[str, Any]:
    return reach.batch_reach(**{**BATCH, **options})


@pytest.mark.parametrize(
    ("options", "tokens", "chips", "within"),
    [
        ({"batch_tokens": 700}, 100, 7, "yes"),
        ({"batch_tokens": 1000}, 100, 8, "yes"),
        ({"batch_tokens": 2249}, 100, 8, "yes"),
        ({"batch_tokens": 2250}, 250, 9, "yes"),
        ({"batch_tokens": 2500}, 250, 10, "yes"),
        ({"batch_tokens": 2500, "scaleout_bandwidth": inf}, 100, 8, "yes"),
        ({"batch_tokens": 99}, 100, 0, "no"),
        ({"batch_tokens": 100}, 100, 1, "yes"),
        ({"batch_tokens": 2000, "chips": 8}, 100, 8, "yes"),
        ({"batch_tokens": 800, "chips": 8}, 100, 8, "yes"),
        ({"batch_tokens": 799, "chips": 8}, 100, 7, "no"),
        ({"batch_tokens": 2249, "chips": 9}, 250, 8, "no"),
        ({"batch_tokens": 2250, "chips": 9}, 250, 9, "yes"),
        ({"chips": 9}, 250, inf, "yes"),
        ({"chips": 1}, 100, inf, "yes"),
        ({}, 100, inf, "yes"),
        ({"chips_per_node": 1}, 100, inf, "yes"),
    ],
)
def test_a_batch_reaches_so_many_chips(
    options: dict[str, Any], tokens: float, chips: float, within: str
) -> None:
    found = batch(**options)
    assert (found["tokens_per_chip"], found["max_chips"]) == (tokens, chips)
    assert found["within"] == within
    assert found["across_tokens"] == 250
    assert found["asked"] == (options.get("chips", 1))


def test_a_slow_domain_limits_beyond_it_too() -> None:
    assert batch(outside_tokens=50)["across_tokens"] == 100


@pytest.mark.parametrize(
    ("options", "at_home", "most", "within"),
    [
        ({}, 6, 12, "yes"),
        ({"domain_cap": 20}, 8, 12, "yes"),
        ({"scaleout_bandwidth": inf}, 6, 6, "yes"),
        ({"chips": 6}, 6, 12, "yes"),
        ({"chips": 7}, 6, 12, "no"),
        ({"chips": 8}, 6, 12, "no"),
        ({"chips": 9}, 6, 12, "yes"),
        ({"chips": 12}, 6, 12, "yes"),
        ({"chips": 13}, 6, 12, "no"),
        ({"domain_cap": 0.5}, 0.5, 12, "no"),
        ({"chips": 9, "scaleout_bandwidth": inf}, 6, 6, "no"),
    ],
)
def test_a_degree_reaches_so_far(
    options: dict[str, Any], at_home: float, most: float, within: str
) -> None:
    caps = {"domain_cap": 6, "across_cap": 12, "chips": inf, "chips_per_node": 8}
    found = reach.count_reach(**{**caps, "scaleout_bandwidth": 5, **options})
    assert (found["at_home"], found["reach"], found["within"]) == (at_home, most, within)


def test_rates_within_and_out_of_a_domain() -> None:
    found = reach.network_rate(lanes=3, link_bandwidth=10, chips_per_node=8, scaleout_bandwidth=5)
    assert found == {"network": 30, "outward": 40}
    alone = reach.network_rate(lanes=3, link_bandwidth=10, scaleout_bandwidth=5)
    assert alone["outward"] == 5


def test_weights_for_each_weight_that_computes() -> None:
    assert reach.mixture()["dilution"] == 1
    assert reach.mixture(experts=8, experts_per_token=2)["dilution"] == 4
    whole = reach.mixture(experts=8, experts_per_token=2, params=30, active_params=10)
    assert whole["dilution"] == 3
    assert reach.mixture(params=30)["dilution"] == 30


@pytest.mark.parametrize(
    ("rule", "values", "is_kept"),
    [
        ("active_params_are_some", (10, 10), True),
        ("active_params_are_some", (9, 10), False),
        ("active_params_are_some", (9, inf), True),
        ("mixtures_are_whole", (10, 9), True),
        ("mixtures_are_whole", (inf, inf), True),
        ("mixtures_are_whole", (10, inf), False),
        ("mixtures_are_whole", (inf, 9), False),
        ("beyond_has_a_rate", (8, 8, inf), True),
        ("beyond_has_a_rate", (9, 8, inf), False),
        ("beyond_has_a_rate", (9, 8, 5), True),
        ("beyond_has_a_rate", (inf, 8, inf), True),
    ],
)
def test_rules_of_reach(rule: str, values: tuple[float, ...], is_kept: bool) -> None:
    assert bool(getattr(reach, rule).function(*values)) is is_kept
