"""The calculators on the page are the calculators.

Same answers, same errors, same state in link and command line.
"""

from __future__ import annotations

import ast
import json
import shlex
from html import escape
from typing import Any
from urllib.parse import urlencode

import pytest

from flopbook.cli.app import run
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.formulas import formulas, get_formula
from scripts.website.pages.forms import form_record
from tests.support import byexample, inferring, network_inputs, notations
from tests.support.forming import READ, answered, put, read, type_in, unfold, visit

pytestmark = pytest.mark.browser

STATES: dict[str, list[dict[str, str]]] = {
    "training-flops": [
        {"model": "gpt-3-175b"},
        {"model": "deepseek-v3"},
        {"params": "70B", "tokens": "15T"},
        {"model": "llama-3-70b", "tokens": "1.5e12", "seq": "8192", "recompute": "full"},
        {"params": "7_000_000", "tokens": ".5M tokens"},
    ],
    "min-batch": [
        {"chip": "nvidia/h100-sxm"},
        {"chip": "google/tpu-v5e", "dtype": "int8"},
        {"chip": "nvidia/h100-sxm", "sparsity": "2:4", "dtype": "fp8"},
        {"peak": "989TFLOP/s", "bandwidth": "3.35TB/s"},
        {"chip": "amd/mi300x", "d-model": "8192", "d-ff": "28672"},
        {"chip": "nvidia/b200", "bandwidth": "400Gbit/s"},
        {"chip": "nvidia/h100-sxm", "d-model": "100", "d-ff": "100"},
    ],
    "fsdp-limit": [
        {"chip": "google/tpu-v5p", "batch-tokens": "16M"},
        {"chip": "google/tpu-v5p", "axes": "1"},
        {"chip": "nvidia/gb200-gpu", "regather": "no"},
        {
            "chip": "nvidia/h100-sxm",
            "batch-tokens": "4M",
            "experts": "256",
            "experts-per-token": "8",
        },
        {
            "peak": "459TFLOP/s",
            "link-bandwidth": "90GB/s",
            "axes": "3",
            "links-per-axis": "2",
            "batch-tokens": "1e6",
        },
    ],
    "bubble": [
        {"stages": "8", "microbatches": "32"},
        {"schedule": "gpipe", "stages": "4", "microbatches": "8"},
        {"schedule": "interleaved", "stages": "4", "microbatches": "8", "virtual": "2"},
        {"stages": "1", "microbatches": "1"},
        {"schedule": "dualpipe", "stages": "8", "microbatches": "20"},
        {
            "schedule": "zb-h1",
            "stages": "8",
            "microbatches": "32",
            "forward": "10ms",
            "backward-weight": "8ms",
        },
    ],
    "params": [
        {"model": "llama-3-70b"},
        {"model": "deepseek-v3"},
        {"model": "gpt-2-xl"},
        {"model": "qwen-3-30b-a3b"},
        {"model": "llama-3-8b", "tied-embeddings": "yes"},
        {"model": "mixtral-8x7b", "shared-experts": "0"},
        {
            "layers": "32",
            "d-model": "4096",
            "heads": "32",
            "vocab": "32000",
            "d-ff": "11008",
            "ffn-kind": "plain",
        },
    ],
    "max-params": [
        {"chip": "nvidia/h100-sxm"},
        {"memory": "95GB", "bytes-per-param": "10", "chips": "64"},
    ],
    "memory": [
        {
            "model": "megatron-530b",
            "seq": "2048",
            "tp": "8",
            "pp": "35",
            "schedule": "interleaved",
            "virtual": "3",
        },
        {
            "model": "deepseek-v3",
            "seq": "4096",
            "dp": "128",
            "ep": "64",
            "zero": "1",
            "attention": "flash",
        },
        {
            "model": "llama-3-8b",
            "chip": "nvidia/h100-sxm",
            "seq": "8192",
            "zero": "3",
            "dp": "8",
            "dropout": "no",
        },
        {"model": "llama-3-70b", "seq": "8192", "pp": "8", "schedule": "dualpipe", "tp": "8"},
        {"model": "llama-3-70b", "seq": "8192", "pp": "8", "schedule": "zb-v", "microbatches": "4"},
    ],
    "training-time": [
        {
            "model": "llama-3-405b",
            "chip": "nvidia/h100-sxm",
            "chips": "16384",
            "mfu": "0.4",
            "price": "2USD/h",
        },
        {
            "params": "65.2B",
            "tokens": "1.4T",
            "peak": "312TFLOP/s",
            "chips": "2048",
            "mfu": "0.477",
            "power": "400W",
            "carbon": "385g/kWh",
        },
    ],
    "scaling-law": [{"flop": "5.76e23FLOP"}, {"flop": "1e24", "fit": "kaplan2020"}],
    **notations.STATES,
    **network_inputs.STATES,
    **inferring.STATES,
}
STATES |= {name: [byexample.state(name)] for name in byexample.others(STATES)}


def expected(name: str, state: dict[str, str]) -> dict[str, float | None]:
    return dict(calculate(name, **{key.replace("-", "_"): value for key, value in state.items()}))


def command_answer(command: str, capsys: Any) -> dict[str, Any]:
    words = shlex.split(command)
    assert words[0] == "flopbook"
    assert run([*words[1:], "--json"]) == 0, command
    return {
        name: item["value"] for name, item in json.loads(capsys.readouterr().out)["outputs"].items()
    }


def python_answer(call: str) -> dict[str, Any]:
    """The outputs of the Python call that the page shows, read as Python reads it."""
    parsed = ast.parse(call, mode="eval").body
    assert (
        isinstance(parsed, ast.Call)
        and isinstance(parsed.func, ast.Name)
        and parsed.func.id == "calculate"
    )
    names = [ast.literal_eval(argument) for argument in parsed.args]
    return dict(
        calculate(
            *names, **{str(word.arg): ast.literal_eval(word.value) for word in parsed.keywords}
        )
    )


Seen = tuple[dict[str, Any], str, str, str]
# Forms whose first state is typed key by key and its link opened by loading the page; all else
# happens at once.
BY_HAND = ("min-batch", "memory", "bubble")


def _seen(tab: Any) -> Seen:
    shown, call = tab.inner_text(".fb-command"), tab.inner_text(".fb-python")
    return read(tab), shown, call, tab.evaluate("location.search")


def _states(tab: Any, base: str, name: str) -> list[tuple[Seen, Seen]]:
    """Each state, and what its link makes of a new form."""
    found = []
    for number, state in enumerate(STATES[name]):
        by_hand = name in BY_HAND and number == 0
        (type_in if by_hand else put)(tab, state)
        first = _seen(tab)
        if by_hand:
            tab.reload()
            answered(tab)
        else:
            visit(tab, base, first[-1])
        found.append((first, _seen(tab)))
    return found


def test_every_calculator_has_states() -> None:
    assert set(STATES) == set(formulas())


@pytest.mark.parametrize("name", STATES)
def test_form_link_command_and_call_give_what_python_gives(
    forms: Any, name: str, capsys: Any
) -> None:
    for state, (first, again) in zip(STATES[name], forms(name, _states, name), strict=True):
        shown, command, call, link = first
        given = expected(name, state)
        right = inferring.near(name, given)
        assert shown == {
            name: notations.joined(value)
            for name, value in right.items()
            if notations.is_told(value)
        }
        assert again == first, f"the link {link}"
        assert python_answer(call) == given, call
        for output, value in command_answer(command, capsys).items():
            told = tuple(value) if isinstance(value, list) else value
            assert told == (None if right[output] in (None, float("inf")) else right[output]), (
                command
            )


def _pick(tab: Any, _: str) -> tuple[str, str, str, str]:
    unfold(tab)
    tab.locator("[name=chip]").focus()
    tab.locator("[name=chip]").select_option("google/tpu-v5e")
    hint = tab.inner_text("[id$=-bandwidth-hint]")
    page = tab.evaluate("document.querySelector('[id$=-bandwidth-hint] a').href")
    tab.locator("[name=bandwidth]").fill("3.35TB/s")
    return hint, page, tab.inner_text("[id$=-bandwidth-hint]"), tab.inner_text(".fb-command")


def test_a_chip_fills_the_inputs_and_typing_goes_before_it(forms: Any) -> None:
    filled, page, typed, command = forms("min-batch", _pick)
    assert filled == "819 GB/s (Google Cloud TPU v5e)" and typed == "= 3.35 TB/s"
    assert page.endswith("/accelerators/google/tpu-v5e/"), "where the source of the value stands"
    assert command == "flopbook min-batch --chip google/tpu-v5e --bandwidth 3.35TB/s"


BAD = [
    ("min-batch", "bandwidth", "3.35 bananas"),
    ("min-batch", "bandwidth", "80GB"),
    ("min-batch", "peak", "-1"),
    ("min-batch", "d_model", "0"),
    ("min-batch", "peak", "989"),
    ("fsdp-limit", "link_bandwidth", "9e5"),
    ("min-batch", "bandwidth", "1e60"),
    ("bubble", "stages", "2.5"),
    ("bubble", "stages", ""),
    ("training-flops", "tokens", "1,000"),
    ("fsdp-limit", "axes", "9"),
    ("training-flops", "tokens", "<b>x</b>"),
]


COUNTED = {name for f in formulas().values() for name, spec in f.inputs.items() if spec.unit == "1"}


WITHOUT_UNIT = [("min-batch", "peak", "989TFLOP/s"), ("min-batch", "bandwidth", "3.35TB/s")]


# A T alone says neither bits nor bytes.
MENDED = {"bandwidth": "1TB/s", "link_bandwidth": "1TB/s"}


def _bad(tab: Any, _: str, field: str, text: str) -> dict[str, Any]:
    unfold(tab)
    control = tab.locator(f"[name={field}]")
    control.fill(text)
    return {
        "results": tab.evaluate(READ),
        "answer": tab.inner_text(".fb-answer"),
        "live": tab.get_attribute(".fb-answer", "role"),
        "picture": tab.locator(".fb-frame").is_visible(),
        "hint": tab.inner_text(f"#{control.get_attribute('aria-describedby')}"),
        "invalid": control.get_attribute("aria-invalid"),
        "mended": (
            control.fill(MENDED.get(field, "1" if field in COUNTED else "1T")),
            control.get_attribute("aria-invalid"),
        )[1],
    }


@pytest.mark.parametrize(("name", "field", "text"), BAD)
def test_bad_input_is_named_and_leaves_no_old_result(
    forms: Any, name: str, field: str, text: str
) -> None:
    found = forms(name, _bad, field, text)
    assert found["results"] == {} and found["answer"].strip() and found["live"] == "status"
    assert not found["picture"]
    if text and (name, field) != ("fsdp-limit", "axes"):
        assert found["invalid"] == "true" and found["hint"] in found["answer"]
    assert found["mended"] is None


@pytest.mark.parametrize(("name", "field", "right"), WITHOUT_UNIT)
def test_a_rate_without_a_unit_is_refused_unless_it_is_large(
    forms: Any, name: str, field: str, right: str
) -> None:
    assert forms(name, _bad, field, "989")["hint"] == f"write a unit, such as {right}"
    assert forms(name, _bad, field, "3.35e12")["hint"].startswith("= ")


def _with_most(context: Any, base: str) -> list[str]:
    """The hint of d_model at its upper bound and beyond, in a form whose record has one."""
    tab = context.new_page()
    spec = form_record(get_formula("min-batch"))
    next(i for i in spec["inputs"] if i["name"] == "d_model")["most"] = 1000
    tab.route(
        "**/calculators/min-batch/",
        lambda route: route.fulfill(body=_page(json.dumps(spec)), content_type="text/html"),
    )
    tab.goto(f"{base}calculators/min-batch/")
    tab.wait_for_selector("[data-output]", state="attached")
    unfold(tab)
    hints = []
    for text in ("1000", "1001"):
        tab.locator("[name=d_model]").fill(text)
        hints.append(tab.inner_text("[id$=-d_model-hint]"))
    return hints


def _page(spec: str) -> str:
    return (
        f'<!doctype html><div class="fb-calculator" data-spec="{escape(spec)}"></div>'
        '<script type="module" src="../../assets/flopbook/app.js"></script>'
    )


def test_more_than_the_most_is_refused(surf: Any, base: str) -> None:
    assert surf(_with_most, base) == ["", "at most 1000"]


def _words(tab: Any, base: str, query: str, *where: str) -> list[str]:
    visit(tab, base, query)
    unfold(tab)
    return [tab.inner_text(one) for one in where]


def test_what_is_open_is_said_in_words_of_the_form(forms: Any) -> None:
    exact = forms("min-batch", _words, "", "[data-output=tokens_exact]", "[id$=-d_model-hint]")
    assert exact == ["fill in Model dimension and Feed-forward dimension", "optional"]
    limit = forms("fsdp-limit", _words, "?batch-tokens=", "[data-output=max_chips]")
    assert limit == ["fill in Global batch size"]


BROKEN_RULES = {
    "heads": ("kv-cache", {"model": "llama-3-70b", "seq": "8192", "tp": "3"}),
    "steps": (
        "bubble",
        {"schedule": "interleaved", "stages": "8", "microbatches": "9", "virtual": "2"},
    ),
    "blocks": ("shard", {"array": "bf16[6,8]", "layout": "A[I_X, J]", "mesh": "X=4"}),
    "axes of the mesh": (
        "sharded-matmul",
        {
            "product": "A[I_X, J_Y] * B[J_Y, K_Z] -> C[I_X, K_Z]",
            "dims": "I=64,J=64,K=64",
            "mesh": "X=2,Y=2,Z=2",
            "chip": "google/tpu-v5e",
        },
    ),
    "kernel": ("roofline", {"chip": "nvidia/h100-sxm", "kernels": "gem 4096x4096x4096"}),
    "axes of the chip": (
        "fsdp-limit",
        {"chip": "google/tpu-v5p", "axes": "4", "batch-tokens": "4M"},
    ),
}


@pytest.mark.parametrize(("name", "state"), BROKEN_RULES.values(), ids=BROKEN_RULES)
def test_a_broken_rule_is_said_in_the_words_of_the_command(
    name: str, state: dict[str, str], forms: Any
) -> None:
    with pytest.raises(FlopbookError) as refused:
        expected(name, state)
    assert forms(name, _words, f"?{urlencode(state)}", ".fb-open") == [str(refused.value)]
