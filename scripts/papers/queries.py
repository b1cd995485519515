"""The questions: phrases by topic, and the address that asks arXiv for them page by page."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import yaml

from flopbook.contributing import metadata
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
        phrases = " OR ".join(
            f'{field}:"{phrase}"' for phrase in self.phrases for field in ("ti", "abs")
        )
        categories = " OR ".join(f"cat:{one}" for one in self.categories)
        asked = {
            "search_query": f"({phrases}) AND ({categories})",
            "start": start,
            "max_results": PAGE,
        }
        return f"{metadata.ARXIV}?{urlencode(asked | {'sortBy': 'submittedDate', 'sortOrder': 'descending'})}"


def read_queries(path: Path, known: Collection[str]) -> list[Query]:
    """The queries of a file.

    Raises FlopbookError for one that cannot be asked; `known` are the topics there are.
    """
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        categories = tuple(data["categories"])
        found = [
            Query(topic, tuple(phrases), categories) for topic, phrases in data["topics"].items()
        ]
    except (
        OSError,
        UnicodeDecodeError,
        yaml.YAMLError,
        KeyError,
        TypeError,
        AttributeError,
    ) as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise FlopbookError(
            f"{path.name} needs categories, and topics with a list of phrases each: {said}"
        ) from None
    for query in found:
        if query.topic not in known:
            raise UnknownName("topic", str(query.topic), known)
        texts = [(one, _PHRASE) for one in query.phrases] + [
            (one, _CATEGORY) for one in query.categories
        ]
        wrong = [one for one, form in texts if not isinstance(one, str) or not form.fullmatch(one)]
        if wrong or not query.phrases or not query.categories:
            said = (
                f"'{wrong[0]}' is no phrase or category"
                if wrong
                else "has no phrases or no categories"
            )
            raise FlopbookError(f"{path.name}: {query.topic}: {said}")
    return found
