"""Values of chips and models that forms offer, the same that the commands take."""

from __future__ import annotations

import contextlib
import itertools
import math
import re
from collections.abc import Iterator, Sequence
from typing import TypedDict, cast

from flopbook.architectures.shape import Shape, shape
from flopbook.data.library import entry_ids, load_entry, model_ids
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import (
    DOMAIN_ENDS,
    SMALL_BATCH,
    WHOLE_NODES,
    Result,
    Value,
    calculate,
)
from flopbook.evaluation.formats import BY_RULE, TENSORS
from flopbook.evaluation.lookups import (
    MIXTURE_FIELDS,
    NO_PEAK,
    OTHER_PEAKS,
    WIDE_FORMATS,
    from_chip,
)
from flopbook.evaluation.notes import MESH_ENDS
from flopbook.evaluation.request import Request
from flopbook.formulas import formulas, get_formula
from flopbook.formulas.declaration import Formula
from flopbook.hardware.chip import Chip
from flopbook.hardware.network import Network
from flopbook.hardware.picked import Picked, PickedWord
from flopbook.hardware.rooflines import Chips
from flopbook.hardware.servers import pick_node_size
from flopbook.quantities.dtypes import BLOCK_DTYPES, OPTIONS, RULES, STANDS_FOR, WIDTHS
from flopbook.quantities.unit_table import COUNT_SUFFIXES, COUNTS, PLAIN_SUFFIXES, UNITS
from flopbook.quantities.units import CUSTOMARY, PREFIXES, format_quantity

# What forms take from chips as calculators do, each with a calculator that asks for it.
TAKEN = (
    ("min-batch", ("bandwidth",)),
    ("fsdp-limit", ("link_bandwidth", "axes", "links_per_axis")),
    ("serving", ("memory",)),
    ("decode", ("link_bandwidth",)),
    ("cluster-power", ("power",)),
    ("offload", ("host_bandwidth",)),
)
# They belong to a torus, and a slice has sides of its own where they stay open.
_SIDES = ("side_x", "side_y")
# What calculators take from the network of a chip beside its links.
NETWORK = {
    "collective": (
        *("topology", "wrap", "ring_side", "chips_per_node", "scaleout_bandwidth", "level_overlap"),
        *("startup", "ramp", "efficiency", "reduction_efficiency"),
    ),
    "sharded-matmul": ("axes",),
}
# The same where a calculator goes without, if the chip does not say.
KNOWN = {"chips_per_node": "known_domain", "scaleout_bandwidth": "known_beyond"}
FORM_SPARSITIES = ("dense", "2:4")  # that a form offers
Record = dict[str, object]


# What every form needs beside chips and models, and what it knows of each of those.
COMMON = ("bytes", "blocks", "formats", "tensors", "stand_ins", "wide", "said")
_NAMES = ("id", "name", "aliases")
_ENTRY = re.compile(r"\b[a-z0-9]+/[a-z0-9][a-z0-9.-]*[a-z0-9]")
# Notes on a network speak of these too.
_OF_NETWORKS = ("axes", "scaleup_domain")


class UnitsRecord(TypedDict):
    """How the forms read and print quantities, as the command line does."""

    units: dict[str, list[object]]
    prefixes: dict[str, float]
    customary: dict[str, list[object]]
    counts: dict[str, list[str]]
    suffixes: dict[str, float]
    plain: dict[str, float]


def picker_record() -> Record:
    """Values of chips and models for the forms, each with its source and its caveats."""
    entries = [load_entry(name) for name in entry_ids()]
    return {
        "chips": [chip_record(Chip(entry)) for entry in entries if entry.computes],
        "models": [_model_record(name) for name in model_ids()],
        "bytes": WIDTHS,
        "blocks": BLOCK_DTYPES,
        "formats": {name: rule._asdict() for name, rule in RULES.items()},
        "tensors": _tensor_words(),
        "stand_ins": STANDS_FOR,
        "wide": WIDE_FORMATS,
        "said": _general_notes(),
    }


def lent_record(formula: Formula, record: Record) -> Record:
    """Of all chips and models the values that a calculator takes: a page asks for no others."""
    specs = formula.inputs.values()
    chip_fields = {"peaks" if spec.chip == "peak" else spec.chip for spec in specs if spec.chip}
    if {"chips_per_node", "torus_axes"} & chip_fields:
        chip_fields.update(_OF_NETWORKS)
    model_fields = {spec.model for spec in specs if spec.model}
    taken = {"chips": chip_fields, "models": model_fields}
    return {
        kind: [
            {name: value for name, value in entry.items() if name in (*_NAMES, *fields)}
            for entry in cast(list[Record], record[kind])
        ]
        for kind, fields in taken.items()
        if fields
    }


def units_record() -> UnitsRecord:
    """The units and prefixes that the forms read, as the command line reads them."""
    return {
        "units": {name: [u.factor, u.si, dict(u.dimensions)] for name, u in UNITS.items()},
        "prefixes": dict(PREFIXES),
        "customary": {si: list(pair) for si, pair in CUSTOMARY.items()},
        "counts": {si: list(aliases) for si, aliases in COUNTS.items()},
        "suffixes": dict(COUNT_SUFFIXES),
        "plain": dict(PLAIN_SUFFIXES),
    }


def _tensor_words() -> dict[str, str]:
    """Tensors as a note names them."""
    return {tensor: words for option, words in TENSORS.items() for tensor in OPTIONS[option]}


def _general_notes() -> dict[str, list[str]]:
    """Notes on no chip, in the words of the command: peak beside sparsity, too small a batch."""
    # Any peak and bandwidth will do: the notes are the same for all.
    usual = calculate("min-batch", peak=1e15, bandwidth=1e12, sparsity=None).notes
    sparse = calculate("min-batch", peak=1e15, bandwidth=1e12, sparsity="2:4").notes
    typed_peak = [note for note in sparse if note not in usual]
    return {
        "small": [SMALL_BATCH],
        "typed_peak": typed_peak,
        "whole_nodes": [WHOLE_NODES],
        "by_rule": [BY_RULE],
        "no_peak": [NO_PEAK],
        "other_peaks": [OTHER_PEAKS],
        "mesh_ends": [MESH_ENDS],
    }


def _value_record(picked: Picked | PickedWord | Value, notes: Sequence[str] = ()) -> Record:
    record: Record = {"value": picked.value, "source": picked.source}
    if notes:
        record["notes"] = [_with_names_of_systems(note) for note in notes]
    return record


def _with_names_of_systems(note: str) -> str:
    """A note as a form can say it: the page knows the names of chips, which are chosen there."""

    def name(found: re.Match[str]) -> str:
        known = found[0] in entry_ids() and not load_entry(found[0]).computes
        return load_entry(found[0]).name if known else found[0]

    return _ENTRY.sub(name, note)


# Chips.


def chip_record(chip: Chip) -> Record:
    """What a form may take from a chip: peaks by format and sparsity, bandwidths, links."""
    return {
        "id": chip.id,
        "name": chip.name,
        "aliases": [*chip.entry.aliases, *chip.entry.device_names],
        "peaks": _peak_records(chip),
        "roofs": _roof_records(chip),
        **dict(_taken_records(chip)),
    }


def _peak_records(chip: Chip) -> dict[str, dict[str, Record]]:
    """Number format -> sparsity -> peak of the matrix engine."""
    peaks: dict[str, dict[str, Record]] = {}
    for claim in chip.claims("peak", engine="tensor"):
        if claim.dtype not in WIDTHS or claim.sparsity in peaks.get(claim.dtype, {}):
            continue
        # A peak that is on record and known to be wrong, or not published, cannot be picked.
        with contextlib.suppress(FlopbookError):
            picked = chip.pick_peak(claim.dtype, claim.sparsity)
            record = _value_record(picked, picked.notes)
            peaks.setdefault(claim.dtype, {})[claim.sparsity] = record
    return peaks


def _roof_records(chip: Chip) -> dict[str, dict[str, Record]]:
    """Number format -> sparsity -> all roofs in the words of `roofline`, that peak first."""
    roofs: dict[str, dict[str, Record]] = {}
    for dtype, sparsity in itertools.product(WIDTHS, FORM_SPARSITIES):
        with contextlib.suppress(FlopbookError):  # no such peak, or no bandwidth of the memory
            picked = Chips((chip,)).pick_roofs(dtype, sparsity)
            roofs.setdefault(dtype, {})[sparsity] = _value_record(picked, picked.notes)
    return roofs


def _taken_records(chip: Chip) -> Iterator[tuple[str, Record]]:
    """Bandwidth, memory, power and links of a chip, by the names that forms give them."""
    for calculator, names in TAKEN:
        inputs = get_formula(calculator).inputs
        for name in names:
            with contextlib.suppress(FlopbookError):  # not on record for this chip
                result = _taken(calculator, name, chip=chip.id)
                if name in result.inputs:  # a limit that the chip leaves open is no input
                    yield inputs[name].chip, _value_record(result.inputs[name], result.notes)
    if node := pick_node_size(chip):
        yield "node_chips", _value_record(node)
    yield from _network_records(chip)
    if domain := chip.pick_scaleup_domain():
        size = format_quantity(domain.value, "chip")
        note = DOMAIN_ENDS.format(size=size, chip=chip.id)
        yield "scaleup_domain", _value_record(domain, [note])


def _network_records(chip: Chip) -> Iterator[tuple[str, Record]]:
    for calculator, names in NETWORK.items():
        formula = get_formula(calculator)
        request = Request(formula, {"chip": chip.id})
        for name in names:
            spec = formula.inputs[name]
            with contextlib.suppress(FlopbookError):  # not on record for this chip
                if picked := from_chip(name, spec, request):
                    yield spec.chip, _value_record(picked, picked.notes)
                    if name in KNOWN:
                        yield KNOWN[name], _value_record(picked)
    # Sides hold for as many chips alone as make a whole domain; the last follows from the others.
    sides = Network(chip).pick_whole_sides()
    whole = math.prod(side.value for side in sides)
    for name, side in zip(_SIDES, sides[:-1], strict=False):
        yield name, {**_value_record(side, side.notes), "chips": whole}


def _taken(calculator: str, name: str, **picker: str) -> Result:
    """A result with one input from the chip or model: its notes are the notes of that input."""
    formula = get_formula(calculator)
    # One of everything else: only the input that is taken matters, and its notes.
    inputs = {
        required: 1.0
        for required in _required(formula)
        if required != name and not formula.inputs[required].choices
    }
    result = calculate(calculator, **picker, **inputs)
    notes = (note for note in result.remarks if not _is_of_output(note, formula))
    return Result(formula, result.inputs, result.outputs, tuple(notes))


def _required(formula: Formula) -> list[str]:
    """Inputs to be given: all but the limits and the sides of a slice, which stay open.

    A head has a width or follows from another, so it is not open either.
    """
    return [
        name
        for name, spec in formula.inputs.items()
        if name not in _SIDES and (name not in formula.defaults or spec.chip or name == "head_dim")
    ]


def _is_of_output(note: str, formula: Formula) -> bool:
    """Whether a note is about an output that an open limit leaves open: it begins with its name."""
    return note.partition(" ")[0].rstrip(":,") in formula.outputs


# Models.


def _model_record(name: str) -> Record:
    model = shape(name)
    record: Record = {"id": model.id, "name": model.model.name, "aliases": [*model.model.aliases]}
    for field in _asked_of_models():
        # A dense model is one expert, which the calculators take for granted.
        if model.model.kind == "dense" and field.startswith("experts"):
            continue
        claim = model.claim(field)
        if claim is not None and claim.si_value is None:  # a word
            record[field] = {"value": claim.value, "source": claim.source}
            continue
        with contextlib.suppress(FlopbookError):  # not on record for this model
            picked = model.pick(field)
            record[field] = _value_record(picked, picked.notes)
    if model.model.kind == "moe":
        for field, counted in MIXTURE_FIELDS.items():
            with contextlib.suppress(FlopbookError):  # not recorded for this model
                record[field] = _value_record(model.pick(counted))
    for field in ("params", "compute_params"):
        if field in record and (weights := _weights_of_a_layer(model, field)):
            cast(Record, record[field])["layer"] = weights
    return record


def _weights_of_a_layer(model: Shape, counted: str) -> float | None:
    """What one more layer adds to a count, where all layers are alike; else None.

    A form adds it for layers that are typed, as the command counts them anew.
    """
    if model.claim("attention_pattern") or not model.records("layers"):
        return None
    layers = int(model.layers)
    with contextlib.suppress(FlopbookError):
        counts = {
            n: model.having({"layers": n}).pick(counted).value for n in (layers - 1, 2 * layers)
        }
        below, above = counts.values()
        more = (above - below) / (layers + 1)
        if model.pick(counted).value == below + more and more == int(more):
            return more
    return None


def _asked_of_models() -> tuple[str, ...]:
    """The fields of models that some calculator takes."""
    fields = [spec.model for formula in formulas().values() for spec in formula.inputs.values()]
    return tuple(dict.fromkeys(field for field in fields if field))
