"""Statements about chips and what a check says of them; the command and the page share them."""

from __future__ import annotations

from typing import NamedTuple

from flopbook.data.library import load_entries


class Case(NamedTuple):
    """A text, the verdict on its number, and the value on file that answers it, in SI units."""

    text: str
    verdict: str
    value: float | None = None


CASES = (
    # The examples of the issue that asked for the check.
    Case("H100 1,979 TFLOPS", "sparse", 1978.9e12),
    Case("H100 NVLink 900 GB/s", "both-ways", 900e9),
    Case("H100 640 GB", "per-node", 640e9),
    Case("T4 16 GiB", "binary", 16e9),
    Case("H100 1,234 TFLOPS", "none", 989.4e12),
    # Rates: format, sparsity, engine, rounding, spelling.
    Case("H100 989 TFLOPS", "holds", 989.4e12),
    Case("H100 bf16 989 TFLOPS", "holds", 989.4e12),
    Case("NVIDIA H100 SXM5 80GB: 989.4 TFLOP/s dense BF16", "holds", 989.4e12),
    Case("h100-sxm 989.4 teraflops", "holds", 989.4e12),
    Case("H100 0.989 PFLOPS", "holds", 989.4e12),
    Case("H100 1 petaflop/s", "holds", 989.4e12),
    Case("H100 9.894e14 FLOP/s", "holds", 989.4e12),
    Case("H100s do 990 TFLOPS", "holds", 989.4e12),
    Case("989 TFLOPS for an H100", "holds", 989.4e12),
    Case("H100 bf16 1,979 TFLOPS", "sparse", 1978.9e12),
    Case("H100 bf16 1979 TFLOPS with sparsity", "holds", 1978.9e12),
    Case("H100 bf16 1979 TFLOPS dense", "sparse", 1978.9e12),
    Case("H100 bf16 989 TFLOPS with 2:4 sparsity", "dense", 989.4e12),
    Case("H100 fp8 1979 TFLOPS", "holds", 1978.9e12),
    Case("H100 fp8 3,958 TFLOPS", "sparse", 3957.8e12),
    Case("H100 fp8 3,958 TFLOPS sparse", "holds", 3957.8e12),
    Case("H100 3,958 TFLOPS", "open-format", 3957.8e12),
    Case("H100 int8 1,979 TOPS", "holds", 1978.9e12),
    Case("H100 1,979 TOPS", "holds", 1978.9e12),
    Case("H100 fp8 989 TFLOPS", "format", 989.4e12),
    Case("H100 bf16 133.8 TFLOPS", "vector", 133.8e12),
    Case("H100 bf16 133.8 TFLOPS on CUDA cores", "holds", 133.8e12),
    Case("H100 fp32 67 TFLOPS", "holds", 67e12),
    Case("H100 fp64 66.9 TFLOPS", "holds", 66.9e12),
    Case("H100 fp64 34 TFLOPS", "holds"),
    Case("H100 988 TFLOPS", "none", 989.4e12),
    Case("H100 bf16 794.5 TFLOPS", "measured", 794.5e12),
    Case("H100 measured bf16 794.5 TFLOPS", "holds", 794.5e12),
    Case("H100 268 TFLOPS", "error", 267.6e12),
    Case("A100 312 TFLOPS", "holds", 312e12),
    Case("A100 624 TFLOPS", "sparse", 624e12),
    Case("A100 80GB 312 TFLOPS bf16", "holds", 312e12),
    Case("MI300X 1307 TFLOPS", "holds", 1307.4e12),
    Case("MI300X 2,615 TFLOPS", "sparse", 2614.9e12),
    Case("MI300X bf16 2.6 PFLOPS", "sparse", 2614.9e12),
    Case("TPU v5p 459 teraflops", "holds", 459e12),
    Case("tpu-v5p bf16 459 TFLOPS", "holds", 459e12),
    Case("B200 4.5 PFLOPS bf16", "sparse", 4.5e15),
    Case("B200 2.25 PFLOPS bf16", "holds", 2.25e15),
    Case("H200 989 TFLOPS", "holds"),
    Case("V100 125 TFLOPS", "holds", 125e12),
    # As slides and reviews word it: conditions before the unit, counts and families in words.
    Case("H100 989 dense bf16 TFLOPS", "holds", 989.4e12),
    Case("H100 1,979 FP8 TFLOPS", "holds", 1978.9e12),
    Case("H100: 1979 sparse FP16 TFLOPS", "holds", 1978.9e12),
    Case("A100 624 FP16 Tensor Core TFLOPS with sparsity", "holds", 624e12),
    Case("RTX 4090 1,321 AI TOPS", "sparse"),
    Case("B200 20 FP4 PFLOPS", "none", 18e15),
    Case("MI325X 2.6 PF FP8", "holds"),
    Case("H100 989 TF", "holds", 989.4e12),
    Case("DGX H100 32 petaFLOPS FP8", "sparse"),
    Case("eight H100s deliver 8 PFLOPS bf16", "holds", 989.4e12),
    Case("two MI300X have 384 GB", "holds", 192e9),
    Case("Hopper 80 billion transistors", "holds", 80e9),
    Case("NVIDIA's Hopper: 4.8 TB/s", "holds", 4.8e12),
    Case("Ampere 312 TFLOPS", "holds", 312e12),
    Case("Ampere 313.5 TFLOPS", "none", 312e12),
    # Memory and its bandwidth.
    Case("H100 80 GB", "holds", 80e9),
    Case("H100 80GB", "holds", 80e9),
    Case("A100 80GB", "holds", 80e9),
    Case("H100 80 GiB", "binary", 80e9),
    Case("H100 96 GB", "other-chip", 96e9),
    Case("H100 94 GB", "other-chip", 94e9),
    Case("8x H100 640 GB", "holds", 80e9),
    Case("8 × H100 640 GB", "holds", 80e9),
    Case("DGX H100 640 GB", "holds", 640e9),
    Case("DGX H100 80 GB", "per-chip", 80e9),
    Case("H100 3.35 TB/s", "holds", 3.35e12),
    Case("H100 3352 GB/s memory bandwidth", "holds", 3352e9),
    Case("H100 3.35TBps", "holds", 3.35e12),
    Case("H100 2 TB/s", "other-chip"),
    Case("H100 3072 GB/s", "error", 3072e9),
    Case("H100 memory bandwidth 900 GB/s", "quantity"),
    Case("A100 80GB 2,039 GB/s", "holds", 2039e9),
    Case("MI300X 192 GB", "holds", 192e9),
    Case("MI300X 5.3 TB/s", "holds", 5.3e12),
    Case("H200 141 GB", "holds", 141e9),
    Case("H200 4.8 TB/s", "holds", 4.8e12),
    Case("TPU v5p 95 GB", "holds", 95e9),
    Case("H100 L2 cache 50 MiB", "holds", 50 * 2**20),
    # Links.
    Case("H100 900 GB/s", "both-ways", 900e9),
    Case("H100 NVLink 900 GB/s bidirectional", "holds", 900e9),
    Case("H100 NVLink 900 GB/s both ways", "holds", 900e9),
    Case("H100 450 GB/s", "holds", 450e9),
    Case("H100 NVLink 450 GB/s unidirectional", "holds", 450e9),
    Case("H100 NVLink 450 GB/s both ways", "one-way", 450e9),
    Case("H100 NVLink 25 GB/s", "per-link", 25e9),
    Case("H100 NVLink 25 GB/s per link", "holds", 25e9),
    Case("H100 NVLink 3600 Gbit/s", "holds", 450e9),
    Case("H100 SXM 128 GB/s to the host", "both-ways", 128e9),
    Case("H100 host link 64 GB/s", "holds", 64e9),
    Case("H100 SXM PCIe 64 GB/s", "holds", 64e9),
    Case("H100 SXM PCIe 128 GB/s", "both-ways", 128e9),
    Case("H100 400 Gb/s InfiniBand", "holds", 50e9),
    Case("H100 scale-out 50 GB/s", "holds", 50e9),
    Case("H100 7.2 TB/s", "per-node", 7.2e12),
    # Power, silicon, several at once.
    Case("H100 700W TDP", "holds", 700.0),
    Case("H100 700 watts", "holds", 700.0),
    Case("H100 0.7 kW", "holds", 700.0),
    Case("H100 350 W", "other-chip", 350.0),
    Case("H100 10.2 kW", "per-node", 10200.0),
    Case("H100 814 mm2", "holds", 814e-6),
    Case("H100 814 mm²", "holds", 814e-6),
    Case("H100 80 billion transistors", "holds", 80e9),
    Case("H100 80B transistors", "holds", 80e9),
    Case("H100 1830 MHz", "holds", 1830e6),
    Case("H100 1.83 GHz", "holds", 1830e6),
    Case("MI300X 750 W", "holds", 750.0),
    Case("Groq LPU 230 MB SRAM", "holds"),
)
SEVERAL = (
    ("H100: 80 GB, 3.35 TB/s, 989 TFLOPS, 700 W", ("holds",) * 4),
    ("H100 989 TFLOPS vs MI300X 1307 TFLOPS", ("holds", "holds")),
    ("H100 bf16 989 TFLOPS and fp8 1979 TFLOPS", ("holds", "holds")),
    ("H100 989 TFLOPS; sparse 1979 TFLOPS", ("holds", "holds")),
)


def of_every_chip() -> list[str]:
    """A statement on the rate, the memory and the links of every entry, as data sheets print it."""
    texts = []
    for entry in load_entries().values():
        for field in ("peak", "memory_bandwidth", "scaleup_bandwidth", "power"):
            claim = next((c for c in entry.claims if c.field == field and c.si_value), None)
            if claim is not None:
                texts.append(f"{entry.id.partition('/')[2]} {claim.value:,g} {claim.unit}")
    return texts


UNREADABLE = (
    ("", "empty"),
    ("   ", "empty"),
    ("hello", "number"),
    ("H100", "number"),
    ("H100 989", "number"),
    ("H100 989 bananas", "number"),
    ("989 TFLOPS", "chip"),
    ("the new Foo9000 does 989 TFLOPS", "chip"),
    ("H100 " + "9" * 600, "long"),
    ("__proto__ 5 GB", "chip"),
    ("constructor 5 GB", "chip"),
    ("H100 " + "1" * 400 + " GB", "number"),
    ("<script>alert(1)</script> 5 GB", "chip"),
)
