"""`check`: a number that somebody states of a chip, held against what is on file."""

from __future__ import annotations

from collections.abc import Sequence

from flopbook.cli.plain import command
from flopbook.data.library import entry_ids, load_entries, load_entry
from flopbook.errors import FlopbookError
from flopbook.factcheck.facts import FiledFact, names, subject
from flopbook.factcheck.judging import Judgement, judge, of_anybody, verdicts
from flopbook.factcheck.reading import StatedNumber, Unreadable, read


@command("check", argument="TEXT [...]")
def check_command(texts: Sequence[str], as_json: bool) -> int:
    """Check a number that is stated of a chip, such as "H100 1,979 TFLOPS".
    Exit status 0 where it holds as written, 1 where it does not, 2 where it cannot be read.

    A number that holds only under a condition that the text leaves out (with sparsity, both ways,
    for a whole node, in another format) does not hold; the answer names the condition. A rate
    without a format is taken for dense bf16, a link for one way.

    Example: flopbook check "H100 bf16 989 TFLOPS"
    """
    try:
        statements = read(" ".join(texts), names())
    except Unreadable as error:
        raise _helped(error) from None
    findings = [judge(statement, subject) for statement in statements]
    if as_json:
        from flopbook.cli.layout import print_json

        print_json([_record(*pair) for pair in zip(statements, findings, strict=True)])
    else:
        for finding in findings:
            _print(finding)
    return verdicts(findings)


def _helped(error: Unreadable) -> FlopbookError:
    """A text without a chip is told of which chips its number is."""
    if not error.statements:
        return error
    load_entries()
    chips = [name for name in entry_ids() if load_entry(name).computes]
    return FlopbookError(of_anybody(error.statements, chips, subject))


def _print(finding: Judgement) -> None:
    print("; ".join(finding.says))
    for fact in finding.evidence:
        quote = f': "{fact.quote}"' if fact.quote else ""
        print(f"  {fact.source}{quote}")


def _record(statement: StatedNumber, finding: Judgement) -> dict[str, object]:
    return {
        "holds": finding.holds,
        "verdict": finding.verdict,
        "chip": finding.chip,
        "asked": list(statement.chips),
        "stated": finding.stated,
        "value": finding.value,
        "says": list(finding.says),
        "evidence": [_evidence(fact) for fact in finding.evidence],
    }


def _evidence(fact: FiledFact) -> dict[str, object]:
    conditions = ("field", "value", "dtype", "sparsity", "direction", "source", "quote")
    return {name: getattr(fact, name) for name in conditions}
