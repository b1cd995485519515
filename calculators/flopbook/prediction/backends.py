"""What runs a measurement: PyTorch, JAX or NumPy on the device at hand.

Each gives calls to time. A call takes how often it is to be done, does it, and waits until the
device has finished. Frameworks are imported only when they are asked for.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from flopbook.errors import FlopbookError, UnknownName
from flopbook.prediction.decoders import Decoder, DecoderWork

Call = Callable[[int], None]
# Module -> its name and what installs it, the first that is there is taken.
MODULES = {"torch": "PyTorch", "jax": "JAX", "numpy": "NumPy"}
SEED = 1  # values are random: zeros take less power, and chips that are held by it run faster
OPERATIONS = ("all-reduce", "all-gather", "reduce-scatter")


class Backend(Protocol):
    """A framework on a device: its names, its formats, and calls to time."""

    software: str
    device: str
    devices: int
    is_accelerator: bool
    formats: tuple[str, ...]

    def product(self, m: int, n: int, k: int, dtype: str) -> Call:
        """Product of an m x k by a k x n matrix."""

    def copy(self, size: int) -> Call:
        """Reads so many bytes of memory and writes as many."""

    def attention(self, heads: int, tokens: int, width: int, dtype: str) -> Call:
        """Causal attention of one sequence."""

    def collective(self, op: str, size: int) -> Call | None:
        """A collective over all devices; None where there is one device."""

    def decoder(self, sizes: Decoder, work: DecoderWork) -> Call | None:
        """Work of a whole decoder on one device; None where the framework has none here."""

    def peak_memory(self) -> float | None:
        """Most bytes of tensors that were live since the last call; None where nothing counts."""


def backend(name: str | None = None) -> Backend:
    """The framework of this name, else the first that is installed.

    Raises UnknownName, or FlopbookError for one that is not installed.
    """
    if name is not None and name not in MODULES:
        raise UnknownName("backend", name, MODULES)
    for module in [name] if name else MODULES:
        if importlib.util.find_spec(module) is not None:
            return _BACKENDS[module]()
    library_name = MODULES[name] if name else "NumPy"
    raise FlopbookError(f"{library_name} is not installed; pip install {name or 'numpy'}")


def processor() -> str:
    """The name of the processor of this machine."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


class WithoutDecoders:
    """What the backends answer that time parts and no whole decoders."""

    def decoder(self, sizes: Decoder, work: DecoderWork) -> Call | None:
        """None: whole decoders are measured with PyTorch."""
        return None

    def peak_memory(self) -> float | None:
        """None: nothing counts."""
        return None


class NumpyBackend(WithoutDecoders):
    """NumPy on the processor."""

    formats: tuple[str, ...] = ("fp32", "fp64")
    is_accelerator = False
    devices = 1

    def __init__(self) -> None:
        self._np = importlib.import_module("numpy")
        self.software = f"NumPy {self._np.__version__}"
        self.device = processor()

    def _random(self, shape: tuple[int, ...], dtype: str) -> Any:
        kind = {"fp32": "float32", "fp64": "float64"}[dtype]
        return self._np.random.default_rng(SEED).standard_normal(shape).astype(kind)

    def product(self, m: int, n: int, k: int, dtype: str) -> Call:
        """Product of an m x k by a k x n matrix."""
        first, second = self._random((m, k), dtype), self._random((k, n), dtype)
        result = self._np.empty((m, n), first.dtype)
        return _repeated(lambda: self._np.matmul(first, second, out=result))

    def copy(self, size: int) -> Call:
        """Reads so many bytes of memory and writes as many."""
        origin = self._random((size // 4,), "fp32")
        target = self._np.empty_like(origin)
        return _repeated(lambda: self._np.copyto(target, origin))

    def attention(self, heads: int, tokens: int, width: int, dtype: str) -> Call:
        """Causal attention of one sequence, scores through memory."""
        np = self._np
        query, keys, values = (self._random((heads, tokens, width), dtype) for _ in range(3))
        mask = np.triu(np.full((tokens, tokens), -np.inf, query.dtype), 1)

        def attend() -> None:
            scores = query @ keys.swapaxes(1, 2) / width**0.5 + mask
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            (weights / weights.sum(-1, keepdims=True)) @ values

        return _repeated(attend)

    def collective(self, op: str, size: int) -> Call | None:
        """None: there is one processor."""
        return None


class TorchBackend:
    """PyTorch on a GPU, else on the processor; started by torchrun, on all ranks."""

    def __init__(self) -> None:
        self._torch = importlib.import_module("torch")
        torch = self._torch
        self.is_accelerator = bool(torch.cuda.is_available())
        self._place = "cpu"
        if self.is_accelerator:
            torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
            self._place = f"cuda:{torch.cuda.current_device()}"
        self.devices = int(os.environ.get("WORLD_SIZE", "1"))
        self.device = torch.cuda.get_device_name() if self.is_accelerator else processor()
        self.formats: tuple[str, ...] = ("bf16", "fp16", "fp32")
        self.software = f"PyTorch {torch.__version__}"
        torch.manual_seed(SEED)

    def _random(self, shape: tuple[int, ...], dtype: str) -> Any:
        kinds = {"bf16": "bfloat16", "fp16": "float16", "fp32": "float32"}
        kind = getattr(self._torch, kinds[dtype])
        return self._torch.randn(shape, device=self._place).to(kind)

    def _timed(self, act: Callable[[], Any]) -> Call:
        wait = self._torch.cuda.synchronize if self.is_accelerator else _nothing
        return _repeated(act, wait)

    def product(self, m: int, n: int, k: int, dtype: str) -> Call:
        """Product of an m x k by a k x n matrix."""
        first, second = self._random((m, k), dtype), self._random((k, n), dtype)
        result = self._torch.empty((m, n), device=self._place, dtype=first.dtype)
        return self._timed(lambda: self._torch.mm(first, second, out=result))

    def copy(self, size: int) -> Call:
        """Reads so many bytes of memory and writes as many."""
        origin = self._random((size // 4,), "fp32")
        target = self._torch.empty_like(origin)
        return self._timed(lambda: target.copy_(origin))

    def attention(self, heads: int, tokens: int, width: int, dtype: str) -> Call:
        """Causal attention of one sequence, by the fused kernel of the framework."""
        query, keys, values = (self._random((1, heads, tokens, width), dtype) for _ in range(3))
        attend = self._torch.nn.functional.scaled_dot_product_attention
        return self._timed(lambda: attend(query, keys, values, is_causal=True))

    def collective(self, op: str, size: int) -> Call | None:
        """A collective over the ranks that torchrun started."""
        if self.devices < 2:
            return None
        group = importlib.import_module("torch.distributed")
        if not group.is_initialized():
            group.init_process_group("nccl" if self.is_accelerator else "gloo")
        whole = self._random((size // 4 // self.devices * self.devices,), "fp32")
        share = whole.chunk(self.devices)[group.get_rank()].clone()
        acts: Mapping[str, Callable[[], Any]] = {
            "all-reduce": lambda: group.all_reduce(whole),
            "all-gather": lambda: group.all_gather_into_tensor(whole, share),
            "reduce-scatter": lambda: group.reduce_scatter_tensor(share, whole),
        }
        return self._timed(acts[op])

    def decoder(self, sizes: Decoder, work: DecoderWork) -> Call | None:
        """A training step, a prompt, or a token a sequence; compiled on an accelerator."""
        # Imports all of PyTorch's modules, so only where it is asked for.
        from flopbook.prediction.torch_decoder import decoder_call

        return self._timed(decoder_call(sizes, work, self._place, compiled=self.is_accelerator))

    def peak_memory(self) -> float | None:
        """Most bytes that PyTorch's allocator had given out since the last call."""
        if not self.is_accelerator:
            return None
        most = float(self._torch.cuda.max_memory_allocated())
        self._torch.cuda.empty_cache()
        self._torch.cuda.reset_peak_memory_stats()
        return most


class JaxBackend(WithoutDecoders):
    """JAX on all its local devices; one of them multiplies, all of them talk."""

    def __init__(self) -> None:
        self._jax = importlib.import_module("jax")
        first = self._jax.devices()[0]
        self.is_accelerator = first.platform != "cpu"
        self.devices = self._jax.local_device_count()
        self.device = first.device_kind if self.is_accelerator else processor()
        self.formats: tuple[str, ...] = ("bf16", "fp32")
        self.software = f"JAX {self._jax.__version__}"

    def _random(self, shape: tuple[int, ...], dtype: str) -> Any:
        kind = {"bf16": "bfloat16", "fp32": "float32"}[dtype]
        return self._jax.random.normal(self._jax.random.key(SEED), shape).astype(kind)

    def _timed(self, function: Callable[..., Any], *arrays: Any) -> Call:
        compiled = self._jax.jit(function)

        def repeat(count: int) -> None:
            results = [compiled(*arrays) for _ in range(count)]
            self._jax.block_until_ready(results[-1])

        return repeat

    def product(self, m: int, n: int, k: int, dtype: str) -> Call:
        """Product of an m x k by a k x n matrix."""
        first, second = self._random((m, k), dtype), self._random((k, n), dtype)
        return self._timed(lambda left, right: left @ right, first, second)

    def copy(self, size: int) -> Call:
        """Reads so many bytes of memory and writes as many."""
        # An addition, for a compiler leaves out a plain copy.
        return self._timed(lambda array: array + 1, self._random((size // 4,), "fp32"))

    def attention(self, heads: int, tokens: int, width: int, dtype: str) -> Call:
        """Causal attention of one sequence."""
        arrays = (self._random((1, tokens, heads, width), dtype) for _ in range(3))
        attend = self._jax.nn.dot_product_attention
        return self._timed(lambda q, k, v: attend(q, k, v, is_causal=True), *arrays)

    def collective(self, op: str, size: int) -> Call | None:
        """A collective over the local devices."""
        if self.devices < 2:
            return None
        lax = self._jax.lax
        # A device holds the whole array, but of an all-gather its share.
        held = size // 4 // (self.devices if op == "all-gather" else 1)
        arrays = self._random((self.devices, max(held, self.devices)), "fp32")
        acts: Mapping[str, Callable[[Any], Any]] = {
            "all-reduce": lambda array: lax.psum(array, "all"),
            "all-gather": lambda array: lax.all_gather(array, "all"),
            "reduce-scatter": lambda array: lax.psum_scatter(array, "all", tiled=True),
        }
        compiled = self._jax.pmap(acts[op], axis_name="all")
        return _repeated(lambda: self._jax.block_until_ready(compiled(arrays)))


def _nothing() -> None:
    """A processor has finished when the call returns."""


def _repeated(act: Callable[[], Any], wait: Callable[[], Any] = _nothing) -> Call:
    """A call that does something so many times and then waits for the device."""

    def repeat(count: int) -> None:
        for _ in range(count):
            act()
        wait()

    return repeat


_BACKENDS: Mapping[str, Callable[[], Backend]] = {
    "torch": TorchBackend,
    "jax": JaxBackend,
    "numpy": NumpyBackend,
}
