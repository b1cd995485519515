"""Ways to break the content of a file, and the values of a record, by chance."""

from __future__ import annotations

import copy
import math
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from scripts.attack.hostile import text_of

_NUMBER = re.compile(rb"(?<=: )-?[0-9.e+]+")
_SIZES = ("1" + "0" * 400, "1e999", "-1", ".nan", ".inf", "1,000", "0x10", "1_000", "'5'", "2:4")
_DOUBLED = "".join(f"@string{{a{n + 1} = a{n} # a{n}}}\n" for n in range(40))
_BOMB = f'@string{{a0 = "{"x" * 40}"}}\n{_DOUBLED}'
_ALIASES = "".join(f"x{n + 1}: &a{n + 1} [*a{n}, *a{n}]\n" for n in range(40))
_NESTED = (
    *("note: " + "[" * 5000, "note: &a [*a, *a]", "? {a: b}\n: c", "!!python/object:os.system x"),
    *("notes: " + "{a: " * 500, "--- second", "\t- x", "key: 'open", "x: " + "9" * 5000, _BOMB),
    *("@misc{a, title = {" + "{" * 9000, "@misc{a, title = {" + r"\emph{" * 3000, "@misc{,}", "@"),
    *(
        "<<: {id: x, name: y}",
        f"x0: &a0 [x]\n{_ALIASES}",
        "!!binary aGk=: x",
        "{",
        "}",
        "[" * 9,
        '"',
    ),
)
_VALUES: tuple[Any, ...] = (
    *(math.nan, math.inf, -math.inf, -1, 0, 0.5, -0.0, 10**30, 10**400, 1e308, 5e-324, 2**63),
    *(True, None, "", "4096", "nan", "1e999", "x" * 10_000, "=cmd()", "\x1b[2J", "\u202e", "../x"),
    *([], {}, [[[[]]]], {"a": {"b": [1]}}, [None], ["x"] * 1000, ("a",), "2020-02-30", "{{ 1 }}"),
)
Break = Callable[[bytes, random.Random], bytes]


def bytes_lost(content: bytes, rng: random.Random) -> bytes:
    """Cut some bytes out."""
    start = rng.randrange(len(content))
    return content[:start] + content[start + rng.choice((1, 20, 2000)) :]


def bytes_put_in(content: bytes, rng: random.Random) -> bytes:
    """Put in bytes that are no text."""
    start = rng.randrange(len(content))
    put = rng.choice((rng.randbytes(8), b"\xff\xfe", b"\x00", b"\xed\xa0\x80", b"\xef\xbb\xbf"))
    return content[:start] + put + content[start:]


def lines_moved(content: bytes, rng: random.Random) -> bytes:
    """Lose lines, and repeat others."""
    lines = content.splitlines(keepends=True)
    for _ in range(rng.choice((1, 5))):
        lines.insert(rng.randrange(len(lines)), lines[rng.randrange(len(lines))])
        lines.pop(rng.randrange(len(lines)))
    return b"".join(lines)


def hostile_text(content: bytes, rng: random.Random) -> bytes:
    """Put a hostile text behind a name."""
    lines = content.decode("utf-8").splitlines()
    place = rng.randrange(len(lines))
    name, colon, _rest = lines[place].partition(": ")
    lines[place] = f"{name}{colon}{text_of(rng)}"
    return "\n".join(lines).encode("utf-8", errors="surrogatepass")


def hostile_line(content: bytes, rng: random.Random) -> bytes:
    """Put in a line that readers stumble over."""
    lines = content.decode("utf-8").splitlines()
    lines.insert(rng.randrange(len(lines)), rng.choice(_NESTED))
    return "\n".join(lines).encode("utf-8")


def odd_size(content: bytes, rng: random.Random) -> bytes:
    """Give a fifth of the numbers a size that nothing has."""
    size = rng.choice(_SIZES).encode()
    return _NUMBER.sub(lambda found: size if rng.random() < 0.2 else found[0], content)


BREAKS: tuple[Break, ...] = (
    *(bytes_lost, bytes_put_in, lines_moved, hostile_text, hostile_line, odd_size),
)


def broken(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    """A content that is broken in one way, and the name of that way."""
    way = rng.choice(BREAKS)
    return way.__name__, way(content, rng)


def odd_record(record: Any, rng: random.Random) -> Any:
    """A copy of a record in which one to three values are what nobody expects, or missing."""
    odd = copy.deepcopy(record)
    for _ in range(rng.choice((1, 1, 2, 3))):
        places = list(_places(odd))
        if not places:
            break
        holder, key = rng.choice(places)
        if rng.random() < 0.1:
            del holder[key]
        else:
            holder[key] = copy.deepcopy(rng.choice(_VALUES))
    return odd


def yaml_of(document: Any) -> bytes:
    """A record as people write it in a file."""
    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True).encode("utf-8")


def _places(holder: Any) -> Iterator[tuple[Any, Any]]:
    """Where values stand in a record: a table or a list, and the key in it."""
    pairs: list[tuple[Any, Any]] = []
    if isinstance(holder, dict):
        pairs = list(holder.items())
    elif isinstance(holder, list):
        pairs = list(enumerate(holder))
    for key, value in pairs:
        yield holder, key
        yield from _places(value)
