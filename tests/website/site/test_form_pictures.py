"""The picture of a form: the numbers of the calculator, at every keystroke, for every reader."""

from __future__ import annotations

import re
from typing import Any

import pytest

from flopbook.evaluation.calculator import calculate
from flopbook.formulas import formulas, get_formula
from flopbook.quantities.units import format_quantity
from scripts.website.pages.forms import form_words
from tests.support.forming import brief, open_form, put, visit

pytestmark = pytest.mark.browser

TREND = ".fb-curve figcaption"
DOT = ".fb-curve .fb-ridge"


def _choose(tab: Any, output: str = "", across: str = "") -> None:
    """Pick what is drawn and against what; `across` is the label of an input."""
    up, level = tab.locator(".fb-axes select").all()
    if output:
        up.select_option(output)
    if across:
        level.select_option(label=across)


def _trend(
    tab: Any, _: str, state: dict[str, str], output: str = "", across: str = ""
) -> dict[str, Any]:
    put(tab, state)
    _choose(tab, output, across)
    drawn = tab.locator(".fb-frame").is_visible()
    return {
        "words": tab.inner_text(TREND),
        "drawn": drawn,
        "dot": tab.get_attribute(DOT, "cy") if drawn else None,
    }


def at(name: str, state: dict[str, str], output: str, **values: float) -> str:
    """One point of a trend, as Python has it."""
    return " at ".join(ends(name, state, output, **values))


def ends(name: str, state: dict[str, str], output: str, **values: float) -> tuple[str, str]:
    """The output and the input of one point, in words."""
    options = {key.replace("-", "_"): value for key, value in state.items()}
    given, value = next(iter(values.items()))
    result = calculate(name, **options | values)
    spec = get_formula(name)
    return worded(name, output, result[output]), format_quantity(value, spec.inputs[given].unit)


def worded(name: str, output: str, value: float) -> str:
    """A value of an output as forms say it: shares in percent."""
    if output in form_words()[name].get("percent", ()):
        return f"{format_quantity(100 * value, '1')} %"
    return format_quantity(value, get_formula(name).outputs[output].unit)


CASES: list[tuple[str, dict[str, str], str, str, str, tuple[float, float, float], str]] = [
    (
        "min-batch",
        {"chip": "nvidia/h100-sxm", "d-model": "4096", "d-ff": "14336"},
        "tokens_exact",
        "d_model",
        "Model dimension",
        (512, 4096, 32768),
        "down",
    ),
    (
        "bubble",
        {"stages": "8", "microbatches": "32"},
        "fraction",
        "microbatches",
        "Micro-batches per step (gradient accumulation steps)",
        (4, 32, 256),
        "down",
    ),
    (
        "memory",
        {"model": "llama-3-8b", "seq": "8192", "attention": "flash"},
        "total",
        "tp",
        "TP degree",
        (1, 1, 8),
        "down",
    ),
    (
        "training-time",
        {"params": "70B", "tokens": "15T", "peak": "989TFLOP/s", "chips": "1024", "mfu": "0.4"},
        "seconds",
        "mfu",
        "",
        (0.05, 0.4, 1),
        "down",
    ),
    (
        "serving",
        {"model": "llama-3-70b", "chip": "nvidia/h100-sxm", "seq": "8192", "tp": "4"},
        "batch_fits",
        "seq",
        "Tokens in each sequence",
        (1024, 8192, 65536),
        "down",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]} {case[2]} {case[3]}")
def test_the_picture_says_what_python_gives_at_both_ends_and_here(forms: Any, case: Any) -> None:
    name, state, output, across, _, (low, now, high), course = case
    label = brief(get_formula(name).inputs[across].meaning)
    told = brief(get_formula(name).outputs[output].meaning)
    found = forms(name, _trend, state, output, label)
    first, start = ends(name, state, output, **{across: low})
    last, end = ends(name, state, output, **{across: high})
    title = f"{told}: from {first} {course} to {last}"
    here = at(name, state, output, **{across: now})
    assert found["words"] == f"{title}\n“{label}” from {start} to {end}. Now {here}."
    assert found["drawn"]


def _opens_on(tab: Any, _: str, state: dict[str, str]) -> list[str]:
    put(tab, state)
    return tab.locator(".fb-axes select").evaluate_all("all => all.map(one => one.value)")


@pytest.mark.parametrize(
    ("name", "state", "across"),
    [
        ("reliability", {"chips": "16384", "checkpoint-seconds": "60", "restart": "600"}, "chips"),
        ("decode", {"model": "llama-3-70b", "chip": "nvidia/h100-sxm", "chips": "8"}, "chips"),
        ("fsdp-limit", {"chip": "nvidia/h100-sxm"}, "link_bandwidth"),
    ],
)
def test_a_picture_opens_on_the_answer_against_what_the_form_asks_or_a_chip_lends(
    forms: Any, name: str, state: dict[str, str], across: str
) -> None:
    assert forms(name, _opens_on, state) == [form_words()[name]["answer"], across]


# The points behind a picture, made by the code of the page from the functions of the page.
POINTS = """async ([assets, id, values, across, output]) => {
  const {sweep} = await import(assets + 'sweep.js');
  const made = await import(assets + `formulas/${id}.js`);
  const spec = JSON.parse(document.querySelector('.fb-calculator').dataset.spec);
  for (const key in values) if (values[key] === 'open') values[key] = Infinity;
  const find = (all, name) => all.find(one => one.name === name);
  const compute = made[id.replaceAll('-', '_')];
  const input = find(spec.inputs, across);
  return sweep(compute, {values, resolved: {}}, input, find(spec.outputs, output));
}"""


def _points(
    tab: Any, base: str, name: str, given: dict[str, Any], across: str, output: str
) -> list[dict[str, float]]:
    sent = {key: "open" if value == float("inf") else value for key, value in given.items()}
    return tab.evaluate(POINTS, [f"{base}assets/flopbook/", name, sent, across, output])


@pytest.mark.parametrize(
    ("name", "across", "output"),
    [
        ("min-batch", "peak", "tokens"),
        ("bubble", "stages", "fraction"),
        ("memory", "seq", "total"),
        ("collective", "bytes", "seconds"),
        ("fsdp-limit", "axes", "tokens_per_chip"),
    ],
)
def test_every_point_is_the_formula(forms: Any, name: str, across: str, output: str) -> None:
    """Bit for bit, in order, around the present value and through it."""
    formula = get_formula(name)
    options = {key.replace("-", "_"): value for key, value in formula.examples[0].items()}
    values = {
        **formula.defaults,
        **{n: v.value for n, v in calculate(name, **options).inputs.items()},
    }
    given = {key: value for key, value in values.items() if key in formula.inputs}
    points = forms(name, _points, name, given, across, output)
    places = [point["x"] for point in points]
    assert len(places) > 2 and places == sorted(set(places)) and given[across] in places
    for point in points:
        assert point["y"] == formula.compute({**given, across: point["x"]})[output]


def test_every_calculator_draws_its_first_example(forms: Any) -> None:
    """All but those that have no number to draw or to draw it against; they draw otherwise."""
    for name in formulas():
        if name in ("shard", "roofline"):
            continue
        found = forms(name, _first)
        assert found["drawn"], name
        outputs = get_formula(name).outputs
        first = outputs[form_words()[name].get("answer", next(iter(outputs)))]
        assert found["words"].startswith(f"{brief(first.meaning)}: "), name
        assert found["role"] == "img" and found["label"] == found["words"]


def _first(tab: Any, _: str) -> dict[str, Any]:
    picture = tab.locator(".fb-curve svg")
    return {
        "drawn": picture.is_visible(),
        "words": tab.inner_text(TREND),
        "role": picture.get_attribute("role"),
        "label": tab.inner_text(f"#{picture.get_attribute('aria-labelledby')}"),
    }


EXACT = brief(get_formula("min-batch").outputs["tokens_exact"].meaning)
EMPTY: list[tuple[str, dict[str, str], str, str, str]] = [
    (
        "min-batch",
        {"chip": "nvidia/h100-sxm"},
        "tokens_exact",
        "",
        f"No picture: {EXACT} has no value yet; "
        "fill in Model dimension and Feed-forward dimension.",
    ),
    (
        "min-batch",
        {"chip": "nvidia/h100-sxm", "d-model": "100", "d-ff": "100"},
        "tokens_exact",
        "",
        f"No picture: {EXACT} has no finite value here (",
    ),
    (
        "min-batch",
        {"chip": "nvidia/h100-sxm"},
        "tokens",
        "Model dimension",
        'No picture: "Model dimension" is empty; type a value for it.',
    ),
    ("min-batch", {}, "", "", "The picture comes with the answer."),
    (
        "decode",
        {"model": "llama-3-70b", "chip": "nvidia/h100-sxm", "seq": "8192"},
        "bound",
        "",
        'No picture: What takes longest is a word ("weights"), not a number.',
    ),
    (
        "memory",
        {"model": "llama-3-8b", "seq": "8192"},
        "total",
        "Rank of compressed queries",
        'No picture: "Rank of compressed queries" is zero; type a value for it.',
    ),
]


@pytest.mark.parametrize(("name", "state", "output", "across", "words"), EMPTY)
def test_what_cannot_be_drawn_is_said_in_words(
    forms: Any, name: str, state: dict[str, str], output: str, across: str, words: str
) -> None:
    found = forms(name, _trend, state, output, across)
    assert found["words"].startswith(words) and not found["drawn"]


def _typing(tab: Any, _: str) -> list[tuple[str, str]]:
    put(tab, {"stages": "8"})
    _choose(tab, "total_seconds", "Pipeline stages")
    tab.locator("[name=microbatches]").focus()
    seen = []
    for key in "128":
        tab.keyboard.type(key)
        seen.append((tab.inner_text(TREND), tab.get_attribute(".fb-curve .fb-roof", "d")))
    return seen


def test_the_picture_moves_with_every_keystroke_and_keeps_what_was_chosen(forms: Any) -> None:
    seen = forms("bubble", _typing)
    assert len({words for words, _ in seen}) == len({path for _, path in seen}) == 3
    for typed, (words, _) in zip(("1", "12", "128"), seen, strict=True):
        state = {"stages": "8", "microbatches": typed}
        assert words.endswith(f"Now {at('bubble', state, 'total_seconds', stages=8)}.")


def _default(tab: Any, _: str, output: str) -> str:
    _choose(tab, output)
    return (
        tab.locator(".fb-axes select")
        .nth(1)
        .evaluate("select => select.selectedOptions[0].textContent")
    )


def test_the_picture_starts_with_the_input_that_moves_the_output_most(forms: Any) -> None:
    """The exact minimum batch of a narrow layer hangs on its widths.

    What a chip holds hangs on nothing but stages.
    """
    assert forms("bubble", _default, "peak_microbatches") == "Pipeline stages"
    assert forms("collective", _default, "latency_seconds") in (
        "Chips that take part",
        "Time of one hop of an empty message",
    )
    # What the form asks first comes before the links of a chip, which would move it more.
    assert forms("collective", _default, "bus_bandwidth") == "One-way bandwidth of a link"


def _ticks(tab: Any, _: str, state: dict[str, str], across: str) -> list[str]:
    put(tab, state)
    _choose(tab, "", across)
    tab.wait_for_selector(".fb-curve svg text")
    return tab.locator(".fb-curve svg text").all_text_contents()


def test_an_axis_is_logarithmic_where_it_spans_more_than_a_decade(forms: Any) -> None:
    wide = forms("min-batch", _ticks, {"chip": "nvidia/h100-sxm"}, "Memory bandwidth")
    assert {"1 TB/s", "3 TB/s", "10 TB/s"} <= set(wide)
    few = forms(
        "fsdp-limit", _ticks, {"chip": "google/tpu-v5p", "batch-tokens": "16M"}, "Torus axes used"
    )
    assert {"1", "2", "3"} <= set(few) and not any(
        "." in text and "token" not in text for text in few
    )


def _by_keyboard(tab: Any, _: str) -> tuple[str, str, str]:
    tab.locator(".fb-axes select").first.focus()
    tab.keyboard.press("ArrowDown")
    up = tab.inner_text(TREND)
    tab.keyboard.press("Tab")
    tab.keyboard.press("End")
    return up, tab.inner_text(TREND), tab.evaluate("location.search")


def test_the_picture_is_chosen_by_keyboard_and_changes_no_link(forms: Any) -> None:
    up, across, search = forms("bubble", _by_keyboard)
    assert up.startswith("Bubble overhead: from ") and across.startswith(
        'No picture: "Backward pass for the weights"'
    )
    assert search == ""


DRAWN = """() => Math.abs((document.querySelector('.fb-curve svg')?.viewBox.baseVal.width ?? 0)
  - document.querySelector('.fb-frame').getBoundingClientRect().width) < 1"""
INSIDE = """() => {
  const box = document.querySelector('.fb-frame').getBoundingClientRect();
  const inside = own => own.left >= box.left - 1 && own.right <= box.right + 1
    && own.top >= box.top - 1 && own.bottom <= box.bottom + 1;
  const parts = [...document.querySelectorAll('.fb-curve :is(text, path, circle)')];
  return parts.every(part => inside(part.getBoundingClientRect()));
}"""


def _everywhere(context: Any, base: str) -> dict[str, Any]:
    tab = open_form(context, base, "memory")
    found = {}
    for width in (390, 1280):
        tab.set_viewport_size({"width": width, "height": 844})
        tab.wait_for_function(DRAWN)
        found[width] = tab.evaluate(INSIDE)
    colours = []
    for scheme, name in (("light", "default"), ("dark", "slate")):
        tab.emulate_media(color_scheme=scheme)
        tab.wait_for_selector(f"body[data-md-color-scheme={name}]")
        colours.append(
            tab.evaluate("getComputedStyle(document.querySelector('.fb-curve .fb-roof')).stroke")
        )
    tab.emulate_media(media="print", reduced_motion="reduce")
    found["print"] = (
        tab.locator(".fb-axes").is_visible(),
        tab.locator(".fb-curve svg").is_visible(),
    )
    found["still"] = tab.evaluate(
        "document.querySelector('.fb-curve').getAnimations({subtree: true}).length"
    )
    return found | {"colours": colours}


def test_the_picture_fits_a_phone_a_desk_paper_and_both_schemes(surf: Any, base: str) -> None:
    found = surf(_everywhere, base)
    assert found[390] and found[1280] and found["print"] == (False, True) and found["still"] == 0
    assert found["colours"][0] != found["colours"][1]


def _afresh(tab: Any, base: str) -> list[str]:
    put(tab, {"model": "llama-3-8b", "seq": "8192"})
    _choose(tab, "weights")
    visit(tab, base, "")
    return re.findall(r"^\w+", tab.inner_text(TREND))


def test_a_form_made_anew_draws_its_answer(forms: Any) -> None:
    assert forms("memory", _afresh) == ["Total"]
