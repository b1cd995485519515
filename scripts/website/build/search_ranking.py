"""Ranks the cards of the search for a question.

`docs/assets/flopbook/search/ranking.js` has the same functions; a test holds both equal.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from scripts.website.build.search_comparison import compared, comparisons
from scripts.website.build.search_settings import kindred, settings
from scripts.website.build.search_text import (
    Words,
    atoms,
    concepts,
    is_near,
    named,
    options,
    stem,
    stems_of,
)
from scripts.website.build.search_text import (
    number as number_in,
)

PREFIX_SHARE = 0.6
CONCEPT_SHARE = 0.9
TAKEN = 2.0  # what a name is worth to a calculator that takes it
FACT = 3.0  # what a word such as "bandwidth" is worth to the page of a chip that is named
SET = 3.0  # what a setting that no page names is worth to the pages about settings
SLIGHT = 0.3  # the share of a word that says little of what is meant
NAMED, ASKED, DEFINED, PLANNED, CITED, ANSWERED = 1.5, 1.6, 2.0, 3.0, 3.0, 0.5
# For the work that introduced a thing, the table of all chips, and the page of serving.
FIRST, LISTED, SERVED = 6.0, 3.0, 2.0
LEAST_COVERED = 0.45  # either of two words that tell much the same
# With fewer answers, the chapters are asked that speak of what is looked for; these come last.
FEW, SPOKEN = 3, 1e-3
MOST = 10
LONGEST = 24  # words of a question
LONGEST_OPTION = 6  # words of an option of a program
_SIZE = re.compile(r"[0-9]+(?:\.[0-9]+)?[bm]?")
_NUMBERED = re.compile(r"[a-z]+[0-9]+[a-z0-9]*")
_TITLE_END = re.compile(r": | \(")


class Hit(NamedTuple):
    """A card that answers, with its score and the share of the question that it covers."""

    location: str
    title: str
    kind: str
    score: float
    covered: float


class Index(NamedTuple):
    """Cards, tokens with what each weighs on a card, and the names of chips and models."""

    words: Words
    cards: Sequence[Sequence[Any]]
    tokens: Mapping[str, Mapping[str, float]]
    chips: Mapping[str, Sequence[str]]
    models: Mapping[str, str]


def search(question: str, index: Index) -> list[Hit]:
    """The best cards for a question, best first; a comparison of two chips before all."""
    asked = _Question(question, index)
    if not asked.wanted:
        return []
    scores: dict[int, list[float]] = {}
    total = 0.0
    for number, weight in enumerate(asked.idfs):
        found = asked.matches(number)
        # A word that no card has says nothing about which of them is meant.
        total += weight if found else 0.0
        for card, share in found.items():
            scores.setdefault(card, [0.0] * len(asked.wanted))[number] = weight * share
    hits = [_hit(index, card, got, asked, total) for card, got in scores.items()]
    hits.sort(key=lambda hit: (-hit.score, hit.location))
    best = _once([hit for hit in hits if hit.covered >= LEAST_COVERED])
    # Where few cards have half of a question, the best of a quarter are better than none.
    if len(best) < FEW:
        best = _once([hit for hit in hits if hit.covered >= LEAST_COVERED / 2])
    if len(best) < FEW:
        best += _speaking(asked, index, {_page(hit) for hit in best})
    first = _comparison(question, index)
    places = {hit.location for hit in first}
    others = (hit for hit in best if hit.location not in places)
    return [*first, *(_with_state(hit, asked, index) for hit in others)][:MOST]


def _once(hits: Sequence[Hit]) -> list[Hit]:
    """The best of the cards of a chapter, which has one itself and one for each symptom."""
    best: dict[str, Hit] = {}
    for hit in hits:
        best.setdefault(_page(hit), hit)
    return list(best.values())


def _page(hit: Hit) -> str:
    return hit.location.partition("#")[0] if hit.kind == "symptoms" else hit.location


def _speaking(asked: _Question, index: Index, shown: set[str]) -> list[Hit]:
    """Chapters that speak of what is asked, where titles and keywords say too little of it."""
    told: dict[int, list[float]] = {}
    for word in asked.wanted:
        held = index.tokens.get(f"~{word}", {})
        for card in held:
            told.setdefault(int(card), []).append(SPOKEN / len(held))
    share = 1 / len(asked.wanted)
    hits = [
        Hit(location, title, kind, sum(rare), share * len(rare))
        for card, rare in told.items()
        for location, title, kind, _ in (index.cards[card],)
    ]
    hits.sort(key=lambda hit: (-hit.score, hit.location))
    return [hit for hit in hits if hit.location not in shown]


class _Question:
    """A question cut into the words that count, with what may answer each."""

    def __init__(self, question: str, index: Index) -> None:
        self.index = index
        every = [corrected(atom, index) for atom in atoms(question)[:LONGEST]]
        self.stops = set(index.words["stop"])
        kept = [n for n, atom in enumerate(every) if atom not in self.stops]
        kept = kept or list(range(len(every)))
        self.plain = [every[n] for n in kept]
        self.every = every
        self.places = kept
        endings = index.words["endings"]
        self.stems = [stem(atom, endings) for atom in every]
        self.wanted = [self.stems[n] for n in kept]
        self.with_pairs = {*self.wanted, *(a + b for a, b in itertools.pairwise(every))}
        self.cites = not set(index.words["cites"]).isdisjoint(every)
        self.settings = settings(question)
        self.idfs = [self._idf(n) for n in range(len(self.wanted))]
        self.is_last = [n == len(every) - 1 for n in kept]
        self.senses = {f"#{concept}" for concept, _, _ in concepts(self.stems, index.words)}
        self.models = named(every, {name: (to,) for name, to in index.models.items()})
        free = [every[n] if not self._is_model(n) else "" for n in range(len(every))]
        self.chips = named(free, index.chips)
        self.asks = not set(index.words["asks"]).isdisjoint(every)
        self.defines = not set(index.words["defines"]).isdisjoint(every)
        self.serves = bool(self.models) and not set(index.words["serves"]).isdisjoint(every)
        self.firsts = set(self._firsts()) if self.cites else set()
        self.lists = not self.chips and all(
            not set(index.words[kind]).isdisjoint(every) for kind in ("lists", "facts")
        )
        self.count = self._count()
        self.is_question = bool(every) and every[0] in index.words["opens"]
        self.options = [*options(question), *self._spaced_options()]
        self.unknown = [one for one in self.settings if f"={''.join(one[0])}" not in index.tokens]
        self.options += [
            (token, first, end)
            for parts, first, end in self.unknown
            for token in kindred(parts, index.tokens)
        ]

    def _spaced_options(self) -> Iterator[tuple[str, int, int]]:
        """Options whose words are typed apart: "max num seqs" is max_num_seqs.

        Two words are no option: "batch size" is asked for by itself.
        """
        for first in range(len(self.every)):
            for end in range(first + 3, min(first + LONGEST_OPTION, len(self.every)) + 1):
                token = f"={''.join(self.every[first:end])}"
                if token in self.index.tokens:
                    yield token, first, end

    def _is_model(self, place: int) -> bool:
        return any(first <= place < end for first, end, _ in self.models)

    def _firsts(self) -> Iterator[str]:
        """The works that introduced what a question names, or names and nothing else: vLLM paper.

        Other words ask for other works: papers on FlashAttention for AMD. A company there is what
        they are about, and writes none of them.
        """
        words = self.index.words
        is_asked = not set(words["invents"]).isdisjoint(self.every)
        said = {*words["cites"], *words["writers"]}
        left = [
            n
            for n in self.places
            if self.every[n] not in said or (n and self.every[n - 1] in words["subjects"])
        ]
        for first, last in itertools.combinations(range(len(self.stems) + 1), 2):
            place = words["firsts"].get(" ".join(self.stems[first:last]))
            if place and (is_asked or all(first <= n < last for n in left)):
                yield place

    def _count(self) -> int:
        """How many chips a question names: 64 H100, 8 GPUs, H100 x8; none where it does not."""
        words, every = self.index.words, self.every
        places = [(first, end) for first, end, _ in self.chips]
        places = places or [(n, n + 1) for n, atom in enumerate(every) if atom in words["called"]]
        for first, end in places:
            before = first - 1
            while before > 0 and every[before] in words["beside"]:
                before -= 1
            after = every[end] if end < len(every) and every[end][0] == "x" else ""
            counts = [self._counted(before) if before >= 0 else 0, number_in(after)]
            if any(counts):
                return max(counts)
        return 0

    def _counted(self, place: int) -> int:
        """The number at a place, unless it belongs to a name, as in Llama 3."""
        words, word = self.index.words, self.every[place]
        joined = self.every[place - 1] + word if place else "-"
        if self._is_model(place) or any(name.startswith(joined) for name in self.index.models):
            return 0
        return int(words["numbers"].get(word, 0)) or number_in(word)

    def _idf(self, number: int) -> float:
        """How much a word tells: rare ones tell more, single letters and digits little."""
        word = self.wanted[number]
        held = len(self.index.tokens.get(word, ()))
        rare = self._rarity(held)
        plain = SLIGHT * rare if self._is_slight(number) else rare
        # Words that say little alone may say much together: 6 N D.
        place, tokens = self.places[number], self.index.tokens
        together = (
            self._rarity(len(tokens.get(f"#{concept}", ()))) / (end - first)
            for concept, first, end in concepts(self.stems, self.index.words)
            if first <= place < end and end - first > 1
        )
        return max(plain, *together, 0.0)

    def _is_slight(self, number: int) -> bool:
        """Whether a word says little: a letter, a size, LLM, who wrote a work, num of a setting."""
        word, place, words = self.wanted[number], self.places[number], self.index.words
        is_filler = any(first <= place < end for _, first, end in self.settings)
        is_unit = self.every[place] in words["units"] and place > 0
        return (
            len(word) < 2
            or self.every[place] in words["everywhere"]
            or _SIZE.fullmatch(word) is not None
            or (is_unit and _SIZE.fullmatch(self.every[place - 1]) is not None)
            or (self.cites and self.every[place] in words["writers"])
            or (is_filler and self.every[place] in words["fillers"])
        )

    def _rarity(self, held: int) -> float:
        """How much it tells that so many cards have something."""
        return math.log(1 + len(self.index.cards) / (1 + held))

    def matches(self, number: int) -> dict[int, float]:
        """Card -> how well it answers one word: by itself, with its neighbour, or by its sense."""
        scores: dict[int, float] = {}
        word, place = self.wanted[number], self.places[number]
        exact = self._put(scores, word, 1.0)
        for first in (place - 1, place):
            if first >= 0 and first + 1 < len(self.every):
                exact |= self._put(scores, self.every[first] + self.every[first + 1], 1.1)
        for concept, start, end in concepts(self.stems, self.index.words):
            if start <= place < end:
                exact |= self._put(scores, f"#{concept}", CONCEPT_SHARE)
        for option, start, end in self.options:
            if start <= place < end:
                exact |= self._put(scores, option, 1.0)
        self._put_taken(scores, place)
        self._put_set(scores, place)
        self._put_fact(scores, place)
        # Who is still typing, and who leaves the end of a chip's number out: MI300.
        is_begun = self.is_last[number] or _NUMBERED.fullmatch(word) is not None
        if not exact or (is_begun and len(word) > 2):
            self._put_begun(scores, word)
        return scores

    def _put_taken(self, found: dict[int, float], place: int) -> None:
        """A calculator answers the name of a model or a chip that it takes."""
        for spans, takers in ((self.models, "model_cards"), (self.chips, "chip_cards")):
            if any(first <= place < end for first, end, _ in spans):
                for card in self.index.words[takers]:
                    found[card] = max(found.get(card, 0.0), TAKEN)

    def _put_set(self, found: dict[int, float], place: int) -> None:
        """The pages about settings answer one that no page names."""
        if any(first <= place < end for _, first, end in self.unknown):
            for card in self.index.words["setting_cards"]:
                found[card] = max(found.get(card, 0.0), SET)

    def _put_fact(self, found: dict[int, float], place: int) -> None:
        """The page of a chip answers words that ask for a figure of it."""
        if self.every[place] not in self.index.words["facts"]:
            return
        pages = {f"accelerators/{name[0]}/" for _, _, name in self.chips}
        for card, row in enumerate(self.index.cards):
            if row[0] in pages:
                found[card] = max(found.get(card, 0.0), FACT)

    def _put(self, found: dict[int, float], token: str, share: float) -> bool:
        held = self.index.tokens.get(token)
        if held is None:
            return False
        for card, weight in held.items():
            found[int(card)] = max(found.get(int(card), 0.0), weight * share)
        return True

    def _put_begun(self, found: dict[int, float], word: str) -> None:
        """Words that begin so."""
        if len(word) <= 2:
            return
        for token in self.index.tokens:
            if token.startswith(word) and token != word:
                self._put(found, token, PREFIX_SHARE)


def corrected(atom: str, index: Index) -> str:
    """The word that is meant where no card knows one: the commonest that is one slip away."""
    word = stem(atom, index.words["endings"])
    is_known = atom in index.words["stop"] or any(
        word in phrase.split() for phrase in index.words["phrases"]
    )
    if len(atom) < 5 or is_known or any(token.startswith(word) for token in index.tokens):
        return atom
    near = [token for token in index.tokens if token[0] not in "#=~" and is_near(word, token)]
    # A slip in an ending keeps it from going: activaton.
    near += [
        atom[:end]
        for end in range(3, len(atom))
        if atom[:end] in index.tokens
        and any(is_near(atom, atom[:end] + ending) for ending in index.words["endings"])
    ]
    return max(near, key=lambda token: (len(index.tokens[token]), token), default=atom)


def _hit(index: Index, card: int, got: Sequence[float], asked: _Question, total: float) -> Hit:
    location, title, kind, _ = index.cards[card]
    covered = sum(idf for idf, score in zip(asked.idfs, got, strict=True) if score > 0) / total
    boost = index.words["kinds"][kind]["boost"] * _title_share(title, asked)
    if any(location == f"accelerators/{name[0]}/" for _, _, name in asked.chips):
        boost *= NAMED
    if asked.asks and kind == "calculators":
        boost *= ASKED
    # Who names a model and a chip asks whether the one runs on the other.
    if asked.models and asked.chips and location in index.words["planners"]:
        boost *= PLANNED
    if asked.defines and kind == "glossary":
        boost *= DEFINED
    if asked.is_question and not asked.cites and kind == "works":
        boost *= ANSWERED
    if asked.cites and kind in ("topics", "works"):
        boost *= CITED
    if location in asked.firsts:
        boost *= FIRST
    if asked.lists and location == "accelerators/":
        boost *= LISTED
    if asked.serves and location == "serve/":
        boost *= SERVED
    return Hit(location, title, kind, sum(got) * covered**2 * boost, covered)


def _title_share(title: str, asked: _Question) -> float:
    """More for a title of which a question says more."""
    words = asked.index.words
    stems = stems_of(_TITLE_END.split(title)[0], words["endings"])
    is_asked = [word in asked.with_pairs for word in stems]
    for concept, first, end in concepts(stems, words):
        if f"#{concept}" in asked.senses:
            is_asked[first:end] = [True] * (end - first)
    counted = [
        is_match for is_match, word in zip(is_asked, stems, strict=True) if word not in asked.stops
    ] or is_asked
    return 0.6 + 0.8 * sum(counted) / max(1, len(counted))


def _comparison(question: str, index: Index) -> list[Hit]:
    """The comparison of two chips, where a question names two and a word that compares."""
    chips = compared(question, atoms(question)[:LONGEST], index.chips)
    if len(chips) < 2:
        return []
    kinds = {location: kind for location, _, kind, _ in index.cards}
    found = comparisons(chips, index.words["pairs"])
    return [
        Hit(place, title, kinds.get(place, "comparison"), 1000.0, 1.0) for place, title in found
    ]


def _with_state(hit: Hit, asked: _Question, index: Index) -> Hit:
    """A calculator opens with what a question names and it takes: model, chip, count of chips."""
    if hit.kind != "calculators":
        return hit
    taken = [
        f"{option}={spans[0][2][0]}"
        for option, spans in (("model", asked.models), ("chip", asked.chips))
        if spans and hit.location in index.words["takes"][option]
    ]
    if asked.count and taken and hit.location in index.words["takes"]["chips"]:
        taken.append(f"chips={asked.count}")
    return hit._replace(location=f"{hit.location}?{'&'.join(taken)}") if taken else hit
