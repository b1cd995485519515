"""The machine of a run: the chip that a source names, with the rates that a prediction needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from flopbook.data.library import library, per_library
from flopbook.errors import FlopbookError, UnknownName
from flopbook.hardware.chip import Chip, chip
from flopbook.hardware.network import Network
from flopbook.hardware.picked import Picked

# Chips of one generation share their efficiencies; the words are parts of product names. The first
# that fits counts, so that gh200 is not taken for h200 and l40s not for anything else.
GENERATIONS = {
    "v100": "volta",
    "a100": "ampere",
    "a800": "ampere",
    "h100": "hopper",
    "h200": "hopper",
    "h800": "hopper",
    "h20": "hopper",
    "b200": "blackwell",
    "b300": "blackwell",
    "mi2": "cdna",
    "mi3": "cdna",
    "tpu": "tpu",
    "trainium": "neuron",
    "inferentia": "neuron",
    "gaudi": "gaudi",
}
# The generations that multiply in a format, where an entry such as that of the H800 lacks its rate.
_MULTIPLY_IN = {"fp8": ("hopper", "blackwell"), "fp4": ("blackwell",)}
INTEGERS = "int8"
# Which peak products in a format run at; in all others it is that of 16 bits.
_NARROW_PEAKS = {"fp8": "peak_8bit", "int8": "peak_8bit", "fp4": "peak_4bit"}
# Where no source gives a rate of links or of the slot, a chip on PCIe 4.0 x16 sends about this much
# one way. Slower slots keep it: what sums reach of it over PCIe 3.0 is fitted.
PCIE_BANDWIDTH = 25e9
# Scale-out per chip, one way: one 200 Gbit/s card a GPU until Ampere, one of 400 Gbit/s since.
CARD_BANDWIDTH = {"volta": 12.5e9, "ampere": 25e9}
USUAL_CARD_BANDWIDTH = 50e9
USUAL_NODE = 8
# Board power for each FLOP/s of the peak in 16 bits, as an H100 has; of chips without a figure too.
USUAL_WATTS = 0.7e-12
# With so many times as much power no chip has to lower its clock; an A100 has nearly that.
AMPLE = 2.0
# Boards of so many chips of these generations join each with the others directly.
SMALL_BOARD, DIRECT = 4, ("ampere", "hopper")
MESH = "mesh"  # of the topologies of a network
# Rates of cards as sources print them: of all cards of a node, or of those of one chip.
GIGABIT = 1e9 / 8
_CARDS = re.compile(r"(\d+)x\s*(?:HDR)?(\d+)\b")
_RATE = re.compile(r"(\d+)\s*Gb(?:/s|ps)", re.IGNORECASE)
_PER_NODE = re.compile(r"(?:per |/)node", re.IGNORECASE)
_PER_CHIP = re.compile(r"(?:per |/)GPU", re.IGNORECASE)
_LONGEST_NAME = 400  # characters, as of a row of a run: a search takes the square of them
_COMMENT = re.compile(r"\(.*?\)")
# What sources write behind a name: a size of the memory, its kind, a limit of the power, a socket,
# a code name. Any other word is a part of the name, or a slip.
_SAID_BESIDE = re.compile(r"\d+gb|hbm\d\w*|\d+w|sxm\d?|ironwood")
# Packages hide inside systems, superchips and boards; the Grace CPU beside them computes nothing.
_HOLDERS = ("system", "node", "pod", "card")


class ChipRates(NamedTuple):
    """A chip with its rates: FLOP/s, byte/s one way, bytes, and chips of its scale-up domain.

    `power` are the watts of its board for each FLOP/s, over those of an H100. On a `mesh` of so
    many chips each shares its links out among the others; 0 where switches or a torus join them.
    The links of a torus lie along `axes`, with a neighbour to either side on each.
    """

    chip: str
    generation: str
    peak_16bit: float
    peak_8bit: float
    peak_4bit: float
    memory: float
    memory_bandwidth: float
    link_bandwidth: float
    card_bandwidth: float
    domain: float
    is_torus: bool
    host_bandwidth: float = PCIE_BANDWIDTH
    power: float = 1.0
    mesh: float = 0.0
    axes: float = 1.0

    def peak(self, precision: str) -> float:
        """The peak (FLOP/s) of the format that products run in: an MFU over it is at most 1."""
        rate: float = getattr(self, peak_named(precision))
        return rate


def peak_named(precision: str) -> str:
    """The name of the peak that products in a format run at, as `ChipRates` and pages have it."""
    return _NARROW_PEAKS.get(precision, "peak_16bit")


@per_library
def machine(name: str) -> ChipRates:
    """The machine that a source names, such as 'H100-SXM-80GB' or 'TPU v5p'.

    Words at the end that say what no name has, such as a memory size, are left off. Raises
    UnknownName, or FlopbookError for a chip without a published matrix rate in 16 bits.
    """
    system = chip(entry_id(name))
    package = package_named(name)
    sixteen = peak_of(package, "bf16") or peak_of(package, "fp16")
    if not sixteen:
        raise FlopbookError(f"{package.id} has no published dense peak in bf16 or fp16")
    eight = peak_of(package, "fp8") or peak_of(package, "int8") or sixteen
    generation = _generation(package.id)
    is_torus = generation == "tpu"
    slot = _known(package.pick_host_bandwidth) or PCIE_BANDWIDTH
    domain = _known(system.pick_scaleup_domain) or _known(package.pick_scaleup_domain) or USUAL_NODE
    return ChipRates(
        chip=package.id,
        generation=generation,
        peak_16bit=sixteen,
        peak_8bit=eight,
        peak_4bit=peak_of(package, "fp4") or eight,
        memory=_known(package.pick_memory) or 0.0,
        memory_bandwidth=_known(package.pick_memory_bandwidth) or 0.0,
        link_bandwidth=_known(package.pick_scaleup_bandwidth) or max(slot, PCIE_BANDWIDTH),
        card_bandwidth=CARD_BANDWIDTH.get(generation, USUAL_CARD_BANDWIDTH),
        domain=domain,
        is_torus=is_torus,
        host_bandwidth=slot,
        power=min(
            (_known(package.pick_power) or USUAL_WATTS * sixteen) / sixteen / USUAL_WATTS, AMPLE
        ),
        mesh=domain if domain <= USUAL_NODE and _is_meshed(package) else 0.0,
        axes=(_known(package.pick_scaleup_axes) or 1.0) if is_torus else 1.0,
    )


def lacks_format(chip_id: str, precision: str) -> bool:
    """Whether nothing says that a chip multiplies in fp8 or fp4; in 16 bits every chip does."""
    if precision not in _MULTIPLY_IN or peak_of(chip(chip_id), precision):
        return False
    return _generation(chip_id) not in _MULTIPLY_IN[precision]


def memory_rate(name: str) -> float:
    """Byte/s of the memory of a chip, be its matrix rates published or not.

    Raises UnknownName, or FlopbookError where the rate is not published.
    """
    package = package_named(name)
    rate = _known(package.pick_memory_bandwidth)
    if not rate:
        raise FlopbookError(f"the memory bandwidth of {package.id} is not published")
    return rate


def stated_card_bandwidth(interconnect: str, node: float) -> float | None:
    """Byte/s of scale-out a chip, one way, in the words of a source; None where they leave it open.

    A rate alone may be that of a node or of a card, so it counts only with what it is of.
    """
    cards, rate = _CARDS.search(interconnect), _RATE.search(interconnect)
    if _PER_NODE.search(interconnect):
        if cards:
            return float(cards[1]) * float(cards[2]) * GIGABIT / node
        return float(rate[1]) * GIGABIT / node if rate else None
    if _PER_CHIP.search(interconnect) and rate:
        return float(rate[1]) * GIGABIT
    return None


def machine_of(hardware: Mapping[str, Any], run: Mapping[str, Any] | None = None) -> ChipRates:
    """The machine of a row, with the network cards that it states.

    Where the format of the run is int8, that is the peak in 8 bits, and not that of fp8.
    """
    runs_on = machine(hardware["chip"])
    if INTEGERS in str((run or {}).get("precision", "")):
        eight = peak_of(chip(runs_on.chip), INTEGERS)
        runs_on = runs_on._replace(peak_8bit=eight or runs_on.peak_8bit)
    words = str(hardware.get("interconnect", ""))
    cards = stated_card_bandwidth(words, hardware.get("chips_per_node") or USUAL_NODE)
    return runs_on if cards is None else runs_on._replace(card_bandwidth=cards)


def has_switch(hardware: Mapping[str, Any], runs_on: ChipRates) -> bool:
    """Whether any two chips of a node reach each other at the whole rate of their links.

    A board of four has no NVSwitch: each chip has a third of its links to each of the others
    (docs.nvidia.com/vgpu lists the boards that have one).
    """
    is_board = hardware.get("chips_per_node") == SMALL_BOARD
    return not (is_board and runs_on.generation in DIRECT and "nvl" not in hardware["chip"].lower())


@per_library
def package_named(name: str) -> Chip:
    """The accelerator that a source names, with or without matrix rates. Raises UnknownName."""
    return _package_of(chip(entry_id(name)))


def entry_id(name: str) -> str:
    """The entry that a source or a framework names. Raises UnknownName with the nearest names."""
    if len(name) > _LONGEST_NAME:
        raise UnknownName("chip", name, library().entry_names())
    words = _COMMENT.sub("", name).strip().lower().replace(" ", "-").split("-")
    full_name = "-".join(words)
    # Aliases stand in the heads of entries, which an id or a product does without.
    if full_name in _products():
        return library().find_id(full_name)
    # Looking a wrong name up takes long, as the message offers the nearest ones.
    for length in range(len(words), 0, -1):
        shorter = "-".join(words[:length])
        said_beside = all(map(_SAID_BESIDE.fullmatch, words[length:]))
        if said_beside and shorter in _names():
            return library().find_id(shorter)
    for head in library().heads.values():
        if name in head.device_names:  # as the driver or a framework returns it
            return head.id
    raise UnknownName("chip", name, library().entry_names())


@per_library
def _products() -> frozenset[str]:
    ids = library().entry_ids
    return frozenset((*ids, *(entry_id.partition("/")[2] for entry_id in ids)))


@per_library
def _names() -> frozenset[str]:
    return frozenset(library().entry_names())


def _package_of(system: Chip) -> Chip:
    """The accelerator inside a system; a package is its own."""
    current = system
    while current.entry.kind in _HOLDERS and current.entry.contains:
        accelerators = [part.ref for part in current.entry.contains if "grace" not in part.ref]
        if not accelerators:
            break
        current = chip(accelerators[0])
    return current


def _generation(chip_id: str) -> str:
    product = chip_id.partition("/")[2]
    for word, generation in GENERATIONS.items():
        if word in product:
            return generation
    return "other"


def _is_meshed(package: Chip) -> bool:
    """Whether each chip of a board is wired to each other one, as eight MI300X are."""
    try:
        return Network(package).topology == MESH
    except FlopbookError:
        return False


def peak_of(package: Chip, dtype: str) -> float:
    """The dense matrix rate in a format (FLOP/s); 0 where none is printed."""
    return _known(lambda: package.pick_peak(dtype)) or 0.0


def peak_in_halves(package: Chip) -> float:
    """The dense matrix rate in fp16 with sums in fp16 (FLOP/s); 0 where none is printed apart.

    GeForce cards sum at twice the rate in fp16; others print one rate for both.
    """
    conditions = {"dtype": "fp16", "engine": "tensor", "sparsity": "dense", "accumulate": "fp16"}
    return _known(lambda: package.pick("peak", **conditions)) or 0.0


def _known(pick: Callable[[], Picked | None]) -> float | None:
    """The number that is picked; None where the entry has none."""
    try:
        picked = pick()
    except FlopbookError:
        return None
    return None if picked is None else float(picked.value)
