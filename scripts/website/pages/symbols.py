"""The table of symbols of a chapter, folded before its first section."""

from __future__ import annotations

from flopbook.checks.rules.symbols import symbols_of

_HEAD = """??? info "Symbols of this chapter"

    | Symbol | Meaning |
    | --- | --- |
"""


def with_symbols(text: str, source: str) -> str:
    """A rendered chapter with the symbols that the head of its source lists."""
    table = symbols_of(source)
    before, heading, after = text.partition("\n## ")
    if not table or not heading:
        return text
    rows = "".join(f"    | ${symbol.latex}$ | {symbol.meaning} |\n" for symbol in table)
    return f"{before.rstrip()}\n\n{_HEAD}{rows}{heading}{after}"
