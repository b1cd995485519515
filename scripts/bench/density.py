"""How dense Python code is: what a reader has to hold in mind, for each thousand lines.

For comparison, measured alike in August 2026: scikit-hep/particle, pypa/packaging, nanochat and
sqlite-utils have 6 to 11 conditional expressions and 3 to 26 comprehensions for each thousand
lines, no nested conditionals, and 40 to 210 comments.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

WIDEST = 100  # columns
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(slots=True)
class Density:
    """Counts over some files; `lines` are those that are neither empty nor comment only."""

    lines: int = 0
    conditional_expressions: int = 0
    nested_conditionals: int = 0
    comprehensions: int = 0
    comments: int = 0
    wide_lines: int = 0

    def __str__(self) -> str:
        """All counts for each thousand lines; nested conditionals as they are."""
        return (
            f"{self.lines:,} lines; per 1,000: "
            f"conditional expressions {self._per_thousand(self.conditional_expressions)}, "
            f"comprehensions {self._per_thousand(self.comprehensions)}, "
            f"comments {self._per_thousand(self.comments)}, "
            f"wide lines {self._per_thousand(self.wide_lines)}; "
            f"nested conditionals {self.nested_conditionals}"
        )

    def _per_thousand(self, count: int) -> str:
        return f"{1000 * count / max(self.lines, 1):.1f}"

    def add(self, source: str) -> None:
        """Count one more file."""
        lines = source.splitlines()
        self.lines += sum(_is_code(line) for line in lines)
        self.wide_lines += sum(len(line) > WIDEST for line in lines)
        self.comments += _comments(source)
        for node in ast.walk(ast.parse(source)):
            self.comprehensions += isinstance(node, _COMPREHENSIONS)
            if isinstance(node, ast.IfExp):
                self.conditional_expressions += 1
                branches = (node.test, node.body, node.orelse)
                self.nested_conditionals += any(
                    isinstance(branch, ast.IfExp) for branch in branches
                )


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _comments(source: str) -> int:
    """Comments as the tokenizer sees them: a `#` inside a string is none."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return sum(token.type == tokenize.COMMENT for token in tokens)


def density(paths: Iterable[Path]) -> Density:
    """The density of some files together."""
    counts = Density()
    for path in paths:
        counts.add(path.read_text(encoding="utf-8"))
    return counts
