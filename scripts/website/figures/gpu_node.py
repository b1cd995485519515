"""A node of eight GPUs around their switches beside a chip of a torus: links and rates of both."""

from __future__ import annotations

from collections.abc import Iterator

from flopbook.data.library import load_entry
from flopbook.hardware.chip import chip
from flopbook.quantities.units import format_quantity
from scripts.website.figures.drawing import Figure, arrow, box, labelled, path, words
from scripts.website.figures.plotted import FigureValue

NODE, GPU, TPU = "nvidia/dgx-h100", "nvidia/h100-sxm", "google/tpu-v5p"
GPUS, SWITCHES = 8, 4


def rates() -> dict[str, float]:
    """One-way rates in byte/s: of a GPU inside and out of the node, of a TPU in all and by link."""
    adapter = next(c for c in load_entry(NODE).claims if c.name == "ConnectX-7")
    links = next(c for c in load_entry(TPU).claims if c.field == "scaleup_links")
    tpu = chip(TPU).scaleup_bandwidth()
    return {
        "inside": chip(GPU).scaleup_bandwidth(),
        "out": float(adapter.si_value or 0),
        "torus": tpu,
        "link": tpu / float(links.si_value or 1),
    }


def figure() -> Figure:
    """The node on the left, a chip with its six neighbours on the right."""
    rate = {name: format_quantity(value, "byte/s") for name, value in rates().items()}
    drop = rates()["inside"] / rates()["out"]
    outside = f"scale-out network: {rate['out']} for each GPU, one way"
    shapes = [
        words(200, 16, "8 GPUs at switches", kind="fb-strong"),
        words(530, 16, "a chip in a torus", kind="fb-strong"),
        box(6, 26, 388, 176, "fb-hollow"),
    ]
    for gpu in range(GPUS):
        shapes += _gpu(gpu, 16 + 47 * gpu)
    shapes += [labelled((36 + 86 * n, 46, 68, 30), "switch", "c4") for n in range(SWITCHES)]
    shapes.append(words(200, 240, outside, kind="fb-small"))
    shapes.append(words(200, 106, f"{rate['inside']} for each GPU, one way", kind="fb-small"))
    shapes += _crossing(rate["link"])
    shapes.append(words(530, 240, f"6 links, {rate['torus']} in all, one way", kind="fb-small"))
    return Figure(
        f"Out of its node a GPU sends {drop:.0f} times as slowly; inside a torus there is no edge",
        f"One panel: {GPUS} GPUs, each joined to {SWITCHES} switches at {rate['inside']} one way "
        f"in all, and through an adapter of its own at {rate['out']} to other nodes. The other: a "
        f"TPU v5p with a link of {rate['link']} one way to each of six neighbours, "
        f"{rate['torus']} in all.",
        f"GPUs: {chip(GPU).name} in {load_entry(NODE).name}. Any two talk at full rate, and "
        f"outside the box the rate falls. Torus: {chip(TPU).name}. Six neighbours and no edge "
        "until the pod ends, but a far chip is many hops away.",
        250,
        tuple(shapes),
        readings=tuple(_readings()),
    )


def _readings() -> Iterator[FigureValue]:
    """The rates one way, each with the chip that has it."""
    names = {
        "inside": (chip(GPU).name, "inside the node"),
        "out": (chip(GPU).name, "out of the node"),
        "torus": (chip(TPU).name, "all links"),
        "link": (chip(TPU).name, "one link"),
    }
    for name, rate in rates().items():
        yield FigureValue(*names[name], rate, "byte/s")


def _gpu(number: int, x: float) -> Iterator[str]:
    """A GPU with its links to all switches, and its adapter with a way out."""
    middle = x + 20
    for switch in range(SWITCHES):
        yield path([(middle, 126), (70 + 86 * switch, 76)], "fb-grid")
    name = labelled((x, 126, 40, 26), f"GPU {number}", "c0")
    yield name.replace('class="fb-on0"', 'class="fb-on0 fb-small"')  # else it is too wide
    yield path([(middle, 152), (middle, 170)])
    yield labelled((x, 170, 40, 22), "NIC", "c1")
    yield arrow((middle, 192), (middle, 222))


def _crossing(link: str) -> list[str]:
    """A chip with neighbours left and right, above and below, and before and behind."""
    x, y, side = 530.0, 124.0, 34.0
    ends = ((-86, 0), (86, 0), (0, -78), (0, 78), (60, -54), (-60, 54))
    shapes = [
        arrow((x, y), (x + dx * 0.78, y + dy * 0.78), "fb-stroke" if n < 4 else "fb-dashed")
        for n, (dx, dy) in enumerate(ends)
    ]
    shapes += [box(x + dx - 9, y + dy - 9, 18, 18, "fb-c5", "neighbour") for dx, dy in ends]
    return [
        *shapes,
        labelled((x - side / 2, y - side / 2, side, side), "TPU", "c0"),
        words(x + 16, y + 50, f"{link} a link", "start", "fb-small"),
    ]
