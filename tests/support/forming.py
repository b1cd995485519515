"""A calculator's form: opened, filled as a person fills it or all at once, and read."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

READ = """() => Object.fromEntries(
  [...document.querySelectorAll('[data-output]')].map(e => [e.dataset.output, e.dataset.value]))"""
# Every field as it is when it says nothing, then those of a state; one event tells the form, as
# after a keystroke.
PUT = """state => {
  const spec = JSON.parse(document.querySelector('.fb-calculator').dataset.spec);
  const neutral = {dtype: 'bf16', sparsity: 'dense'};
  for (const i of spec.inputs)
    if (i.choices.length && !i.model && !i.chip) neutral[i.name] = i.default;
  const form = document.querySelector('.fb-form');
  for (const field of form.querySelectorAll('[name]'))
    field.value = state[field.name] ?? neutral[field.name] ?? '';
  form.querySelector('[name]').dispatchEvent(new Event('input', {bubbles: true}));
}"""
# The form made anew from another address, by what makes it when a page is opened, without the page
# being loaded again.
VISIT = """async ([base, query]) => {
  history.replaceState(null, '', location.pathname + query);
  const {startForms} = await import(base + 'assets/flopbook/start.js');
  const host = document.querySelector('.fb-calculator');
  await startForms([host]);
  host.querySelector('form').dispatchEvent(new Event('focusin'));
  const end = performance.now() + 60_000;
  while (!host.dataset.whole) {
    if (performance.now() > end) throw new Error(`no values: ${host.innerText.slice(0, 200)}`);
    await new Promise(done => setTimeout(done, 5));
  }
}"""


def open_form(context: Any, base: str, name: str, query: str = "") -> Any:
    """The page of a calculator, once its form has an answer."""
    tab = context.new_page()
    tab.goto(f"{base}calculators/{name}/{query}")
    answered(tab)
    whole(tab)
    return tab


def whole(tab: Any) -> None:
    """Turn to the form, which fetches the values of all chips and models."""
    tab.locator(".fb-form").first.dispatch_event("focusin")
    tab.wait_for_selector(".fb-calculator[data-whole]", state="attached")


def answered(tab: Any) -> None:
    """Wait for the form."""
    tab.wait_for_function("document.querySelector('.fb-answer')?.children.length")


def visit(tab: Any, base: str, query: str) -> None:
    """Follow a link to the same calculator."""
    tab.evaluate(VISIT, [base, query])


def unfold(tab: Any) -> None:
    """Open everything that a form folds away."""
    tab.evaluate(
        "document.querySelectorAll('.fb-form details').forEach(one => { one.open = true; })"
    )


def brief(meaning: str) -> str:
    """What a form calls an input or output: its meaning without what explains it."""
    words = re.split(r"[,;:]| \(", meaning)[0]
    return words[0].upper() + words[1:]


def put(tab: Any, state: dict[str, str]) -> None:
    """Put a state into the form at once, and nothing else."""
    tab.evaluate(PUT, {key.replace("-", "_"): value for key, value in state.items()})


def type_in(tab: Any, state: dict[str, str]) -> None:
    """Put a state into the form as a person does, key by key."""
    put(tab, {})
    for key, value in state.items():
        control = tab.locator(f".fb-form [name={key.replace('-', '_')}]")
        unfold(tab)
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


class Forms:
    """One tab for each calculator, kept.

    `forms(name, use, ...)` is what `use(tab, base, ...)` finds in its form.
    """

    def __init__(self, surf: Any, base: str) -> None:
        self._surf, self._base = surf, base
        self._tabs: dict[str, Any] = {}
        self._context = surf(self._open)

    def _open(self, context: Any) -> Any:
        kept = context.browser.new_context(bypass_csp=True)
        kept.set_default_timeout(30_000)
        kept.route(
            "**/search_index.json", lambda route: route.abort()
        )  # no test of forms looks for anything
        return kept

    def __call__(self, name: str, use: Callable[..., Any], *arguments: Any) -> Any:
        """Use a form that was just opened without a link."""
        return self._surf(self._use, name, use, arguments)

    def _use(self, _: Any, name: str, use: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        if name not in self._tabs:
            self._tabs[name] = open_form(self._context, self._base, name)
        visit(self._tabs[name], self._base, "")
        return use(self._tabs[name], self._base, *arguments)

    def close(self) -> None:
        """Close all tabs."""
        self._surf(lambda _: self._context.close())
