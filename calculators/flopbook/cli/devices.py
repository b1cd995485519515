"""`peak`: the peak rate of the device that a framework names."""

from __future__ import annotations

from flopbook.cli.parser import Option
from flopbook.cli.plain import command
from flopbook.errors import UnknownName
from flopbook.hardware.devices import DevicePeak, device_peak
from flopbook.quantities.units import format_quantity


@command(
    "peak",
    Option(
        "--sparsity",
        "sparsity",
        "dense (default) or 2:4; a sparse peak is used only when asked for.",
        "KIND",
    ),
    argument="NAME [DTYPE]",
)
def peak_command(name: str, dtype: str | None, sparsity: str | None, as_json: bool) -> None:
    """Print the peak rate of one device. NAME is what CUDA, ROCm, JAX or Neuron calls it; DTYPE is
    bf16 if not given.

    A name that fits several products, or none, is refused. An id or alias means the whole package.

    Example: flopbook peak "NVIDIA H100 80GB HBM3" bf16
    """
    if sparsity is not None:
        from flopbook.evaluation.calculator import SPARSITIES

        if sparsity not in SPARSITIES:
            raise UnknownName("sparsity", sparsity, SPARSITIES)
    found = device_peak(name, dtype or "bf16", sparsity or "dense")
    if as_json:
        from flopbook.cli.layout import print_json

        print_json(_record(found))
        return
    claim = found.picked.claim
    density = (
        f"{claim.sparsity} {claim.dtype}" if claim.sparsity != "unstated" else f"{claim.dtype}"
    )
    print(
        f"{format_quantity(found.value, found.picked.unit)} {density}, {found.chip.name} ({found.picked.source})"
    )
    for note in found.notes:
        print(f"note: {note}")


def _record(found: DevicePeak) -> dict[str, object]:
    claim = found.picked.claim
    return {
        "value": found.value,
        "unit": found.picked.unit,
        "dtype": claim.dtype,
        "sparsity": claim.sparsity,
        "chip": found.chip.id,
        "name": found.chip.name,
        "devices_per_package": found.devices,
        "source": found.picked.source,
        "sources": list(found.sources),
        "as_of": claim.as_of.isoformat(),
        "notes": list(found.notes),
    }
