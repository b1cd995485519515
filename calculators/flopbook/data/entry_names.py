"""Finding an accelerator by what people and drivers call it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from flopbook.data.accelerators import Entry
from flopbook.errors import FlopbookError, UnknownName, shorten

Heads = Mapping[str, Entry]

# 8xH100, 8 x H100, H100:8
_MANY = re.compile(r"(?P<before>\d+) ?[x*] ?(?P<chip>[a-z].*)|(?P<name>[a-z].*):(?P<after>\d+)")


def find_id(name: str, entry_ids: Sequence[str], heads: Callable[[], Heads]) -> str:
    """The id of the accelerator of this name: an id, a product, an alias or a device name.

    The heads are asked for only where the name is neither id nor product, for reading them takes
    longer than all else. Raises UnknownName with the nearest names, FlopbookError when the name
    fits several entries.
    """
    lower = name.strip().lower()
    if lower in entry_ids:
        return lower
    matching_ids = [entry_id for entry_id in entry_ids if entry_id.partition("/")[2] == lower]
    matching_ids = matching_ids or _ids_by_other_name(lower, heads())
    if len(matching_ids) == 1:
        return matching_ids[0]
    if matching_ids:
        listed = ", ".join(matching_ids)
        raise FlopbookError(f"'{shorten(name)}' fits several entries: {listed}; name one of them")
    many = _MANY.fullmatch(lower)
    if many:
        count = many["before"] or many["after"]
        chip = find_id(many["chip"] or many["name"], entry_ids, heads).partition("/")[2]
        raise FlopbookError(
            f"'{shorten(name)}' is several chips; name one, {chip}, and give --chips {count}"
        )
    if carriers := _ids_by_die(lower, heads()):
        raise FlopbookError(
            f"'{shorten(name)}' is a die; chips that carry it: {', '.join(carriers)}; name a chip"
        )
    hyphenated = "-".join(lower.replace("_", " ").split())
    if hyphenated != lower:
        return find_id(hyphenated, entry_ids, heads)
    raise UnknownName("chip", name, all_names(entry_ids, heads()))


def _ids_by_other_name(name: str, heads: Heads) -> list[str]:
    """Ids of which this is an alias, with or without the vendor, or a device name."""
    vendor, slash, product = name.rpartition("/")
    matching_ids = []
    for entry_id, head in heads.items():
        vendor_fits = not slash or entry_id.startswith(f"{vendor}/")
        is_alias = vendor_fits and product in head.aliases
        if is_alias or name in (device.lower() for device in head.device_names):
            matching_ids.append(entry_id)
    return matching_ids


def _ids_by_die(name: str, heads: Heads) -> list[str]:
    """Ids of what carries this die, which is more than one product as a rule."""
    typed = _joined(name)
    return [
        entry_id for entry_id, head in heads.items() if head.die and typed == _joined(head.die.name)
    ]


def _joined(name: str) -> str:
    """A name in lower case without blanks and hyphens: 'Navi 31' and 'navi-31' are one."""
    return re.sub(r"[\s_-]+", "", name.lower())


def all_names(entry_ids: Sequence[str], heads: Heads) -> list[str]:
    """Every id, product and alias, for messages that offer the nearest one."""
    products = [entry_id.partition("/")[2] for entry_id in entry_ids]
    aliases = [alias for head in heads.values() for alias in head.aliases]
    return [*entry_ids, *products, *aliases]
