"""Units are proved: a swapped operator or a wrong unit anywhere in a formula is caught."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import pytest

from flopbook.faces.dimensions import DimensionError, dimensions
from flopbook.formulas import get_formula, printed
from flopbook.formulas.declaration import Constant, Formula, Input, Output
from flopbook.quantities.ops import ceil, floor, inf, maximum, minimum, sqrt, where
from tests.support import inferring, network_inputs

Flop = Annotated[float, Input("FLOP", "W", "work")]
Rate = Annotated[float, Input("FLOP/s", "C", "rate")]
Bytes = Annotated[float, Input("byte", "Q", "traffic")]
Speed = Annotated[float, Input("byte/s", "w", "bandwidth")]
Count = Annotated[float, Input("1", "n", "count")]
TWO_FLOP = Constant(2.0, "FLOP", "one multiplication, one addition")


def time(work: Flop, rate: Rate, traffic: Bytes, speed: Speed) -> dict[str, Any]:
    """The roofline: the larger of two times."""
    return {"result": maximum(work / rate, traffic / speed)}


def test_a_right_formula_passes(throwaway: Any) -> None:
    assert str(dimensions(throwaway(time, result="s"))["result"]) == "s"


def wrong_operator(work: Flop, rate: Rate, traffic: Bytes, speed: Speed) -> dict[str, Any]:
    return {"result": maximum(work * rate, traffic / speed)}


def swapped_sides(work: Flop, rate: Rate, traffic: Bytes, speed: Speed) -> dict[str, Any]:
    return {"result": maximum(rate / work, speed / traffic)}


def swapped_names(work: Flop, rate: Rate, traffic: Bytes, speed: Speed) -> dict[str, Any]:
    return {"result": maximum(work / speed, traffic / rate)}


def plus_for_times(work: Flop, rate: Rate, traffic: Bytes, speed: Speed) -> dict[str, Any]:
    return {"result": work / rate + traffic}


def bare_number(work: Flop, rate: Rate, traffic: Bytes, speed: Speed) -> dict[str, Any]:
    return {"result": work / rate + 1}


def wrong_comparison(work: Flop, rate: Rate, traffic: Bytes, speed: Speed) -> dict[str, Any]:
    return {"result": where(work > traffic, work / rate, traffic / speed)}


def wrong_choice(work: Flop, rate: Rate, traffic: Bytes, speed: Speed) -> dict[str, Any]:
    return {"result": work / rate if work > 0 else traffic}


def unit_in_exponent(work: Flop, rate: Rate, traffic: Bytes, speed: Speed) -> dict[str, Any]:
    return {"result": work / rate * 2**traffic}


def fractional_power(work: Flop, rate: Rate, traffic: Bytes, speed: Speed) -> dict[str, Any]:
    return {"result": (work / rate) ** 0.5}


def odd_root(work: Flop, rate: Rate, traffic: Bytes, speed: Speed) -> dict[str, Any]:
    return {"result": sqrt(work / rate)}


def wrong_constant(work: Flop, rate: Rate, traffic: Bytes, speed: Speed) -> dict[str, Any]:
    return {"result": TWO_FLOP * work / rate}


def mixed_minimum(work: Flop, rate: Rate, traffic: Bytes, speed: Speed) -> dict[str, Any]:
    return {"result": minimum(work / rate, speed)}


WRONG = [
    wrong_operator,
    swapped_sides,
    swapped_names,
    plus_for_times,
    bare_number,
    wrong_comparison,
    wrong_choice,
    unit_in_exponent,
    fractional_power,
    odd_root,
    wrong_constant,
    mixed_minimum,
]


@pytest.mark.parametrize("function", WRONG, ids=lambda f: f.__name__)
def test_a_slip_is_caught_and_placed(function: Any, throwaway: Any) -> None:
    with pytest.raises(DimensionError, match=r"^throw-away\.result"):
        dimensions(throwaway(function, result="s"))


@pytest.mark.parametrize("unit", ["FLOP", "FLOP/s", "byte/s", "1", "token", "W"])
def test_a_wrong_declaration_is_caught(unit: str, throwaway: Any) -> None:
    with pytest.raises(DimensionError, match=f"declared {unit}"):
        dimensions(throwaway(time, result=unit))


def fitting(work: Flop, rate: Rate, traffic: Bytes, speed: Speed, n: Count) -> dict[str, Any]:
    """All that is allowed: whole powers, roots of squares, nothing and infinity of any unit."""
    area = (work / rate) ** 2
    back = sqrt(area)
    clipped = where(back > 0, back, inf) if n > 1 else 0
    rounded = floor(ceil(clipped)) + -back * n**2.5 - 0
    return {"result": rounded, "intensity": work / traffic, "ridge": rate / speed}


def test_powers_roots_zero_and_infinity_fit(throwaway: Any) -> None:
    found = dimensions(throwaway(fitting, result="s", intensity="FLOP/byte", ridge="FLOP/byte"))
    assert str(found["area"]) == "s^2" and str(found["n"]) == "1"


def mutants(piece: Callable[..., Any]) -> Iterator[tuple[str, str]]:
    """For each * and / of a function.

    The expression with that sign turned into the other, and the source with it.
    """
    source = textwrap.dedent(inspect.getsource(piece))

    def products(tree: ast.Module) -> list[ast.BinOp]:
        return [
            n
            for n in ast.walk(tree)
            if isinstance(n, ast.BinOp) and isinstance(n.op, (ast.Mult, ast.Div))
        ]

    for index in range(len(products(ast.parse(source)))):
        tree = ast.parse(source)
        node = products(tree)[index]
        node.op = ast.Div() if isinstance(node.op, ast.Mult) else ast.Mult()
        yield ast.unparse(node), ast.unparse(tree)


def caught(
    formula: Formula, piece: Callable[..., Any], source: str, monkeypatch: pytest.MonkeyPatch
) -> bool:
    """Whether the dimension check refuses a formula with one function replaced by this source."""
    mutant = formula._replace(id="mutant")
    read = inspect.getsourcelines
    changed = (source.splitlines(keepends=True), 1)
    with monkeypatch.context() as patch:
        patch.setattr(inspect, "getsourcelines", lambda one: changed if one is piece else read(one))
        try:
            dimensions(mutant)
        except DimensionError:
            return True
    return False


# Both sides of these are pure counts (tokens, axes, experts, chunks): no unit can tell times from
# over.
BLIND = {
    "axes / links_per_axis",
    "experts * experts_per_token",
    "batch_tokens * tokens_per_chip",
    "chunks / microbatches",
    "idle * chunks",
    "idle * (work + idle)",
    "idle * work",
    "wide / (1 / d_model + 1 / d_ff)",
    "1 * d_model",
    "1 * d_ff",
    "tokens * where(slack > 0, slack, 1)",
    "stages * 2",
    "stages / 2",
    "(stages - 1) / 2",
    "(stages - 1) * chunks",
    "back_inputs / 2",
    "(stages - 1) * folded * 2",
    "(stages - 1) * (forward + back_inputs + back_weights) * chunks",
    *network_inputs.BLIND,
    "chips * power / pue",
    "work * params / tokens",
    "work / params",
    "chips * peak / mfu",
    "seconds * DAY",
    "where(chip_mtbf > 0, chip_mtbf, inf) * chips",
    "state_per_param / stored",
    "storage / chips",
    "period * 2",
    "0 / params",
    "where(rung >= 1, params, 0 * params) * dp",
    "rounds * grad_bytes / divided",
    "bytes_per_param / divided",
    "2 / microbatches",
    "fetched * 2",
    "sharing * update_bytes / divided",
    "kept / divided",
}


# Nearly every input of these is a count, so units see little of them: their laws and published
# values do.
UNCOUNTED = {
    "tile-traffic",
    "attention-traffic",
    "wave-quantisation",
    "params",
    "training-flops",
    "training-time",
    "memory",
    "fine-tuning",
    "scaling-law",
    *inferring.COUNTED,
    *network_inputs.COUNTED,
}


@pytest.mark.parametrize("name", [name for name in printed() if name not in UNCOUNTED])
def test_swapping_an_operator_in_a_real_formula_is_caught(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where units can see it; the laws of tests/formulas see the rest."""
    formula = get_formula(name)
    pieces = (*formula.parts, formula.function)
    missed = {
        text
        for piece in pieces
        for text, source in mutants(piece)
        if not caught(formula, piece, source, monkeypatch)
    }
    assert missed <= BLIND


@pytest.mark.parametrize("name", ["training-flops", "min-batch", "fsdp-limit"])
def test_a_wrong_unit_of_a_real_input_is_caught(name: str) -> None:
    """Every input with a dimension, its unit taken away."""
    formula = get_formula(name)
    for key, spec in formula.inputs.items():
        if "byte" in spec.unit or "FLOP" in spec.unit:
            inputs = {**formula.inputs, key: Input("1", spec.symbol, spec.meaning)}
            changed = formula._replace(id="x", inputs=inputs)
            with pytest.raises(DimensionError):
                dimensions(changed)


def test_an_output_that_is_declared_free_of_units_must_be(throwaway: Any) -> None:
    outputs = {"result": Output("token", "B", "tokens")}
    formula = throwaway(wrong_constant, result="s")
    changed = Formula("x", "", "", formula.function, formula.inputs, outputs, {}, ())
    with pytest.raises(DimensionError, match="declared token"):
        dimensions(changed)
