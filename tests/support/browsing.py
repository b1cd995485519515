"""One real browser for all tests that need one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from scripts.website.build.weigh import LAUNCH


class Surfer:
    """A browser in a thread of its own: Playwright's event loop must not meet other tests."""

    def __init__(self, executable: Path) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1)
        self._thread.submit(self._start, executable).result()

    def _start(self, executable: Path) -> None:
        self._playwright = sync_playwright().start()
        self._browser = self._playwright.chromium.launch(
            executable_path=str(executable), args=list(LAUNCH)
        )

    def __call__(self, use: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        """Run `use(context, *arguments)` with a fresh context; what it returns comes back."""

        def inside() -> Any:
            # Tests wait for expressions, which the policy of a page forbids to evaluate; that
            # pages work under their policy has tests of its own.
            context = self._browser.new_context(**{"bypass_csp": True, **options})
            context.set_default_timeout(10_000)
            try:
                return use(context, *arguments)
            finally:
                context.close()

        return self._thread.submit(inside).result()

    def close(self) -> None:
        """End the browser."""
        self._thread.submit(self._browser.close).result()
        self._thread.submit(self._playwright.stop).result()
        self._thread.shutdown()


# A dark page differs from a light one in colours alone, and a narrow one in all but colours;
# looking for those is slow.
_COLOURS = ("color-contrast", "link-in-text-block")
_LOOKS: tuple[tuple[str, int, dict[str, Any]], ...] = (
    ("light", 1280, {}),
    ("dark", 1280, {"runOnly": {"type": "rule", "values": list(_COLOURS)}}),
    ("light", 360, {"rules": {name: {"enabled": False} for name in _COLOURS}}),
)


def faults(tab: Any) -> dict[str, Any]:
    """What axe finds on a page, light, dark and on a phone, and where it overflows the window."""
    from axe_playwright_python.sync_playwright import Axe

    wrong: dict[str, Any] = {}
    for scheme, width, rules in _LOOKS:
        tab.emulate_media(color_scheme=scheme)
        tab.set_viewport_size({"width": width, "height": 900})
        tab.evaluate(
            "() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 100)))"
        )
        if tab.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wrong[f"wider than {width}"] = True
        found = (
            Axe().run(tab, options={"resultTypes": ["violations"], **rules}).response["violations"]
        )
        wrong[f"axe {scheme} {width}"] = [
            f"{v['id']}: {v['nodes'][0]['html'][:160]}" for v in found
        ]
    return {key: value for key, value in wrong.items() if value}
