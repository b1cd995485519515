"""The only reader of accelerator, vendor and model YAML: id -> immutable records.

An entry is validated once, while it is read, and all of its problems are raised together. Entries
are loaded one by one, so a command that looks up one chip opens one file.
"""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from flopbook import accelerators as _accelerators
from flopbook import models as _models
from flopbook.data.claims import NONE, NOT_PUBLISHED, Claim
from flopbook.data.schema import check, load_schema, text_problems
from flopbook.data.yaml_text import Node, parse_yaml, read_yaml
from flopbook.errors import DataError, FlopbookError, Problem, UnknownName, shorten, show_path

if TYPE_CHECKING:
    from flopbook.data.names import Names

ACCELERATORS = Path(_accelerators.__file__).parent
MODELS = Path(_models.__file__).parent
# Words of a model's shape; "none" is one of them and no missing value.
WORD_FIELDS = ("ffn", "tied_embeddings", "positions", "biases", "norm", "qk_norm")
TEXT_FIELDS = (
    "announced",
    "launched",
    "process",
    "form_factor",
    "compute_capability",
    *WORD_FIELDS,
)


class Part(NamedTuple):
    """`count` of the entry `ref` inside another entry."""

    ref: str
    count: int


class Status(NamedTuple):
    """Where a product stands, as of a date, by a source."""

    state: str
    as_of: datetime.date
    source: str
    note: str = ""


class Staleness(NamedTuple):
    """After how many days an entry is to be read again, and why not the usual number."""

    days: int
    reason: str


class Entry(NamedTuple):
    """One product: what it is, what it is made of, and its claims in the order written."""

    id: str
    kind: str
    name: str
    vendor: str
    summary: str
    claims: tuple[Claim, ...]
    family: str = ""
    notes: str = ""
    aliases: tuple[str, ...] = ()
    device_names: tuple[str, ...] = ()
    variant_of: str = ""
    contains: tuple[Part, ...] = ()
    status: tuple[Status, ...] = ()
    exceptions: Mapping[str, str] = {}
    stale_after: Staleness | None = None
    file: str = ""

    @property
    def computes(self) -> bool:
        """True for what calculators compute with: a chip, or a card of which no parts are recorded."""
        return self.kind in ("package", "die") or (self.kind == "card" and not self.contains)


class Fact(NamedTuple):
    """A fact about a vendor with its source and date."""

    field: str
    value: str
    source: str
    as_of: datetime.date
    date: str = ""
    quote: str = ""
    locator: str = ""
    note: str = ""


READING = ("white_papers", "media", "research")


class Vendor(NamedTuple):
    """A company that makes accelerators."""

    id: str
    name: str
    website: str
    summary: str
    country: str = ""
    facts: tuple[Fact, ...] = ()
    white_papers: tuple[str, ...] = ()
    media: tuple[str, ...] = ()
    research: tuple[str, ...] = ()


class Model(NamedTuple):
    """A published model: its shape and training, each value a claim."""

    id: str
    kind: str
    name: str
    developer: str
    summary: str
    claims: tuple[Claim, ...]
    family: str = ""
    notes: str = ""
    aliases: tuple[str, ...] = ()
    file: str = ""


@functools.cache
def entry_ids(root: Path = ACCELERATORS) -> tuple[str, ...]:
    """All accelerator ids, sorted; read from file names without opening a file.

    >>> "nvidia/h100-sxm" in entry_ids()
    True
    """
    found = (f"{p.parent.name}/{p.stem}" for p in root.glob("*/*.yaml") if p.name != "vendor.yaml")
    return tuple(sorted(found))


def field_names() -> tuple[str, ...]:
    """All fields that a claim of an accelerator may have, in the order of the schema."""
    claim = load_schema(ACCELERATORS / "schema.json")["$defs"]["claim"]
    return tuple(claim["properties"]["field"]["enum"])


def dtype_names() -> tuple[str, ...]:
    """All number formats that a claim may name, without `unstated`."""
    claim = load_schema(ACCELERATORS / "schema.json")["$defs"]["claim"]
    return tuple(name for name in claim["properties"]["dtype"]["enum"] if name != "unstated")


def vendor_ids(root: Path = ACCELERATORS) -> tuple[str, ...]:
    """All vendor ids, sorted."""
    return tuple(sorted(p.parent.name for p in root.glob("*/vendor.yaml")))


def model_ids(root: Path = MODELS) -> tuple[str, ...]:
    """All model ids, sorted.

    >>> "llama-3-8b" in model_ids()
    True
    """
    return tuple(sorted(p.stem for p in root.glob("*.yaml")))


def entry(name: str, root: Path = ACCELERATORS) -> Entry:
    """Look an accelerator up by id (`nvidia/h100-sxm`), product, alias or device name.

    >>> entry("h100-sxm5").id, [claim.unit for claim in entry("h100-sxm").claims if claim.field == "peak"][0]
    ('nvidia/h100-sxm', 'TFLOP/s')

    Raises UnknownName with the nearest ids, FlopbookError when a name fits several entries, and
    DataError when the entry's file is broken.
    """
    return load_entry(find_id(name, root), root)


_READ: dict[tuple[Path, str], Entry] = {}


def load_entry(entry_id: str, root: Path = ACCELERATORS) -> Entry:
    """Read one entry by its exact id, once. Raises DataError with all of its problems."""
    found = _READ.get((root, entry_id))
    if found is None:
        found = _READ[root, entry_id] = _read_entry(entry_id, root)
    return found


load_entry.cache_clear = _READ.clear  # type: ignore[attr-defined]


def remember(found: Mapping[str, Entry], root: Path) -> None:
    """Entries that are known to be what their files say, so that `load_entry` need not read them
    again.
    """
    _READ.update({(root, name): item for name, item in found.items()})


def _read_entry(entry_id: str, root: Path) -> Entry:
    path = root / f"{entry_id}.yaml"
    data = _checked(path, load_schema(ACCELERATORS / "schema.json"), entry_id)
    file = show_path(path)
    return _entry(
        _dated(data.plain()), tuple(_claim(node, file) for node in data.value["claims"].value), file
    )


def load_head(entry_id: str, root: Path = ACCELERATORS) -> Entry:
    """An entry without its claims, read from the lines above them: a list of all entries needs no
    more.

    What is not written in the usual order is read as a whole. Raises DataError as `load_entry`
    does.
    """
    path = root / f"{entry_id}.yaml"
    head, claims, after = path.read_bytes().decode("utf-8", "replace").partition("\nclaims:")
    if claims and not re.search(r"^[^\s#-]", after.partition("\n")[2], re.MULTILINE):
        try:
            found = _entry(_dated(parse_yaml(head, "").plain()), (), show_path(path))
            if (
                found.status
                and found.id == entry_id
                and isinstance(found.name, str)
                and isinstance(found.kind, str)
            ):
                return found
        except (DataError, KeyError, TypeError, ValueError):
            pass  # what is wrong is said by the reader of the whole
    return load_entry(entry_id, root)


def _entry(raw: Mapping[str, Any], claims: tuple[Claim, ...], file: str) -> Entry:
    return Entry(
        claims=claims,
        contains=tuple(Part(p["ref"], int(p["count"])) for p in raw.get("contains", ())),
        status=tuple(_only(Status, s) for s in raw["status"]),
        aliases=tuple(raw.get("aliases", ())),
        device_names=tuple(raw.get("device_names", ())),
        exceptions=raw.get("exceptions", {}),
        stale_after=_only(Staleness, raw["stale_after"]) if "stale_after" in raw else None,
        file=file,
        **{
            k: raw[k]
            for k in ("id", "kind", "name", "vendor", "summary", "family", "notes", "variant_of")
            if k in raw
        },
    )


@functools.lru_cache(maxsize=512)
def vendor(vendor_id: str, root: Path = ACCELERATORS) -> Vendor:
    """Read a vendor. Raises UnknownName or DataError."""
    path = root / vendor_id / "vendor.yaml"
    if vendor_id not in vendor_ids(root):
        raise UnknownName("vendor", vendor_id, vendor_ids(root))
    data = _checked(path, load_schema(ACCELERATORS / "vendor.schema.json"), vendor_id)
    raw = _dated(data.plain())
    facts = tuple(
        _only(Fact, fact | {key: str(fact[key]) for key in ("value", "date") if key in fact})
        for fact in raw.pop("facts", ())
    )
    lists = {name: tuple(raw.pop(name, ())) for name in READING}
    return Vendor(facts=facts, **lists, **raw)


def model(name: str, root: Path = MODELS) -> Model:
    """Look a model up by id or alias. Raises UnknownName or DataError."""
    key = name.strip().lower()
    if key in model_ids(root):
        return load_model(key, root)
    others = _other_names(model_ids(root), root)
    for model_id, names in others.items():
        if key in names.aliases:
            return load_model(model_id, root)
    raise UnknownName(
        "model", name, [*others, *(alias for names in others.values() for alias in names.aliases)]
    )


@functools.lru_cache(maxsize=512)
def load_model(model_id: str, root: Path = MODELS) -> Model:
    """Read one model by its exact id. Raises DataError with all of its problems."""
    path = root / f"{model_id}.yaml"
    data = _checked(path, load_schema(MODELS / "schema.json"), model_id)
    raw = _dated(data.plain())
    file = show_path(path)
    claims = tuple(_claim(node, file) for node in data.value["claims"].value)
    aliases = tuple(raw.get("aliases", ()))
    rest = {k: v for k, v in raw.items() if k not in ("claims", "aliases")}
    return Model(claims=claims, aliases=aliases, file=file, **rest)


def find_id(name: str, root: Path = ACCELERATORS) -> str:
    """The id of the accelerator of this name, without reading its entry.

    Raises UnknownName or FlopbookError.
    """
    ids = entry_ids(root)
    lower = name.strip().lower()
    if lower in ids:
        return lower
    found = [i for i in ids if i.partition("/")[2] == lower] or list(
        _by_other_name(lower, ids, root)
    )
    if len(found) == 1:
        return found[0]
    if found:
        raise FlopbookError(
            f"'{shorten(name)}' fits several entries: {', '.join(found)}; name one of them"
        )
    products = [i.partition("/")[2] for i in ids]
    aliases = [alias for names in _other_names(ids, root).values() for alias in names.aliases]
    raise UnknownName("chip", name, [*ids, *products, *aliases])


def _other_names(ids: tuple[str, ...], root: Path) -> dict[str, Names]:
    from flopbook.data.names import other_names  # most look-ups are by id

    return other_names(ids, root)


def _by_other_name(name: str, ids: tuple[str, ...], root: Path) -> Iterator[str]:
    """Ids whose alias, with or without the vendor, or device name fits."""
    vendor_part, slash, product = name.rpartition("/")
    for entry_id, names in _other_names(ids, root).items():
        vendor_fits = not slash or entry_id.startswith(f"{vendor_part}/")
        if (vendor_fits and product in names.aliases) or name in (
            n.lower() for n in names.device_names
        ):
            yield entry_id


def _checked(path: Path, schema: Mapping[str, Any], expected_id: str) -> Node:
    data, file = read_yaml(path), show_path(path)
    problems = [
        *check(data, schema, file),
        *text_problems(data, file),
        *_id_problems(data, file, expected_id),
    ]
    if problems:
        raise DataError(problems)
    return data


def _id_problems(data: Node, file: str, expected: str) -> Iterator[Problem]:
    """The id is the path, so that an entry is found without an index; the vendor is its folder."""
    wanted = {"id": expected, "vendor": expected.partition("/")[0]}
    for key, value in wanted.items():
        if data.get(key) not in (None, value):
            at = data.value[key]
            mend = "make it equal the file's path, or move the file"
            yield Problem(
                file,
                at.line,
                at.column,
                "path",
                f"{key} '{shorten(data.get(key))}'",
                f"'{value}'",
                mend,
            )


def _dated(raw: Any, key: str = "") -> Any:
    """`as_of` as a date whether it was quoted or not; any other text that looks like a date as
    text.
    """
    if isinstance(raw, dict):
        return {name: _dated(value, name) for name, value in raw.items()}
    if isinstance(raw, list):
        return [_dated(value) for value in raw]
    if key == "as_of" and isinstance(raw, str):
        return datetime.date.fromisoformat(raw)
    return raw.isoformat() if isinstance(raw, datetime.date) and key != "as_of" else raw


def _claim(node: Node, file: str) -> Claim:
    raw = _dated(node.plain())
    if raw["value"] == NOT_PUBLISHED or (raw["value"] == NONE and raw["field"] not in WORD_FIELDS):
        raw |= {"value": None, "absent": raw["value"] == NONE}
    elif raw["field"] in TEXT_FIELDS:
        raw["value"] = str(raw["value"])
    return Claim(**raw, file=file, line=node.line)


def _only(kind: Any, raw: Mapping[str, Any]) -> Any:
    names = kind._fields
    return kind(**{key: value for key, value in raw.items() if key in names})
