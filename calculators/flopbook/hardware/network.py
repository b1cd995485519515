"""The network of a chip: what joins it to its neighbours, how far that reaches, what lies beyond.

`Network(chip("mi300x"))` picks each part from the claims of the entry. How many links some chips
use is `links_used`: a slice of a torus has rings only where it is long enough, and a few chips of a
fully connected board have only the links between them.
"""

from __future__ import annotations

import math
import re

from flopbook.data.claims import Claim
from flopbook.data.library import load_entry
from flopbook.data.link_kinds import LinkKind, link_kinds
from flopbook.errors import FlopbookError
from flopbook.formulas.slices import slice_links, slice_sides
from flopbook.hardware.chip import Chip
from flopbook.hardware.choice import choose
from flopbook.hardware.picked import Missing, Picked, PickedWord
from flopbook.hardware.servers import servers_of
from flopbook.quantities.ops import inf
from flopbook.quantities.units import format_quantity, plural

RING_LINKS = 2.0  # on an axis of a torus: a neighbour to either side
# In bit/s a port is named by what it carries one way; in byte/s vendors print either.
LINE_RATES = ("Mbit/s", "Gbit/s", "Tbit/s")
# Of cards that plug into a host: the domain is what the bridge joins, beyond it is the host's bus.
BRIDGE = "bridge"
PAIR = 2
# What records of a domain say where each chip is wired to each other one, or all to switches.
MESHES = ("full mesh", "fully connected", "to each other chip")
SWITCHED = "switched"
HYBRID = "hybrid-mesh"
# Not a share of every bus: it depends on switches, processors and whether cards may talk directly.
BUS_REACHED = (
    "while software reaches half of that or less where data crosses the processors: eight RTX 5090 "
    "on PCIe Gen5 added up at 28 of 64 GB/s (nvidia2025ncclthread)"
)
# How a record writes the sides of a torus, such as 16x20x28 of cubes of 4x4x4.
SHAPE = re.compile(r"\b\d+(?:x\d+)+\b")
PAST_THE_SERVER = "as in one server (past it: --chips-per-node, --scaleout-bandwidth)"


class Network:
    """The network of one chip; rates are one way, in byte/s."""

    def __init__(self, chip: Chip) -> None:
        self.chip = chip

    @property
    def is_hosted(self) -> bool:
        """Whether a card has no links of its own: the bus of its host joins it to others.

        A card whose links are looked for and not published counts as one without.
        """
        links = self.chip.claims("scaleup_bandwidth")
        has_none = bool(links) and all(claim.absent or not claim.published for claim in links)
        return has_none and self.chip.pick_host_bandwidth() is not None

    def pick_axes(self) -> Picked:
        """Axes of a torus; 1 for any other network. Raises Missing."""
        host = self.chip.pick_host_bandwidth()
        if self.is_hosted and host is not None:
            return Picked(1.0, "1", host.claim)
        return self._axes_of_domain() or self.chip.pick_scaleup_axes()

    def _axes_of_domain(self) -> Picked | None:
        """One axis where the record of the domain alone says how its chips are joined."""
        domain = self.chip.pick_scaleup_domain()
        if domain is None or any(claim.published for claim in self.chip.claims("scaleup_axes")):
            return None
        words = domain.claim.topology
        is_pair = BRIDGE in words and domain.value == PAIR
        if is_pair or any(phrase in words for phrase in MESHES):
            return Picked(1.0, "1", domain.claim._replace(topology="fully-connected"))
        if SWITCHED in words:
            return Picked(1.0, "1", domain.claim._replace(topology="switch"))
        return None

    def pick_topology(self) -> PickedWord:
        """`torus`, `ring`, `switch` or `mesh` (a link for each pair). Raises Missing."""
        axes = self.pick_axes()
        # A torus whose rings are not closed is wired as a torus; its axes are open. Pairs with one
        # link or two, as in a cube of eight, are together as many rings as a torus of two a side.
        is_torus = axes.claim.topology in ("torus", "mesh", HYBRID)
        word = "torus" if axes.value > 1 else "ring"
        if not is_torus:
            word = "mesh" if axes.claim.topology == "fully-connected" else "switch"
        if word == "mesh" and self._is_hub():
            word = "switch"
        return PickedWord(word, axes.claim)

    def _is_hub(self) -> bool:
        """A domain of more chips than a chip has links is joined by more than direct links."""
        domain = self.chip.pick_scaleup_domain()
        links = choose(self.chip.claims("scaleup_links"))
        is_recorded = domain is not None and links is not None and links.si_value is not None
        return bool(is_recorded and domain.value - 1 > links.si_value)  # type: ignore[union-attr,operator]

    @property
    def topology(self) -> str:
        """The same as a word."""
        return self.pick_topology().value

    def pick_links_per_axis(self) -> Picked:
        """2 on a torus (a neighbour to either side), 1 for a port or one link of a mesh."""
        topology = self.pick_topology()
        is_torus = topology.value in ("torus", "ring")
        return Picked(RING_LINKS if is_torus else 1.0, "1", topology.claim)

    def pick_domain(self) -> Picked | None:
        """Chips that the scale-up network joins; None for cards on the bus of a host.

        Raises FlopbookError that says how to give what is not recorded.
        """
        if self.is_hosted:
            return None
        domain = self.chip.pick_scaleup_domain()
        if domain is None:
            complaint = "how many chips its scale-up network joins is not recorded"
            raise FlopbookError(f"{self.chip.id}: {complaint}; give --chips-per-node")
        return self._as_sold(domain)

    def _as_sold(self, domain: Picked) -> Picked:
        """The domain of the server that has these chips, where that is smaller than it may be.

        Two boards of eight A100 may be joined to 16; the DGX A100 and its like have one of them.
        """
        if domain.claim.per != "system":
            return domain
        # A desk-side computer with one chip joins nothing, so it does not say what a server joins.
        nodes = (
            system.entry.id
            for system in servers_of(self.chip.id)
            if system.entry.kind == "node" and system.chips > 1
        )
        server = next(nodes, None)
        own = server and choose(
            claim for claim in load_entry(server).claims if claim.field == "scaleup_domain"
        )
        if not own or own.si_value is None or own.si_value >= domain.value:
            return domain
        note = (
            f"{server} joins {own.si_value:g} chips, of the {domain.value:g} that the links of "
            f"{self.chip.id} may join; for more give --chips-per-node"
        )
        return Picked(own.si_value, domain.unit, own, (note,))

    def pick_link(self) -> Picked:
        """Rate of one link of an axis or of a pair, or of the port to a switch. Raises Missing."""
        domain = self.pick_domain() if self.topology == "mesh" else None
        if domain is not None:
            return self.pick_pair_link(domain.value)
        total = self.pick_port()
        links = self.pick_axes().value * self.pick_links_per_axis().value
        rate = format_quantity(total.value / links, "byte/s")
        note = f"{self.chip.id} is on a switch: all its links count as one port of {rate} one way"
        if links > 1:
            axes = links / RING_LINKS
            count = f"{axes:g} {plural('axis', axes)}"
            note = f"{self.chip.id} has {count} of 2 links; one link carries {rate} one way"
        if self.pick_axes().claim.topology == HYBRID:
            pairs = "pairs on its board have two links, one or none, which together make rings"
            counted = f"counted as a torus of two a side, {rate} one way a link"
            note = f"{self.chip.id}: {pairs}; {counted}"
        return Picked(total.value / links, "byte/s", total.claim, (*total.notes, note))

    def pick_pair_link(self, chips: float) -> Picked:
        """Rate between two chips where the links of each are spread over all others of a board."""
        total = self.pick_port()
        peers = max(chips - 1, 1)
        value = total.value / peers
        rate = format_quantity(value, "byte/s")
        to_each = f"each of the {peers:g} other chips of its board: {rate} one way to each"
        to_one = f"the one other chip of its board: {rate} one way"
        note = f"{self.chip.id} is wired to {to_one if peers == 1 else to_each}"
        return Picked(value, "byte/s", total.claim, (*total.notes, note))

    def pick_port(self) -> Picked:
        """Rate of all links of the chip together, or of its bus. Raises Missing."""
        host = self.chip.pick_host_bandwidth()
        if not self.is_hosted or host is None:
            return self.chip.pick_scaleup_bandwidth()
        is_absent = any(claim.absent for claim in self.chip.claims("scaleup_bandwidth"))
        none = (
            "has no links to other cards" if is_absent else "has no published links to other cards"
        )
        # How many cards a server has is not on record, so the bus ends nowhere by itself.
        note = f"{self.chip.id} {none}: its {host.claim.name} carries all, {PAST_THE_SERVER}"
        is_measured = host.claim.name in link_kinds()
        return host._replace(notes=(note if is_measured else f"{note}, {BUS_REACHED}",))

    def pick_beyond(self) -> Picked | None:
        """Rate of a chip beyond its domain; None where nothing is recorded.

        Cards that a bridge joins go on over the bus of their host.
        """
        if self.is_bridged:
            return self.chip.pick_host_bandwidth()
        return self.chip.pick_scaleout_bandwidth() or self._line_rate()

    def _line_rate(self) -> Picked | None:
        """A network card's rate without a direction: in bit/s, what it carries one way."""
        claim = choose(
            claim
            for claim in self.chip.claims("scaleout_bandwidth", aggregate="chip")
            if claim.direction == "unstated" and claim.unit in LINE_RATES
        )
        if claim is None or claim.si_value is None:
            return None
        printed = f"{claim.name} is printed as {claim.value:g} {claim.unit}"
        return Picked(claim.si_value, "byte/s", claim, (f"{printed}: a line rate, so one way",))

    @property
    def is_bridged(self) -> bool:
        """Whether the domain is a few cards with a bridge between them."""
        domain = self.chip.pick_scaleup_domain()
        return domain is not None and BRIDGE in domain.claim.topology

    def pick_wrap(self) -> PickedWord | None:
        """Which axes of a slice close: `axis` (each long enough), `cube` (all or none)."""
        claim = self._wrap_claim()
        if claim is None:
            return None
        return PickedWord(claim.topology, claim)

    def pick_ring_side(self) -> Picked | None:
        """Chips along an axis from which it closes into a ring."""
        claim = self._wrap_claim()
        return Picked(claim.si_value, "chip", claim) if claim and claim.si_value else None

    def _wrap_claim(self) -> Claim | None:
        return choose(self.chip.claims("scaleup_wrap"))

    @property
    def kind(self) -> LinkKind | None:
        """What software reaches on the links; None where no sweep of them is published."""
        try:
            name = self.pick_port().claim.name
        except Missing:
            return None
        return link_kinds().get(name)

    def pick_whole_sides(self) -> tuple[Picked, ...]:
        """Chips along each axis of a whole domain whose record names unlike ones; else none."""
        domain = self.chip.pick_scaleup_domain()
        shape = domain and SHAPE.search(domain.claim.topology)
        if not domain or not shape:
            return ()
        sides = [float(side) for side in shape[0].split("x")]
        # Sides alike are what a slice has anyway.
        if math.prod(sides) != domain.value or len(set(sides)) == 1:
            return ()
        note = f"a whole domain of {self.chip.id} is {' x '.join(shape[0].split('x'))} chips"
        return tuple(Picked(side, "1", domain.claim, (note,)) for side in sides)

    def links_used(self, chips: float, side_x: float = inf, side_y: float = inf) -> float:
        """Links of a chip that carry data at once when so many chips of one domain work together.

        The sides are those of a slice of a torus, as equal as possible where they are not given.
        """
        axes = self.pick_axes().value
        sides = slice_sides(chips, self.topology, axes, side_x=side_x, side_y=side_y)
        wrap, ring = self.pick_wrap(), self.pick_ring_side()
        domain = self.pick_domain()
        links = slice_links(
            topology=self.topology,
            axes=axes,
            chips_per_node=domain.value if domain else inf,
            **{name: sides[name] for name in ("inside", "dims", "first", "second", "third")},
            links_per_axis=self.pick_links_per_axis().value,
            wrap=wrap.value if wrap else "yes",
            ring_side=ring.value if ring else 1.0,
        )
        return float(links["lanes"])
