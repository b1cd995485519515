"""A slow machine, by choice: what a page's scripts wait for comes late, each time by another delay.

A test that asserts before the page has got there passes on one machine and fails on another.
`FLOPBOOK_TEST_DELAYS=1 pytest tests/website/site` makes it fail here; the number is a seed.
"""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

from scripts.website.build import weigh

# The number that delays are drawn from; without it nothing is delayed.
VARIABLE = "FLOPBOOK_TEST_DELAYS"
_FILE_S = 0.25  # the longest that a file waits at the server

# What tells a page of its files, sizes, views, frames and timers. A test that drives a clock of
# its own replaces these timers again, and is not delayed.
SCRIPT = """(() => {
  if (window.delayed) return;
  window.delayed = true;
  let state = SEED + location.pathname.length;
  const random = () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
  const timer = window.setTimeout.bind(window);
  const later = (longest) => new Promise((done) => timer(done, longest * random() ** 2));
  for (const name of ["ResizeObserver", "IntersectionObserver"]) {
    const Known = window[name];
    window[name] = class extends Known {
      constructor(tell, options) {
        super((entries, self) => later(500).then(() => tell.call(self, entries, self)), options);
      }
    };
  }
  const fetched = window.fetch.bind(window);
  window.fetch = async (...words) => {
    await later(400);
    return fetched(...words);
  };
  const frame = window.requestAnimationFrame.bind(window);
  const isSkipped = () => random() < 0.3;
  window.requestAnimationFrame = (draw) =>
    frame((now) => (isSkipped() ? frame(draw) : draw(now)));
  window.setTimeout = (tell, pause = 0, ...words) =>
    timer(tell, pause + 150 * random() ** 2, ...words);
  const idle = window.requestIdleCallback?.bind(window);
  if (idle) window.requestIdleCallback = (tell, options) =>
    timer(() => idle(tell, options), 300 * random());
})();"""


def seed() -> int | None:
    """The seed of the delays of this run; None where there are none."""
    words = os.environ.get(VARIABLE)
    return int(words) if words else None


def script() -> str | None:
    """What a page runs first, where pages are delayed."""
    number = seed()
    return None if number is None else SCRIPT.replace("SEED", str(number))


def hold_files() -> None:
    """Let each file wait at the server for a while, where pages are delayed."""
    number = seed()
    if number is None:
        return
    drawn, send = random.Random(number), weigh._Handler._send

    def send_late(handler: weigh._Handler, status: int, path: Path) -> None:
        time.sleep(_FILE_S * drawn.random() ** 3)
        send(handler, status, path)

    weigh._Handler._send = send_late
