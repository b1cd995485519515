"""Measures of the site's search for `bench.py`: what it loads, and how long the first and later answers take."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import NamedTuple

QUESTIONS = ("roofline", "h100", "all-gather", "attention is all you need", "kv cache")
# From the last key of a question until an answer to it is in the page.
_ASK = """question => new Promise(done => {
  const meta = document.querySelector('.md-search-result__meta'), field = document.querySelector('.md-search__input');
  meta.textContent = '';
  const watch = new MutationObserver(() => {
    if (!/\\d|^No/.test(meta.textContent)) return;
    watch.disconnect();
    done(performance.now() - begun);
  });
  watch.observe(meta, {childList: true, characterData: true, subtree: true});
  const begun = performance.now();
  field.value = question;
  field.dispatchEvent(new KeyboardEvent('keyup', {bubbles: true}));
})"""


class Measured(NamedTuple):
    """Milliseconds of first answers (nothing is loaded yet) and of later ones; bytes of the documents, gzipped."""

    first: list[float]
    later: list[float]
    size: int


def search_times(site: Path, runs: int) -> Measured:
    """Ask a built site's search in a browser, each run with an empty cache."""
    from playwright.sync_api import sync_playwright

    from sitebuild.weigh import LAUNCH, browser_path, served

    measured = Measured([], [], len(gzip.compress((site / "search" / "documents.json").read_bytes(), 6)))
    with sync_playwright() as playwright, served(site) as base:
        browser = playwright.chromium.launch(executable_path=browser_path(), args=list(LAUNCH))
        for _ in range(runs):
            tab = browser.new_page()
            tab.goto(base + "handbook/roofline/", wait_until="networkidle")
            tab.keyboard.press("/")
            first, *later = (tab.evaluate(_ASK, question) for question in QUESTIONS)
            measured.first.append(first)
            measured.later.extend(later)
            tab.close()
        browser.close()
    return measured
