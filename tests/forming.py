"""A calculator's form, used as a person uses it."""

from __future__ import annotations

import json
from typing import Any

READ = """() => Object.fromEntries(
  [...document.querySelectorAll('[data-output]')].map(e => [e.dataset.output, e.dataset.value]))"""


def open_form(context: Any, base: str, name: str, query: str = "") -> Any:
    """The page of a calculator, once its form has an answer."""
    tab = context.new_page()
    tab.goto(f"{base}calculators/{name}/{query}")
    tab.wait_for_function("document.querySelector('.fb-answer')?.children.length")
    return tab


def empty(tab: Any) -> None:
    """Clear every field."""
    for control in tab.locator(".fb-form input").all():
        control.fill("")
    spec = json.loads(tab.locator(".fb-calculator").first.get_attribute("data-spec"))
    first = {"dtype": "bf16", "sparsity": "dense"}
    first |= {i["name"]: i["default"] for i in spec["inputs"] if i["choices"] and not (i["model"] or i["chip"])}
    for picker in tab.locator(".fb-form select").all():
        picker.select_option(first.get(picker.get_attribute("name"), ""))


def fill(tab: Any, state: dict[str, str]) -> None:
    """Put a state into the form as a person does: choose, type."""
    empty(tab)
    for key, value in state.items():
        control = tab.locator(f".fb-form [name={key.replace('-', '_')}]")
        if control.evaluate("c => c.tagName") == "SELECT":
            control.select_option(value)
        else:
            control.press_sequentially(value)


def read(tab: Any) -> dict[str, float | str | None]:
    """The answer as numbers and words; None for what is open."""
    return {k: _value(v) if v else None for k, v in tab.evaluate(READ).items()}


def _value(text: str) -> float | str:
    try:
        return float("inf" if text == "Infinity" else text)
    except ValueError:
        return text
