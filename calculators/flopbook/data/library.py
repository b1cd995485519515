"""The library: all data below one root, and the one way to it.

    >>> from flopbook.data.library import Library, using, entry
    >>> with using(Library(packaged().root)):
    ...     entry("h100-sxm").id
    'nvidia/h100-sxm'

A `Library` reads each file at most once. Outside of `using` the functions below look into the
folder that FLOPBOOK_DATA names, else into the data that came with the package.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from flopbook.data.accelerators import Entry
from flopbook.data.folders import VENDOR_FILE, folders_of, ids_of, missing_place, packaged, stems_in
from flopbook.errors import DataError, FlopbookError, Problem, UnknownName

if TYPE_CHECKING:  # read only by commands that need them: start-up counts
    from flopbook.data.glossary import Term
    from flopbook.data.link_status import LinkStatus
    from flopbook.data.models import Model
    from flopbook.data.reference import Reference
    from flopbook.data.spellings import ModelNames
    from flopbook.data.topics import Topic
    from flopbook.data.vendors import Vendor

VARIABLE = "FLOPBOOK_DATA"
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Library:
    """The data below a root: a checkout of the repository, or a folder of the same layout.

    `elsewhere` has the files of further accelerators, by id, which lie in another library. Raises
    FlopbookError when the root has no accelerators, or is no folder that can be read.
    """

    def __init__(self, root: Path, elsewhere: Mapping[str, Path] | None = None) -> None:
        self.folders = folders_of(root)
        self.root, self.elsewhere = root, elsewhere or {}
        self.accelerators = self.folders.accelerators
        self.bibliography = self.folders.bibliography
        self.models = self.folders.models
        self.docs = self.folders.docs
        self.memo: dict[Any, Any] = {}
        self._entries: dict[str, Entry] = {}
        self._models: dict[str, Model] = {}
        self._vendors: dict[str, Vendor] = {}
        if missing := missing_place(self.folders):
            mend = f"give the root of a checkout of flopbook, or unset {VARIABLE}"
            raise FlopbookError(f"{root} holds no data of flopbook (no {missing}); {mend}")

    def forget(self) -> None:
        """Forget what was read, so that files that changed are read again."""
        self.memo.clear()
        for kept in (self._entries, self._models, self._vendors):
            kept.clear()
        for name in [name for name in vars(self) if isinstance(_class_attribute(name), _Kept)]:
            delattr(self, name)

    @functools.cached_property
    def entry_ids(self) -> tuple[str, ...]:
        """All accelerator ids, sorted; from file names, without opening a file."""
        return ids_of({*stems_in(self.accelerators), *self.elsewhere})

    @functools.cached_property
    def vendor_ids(self) -> tuple[str, ...]:
        """All vendor ids, sorted."""
        return ids_of(path.parent.name for path in self.accelerators.glob(f"*/{VENDOR_FILE}"))

    @functools.cached_property
    def model_ids(self) -> tuple[str, ...]:
        """All model ids, sorted."""
        return ids_of(path.stem for path in self.models.glob("*.yaml"))

    def entry_path(self, entry_id: str) -> Path:
        """The file of an accelerator."""
        return self.elsewhere.get(entry_id) or self.accelerators / f"{entry_id}.yaml"

    def vendor_path(self, vendor_id: str) -> Path:
        """The file of a vendor."""
        return self.accelerators / vendor_id / VENDOR_FILE

    def model_path(self, model_id: str) -> Path:
        """The file of a model."""
        return self.models / f"{model_id}.yaml"

    def load_entry(self, entry_id: str) -> Entry:
        """The accelerator of this id. Raises DataError with all problems of its file."""
        if entry_id not in self._entries:
            from flopbook.data.catalogue import load_one

            self._entries[entry_id] = load_one(self.entry_path(entry_id), entry_id)
        return self._entries[entry_id]

    @functools.cached_property
    def heads(self) -> Mapping[str, Entry]:
        """Every accelerator that can be read, without its claims, by id."""
        if "_catalogue" in vars(self):  # all are read whole already
            return {name: head._replace(claims=()) for name, head in self._catalogue[0].items()}
        from flopbook.data.index import read_heads

        return read_heads(self.entry_path, self.entry_ids)

    def read_entries(self) -> tuple[dict[str, Entry], list[Problem]]:
        """The accelerators that can be read, by id, and the problems of the others."""
        entries, problems = self._catalogue
        return dict(entries), list(problems)

    @functools.cached_property
    def _catalogue(self) -> tuple[dict[str, Entry], tuple[Problem, ...]]:
        from flopbook.data.catalogue import read_catalogue

        entries, problems = read_catalogue(self.entry_path, self.entry_ids)
        self._entries |= entries
        return entries, problems

    def find_id(self, name: str) -> str:
        """The id of the accelerator of this name: an id, a product, an alias or a device name.

        Raises UnknownName with the nearest names, FlopbookError when it fits several entries.
        """
        from flopbook.data.entry_names import find_id

        return find_id(name, self.entry_ids, lambda: self.heads)

    def entry_names(self) -> list[str]:
        """Every id, product and alias, for messages that offer the nearest one."""
        from flopbook.data.entry_names import all_names

        return all_names(self.entry_ids, self.heads)

    def vendor(self, vendor_id: str) -> Vendor:
        """The vendor of this id. Raises UnknownName or DataError."""
        from flopbook.data.vendors import read_vendor

        if vendor_id not in self.vendor_ids:
            raise UnknownName("vendor", vendor_id, self.vendor_ids)
        if vendor_id not in self._vendors:
            self._vendors[vendor_id] = read_vendor(self.vendor_path(vendor_id), vendor_id)
        return self._vendors[vendor_id]

    def load_model(self, model_id: str) -> Model:
        """The model of this id. Raises DataError with all problems of its file."""
        from flopbook.data.catalogue import load_model

        if model_id not in self._models:
            self._models[model_id] = load_model(self.model_path(model_id), model_id)
        return self._models[model_id]

    def model(self, name: str) -> Model:
        """The model of this id or alias. Raises UnknownName or DataError."""
        key = name.strip().lower()
        if key in self.model_ids:
            return self.load_model(key)
        model_id = self.model_names.meant(key)
        if model_id is None:
            raise UnknownName("model", name, self.model_names.every)
        return self.load_model(model_id)

    @functools.cached_property
    def model_names(self) -> ModelNames:
        """What every model that can be read is called."""
        from flopbook.data.index import read_aliases
        from flopbook.data.spellings import ModelNames  # only where no id is exactly the name

        return ModelNames({name: read_aliases(self.model_path(name)) for name in self.model_ids})

    @functools.cached_property
    def source_tiers(self) -> dict[str, str]:
        """How good each source is, by key; a source of no tier is not in it."""
        from flopbook.data.index import scan_tiers

        return scan_tiers(self.bibliography)

    @functools.cached_property
    def reference_keys(self) -> frozenset[str]:
        """The keys of all references, without reading what they say."""
        from flopbook.data.index import scan_keys

        return frozenset(scan_keys(self.bibliography))

    @functools.cached_property
    def references(self) -> dict[str, Reference]:
        """All references, sorted by key. Raises DataError with every problem of every file."""
        from flopbook.data.references import read_references

        return read_references(self.bibliography)

    @functools.cached_property
    def topics(self) -> tuple[Topic, ...]:
        """The tree of topics. Raises DataError."""
        from flopbook.data.topics import FILE, read_topics

        return read_topics(self.bibliography / FILE)

    @functools.cached_property
    def glossary(self) -> tuple[Term, ...]:
        """All terms, in the order of their ids. Raises DataError."""
        from flopbook.data.glossary import FILE, read_glossary

        return read_glossary(self.bibliography / FILE)

    @functools.cached_property
    def link_statuses(self) -> dict[str, LinkStatus]:
        """Every link that fails, by address. Raises DataError."""
        from flopbook.data.link_status import FILE, read_link_statuses

        return read_link_statuses(self.bibliography / FILE)


_Kept = functools.cached_property


def _class_attribute(name: str) -> object:
    return getattr(Library, name, None)


@functools.cache
def _library_at(root: Path | None) -> Library:
    return Library(root or packaged().root)  # none is looked up faster than a path


_IN_USE: ContextVar[Library | None] = ContextVar("library", default=None)


def library() -> Library:
    """The library in use. Raises FlopbookError when FLOPBOOK_DATA names a folder that is none."""
    in_use = _IN_USE.get()
    if in_use is not None:
        return in_use
    named = os.environ.get(VARIABLE)
    return _library_at(Path(named).absolute() if named else None)


@contextmanager
def using(books: Library) -> Iterator[Library]:
    """Use this library inside the `with`."""
    token = _IN_USE.set(books)
    try:
        yield books
    finally:
        _IN_USE.reset(token)


def per_library(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Remember what a function makes of the library in use, once for each library and arguments."""

    @functools.wraps(function)
    def remembered(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        memo = library().memo
        key = (function, args, *sorted(kwargs.items()))
        if key not in memo:
            memo[key] = function(*args, **kwargs)
        result: Result = memo[key]
        return result

    return remembered


def entry_ids() -> tuple[str, ...]:
    """All accelerator ids, sorted.

    >>> "nvidia/h100-sxm" in entry_ids()
    True
    """
    return library().entry_ids


def vendor_ids() -> tuple[str, ...]:
    """All vendor ids, sorted."""
    return library().vendor_ids


def model_ids() -> tuple[str, ...]:
    """All model ids, sorted.

    >>> "llama-3-8b" in model_ids()
    True
    """
    return library().model_ids


def entry(name: str) -> Entry:
    """Look an accelerator up by id (`nvidia/h100-sxm`), product, alias or device name.

    >>> entry("h100-sxm5").id
    'nvidia/h100-sxm'
    >>> [claim.unit for claim in entry("h100-sxm").claims if claim.field == "peak"][0]
    'TFLOP/s'

    Raises UnknownName with the nearest ids, FlopbookError when a name fits several entries, and
    DataError when the entry's file is broken.
    """
    return load_entry(find_id(name))


def load_entry(entry_id: str) -> Entry:
    """An accelerator by its exact id. Raises DataError with all problems of its file."""
    return library().load_entry(entry_id)


def load_head(entry_id: str) -> Entry:
    """An accelerator, perhaps without its claims. Raises DataError as `load_entry` does."""
    from flopbook.data.vendor_heads import head_of

    return head_of(library(), entry_id) or load_entry(entry_id)


def load_entries() -> dict[str, Entry]:
    """Every accelerator by id, in order. Raises DataError with the problems of all files."""
    entries, problems = read_entries()
    if problems:
        raise DataError(problems)
    return entries


def read_entries() -> tuple[dict[str, Entry], list[Problem]]:
    """The accelerators that can be read, by id, and the problems of the others."""
    return library().read_entries()


def find_id(name: str) -> str:
    """The id of the accelerator of this name. Raises UnknownName or FlopbookError."""
    return library().find_id(name)


def vendor(vendor_id: str) -> Vendor:
    """The vendor of this id. Raises UnknownName or DataError."""
    return library().vendor(vendor_id)


def model(name: str) -> Model:
    """Look a model up by id or alias. Raises UnknownName or DataError."""
    return library().model(name)


def load_model(model_id: str) -> Model:
    """A model by its exact id. Raises DataError with all problems of its file."""
    return library().load_model(model_id)


def source_tiers() -> dict[str, str]:
    """How good each source is: key -> vendor, submission, secondary, press or community."""
    return library().source_tiers


def reference_keys() -> frozenset[str]:
    """The keys of all references, without reading what they say."""
    return library().reference_keys


def references() -> dict[str, Reference]:
    """All references, sorted by key. Raises DataError with every problem of every file."""
    return library().references


def reference(key: str) -> Reference:
    """One reference by key. Raises UnknownName with the nearest keys.

    >>> reference("williams2009roofline").year
    2009
    """
    works = references()
    if key not in works:
        raise UnknownName("reference", key, works)
    return works[key]


def topics() -> tuple[Topic, ...]:
    """The tree of topics. Raises DataError."""
    return library().topics


def glossary() -> tuple[Term, ...]:
    """All terms of the glossary, in the order of their ids. Raises DataError."""
    return library().glossary


def link_statuses() -> dict[str, LinkStatus]:
    """Every link that fails, by address. Raises DataError."""
    return library().link_statuses


def link_status(url: str) -> LinkStatus | None:
    """The status of a link that fails; None for one that works or was never checked."""
    from urllib.parse import urldefrag

    return link_statuses().get(urldefrag(url).url)
