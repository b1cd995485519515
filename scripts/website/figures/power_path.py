"""The path of power: from the site through its servers to the chips, and what is lost on it."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.data.library import load_entry
from flopbook.hardware.chip import chip
from scripts.website.figures.drawing import Figure, Sheet, box, words
from scripts.website.figures.plotted import FigureValue

SERVER, CHIP, CHIPS, PUE = "nvidia/dgx-h100", "h100-sxm", 8, 1.1
_BAR = 30.0


class PowerStage(NamedTuple):
    """A place on the path: its name, its power, and what takes the rest before the next."""

    name: str
    watts: float
    taken_by: str = ""


def stages(pue: float = PUE) -> list[PowerStage]:
    """Site, server and chips, for one server under full load (W)."""
    claims = load_entry(SERVER).claims
    server = next(claim.si_value for claim in claims if claim.field == "power")
    assert server is not None
    return [
        PowerStage("from the grid", pue * server, "cooling, transformers, rectifiers"),
        PowerStage("into the server", server, "hosts, network cards, switches, fans"),
        PowerStage("into the GPUs", CHIPS * chip(CHIP).power()),
    ]


def figure() -> Figure:
    """Three bars that get shorter, each with what was taken before it."""
    path = stages()
    whole = path[0].watts
    told = "; ".join(f"{stage.name} {_kilo(stage)}" for stage in path)
    return Figure(
        f"Of 100 watts from the grid {100 * path[-1].watts / whole:.0f} reach the GPUs",
        f"Bars of power for one server of eight GPUs, one under the other: {told}.",
        f"A DGX H100 as its data sheet rates it, in a building with a PUE of {PUE}. The hollow "
        "part of a bar is what has not arrived. Add up the power of the chips alone, and you order "
        "half of what the hall has to deliver.",
        158,
        tuple(_bars(path, 130, 460, 8)),
        narrow=Sheet(344, 218, tuple(_bars(path, 4, 330, 26))),
        readings=tuple(FigureValue(SERVER, stage.name, stage.watts, "W") for stage in path),
    )


def _kilo(stage: PowerStage) -> str:
    return f"{stage.watts / 1000:.1f} kW"


def _bars(path: list[PowerStage], left: float, width: float, drop: float) -> list[str]:
    """Bars over one scale; in the narrow picture their names stand above them."""
    whole, shapes = path[0].watts, []
    is_narrow = left < 100
    for number, stage in enumerate(path):
        top = drop + number * (_BAR + drop + (14 if is_narrow else 18))
        length = width * stage.watts / whole
        if is_narrow:
            shapes.append(words(left, top - 6, stage.name, "start", "fb-strong"))
        else:
            shapes.append(words(left - 10, top + 20, stage.name, "end", "fb-strong"))
        shapes.append(box(left, top, width, _BAR, "fb-hollow"))
        shapes.append(box(left, top, length, _BAR, "fb-c0" if number == 2 else "fb-c8"))
        ink = "fb-on0" if number == 2 else "fb-on8"
        shapes.append(words(left + 8, top + 20, _kilo(stage), "start", ink))
        if stage.taken_by:
            share = 100 * (stage.watts - path[number + 1].watts) / whole
            text = f"{share:.0f} of 100: {stage.taken_by}"
            shapes.append(words(left + 4, top + _BAR + 13, text, "start", "fb-small"))
    return shapes
