"""The CSV that a page makes for its reader: spreadsheets show its texts and run none."""

from __future__ import annotations

from typing import Any

from scripts.website.build.content import DOCS

_ADDRESS = "http://csv.test/"
_FOLDER = DOCS / "assets" / "flopbook"
_ROWS = [
    ["product", "GB/s"],
    ["=HYPERLINK(1)", -2.5],
    ["@SUM(A1)", "+1"],
    ["a, b", "\r=1"],
    ["\uff1d1", 'x"y'],
    ["a;=1", "b\n@c"],
]


def test_texts_stay_texts_and_numbers_numbers(surf: Any) -> None:
    def answer(route: Any) -> None:
        file = _FOLDER / route.request.url.removeprefix(_ADDRESS)
        if file.suffix != ".js":
            route.fulfill(status=200, content_type="text/html", body="<title>csv</title>")
            return
        body = file.read_text(encoding="utf-8")
        route.fulfill(status=200, content_type="text/javascript", body=body)

    def use(context: Any) -> str:
        context.route("**/*", answer)
        tab = context.new_page()
        tab.goto(_ADDRESS)
        program = "async ([from, rows]) => (await import(from)).csv(rows)"
        made: str = tab.evaluate(program, [f"{_ADDRESS}filetexts.js", _ROWS])
        return made

    assert surf(use) == (
        'product,GB/s\n\'=HYPERLINK(1),-2.5\n\'@SUM(A1),\'+1\n"a, b","\'\r=1"\n\'\uff1d1,"x""y"\n'
        'a; =1,"b\n @c"\n'
    )
