"""Calculators of ordinary Python, whose JavaScript is written by hand: both say the same.

Thousands of random questions, half of them with slips of the keyboard, in one visit of the browser.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from flopbook.drawing.shards import grid
from flopbook.errors import FlopbookError
from flopbook.faces.javascript import module
from flopbook.formulas import formulas, get_formula
from flopbook.kernels.notation import COMMON_WORDS, OPERATIONS
from flopbook.quantities.dtypes import BLOCK_DTYPES, WIDTHS
from flopbook.quantities.ops import inf
from flopbook.quantities.units import UnitError
from flopbook.sharding.notation import read_layout, read_mesh
from scripts.website.build.content import DOCS
from scripts.website.build.weigh import served
from scripts.website.pages.form_values import units_record

pytestmark = pytest.mark.browser

CASES = {"shard": 3000, "sharded-matmul": 2500, "roofline": 1000}  # as long as they take in Python
GRIDS = 200
LETTERS = "AIJKXYZU_[]{}(),;:=*->x/ 0123456789.ekGé"
# Words of kernels whose amounts have a unit, or bounds that are met.
AMOUNTS = {
    "rate": ("500TFLOP/s", "1e12", "3GB/s"),
    "bytes": ("1", "0.5", "100", "1byte"),
    "heads": ("1", "64", "96", "1e7"),
    "kv-heads": ("1", "8", "5"),
}
PEAKS = ("989TFLOP/s", "1979TFLOP/s", "1e15FLOP/s", "2POP/s")
RATES = ("3.35TB/s", "400Gbit/s", "8e12byte/s")
EMPTY: Mapping[str, str] = {}
Inputs = dict[str, Any]
# Answers, steps and notes of each question; JSON has no infinity.
_ASK = """async ([base, name, text]) => {
  const {useTables} = await import(`${base}quantity.js`);
  useTables(await (await fetch(`${base}data.json`)).json());
  const made = await import(`${base}formulas/${name}.js`);
  const role = (end) => made[`${name.replaceAll('-', '_')}${end}`];
  const open = (_, value) => (value === 'unlimited' ? Infinity : value);
  const told = (_, value) => (value === Infinity ? 'unlimited' : value);
  return JSON.stringify(JSON.parse(text, open).map((inputs) => {
    const message = role('_broken')(inputs);
    if (message) return {message};
    const result = role('')(inputs);
    const steps = role('_steps')?.(inputs) ?? null;
    return {result, steps, notes: role('_omitted')({...result, ...inputs})};
  }), told);
}"""


@pytest.fixture(scope="module")
def assets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a folder with the scripts of the site and all that these calculators ask."""
    folder = tmp_path_factory.mktemp("assets")
    for path in (DOCS / "assets/flopbook").rglob("*.js"):
        copy = folder / path.relative_to(DOCS / "assets/flopbook")
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    _write_made(folder)
    with served(folder) as base:
        yield base


def _write_made(folder: Path) -> None:
    """What is made from Python: the formulas that are called, widths and units."""
    for name in ("collective", "arithmetic-intensity"):
        script = module([get_formula(name)])
        (folder / f"formulas/{name}.js").write_text(script, encoding="utf-8")
    record = {"bytes": WIDTHS, "blocks": BLOCK_DTYPES, **units_record()}
    (folder / "data.json").write_text(json.dumps(record), encoding="utf-8")


def in_python(name: str, inputs: Inputs) -> Inputs:
    """What Python says of a question, as the script below it does."""
    formula = get_formula(name)
    try:
        result = formula(**inputs)
    except FlopbookError as error:
        return {"message": _without_amount(error)}
    notes = {each.name: each.noted({**inputs, **result}) for each in formula.omissions}
    assert formula.working is not None
    answer = {
        "result": result,
        # The table of kernels has all that their steps say.
        "steps": None if name == "roofline" else formula.working(**inputs),
        "notes": {each: noted.text for each, noted in notes.items() if noted},
    }
    return dict(json.loads(json.dumps(_closed(answer)), parse_int=float))


def _without_amount(error: FlopbookError) -> str:
    """What is wrong with an amount is said shorter on a page, as in every form."""
    amount = error.__context__
    return str(error).removesuffix(str(amount)) if isinstance(amount, UnitError) else str(error)


def _closed(value: Any) -> Any:
    """The same without infinities, as JSON has it."""
    if isinstance(value, dict):
        return {key: _closed(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_closed(entry) for entry in value]
    return "unlimited" if value == inf else value


def assert_same(surf: Any, base: str, name: str, questions: list[Inputs]) -> None:
    """Both languages give the same doubles, steps, notes or refusals."""

    def ask(context: Any) -> list[Inputs]:
        tab = context.new_page()
        tab.goto(f"{base}data.json")
        found = tab.evaluate(_ASK, [base, name, json.dumps(_closed(questions))])
        return list(json.loads(found, parse_int=float))

    refused = 0
    for inputs, there in zip(questions, surf(ask), strict=True):
        here = in_python(name, inputs)
        if "message" in here:
            refused += 1
            is_amount = here["message"].endswith(": ")
            said = there["message"][: len(here["message"])] if is_amount else there["message"]
            assert said == here["message"], inputs
        else:
            assert there == here, inputs
    assert len(questions) / 5 < refused < len(questions) * 4 / 5, "both kinds are compared"


def slipped(text: str, rng: random.Random) -> str:
    """A text with a few slips of the keyboard: a letter more, less or other, a piece twice."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        start = rng.randrange(len(text) + 1)
        end = min(len(text), start + rng.choice((0, 1, 1, 2, 5)))
        put = rng.choice(("", "", rng.choice(LETTERS), text[start:end] * 2))
        text = text[:start] + put + text[end:]
    return text


def log_uniform(rng: random.Random, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


# Arrays on a mesh.


def mesh_of(rng: random.Random) -> dict[str, int]:
    return {axis: rng.choice((1, 2, 2, 3, 4, 8)) for axis in "XYZW"[: rng.randint(1, 4)]}


def cuts_of(
    dims: list[str], mesh: dict[str, int], rng: random.Random, kept: Mapping[str, str] = EMPTY
) -> dict[str, str]:
    """Some axes of a mesh, dealt out to dimensions; those of `kept` have theirs already."""
    cuts = {dim: kept.get(dim, "") for dim in dims}
    free = [axis for axis in mesh if axis not in "".join(cuts.values())]
    for axis in rng.sample(free, rng.randint(0, len(free))):
        cuts[rng.choice(dims)] += axis
    return cuts


def layout_of(name: str, cuts: Mapping[str, str], sums: str = "") -> str:
    """An array as it is written."""
    sides = ", ".join(f"{dim}_{axes}" if axes else dim for dim, axes in cuts.items())
    return f"{name}[{sides}]{f' {{U_{sums}}}' if sums else ''}"


def side(rng: random.Random) -> int:
    """A size of a dimension; few do not divide, and some are beyond exact products."""
    if rng.random() < 0.95:
        return int(2 ** rng.randint(7, 13)) * rng.choice((3, 9))
    return rng.choice((7, 24 * rng.randint(1, 10**9)))


def written(sizes: dict[str, int]) -> str:
    return ",".join(f"{name}={size}" for name, size in sizes.items())


def random_shard(rng: random.Random) -> Inputs:
    mesh, dims = mesh_of(rng), list("IJKL"[: rng.randint(1, 4)])
    dtype = rng.choice((*WIDTHS, "bf16", "fp32", "BF16", "bf61"))
    sides = ",".join(str(side(rng)) for _ in dims)
    cuts = cuts_of([*dims, "sum"], mesh, rng)
    return {
        "array": f"{dtype}[{sides}]",
        "layout": layout_of("A", {dim: cuts[dim] for dim in dims}, cuts["sum"]),
        "mesh": written(mesh),
    }


def random_matmul(rng: random.Random) -> Inputs:
    mesh = mesh_of(rng)
    kept, contracted, free = list("IB"[: rng.randint(1, 2)]), list("JH"[: rng.randint(1, 2)]), ["K"]
    first = cuts_of(rng.sample([*kept, *contracted], len(kept + contracted)), mesh, rng)
    alike = {dim: first[dim] for dim in contracted} if rng.random() < 0.5 else EMPTY
    second = cuts_of([*contracted, *free], mesh, rng, alike)
    result = cuts_of([*kept, *free], mesh, rng)
    summed = "".join(alike.values())
    sums = summed if summed and rng.random() < 0.2 else rng.choice(("", "", "", "", "", "X"))
    factors = f"{layout_of('A', first)} * {layout_of('W1', second)}"
    return {
        "product": f"{factors} -> {layout_of('C', result, sums)}",
        "dims": written({dim: side(rng) for dim in (*kept, *contracted, *free)}),
        "mesh": written(mesh),
        "bytes_per_param": rng.choice((2.0, 1.0, 4.0, 0.5, rng.uniform(0.1, 9))),
        "peak": rng.choice((inf, log_uniform(rng, 1e12, 1e16))),
        "link_bandwidth": rng.choice((inf, *(log_uniform(rng, 1e9, 1e13) for _ in range(4)))),
        "topology": rng.choice(("ring", "torus", "switch")),
        "links_per_axis": rng.choice((1.0, 2.0, 2.0, 2.0)),
        "axes": rng.choice((inf, inf, inf, 3.0, 2.0)),
        "wrap": rng.choice(("yes", "yes", "yes", "no")),
        "latency": rng.choice((1e-6, log_uniform(rng, 1e-9, 1e-3))),
    }


# Kernels under roofs.


def kernel_of(rng: random.Random) -> str:
    """A kernel with its sides and some of its words."""
    op = rng.choice((*OPERATIONS,))
    operation = OPERATIONS[op]
    words = [op]
    if operation.sides:
        sides = (str(rng.choice((1, 128, 4096, 28672, 10**9))) for _ in range(operation.sides))
        words.append("x".join(sides))
    for name in (*operation.words, *COMMON_WORDS):
        needed = name in operation.words and operation.words[name] is None
        if needed or rng.random() < 0.15:
            words.append(f"{name}={rng.choice(AMOUNTS.get(name, ('1', '2', '64', '8k', '8192')))}")
    return " ".join(words)


def machine_of(name: str, rng: random.Random) -> str:
    roofs = [
        f"{form} {rng.choice(PEAKS)}" for form in rng.sample(("bf16", "fp8"), rng.randint(1, 2))
    ]
    roofs += [
        f"{tier} {rng.choice(RATES)}" for tier in rng.sample(("hbm", "l2"), rng.randint(1, 2))
    ]
    return f"{name}: {', '.join(roofs)}"


def random_roofline(rng: random.Random) -> Inputs:
    chips = rng.choice((1, 1, 1, 1, 1, 2, 3, 7 if rng.random() < 0.2 else 1))
    return {
        "roofs": "; ".join(machine_of(f"chip {number}", rng) for number in range(chips)),
        "kernels": ", ".join(
            kernel_of(rng) for _ in range(41 if rng.random() < 0.02 else rng.choice((1, 1, 2, 4)))
        ),
        "bytes_per_param": rng.choice((2.0, 1.0, 0.5, rng.uniform(0.01, 64))),
    }


RANDOM: dict[str, Callable[[random.Random], Inputs]] = {
    "shard": random_shard,
    "sharded-matmul": random_matmul,
    "roofline": random_roofline,
}


def questions_of(name: str) -> Iterator[Inputs]:
    """Random questions; every third has slips in one of its texts."""
    rng = random.Random(f"by hand: {name}")
    texts = [key for key, spec in get_formula(name).inputs.items() if spec.text]
    for number in range(CASES[name]):
        inputs = RANDOM[name](rng)
        if number % 3 == 0:
            text = rng.choice(texts)
            inputs[text] = slipped(inputs[text], rng)
        yield inputs


@pytest.mark.parametrize("name", RANDOM)
def test_random_questions_have_the_same_answers_and_refusals(
    name: str, surf: Any, assets: str
) -> None:
    assert_same(surf, assets, name, list(questions_of(name)))


def test_each_calculator_of_ordinary_python_is_compared() -> None:
    assert {name for name, formula in formulas().items() if not formula.printed} == set(RANDOM)


_GRIDS = """async ([base, texts]) => {
  const {localShape} = await import(`${base}sharding/blocks.js`);
  const {on, readLayout, readMesh} = await import(`${base}sharding/notation.js`);
  const {grid} = await import(`${base}sharding/picture.js`);
  return texts.map(([text, shape, axes]) => {
    const mesh = readMesh(axes);
    const layout = on(mesh, readLayout(text));
    return grid(layout, localShape(shape, layout, mesh), mesh);
  });
}"""


def test_the_blocks_of_a_page_are_those_of_a_picture(surf: Any, assets: str) -> None:
    rng = random.Random("blocks")
    questions: list[tuple[str, list[int], str]] = []
    while len(questions) < GRIDS:
        inputs = random_shard(rng)
        shape = [8 * 24**2 for _ in range(inputs["layout"].partition("]")[0].count(",") + 1)]
        questions.append((inputs["layout"], shape, inputs["mesh"]))

    def ask(context: Any) -> list[Inputs]:
        tab = context.new_page()
        tab.goto(f"{assets}data.json")
        return list(tab.evaluate(_GRIDS, [assets, questions]))

    for (text, shape, axes), there in zip(questions, surf(ask), strict=True):
        mesh = read_mesh(axes)
        here = grid(read_layout(text).on(mesh), shape, mesh)._asdict()
        assert there == json.loads(json.dumps(here)), (text, axes)
