"""From a keystroke to its answer in the page: every form of a calculator, and the planners."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from flopbook.formulas import formulas
from scripts.bench.pages import open_tabs
from scripts.bench.results import Counted, Timed

if TYPE_CHECKING:
    from playwright.sync_api import Page

BUDGET = "50 ms"
_MOST_RUNS = 5  # keystrokes are several in each run
# Questions of the planners by what is searched: the usual one, and those of many layouts.
PLANNED = (
    ("planner/", {"model": "llama-3-70b", "chip": "nvidia/h100-sxm", "chips": "512"}),
    ("planner/", {"model": "llama-3-405b", "chip": "nvidia/h100-sxm", "chips": "16384"}),
    ("planner/", {"model": "deepseek-v3", "chip": "nvidia/h100-sxm", "chips": "2048"}),
    ("serve/", {"model": "llama-3-70b", "chip": "nvidia/h100-sxm", "chips": "8"}),
    ("serve/", {"model": "deepseek-v3", "chip": "nvidia/h200-sxm", "chips": "64"}),
)
# Marks the first field in which something stands, else the first, and returns what to type there.
_FIELD = """() => {
  for (const fold of document.querySelectorAll('.fb-form details')) fold.open = true;
  const choices = ['checkbox', 'radio', 'range'];
  const typed = [...document.querySelectorAll('.fb-form input')]
    .filter((field) => field.checkVisibility() && !choices.includes(field.type));
  const timed = typed.find((field) => field.value) ?? typed[0];
  timed?.setAttribute('data-timed', '');
  return timed && (timed.value || '8');
}"""
# A form answers in the event of the keystroke; the picture comes with the next frame.
_STROKES = """() => {
  const strokes = window.strokes = [];
  let pressed = 0;
  document.addEventListener('keydown', (event) => { pressed = event.timeStamp; }, true);
  document.addEventListener('input', () => strokes.push(performance.now() - pressed));
}"""
# A planner answers from its worker: its words change when the answer is there.
_ANSWERS = """() => {
  const answers = window.answers = [];
  let pressed = 0;
  document.addEventListener('keydown', (event) => { pressed = event.timeStamp; }, true);
  new MutationObserver(() => answers.push(performance.now() - pressed))
    .observe(document.querySelector('.fb-planner .fb-said'), {childList: true});
}"""


def forms(site: Path, runs: int) -> Iterator[Timed | Counted]:
    """Every form of a calculator: its first field is typed anew, key by key."""
    with open_tabs(site) as (new_tab, base):
        for name in formulas():
            tab = new_tab()
            tab.goto(f"{base}calculators/{name}/")
            tab.wait_for_selector(".fb-form .fb-answer:not(:empty)")
            value = tab.evaluate(_FIELD)
            if value:
                yield Timed(f"{name}: keystroke to answer", _typed(tab, value, runs), BUDGET)
            else:
                yield Counted(name, "has no field to type into")
            tab.close()


def _typed(tab: Page, value: str, runs: int) -> list[float]:
    """How long the answers to the keys of a value take that is typed so many times."""
    tab.evaluate(_STROKES)
    times: list[float] = []
    for _ in range(min(runs, _MOST_RUNS)):
        tab.fill("[data-timed]", "")
        tab.evaluate("strokes.length = 0")  # that the field was emptied is no keystroke
        tab.keyboard.type(value)
        times += tab.evaluate("strokes")
    return times


def planners(site: Path, runs: int) -> Iterator[Timed]:
    """The planners: the last digit of the number of chips is typed, and the answer comes."""
    with open_tabs(site) as (new_tab, base):
        for page, asked in PLANNED:
            tab = new_tab()
            tab.goto(f"{base}{page}?{urlencode(asked)}")
            settled = ".fb-planner:not([aria-busy]) .fb-said .fb-verdict"
            tab.wait_for_selector(settled)
            times = [_last_digit(tab, asked["chips"], settled) for _ in range(runs)]
            words = f"{page} {asked['model']}, {asked['chips']} chips: keystroke to answer"
            yield Timed(words, times, BUDGET)
            tab.close()


def _last_digit(tab: Page, chips: str, settled: str) -> float:
    """How long the answer takes to the last digit of a number of chips."""
    tab.fill(".fb-planner [name=chips]", chips[:-1])
    tab.wait_for_timeout(50)
    tab.wait_for_selector(settled)
    tab.evaluate(_ANSWERS)
    tab.keyboard.type(chips[-1])
    tab.wait_for_function("window.answers.length > 0")
    times: list[float] = tab.evaluate("answers")
    return times[0]
