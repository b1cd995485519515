"""The programs of the planners' pages, run in a browser from the files of the site."""

from __future__ import annotations

import json
from typing import Any

from flopbook.faces.javascript import module
from flopbook.formulas import get_formula
from scripts.website.build.content import DOCS
from scripts.website.pages import planner_data

FILES = planner_data.files()
RECORD = json.loads(FILES[planner_data.RECORD])
_ADDRESS = "http://plan.test/"
_ASSETS = f"{_ADDRESS}assets/flopbook/"


def ran(program: str, asked: list[dict[str, Any]], surf: Any) -> list[dict[str, Any]]:
    """What a program answers: it gets the address of the assets and the questions as JSON."""
    files = {f"{_ADDRESS}{name}": text for name, text in FILES.items()}
    for path in (DOCS / planner_data.FOLDER).glob("*.js"):
        files[f"{_ADDRESS}{planner_data.FOLDER}{path.name}"] = path.read_text("utf-8")
    files[f"{_ASSETS}formulas/memory.js"] = module([get_formula("memory")])

    def answer(route: Any) -> None:
        kind = "application/json" if route.request.url.endswith("json") else "text/javascript"
        body = files.get(route.request.url)
        if body is None:
            route.fulfill(status=200, content_type="text/html", body="<title>plan</title>")
        else:
            route.fulfill(status=200, content_type=kind, body=body)

    def use(context: Any) -> Any:
        context.route("**/*", answer)
        tab = context.new_page()
        tab.goto(_ADDRESS)
        return tab.evaluate(program, [_ASSETS, json.dumps(asked)])

    answers: list[dict[str, Any]] = surf(use)
    return answers
