"""What the planner on a page computes with: printed functions, and what models and chips supply.

The record holds a question of the package apart: what a chip decides, what the software, what the
format, and what the model. `plan/asking.js` puts them together again, and a test holds the result
equal to the package's own question.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from flopbook.architectures.shape import Shape, shape
from flopbook.data.library import model_ids, per_library
from flopbook.errors import FlopbookError
from flopbook.faces.functions import functions_module
from flopbook.faces.javascript import javascript_conditions
from flopbook.hardware.chip import chip
from flopbook.hardware.prices import lowest_price
from flopbook.planning import exclusions
from flopbook.planning.exclusions import MODEL_RULES, rules_on
from flopbook.planning.memory import memory_inputs
from flopbook.planning.question import STEP_TOKENS, Question, question_of
from flopbook.prediction import chunks, training
from flopbook.prediction.asking import band_of_run
from flopbook.prediction.bands import BAND_OF_STRANGERS, most_strange, unlike
from flopbook.prediction.conventions import USUAL, flop_per_token
from flopbook.prediction.fitted import fitted_kinds
from flopbook.prediction.layout_memory import software_options
from flopbook.prediction.machines import lacks_format, machine, peak_named
from flopbook.prediction.named_models import sizes_of
from flopbook.prediction.stacks import STACKS
from flopbook.prediction.step_time import step_parts
from flopbook.prediction.transformers import transformer
from scripts.website.pages import serving_data
from scripts.website.pages.askable import is_asked_for
from scripts.website.pages.explorer import items

FOLDER = "assets/flopbook/plan/"
RECORD = f"{FOLDER}plan.json"
FORMATS = ("bf16", "fp8", "fp4")
# The parts of a question are what differs from that of this run, on a chip that has all formats.
REFERENCE = {
    "model": "llama-3-70b",
    "chip": "nvidia/b200",
    "chips": "8",
    "batch_tokens": "4Mi",
    "seq": "8192",
    "stack": "megatron-core",
    "dtype": "bf16",
}
# Tokens of a sequence where a reader types none.
SEQ = 8192
# What each part of a step or of the memory is, in the words of a card.
TIME_PARTS = {
    "products": "matmuls of attention and feed-forward",
    "experts": "matmuls of experts",
    "attention": "attention scores",
    "elementwise": "norms, activations, residuals",
    "tensor_parallel": "tensor-parallel traffic",
    "context_parallel": "context-parallel traffic",
    "expert_parallel": "all-to-all of experts",
    "pipeline_sends": "sends between stages",
    "launches": "kernel launches",
    "head": "output matrix and loss",
    "gathers": "weights gathered by FSDP",
    "bubble": "pipeline bubble",
    "gradients": "gradient sums",
    "optimizer": "optimizer step",
    "offload": "waits for the host",
    "straggling": "stragglers",
}
MEMORY_PARTS = {
    "weights": "weights",
    "gradients": "gradients",
    "optimizer": "optimizer state",
    "stage_extra": "embedding of an end stage",
    "activations": "activations",
    "logits": "logits",
    "gathered": "weights gathered by FSDP",
    "working": "the layer that is recomputed",
    "step": "casts of the optimizer step",
    "communication": "buffers of NCCL",
    "reserved": "reserved by the allocator",
    "context": "CUDA context",
}
# What a layout decides, and what the page fills in.
_OF_LAYOUTS = ("tp", "pp", "cp", "ep", "dp", "virtual", "zero", "recompute", "schedule")
_PUT_IN = ("micro_batch", "micro_batches", "machine", "shape", "chips", "slices", "inferred")
_LEFT_OUT = (*_OF_LAYOUTS, *_PUT_IN)
# Levels of the search -> what is decided there, and what was before.
_LEVELS = {
    "tensor_holds": (frozenset({"tp"}), frozenset({"tp"})),
    "stages_hold": (frozenset({"tp", "pp"}), frozenset({"pp"})),
    "context_holds": (frozenset({"tp", "pp", "cp"}), frozenset({"cp"})),
    "degrees_hold": (exclusions.DEGREES, frozenset({"ep", "dp"})),
    "chunks_hold": (exclusions.CHUNKS, exclusions.CHUNKS - exclusions.DEGREES),
    "batches_hold": (exclusions.BATCHES, exclusions.BATCHES - exclusions.CHUNKS),
}


def files() -> dict[str, str]:
    """Content path -> text of the programs and the record."""
    return {
        f"{FOLDER}step_time.js": step_module(),
        f"{FOLDER}rules.js": rules_module(),
        f"{FOLDER}{serving_data.MODULE}": serving_data.module(),
        RECORD: json.dumps(record(), ensure_ascii=False, separators=(",", ":")),
    }


@per_library
def models() -> tuple[Shape, ...]:
    """The models that some layout can hold, by name."""
    planned = [one for one in map(shape, model_ids()) if _is_planned(one)]
    return tuple(sorted(planned, key=lambda one: one.model.name.lower()))


def _is_planned(one: Shape) -> bool:
    try:
        inputs = memory_inputs(question_of({**REFERENCE, "model": one.id}))
        for rule in MODEL_RULES:
            rule.check({**inputs, "schedule": "1f1b", "microbatches": 1.0})
    except FlopbookError:
        return False
    return True


@per_library
def chips() -> tuple[str, ...]:
    """The chips of today that a plan can be asked for, as the first page lists them."""
    asked_for = (row.entry.id for row in items() if is_asked_for(row))
    return tuple(sorted(name for name in asked_for if _is_timed(name)))


def _is_timed(name: str) -> bool:
    try:
        rates = machine(name)
    except FlopbookError:
        return False
    return bool(rates.memory and rates.memory_bandwidth)


def step_module() -> str:
    """The parts of a step, and a run with all of its fields at once.

    Engines are several times as fast with an object that is written out than with one to which
    fields were added.
    """
    run = question_of(REFERENCE).run
    names = [*run._fields, *run.shape._fields, *run.machine._fields]
    fields = ", ".join(name for name in dict.fromkeys(names) if name not in ("machine", "shape"))
    function = f"export function run_of({{{fields}}}) {{\n  return {{{fields}}};\n}}\n"
    return functions_module([step_parts, flop_per_token]) + function


def rules_module() -> str:
    """The rules of layouts, by the level of the search at which all they need is known."""
    functions = (
        javascript_conditions(name, rules_on(on_file, excess))
        for name, (on_file, excess) in _LEVELS.items()
    )
    return "\n".join(["// Made from the rules of the memory calculator.", *functions, ""])


def record() -> dict[str, Any]:
    """Parameters, and what chips, software, formats and models decide."""
    reference = question_of(REFERENCE)
    fitted = fitted_kinds()["training_throughput"]
    return {
        "parameters": fitted.parameters,
        "strangers": fitted.bands[BAND_OF_STRANGERS],
        "most_strange": most_strange(fitted),
        "words": {"time": TIME_PARTS, "memory": MEMORY_PARTS},
        "usual": {"seq": SEQ, "tokens": STEP_TOKENS},
        "convention": USUAL,
        "uneven": {"short": chunks.SHORT, "most_uneven": chunks.MOST_UNEVEN},
        "run": _run(reference),
        "memory": _plain(memory_inputs(reference)),
        "chips": {name: chip_record(name, reference) for name in chips()},
        "stacks": {name: _stack_record(reference, name) for name in STACKS},
        "formats": {
            name: {**_change(reference, dtype=name), "peak": peak_named(name)} for name in FORMATS
        },
        "models": {model.id: model_record(model, reference) for model in models()},
        "prices": {name: price for name in chips() if (price := price_record(name))},
        "serving": serving_data.record(chips(), models()),
    }


def _run(question: Question) -> dict[str, Any]:
    """What a question says of its run beside chip, shape and layout."""
    run = question.run._asdict()
    return {name: value for name, value in run.items() if name not in _LEFT_OUT}


def _change(reference: Question, **options: str) -> dict[str, Any]:
    """What other options change of the reference: of its run, and of the inputs of its memory."""
    changed = question_of({**REFERENCE, **options})
    return {
        "run": _differing(_run(reference), _run(changed)),
        "memory": _plain(_differing(memory_inputs(reference), memory_inputs(changed))),
        **_band(changed),
    }


def _band(question: Question) -> dict[str, float]:
    """The factor of the band of a question, and in how many traits it is unlike all fitted runs."""
    fitted = fitted_kinds()["training_throughput"]
    strange = len(unlike(fitted.seen, training.traits(question.run)))
    return {"band": band_of_run(fitted, question.run), "strange": strange}


def _stack_record(reference: Question, name: str) -> dict[str, Any]:
    """What a software changes, and the options of the memory calculator that say the same."""
    question = question_of({**REFERENCE, "stack": name})
    options = software_options(REFERENCE["model"], question.run)
    stated = {key: value for key, value in options.items() if key not in REFERENCE}
    # Forms take widths in place of formats.
    if stated.pop("grad_dtype", None):
        stated["grad_bytes"] = memory_inputs(question)["grad_bytes"]
    return {**_change(reference, stack=name), "options": stated}


def chip_record(name: str, reference: Question) -> dict[str, Any]:
    """The rates of a chip, and what else it changes of a run.

    What both have, such as the size of a domain, a run has in the way that counts.
    """
    changed = question_of({**REFERENCE, "chip": name})
    rates = {field: rate for field, rate in machine(name)._asdict().items() if field != "chip"}
    own = {field: value for field, value in _run(changed).items() if field in rates}
    change = _change(reference, chip=name)
    package = changed.run.machine.chip
    lacking = [precision for precision in FORMATS if lacks_format(package, precision)]
    return {**change, "run": {**rates, **own, **change["run"]}, "lacks": lacking}


def model_record(one: Shape, reference: Question) -> dict[str, Any]:
    """The shape of a model with what follows from it, and what it changes of the memory."""
    question = question_of({**REFERENCE, "model": one.id})
    inputs = memory_inputs(question)
    sizes = transformer(sizes_of(one, int(REFERENCE["seq"])))
    fields = {name: value for name, value in sizes._asdict().items() if name != "tokens"}
    return {
        "run": {**fields, **properties_of(sizes)},
        "memory": _plain(_differing(memory_inputs(reference), inputs)),
        **_band(question),
        "context": _known(one, "context"),
        "tokens": _known(one, "tokens"),
    }


def usual_question(model: str, chip_id: str, chips_: int) -> Question:
    """What the page asks where a reader types nothing but model, chip and number."""
    seq = int(min(SEQ, _known(shape(model), "context") or SEQ))
    tokens = STEP_TOKENS - STEP_TOKENS % seq
    sizes = {"chips": str(chips_), "seq": str(seq), "batch_tokens": str(tokens)}
    return question_of({**REFERENCE, "model": model, "chip": chip_id, **sizes})


def properties_of(record_: Any) -> dict[str, Any]:
    """What follows from the fields of a record, which JavaScript has as plain values."""
    kind = type(record_)
    names = (name for name in vars(kind) if isinstance(vars(kind)[name], property))
    return {name: getattr(record_, name) for name in names}


def _known(one: Shape, name: str) -> float | None:
    """A number of a model, where it is on file."""
    try:
        return float(one.pick(name).value)
    except FlopbookError:
        return None


def price_record(chip_id: str) -> dict[str, Any] | None:
    """The list price of a chip, USD/s, with what it is; None where none is on file.

    That of the provider who asks least.
    """
    picked = lowest_price(chip(chip_id))
    if picked is None:
        return None
    return {"usd_per_s": float(picked.value), "note": picked.notes[0]}


def _differing(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in theirs.items() if ours.get(name) != value}


def _plain(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Inputs as JSON holds them: what is open, an infinity, as a word."""
    return dict(_plainly(inputs))


def _plainly(inputs: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in inputs.items():
        is_open = isinstance(value, float) and math.isinf(value)
        yield name, "inf" if is_open else value
