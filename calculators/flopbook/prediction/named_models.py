"""Models by name: the sizes that a row leaves out stand in the entry of the model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flopbook.architectures import counts
from flopbook.architectures.layers import kinds
from flopbook.architectures.shape import Shape, shape
from flopbook.data.library import library
from flopbook.data.runs import MeasuredRun
from flopbook.errors import FlopbookError
from flopbook.prediction.seen_layers import seen_sizes
from flopbook.prediction.state_kernels import state_kernel_sizes
from flopbook.prediction.transformers import BODY, INPUTS, OF_KINDS, TOTALS

USUAL_SEQUENCE = 2048
MODEL_SHAPE = "model shape"  # what was inferred, where a name alone says it
# What a row of a mixture may leave out.
OF_MIXTURES = ("n_dense_layers", "n_shared_experts")
# The id of a model on file, or the file that describes one.
ModelName = str | Path


def asked_model(options: Mapping[str, str | None]) -> tuple[Shape, ModelName]:
    """The model that `--model` names or `--config` describes, and how calculators find it.

    Raises FlopbookError for a name or a file that cannot be read, or both.
    """
    config = options.get("config")
    if config is None:
        named = shape(str(options["model"]))
        return named, named.id
    if options.get("model"):
        raise FlopbookError("give --model or --config, not both")
    # Reads JSON, which few commands need.
    from flopbook.architectures.huggingface import read_config

    return Shape(read_config(Path(config))), Path(config)


def model_option(model: ModelName) -> dict[str, str]:
    """The option by which a calculator takes a model."""
    return {"config": str(model)} if isinstance(model, Path) else {"model": model}


def sizes_of(model: Shape, sequence: int) -> dict[str, Any]:
    """The shape of a model in the words of a row."""
    sizes: dict[str, Any] = {"name": model.id, "seq_len_tokens": sequence}
    for name, field in (BODY | TOTALS | INPUTS).items():
        claim = model.claim(field)
        if claim is not None and claim.si_value is not None:
            number = claim.si_value
            sizes[name] = number if name == "n_params" else int(number)
    for field, name, yes in (
        ("ffn", "gated_ffn", "gated"),
        ("tied_embeddings", "tied_embeddings", "yes"),
    ):
        claim = model.claim(field)
        if claim is not None:
            sizes[name] = claim.value == yes
    kinds_of_layers = kind_sizes(model) | seen_sizes(model) | near_sizes(model)
    return sizes | kinds_of_layers | state_kernel_sizes(model)


def kind_sizes(model: Shape) -> dict[str, Any]:
    """What else decides the weights of a model: layers of each kind, and how wide their parts are.

    With it `transformer` counts the weights that `params` counts.
    """
    counted = counts.sizes(model)
    return {size: counted[name] for size, name in OF_KINDS.items() if name in counted}


def near_sizes(model: Shape) -> dict[str, float]:
    """The sizes of a model some of whose layers see near tokens alone, in the words of a row."""
    layers = kinds(model)
    if layers is None:
        return {}
    attending = sum(kind not in ("state", "none") for kind in layers)
    found: dict[str, float] = {}
    for kind, name in (("window", "windowed"), ("chunk", "chunked")):
        reach, counted = model.size(kind), layers.count(kind)
        if reach is not None and counted:
            found |= {f"near_{name}": counted / attending, f"near_{kind}": float(reach)}
    return found


def seen_of(sizes: Mapping[str, Any]) -> dict[str, float]:
    """What the layers of a row's model see, where its name is that of a model on file."""
    model_id = library().model_names.meant(str(sizes.get("name", "")).strip())
    if model_id is None:
        return {}
    model = shape(model_id)
    return seen_sizes(model) if model.size("layers") == sizes.get("n_layers") else {}


def with_kinds(row: MeasuredRun) -> MeasuredRun:
    """A row with what it leaves out of layers that are not all alike, if a model on file is named.

    Layers that see near tokens alone; of a mixture, layers without experts and shared experts. A
    model cut to fewer layers or experts is none on file.
    """
    return row._replace(model={**_of_kinds(row.model), **row.model})


def _of_kinds(sizes: Mapping[str, Any]) -> dict[str, Any]:
    model_id = library().model_names.meant(str(sizes.get("name", "")).strip())
    if model_id is None:
        return {}
    model = shape(model_id)
    if model.size("layers") != sizes.get("n_layers"):
        return {}
    found: dict[str, Any] = near_sizes(model)
    if sizes.get("n_experts", 1) > 1 and model.size("experts") == sizes["n_experts"]:
        claimed = {name: model.size(INPUTS[name]) for name in OF_MIXTURES}
        found |= {name: int(size) for name, size in claimed.items() if size is not None}
    return found


def with_shape(row: MeasuredRun) -> tuple[MeasuredRun, bool]:
    """A row whose model has its sizes, and whether they come from the name of a known model.

    What the row says itself counts before what is on file.
    """
    name, sequence = row.model.get("name"), row.model.get("seq_len_tokens")
    if not name or (row.model.get("n_layers") and row.model.get("d_model")):
        return row, False
    model_id = library().model_names.meant(str(name).strip())
    if model_id is None:
        return row, False
    sizes = sizes_of(shape(model_id), int(sequence or USUAL_SEQUENCE))
    return row._replace(model={**sizes, **row.model}), True
