"""The questions: phrases by topic, and the address that asks arXiv for them page by page."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import yaml

from flopbook.contributing import metadata
from flopbook.data.files import MAX_YAML_BYTES, read_text
from flopbook.errors import FlopbookError, UnknownName

PAGE = 100
_PHRASE = re.compile(r"[\w .-]{3,60}")
_CATEGORY = re.compile(r"[a-z-]+(?:\.[A-Za-z-]+)?")


class Query(NamedTuple):
    """What is asked for a topic."""

    topic: str
    phrases: tuple[str, ...]
    categories: tuple[str, ...]

    def address(self, start: int) -> str:
        """The page of results that begins at `start`, newest first."""
        fields = [f'{field}:"{phrase}"' for phrase in self.phrases for field in ("ti", "abs")]
        categories = [f"cat:{category}" for category in self.categories]
        parameters = {
            "search_query": f"({' OR '.join(fields)}) AND ({' OR '.join(categories)})",
            "start": start,
            "max_results": PAGE,
            "sortBy": "submittedDate",
            "sortOrder": "descending",
        }
        return f"{metadata.ARXIV}?{urlencode(parameters)}"


# What a file that is no YAML, or not of our form, makes of reading it.
_UNREADABLE = (
    OSError,
    UnicodeDecodeError,
    yaml.YAMLError,
    KeyError,
    TypeError,
    AttributeError,
)


def read_queries(path: Path, topics: Collection[str]) -> list[Query]:
    """The queries of a file.

    Raises FlopbookError for one that cannot be asked; `topics` are those of the bibliography.
    """
    try:
        document = yaml.load(read_text(path, MAX_YAML_BYTES), Loader=yaml.CSafeLoader)
        categories = tuple(document["categories"])
        queries = [
            Query(topic, tuple(phrases), categories)
            for topic, phrases in document["topics"].items()
        ]
    except _UNREADABLE as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise FlopbookError(
            f"{path.name} needs categories, and topics with a list of phrases each: {reason}"
        ) from None
    for query in queries:
        if query.topic not in topics:
            raise UnknownName("topic", str(query.topic), topics)
        if fault := _fault(query):
            raise FlopbookError(f"{path.name}: {query.topic}: {fault}")
    return queries


def _fault(query: Query) -> str:
    """What is wrong with a query, empty if nothing is."""
    for texts, form in ((query.phrases, _PHRASE), (query.categories, _CATEGORY)):
        for text in texts:
            if not isinstance(text, str) or not form.fullmatch(text):
                return f"'{text}' is no phrase or category"
    if not query.phrases or not query.categories:
        return "has no phrases or no categories"
    return ""
