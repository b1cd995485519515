"""The number format of the weights that a configuration's `quantization_config` names."""

from __future__ import annotations

import json
from typing import Any

from flopbook.architectures.config import Config
from flopbook.errors import shorten

KEY = "quantization_config"
# Methods that store weights as whole numbers of some bits.
INTEGER_METHODS = ("gptq", "awq", "auto-round", "hqq")
QUANTO = {"int4": "int4", "int8": "int8", "float8": "fp8"}
FORMATS = {"fp8": "fp8", "fbgemm_fp8": "fp8", "mxfp4": "mxfp4"}
ALGORITHMS = {"FP8": "fp8", "NVFP4": "nvfp4", "W4A16_AWQ": "int4", "INT4_AWQ": "int4"}
# Bits of compressed tensors by their type; floats of 4 bits by the values that share a scale.
BLOCKS = {16: "nvfp4", 32: "mxfp4"}


def weight_format(config: Config) -> str | None:
    """The format of quantised weights; None where they are not quantised.

    Raises FlopbookError for a method that is not known.
    """
    if config.raw.get(KEY) is None:
        return None
    settings = config.group(KEY)
    format_name = _format(settings)
    # Experts may be narrower than all else.
    of_experts = config.raw.get("expert_dtype")
    if of_experts == "fp4" and format_name == "fp8":
        return "mxfp4"
    if of_experts not in (None, "fp4", format_name):
        shown = shorten(json.dumps(of_experts))
        raise config.wrong(f"expert_dtype is {shown}, expected fp4; take it out of the file")
    if format_name is None:
        shown = shorten(json.dumps(settings.raw.get("quant_method")))
        raise config.wrong(
            f"{KEY} has the method {shown}, whose format is not read; take it out of the file and "
            "give --weight-dtype"
        )
    return format_name


def _format(settings: Config) -> str | None:
    method = settings.raw.get("quant_method")
    # Some files name the algorithm of the tool alone.
    if method == "modelopt" or (method is None and "quant_algo" in settings.raw):
        return ALGORITHMS.get(str(settings.raw.get("quant_algo")).upper())
    if method == "bitsandbytes":
        return _loaded(settings)
    if method in INTEGER_METHODS:
        return {4: "int4", 8: "int8"}.get(settings.number("bits", "nbits", "w_bit") or 0)
    if method == "quanto":
        return QUANTO.get(str(settings.raw.get("weights")))
    if method == "compressed-tensors":
        return _compressed(settings)
    return FORMATS.get(str(method))


def _loaded(settings: Config) -> str | None:
    """What bitsandbytes makes of weights: one of two widths; None where it is not one."""
    narrow = settings.flag("load_in_4bit") or settings.flag("_load_in_4bit")
    wide = settings.flag("load_in_8bit") or settings.flag("_load_in_8bit")
    if narrow == wide:
        return None
    return "int4" if narrow else "int8"


def _compressed(settings: Config) -> str | None:
    """All groups in one format, that of their weights."""
    groups = settings.group("config_groups")
    formats = {_of_weights(groups.group(name).raw.get("weights")) for name in groups.raw}
    return formats.pop() if len(formats) == 1 else None


def _of_weights(weights: Any) -> str | None:
    if not isinstance(weights, dict):
        return None
    bits = weights.get("num_bits")
    if weights.get("type") not in ("int", "float"):
        return None
    if weights["type"] == "int":
        return {4: "int4", 8: "int8"}.get(bits) if isinstance(bits, int) else None
    size = weights.get("group_size")
    shared = BLOCKS.get(size) if isinstance(size, int) else None
    return "fp8" if bits == 8 else shared
