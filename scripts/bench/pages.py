"""Pages in a real browser: explorer, all works, forms of calculators, search, and their weights."""

from __future__ import annotations

import contextlib
import functools
import gzip
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from scripts.bench.processes import ROOT
from scripts.bench.results import Counted, Measure, Result, Timed, Weighed
from scripts.website.build.handbook import chapters
from scripts.website.build.weigh import (
    BUDGET,
    LAUNCH,
    TEMPLATES,
    browser_path,
    served,
    visit,
    weigh_site,
)

if TYPE_CHECKING:
    from playwright.sync_api import Page

WORKS = "references/works/"
QUESTIONS = ("roofline", "h100", "all-gather", "attention is all you need", "kv cache")
_MOST_LOADS, _MOST_VISITS = 10, 5  # runs of what takes seconds


def of_site(measure: Callable[[Path, int], Iterator[Result]]) -> Measure:
    """A measure of a built site as one of the site in its usual place, if that is built."""

    def measured(runs: int) -> Iterator[Result]:
        site = ROOT / "site"
        if not (site / "index.html").exists():
            yield Counted(measure.__name__, "needs a built site (make site)")
            return
        yield from measure(site, runs)

    return measured


@contextlib.contextmanager
def open_tabs(site: Path) -> Iterator[tuple[Callable[[], Page], str]]:
    """What opens a new tab, and the address of the served site."""
    from playwright.sync_api import sync_playwright  # only where a browser is asked for

    with sync_playwright() as playwright, served(site) as base:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=list(LAUNCH))
        # The policy of a page forbids what waits in it for a condition.
        yield functools.partial(browser.new_page, bypass_csp=True), base
        browser.close()


def weights(site: Path, _: int) -> Iterator[Weighed | Counted]:
    """What each page template weighs over the wire, gzipped, search index aside."""
    texts = [f"{chapter.page.removesuffix('.md')}/" for chapter in chapters()]
    sizes = weigh_site(site, dict.fromkeys([*TEMPLATES, *texts]))
    for page, size in sizes.items():
        yield Weighed(page or "home", size, f"{BUDGET // 1000} kB")
    middle = statistics.median_high(sizes.values()) / 1000
    largest = max(sizes, key=lambda page: sizes[page])
    summary = f"median {middle:.1f} kB, largest {sizes[largest] / 1000:.1f} kB ({largest})"
    yield Counted("text pages", summary)


# Waits for the explorer, filters and sorts once, and notes when the result was painted.
_FIRST_FILTER = """() => new Promise(done => {
  const go = () => {
    if (!document.querySelector('.fb-explorer[data-ready]')) return void setTimeout(go, 1);
    const ready = performance.now();
    const search = document.querySelector('.fb-explorer input[type=search]');
    search.value = 'nvidia';
    search.dispatchEvent(new Event('input'));
    document.querySelectorAll('.fb-sorter')[4].click();
    const [entry] = performance.getEntriesByType('navigation');
    requestAnimationFrame(() => setTimeout(() => done(
      [ready, performance.now(), entry.domContentLoadedEventStart])));
  };
  go();
})"""


def explorer(site: Path, runs: int) -> Iterator[Timed]:
    """The page of all accelerators, from the start of loading and from the page being there."""
    times: list[list[float]] = []
    with open_tabs(site) as (new_tab, base):
        for _ in range(min(runs, _MOST_LOADS)):
            tab = new_tab()
            tab.goto(base + "accelerators/", wait_until="commit")
            times.append(tab.evaluate(_FIRST_FILTER))
            tab.close()
    usable, filtered, arrived = map(list, zip(*times, strict=True))
    after_arrival = [done - page for done, page in zip(filtered, arrived, strict=True)]
    yield Timed("explorer: start of loading to usable", usable)
    yield Timed("explorer: start of loading to first filter", filtered)
    yield Timed("explorer: page there to first filter done", after_arrival, "300 ms")


# Types words one after the other, and notes how long the filter took and how long its painting.
_FILTERS = """async () => {
  const search = document.querySelector('.fb-works input[type=search]');
  search.focus();
  const settled = () => new Promise(done => requestAnimationFrame(() => setTimeout(done)));
  await new Promise(done => setTimeout(done, 500));
  const times = [];
  for (const word of ['memory', 'tensor parallel', '', 'a', 'no such words', 'nvidia', '']) {
    const begun = performance.now();
    search.value = word;
    search.dispatchEvent(new Event('input'));
    const filtered = performance.now();
    await settled();
    times.push([filtered - begun, performance.now() - begun]);
  }
  return times;
}"""


def works(site: Path, runs: int) -> Iterator[Timed | Weighed]:
    """The page of all works with the sources of values: how fast lines are filtered, its weight."""
    times: list[list[float]] = []
    with open_tabs(site) as (new_tab, base):
        for _ in range(min(runs, _MOST_VISITS)):
            tab = new_tab()
            tab.goto(f"{base}{WORKS}?sources=1")
            tab.wait_for_selector(".fb-works[data-ready]")
            lines = tab.inner_text(".fb-works .fb-count")
            times += tab.evaluate(_FILTERS)
            tab.close()
    filtered, painted = map(list, zip(*times, strict=True))
    yield Timed(f"works: filter {lines.split(' of ')[-1]}", filtered, "50 ms")
    yield Timed("works: filter until it is painted", painted)
    size = weigh_site(site, [WORKS])[WORKS]
    yield Weighed("works: weight of the page", size, f"{BUDGET // 1000} kB")


# What a chip or a model fills in is folded away, and so could not be typed into.
_UNFOLD = "for (const fold of document.querySelectorAll('.fb-form details')) fold.open = true"
# Notes, for each keystroke, when answer and picture were in the page and when they were painted.
_KEYSTROKES = """() => {
  const strokes = window.strokes = [];
  let pressed = 0;
  document.onkeydown = event => { pressed = event.timeStamp; };
  document.oninput = () => {
    const begun = pressed, there = performance.now() - begun;
    requestAnimationFrame(() => setTimeout(() => strokes.push([there, performance.now() - begun])));
  };
}"""
_TYPED = {
    "min-batch": ("bandwidth", "3.35TB/s"),
    "memory": ("seq", "16384"),
    "bubble": ("microbatches", "1024"),
    "serving": ("seq", "16384"),
    "roofline": ("kernels", "gemm 4096x4096x4096"),
    "shard": ("layout", "A[I_XY, J_Z]"),
    "sharded-matmul": ("dims", "I=2048,J=8192,K=8192"),
}
_DRAWN = ".fb-curve .fb-frame > *"  # a curve, a picture of the form's own, or a table of blocks


def form(site: Path, runs: int) -> Iterator[Timed]:
    """Forms of calculators: from a keystroke to its answer and picture, in the page and painted."""
    with open_tabs(site) as (new_tab, base):
        for name, (field, text) in _TYPED.items():
            tab = new_tab()
            tab.goto(f"{base}calculators/{name}/")
            tab.wait_for_selector(_DRAWN)
            tab.evaluate(_UNFOLD)
            strokes: list[list[float]] = []
            for _ in range(runs):
                tab.fill(f"[name={field}]", "")
                tab.evaluate(_KEYSTROKES)
                for key in text:
                    tab.keyboard.type(key)
                tab.wait_for_function(f"window.strokes.length === {len(text)}")
                strokes += tab.evaluate("strokes")
            tab.close()
            answered, painted = map(list, zip(*strokes, strict=True))
            yield Timed(f"{name}: keystroke to answer in the page", answered, "50 ms")
            yield Timed(f"{name}: keystroke to answer painted", painted, "50 ms")


# From the last key of a question until an answer to it is in the page.
# A question of which no answer comes is an error: a promise in a page has no deadline of its own.
_ASK = """([question, seconds]) => new Promise((done, failed) => {
  const meta = document.querySelector('.md-search-result__meta');
  const field = document.querySelector('.md-search__input');
  meta.textContent = '';
  const watch = new MutationObserver(() => {
    if (!/\\d|^No/.test(meta.textContent)) return;
    watch.disconnect();
    done(performance.now() - begun);
  });
  setTimeout(() => failed(new Error(`no answer to "${question}"`)), 1000 * seconds);
  watch.observe(meta, {childList: true, characterData: true, subtree: true});
  const begun = performance.now();
  field.value = question;
  field.dispatchEvent(new Event('input', {bubbles: true}));
})"""


def asked(tab: Page, question: str, seconds: float = 60) -> float:
    """How many milliseconds a page's search takes to answer; an error after so many seconds."""
    milliseconds: float = tab.evaluate(_ASK, [question, seconds])
    return milliseconds


def search(site: Path, runs: int) -> Iterator[Timed | Weighed]:
    """The site's search, each run with an empty cache: its size, and how long answers take."""
    first: list[float] = []
    later: list[float] = []
    with open_tabs(site) as (new_tab, base):
        for _ in range(min(runs, _MOST_VISITS)):
            tab = new_tab()
            visit(tab, base + "handbook/roofline/")
            tab.focus(".md-search__input")
            times = [asked(tab, question) for question in QUESTIONS]
            first.append(times[0])
            later += times[1:]
            tab.close()
    yield Timed("search: first answer, nothing loaded before", first)
    yield Timed("search: later answers", later)
    documents = (site / "search" / "documents.json").read_bytes()
    yield Weighed("search: documents", len(gzip.compress(documents, 6)))
