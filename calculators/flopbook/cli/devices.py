"""`peak`: the peak rate of the device that a framework names."""

from __future__ import annotations

from flopbook.cli.parser import Option
from flopbook.cli.plain import command
from flopbook.errors import UnknownName
from flopbook.hardware.devices import DevicePeak, device_peak
from flopbook.quantities.units import format_quantity

_SPARSITY = Option(
    "--sparsity",
    "sparsity",
    "dense (default) or 2:4; a sparse peak is used only when asked for.",
    "KIND",
)


@command("peak", _SPARSITY, argument="NAME [DTYPE]")
def peak_command(name: str, dtype: str | None, sparsity: str | None, as_json: bool) -> None:
    """Print the peak rate of one device.
    NAME is what CUDA, ROCm, JAX or Neuron calls it; DTYPE is bf16 if not given.

    A name that fits several products, or none, is refused. An id or alias means the whole package.

    Example: flopbook peak "NVIDIA H100 80GB HBM3" bf16
    """
    if sparsity is not None:
        from flopbook.evaluation.request import SPARSITIES  # loads the formulas

        if sparsity not in SPARSITIES:
            raise UnknownName("sparsity", sparsity, SPARSITIES)
    device = device_peak(name, dtype or "bf16", sparsity or "dense")
    if as_json:
        from flopbook.cli.layout import print_json

        print_json(_record(device))
        return
    claim = device.peak.claim
    kind = claim.dtype if claim.sparsity == "unstated" else f"{claim.sparsity} {claim.dtype}"
    rate = format_quantity(device.peak.value, device.peak.unit)
    print(f"{rate} {kind}, {device.chip.name} ({device.peak.source})")
    for note in device.peak.notes:
        print(f"note: {note}")


def _record(device: DevicePeak) -> dict[str, object]:
    claim = device.peak.claim
    return {
        "value": device.peak.value,
        "unit": device.peak.unit,
        "dtype": claim.dtype,
        "sparsity": claim.sparsity,
        "chip": device.chip.id,
        "name": device.chip.name,
        "devices_per_package": device.devices,
        "source": device.peak.source,
        "sources": list(device.peak.sources),
        "as_of": claim.as_of.isoformat(),
        "notes": list(device.peak.notes),
    }
