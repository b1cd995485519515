"""Pictures for sharing: the right size, small, the same each time, nothing cut off."""

from __future__ import annotations

import io
import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from flopbook.data.library import entry_ids
from flopbook.formulas import formulas
from scripts.website.build import cards
from scripts.website.build.cards import HEIGHT, WIDTH, CardNumber, SharingCard, card_file, picture
from scripts.website.build.handbook import chapters
from scripts.website.build.heads import SITE_CARD, card_files, head_of
from scripts.website.markup import front_matter
from scripts.website.pages import pairs
from scripts.website.pages.accelerators import entry_page
from scripts.website.pages.calculators import calculator_page

PLAIN = SharingCard("Chip", "A chip", "What it is.", (CardNumber("Peak", "1 PFLOP/s", "flop"),))


def pages() -> Mapping[str, str]:
    """Heads of every page that has a picture of its own, with long titles and sentences."""
    names = ["index.md", *(chapter.page for chapter in chapters())]
    names += [calculator_page(name) for name in formulas()]
    names += [entry_page(name) for name in entry_ids()]
    names += [pair.page for pair in pairs.all_pairs()]
    words = "A sentence that goes on for longer than three lines of a picture would hold. " * 4
    return {name: str(front_matter(f"Title of {name} that is long", words)) for name in names}


def _pixels(content: bytes) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    return np.asarray(Image.open(io.BytesIO(content)).convert("RGB"))


def test_a_picture_has_the_size_that_others_show_and_is_light() -> None:
    content = picture(PLAIN)
    image = Image.open(io.BytesIO(content))
    assert (image.size, image.format) == ((WIDTH, HEIGHT), "PNG")
    assert (WIDTH, HEIGHT) == (1200, 630) and len(content) < 30_000


def test_the_same_card_gives_the_same_bytes_and_another_does_not() -> None:
    assert picture(PLAIN) == picture(PLAIN)
    for other in (
        PLAIN._replace(title="B chip"),
        PLAIN._replace(kind="Chapter"),
        PLAIN._replace(words="What it was."),
        PLAIN._replace(numbers=()),
    ):
        assert picture(other) != picture(PLAIN)


def test_figures_have_the_colours_of_the_look() -> None:
    """Blue for arithmetic, orange for bytes, ink for the rest, on paper."""
    numbers = tuple(CardNumber(name, "1 x", name) for name in ("flop", "byte", "ink"))
    seen = {
        tuple(colour) for colour in _pixels(picture(PLAIN._replace(numbers=numbers))).reshape(-1, 3)
    }
    for colour in ((29, 95, 168), (168, 75, 10), (27, 31, 36), (252, 251, 248)):
        assert colour in seen


@pytest.mark.parametrize(
    "card",
    [
        SharingCard("Comparison", "NVIDIA H100 SXM5 80GB vs AMD Instinct MI300X", "w " * 200),
        SharingCard("Chip", "W" * 30, "Words without end " * 30, (CardNumber("x", "9" * 12),) * 4),
        SharingCard("Calculator", "One " * 40, ""),
        SharingCard("", "", ""),
    ],
    ids=["comparison", "wide", "long", "empty"],
)
def test_nothing_reaches_the_edge(card: SharingCard) -> None:
    """Paper all around, whatever the texts are."""
    image = _pixels(picture(card))
    for edge in (image[:, -8:], image[:, :8], image[:8], image[-8:]):
        assert (edge == (252, 251, 248)).all()


def test_a_kept_picture_is_taken_and_a_new_one_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    first = picture(PLAIN, folder)
    (kept,) = folder.iterdir()
    assert kept.read_bytes() == first == picture(PLAIN)
    kept.write_bytes(b"kept")
    assert picture(PLAIN, folder) == b"kept"
    assert picture(PLAIN._replace(title="Other"), folder) != b"kept"


def test_every_chip_chapter_calculator_and_comparison_has_one() -> None:
    """With names that no two pages share, and fast enough for a build: half a minute never."""
    texts = pages()
    drawn: list[SharingCard] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("scripts.website.build.heads.picture", lambda card, _: drawn.append(card))
        files = card_files(texts)
    assert len(files) == len(texts) == len(drawn) and SITE_CARD in files
    assert len(entry_ids()) + len(formulas()) < len(drawn)
    kinds = {card.kind.partition(" ")[0] for card in drawn}
    assert kinds == {"Parallelism", "Chapter", "Calculator", "Chip", "Comparison"}
    for card in drawn:
        assert card.title and card.words, card
        if card.kind == "Comparison":
            assert card.numbers, card.title
        for number in card.numbers:
            assert number.words[0].isdigit() and number.ramp in ("flop", "byte", "ink"), number


def test_a_picture_takes_a_few_milliseconds() -> None:
    """Of processor time, so that what else runs does not count; the first one loads the letters."""
    picture(PLAIN)
    begun = time.process_time()
    for _ in range(10):
        picture(PLAIN)
    assert (time.process_time() - begun) / 10 < 0.05


def test_names_of_files_follow_those_of_pages() -> None:
    assert card_file("index.md") == "assets/cards/index.png" == SITE_CARD
    assert card_file("calculators/memory.md") == "assets/cards/calculators-memory.png"
    assert card_file("accelerators/nvidia/index.md") == "assets/cards/accelerators-nvidia.png"
    assert cards.FOLDER in card_file("x.md")


def test_a_page_without_a_picture_has_that_of_the_site(tmp_path: Path) -> None:
    own = tmp_path / card_file("handbook/fsdp.md")
    own.parent.mkdir(parents=True)
    own.touch()
    assert head_of("handbook/fsdp.md", "t", "d", tmp_path).card == card_file("handbook/fsdp.md")
    assert head_of("check.md", "t", "d", tmp_path).card == SITE_CARD
    assert head_of("check.md", "t", "d", tmp_path).record == ""
    assert head_of("index.md", "t", "d", tmp_path).feeds == (), "no feed that is not there"


def test_a_record_cannot_end_its_element(tmp_path: Path) -> None:
    record = head_of("handbook/x.md", "</script><b>", "a & b", tmp_path).record
    assert "</script" not in record and "TechArticle" in record
