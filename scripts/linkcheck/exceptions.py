"""The list of links that may fail, each with its reason; an entry that is not needed must go.

An entry is UNUSED, which is an error, if no collected link matches it, if all links that match it
pass now, or if its day has passed. An entry whose link fails in another way than `expect` says
excuses nothing: the link is reported as broken.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from flopbook.data.files import TooLarge, read_bytes
from scripts.linkcheck.results import KINDS, Result

_LARGEST_FILE = 1_000_000
_DEEPEST = 10
_OPENING = (
    yaml.BlockSequenceStartToken,
    yaml.BlockMappingStartToken,
    yaml.FlowSequenceStartToken,
    yaml.FlowMappingStartToken,
)
_CLOSING = (yaml.BlockEndToken, yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken)
_KEYS = {"url", "prefix", "reason", "expect", "until"}
_PREFIX = re.compile(r"https?://[^/\s]+/\S*")
_URL = re.compile(r"https?://\S+")


class BadExceptions(Exception):
    """The file cannot be used; `errors` has one line for each fault, all of them."""

    def __init__(self, errors: list[str]) -> None:
        super().__init__("\n".join(errors))
        self.errors = errors


@dataclass(frozen=True)
class LinkException:
    """One entry: an address or its beginning, the expected failure, the reason, the last day."""

    line: int
    pattern: str
    is_prefix: bool
    reason: str
    expect: str
    until: datetime.date = datetime.date.max

    def matches(self, url: str) -> bool:
        """Whether the entry speaks of this address."""
        return url.startswith(self.pattern) if self.is_prefix else url == self.pattern


@dataclass
class Verdict:
    """Results sorted by what they mean for the run."""

    # each with the entry that speaks of it but expects another failure, if there is one
    broken: list[tuple[Result, LinkException | None]] = field(default_factory=list)
    excused: list[tuple[Result, LinkException]] = field(default_factory=list)
    unused: list[tuple[LinkException, str]] = field(default_factory=list)


def judge(
    results: Mapping[str, Result],
    entries: Iterable[LinkException],
    *,
    whole: bool = True,
    today: datetime.date = datetime.date.min,
) -> Verdict:
    """Apply the entries. `whole`: all links were checked, so an entry can be called unused."""
    listed = list(entries)
    valid = [entry for entry in listed if entry.until >= today]
    verdict = Verdict()
    for url, result in results.items():
        if result.ok:
            continue
        matching = [entry for entry in valid if entry.matches(url)]
        excusing = [entry for entry in matching if result.answers_to(entry.expect)]
        if excusing:
            verdict.excused.append((result, excusing[0]))
        else:
            verdict.broken.append((result, matching[0] if matching else None))
    for entry in listed:
        if entry.until < today:
            verdict.unused.append((entry, f"it held until {entry.until}"))
    if whole:
        verdict.unused += _unneeded(valid, results)
    return verdict


def _unneeded(
    entries: Iterable[LinkException], results: Mapping[str, Result]
) -> Iterator[tuple[LinkException, str]]:
    """The entries that no link needs any more, with the reason."""
    for entry in entries:
        if reason := _why_unused(entry, results):
            yield entry, reason


def _why_unused(entry: LinkException, results: Mapping[str, Result]) -> str:
    """Why an entry must go; empty while a link needs it."""
    matching = [result for url, result in results.items() if entry.matches(url)]
    if not matching:
        return "no link matches it"
    if not all(result.ok for result in matching):
        return ""
    if len(matching) == 1:
        return "its link works now"
    return f"all {len(matching)} links that match it work now"


def load(path: Path, shown_as: str) -> list[LinkException]:
    """Read the file; a missing one is an empty list. Raises BadExceptions with every fault."""
    if not path.exists():
        return []
    reader = _Reader(shown_as)
    entries = reader.read(path)
    if reader.errors:
        raise BadExceptions(reader.errors)
    return entries


class _Reader:
    """Walks the nodes of the file, because only nodes know their lines and their duplicate keys."""

    def __init__(self, shown_as: str) -> None:
        self._shown_as = shown_as
        self.errors: list[str] = []

    def read(self, path: Path) -> list[LinkException]:
        try:
            root = self._compose(read_bytes(path, _LARGEST_FILE).decode("utf-8"))
        except TooLarge as error:
            self._complain(
                None, "too-large", f"found {error.strerror}, expected at most {_LARGEST_FILE}"
            )
            return []
        except (OSError, UnicodeDecodeError) as error:
            self._complain(None, "unreadable", f"{error}; expected a UTF-8 text file")
            return []
        if root is None:
            return []
        if not isinstance(root, yaml.SequenceNode):
            text = "expected a list of entries with url or prefix, reason and expect"
            self._complain(root, "not-a-list", f"{text}; an empty list is []")
            return []
        entries = [entry for entry in map(self._entry, root.value) if entry]
        self._find_duplicates(entries)
        return entries

    def _compose(self, source: str) -> yaml.Node | None:
        """The tree of nodes."""
        try:
            if self._has_fair_tokens(source):
                root: yaml.Node | None = yaml.compose(source, Loader=yaml.CSafeLoader)
                return root
        except yaml.YAMLError as error:
            problem = getattr(error, "problem", None) or str(error).split("\n")[0]
            self._at(getattr(error, "problem_mark", None), "yaml", f"not valid YAML: {problem}")
        return None

    def _has_fair_tokens(self, source: str) -> bool:
        """Refuse what has no use here; deep nesting would crash the composer itself."""
        depth = 0
        for token in yaml.scan(source, Loader=yaml.CSafeLoader):
            depth += isinstance(token, _OPENING) - isinstance(token, _CLOSING)
            if isinstance(token, yaml.AnchorToken | yaml.AliasToken | yaml.TagToken):
                text = "found an anchor, alias or tag; write the entry out in full"
                self._at(token.start_mark, "no-anchors", text)
                return False
            if depth > _DEEPEST:
                self._at(token.start_mark, "yaml", "nested too deeply; expected a list of entries")
                return False
        return True

    def _entry(self, node: yaml.Node) -> LinkException | None:
        fields = self._fields(node)
        if fields is None:
            return None
        before = len(self.errors)
        kind = "prefix" if "prefix" in fields else "url"
        pattern = fields.get(kind, "")
        if len(fields.keys() & {"url", "prefix"}) == 1:
            self._check_pattern(node, kind, pattern)
        else:
            self._complain(node, "one-address", "expected exactly one of url and prefix")
        if len(fields.get("reason", "").strip()) < 10:
            self._complain(
                node, "reason", "missing or too short; say in a sentence why this link may fail"
            )
        expect = fields.get("expect", "")
        if not re.fullmatch(r"[3-5]\d\d", expect) and expect not in KINDS.keys() - {"ok"}:
            kinds = ", ".join(sorted(KINDS.keys() - {"ok"}))
            self._complain(
                node,
                "expect",
                f"found {expect!r}; expected a status such as 403, or one of {kinds}",
            )
        until = self._day(node, fields.get("until", ""))
        if len(self.errors) > before or until is None:
            return None
        line = node.start_mark.line + 1
        return LinkException(
            line, pattern, kind == "prefix", fields["reason"].strip(), expect, until
        )

    def _day(self, node: yaml.Node, text: str) -> datetime.date | None:
        try:
            return datetime.datetime.strptime(text, "%Y-%m-%d").date()
        except ValueError:
            self._complain(
                node,
                "until",
                f"found {text!r}; expected the last day on which it holds, as YYYY-MM-DD",
            )
            return None

    def _fields(self, node: yaml.Node) -> dict[str, str] | None:
        if not isinstance(node, yaml.MappingNode):
            self._complain(node, "entry", "expected an entry with url or prefix, reason and expect")
            return None
        fields: dict[str, str] = {}
        for key, value in node.value:
            name = str(key.value) if isinstance(key, yaml.ScalarNode) else "?"
            if name not in _KEYS:
                keys = ", ".join(sorted(_KEYS))
                self._complain(key, "unknown-key", f"found {name!r}; expected one of {keys}")
            elif name in fields:
                self._complain(key, "duplicate-key", f"{name} is given twice; keep one")
            elif not isinstance(value, yaml.ScalarNode):
                self._complain(value, "text", f"{name} must be plain text")
            else:
                fields[name] = str(value.value)
        return fields

    def _check_pattern(self, node: yaml.Node, name: str, pattern: str) -> None:
        if name == "url" and not _URL.fullmatch(pattern):
            self._complain(
                node, "url", f"found {pattern!r}; expected a whole http or https address"
            )
        elif name == "url" and "#" in pattern:
            self._complain(
                node, "url", f"found {pattern!r}; leave out the part from # on, it is not checked"
            )
        elif name == "prefix" and not _PREFIX.fullmatch(pattern):
            # "https://www.a" would also excuse www.another-host.org.
            text = "expected a whole host and a slash, such as https://www.example.org/"
            self._complain(node, "prefix", f"found {pattern!r}; {text}")

    def _find_duplicates(self, entries: list[LinkException]) -> None:
        first_entries: dict[tuple[str, str], LinkException] = {}
        for entry in entries:
            first = first_entries.setdefault((entry.pattern, entry.expect), entry)
            if first is not entry:
                place = f"{self._shown_as}:{entry.line}:1"
                text = f"{entry.pattern} with expect {entry.expect} is already on line {first.line}"
                self.errors.append(f"{place}: duplicate: {text}; keep one")

    def _complain(self, node: yaml.Node | None, rule: str, text: str) -> None:
        self._at(node.start_mark if node else None, rule, text)

    def _at(self, mark: yaml.Mark | None, rule: str, text: str) -> None:
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        self.errors.append(f"{self._shown_as}:{line}:{column}: {rule}: {text}")
