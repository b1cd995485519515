"""The peak rate of the device that a framework names: `peak(torch.cuda.get_device_name(), "bf16")`.

CUDA, ROCm, JAX and Neuron each name the devices that they see. A device is not always a whole
package: each half of an MI250X is one, and so is each core of a TPU v3. The entry says how many
devices a package counts as, in a claim `devices_per_package` with its source. A name that fits no
entry, or several, is refused: no peak is better than a wrong one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from flopbook.data.accelerators import Entry, entry, entry_ids, load_entry
from flopbook.data.claims import Claim, choose
from flopbook.data.names import other_names
from flopbook.data.tiers import source_tiers
from flopbook.errors import FlopbookError, UnknownName, printable, shorten
from flopbook.hardware.chip import Chip, Picked

FIELD = "devices_per_package"
_MAKERS = re.compile(r"^(?:nvidia|amd|intel|google|aws|amazon)\s+")
_MEMORY = re.compile(r"\d+(?:gb|gib)|hbm\d\w*|gddr\d\w*|lpddr\d\w*")


class DevicePeak(NamedTuple):
    """The peak of one device, what it was taken from, and what a reader must be told."""

    chip: Chip
    picked: Picked
    devices: int
    count: Claim | None = None

    @property
    def value(self) -> float:
        """FLOP/s, or OP/s for integers, of one device."""
        return self.picked.value / self.devices

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know: sparsity, and that the device is a part of the chip."""
        whole = (
            f"{self.chip.id} counts as {self.devices} devices ({self.count.source})"
            if self.count
            else ""
        )
        return (
            *self.picked.notes,
            *([f"{whole}; this is the peak of one of them"] if self.devices > 1 else []),
        )

    @property
    def sources(self) -> tuple[str, ...]:
        """BibTeX keys of the peak and, where it was divided, of the number of devices."""
        divided = [self.count.source] if self.count and self.devices > 1 else []
        return tuple(dict.fromkeys((self.picked.source, *divided)))


def peak(device_name: str, dtype: str = "bf16", sparsity: str = "dense") -> float:
    """Peak rate in FLOP/s of one device, by the name that CUDA, ROCm, JAX or Neuron gives it; dense
    by default.

    >>> peak("NVIDIA H100 80GB HBM3", "bf16")
    989400000000000.0

    Raises UnknownName with the nearest names, FlopbookError when the name fits several products or
    the chip has no such peak. An id or alias such as `h100-sxm` works too and means the whole
    package.
    """
    return device_peak(device_name, dtype, sparsity).value


def device_peak(device_name: str, dtype: str = "bf16", sparsity: str = "dense") -> DevicePeak:
    """As `peak`, with the chip, the claim and the notes."""
    found, name = _find(device_name)
    chip = Chip(found)
    count = _count(found, name) if name else None
    devices = int(count.si_value or 1) if count else 1
    return DevicePeak(chip, chip.pick_peak(dtype, sparsity), devices, count)


def _count(found: Entry, name: str) -> Claim | None:
    """How many devices of this name a package is: a claim may be named for one device name, else it
    is for all.
    """
    claims = [c for c in found.claims if c.field == FIELD]
    names = {one.casefold() for one in found.device_names}
    own = [c for c in claims if c.name.casefold() == name.casefold()]
    return choose(own or [c for c in claims if c.name.casefold() not in names], source_tiers())


def _find(device_name: str) -> tuple[Entry, str]:
    """The entry and its device name; the name is empty where an id or alias was given."""
    known = list(_device_names())
    wanted = " ".join(str(device_name).split()).casefold()
    exact = [(one, entry_id) for one, entry_id in known if one.casefold() == wanted]
    found = exact or [
        (one, entry_id) for one, entry_id in known if wanted and plain(one) == plain(wanted)
    ]
    certain = True
    if not found:
        try:
            return entry(device_name), ""
        except UnknownName:
            found = _without_memory(plain(wanted), known)
            certain = all(_says(_bare(plain(wanted)), entry_id) for _, entry_id in found)
    if certain and len({entry_id for _, entry_id in found}) == 1:
        return load_entry(found[0][1]), found[0][0]
    _refuse(device_name, found, known)


def _device_names() -> Iterator[tuple[str, str]]:
    for entry_id, names in other_names(entry_ids()).items():
        yield from ((one, entry_id) for one in names.device_names)


def plain(name: str) -> str:
    """A device name without its maker, in lower case, hyphens and spaces alike: what two spellings
    share.
    """
    text = " ".join(re.sub(r"[\s_-]+|\(r\)|\(tm\)|[®™]", " ", name.casefold()).split())
    while (shorter := _MAKERS.sub("", text)) != text:
        text = shorter
    return text


def _without_memory(wanted: str, known: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Names that differ from the wanted one by a memory size only, and those that it only begins.

    The memory may be missing from the wanted name. One that differs is another product: an H100
    with HBM2e is the PCIe card, one with 64 GB of an A100 is a special edition.
    """
    memory, bare = _MEMORY.findall(wanted), _bare(wanted)
    if not bare:
        return []
    fits = []
    for one, entry_id in known:
        other = plain(one)
        if set(memory) <= set(_MEMORY.findall(other)) and f"{_bare(other)} ".startswith(f"{bare} "):
            fits.append((one, entry_id))
    return fits if any(_bare(plain(one)) == bare for one, _ in fits) else []


def _says(bare: str, entry_id: str) -> bool:
    """True when a name says all that the product's id says: 'h100' leaves open which H100 it is."""
    words = _bare(plain(entry_id.partition("/")[2])).split()
    return all(any(part.startswith(word) for part in bare.split()) for word in words)


def _bare(text: str) -> str:
    return " ".join(word for word in text.split() if not _MEMORY.fullmatch(word))


def _refuse(name: str, found: list[tuple[str, str]], known: list[tuple[str, str]]) -> NoReturn:
    if found:
        listed = ", ".join(f"'{one}' ({entry_id})" for one, entry_id in found)
        raise FlopbookError(
            printable(
                f"device '{shorten(name)}' does not name one product; name it in full: {listed}"
            )
        )
    raise UnknownName("device", name, [one for one, _ in known])
