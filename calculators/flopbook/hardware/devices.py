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

from flopbook.data.accelerators import Entry
from flopbook.data.claims import Claim
from flopbook.data.library import entry as find_entry
from flopbook.data.library import library, load_entry
from flopbook.errors import FlopbookError, UnknownName, printable, shorten
from flopbook.hardware.chip import Chip
from flopbook.hardware.choice import choose
from flopbook.hardware.picked import Picked

FIELD = "devices_per_package"
# Frameworks name the maker or leave it out.
_MAKERS = re.compile(r"^(?:nvidia|amd|intel|google|aws|amazon)\s+")
# A word that only says how much memory of which kind there is: `80GB`, `HBM2e`.
_MEMORY = re.compile(r"\d+(?:gb|gib)|hbm\d\w*|gddr\d\w*|lpddr\d\w*")
_LONGEST = 200  # characters of a device name; of a longer one the search would take its square


class DevicePeak(NamedTuple):
    """The chip of a device, how many devices its package counts as, and the peak of one of them."""

    chip: Chip
    devices: int
    peak: Picked


def peak(device_name: str, dtype: str = "bf16", sparsity: str = "dense") -> float:
    """Peak rate in FLOP/s of one device, by the name that CUDA, ROCm, JAX or Neuron gives it; dense
    by default.

    >>> peak("NVIDIA H100 80GB HBM3", "bf16")
    989400000000000.0

    Raises UnknownName with the nearest names, FlopbookError when the name fits several products or
    the chip has no such peak. An id or alias such as `h100-sxm` works too and means the whole
    package.
    """
    return device_peak(device_name, dtype, sparsity).peak.value


def device_peak(device_name: str, dtype: str = "bf16", sparsity: str = "dense") -> DevicePeak:
    """As `peak`, in FLOP/s or for integers OP/s, with the chip, the claims and the notes."""
    entry, name = _find(device_name)
    chip = Chip(entry)
    # Without a device's name the whole package is meant.
    count = _count(entry, name) if name else None
    of_package = chip.pick_peak(dtype, sparsity)
    devices = int(count.si_value or 1) if count is not None else 1
    if count is None or devices == 1:
        return DevicePeak(chip, 1, of_package)
    package = f"{chip.id} counts as {devices} devices ({count.source})"
    of_one = of_package._replace(
        value=of_package.value / devices,
        notes=(*of_package.notes, f"{package}; this is the peak of one of them"),
        others=(count,),
    )
    return DevicePeak(chip, devices, of_one)


def _count(entry: Entry, name: str) -> Claim | None:
    """How many devices of this name a package is.

    A claim may be for one device name; one without a device's name is for all of them.
    """
    claims = [claim for claim in entry.claims if claim.field == FIELD]
    device_names = {device.casefold() for device in entry.device_names}
    of_this_name = [claim for claim in claims if claim.name.casefold() == name.casefold()]
    of_any_name = [claim for claim in claims if claim.name.casefold() not in device_names]
    return choose(of_this_name or of_any_name)


# A device name and the id of its entry.
Device = tuple[str, str]


def _find(device_name: str) -> tuple[Entry, str]:
    """The entry and its device name; the name is empty where an id or alias was given."""
    devices = list(_devices())
    typed = " ".join(str(device_name).split()).casefold()
    if len(typed) > _LONGEST:
        _refuse(str(device_name), [], devices)
    matching = [device for device in devices if device[0].casefold() == typed]
    if not matching and typed:
        matching = [device for device in devices if plain(device[0]) == plain(typed)]
    is_certain = True
    if not matching:
        try:
            return find_entry(device_name), ""
        except UnknownName:
            matching = _without_memory(plain(typed), devices)
            is_certain = all(_says_all(_bare(plain(typed)), entry_id) for _, entry_id in matching)
    if is_certain and len({entry_id for _, entry_id in matching}) == 1:
        name, entry_id = matching[0]
        return load_entry(entry_id), name
    _refuse(device_name, matching, devices)


def _devices() -> Iterator[Device]:
    for entry_id, head in library().heads.items():
        for name in head.device_names:
            yield name, entry_id


def plain(name: str) -> str:
    """A device name without its maker, in lower case, hyphens and spaces alike: what two spellings
    share.
    """
    text = " ".join(re.sub(r"[\s_-]+|\(r\)|\(tm\)|[®™]", " ", name.casefold()).split())
    while (shorter := _MAKERS.sub("", text)) != text:
        text = shorter
    return text


def _without_memory(typed: str, devices: list[Device]) -> list[Device]:
    """Names that differ from the typed one by a memory size only, and those that it only begins.

    The memory may be missing from the typed name. One that differs is another product: an H100 with
    HBM2e is the PCIe card, one with 64 GB of an A100 is a special edition.
    """
    memory, bare = set(_MEMORY.findall(typed)), _bare(typed)
    if not bare:
        return []
    matching = []
    for name, entry_id in devices:
        plain_name = plain(name)
        same_memory = memory <= set(_MEMORY.findall(plain_name))
        if same_memory and f"{_bare(plain_name)} ".startswith(f"{bare} "):
            matching.append((name, entry_id))
    has_same_name = any(_bare(plain(name)) == bare for name, _ in matching)
    return matching if has_same_name else []


def _says_all(bare: str, entry_id: str) -> bool:
    """True when a name says all that the product's id says: 'h100' leaves open which H100 it is."""
    id_words = _bare(plain(entry_id.partition("/")[2])).split()
    typed_words = bare.split()
    return all(any(typed.startswith(word) for typed in typed_words) for word in id_words)


def _bare(text: str) -> str:
    return " ".join(word for word in text.split() if not _MEMORY.fullmatch(word))


def _refuse(name: str, matching: list[Device], devices: list[Device]) -> NoReturn:
    if matching:
        listed = ", ".join(f"'{device}' ({entry_id})" for device, entry_id in matching)
        complaint = f"device '{shorten(name)}' does not name one product"
        raise FlopbookError(printable(f"{complaint}; name it in full: {listed}"))
    raise UnknownName("device", name, [device for device, _ in devices])
