"""The cheat sheet: one printed page of formulas, chips, number formats and units, all from the code
and the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from types import MappingProxyType
from typing import NamedTuple

from flopbook.drawing.markup import escape, front_matter, link
from flopbook.errors import FlopbookError
from flopbook.evaluation.calculator import calculate
from flopbook.evaluation.terms import term_of
from flopbook.faces.special_cases import Given, folded, inputs_of, of_function, special
from flopbook.formulas import get_formula
from flopbook.formulas.reliability import best_interval, between_failures
from flopbook.hardware.chip import Chip, chip
from flopbook.quantities.number_formats import FORMATS
from flopbook.quantities.units import PREFIXES, format_quantity, unit
from scripts.website.pages.accelerators import entry_page
from scripts.website.pages.calculators import calculator_page
from scripts.website.pages.sources import html_link, stylesheet

PAGE = "cheat-sheet.md"
STYLE = "assets/flopbook/sheet.css"
CHIPS = (
    "nvidia/a100-sxm-80gb",
    "nvidia/h100-sxm",
    "nvidia/h200-sxm",
    "nvidia/b200",
    "amd/mi300x",
    "amd/mi355x",
    "google/tpu-v5p",
    "google/tpu-v6e",
    "google/tpu-v7x",
    "aws/trainium2",
)
_OPEN = math.inf


class Shown(NamedTuple):
    """Equations of one calculator in a special case: the names of its outputs and steps, with what
    each says.
    """

    calculator: str
    names: dict[str, str]
    given: Given = MappingProxyType({})
    inline: tuple[str, ...] = ()


_DENSE: Given = {"experts": 1, "experts_per_token": 1}
_PLAIN: Given = {
    **_DENSE,
    "biases": "none",
    "ffn_kind": "gated",
    "kv_lora_rank": 0,
    "q_lora_rank": 0,
    "positions": "rotary",
    "tied_embeddings": "no",
    "norm": "rms",
    "qk_norm": "none",
}
_RING: Given = {
    "topology": "torus",
    "axes": 1,
    "wrap": "yes",
    "links_per_axis": 2,
}  # both ways at once
_SWITCH: Given = {"topology": "switch", "scaleout_bandwidth": _OPEN}
_WIRES = (
    "gathered",
    "on_axes",
    "ways",
    "used",
    "share",
    "crowd",
    "longest",
    "steps",
    "along",
    "hops",
    "third",
    "levels",
    "bytes_per_link",
    "at_port",
    "in_node",
    "across",
    "out",
    "nodes",
    "inside",
)
_CACHE: Given = {
    "kv_lora_rank": 0,
    "tied_embeddings": "yes",
    "vocab": 0,
    "qk_rope_head_dim": 0,
    "window_layers": 0,
    "tp": 1,
}
_HEADS = ("values", "grouped", "head", "layer_tokens", "products")
# What a letter counts or belongs to, where the term of the glossary alone would leave that open.
MEANS = {
    "layers": "layers",
    "heads": "attention heads",
    "kv_heads": "key-value heads",
    "chips": "chips",
    "params": "parameters",
    "power": "power of a chip",
    "overhead": "power of its hosts",
    "microbatches": "micro-batches",
    "stages": "stages",
    "virtual": "chunks of each stage",
    "axes": "torus axes",
    "tensor_axes": "axes for tensor parallelism, the others for FSDP",
    "max-params.bytes_per_param": "bytes for a parameter",
    "prefill.peak": "peak of all chips that share the model",
    "prefill.bandwidth": "their memory bandwidth",
    "serving.memory": "their memory",
    "prefill.bytes_per_param": "width of a weight",
    "kv-cache.bytes_per_kv": "width of a cached value",
    "kv-cache.batch": "sequences at once",
    "draft_tokens": "drafted tokens",
    "draft_time": "time of one, in passes",
}

SECTIONS: dict[str, tuple[Shown, ...]] = {
    "Rooflines": (
        Shown("ridge-point", {"flop_per_byte": "ridge point"}),
        Shown(
            "arithmetic-intensity",
            {
                "flop": "work of a matrix product",
                "bytes": "its bytes",
                "intensity": "intensity",
                "attainable_flop_per_s": "attainable rate",
            },
            {"op": "gemm", "bytes_per_activation": _OPEN, "bytes_per_result": _OPEN},
            ("product", "product_bytes"),
        ),
        Shown(
            "min-batch",
            {"tokens": "minimum batch", "tokens_exact": "with activations"},
            {"bytes_per_activation": _OPEN},
            ("slack",),
        ),
    ),
    "Models and training": (
        Shown(
            "params",
            {
                "attention": "attention",
                "ffn": "gated feed-forward",
                "embedding": "embedding and output",
            },
            _PLAIN,
            ("grouped", "dense", "queries", "keys", "inner", "per_width", "head"),
        ),
        Shown(
            "training-flops",
            {"flop": "rule of six", "attention": "scores beside it; causal: half"},
            {"v_head_dim": 0},
            ("flop_per_token", "head_width", "square"),
        ),
        Shown(
            "training-time",
            {"seconds": "time of a run", "joules": "energy"},
            {"counts": "mfu"},
            ("flop", "rate", "work"),
        ),
        Shown("max-params", {"params": "parameters that fit"}),
    ),
    "Collectives": (
        Shown(
            "collective",
            {
                "bandwidth_seconds": "all-gather, reduce-scatter on a ring",
                "latency_seconds": "if tiny; time is the longer",
            },
            {**_RING, "op": "all-gather"},
            _WIRES,
        ),
        Shown(
            "collective",
            {"bandwidth_seconds": "all-reduce on a ring"},
            {**_RING, "op": "all-reduce"},
            _WIRES,
        ),
        Shown(
            "collective",
            {"bandwidth_seconds": "all-gather at a switch"},
            {**_SWITCH, "op": "all-gather"},
            _WIRES,
        ),
        Shown(
            "collective",
            {"bandwidth_seconds": "all-to-all at a switch"},
            {**_SWITCH, "op": "all-to-all"},
            _WIRES,
        ),
    ),
    "Limits of parallelism": (
        Shown(
            "fsdp-limit",
            {
                "network": "all links of a chip",
                "forward_tokens": "FSDP, data: tokens per chip, at least",
                "pod_tokens": "tokens per pod, at least",
            },
            _DENSE,
            ("unit",),
        ),
        Shown(
            "tp-limit",
            {"forward_ways": "tensor: ways, at most; gated: half more"},
            {"ffn_kind": "plain"},
        ),
        Shown(
            "mixed-limit",
            {
                "intensity": "one link",
                "tokens_per_chip": "both: tokens per chip, at least",
                "best": "best ways of FSDP",
            },
            {**_DENSE, "ffn_kind": "plain"},
            ("width",),
        ),
        Shown(
            "cp-limit",
            {"forward_tokens": "context, ring, causal: tokens, at least"},
            {"method": "ring", "causal": "yes"},
            ("shortest", "moved", "mask", "keys"),
        ),
        Shown(
            "ep-limit",
            {"least_width": "gated expert: width, at least"},
            {"ffn_kind": "gated"},
            ("matrices",),
        ),
    ),
    "Pipelines": (
        Shown(
            "bubble",
            {
                "work": "useful time",
                "idle": "idle time: GPipe, 1F1B",
                "fraction": "bubble",
                "peak_microbatches": "micro-batches held, 1F1B",
            },
            {"schedule": "1f1b"},
            ("back_inputs", "back_weights"),
        ),
        Shown(
            "bubble",
            {"idle": "interleaved"},
            {"schedule": "interleaved"},
            ("back_inputs", "back_weights"),
        ),
    ),
    "Inference": (
        Shown(
            "kv-cache",
            {"bytes_per_token": "KV cache of a token", "bytes": "of all sequences"},
            {**_CACHE, "window": _OPEN},
            _HEADS,
        ),
        Shown(
            "prefill",
            {
                "compute_seconds": "prefill: arithmetic",
                "weight_seconds": "weights read",
                "seconds": "time to first token",
            },
            _CACHE,
            _HEADS,
        ),
        Shown(
            "decode",
            {
                "compute_seconds": "decode: arithmetic",
                "kv_seconds": "cache read",
                "seconds": "a step; attention reads the cache",
            },
            {**_CACHE, **_DENSE, "ep": 1},
            (*_HEADS, "share", "chip_read"),
        ),
        Shown(
            "serving",
            {"batch_fits": "sequences that fit"},
            _CACHE,
            (*_HEADS, "room", "sequence", "shares"),
        ),
        Shown(
            "speculative-decoding",
            {"tokens_per_step": "tokens per pass", "speedup": "speed-up"},
            {},
            ("missed",),
        ),
    ),
}


def sheet_page() -> str:
    """The page: sections of equations in columns, then three tables."""
    words = "The formulas that matter, ten chips, number formats and units on one printed page."
    return "\n".join(
        [
            front_matter("Cheat sheet", words, wide=True),
            "# Cheat sheet\n",
            stylesheet(PAGE, STYLE),
            '<div class="fb-sheet">',
            *(
                _section(title, [*map(_equations, shown), _letters(shown)])
                for title, shown in SECTIONS.items()
            ),
            _section(
                "Reliability and power", [_reliability(), _equations(_POWER), _letters((_POWER,))]
            ),
            _section("Memory of training", [_zero()]),
            _section("Number formats", [_formats()]),
            _section("Units", [_units()]),
            _section("Chips", [_chips()], "fb-across"),
            "</div>\n",
        ]
    )


_POWER = Shown("cluster-power", {"it_watts": "power of the computers", "watts": "of the site"})


def _section(title: str, parts: Iterable[str], kind: str = "") -> str:
    more = f' class="{kind}"' if kind else ""
    return f"<section{more}><h2>{escape(title)}</h2>{''.join(parts)}</section>"


def _equation(latex: str, words: str, href: str) -> str:
    return f"<p>${latex}$ {link(words, href)}</p>"


def _equations(shown: Shown) -> str:
    made = special(get_formula(shown.calculator), shown.names, shown.given, shown.inline)
    href = html_link(PAGE, calculator_page(shown.calculator))
    return "".join(_equation(made[name], words, href) for name, words in shown.names.items())


def _reliability() -> str:
    href = html_link(PAGE, "handbook/reliability-and-energy.md#saving")
    between = of_function(between_failures, "T", {"alone": "M", "chips": "N"})
    best = of_function(best_interval, r"\tau_\text{best}", {"between": "T", "save": "S"})
    return _equation(between, "time between failures, M of one chip", href) + _equation(
        best, "best checkpoint interval, S to save", href
    )


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    heads = "".join(f'<th scope="col">{cell}</th>' if cell else "<td></td>" for cell in head)
    lines = []
    for first, *rest in rows:
        cells = "".join(f"<td>{cell}</td>" for cell in rest)
        lines.append(f'<tr><th scope="row">{first}</th>{cells}</tr>')
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def _zero() -> str:
    """Bytes for each parameter by stage of ZeRO, from the calculator: mixed precision with Adam on
    eight chips.
    """
    chips, params = 8, 1e9
    shape = {
        "layers": 16,
        "d_model": 2048,
        "d_ff": 8192,
        "heads": 16,
        "vocab": 32000,
        "seq": 1024,
        "micro_batch": 1,
    }

    def rows() -> Iterator[tuple[str, ...]]:
        for stage in range(4):
            found = calculate("memory", params=params, dp=chips, zero=stage, **shape)
            parts = [found[name] / params for name in ("weights", "gradients", "optimizer")]
            yield (
                f"ZeRO-{stage}" if stage else "copies",
                *(f"{one:g}" for one in (*parts, sum(parts))),
            )

    words = f"Bytes for each parameter on one of {chips} chips, bf16 with Adam"
    return f"<p>{words}</p>" + _table(("", "weights", "gradients", "optimizer", "all"), rows())


def _formats() -> str:
    rows = (
        (
            escape(one.name),
            f"{one.sign}+{one.exponent}+{one.fraction or one.whole}",
            f"{one.bytes:g}",
            f"{one.largest:.5g}",
            f"{one.step:.2g}",
        )
        for one in FORMATS
    )
    words = "<p>Bits: sign, exponent, fraction. After 1: the step to the next number.</p>"
    return words + _table(("Format", "Bits", "Bytes", "Largest", "After 1"), rows)


def _units() -> str:
    powers = [f"{name} ${_power(PREFIXES[name])}$" for name in ("k", "M", "G", "T", "P", "E")]
    gib, day = (
        unit("GiB").factor / unit("GB").factor,
        calculate("training-flops", params=1, tokens=1),
    )
    of_day = day["flop"] / day["pf_days"]
    lines = [
        ", ".join(powers),
        f"GiB = {gib:.4g} GB; byte = {unit('byte').factor / unit('bit').factor:g} bit",
        f"FLOP counts, FLOP/s is a rate; PF-day = {format_quantity(of_day, 'FLOP')}",
        "Links are one way, peaks dense, bandwidths decimal",
    ]
    return "".join(f"<p>{line}</p>" for line in lines)


def _power(value: float) -> str:
    return f"10^{{{round(math.log10(value))}}}"


def _chips() -> str:
    head = (
        "Chip",
        "bf16",
        "fp8",
        "Memory",
        "Bandwidth",
        "Ridge, FLOP/byte",
        "Scale-up, one way",
        "Domain",
        "Power",
    )
    return _table(head, map(_chip_row, map(chip, CHIPS)))


def _chip_row(item: Chip) -> tuple[str, ...]:
    domain = item.pick_scaleup_domain()
    ridge = calculate("ridge-point", chip=item.id)["flop_per_byte"]
    try:
        fp8 = format_quantity(item.peak("fp8"), "FLOP/s")
    except FlopbookError:  # has no such peak
        fp8 = "none"
    cells = (
        format_quantity(item.peak("bf16"), "FLOP/s"),
        fp8,
        format_quantity(item.memory(), "byte"),
        format_quantity(item.memory_bandwidth(), "byte/s"),
        f"{ridge:.0f}",
        format_quantity(item.scaleup_bandwidth(), "byte/s"),
        f"{domain.value:,.0f}" if domain else "",
        format_quantity(item.power(), "W"),
    )
    return (link(item.name, html_link(PAGE, entry_page(item.id))), *map(escape, cells))


def _letters(shown: Iterable[Shown]) -> str:
    """What the letters of these equations mean, linked to the glossary; letters of one meaning
    stand together.
    """
    found: dict[str, str] = {}
    for one in shown:
        formula = get_formula(one.calculator)
        made = folded(formula, one.given, one.inline)
        for name in dict.fromkeys(
            n for shown_name in one.names for n in inputs_of(formula, made[shown_name])
        ):
            term = term_of(name, formula.inputs[name])
            if term:
                words = MEANS.get(f"{one.calculator}.{name}", MEANS.get(name, term.term))
                found.setdefault(
                    formula.inputs[name].symbol,
                    link(words, html_link(PAGE, f"glossary.md#{term.id}")),
                )
    letters: dict[str, list[str]] = {}
    for symbol, words in found.items():
        letters.setdefault(words, []).append(f"${symbol}$")
    told = "; ".join(f"{', '.join(same)} {words}" for words, same in letters.items())
    return f'<p class="fb-letters">{told}</p>'
