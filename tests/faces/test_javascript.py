"""JavaScript is the same function: equal to Python bit for bit, in the engine of a real browser."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from typing import Annotated, Any

import pytest

from flopbook.faces.javascript import function_name, javascript, module
from flopbook.formulas import get_formula, printed
from flopbook.formulas.declaration import Formula, Input
from flopbook.formulas.pipeline import SCHEDULES
from flopbook.quantities.ops import ceil, floor, inf, maximum, minimum, sqrt, where
from tests.support import byexample, inferring, network_inputs, training_inputs
from tests.support.generated_inputs import shared_heads

pytestmark = pytest.mark.browser

Inputs = dict[str, Any]
RANDOM_CALLS = 3000
POWER_ULPS = 2
LOOSE = {"decode", "serving", "speculative-decoding"}  # they subtract a power from one


def log_uniform(rng: random.Random, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def whole(rng: random.Random, high: float) -> float:
    return float(round(log_uniform(rng, 1, high)))


def random_min_batch(rng: random.Random) -> Inputs:
    widths = {name: inf if rng.random() < 0.2 else whole(rng, 1e5) for name in ("d_model", "d_ff")}
    rates = {"peak": log_uniform(rng, 1e9, 1e18), "bandwidth": log_uniform(rng, 1e8, 1e15)}
    widths["bytes_per_activation"] = rng.choice([inf, 4.0, 2.0, 1.0])
    return {
        **rates,
        "bytes_per_param": rng.choice([8.0, 4.0, 2.0, 1.0, 0.75, 0.5, rng.uniform(0.1, 9)]),
        **widths,
    }


def random_bubble(rng: random.Random) -> Inputs:
    """Every schedule, with shapes and times for which its closed form holds."""
    schedule = rng.choice(SCHEDULES)
    stages, microbatches = whole(rng, 1e3), whole(rng, 1e3)
    short, long, longer = sorted(log_uniform(rng, 1e-6, 1e3) for _ in range(3))
    times = {"forward": long, "backward_input": longer, "backward_weight": short}
    if schedule.startswith("dualpipe"):
        stages, times["backward_input"] = 2 * stages, long
    if schedule == "interleaved" or schedule[:2] not in ("gp", "1f"):
        microbatches *= 2 * stages
    virtual = whole(rng, 64) if schedule == "interleaved" else 1.0
    return {
        "stages": stages,
        "microbatches": min(microbatches, 1e6 // stages * stages),
        "virtual": virtual,
        "schedule": schedule,
        **times,
    }


def random_params(rng: random.Random) -> Inputs:
    """Any shape: dense or with experts, grouped or latent attention, every word of every choice."""
    spec = get_formula("params").inputs
    given: Inputs = {
        n: rng.choice(one.choices) if one.choices else whole(rng, 1e4) for n, one in spec.items()
    }
    heads, experts, layers = whole(rng, 256), rng.choice([1.0, whole(rng, 512)]), whole(rng, 200)
    given |= {
        "layers": layers,
        "heads": heads,
        "d_model": heads * whole(rng, 256),
        "experts": experts,
    }
    given |= {
        "experts_per_token": whole(rng, experts),
        "dense_layers": rng.choice([0.0, whole(rng, layers)]),
        "attention_layers": rng.choice([inf, 2 * layers]),
        "ffn_layers": rng.choice([inf, 2 * layers]),
        "state_layers": float(rng.randint(0, int(layers) // 2)),
        "window_layers": float(rng.randint(0, int(layers) // 2)),
        "sparse_layers": float(rng.randint(0, int(layers) // 4)),
        "compressed_layers": float(rng.randint(0, int(layers) // 4)),
    }
    given |= {"kv_heads": rng.choice([inf, whole(rng, heads)]), "norms_per_layer": whole(rng, 4)}
    for name in ("head_dim", "expert_d_ff", "shared_expert_d_ff"):
        given[name] = rng.choice([inf, given[name]])
    for name in ("shared_experts", "q_lora_rank", "kv_lora_rank"):
        given[name] = rng.choice([0.0, given[name]])
    given |= shared_heads(given, rng)
    return given | {"v_head_dim": rng.choice([0.0, 64.0]) if given["kv_lora_rank"] == 0 else 128.0}


RANDOM = {
    "min-batch": random_min_batch,
    "bubble": random_bubble,
    "params": random_params,
    **inferring.RANDOM,
    **network_inputs.RANDOM,
    **training_inputs.RANDOM,
}


def around(value: float) -> tuple[float, float, float]:
    """A double and its two neighbours."""
    return math.nextafter(value, 0), value, math.nextafter(value, inf)


def boundary_min_batch() -> Iterator[Inputs]:
    """Slack of exactly zero (tokens = D/2 and D = F) and the doubles around it."""
    for power, bandwidth in itertools.product(range(4, 18), (1e12, 3.35e12, 2.765e12)):
        width = 2.0**power
        for peak in around(bandwidth * width / 2):
            yield {
                "peak": peak,
                "bandwidth": bandwidth,
                "bytes_per_param": 2.0,
                "d_model": width,
                "d_ff": width,
            }
        for one_side in ({"d_model": width / 2, "d_ff": inf}, {"d_model": inf, "d_ff": width / 2}):
            yield {
                "peak": bandwidth * width / 2,
                "bandwidth": bandwidth,
                "bytes_per_param": 2.0,
                **one_side,
            }
    yield {
        "peak": 989.4e12,
        "bandwidth": 3.35e12,
        "bytes_per_param": 2.0,
        "d_model": inf,
        "d_ff": inf,
    }
    yield {"peak": 1e-40, "bandwidth": 1e18, "bytes_per_param": 0.01, "d_model": 1.0, "d_ff": 1.0}
    yield {"peak": 1e24, "bandwidth": 1e-40, "bytes_per_param": 64.0, "d_model": 1.0, "d_ff": 1.0}


def boundary_fsdp() -> Iterator[Inputs]:
    """Batches that are whole multiples of the tokens per chip, and the doubles around them."""
    chip = {"peak": 4.59e14, "links_per_axis": 2.0, "bytes_per_param": 2.0}
    chip |= {"scaleout_bandwidth": 6.25e9, "regather": "yes"}
    rates = itertools.product(
        (9e10, 1e11, 45e9), (1.0, 2.0, 3.0), ((1.0, 1.0), (256.0, 8.0), (8.0, 8.0), (7.0, 3.0))
    )
    for link, axes, (experts, visited) in rates:
        # The printed function takes every input: what is open is given as such.
        base = {
            **get_formula("fsdp-limit").defaults,
            **chip,
            "link_bandwidth": link,
            "axes": axes,
            "experts": experts,
            "experts_per_token": visited,
        }
        per_chip = get_formula("fsdp-limit").compute(base)["tokens_per_chip"]
        for count in (0.5, 1, 2, 3, 7, 49, 1000, 4934, 8960, 1e6):
            for batch in around(per_chip * count):
                yield {**base, "batch_tokens": batch}
        yield {**base, "batch_tokens": inf}


def boundary_bubble() -> Iterator[Inputs]:
    """One stage, one micro-batch, as many micro-batches as stages, and one chunk.

    Times that are just equal.
    """
    times = {"forward": 1.0, "backward_input": 1.0, "backward_weight": 1.0}
    for stages, microbatches in itertools.product(
        (1.0, 2.0, 3.0, 8.0, 1024.0), (1.0, 2.0, 8.0, 240.0)
    ):
        for schedule in ("gpipe", "1f1b", "zb-h1", "zb-h2"):
            yield {
                "stages": stages,
                "microbatches": microbatches,
                "schedule": schedule,
                "virtual": 1.0,
                **times,
            }
        for virtual in (1.0, 2.0, 7.0):
            shape = {
                "stages": stages,
                "microbatches": stages * microbatches,
                "virtual": virtual,
                **times,
            }
            yield {**shape, "schedule": "interleaved"}
        folded = {"stages": stages, "microbatches": 2 * stages * microbatches, "virtual": 1.0}
        for schedule, weights in itertools.product(("zb-v", "dualpipe-v"), around(1.0)[:2]):
            yield {**folded, **times, "backward_weight": weights, "schedule": schedule}
        yield {
            **folded,
            **times,
            "stages": 2 * stages,
            "microbatches": 4 * stages * microbatches,
            "schedule": "dualpipe",
        }


def boundary_params() -> Iterator[Inputs]:
    """One expert and two, no latent width and one, widths open, smallest and largest."""
    base = random_params(random.Random("flopbook params")) | {
        "dense_layers": 0.0,
        "experts_per_token": 1.0,
    }
    base |= {"expert_d_ff": 7.0, "qk_nope_head_dim": 3.0, "v_head_dim": 5.0}
    for experts, rank, low, width in itertools.product(
        (1.0, 2.0), (0.0, 1.0), (0.0, 1.0), (inf, 1.0, 1e6)
    ):
        open_block = {"d_ff": width} if experts > 1 else {}
        yield {
            **base,
            **open_block,
            "experts": experts,
            "kv_lora_rank": rank,
            "q_lora_rank": low,
            "head_dim": width,
        }


BOUNDARY = {
    "min-batch": boundary_min_batch,
    "fsdp-limit": boundary_fsdp,
    "bubble": boundary_bubble,
    "params": boundary_params,
    **inferring.BOUNDARY,
    **network_inputs.BOUNDARY,
    **training_inputs.BOUNDARY,
}
RANDOM |= {name: byexample.generator(name) for name in byexample.others(RANDOM)}
BOUNDARY |= {name: byexample.edges(name) for name in byexample.others(BOUNDARY)}


def assert_same(engine: Any, formula: Formula, calls: list[Inputs]) -> None:
    """Both languages give the same double for every output of every call.

    A power is computed by the library of each language, which may round the last bits in its own
    way.
    """
    powers = "Math.pow(" in javascript(formula)
    made = engine.run(module([formula]), [(function_name(formula), given) for given in calls])
    for given, there in zip(calls, made, strict=True):
        here = {
            name: value if isinstance(value, str) else float(value)
            for name, value in formula(**given).items()
        }
        if powers:
            assert all(near(formula.id, there[name], value) for name, value in here.items()), (
                given,
                there,
                here,
            )
        else:
            assert exact(there) == exact(here), given


def near(name: str, there: Any, here: Any) -> bool:
    """Equal but for what two libraries make of a power.

    A difference of two powers shows more of it.
    """
    if there == here or isinstance(here, str):
        return there == here
    return abs(there - here) <= max(
        POWER_ULPS * math.ulp(here), 1e-12 * abs(here) if name in LOOSE else 0
    )


def exact(outputs: Inputs) -> dict[str, str]:
    """Outputs to the last bit."""
    return {
        name: value if isinstance(value, str) else value.hex() for name, value in outputs.items()
    }


def test_every_formula_is_compared() -> None:
    """A new formula cannot slip past the comparison."""
    assert set(RANDOM) == set(BOUNDARY) == set(printed())


@pytest.mark.parametrize("name", RANDOM)
def test_random_inputs_give_the_same_doubles(name: str, engine: Any) -> None:
    rng = random.Random(f"flopbook {name}")
    assert_same(engine, get_formula(name), [RANDOM[name](rng) for _ in range(RANDOM_CALLS)])


@pytest.mark.parametrize("name", BOUNDARY)
def test_boundary_inputs_give_the_same_doubles(name: str, engine: Any) -> None:
    assert_same(engine, get_formula(name), list(BOUNDARY[name]()))


def test_the_boundaries_are_met() -> None:
    """The inputs above do reach both sides of each edge; otherwise they would prove little."""
    exact = [get_formula("min-batch")(**given)["tokens_exact"] for given in boundary_min_batch()]
    assert inf in exact and any(value < inf for value in exact)
    fsdp = get_formula("fsdp-limit")
    ratios = [(g["batch_tokens"], fsdp(**g)) for g in boundary_fsdp() if g["batch_tokens"] < inf]
    assert any(batch == out["max_chips"] * out["tokens_per_chip"] for batch, out in ratios)
    assert any(out["max_chips"] == 0 for _, out in ratios)


def test_the_whole_module_loads_as_one(engine: Any) -> None:
    """All formulas in one file, called by name: no name of one disturbs another."""
    every = list(printed().values())
    calls = [next(iter(BOUNDARY[f.id]())) for f in every]
    made = engine.run(
        module(every), [(function_name(f), given) for f, given in zip(every, calls, strict=True)]
    )
    for f, given, outputs in zip(every, calls, made, strict=True):
        assert list(outputs) == list(f.outputs)
        expected = {
            name: value if isinstance(value, str) else float(value)
            for name, value in f(**given).items()
        }
        numbers = {n: v for n, v in expected.items() if not isinstance(v, str)}
        assert outputs == {
            **expected,
            **{n: pytest.approx(v, rel=1e-12) for n, v in numbers.items()},
        }


Number = Annotated[float, Input("1", "x", "a number", least=0)]


def brackets(a: Number, b: Number, c: Number) -> dict[str, Any]:
    """Every operator nested on either side."""
    right = a / (b / c) - (a - (b - c)) + a * (b * c) - (a + (b + c)) * (a - b) / (b * c)
    left = (a / b) / c - (a - b) - c + (a * b) * c
    signs = -(a - b) * -c - -a
    chosen = minimum(a, b) + maximum(b, c) if a > b else ceil(a / b) - floor(b / c)
    roots = sqrt(a * b) + where(a <= b, -a, where(b >= c, b, c))
    equal = where(a == b, 1, where(b != c, 2.5, 3))
    return {
        "right": right,
        "left": left,
        "signs": signs,
        "chosen": chosen,
        "roots": roots,
        "equal": equal,
    }


def test_brackets_functions_and_choices_of_any_formula(engine: Any, throwaway: Any) -> None:
    formula = throwaway(brackets, right="1", left="1", signs="1", chosen="1", roots="1", equal="1")
    rng = random.Random("brackets")
    calls = [{name: log_uniform(rng, 1e-3, 1e6) for name in "abc"} for _ in range(RANDOM_CALLS)]
    calls += [{"a": x, "b": y, "c": z} for x, y, z in itertools.product((1.0, 2.0, 3.0), repeat=3)]
    assert_same(engine, formula, calls)


def test_texts_are_quoted(throwaway: Any) -> None:
    def named(
        kind: Annotated[str, Input("1", "k", "kind", choices=('a"b', "c"))],
    ) -> dict[str, Any]:
        return {"result": where(kind == 'a"b', 1, 2)}

    assert r'kind === "a\"b"' in javascript(throwaway(named, result="1"))


def test_a_function_takes_and_returns_objects() -> None:
    text = javascript(get_formula("min-batch"))
    assert text.startswith(
        "export function min_batch({peak, bandwidth, bytes_per_param, d_model, d_ff, "
        "bytes_per_activation}) {"
    )
    assert "FLOP_PER_WEIGHT" not in text and "inf" not in text.replace("Infinity", "")


@pytest.mark.parametrize("name", RANDOM)
def test_no_formula_asks_for_more_than_the_page_can_give(name: str) -> None:
    """Names are valid in a strict module, or no calculator on the page would work."""
    words = "package static yield let new var function enum await eval arguments"
    reserved = set(words.split())
    assert not reserved & {*get_formula(name).inputs, *get_formula(name).outputs}


def powers(a: Number, b: Number) -> dict[str, Any]:
    """A power of a quotient and a power in an exponent."""
    return {"result": (a / b) ** 2 + 2 ** (a - b)}


def test_powers_keep_their_brackets(engine: Any, throwaway: Any) -> None:
    """Small whole powers are exact in both.

    Others may differ in the last bit, since the two libraries differ.
    """
    calls = [{"a": float(a), "b": 2.0} for a in range(1, 20)]
    assert_same(engine, throwaway(powers, result="1"), calls)
