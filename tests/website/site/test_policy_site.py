"""Pages in a browser that enforces their policy: it stops what is not ours.

That it stops nothing of ours is looked at when a page is visited (`test_visits.py`).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from scripts.website.build.policy import page_problems

pytestmark = [pytest.mark.browser, pytest.mark.site]
_WATCH = """window.stopped = [];
document.addEventListener('securitypolicyviolation',
  event => window.stopped.push(`${event.violatedDirective} ${event.blockedURI}`));"""
_INJECT = """() => new Promise(done => {
  window.ran = [];
  window.attacked = what => window.ran.push(what);
  const box = document.createElement('div');
  box.innerHTML = `<img src="x" onerror="attacked('handler')">
    <iframe srcdoc="<script>parent.attacked('frame')</script>"></iframe>`;
  document.body.append(box);
  const script = document.createElement('script');
  script.textContent = "attacked('inline')";
  document.body.append(script);
  const far = document.createElement('script');
  far.src = 'http://127.0.0.2:9/x.js';
  document.body.append(far);
  setTimeout(() => done(window.ran), 300);
})"""


def test_the_search_finds_under_the_policy(surf: Any, base: str) -> None:
    """Its worker is a script of the site that loads another."""

    def use(context: Any) -> list[str]:
        context.add_init_script(_WATCH)
        tab = context.new_page()
        tab.goto(base)
        tab.keyboard.press("/")
        tab.keyboard.type("roofline")
        tab.wait_for_selector(".md-search-result__item")
        return tab.evaluate("window.stopped")

    assert surf(use, alone=True, bypass_csp=False) == []


def test_what_a_hole_would_let_in_does_not_run(surf: Any, base: str) -> None:
    """Handlers, frames, scripts in a page and from another host."""

    def use(context: Any) -> tuple[list[str], list[str]]:
        context.add_init_script(_WATCH)
        tab = context.new_page()
        tab.goto(base + "accelerators/nvidia/h100-sxm/")
        return tab.evaluate(_INJECT), tab.evaluate("window.stopped")

    ran, stopped = surf(use, alone=True, bypass_csp=False)
    assert ran == []
    assert any("127.0.0.2" in one for one in stopped) and len(stopped) >= 3


def test_every_page_has_a_policy_and_holds_nothing_else(site: Path) -> None:
    for path in sorted(site.rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        name = path.relative_to(site).as_posix()
        policies = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
        assert len(policies) == 1 and "default-src 'none'" in policies[0], name
        assert list(page_problems(text, name, site)) == []
